#include "key_directory.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace omnigraph::graph {
namespace {

/// Slot of the map and its state, at the mean load after doubling.
constexpr size_t kBytesPerKey = 64;
/// A table is read whole into memory when it has at most this many rows,
constexpr size_t kAlwaysFillRows = 64 * 1024;
/// or at most so many rows per key that is asked for.
constexpr size_t kFillRowsPerKey = 32;

constexpr int64_t kScanBatchRows = 64 * 1024;

/// Read `id` and the row id of every row. `visit(id, row id)`.
template <typename Visit>
Status ScanIds(const lance::Table& table, const Visit& visit) {
  lance::ScanOptions options;
  options.columns = std::vector<std::string>{"id"};
  options.with_row_id = true;
  options.batch_rows = kScanBatchRows;
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatchReader> reader, table.Scan(options));
  while (true) {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> batch, reader->Next());
    if (batch == nullptr) {
      return Status::OK();
    }
    const auto& ids = static_cast<const arrow::StringArray&>(*batch->column(0));
    const auto& rows = static_cast<const arrow::UInt64Array&>(*batch->column(1));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      visit(ids.GetView(i), rows.Value(i));
    }
  }
}

/// Keys in the order that the index wants, and where each came from.
struct SortedKeys {
  std::vector<uint32_t> order;
  std::vector<std::string_view> texts;
};

SortedKeys Sort(const std::vector<KeyRef>& keys) {
  SortedKeys out;
  out.order.resize(keys.size());
  std::iota(out.order.begin(), out.order.end(), 0);
  std::sort(out.order.begin(), out.order.end(),
            [&keys](uint32_t a, uint32_t b) { return keys[a].text < keys[b].text; });
  for (const uint32_t at : out.order) {
    out.texts.push_back(keys[at].text);
  }
  return out;
}

}  // namespace

size_t KeyDirectory::bytes() const {
  size_t sum = 0;
  for (const auto& [id, known] : tables_) {
    sum += known.rows.bytes();
  }
  return sum;
}

/// Drop least recently used tables until `bytes` more fit. False: they never will.
bool KeyDirectory::MakeRoom(size_t bytes, TableId keep) {
  while (this->bytes() + bytes > bytes_max_) {
    auto oldest = tables_.end();
    for (auto at = tables_.begin(); at != tables_.end(); ++at) {
      if (at->first != keep && (oldest == tables_.end() || at->second.used < oldest->second.used)) {
        oldest = at;
      }
    }
    if (oldest == tables_.end()) {
      return false;
    }
    tables_.erase(oldest);
  }
  return true;
}

Status KeyDirectory::Fill(const lance::Table& table, Known* known) {
  known->rows.Clear();
  known->rows.Reserve(table.CountRows());
  OG_RETURN_NOT_OK(ScanIds(table, [known](std::string_view id, uint64_t row) {
    known->rows.Insert(XxHash128(id), row);
  }));
  known->complete = true;
  return Status::OK();
}

Result<KeyDirectory::Known*> KeyDirectory::Prepare(TableId id, const lance::Table& table,
                                                   size_t keys) {
  Known& known = tables_[id];
  known.used = ++clock_;
  if (known.version != table.version()) {
    known.rows.Clear();
    known.version = table.version();
    known.complete = false;
  }
  if (known.complete) {
    return &known;
  }
  const size_t rows = table.CountRows();
  const bool worth = rows <= kAlwaysFillRows || rows / kFillRowsPerKey <= keys;
  if (rows == 0 || (worth && MakeRoom(rows * kBytesPerKey, id))) {
    OG_RETURN_NOT_OK(Fill(table, &known));
  }
  return &known;
}

