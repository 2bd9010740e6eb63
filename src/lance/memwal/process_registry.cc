#include "omnigraph/lance/memwal/process_registry.h"

#include <fmt/format.h>

#include "json_text.h"
#include "omnigraph/runtime/ids.h"

namespace omnigraph::lance {

ProcessRegistry::ProcessRegistry(std::shared_ptr<store::ObjectStore> store,
                                 ProcessRegistryOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
      identity_(runtime::CurrentProcess()) {}

Result<std::shared_ptr<ProcessRegistry>> ProcessRegistry::Start(
    std::shared_ptr<store::ObjectStore> store, ProcessRegistryOptions options) {
  std::shared_ptr<ProcessRegistry> registry(
      new ProcessRegistry(std::move(store), std::move(options)));
  OG_RETURN_NOT_OK(registry->Beat());
  registry->thread_ = runtime::Thread::Start("heartbeat", [self = registry.get()] { self->Run(); });
  return registry;
}

ProcessRegistry::~ProcessRegistry() {
  const Status ignored =
      Stop();  // left behind, the object falls silent and others take over after a while
  (void)ignored;
}

Status ProcessRegistry::Stop() {
  {
    runtime::MutexLock lock(mutex_);
    if (stopping_) {
      return Status::OK();
    }
    stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.Join();
  return store_->Delete(PathOf(identity_.id));
}

std::string ProcessRegistry::PathOf(const std::string& id) const {
  return fmt::format("{}/{}", options_.folder, id);
}

Status ProcessRegistry::Beat() {
  std::string json = fmt::format(R"({{"v":1,"counter":{},"process":)", ++counter_);
  AppendJsonString(&json, identity_.id);
  json.append(R"(,"address":)");
  AppendJsonString(&json, options_.address);
  json.append(R"(,"boot":)");
  AppendJsonString(&json, identity_.host_boot_id);
  fmt::format_to(std::back_inserter(json), R"(,"pid":{},"start":{}}})", identity_.pid,
                 identity_.start_time);
  return store_->Put(PathOf(identity_.id), store::BytesOf(std::move(json)));
}

void ProcessRegistry::Run() {
  runtime::Duration next = runtime::MonotonicNow() + options_.beat_every;
  while (true) {
    {
      runtime::MutexLock lock(mutex_);
      while (!stopping_ && wake_.WaitUntil(mutex_, next)) {
      }
      if (stopping_) {
        return;
      }
    }
    // A beat that fails is made up for by the next one; silence for too long costs the shards, not
    // rows.
    const Status ignored = Beat();
    (void)ignored;
    next = runtime::MonotonicNow() + options_.beat_every;
  }
}

Result<OwnerState> ProcessRegistry::Judge(const OwnerMark& owner) {
  if (owner.process_id == identity_.id) {
    return OwnerState::kSelf;
  }
  const bool can_name_object = store::CheckObjectPath(PathOf(owner.process_id)).ok();
  const runtime::ProcessIdentity process{.id = owner.process_id,
                                         .host_boot_id = owner.host_boot_id,
                                         .pid = owner.pid,
                                         .start_time = owner.start_time};
  if (!can_name_object || !runtime::IsRunning(process)) {
    return OwnerState::kGone;
  }
  const Result<std::shared_ptr<arrow::Buffer>> beat = store_->Get(PathOf(owner.process_id));
  if (!beat.ok()) {
    if (IsNotFound(beat.status())) {
      return OwnerState::kGone;
    }
    return beat.status();
  }
  const std::string bytes = (*beat)->ToString();
  const runtime::Duration now = runtime::MonotonicNow();
  runtime::MutexLock lock(mutex_);
  const auto [at, first_look] = seen_.try_emplace(owner.process_id, Seen{bytes, now});
  Seen& seen = at->second;
  if (!first_look && seen.bytes != bytes) {
    seen = {bytes, now};
  }
  return now - seen.since >= options_.takeover_after ? OwnerState::kGone : OwnerState::kAlive;
}

OwnerMark ProcessRegistry::NewMark() const {
  return {.claim_id = runtime::NewUlid(),
          .process_id = identity_.id,
          .address = options_.address,
          .host_boot_id = identity_.host_boot_id,
          .pid = identity_.pid,
          .start_time = identity_.start_time};
}

}  // namespace omnigraph::lance
