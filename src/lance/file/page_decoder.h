/// \file
/// Decodes the wanted rows of one page of one leaf, in at most two rounds of reading.
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "decode_values.h"
#include "lance/encodings.pb.h"
#include "leaf_sink.h"
#include "omnigraph/base/status.h"
#include "omnigraph/runtime/mutex.h"
#include "omnigraph/store/object_store.h"
#include "read_context.h"

namespace omnigraph::lance {

/// Rows [begin, end).
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// What was learned of a page once and saves a read later: base of what the decoders remember.
/// Immutable.
struct PageIndex {
  virtual ~PageIndex() = default;
};

/// Where a page's index is remembered. Thread-safe.
class PageIndexSlot {
 public:
  /// What was set, or null.
  std::shared_ptr<const PageIndex> Get() const {
    runtime::MutexLock lock(mutex_);
    return index_;
  }
  /// Remember; a second setter sets an equal value.
  void Set(std::shared_ptr<const PageIndex> index) {
    runtime::MutexLock lock(mutex_);
    index_ = std::move(index);
  }

 private:
  mutable runtime::Mutex mutex_;
  std::shared_ptr<const PageIndex> index_;
};

/// A page as the column metadata describes it; buffers are known to lie inside the file. Immutable
/// but for `index`.
struct PageInfo {
  std::vector<store::ByteRange> buffers;
  int64_t rows = 0;
  /// Row of the file that the page starts with.
  int64_t first_row = 0;
  pb::PageLayout layout;
  mutable PageIndexSlot index;

  bool HasBuffers(size_t count) const { return buffers.size() >= count; }
};

/// Bytes to read in one round, of all pages together.
class FetchList {
 public:
  /// Ask for bytes; the result is the number to pass to buffer().
  size_t Add(store::ByteRange range) {
    ranges_.push_back(range);
    return ranges_.size() - 1;
  }
  bool empty() const { return ranges_.empty(); }
  std::span<const store::ByteRange> ranges() const { return ranges_; }
  void SetBuffers(std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
    buffers_ = std::move(buffers);
  }
  const std::shared_ptr<arrow::Buffer>& buffer(size_t number) const { return buffers_[number]; }
  std::string_view view(size_t number) const {
    const arrow::Buffer& buffer = *buffers_[number];
    return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size())};
  }

 private:
  std::vector<store::ByteRange> ranges_;
  std::vector<std::shared_ptr<arrow::Buffer>> buffers_;
};

/// Decodes one page. Single-owner; call Plan, Locate and Decode once each, in this order.
class PageDecoder {
 public:
  virtual ~PageDecoder() = default;

  /// Ask for what is needed to find the rows, or for the rows at once.
  virtual Status Plan(FetchList* first) = 0;
  /// Ask for the rows, with the first round at hand.
  virtual Status Locate(const FetchList& first, FetchList* second) = 0;
  /// Decode the rows into `sink`, in order.
  virtual Status Decode(const FetchList& first, const FetchList& second, LeafSink* sink) = 0;

  /// A decoder for `ranges` (ascending, inside the page, not empty) of `page`.
  /// Errors: kUnsupported (`lance.file.encoding`), kCorruption (`lance.file.page`).
  static Result<std::unique_ptr<PageDecoder>> Make(const PageInfo& page, const LeafPath& path,
                                                   std::vector<RowRange> ranges,
                                                   const ReadContext& context);
};

/// Canonical level of each level of a page. Errors: kCorruption (`lance.file.page`) when the page's
/// layers are not the path's.
Result<std::vector<uint8_t>> CanonicalLevels(const google::protobuf::RepeatedField<int>& layers,
                                             const LeafPath& path, const ReadContext& context);

/// Levels from `bytes` little-endian u16 each, mapped through `canonical`.
Status MapDefLevels(const uint8_t* levels, int64_t count, const std::vector<uint8_t>& canonical,
                    const ReadContext& context, std::vector<uint8_t>* out);
/// The same for repetition levels, checked against the path.
Status MapRepLevels(const uint8_t* levels, int64_t count, const LeafPath& path,
                    const ReadContext& context, std::vector<uint8_t>* out);

Result<std::unique_ptr<PageDecoder>> MakeMiniBlockDecoder(const PageInfo& page,
                                                          const LeafPath& path,
                                                          std::vector<RowRange> ranges,
                                                          const ReadContext& context);
Result<std::unique_ptr<PageDecoder>> MakeFullZipDecoder(const PageInfo& page, const LeafPath& path,
                                                        std::vector<RowRange> ranges,
                                                        const ReadContext& context);
Result<std::unique_ptr<PageDecoder>> MakeConstantDecoder(const PageInfo& page, const LeafPath& path,
                                                         std::vector<RowRange> ranges,
                                                         const ReadContext& context);

}  // namespace omnigraph::lance
