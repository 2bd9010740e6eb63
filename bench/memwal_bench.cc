// Group `memwal`: the log alone, without admission. `one.over_bare`: the median ack of a lone
// producer over the median of a bare append and fdatasync of as many bytes, in turn in the same
// run. `p64.acks_per_s`: 64 blocking producers of one row each. `encode.*`: laying out entries, no
// store.
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "figures.h"
#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/runtime/thread.h"

namespace omnigraph::bench {
namespace {

using lance::AppendRequest;
using lance::ShardWriter;

constexpr int kOneRounds = 1500;
constexpr int kProducers = 64;
constexpr runtime::Duration kThroughputFor = std::chrono::seconds(2);

const std::shared_ptr<arrow::Schema>& RowSchema() {
  static const std::shared_ptr<arrow::Schema> schema = lance::EntrySchema(*arrow::schema(
      {arrow::field("id", arrow::utf8(), false), arrow::field("kind", arrow::utf8()),
       arrow::field("value", arrow::int64()), arrow::field("payload", arrow::utf8())}));
  return schema;
}

std::shared_ptr<arrow::RecordBatch> MakeRows(int64_t first, int64_t count) {
  arrow::StringBuilder ids;
  arrow::StringBuilder kinds;
  arrow::Int64Builder values;
  arrow::StringBuilder payloads;
  arrow::BooleanBuilder tombstones;
  for (int64_t i = first; i < first + count; ++i) {
    OG_CHECK_OK(ids.Append("event-" + std::to_string(i)));
    OG_CHECK_OK(kinds.Append(i % 2 == 0 ? "click" : "view"));
    OG_CHECK_OK(values.Append(i));
    OG_CHECK_OK(payloads.Append(std::string(64, 'x')));
    OG_CHECK_OK(tombstones.Append(false));
  }
  arrow::ArrayVector columns(5);
  OG_CHECK_OK(ids.Finish(&columns[0]));
  OG_CHECK_OK(kinds.Finish(&columns[1]));
  OG_CHECK_OK(values.Finish(&columns[2]));
  OG_CHECK_OK(payloads.Finish(&columns[3]));
  OG_CHECK_OK(tombstones.Finish(&columns[4]));
  return arrow::RecordBatch::Make(RowSchema(), count, std::move(columns));
}

AppendRequest Request(std::shared_ptr<arrow::RecordBatch> batch) {
  AppendRequest request;
  request.runs.resize(1);
  request.runs[0].rows = batch->num_rows();
  request.runs[0].actor = "bench";
  request.batch = std::move(batch);
  return request;
}

// Processor time of this process so far, in microseconds.
double CpuUs() {
  rusage usage = {};
  OG_CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

std::unique_ptr<ShardWriter> Claim(const std::shared_ptr<store::ObjectStore>& store,
                                   const std::string& name) {
  auto writer = ShardWriter::Claim(
      lance::ShardLocation::In(store, name + "/_mem_wal", lance::UnshardedShardId()), {}, nullptr);
  OG_CHECK_OK(writer);
  return *std::move(writer);
}

// A lone producer, in turn with the bare append.
void BenchOne(const std::shared_ptr<store::ObjectStore>& store, const std::string& work) {
  const auto writer = Claim(store, "one");
  OG_CHECK_OK(writer->AppendAndWait(Request(MakeRows(0, 1))));
  const auto size = store->Head(writer->location().EntryPath(writer->last_position()));
  OG_CHECK_OK(size);
  const std::string bytes(size->size, 'b');
  const int descriptor =
      open((work + "/bare.log").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0644);
  OG_CHECK(descriptor >= 0);
  Samples bare;
  Samples put;
  Samples ack;
  const store::Bytes payload = store::BytesOf(bytes);
  for (int i = 1; i <= kOneRounds; ++i) {
    bare.Add(TimeUs([&] {
      OG_CHECK(write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
      OG_CHECK(fdatasync(descriptor) == 0);
    }));
    const std::string path =
        "put/_mem_wal/wal/" + lance::FormatBits(static_cast<uint64_t>(i)) + ".arrow";
    put.Add(TimeUs(
        [&] { OG_CHECK_OK(store->PutIfAbsent(path, payload, store::PutStrength::kOrdered)); }));
    AppendRequest request = Request(MakeRows(i, 1));
    ack.Add(TimeUs([&] { OG_CHECK_OK(writer->AppendAndWait(std::move(request))); }));
  }
  close(descriptor);
  Figure("memwal.one.entry_bytes", static_cast<double>(bytes.size()));
  Figure("memwal.one.bare_us", bare.Median());
  Figure("memwal.one.put_us", put.Median());
  Figure("memwal.one.ack_p50_us", ack.Median());
  Figure("memwal.one.ack_p99_us", ack.Quantile(0.99));
  Figure("memwal.one.over_bare", ack.Median() / bare.Median());
}

void BenchProducers(const std::shared_ptr<store::ObjectStore>& store) {
  const auto writer = Claim(store, "p64");
  const std::shared_ptr<arrow::RecordBatch> row = MakeRows(0, 1);
  std::atomic<int64_t> acks = 0;
  std::atomic<bool> stop = false;
  std::vector<runtime::Thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.push_back(runtime::Thread::Start("producer", [&] {
      while (!stop) {
        OG_CHECK_OK(writer->AppendAndWait(Request(row)));
        ++acks;
      }
    }));
  }
  runtime::SleepFor(kThroughputFor / 4);
  const int64_t before = acks;
  const double cpu_before = CpuUs();
  const uint64_t position = writer->last_position();
  const double us = TimeUs([] { runtime::SleepFor(kThroughputFor); });
  const int64_t done = acks - before;
  const double cpu_us = CpuUs() - cpu_before;
  const uint64_t entries = writer->last_position() - position;
  stop = true;
  producers.clear();
  Figure("memwal.p64.acks_per_s", static_cast<double>(done) * 1e6 / us);
  Figure("memwal.p64.cpu_us_per_ack", cpu_us / static_cast<double>(done));
  Figure("memwal.p64.rows_per_entry", static_cast<double>(done) / static_cast<double>(entries));
}

// One feeder that never waits: batches of 1,000 rows.
void BenchStream(const std::shared_ptr<store::ObjectStore>& store) {
  const auto writer = Claim(store, "stream");
  const std::shared_ptr<arrow::RecordBatch> rows = MakeRows(0, 1000);
  constexpr int kBatches = 2000;
  const double us = TimeUs([&] {
    for (int i = 0; i < kBatches; ++i) {
      while (!writer->Append(Request(rows)).ok()) {
        OG_CHECK_OK(writer->WaitSettled());
      }
    }
    OG_CHECK_OK(writer->WaitSettled());
  });
  Figure("memwal.stream.rows_per_s", kBatches * 1000 * 1e6 / us);
}

void BenchEncode() {
  lance::EntryEncoder encoder(1);
  lance::EntryMark mark;
  mark.runs.resize(1);
  for (const int64_t rows : {int64_t{1}, int64_t{64}, lance::kEntryRowsMax}) {
    const std::shared_ptr<arrow::RecordBatch> batch = MakeRows(0, rows);
    mark.runs[0].rows = rows;
    Samples samples;
    int64_t bytes = 0;
    for (int i = 0; i < (rows == lance::kEntryRowsMax ? 50 : 2000); ++i) {
      samples.Add(TimeUs([&] {
        const auto entry = encoder.Encode(*batch, mark);
        OG_CHECK_OK(entry);
        bytes = entry->size_bytes;
      }));
    }
    Figure("memwal.encode.r" + std::to_string(rows) + "_us", samples.Median());
    if (rows == lance::kEntryRowsMax) {
      Figure("memwal.encode.mib_per_s", static_cast<double>(bytes) / 1.048576 / samples.Median());
    }
  }
}

}  // namespace
}  // namespace omnigraph::bench

int main(int argc, char** argv) {
  const std::string work = omnigraph::bench::WorkFolder(argc, argv) + "/memwal_bench";
  const auto store = omnigraph::store::OpenStore(work);
  OG_CHECK_OK(store);
  omnigraph::bench::BenchEncode();
  omnigraph::bench::BenchOne(*store, work);
  omnigraph::bench::BenchProducers(*store);
  omnigraph::bench::BenchStream(*store);
  return 0;
}
