/// \file
/// One log entry: its bytes (an Arrow IPC stream), the mark that we put beside the rows, and the
/// sentinel. Encoding is scatter-only: column buffers are handed on, not copied. The page is
/// docs/format/memwal.md.
#pragma once

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/memwal/memwal_format.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

/// Neighbouring rows of one entry that one client sent in one request.
struct EntryRun {
  int64_t rows = 0;
  std::string actor;
  bool minted = false;   ///< every id is a fresh ULID of this admission
  std::string producer;  ///< empty: none
  std::vector<std::pair<uint64_t, uint64_t>>
      ranges;  ///< sequence numbers [first, last] of the rows
  bool operator==(const EntryRun&) const = default;
};

/// The admission mark of an entry of ours (`omnigraph.entry`). Official readers ignore it.
struct EntryMark {
  std::string
      schema;  ///< sha256 of the schema object that the rows were admitted under; may be empty
  int64_t at_ms = 0;           ///< since the Unix epoch, when the entry was cut
  std::vector<EntryRun> runs;  ///< in row order; their rows add up to the entry's
  bool operator==(const EntryMark&) const = default;
};

/// Compact JSON, keys in a fixed order.
std::string EncodeEntryMark(const EntryMark& mark);
/// Errors: kCorruption (`memwal.entry_mark`).
Result<EntryMark> ParseEntryMark(std::string_view json, std::string_view object);

/// The bytes of an entry as a list of buffers, some of them shared with the batch.
struct EncodedEntry {
  store::Bytes parts;
  int64_t size_bytes = 0;
};

/// Encodes the data entries of one epoch. Keeps the messages that Arrow made for the schema that it
/// saw last, and fills in what differs. Thread-compatible.
class EntryEncoder {
 public:
  explicit EntryEncoder(uint64_t epoch);
  ~EntryEncoder();

  /// Encode one batch as one entry.
  ///
  /// Shape:  `batch` has the base's columns, fields, metadata and nullability, then `_tombstone`;
  /// at least one row. Owner:  the parts share the batch's buffers; nobody may change those until
  /// the put is settled. Errors: kInvalid (`memwal.batch`) for another shape. Cost:   one pass over
  /// the bytes (checksum); no copy of columns that start at offset 0.
  Result<EncodedEntry> Encode(const arrow::RecordBatch& batch, const EntryMark& mark);

 private:
  // Metadata of a record-batch message, with room for the checksum: right for every batch of the
  // schema whose mark is as long, but for the numbers. Size 0: none yet.
  struct BatchMessage {
    std::string metadata;
    size_t json_at = 0;
    size_t json_size = 0;
    size_t sum_at = 0;
  };

  Status CacheSchema(const std::shared_ptr<arrow::Schema>& schema);
  Result<std::vector<std::shared_ptr<arrow::Buffer>>> MakeMessage(const arrow::RecordBatch& batch,
                                                                  const std::string& json,
                                                                  BatchMessage* out);

  uint64_t epoch_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::Buffer> schema_message_;
  BatchMessage last_;
};

/// A sentinel of ours: no fields, no batches. `owner` is written into it as process and address.
Result<EncodedEntry> EncodeSentinel(uint64_t epoch, std::string_view process_id,
                                    std::string_view address);

/// The schema of an entry over a base with this schema: the same with `_tombstone` (bool, not null)
/// last.
std::shared_ptr<arrow::Schema> EntrySchema(const arrow::Schema& base);

/// One entry as read. Value type; batches are shared.
struct LogEntry {
  uint64_t position = 0;
  uint64_t epoch = 0;
  bool is_sentinel = false;
  bool ours = false;              ///< carries our mark; a data entry then also matched its checksum
  std::optional<EntryMark> mark;  ///< data entries of ours
  std::optional<uint64_t> generation;  ///< label of Lance 14
  /// Rows in order; the last column is `_tombstone` (made up, false, for entries of Lance 8). Empty
  /// for a sentinel.
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  int64_t size_bytes = 0;

  int64_t rows() const;
};

/// Parse the bytes that stand at `position` (S7): whole if they parse, end exactly with the
/// end-of-stream, and, where they are ours, match their checksum. Reads what Lance 8 to 14 write,
/// compressed bodies included. Owner:  batches share `bytes` where they were not compressed.
/// Errors: kCorruption (`memwal.entry_torn`) for every other byte string; never a crash.
Result<LogEntry> ParseEntry(const std::shared_ptr<arrow::Buffer>& bytes, uint64_t position,
                            std::string_view object);

/// The rows of `batch` as the base's columns and `_tombstone` last: by `lance:field_id` against
/// `field_ids` (one per base field) where the entry carries ids, else by name. A missing column is
/// null, an extra one is dropped. Errors: kInvalid (`memwal.column_type`) for a column of another
/// type.
Result<std::shared_ptr<arrow::RecordBatch>> AlignToBase(const arrow::RecordBatch& batch,
                                                        const std::shared_ptr<arrow::Schema>& base,
                                                        const std::vector<int>& field_ids);

/// Cut a batch into slices that each fit one entry (kEntryRowsMax, kEntryBytesMax by an estimate).
/// Shares the columns.
std::vector<std::shared_ptr<arrow::RecordBatch>> SplitForEntries(
    const std::shared_ptr<arrow::RecordBatch>& batch);

/// Bytes of the rows that `batch` names, slices counted as slices.
int64_t EstimateEntryBytes(const arrow::RecordBatch& batch);

}  // namespace omnigraph::lance
