// Entries in (S7): any byte string gives an entry or kCorruption. docs/format/memwal.md, "Validity
// of an entry".
#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/message.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/scalar.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <charconv>
#include <numeric>

#include "entry_ipc.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/lance/memwal/entry.h"

namespace omnigraph::lance {
namespace {

arrow::ipc::IpcReadOptions ReadOptions() {
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
  return options;
}

std::optional<uint64_t> ParseDecimal(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> Find(const std::shared_ptr<const arrow::KeyValueMetadata>& metadata,
                                std::string_view key) {
  if (metadata == nullptr) {
    return std::nullopt;
  }
  const int at = metadata->FindKey(std::string(key));
  return at < 0 ? std::nullopt : std::optional<std::string>(metadata->value(at));
}

// Walks the messages of one entry and fills a LogEntry. Single-owner.
class EntryParser {
 public:
  EntryParser(const std::shared_ptr<arrow::Buffer>& bytes, uint64_t position,
              std::string_view object)
      : bytes_(bytes), object_(object), stream_(bytes) {
    entry_.position = position;
    entry_.size_bytes = bytes->size();
  }

  Result<LogEntry> Parse() {
    const Status status = ParseAll();
    if (!status.ok()) {
      return Corruption("memwal.entry_torn",
                        fmt::format("read the log entry at position {} ({} bytes): {}",
                                    entry_.position, bytes_->size(), status.message()),
                        object_);
    }
    return std::move(entry_);
  }

 private:
  Status ParseAll() {
    OG_RETURN_NOT_OK(ParseSchemaMessage());
    while (true) {
      OG_ASSIGN_OR_RETURN(const bool more, AtMessage());
      if (!more) {
        break;
      }
      OG_RETURN_NOT_OK(ParseBatchMessage());
    }
    entry_.is_sentinel = entry_.batches.empty();
    if (entry_.is_sentinel) {
      entry_.ours = Find(schema_->metadata(), kOurSentinelKey).has_value();
    }
    return Status::OK();
  }

  // True before another message, false at an end-of-stream that is the last thing in the object.
  Result<bool> AtMessage() {
    OG_ASSIGN_OR_RETURN(const int64_t at, stream_.Tell());
    if (bytes_->size() - at < kFrameBytes) {
      return Status::Invalid("it ends without an end-of-stream");
    }
    if (LoadLittle<uint32_t>(bytes_->data() + at) != kContinuation) {
      return Status::Invalid("no message at offset ", at);
    }
    if (LoadLittle<int32_t>(bytes_->data() + at + sizeof(uint32_t)) != 0) {
      return true;
    }
    if (at + kFrameBytes != bytes_->size()) {
      return Status::Invalid("bytes follow the end-of-stream at offset ", at);
    }
    return false;
  }

  Result<std::unique_ptr<arrow::ipc::Message>> NextMessage(arrow::ipc::MessageType type) {
    OG_ASSIGN_OR_RETURN(const bool more, AtMessage());
    if (!more) {
      return Status::Invalid("it holds no schema");
    }
    OG_ASSIGN_OR_RETURN(std::unique_ptr<arrow::ipc::Message> message,
                        arrow::ipc::ReadMessage(&stream_));
    if (message == nullptr || message->type() != type) {
      return Status::Invalid("a message of another type than expected");
    }
    return message;
  }

  Status ParseSchemaMessage() {
    OG_ASSIGN_OR_RETURN(const auto message, NextMessage(arrow::ipc::MessageType::SCHEMA));
    OG_ASSIGN_OR_RETURN(schema_, arrow::ipc::ReadSchema(*message, &dictionaries_));
    const std::optional<std::string> epoch = Find(schema_->metadata(), kWriterEpochKey);
    const std::optional<uint64_t> number = epoch.has_value() ? ParseDecimal(*epoch) : std::nullopt;
    if (!number.has_value()) {
      return Status::Invalid("its schema carries no decimal ", kWriterEpochKey);
    }
    entry_.epoch = *number;
    if (const std::optional<std::string> label = Find(schema_->metadata(), kGenerationKey)) {
      entry_.generation = ParseDecimal(*label);
      if (!entry_.generation.has_value()) {
        return Status::Invalid("its label of a generation is no number: ", *label);
      }
    }
    const std::shared_ptr<arrow::KeyValueMetadata> base =
        schema_->metadata() == nullptr ? nullptr : schema_->metadata()->Copy();
    if (base != nullptr) {
      (void)base->Delete(std::string(kWriterEpochKey));
      (void)base->Delete(std::string(kGenerationKey));
    }
    base_metadata_ = base == nullptr || base->size() == 0 ? nullptr : base;
    return Status::OK();
  }

  Status ParseBatchMessage() {
    OG_ASSIGN_OR_RETURN(const auto message, NextMessage(arrow::ipc::MessageType::RECORD_BATCH));
    OG_ASSIGN_OR_RETURN(
        const std::shared_ptr<arrow::RecordBatch> batch,
        arrow::ipc::ReadRecordBatch(*message, schema_, &dictionaries_, ReadOptions()));
    OG_RETURN_NOT_OK(batch->ValidateFull());
    OG_RETURN_NOT_OK(ParseMessageMark(*message, batch->num_rows()));
    OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::RecordBatch> normal, TombstoneLast(*batch));
    entry_.batches.push_back(std::move(normal));
    return Status::OK();
  }

  // Our mark and its checksum, where the message has one; an entry of ours has exactly one batch.
  Status ParseMessageMark(const arrow::ipc::Message& message, int64_t rows) {
    const std::optional<std::string> json = Find(message.custom_metadata(), kEntryMarkKey);
    const std::optional<std::string> sum = Find(message.custom_metadata(), kEntrySumKey);
    if (!json.has_value() && !sum.has_value()) {
      return entry_.ours ? Status::Invalid("a batch without our mark follows one with it")
                         : Status::OK();
    }
    if (!json.has_value() || !sum.has_value() || !entry_.batches.empty()) {
      return Status::Invalid("half of our mark, or not in the only batch");
    }
    if (*sum != EntrySum(*json, message.body() == nullptr ? store::Bytes()
                                                          : store::Bytes{message.body()})) {
      return Status::Invalid("its checksum does not match");
    }
    OG_ASSIGN_OR_RETURN(entry_.mark, ParseEntryMark(*json, object_));
    int64_t marked = 0;
    for (const EntryRun& run : entry_.mark->runs) {
      if (run.rows > rows - marked) {
        return Status::Invalid("its mark counts more than the ", rows, " rows of the batch");
      }
      marked += run.rows;
    }
    if (marked != rows) {
      return Status::Invalid("its mark counts ", marked, " rows, the batch has ", rows);
    }
    entry_.ours = true;
    return Status::OK();
  }

  static Result<std::shared_ptr<arrow::Array>> NotNullTombstones(
      const std::shared_ptr<arrow::Array>& column) {
    if (column->type_id() != arrow::Type::BOOL) {
      return Status::Invalid("column ", kTombstoneColumn, " is ", column->type()->ToString());
    }
    if (column->null_count() == 0) {
      return column;
    }
    const auto& flags = static_cast<const arrow::BooleanArray&>(*column);
    arrow::BooleanBuilder builder;
    OG_RETURN_NOT_OK(builder.Reserve(flags.length()));
    for (int64_t row = 0; row < flags.length(); ++row) {
      builder.UnsafeAppend(flags.IsValid(row) && flags.Value(row));
    }
    return builder.Finish();
  }

  // Official revisions differ here: the column is missing (8), or nullable.
  Result<std::shared_ptr<arrow::RecordBatch>> TombstoneLast(const arrow::RecordBatch& batch) const {
    const std::vector<int> found = schema_->GetAllFieldIndices(std::string(kTombstoneColumn));
    if (found.size() > 1) {
      return Status::Invalid("two columns are called ", kTombstoneColumn);
    }
    arrow::FieldVector fields = schema_->fields();
    arrow::ArrayVector columns = batch.columns();
    std::shared_ptr<arrow::Array> tombstones;
    if (found.empty()) {
      OG_ASSIGN_OR_RETURN(
          tombstones, arrow::MakeArrayFromScalar(arrow::BooleanScalar(false), batch.num_rows()));
    } else {
      OG_ASSIGN_OR_RETURN(tombstones, NotNullTombstones(columns[static_cast<size_t>(found[0])]));
      fields.erase(fields.begin() + found[0]);
      columns.erase(columns.begin() + found[0]);
    }
    fields.push_back(
        arrow::field(std::string(kTombstoneColumn), arrow::boolean(), /*nullable=*/false));
    columns.push_back(std::move(tombstones));
    return arrow::RecordBatch::Make(arrow::schema(std::move(fields), base_metadata_),
                                    batch.num_rows(), std::move(columns));
  }

  const std::shared_ptr<arrow::Buffer>& bytes_;
  std::string_view object_;
  arrow::io::BufferReader stream_;
  arrow::ipc::DictionaryMemo dictionaries_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<const arrow::KeyValueMetadata> base_metadata_;
  LogEntry entry_;
};

std::optional<int> FieldIdOf(const arrow::Field& field) {
  const std::optional<std::string> text = Find(field.metadata(), kFieldIdKey);
  const std::optional<uint64_t> id = text.has_value() ? ParseDecimal(*text) : std::nullopt;
  return id.has_value() && *id <= INT32_MAX ? std::optional<int>(static_cast<int>(*id))
                                            : std::nullopt;
}

// The column of `batch` that holds base field `index`, or nullptr.
std::shared_ptr<arrow::Array> ColumnFor(const arrow::RecordBatch& batch, bool by_id,
                                        const arrow::Field& field, int id) {
  for (int i = 0; i + 1 < batch.num_columns(); ++i) {
    const arrow::Field& candidate = *batch.schema()->field(i);
    if (by_id ? FieldIdOf(candidate) == id : candidate.name() == field.name()) {
      return batch.column(i);
    }
  }
  return nullptr;
}

}  // namespace

int64_t LogEntry::rows() const {
  return std::accumulate(batches.begin(), batches.end(), int64_t{0},
                         [](int64_t sum, const auto& batch) { return sum + batch->num_rows(); });
}

Result<LogEntry> ParseEntry(const std::shared_ptr<arrow::Buffer>& bytes, uint64_t position,
                            std::string_view object) {
  return EntryParser(bytes, position, object).Parse();
}

Result<std::shared_ptr<arrow::RecordBatch>> AlignToBase(const arrow::RecordBatch& batch,
                                                        const std::shared_ptr<arrow::Schema>& base,
                                                        const std::vector<int>& field_ids) {
  bool by_id = field_ids.size() == static_cast<size_t>(base->num_fields());
  for (int i = 0; i + 1 < batch.num_columns(); ++i) {
    by_id = by_id && FieldIdOf(*batch.schema()->field(i)).has_value();
  }
  arrow::ArrayVector columns;
  for (int i = 0; i < base->num_fields(); ++i) {
    const arrow::Field& field = *base->field(i);
    const int id = by_id ? field_ids[static_cast<size_t>(i)] : 0;
    std::shared_ptr<arrow::Array> column = ColumnFor(batch, by_id, field, id);
    if (column == nullptr) {
      OG_ASSIGN_OR_RETURN(column, arrow::MakeArrayOfNull(field.type(), batch.num_rows()));
    } else if (!column->type()->Equals(*field.type(), /*check_metadata=*/false)) {
      return Invalid(
          "memwal.column_type",
          fmt::format(
              "map a log entry to its table: column {} is {} in the entry and {} in the table",
              field.name(), column->type()->ToString(), field.type()->ToString()),
          {.property = field.name()});
    }
    columns.push_back(std::move(column));
  }
  columns.push_back(batch.column(batch.num_columns() - 1));
  return arrow::RecordBatch::Make(EntrySchema(*base), batch.num_rows(), std::move(columns));
}

}  // namespace omnigraph::lance
