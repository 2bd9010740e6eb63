#include "omnigraph/store/object_store.h"

#include <cstring>
#include <utility>

#include "temporary_name.h"

namespace omnigraph::store {
namespace {

/// Longest name that every store takes (S3's bound).
constexpr size_t kPathBytesMax = 1024;
/// Longest segment that common file systems take.
constexpr size_t kSegmentBytesMax = 255;

Status BadPath(std::string_view path, std::string_view reason) {
  Place place;
  place.object = std::string(path);
  return Invalid("store.bad_path",
                 "'" + std::string(path) + "' is no name of an object: " + std::string(reason),
                 place);
}

Status CheckSegment(std::string_view path, std::string_view segment) {
  if (segment.empty()) {
    return BadPath(path, "a segment is empty");
  }
  if (segment == "." || segment == "..") {
    return BadPath(path, "it may not leave or repeat its folder");
  }
  if (segment.size() > kSegmentBytesMax) {
    return BadPath(path, "a segment is longer than " + std::to_string(kSegmentBytesMax) + " bytes");
  }
  if (IsTemporaryName(segment)) {
    return BadPath(path, "names that begin like this are the store's own");
  }
  return Status::OK();
}

}  // namespace

Status CheckObjectPath(std::string_view path) {
  if (path.empty()) {
    return BadPath(path, "it is empty");
  }
  if (path.size() > kPathBytesMax) {
    return BadPath(path, "it is longer than " + std::to_string(kPathBytesMax) + " bytes");
  }
  if (path.find('\0') != std::string_view::npos) {
    return BadPath(path, "it holds a NUL byte");
  }
  size_t begin = 0;
  while (true) {
    const size_t slash = path.find('/', begin);
    OG_RETURN_NOT_OK(CheckSegment(path, path.substr(begin, slash - begin)));
    if (slash == std::string_view::npos) {
      return Status::OK();
    }
    begin = slash + 1;
  }
}

Result<std::vector<ObjectInfo>> ListAll(ObjectStore& store, std::string_view prefix) {
  std::vector<ObjectInfo> all;
  ListOptions options;
  while (true) {
    OG_ASSIGN_OR_RETURN(ListPage page, store.List(prefix, options));
    for (ObjectInfo& info : page.objects) {
      all.push_back(std::move(info));
    }
    if (page.next.empty()) {
      return all;
    }
    options.start_after = std::move(page.next);
  }
}

Bytes BytesOf(std::string text) {
  return {arrow::Buffer::FromString(std::move(text))};
}

uint64_t SizeOf(const Bytes& bytes) {
  uint64_t size = 0;
  for (const std::shared_ptr<arrow::Buffer>& part : bytes) {
    size += static_cast<uint64_t>(part->size());
  }
  return size;
}

bool SameBytes(const Bytes& parts, const arrow::Buffer& object) {
  int64_t at = 0;
  for (const std::shared_ptr<arrow::Buffer>& part : parts) {
    const bool fits = part->size() <= object.size() - at;
    if (!fits || (part->size() > 0 && std::memcmp(part->data(), object.data() + at,
                                                  static_cast<size_t>(part->size())) != 0)) {
      return false;
    }
    at += part->size();
  }
  return at == object.size();
}

}  // namespace omnigraph::store
