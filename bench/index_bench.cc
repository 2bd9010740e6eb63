// Figures of the index on ids: building segments, merging them, looking keys up.
#include <arrow/array.h>
#include <arrow/array/builder_binary.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "figures.h"
#include "omnigraph/base/hash.h"
#include "omnigraph/lance/index/btree.h"
#include "omnigraph/lance/index/key_lookup.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/store/counting_store.h"
#include "omnigraph/store/memory_store.h"

namespace omnigraph::lance {
namespace {

constexpr size_t kRows = 500000;
constexpr size_t kAsked = 8192;

/// 26 bytes, as a ULID has.
std::string KeyOf(uint64_t number) {
  std::string digits = std::to_string(number);
  return "01" + std::string(24 - digits.size(), '0') + digits;
}

/// The same 64-bit number always, spread evenly.
uint64_t Spread(uint64_t number) {
  return XxHash64(std::string_view(reinterpret_cast<const char*>(&number), sizeof(number)));
}

std::shared_ptr<arrow::StringArray> KeysOf(size_t first, size_t count, bool sorted) {
  arrow::StringBuilder builder;
  for (size_t i = first; i < first + count; ++i) {
    OG_CHECK_OK(builder.Append(KeyOf(sorted ? i : Spread(i))));
  }
  return std::static_pointer_cast<arrow::StringArray>(*builder.Finish());
}

TableLocation InMemory(std::shared_ptr<store::ObjectStore> store = nullptr) {
  return {store != nullptr ? std::move(store) : std::make_shared<store::MemoryStore>(), "t.lance"};
}

double KeysPerSecond(size_t keys, double us) {
  return static_cast<double>(keys) / us * 1e6;
}

void MeasureBuild(bool sorted) {
  const auto keys = KeysOf(0, kRows, sorted);
  bench::Samples samples;
  for (int round = 0; round < 7; ++round) {
    samples.Add(bench::TimeUs([&] {
      BTreeBuilder builder;
      builder.Add(keys, 0);
      OG_CHECK_OK(builder.Finish(InMemory(), {.fragment_ids = {0}}));
    }));
  }
  bench::Figure(sorted ? "index.build_sorted_keys_per_s" : "index.build_unsorted_keys_per_s",
                KeysPerSecond(kRows, samples.Median()));
}

/// A table whose rows came in commits of `commit_rows`; prints what merging cost.
std::shared_ptr<const Table> MeasureCommits(const TableLocation& location, size_t commit_rows) {
  const auto schema = arrow::schema({arrow::field("id", arrow::utf8(), false)});
  auto table = CreateTable(location, schema, {.primary_key = {"id"}});
  OG_CHECK_OK(table);
  double us = 0;
  for (size_t first = 0; first < kRows; first += commit_rows) {
    const auto keys = KeysOf(first, commit_rows, false);
    const auto writer = DataWriter::Make(location, (*table)->lance_schema());
    OG_CHECK_OK(writer);
    OG_CHECK_OK((*writer)->Write(
        *arrow::RecordBatch::Make(schema, static_cast<int64_t>(commit_rows), {keys})));
    Change change;
    auto added = (*writer)->Finish();
    OG_CHECK_OK(added);
    change.added = *std::move(added);
    us += bench::TimeUs([&] { OG_CHECK_OK(AddBTreeSegment(**table, {keys}, &change)); });
    table = CommitDetached(*table, change);
    OG_CHECK_OK(table);
  }
  bench::Figure("index.tiered_keys_per_s", KeysPerSecond(kRows, us));
  bench::Figure("index.segments", static_cast<double>((*table)->manifest().indices.size()));
  return *table;
}

void MeasureLookup(const Table& table, store::CountingStore* counting, bool present) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < kAsked; ++i) {
    keys.push_back(KeyOf(Spread(present ? i * (kRows / kAsked) : kRows + i)));
  }
  std::ranges::sort(keys);
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  KeyLookup lookup;
  const std::string name = present ? "index.present" : "index.absent";
  for (const char* heat : {"cold", "warm"}) {
    counting->Reset();
    const double us = bench::TimeUs([&] {
      const auto found = lookup.FindAddresses(table, views);
      OG_CHECK_OK(found);
      OG_CHECK(std::ranges::all_of(
          *found, [&](const auto& address) { return address.has_value() == present; }));
    });
    bench::Figure(name + "_" + heat + "_keys_per_s", KeysPerSecond(kAsked, us));
    bench::Figure(name + "_" + heat + "_read_kib",
                  static_cast<double>(counting->counts().read_bytes()) / 1024);
  }
}

int Run() {
  MeasureBuild(true);
  MeasureBuild(false);
  const auto counting =
      std::make_shared<store::CountingStore>(std::make_shared<store::MemoryStore>());
  const auto table = MeasureCommits(InMemory(counting), 5000);
  MeasureLookup(*table, counting.get(), true);
  MeasureLookup(*table, counting.get(), false);
  return 0;
}

}  // namespace
}  // namespace omnigraph::lance

int main() {
  return omnigraph::lance::Run();
}
