// Entries out: an Arrow IPC stream as a list of buffers. docs/format/memwal.md, "Layout of an
// entry".
#include <arrow/buffer.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "entry_ipc.h"
#include "ipc_layout.h"
#include "json_text.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/lance/memwal/entry.h"

namespace omnigraph::lance {
namespace {

// Below this an entry is laid out in one buffer: cheaper than a list of little ones.
constexpr int64_t kContiguousBelow = int64_t{256} << 10;
// Stands where the checksum will stand. Raw control characters never occur in the JSON beside it.
constexpr std::string_view kSumPlaceholder =
    "\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14\x15";
static_assert(kSumPlaceholder.size() == kSumDigits);

arrow::ipc::IpcWriteOptions WriteOptions() {
  arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
  options.alignment = kIpcAlignment;
  options.use_threads = false;
  return options;
}

int64_t PaddingOf(int64_t size) {
  return (kIpcAlignment - size % kIpcAlignment) % kIpcAlignment;
}

// One message's metadata with its frame: continuation, length, flatbuffer, zeros.
std::shared_ptr<arrow::Buffer> FrameMessage(const arrow::Buffer& metadata) {
  std::string framed;
  const int64_t padding = PaddingOf(metadata.size() + kFrameBytes);
  framed.reserve(static_cast<size_t>(kFrameBytes + metadata.size() + padding));
  AppendLittle(&framed, kContinuation);
  AppendLittle(&framed, static_cast<int32_t>(metadata.size() + padding));
  framed.append(reinterpret_cast<const char*>(metadata.data()),
                static_cast<size_t>(metadata.size()));
  framed.append(static_cast<size_t>(padding), '\0');
  return arrow::Buffer::FromString(std::move(framed));
}

std::shared_ptr<arrow::Buffer> EndOfStream() {
  std::string bytes;
  AppendLittle(&bytes, kContinuation);
  AppendLittle(&bytes, int32_t{0});
  return arrow::Buffer::FromString(std::move(bytes));
}

Result<std::shared_ptr<arrow::Buffer>> EncodeSchemaMessage(const arrow::Schema& schema) {
  arrow::ipc::IpcPayload payload;
  const arrow::ipc::DictionaryFieldMapper mapper(schema);
  OG_RETURN_NOT_OK(arrow::ipc::GetSchemaPayload(schema, WriteOptions(), mapper, &payload));
  return FrameMessage(*payload.metadata);
}

// Where `part` stands in `text`, if it stands there once.
std::optional<size_t> OnlyPlaceOf(std::string_view part, const std::string& text) {
  const size_t at = text.find(part);
  const bool once = at != std::string::npos && text.find(part, at + 1) == std::string::npos;
  return once ? std::optional(at) : std::nullopt;
}

EncodedEntry Assemble(store::Bytes parts) {
  EncodedEntry entry;
  for (const std::shared_ptr<arrow::Buffer>& part : parts) {
    entry.size_bytes += part->size();
  }
  if (entry.size_bytes > kContiguousBelow) {
    entry.parts = std::move(parts);
    return entry;
  }
  std::string bytes;
  bytes.reserve(static_cast<size_t>(entry.size_bytes));
  for (const std::shared_ptr<arrow::Buffer>& part : parts) {
    bytes.append(reinterpret_cast<const char*>(part->data()), static_cast<size_t>(part->size()));
  }
  entry.parts.push_back(arrow::Buffer::FromString(std::move(bytes)));
  return entry;
}

std::shared_ptr<arrow::Schema> WithEpoch(const arrow::Schema& schema, uint64_t epoch) {
  std::shared_ptr<arrow::KeyValueMetadata> metadata =
      schema.metadata() == nullptr ? std::make_shared<arrow::KeyValueMetadata>()
                                   : schema.metadata()->Copy();
  (void)metadata->Delete(std::string(kWriterEpochKey));
  metadata->Append(std::string(kWriterEpochKey), std::to_string(epoch));
  return schema.WithMetadata(metadata);
}

Status CheckShape(const arrow::RecordBatch& batch) {
  const int last = batch.num_columns() - 1;
  if (last < 1 || batch.num_rows() < 1) {
    return Invalid(
        "memwal.batch",
        fmt::format("append to the log: {} columns and {} rows, needs a row and a column beside {}",
                    batch.num_columns(), batch.num_rows(), kTombstoneColumn));
  }
  const arrow::Field& field = *batch.schema()->field(last);
  if (field.name() != kTombstoneColumn || field.type()->id() != arrow::Type::BOOL ||
      field.nullable()) {
    return Invalid("memwal.batch",
                   fmt::format("append to the log: the last column is {}, needs {} bool not null",
                               field.ToString(), kTombstoneColumn));
  }
  return Status::OK();
}

}  // namespace

EntryEncoder::EntryEncoder(uint64_t epoch) : epoch_(epoch) {}
EntryEncoder::~EntryEncoder() = default;

Status EntryEncoder::CacheSchema(const std::shared_ptr<arrow::Schema>& schema) {
  if (schema == schema_) {
    return Status::OK();
  }
  OG_ASSIGN_OR_RETURN(schema_message_, EncodeSchemaMessage(*WithEpoch(*schema, epoch_)));
  schema_ = schema;
  last_ = {};
  return Status::OK();
}

// The message's metadata and the buffers of its body: the last one again, where only numbers
// differ.
Result<std::vector<std::shared_ptr<arrow::Buffer>>> EntryEncoder::MakeMessage(
    const arrow::RecordBatch& batch, const std::string& json, BatchMessage* out) {
  if (last_.json_size == json.size()) {
    if (std::optional<FlatBatch> flat = FlattenExact(batch)) {
      *out = last_;
      OG_RETURN_NOT_OK(SetNodes(batch.num_rows(), flat->nodes, &out->metadata));
      out->metadata.replace(out->json_at, json.size(), json);
      return std::move(flat->buffers);
    }
  }
  arrow::ipc::IpcPayload payload;
  OG_RETURN_NOT_OK(arrow::ipc::GetRecordBatchPayload(
      batch,
      arrow::KeyValueMetadata::Make({std::string(kEntryMarkKey), std::string(kEntrySumKey)},
                                    {json, std::string(kSumPlaceholder)}),
      WriteOptions(), &payload));
  out->metadata = payload.metadata->ToString();
  const std::optional<size_t> json_at = OnlyPlaceOf(json, out->metadata);
  const std::optional<size_t> sum_at = OnlyPlaceOf(kSumPlaceholder, out->metadata);
  OG_CHECK(json_at.has_value() && sum_at.has_value());  // Arrow wrote both, and neither is short
  out->json_at = *json_at;
  out->json_size = json.size();
  out->sum_at = *sum_at;
  last_ = *out;
  return payload.body_buffers;
}

Result<EncodedEntry> EntryEncoder::Encode(const arrow::RecordBatch& batch, const EntryMark& mark) {
  OG_RETURN_NOT_OK(CheckShape(batch));
  OG_RETURN_NOT_OK(CacheSchema(batch.schema()));
  const std::string json = EncodeEntryMark(mark);

  // 1. The message with room for the checksum; 2. its buffers on 64 bytes; 3. the checksum of what
  // it holds, into its room.
  BatchMessage message;
  OG_ASSIGN_OR_RETURN(const std::vector<std::shared_ptr<arrow::Buffer>> buffers,
                      MakeMessage(batch, json, &message));
  OG_ASSIGN_OR_RETURN(store::Bytes body, AlignBody(buffers, &message.metadata));
  message.metadata.replace(message.sum_at, kSumDigits, EntrySum(json, body));

  store::Bytes parts;
  parts.reserve(body.size() + 3);
  parts.push_back(schema_message_);
  parts.push_back(FrameMessage(arrow::Buffer(message.metadata)));
  std::move(body.begin(), body.end(), std::back_inserter(parts));
  parts.push_back(EndOfStream());
  return Assemble(std::move(parts));
}

Result<EncodedEntry> EncodeSentinel(uint64_t epoch, std::string_view process_id,
                                    std::string_view address) {
  std::string json = R"({"v":1,"process":)";
  AppendJsonString(&json, process_id);
  json.append(R"(,"address":)");
  AppendJsonString(&json, address);
  json.push_back('}');
  const auto metadata = arrow::KeyValueMetadata::Make(
      {std::string(kWriterEpochKey), std::string(kFenceSentinelKey), std::string(kOurSentinelKey)},
      {std::to_string(epoch), "true", std::move(json)});
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> schema,
                      EncodeSchemaMessage(arrow::Schema({}, metadata)));
  return Assemble({std::move(schema), EndOfStream()});
}

std::shared_ptr<arrow::Schema> EntrySchema(const arrow::Schema& base) {
  arrow::FieldVector fields = base.fields();
  fields.push_back(
      arrow::field(std::string(kTombstoneColumn), arrow::boolean(), /*nullable=*/false));
  return arrow::schema(std::move(fields), base.metadata());
}

std::vector<std::shared_ptr<arrow::RecordBatch>> SplitForEntries(
    const std::shared_ptr<arrow::RecordBatch>& batch) {
  const int64_t rows = batch->num_rows();
  if (rows <= 1 || (rows <= kEntryRowsMax && EstimateEntryBytes(*batch) <= kEntryBytesMax)) {
    return {batch};
  }
  const int64_t half = std::min(kEntryRowsMax, (rows + 1) / 2);
  std::vector<std::shared_ptr<arrow::RecordBatch>> parts = SplitForEntries(batch->Slice(0, half));
  for (std::shared_ptr<arrow::RecordBatch>& part : SplitForEntries(batch->Slice(half))) {
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace omnigraph::lance
