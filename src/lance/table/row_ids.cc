#include "omnigraph/lance/table/row_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lance/table.pb.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/lance/proto/serialize.h"

namespace omnigraph::lance {
namespace {

/// Collects the ids of segments, and refuses more of them than a fragment has rows.
class SegmentReader {
 public:
  SegmentReader(uint64_t rows_max, std::string_view object)
      : rows_max_(rows_max), object_(object) {}

  Status Add(const pb::Segment& segment, RowIdSequence* out) {
    switch (segment.form_case()) {
      case pb::Segment::kRange:
        return AddRange(segment.range().begin(), segment.range().end(), out);
      case pb::Segment::kHoles:
        return AddWithHoles(segment.holes(), out);
      case pb::Segment::kBitmap:
        return AddBitmap(segment.bitmap(), out);
      case pb::Segment::kSorted:
        return AddArray(segment.sorted(), out);
      case pb::Segment::kArray:
        return AddArray(segment.array(), out);
      case pb::Segment::FORM_NOT_SET:
        break;
    }
    return Malformed("a segment of an unknown form");
  }

 private:
  Status Malformed(std::string_view what) const {
    return Corruption("row_ids.malformed", fmt::format("row ids of {}: {}", object_, what),
                      object_);
  }

  Status AddRange(uint64_t begin, uint64_t end, RowIdSequence* out) const {
    if (end < begin || end - begin > rows_max_ - std::min(rows_max_, out->rows())) {
      return Malformed("a range that does not fit the fragment's rows");
    }
    out->Append(begin, end - begin);
    return Status::OK();
  }

  Result<std::vector<uint64_t>> Values(const pb::EncodedArray& array) const {
    std::vector<uint64_t> values;
    const auto widen = [&](const std::string& bytes, uint64_t base, auto zero) -> Status {
      using T = decltype(zero);
      if (bytes.size() % sizeof(T) != 0 || bytes.size() / sizeof(T) > rows_max_) {
        return Malformed("an array that does not fit the fragment's rows");
      }
      for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        const uint64_t offset = LoadLittle<T>(bytes.data() + at);
        if (offset > UINT64_MAX - base) {
          return Malformed("an array whose ids pass 2^64");
        }
        values.push_back(base + offset);
      }
      return Status::OK();
    };
    switch (array.width_case()) {
      case pb::EncodedArray::kU16:
        OG_RETURN_NOT_OK(widen(array.u16().offsets(), array.u16().base(), uint16_t{0}));
        break;
      case pb::EncodedArray::kU32:
        OG_RETURN_NOT_OK(widen(array.u32().offsets(), array.u32().base(), uint32_t{0}));
        break;
      case pb::EncodedArray::kU64:
        OG_RETURN_NOT_OK(widen(array.u64().values(), 0, uint64_t{0}));
        break;
      case pb::EncodedArray::WIDTH_NOT_SET:
        break;  // an empty array may leave its width out
    }
    return values;
  }

  Status AddArray(const pb::EncodedArray& array, RowIdSequence* out) const {
    OG_ASSIGN_OR_RETURN(const std::vector<uint64_t> values, Values(array));
    if (values.size() > rows_max_ - std::min(rows_max_, out->rows())) {
      return Malformed("more ids than the fragment has rows");
    }
    for (const uint64_t value : values) {
      out->Append(value, 1);
    }
    return Status::OK();
  }

  Status AddWithHoles(const pb::RangeWithHoles& segment, RowIdSequence* out) const {
    OG_ASSIGN_OR_RETURN(const std::vector<uint64_t> holes, Values(segment.holes()));
    uint64_t next = segment.begin();
    for (const uint64_t hole : holes) {
      if (hole < next || hole >= segment.end()) {
        return Malformed("holes that are not ascending within their range");
      }
      OG_RETURN_NOT_OK(AddRange(next, hole, out));
      next = hole + 1;
    }
    return AddRange(next, segment.end(), out);
  }

  Status AddBitmap(const pb::RangeWithBitmap& segment, RowIdSequence* out) const {
    const uint64_t begin = segment.begin();
    const uint64_t bits = segment.end() - begin;
    if (segment.end() < begin || bits / 8 + (bits % 8 != 0 ? 1 : 0) > segment.bitmap().size()) {
      return Malformed("a bitmap shorter than its range");
    }
    for (uint64_t i = 0; i < bits; ++i) {
      if ((static_cast<uint8_t>(segment.bitmap()[i / 8]) >> (i % 8)) & 1) {
        OG_RETURN_NOT_OK(AddRange(begin + i, begin + i + 1, out));
      }
    }
    return Status::OK();
  }

  uint64_t rows_max_;
  std::string_view object_;
};

void EncodeRange(uint64_t begin, uint64_t rows, pb::Segment* segment) {
  segment->mutable_range()->set_begin(begin);
  segment->mutable_range()->set_end(begin + rows);
}

}  // namespace

RowIdSequence RowIdSequence::Range(uint64_t first, uint64_t rows) {
  RowIdSequence sequence;
  sequence.Append(first, rows);
  return sequence;
}

