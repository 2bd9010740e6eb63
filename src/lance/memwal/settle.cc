#include "settle.h"

#include <algorithm>
#include <cstring>

#include "omnigraph/runtime/clock.h"

namespace omnigraph::lance {
namespace {

bool EffectUnknown(const Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return detail == nullptr || detail->effect_unknown();
}

// Waiting does not mend these, and the store knows that it wrote nothing.
bool IsFinal(const Status& status) {
  const ErrorKind kind = KindOf(status);
  return !EffectUnknown(status) && (kind == ErrorKind::kExhausted || kind == ErrorKind::kInvalid);
}

}  // namespace

bool SameBytes(const store::Bytes& parts, const arrow::Buffer& bytes) {
  int64_t at = 0;
  for (const std::shared_ptr<arrow::Buffer>& part : parts) {
    if (part->size() > bytes.size() - at ||
        std::memcmp(part->data(), bytes.data() + at, static_cast<size_t>(part->size())) != 0) {
      return false;
    }
    at += part->size();
  }
  return at == bytes.size();
}

Result<SettledPut> PutSettled(store::ObjectStore& store, const std::string& path,
                              const store::Bytes& bytes, store::PutStrength strength,
                              const SettlePolicy& policy) {
  bool unknown = false;
  Status last;
  runtime::Duration pause = policy.pause;
  for (int attempt = 0; attempt < policy.tries; ++attempt) {
    if (attempt > 0) {
      runtime::SleepFor(pause);
      pause = std::min(pause * 2, policy.pause_max);
    }
    const Status put = store.PutIfAbsent(path, bytes, strength);
    if (put.ok()) {
      return SettledPut{.ours = true, .other = nullptr, .doubtful = false};
    }
    if (CodeOf(put) == "store.sync_failed") {
      return WithUnknownEffect(put);
    }
    unknown = unknown || (!IsAlreadyExists(put) && EffectUnknown(put));
    last = put;
    const Result<std::shared_ptr<arrow::Buffer>> stands = store.Get(path);
    if (stands.ok()) {
      const bool ours = SameBytes(bytes, **stands);
      return SettledPut{.ours = ours, .other = ours ? nullptr : *stands, .doubtful = unknown};
    }
    if (!IsNotFound(stands.status())) {
      last = stands.status();
    } else if (!unknown && IsFinal(put)) {
      return put;
    }
  }
  return unknown || IsAlreadyExists(last) ? WithUnknownEffect(last) : last;
}

}  // namespace omnigraph::lance
