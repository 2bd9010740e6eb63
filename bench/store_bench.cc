// Group `store`: the ways of a durable put, as medians over those of a bare append and fdatasync of
// the same bytes in the same run (docs/format/durable-put.md has the table), and small reads.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "figures.h"
#include "omnigraph/store/local_disk.h"
#include "omnigraph/store/local_store.h"

namespace omnigraph::bench {
namespace {

using store::Bytes;
using store::PutPlan;
using store::PutStep;

struct Size {
  const char* name;
  size_t bytes;
  int rounds;
};

constexpr Size kSizes[] = {{"4k", 4 << 10, 400},
                           {"64k", 64 << 10, 200},
                           {"1m", 1 << 20, 60},
                           {"4m", 4 << 20, 30},
                           {"16m", 16 << 20, 12}};

Bytes RandomPayload(size_t size) {
  std::string bytes(size, '\0');
  uint64_t state = 88172645463325252ULL;
  for (char& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<char>(state);
  }
  return store::BytesOf(std::move(bytes));
}

void WriteAll(int descriptor, const Bytes& payload) {
  for (const std::shared_ptr<arrow::Buffer>& part : payload) {
    int64_t done = 0;
    while (done < part->size()) {
      const ssize_t written =
          write(descriptor, part->data() + done, static_cast<size_t>(part->size() - done));
      OG_CHECK(written > 0);
      done += written;
    }
  }
}

/// One way of putting: `prepare` is not timed.
struct Way {
  std::string name;
  std::function<void(int round)> prepare;
  std::function<void(int round)> put;
  Samples samples;
};

/// The plans of put_plan.h, step by step on the disk seam.
class PlanRunner {
 public:
  PlanRunner(std::shared_ptr<store::DiskFolder> folder, PutPlan plan, const Bytes& payload)
      : folder_(std::move(folder)), plan_(plan), payload_(payload) {}

  void Prepare() { file_ = folder_->OpenUnnamed().ValueOrDie(); }

  void Put(const std::string& name) {
    for (const PutStep step : plan_.steps) {
      OG_CHECK_OK(Run(step, name));
    }
  }

 private:
  Status Run(PutStep step, const std::string& name) {
    switch (step) {
      case PutStep::kWrite:
        return file_->Write(payload_);
      case PutStep::kWriteback:
        return file_->Writeback();
      case PutStep::kSyncData:
        return file_->SyncData();
      case PutStep::kLink:
        return folder_->LinkUnnamed(*file_, name);
      case PutStep::kSyncFile:
        return file_->Sync();
      case PutStep::kSyncFolder:
        return folder_->Sync();
      case PutStep::kLinkHidden:
      case PutStep::kReplace:
      case PutStep::kExchange:
      case PutStep::kDropHidden:
        return Internal("bench.no_such_step", "these plans put new names only");
    }
    return Status::OK();
  }

