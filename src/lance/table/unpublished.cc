#include "omnigraph/lance/table/unpublished.h"

#include <algorithm>
#include <cstring>

#include "version_parts.h"

namespace omnigraph::lance {
namespace {

bool HoldsBytes(const arrow::Buffer& object, const store::Bytes& parts) {
  if (static_cast<uint64_t>(object.size()) != store::SizeOf(parts)) {
    return false;
  }
  const uint8_t* at = object.data();
  return std::ranges::all_of(parts, [&](const std::shared_ptr<arrow::Buffer>& part) {
    const auto size = static_cast<size_t>(part->size());
    const bool same = size == 0 || std::memcmp(at, part->data(), size) == 0;
    at += size;
    return same;
  });
}

/// The same error without its mark: what may have landed is no effect that anybody can see.
Status NothingVisible(const Status& put) {
  const ErrorDetail* detail = GetErrorDetail(put);
  return detail == nullptr || !detail->effect_unknown()
             ? put
             : MakeError(detail->kind(), detail->code(), put.message(), detail->place());
}

}  // namespace

Status PutUnpublished(store::ObjectStore& store, const std::string& path, const store::Bytes& bytes,
                      store::PutStrength strength) {
  Status put;
  for (int attempt = 0; attempt < kPutsMax; ++attempt) {
    put = store.PutIfAbsent(path, bytes, strength);
    if (put.ok() || IsFailedSync(put)) {
      break;
    }
    if (MayHaveLanded(put)) {
      const Result<std::shared_ptr<arrow::Buffer>> stands = store.Get(path);
      if (stands.ok()) {
        return HoldsBytes(**stands, bytes)
                   ? Status::OK()
                   : AlreadyExists("store.already_exists",
                                   "put " + path + ": other bytes have this name",
                                   {.object = path});
      }
    } else if (!Is(put, ErrorKind::kUnavailable)) {
      break;  // refused for a reason that stays
    }
    Backoff(attempt);
  }
  return NothingVisible(put);
}

}  // namespace omnigraph::lance
