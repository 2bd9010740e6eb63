/// \file
/// Stable row ids and row versions of a fragment, as sequences of runs.
///
/// All five segment forms are read; fresh ids are written as ranges, anything else as an array.
/// Format: docs/format/lance-table.md, Row ids.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// The row ids of the physical rows of a fragment, in row order. Value type.
///
/// Kept as runs of consecutive ids: a fragment of fresh rows is one run.
class RowIdSequence {
 public:
  struct Run {
    uint64_t first = 0;  ///< row id of the run's first row
    uint64_t rows = 0;
    bool operator==(const Run&) const = default;
  };

  RowIdSequence() = default;
  static RowIdSequence Range(uint64_t first, uint64_t rows);

  /// Errors: kCorruption (`row_ids.malformed`), also where more than `rows_max` ids stand in it.
  static Result<RowIdSequence> Parse(std::string_view bytes, uint64_t rows_max,
                                     std::string_view object);
  /// Serialized `RowIdSequence`, deterministic.
  std::string Encode() const;

  uint64_t rows() const { return rows_; }
  const std::vector<Run>& runs() const { return runs_; }
  /// Id of the row at `offset`. REQUIRES: offset < rows().
  uint64_t At(uint64_t offset) const;
  /// Append to `out` the ids of rows [begin, end). REQUIRES: begin <= end <= rows().
  void AppendTo(uint64_t begin, uint64_t end, std::vector<uint64_t>* out) const;
  void Append(uint64_t first, uint64_t rows);
  void Append(const RowIdSequence& other);
  bool operator==(const RowIdSequence&) const = default;

 private:
  std::vector<Run> runs_;
  std::vector<uint64_t> ends_;  // ends_[i] = rows in runs_[0..i]
  uint64_t rows_ = 0;
};

/// One version number per physical row, run by run: `created at` or `last updated at`. Value type.
class RowVersionSequence {
 public:
  struct Run {
    uint64_t rows = 0;
    uint64_t version = 0;
    bool operator==(const Run&) const = default;
  };

  RowVersionSequence() = default;
  static RowVersionSequence Constant(uint64_t version, uint64_t rows);

  /// Errors: kCorruption (`row_versions.malformed`).
  static Result<RowVersionSequence> Parse(std::string_view bytes, uint64_t rows_max,
                                          std::string_view object);
  std::string Encode() const;

  uint64_t rows() const { return rows_; }
  const std::vector<Run>& runs() const { return runs_; }
  /// Append to `out` the versions of rows [begin, end). REQUIRES: begin <= end <= rows().
  void AppendTo(uint64_t begin, uint64_t end, std::vector<uint64_t>* out) const;
  void Append(uint64_t version, uint64_t rows);
  void Append(const RowVersionSequence& other);
  bool operator==(const RowVersionSequence&) const = default;

 private:
  std::vector<Run> runs_;
  uint64_t rows_ = 0;
};

/// What a fragment of a table with stable row ids carries for its rows. Value type.
struct RowLineage {
  RowIdSequence row_ids;
  RowVersionSequence created;
  RowVersionSequence updated;
};

}  // namespace omnigraph::lance