Result<std::vector<std::optional<uint64_t>>> KeyDirectory::FindAddresses(
    TableId id, const std::shared_ptr<const lance::Table>& table, const std::vector<KeyRef>& keys) {
  std::vector<std::optional<uint64_t>> out(keys.size());
  if (keys.empty()) {
    return out;
  }
  OG_ASSIGN_OR_RETURN(Known * known, Prepare(id, *table, keys.size()));
  if (!known->complete) {
    const SortedKeys sorted = Sort(keys);
    OG_ASSIGN_OR_RETURN(const std::vector<std::optional<uint64_t>> found,
                        index_.FindAddresses(*table, sorted.texts));
    for (size_t i = 0; i < found.size(); ++i) {
      out[sorted.order[i]] = found[i];
    }
    return out;
  }
  std::vector<uint64_t> rows;
  std::vector<size_t> asked;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (const uint64_t* row = known->rows.Find(keys[i].hash); row != nullptr) {
      rows.push_back(*row);
      asked.push_back(i);
    }
  }
  OG_ASSIGN_OR_RETURN(const std::vector<std::optional<uint64_t>> addresses,
                      table->AddressesOfRowIds(rows));
  for (size_t i = 0; i < asked.size(); ++i) {
    out[asked[i]] = addresses[i];
  }
  return out;
}

Result<std::vector<bool>> KeyDirectory::Exist(TableId id,
                                              const std::shared_ptr<const lance::Table>& table,
                                              const std::vector<KeyRef>& keys) {
  std::vector<bool> out(keys.size());
  if (keys.empty()) {
    return out;
  }
  OG_ASSIGN_OR_RETURN(Known * known, Prepare(id, *table, keys.size()));
  std::vector<KeyRef> unknown;
  std::vector<size_t> index;
  for (size_t i = 0; i < keys.size(); ++i) {
    out[i] = known->rows.Find(keys[i].hash) != nullptr;
    if (!out[i] && !known->complete) {
      unknown.push_back(keys[i]);
      index.push_back(i);
    }
  }
  if (unknown.empty()) {
    return out;
  }
  const SortedKeys sorted = Sort(unknown);
  OG_ASSIGN_OR_RETURN(const std::vector<bool> found, index_.Exist(*table, sorted.texts));
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) {
      continue;
    }
    const uint32_t at = sorted.order[i];
    out[index[at]] = true;
    if (bytes() + kBytesPerKey < bytes_max_) {
      known->rows.Insert(unknown[at].hash, 0);
    }
  }
  return out;
}

Status KeyDirectory::Advance(TableId id, uint64_t before_version, const lance::Table& after,
                             const KeyChanges& changes) {
  const auto found = tables_.find(id);
  if (found == tables_.end()) {
    return Status::OK();
  }
  Known& known = found->second;
  const bool told = changes.put.size() == static_cast<size_t>(changes.rows_added);
  if (known.version != before_version || !told ||
      !MakeRoom(changes.put.size() * kBytesPerKey / 2, id)) {
    Forget(id);
    return Status::OK();
  }
  for (const Hash128& hash : changes.erased) {
    known.rows.Erase(hash);
  }
  known.version = after.version();
  if (changes.put.empty()) {
    return Status::OK();
  }
  // The added rows are those of the last fragments, in order.
  const std::vector<lance::Fragment>& fragments = after.manifest().fragments;
  size_t first = fragments.size();
  uint64_t rows = 0;
  while (first > 0 && rows < changes.put.size()) {
    rows += fragments[--first].physical_rows;
  }
  OG_CHECK(rows == changes.put.size());
  size_t at = 0;
  for (; first < fragments.size(); ++first) {
    OG_ASSIGN_OR_RETURN(const lance::RowLineage lineage, after.Lineage(fragments[first].id));
    for (uint64_t offset = 0; offset < fragments[first].physical_rows; ++offset, ++at) {
      const auto [row, fresh] = known.rows.Insert(changes.put[at], lineage.row_ids.At(offset));
      *row = lineage.row_ids.At(offset);
    }
  }
  return Status::OK();
}

}  // namespace omnigraph::graph