  const std::shared_ptr<store::DiskFolder> folder_;
  const PutPlan plan_;
  const Bytes& payload_;
  std::unique_ptr<store::DiskFile> file_;
};

Way PlanWay(const std::string& folder, const std::shared_ptr<store::Disk>& disk, PutPlan plan,
            const Bytes& payload) {
  const std::string name(plan.name);
  OG_CHECK_OK(disk->MakeFolder(name));
  auto runner = std::make_shared<PlanRunner>(disk->OpenFolder(name).ValueOrDie(), plan, payload);
  static_cast<void>(folder);
  return {name,
          [runner](int) { runner->Prepare(); },
          [runner](int round) { runner->Put(std::to_string(round)); },
          {}};
}

Way AppendWay(const std::string& name, const std::string& path, int flags, bool sync,
              const Bytes& payload) {
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | flags, 0644);
  OG_CHECK(file >= 0);
  return {name,
          [](int) {},
          [file, sync, &payload](int) {
            WriteAll(file, payload);
            OG_CHECK(!sync || fdatasync(file) == 0);
          },
          {}};
}

Way RenameWay(const std::string& folder, const Bytes& payload) {
  OG_CHECK(mkdir(folder.c_str(), 0755) == 0);
  const int handle = open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  OG_CHECK(handle >= 0);
  return {"rename",
          [](int) {},
          [handle, &payload](int round) {
            const int file = openat(handle, "temporary", O_CREAT | O_EXCL | O_WRONLY, 0644);
            OG_CHECK(file >= 0);
            WriteAll(file, payload);
            OG_CHECK(fdatasync(file) == 0);
            OG_CHECK(close(file) == 0);
            OG_CHECK(renameat(handle, "temporary", handle, std::to_string(round).c_str()) == 0);
            OG_CHECK(fsync(handle) == 0);
          },
          {}};
}

/// The store itself, checks and open-ahead thread and all.
Way StoreWay(const std::string& name, const std::string& folder, store::PutStrength strength,
             const Bytes& payload) {
  const auto local = store::LocalStore::Open(folder).ValueOrDie();
  return {name,
          [](int) {},
          [local, strength, &payload](int round) {
            OG_CHECK_OK(local->PutIfAbsent("t/wal/" + std::to_string(round), payload, strength));
          },
          {}};
}

void MeasurePuts(const std::string& work, const Size& size) {
  const Bytes payload = RandomPayload(size.bytes);
  const std::string root = work + "/put_" + size.name;
  const auto disk = store::OpenLocalDisk(root).ValueOrDie();
  OG_CHECK_OK(disk->MakeRoot());
  std::vector<Way> ways;
  ways.push_back(AppendWay("append", root + "/append", 0, true, payload));
  ways.push_back(AppendWay("append_dsync", root + "/append_dsync", O_DSYNC, false, payload));
  ways.push_back(PlanWay(root, disk, store::kOrderedPlan, payload));
  ways.push_back(PlanWay(root, disk, store::kStrictPlan, payload));
  ways.push_back(PlanWay(root, disk, store::kStrictFilePlan, payload));
  ways.push_back(PlanWay(root, disk, store::kStrictBothPlan, payload));
  ways.push_back(PlanWay(root, disk, store::kLinkFirstPlan, payload));
  ways.push_back(RenameWay(root + "/rename", payload));
  ways.push_back(StoreWay("store_ordered", root + "/store", store::PutStrength::kOrdered, payload));
  ways.push_back(
      StoreWay("store_strict", root + "/store_strict", store::PutStrength::kStrict, payload));
  for (int round = 0; round < size.rounds; ++round) {
    // Each round starts with another way, so that none always follows the same neighbour.
    for (size_t i = 0; i < ways.size(); ++i) {
      Way& way = ways[(i + static_cast<size_t>(round)) % ways.size()];
      way.prepare(round);
      way.samples.Add(TimeUs([&] { way.put(round); }));
    }
  }
  const std::string prefix = std::string("store.put_") + size.name + ".";
  Figure(prefix + "append_p50_us", ways[0].samples.Median());
  for (size_t i = 1; i < ways.size(); ++i) {
    Figure(prefix + ways[i].name + "_over_sync",
           ways[i].samples.Median() / ways[0].samples.Median());
  }
}

void MeasureReads(const std::string& work) {
  const auto local = store::LocalStore::Open(work + "/read").ValueOrDie();
  OG_CHECK_OK(local->PutIfAbsent("x", RandomPayload(4 << 20), store::PutStrength::kOrdered));
  Samples whole;
  Samples one;
  Samples many;
  std::vector<store::ByteRange> ranges;
  for (uint64_t i = 0; i < 64; ++i) {
    ranges.push_back({i * 65'521, 512});
  }
  for (int round = 0; round < 500; ++round) {
    whole.Add(TimeUs([&] { OG_CHECK_OK(local->Get("x")); }));
    one.Add(TimeUs([&] { OG_CHECK_OK(local->GetRanges("x", std::span(ranges).first(1))); }));
    many.Add(TimeUs([&] { OG_CHECK_OK(local->GetRanges("x", ranges)); }));
  }
  Figure("store.get_4m.p50_us", whole.Median());
  Figure("store.get_1_range.p50_us", one.Median());
  Figure("store.get_64_ranges.p50_us", many.Median());
}

int Main(int argc, char** argv) {
  std::string work = WorkFolder(argc, argv) + "/store-XXXXXX";
  OG_CHECK(mkdtemp(work.data()) != nullptr);
  for (const Size& size : kSizes) {
    MeasurePuts(work, size);
  }
  MeasureReads(work);
  const std::string clean = "rm -rf '" + work + "'";
  return std::system(clean.c_str()) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace omnigraph::bench

int main(int argc, char** argv) {
  return omnigraph::bench::Main(argc, argv);
}
