#include "omnigraph/lance/table/unpublished.h"

#include "version_parts.h"

namespace omnigraph::lance {
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
        return store::SameBytes(bytes, **stands)
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
  // What may have landed is no effect that anybody can see.
  return put.ok() ? put : WithKnownEffect(put);
}

}  // namespace omnigraph::lance
