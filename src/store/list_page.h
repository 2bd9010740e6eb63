/// \file
/// One page of a listing, built from names that come in bytewise order: limit, start and roll-up by
/// '/'.
#pragma once

#include <string>
#include <string_view>

#include "omnigraph/store/object_store.h"

namespace omnigraph::store {

/// Collects names until the page is full. Single-owner.
class ListPageBuilder {
 public:
  ListPageBuilder(std::string_view prefix, const ListOptions& options)
      : prefix_(prefix), options_(options) {}

  /// True once a name more than the limit was offered: stop offering.
  bool full() const { return full_; }

  /// True when no name that begins with `folder` (ending in '/') can still get in.
  bool Skips(std::string_view folder) const {
    return options_.start_after > folder && !options_.start_after.starts_with(folder);
  }

  /// The common prefix into which `path` is rolled up; empty when it stands for itself.
  std::string_view RollUp(std::string_view path) const {
    if (!options_.delimited) {
      return {};
    }
    const size_t slash = path.find('/', prefix_.size());
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash + 1);
  }

  /// Offer a name. True when it is an object to be filled in by AddObject.
  bool Wants(std::string_view name) {
    if (full_ || name <= options_.start_after) {
      return false;
    }
    if (page_.objects.size() + page_.common_prefixes.size() >= options_.limit) {
      full_ = true;
      page_.next = last_;
      return false;
    }
    return true;
  }

  void AddObject(ObjectInfo info) {
    last_ = info.path;
    page_.objects.push_back(std::move(info));
  }

  void AddPrefix(std::string_view name) {
    if (Wants(name)) {
      last_ = std::string(name);
      page_.common_prefixes.push_back(last_);
    }
  }

  ListPage Finish() { return std::move(page_); }

 private:
  const std::string prefix_;
  const ListOptions options_;
  ListPage page_;
  std::string last_;
  bool full_ = false;
};

}  // namespace omnigraph::store
