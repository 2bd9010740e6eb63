#include "segment_merge.h"

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace omnigraph::lance {
namespace {

constexpr int64_t kBlockRows = 64 * 1024;

/// Rows in order from one source, a block at a time, the dead ones left out.
class Stream {
 public:
  explicit Stream(KeyRows rows) : keys_(std::move(rows.keys)), ids_(std::move(rows.row_ids)) {}
  Stream(std::shared_ptr<const BTreeSegment> segment, size_t number, const LiveRows* live)
      : segment_(std::move(segment)), number_(number), live_(live) {}

  /// Read on until there is a row or no more; skips dead rows.
  Status Settle() {
    while (true) {
      const int64_t rows = keys_ == nullptr ? 0 : keys_->length();
      while (at_ < rows && !IsLive(at_)) {
        ++at_;
      }
      if (at_ < rows || segment_ == nullptr || next_ >= static_cast<int64_t>(segment_->rows())) {
        return Status::OK();
      }
      OG_RETURN_NOT_OK(ReadBlock());
    }
  }

  bool done() const { return keys_ == nullptr || at_ == keys_->length(); }
  std::string_view key() const { return keys_->GetView(at_); }
  uint64_t id() const { return ids_->Value(at_); }
  void Step() { ++at_; }

 private:
  bool IsLive(int64_t row) const { return alive_.empty() || alive_[static_cast<size_t>(row)]; }

  Status ReadBlock() {
    const int64_t count = std::min(kBlockRows, static_cast<int64_t>(segment_->rows()) - next_);
    OG_ASSIGN_OR_RETURN(const auto batch, segment_->ReadRows(next_, count));
    keys_ = std::static_pointer_cast<arrow::StringArray>(batch->column(0));
    ids_ = std::static_pointer_cast<arrow::UInt64Array>(batch->column(1));
    if (ids_->null_count() > 0) {
      return Corrupt("a row without an id");
    }
    OG_ASSIGN_OR_RETURN(
        alive_, (*live_)(number_, std::span(ids_->raw_values(), static_cast<size_t>(count))));
    for (int64_t i = 0; i < count; ++i) {
      if (keys_->IsNull(i)) {
        alive_[static_cast<size_t>(i)] = false;
        continue;
      }
      if (keys_->GetView(i) < last_) {
        return Corrupt("its rows are out of order");
      }
      if (i + 1 == count) {
        last_ = keys_->GetView(i);
      }
    }
    next_ += count;
    at_ = 0;
    return Status::OK();
  }

  Status Corrupt(std::string_view what) const {
    return Corruption("index.btree",
                      "merge index segment " + segment_->folder() + ": " + std::string(what),
                      segment_->folder());
  }

  std::shared_ptr<const BTreeSegment> segment_;  // nullptr: all rows are in memory
  size_t number_ = 0;
  const LiveRows* live_ = nullptr;
  std::shared_ptr<arrow::StringArray> keys_;
  std::shared_ptr<arrow::UInt64Array> ids_;
  std::vector<bool> alive_;
  std::string last_;  // key before this block
  int64_t at_ = 0;
  int64_t next_ = 0;
};

/// Collects rows and hands them to the writer in blocks.
class Output {
 public:
  explicit Output(SegmentWriter* writer) : writer_(*writer) {}

  Status Add(std::string_view key, uint64_t id) {
    OG_RETURN_NOT_OK(keys_.Append(key));
    OG_RETURN_NOT_OK(ids_.Append(id));
    return keys_.length() < kBlockRows ? Status::OK() : Flush();
  }
  Status Flush() {
    KeyRows rows;
    OG_RETURN_NOT_OK(keys_.Finish(&rows.keys));
    OG_RETURN_NOT_OK(ids_.Finish(&rows.row_ids));
    return writer_.Write(rows);
  }

 private:
  SegmentWriter& writer_;
  arrow::StringBuilder keys_;
  arrow::UInt64Builder ids_;
};

}  // namespace

Status MergeInto(const KeyRows& fresh,
                 const std::vector<std::shared_ptr<const BTreeSegment>>& segments,
                 const LiveRows& live, SegmentWriter* writer) {
  std::vector<Stream> streams;
  for (const auto& segment : segments) {
    OG_RETURN_NOT_OK(segment->CheckUtf8());
    streams.emplace_back(segment, streams.size(), &live);
  }
  streams.emplace_back(fresh);
  std::vector<Stream*> heap;
  for (Stream& stream : streams) {
    OG_RETURN_NOT_OK(stream.Settle());
    if (!stream.done()) {
      heap.push_back(&stream);
    }
  }
  const auto later = [](const Stream* a, const Stream* b) { return b->key() < a->key(); };
  std::ranges::make_heap(heap, later);
  Output output(writer);
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, later);
    Stream& first = *heap.back();
    // Sources of fresh keys hardly overlap: go on with this one while it is ahead.
    do {
      OG_RETURN_NOT_OK(output.Add(first.key(), first.id()));
      first.Step();
      OG_RETURN_NOT_OK(first.Settle());
    } while (!first.done() && (heap.size() == 1 || first.key() <= heap.front()->key()));
    if (first.done()) {
      heap.pop_back();
    } else {
      std::ranges::push_heap(heap, later);
    }
  }
  return output.Flush();
}

}  // namespace omnigraph::lance
