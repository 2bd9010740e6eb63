#include "ipc_layout.h"

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
constexpr int kRecordBatchBuffers = 2;
// The struct `Buffer`: offset and length, both int64.
constexpr size_t kBufferStructBytes = 16;

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

}  // namespace

Result<store::Bytes> AlignBody(const std::vector<std::shared_ptr<arrow::Buffer>>& buffers,
                               std::string* metadata) {
  Flatbuffer message(metadata);
  const size_t root = message.Root();
  const size_t header = message.Slot(root, kMessageHeader);
  const size_t length_at = message.Slot(root, kMessageBodyLength);
  const size_t vector_at =
      header == 0 ? 0 : message.Slot(message.Follow(header), kRecordBatchBuffers);
  const size_t vector = vector_at == 0 ? 0 : message.Follow(vector_at);
  const std::optional<uint32_t> count = vector == 0 ? std::nullopt : message.Load<uint32_t>(vector);
  const size_t first = vector + sizeof(uint32_t);
  if (!message.Load<int64_t>(length_at).has_value() || length_at == 0 || count != buffers.size() ||
      first + buffers.size() * kBufferStructBytes > metadata->size()) {
    return Internal("memwal.ipc_layout",
                    "place the buffers of a log entry: the message is not laid out as Arrow's are");
  }

  store::Bytes body;
  body.reserve(buffers.size() * 2);
  int64_t offset = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    message.Store(first + i * kBufferStructBytes, offset);
    if (buffers[i] == nullptr || buffers[i]->size() == 0) {
      continue;
    }
    body.push_back(buffers[i]);
    const int64_t padding = (kIpcAlignment - buffers[i]->size() % kIpcAlignment) % kIpcAlignment;
    if (padding > 0) {
      body.push_back(std::make_shared<arrow::Buffer>(kZeros.data(), padding));
    }
    offset += buffers[i]->size() + padding;
  }
  message.Store(length_at, offset);
  return body;
}

}  // namespace omnigraph::lance
