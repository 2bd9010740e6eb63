// Private declarations of xxHash: its streaming state by value.
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "entry_ipc.h"
#include "omnigraph/base/ids.h"

namespace omnigraph::lance {

std::string EntrySum(std::string_view json, const store::Bytes& body) {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  XXH64_update(&state, json.data(), json.size());
  for (const std::shared_ptr<arrow::Buffer>& part : body) {
    XXH64_update(&state, part->data(), static_cast<size_t>(part->size()));
  }
  return FormatHex64(XXH64_digest(&state));
}

}  // namespace omnigraph::lance