Result<RowIdSequence> RowIdSequence::Parse(std::string_view bytes, uint64_t rows_max,
                                           std::string_view object) {
  pb::RowIdSequence message;
  OG_RETURN_NOT_OK(ParseProto(bytes, object, &message));
  RowIdSequence sequence;
  SegmentReader reader(rows_max, object);
  for (const pb::Segment& segment : message.segments()) {
    OG_RETURN_NOT_OK(reader.Add(segment, &sequence));
  }
  return sequence;
}

std::string RowIdSequence::Encode() const {
  pb::RowIdSequence message;
  // Long runs become ranges. Scattered ids go into one array per stretch: 8 bytes an id, where a
  // range of one row would take about as much and a message around it.
  constexpr uint64_t kRangeRowsMin = 3;
  for (size_t i = 0; i < runs_.size();) {
    if (runs_[i].rows >= kRangeRowsMin || runs_.size() == 1) {
      EncodeRange(runs_[i].first, runs_[i].rows, message.add_segments());
      ++i;
      continue;
    }
    std::string values;
    for (; i < runs_.size() && runs_[i].rows < kRangeRowsMin; ++i) {
      for (uint64_t k = 0; k < runs_[i].rows; ++k) {
        AppendLittle(&values, runs_[i].first + k);
      }
    }
    message.add_segments()->mutable_array()->mutable_u64()->set_values(std::move(values));
  }
  return SerializeProto(message);
}

uint64_t RowIdSequence::At(uint64_t offset) const {
  OG_CHECK(offset < rows_);
  const size_t i = std::upper_bound(ends_.begin(), ends_.end(), offset) - ends_.begin();
  const uint64_t begin = ends_[i] - runs_[i].rows;
  return runs_[i].first + (offset - begin);
}

void RowIdSequence::AppendTo(uint64_t begin, uint64_t end, std::vector<uint64_t>* out) const {
  OG_CHECK(begin <= end && end <= rows_);
  size_t i = std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin();
  for (uint64_t at = begin; at < end; ++i) {
    const uint64_t run_begin = ends_[i] - runs_[i].rows;
    const uint64_t stop = std::min(end, ends_[i]);
    for (; at < stop; ++at) {
      out->push_back(runs_[i].first + (at - run_begin));
    }
  }
}

void RowIdSequence::Append(uint64_t first, uint64_t rows) {
  if (rows == 0) {
    return;
  }
  rows_ += rows;
  if (!runs_.empty() && runs_.back().first + runs_.back().rows == first) {
    runs_.back().rows += rows;
    ends_.back() = rows_;
    return;
  }
  runs_.push_back({first, rows});
  ends_.push_back(rows_);
}

void RowIdSequence::Append(const RowIdSequence& other) {
  for (const Run& run : other.runs_) {
    Append(run.first, run.rows);
  }
}

RowVersionSequence RowVersionSequence::Constant(uint64_t version, uint64_t rows) {
  RowVersionSequence sequence;
  sequence.Append(version, rows);
  return sequence;
}

Result<RowVersionSequence> RowVersionSequence::Parse(std::string_view bytes, uint64_t rows_max,
                                                     std::string_view object) {
  pb::RowVersionSequence message;
  OG_RETURN_NOT_OK(ParseProto(bytes, object, &message));
  RowVersionSequence sequence;
  SegmentReader reader(rows_max, object);
  for (const pb::RowVersionRun& run : message.runs()) {
    // Only the number of values in a span counts: official compaction leaves spans of old places.
    RowIdSequence span;
    OG_RETURN_NOT_OK(reader.Add(run.span(), &span));
    if (span.rows() > rows_max - sequence.rows()) {
      return Corruption("row_versions.malformed",
                        fmt::format("row versions of {}: more than {} rows", object, rows_max),
                        object);
    }
    sequence.Append(run.version(), span.rows());
  }
  return sequence;
}

std::string RowVersionSequence::Encode() const {
  pb::RowVersionSequence message;
  uint64_t offset = 0;
  for (const Run& run : runs_) {
    pb::RowVersionRun* out = message.add_runs();
    EncodeRange(offset, run.rows, out->mutable_span());
    out->set_version(run.version);
    offset += run.rows;
  }
  return SerializeProto(message);
}

void RowVersionSequence::AppendTo(uint64_t begin, uint64_t end, std::vector<uint64_t>* out) const {
  OG_CHECK(begin <= end && end <= rows_);
  uint64_t run_begin = 0;
  for (const Run& run : runs_) {
    const uint64_t run_end = run_begin + run.rows;
    const uint64_t from = std::max(begin, run_begin);
    const uint64_t to = std::min(end, run_end);
    if (from < to) {
      out->insert(out->end(), to - from, run.version);
    }
    run_begin = run_end;
  }
}

void RowVersionSequence::Append(uint64_t version, uint64_t rows) {
  if (rows == 0) {
    return;
  }
  rows_ += rows;
  if (!runs_.empty() && runs_.back().version == version) {
    runs_.back().rows += rows;
    return;
  }
  runs_.push_back({rows, version});
}

void RowVersionSequence::Append(const RowVersionSequence& other) {
  for (const Run& run : other.runs_) {
    Append(run.version, run.rows);
  }
}

}  // namespace omnigraph::lance
