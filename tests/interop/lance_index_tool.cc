// A small program around src/lance/index for the interop scripts: makes tables with an index on
// `id`, and looks keys up.
//
//   lance_index_tool FOLDER TABLE create [--addresses]   (row ids that are addresses)
//   lance_index_tool FOLDER TABLE put FIRST COUNT N [--bare]
//       upsert keys FIRST .. FIRST + COUNT - 1 with n = N + their number; --bare: without a segment
//   lance_index_tool FOLDER TABLE delete FIRST COUNT     keys that are there
//   lance_index_tool FOLDER TABLE cover                  what no segment covers
//   lance_index_tool FOLDER TABLE look KEY...            a JSON line per key, and one of counts
#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/lance/index/btree.h"
#include "omnigraph/lance/index/key_lookup.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/object_store.h"
#include "tool_main.h"

namespace omnigraph::lance {
namespace {

using TablePtr = std::shared_ptr<const Table>;

/// Key number `number`: in no order. index_judges.py spells them the same way.
std::string KeyOf(uint64_t number) {
  return fmt::format("key-{:010d}", number * 7919 % 1000003);
}

std::vector<std::string> KeysOf(uint64_t first, uint64_t count) {
  std::vector<std::string> keys;
  for (uint64_t i = first; i < first + count; ++i) {
    keys.push_back(KeyOf(i));
  }
  return keys;
}

std::shared_ptr<arrow::Schema> ToolSchema() {
  return arrow::schema(
      {arrow::field("id", arrow::utf8(), false), arrow::field("n", arrow::int64(), false)});
}

/// Addresses of those keys that are there.
Result<std::vector<std::optional<uint64_t>>> Find(KeyLookup* lookup, const Table& table,
                                                  std::vector<std::string>* keys) {
  std::ranges::sort(*keys);
  const auto repeats = std::ranges::unique(*keys);
  keys->erase(repeats.begin(), repeats.end());
  const std::vector<std::string_view> views(keys->begin(), keys->end());
  return lookup->FindAddresses(table, views);
}

Result<std::vector<uint64_t>> AddressesOf(const Table& table, std::vector<std::string> keys) {
  KeyLookup lookup;
  OG_ASSIGN_OR_RETURN(const auto found, Find(&lookup, table, &keys));
  std::vector<uint64_t> addresses;
  for (const auto& address : found) {
    if (address) {
      addresses.push_back(*address);
    }
  }
  std::ranges::sort(addresses);
  return addresses;
}

Status Put(const TablePtr& table, uint64_t first, uint64_t count, int64_t n, bool bare) {
  const std::vector<std::string> keys = KeysOf(first, count);
  arrow::StringBuilder ids;
  arrow::Int64Builder numbers;
  OG_RETURN_NOT_OK(ids.AppendValues(keys));
  for (uint64_t i = 0; i < count; ++i) {
    OG_RETURN_NOT_OK(numbers.Append(n + static_cast<int64_t>(first + i)));
  }
  arrow::ArrayVector columns(2);
  OG_RETURN_NOT_OK(ids.Finish(&columns[0]));
  OG_RETURN_NOT_OK(numbers.Finish(&columns[1]));
  OG_ASSIGN_OR_RETURN(const auto writer, DataWriter::Make(table->location(), table->lance_schema(),
                                                          {.file_rows_max = 1000}));
  OG_RETURN_NOT_OK(
      writer->Write(*arrow::RecordBatch::Make(ToolSchema(), static_cast<int64_t>(count), columns)));
  Change change;
  OG_ASSIGN_OR_RETURN(change.added, writer->Finish());
  OG_ASSIGN_OR_RETURN(change.deleted_addresses, AddressesOf(*table, keys));
  if (!bare) {
    OG_RETURN_NOT_OK(
        AddBTreeSegment(*table, {columns[0]}, &change, {.uncovered_rows_max = 1, .merge_fan = 4}));
  }
  return CommitOrdinary(table, change).status();
}

Status PrintFound(const Table& table, std::vector<std::string> keys) {
  KeyLookup lookup;
  OG_ASSIGN_OR_RETURN(const auto found, Find(&lookup, table, &keys));
  std::vector<uint64_t> addresses;
  for (const auto& address : found) {
    if (address) {
      addresses.push_back(*address);
    }
  }
  OG_ASSIGN_OR_RETURN(const auto rows, table.Take(addresses, {"id", "n"}));
  const auto& ids = static_cast<const arrow::StringArray&>(*rows->column(0));
  const auto& numbers = static_cast<const arrow::Int64Array&>(*rows->column(1));
  int64_t row = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!found[i]) {
      fmt::print("{{\"id\":\"{}\",\"n\":null}}\n", keys[i]);
      continue;
    }
    fmt::print("{{\"id\":\"{}\",\"n\":{}}}\n", ids.GetView(row), numbers.Value(row));
    ++row;
  }
  fmt::print("{{\"kind\":\"counts\",\"segments\":{},\"scanned\":{}}}\n",
             table.manifest().indices.size(), lookup.stats().fragments_scanned);
  return Status::OK();
}

Status Run(const TableLocation& location, const std::string& command, const Arguments& rest) {
  if (command == "create") {
    const bool stable = rest.empty();
    return CreateTable(location, ToolSchema(), {.primary_key = {"id"}, .stable_row_ids = stable})
        .status();
  }
  OG_ASSIGN_OR_RETURN(const TablePtr table,
                      Table::Open(location, {.look = Look::kWriter, .passes_guard = true}));
  if (command == "look") {
    return PrintFound(*table, rest);
  }
  if (command == "cover") {
    OG_ASSIGN_OR_RETURN(const Change change, CoverRows(*table));
    return change.empty() ? Status::OK() : CommitOrdinary(table, change).status();
  }
  const uint64_t first = std::stoull(rest.at(0));
  const uint64_t count = std::stoull(rest.at(1));
  if (command == "put") {
    return Put(table, first, count, std::stoll(rest.at(2)), rest.size() > 3);
  }
  if (command == "delete") {
    Change change;
    OG_ASSIGN_OR_RETURN(change.deleted_addresses, AddressesOf(*table, KeysOf(first, count)));
    return CommitOrdinary(table, change).status();
  }
  return Invalid("tool.command", "unknown command " + command);
}

}  // namespace
}  // namespace omnigraph::lance

int main(int argc, char** argv) {
  return omnigraph::lance::ToolMain("lance_index_tool", argc, argv, omnigraph::lance::Run);
}
