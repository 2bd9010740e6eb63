#include "local_put.h"

#include <utility>

#include "temporary_name.h"

namespace omnigraph::store {
namespace {

/// One put on its way. Single-owner.
class PutRun {
 public:
  PutRun(DiskFolder& folder, std::string_view name, const Bytes& bytes)
      : folder_(folder), name_(name), bytes_(bytes) {}

  Status Open(LocalFolders& folders, const std::shared_ptr<AnchoredFolder>& anchored) {
    Result<std::unique_ptr<DiskFile>> unnamed = folders.TakeUnnamed(anchored);
    if (unnamed.ok()) {
      file_ = std::move(*unnamed);
      return Status::OK();
    }
    if (!IsUnsupported(unnamed.status())) {
      return unnamed.status();
    }
    std::string temporary = NewTemporaryName();
    OG_ASSIGN_OR_RETURN(file_, folder_.Create(temporary));
    temporary_ = std::move(temporary);
    return Status::OK();
  }

  Status Step(PutStep step) {
    switch (step) {
      case PutStep::kWrite:
        return file_->Write(bytes_);
      case PutStep::kWriteback:
        return Synced(file_->Writeback());
      case PutStep::kSyncData:
        return Synced(file_->SyncData());
      case PutStep::kSyncFile:
        return Synced(file_->Sync());
      case PutStep::kSyncFolder:
        return Synced(folder_.Sync());
      case PutStep::kLink:
        return Link();
      case PutStep::kLinkHidden:
        return LinkHidden();
      case PutStep::kReplace:
        return Replace();
      case PutStep::kExchange:
        OG_RETURN_NOT_OK(folder_.Exchange(temporary_, name_));
        shown_ = true;
        return Status::OK();
      case PutStep::kDropHidden:
        CleanUp();
        return Status::OK();
    }
    return Status::OK();
  }

  /// Take the hidden name away, if there is one.
  void CleanUp() {
    if (!temporary_.empty()) {
      // Best effort: it is hidden, whatever it stands for, and no failure of the put.
      static_cast<void>(folder_.Unlink(temporary_));
      temporary_.clear();
    }
  }

  bool shown() const { return shown_; }

 private:
  static Status Synced(const Status& status) { return status.ok() ? status : SyncFailed(status); }

  Status Link() {
    if (temporary_.empty()) {
      OG_RETURN_NOT_OK(folder_.LinkUnnamed(*file_, name_));
      shown_ = true;
      return Status::OK();
    }
    OG_RETURN_NOT_OK(folder_.Link(temporary_, name_));
    shown_ = true;
    CleanUp();
    return Status::OK();
  }

  Status LinkHidden() {
    if (temporary_.empty()) {
      std::string temporary = NewTemporaryName();
      OG_RETURN_NOT_OK(folder_.LinkUnnamed(*file_, temporary));
      temporary_ = std::move(temporary);
    }
    return Status::OK();
  }

  Status Replace() {
    OG_RETURN_NOT_OK(folder_.Rename(temporary_, name_));
    shown_ = true;
    temporary_.clear();
    return Status::OK();
  }

  DiskFolder& folder_;
  const std::string_view name_;
  const Bytes& bytes_;
  std::unique_ptr<DiskFile> file_;
  std::string temporary_;
  bool shown_ = false;
};

}  // namespace

std::string_view ToString(PutStep step) {
  switch (step) {
    case PutStep::kWrite:
      return "write";
    case PutStep::kWriteback:
      return "writeback";
    case PutStep::kSyncData:
      return "sync_data";
    case PutStep::kLink:
      return "link";
    case PutStep::kLinkHidden:
      return "link_hidden";
    case PutStep::kReplace:
      return "replace";
    case PutStep::kExchange:
      return "exchange";
    case PutStep::kDropHidden:
      return "drop_hidden";
    case PutStep::kSyncFile:
      return "sync_file";
    case PutStep::kSyncFolder:
      return "sync_folder";
  }
  return "unknown";
}

Status RunPutPlan(LocalFolders& folders, const std::shared_ptr<AnchoredFolder>& folder,
                  std::string_view name, const Bytes& bytes, const PutPlan& plan) {
  PutRun run(folder->handle(), name, bytes);
  OG_RETURN_NOT_OK(run.Open(folders, folder));
  for (const PutStep step : plan.steps) {
    const Status status = run.Step(step);
    if (!status.ok()) {
      run.CleanUp();
      return run.shown() ? WithUnknownEffect(status) : status;
    }
  }
  return Status::OK();
}

}  // namespace omnigraph::store
