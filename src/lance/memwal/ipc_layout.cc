#include "ipc_layout.h"

#include <arrow/array/data.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include <array>
#include <cstring>
#include <optional>

#include "entry_ipc.h"
#include "omnigraph/base/bytes.h"

namespace omnigraph::lance {
namespace {

// Slots of the tables `Message` and `RecordBatch` in Arrow's Message.fbs.
constexpr int kMessageHeader = 2;
constexpr int kMessageBodyLength = 3;
constexpr int kRecordBatchLength = 0;
constexpr int kRecordBatchNodes = 1;
constexpr int kRecordBatchBuffers = 2;
// The structs `Buffer` (offset and length) and `FieldNode` (length and null count), all int64.
constexpr size_t kBufferStructBytes = 16;
constexpr size_t kNodeStructBytes = 16;

alignas(64) constexpr std::array<uint8_t, kIpcAlignment> kZeros{};

// A cursor into a flatbuffer. Offsets are checked: 0 means "not there".
class Flatbuffer {
 public:
  explicit Flatbuffer(std::string* bytes) : bytes_(bytes) {}

  size_t Root() const { return Follow(0); }

  // Where the value of a table's slot stands.
  size_t Slot(size_t table, int slot) const {
    const std::optional<int32_t> back = Load<int32_t>(table);
    if (table == 0 || !back.has_value() || static_cast<int64_t>(table) < *back) {
      return 0;
    }
    const size_t vtable = static_cast<size_t>(static_cast<int64_t>(table) - *back);
    const size_t entry = 4 + 2 * static_cast<size_t>(slot);
    const std::optional<uint16_t> size = Load<uint16_t>(vtable);
    const std::optional<uint16_t> offset = Load<uint16_t>(vtable + entry);
    const bool present = size.has_value() && *size > entry && offset.has_value() && *offset != 0;
    return present ? table + *offset : 0;
  }

  // What the relative offset at `at` points to.
  size_t Follow(size_t at) const {
    const std::optional<uint32_t> offset = Load<uint32_t>(at);
    return offset.has_value() && at + *offset < bytes_->size() ? at + *offset : 0;
  }

  template <typename T>
  std::optional<T> Load(size_t at) const {
    if (at > bytes_->size() || sizeof(T) > bytes_->size() - at) {
      return std::nullopt;
    }
    return LoadLittle<T>(bytes_->data() + at);
  }

  // REQUIRES: `at` was loaded from before.
  void Store(size_t at, int64_t value) { std::memcpy(bytes_->data() + at, &value, sizeof(value)); }

 private:
  std::string* bytes_;
};

// The elements of a vector of structs of 16 bytes, in a slot of the record batch; 0 if it has not
// `count` of them.
size_t VectorOf(const Flatbuffer& message, int slot, size_t count) {
  const size_t header = message.Slot(message.Root(), kMessageHeader);
  const size_t at = header == 0 ? 0 : message.Slot(message.Follow(header), slot);
  const size_t vector = at == 0 ? 0 : message.Follow(at);
  const size_t first = vector + sizeof(uint32_t);
  const bool fits = vector != 0 && message.Load<uint32_t>(vector) == count &&
                    (count == 0 || message.Load<int64_t>(first + count * kBufferStructBytes - 8));
  return fits ? first : 0;
}

Status UnknownLayout() {
  return Internal("memwal.ipc_layout",
                  "place the buffers of a log entry: the message is not laid out as Arrow's are");
}

// Adds arrays to a FlatBatch; false at the first that does not fit.
class Flattener {
 public:
  explicit Flattener(FlatBatch* out) : out_(out) {}

  bool Add(const arrow::ArrayData& data) {
    if (data.offset != 0) {
      return false;
    }
    const int64_t nulls = data.GetNullCount();
    out_->nodes.push_back({data.length, nulls});
    if (nulls == 0) {
      out_->buffers.push_back(nullptr);
    } else if (!AddBuffer(data.buffers[0], arrow::bit_util::BytesForBits(data.length))) {
      return false;
    }
    return AddValues(data);
  }

 private:
  bool AddBuffer(const std::shared_ptr<arrow::Buffer>& buffer, int64_t bytes) {
    out_->buffers.push_back(buffer);
    return buffer != nullptr && buffer->size() == bytes;
  }

