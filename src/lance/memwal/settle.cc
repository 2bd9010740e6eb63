#include "settle.h"

#include <algorithm>

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

Result<SettledPut> PutSettled(store::ObjectStore& store, const std::string& path,
                              const store::Bytes& bytes, store::PutStrength strength,
                              const SettlePolicy& policy) {
  bool unanswered = false;
  bool refused = false;  // "exists" is no verdict: it may be our own put, repeated below us (P4)
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
    refused = refused || IsAlreadyExists(put);
    unanswered = unanswered || (!IsAlreadyExists(put) && EffectUnknown(put));
    last = put;
    const Result<std::shared_ptr<arrow::Buffer>> stands = store.Get(path);
    if (stands.ok()) {
      const bool ours = store::SameBytes(bytes, **stands);
      return SettledPut{.ours = ours, .other = ours ? nullptr : *stands, .doubtful = unanswered};
    }
    if (!IsNotFound(stands.status())) {
      last = stands.status();
    } else if (!unanswered && !refused && IsFinal(put)) {
      return put;
    }
  }
  return unanswered || refused ? WithUnknownEffect(last) : last;
}

}  // namespace omnigraph::lance