  // The last offset, or -1.
  template <typename Offset>
  int64_t AddOffsets(const arrow::ArrayData& data) {
    if (!AddBuffer(data.buffers[1], (data.length + 1) * static_cast<int64_t>(sizeof(Offset)))) {
      return -1;
    }
    const Offset* offsets = data.GetValues<Offset>(1);
    return offsets[0] == 0 ? offsets[data.length] : -1;
  }

  bool AddChild(const arrow::ArrayData& data, int64_t length) {
    return data.child_data[0]->length == length && Add(*data.child_data[0]);
  }

  bool AddValues(const arrow::ArrayData& data) {
    switch (data.type->id()) {
      case arrow::Type::STRING:
      case arrow::Type::BINARY: {
        const int64_t bytes = AddOffsets<int32_t>(data);
        return bytes >= 0 && AddBuffer(data.buffers[2], bytes);
      }
      case arrow::Type::LARGE_STRING:
      case arrow::Type::LARGE_BINARY: {
        const int64_t bytes = AddOffsets<int64_t>(data);
        return bytes >= 0 && AddBuffer(data.buffers[2], bytes);
      }
      case arrow::Type::LIST: {
        const int64_t items = AddOffsets<int32_t>(data);
        return items >= 0 && AddChild(data, items);
      }
      case arrow::Type::FIXED_SIZE_LIST:
        return AddChild(
            data,
            data.length * static_cast<const arrow::FixedSizeListType&>(*data.type).list_size());
      default:
        return arrow::is_primitive(data.type->id()) &&
               AddBuffer(data.buffers[1],
                         arrow::bit_util::BytesForBits(
                             data.length *
                             static_cast<const arrow::FixedWidthType&>(*data.type).bit_width()));
    }
  }

  FlatBatch* out_;
};

}  // namespace

Result<store::Bytes> AlignBody(const std::vector<std::shared_ptr<arrow::Buffer>>& buffers,
                               std::string* metadata) {
  Flatbuffer message(metadata);
  const size_t length_at = message.Slot(message.Root(), kMessageBodyLength);
  const size_t first = VectorOf(message, kRecordBatchBuffers, buffers.size());
  if (length_at == 0 || !message.Load<int64_t>(length_at).has_value() || first == 0) {
    return UnknownLayout();
  }

  store::Bytes body;
  body.reserve(buffers.size() * 2);
  int64_t offset = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t size = buffers[i] == nullptr ? 0 : buffers[i]->size();
    message.Store(first + i * kBufferStructBytes, offset);
    message.Store(first + i * kBufferStructBytes + sizeof(int64_t), size);
    if (size == 0) {
      continue;
    }
    body.push_back(buffers[i]);
    const int64_t padding = (kIpcAlignment - size % kIpcAlignment) % kIpcAlignment;
    if (padding > 0) {
      body.push_back(std::make_shared<arrow::Buffer>(kZeros.data(), padding));
    }
    offset += size + padding;
  }
  message.Store(length_at, offset);
  return body;
}

std::optional<FlatBatch> FlattenExact(const arrow::RecordBatch& batch) {
  FlatBatch out;
  out.nodes.reserve(static_cast<size_t>(batch.num_columns()));
  out.buffers.reserve(static_cast<size_t>(batch.num_columns()) * 3);
  Flattener flattener(&out);
  for (int i = 0; i < batch.num_columns(); ++i) {
    if (!flattener.Add(*batch.column_data(i))) {
      return std::nullopt;
    }
  }
  return out;
}

Status SetNodes(int64_t rows, const std::vector<FieldNode>& nodes, std::string* metadata) {
  Flatbuffer message(metadata);
  const size_t header = message.Slot(message.Root(), kMessageHeader);
  const size_t rows_at = header == 0 ? 0 : message.Slot(message.Follow(header), kRecordBatchLength);
  const size_t first = VectorOf(message, kRecordBatchNodes, nodes.size());
  if (rows_at == 0 || !message.Load<int64_t>(rows_at).has_value() || first == 0) {
    return UnknownLayout();
  }
  message.Store(rows_at, rows);
  for (size_t i = 0; i < nodes.size(); ++i) {
    message.Store(first + i * kNodeStructBytes, nodes[i].length);
    message.Store(first + i * kNodeStructBytes + sizeof(int64_t), nodes[i].null_count);
  }
  return Status::OK();
}

}  // namespace omnigraph::lance
