#include "columns.h"

#include <arrow/compute/api.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace omnigraph::query {
namespace {

/// A column in the cache.
class ColumnEntry : public QueryCache::Entry {
 public:
  explicit ColumnEntry(Column column) : column_(std::move(column)) {}
  int64_t bytes() const override { return arrow::util::TotalBufferSize(*column_); }
  const Column& column() const { return column_; }

 private:
  Column column_;
};

bool IsTooLongText(const arrow::ChunkedArray& chunks) {
  if (chunks.type()->id() != arrow::Type::STRING) {
    return false;
  }
  int64_t bytes = 0;
  for (const auto& chunk : chunks.chunks()) {
    bytes += static_cast<const arrow::StringArray&>(*chunk).total_values_length();
  }
  return bytes > std::numeric_limits<int32_t>::max();
}

}  // namespace

Result<Column> Combine(const arrow::ChunkedArray& chunks) {
  if (chunks.num_chunks() == 1) {
    return chunks.chunk(0);
  }
  if (chunks.num_chunks() == 0) {
    return arrow::MakeEmptyArray(chunks.type());
  }
  if (!IsTooLongText(chunks)) {
    return arrow::Concatenate(chunks.chunks());
  }
  arrow::ArrayVector wide;
  for (const auto& chunk : chunks.chunks()) {
    OG_ASSIGN_OR_RETURN(Column cast, arrow::compute::Cast(*chunk, arrow::large_utf8()));
    wide.push_back(std::move(cast));
  }
  return arrow::Concatenate(wide);
}

Result<Column> TakeValues(const Column& values, const std::shared_ptr<arrow::Array>& positions) {
  // A caller's positions come from this table: no bounds check.
  OG_ASSIGN_OR_RETURN(
      const arrow::Datum taken,
      arrow::compute::Take(values, positions, arrow::compute::TakeOptions::NoBoundsCheck()));
  return taken.make_array();
}

TableColumns::TableColumns(std::shared_ptr<const TableSource> source, QueryCache* cache,
                           std::string key)
    : source_(std::move(source)), cache_(cache), key_(std::move(key)) {}

std::string TableColumns::KeyOf(const std::string& name) const {
  return "column\n" + key_ + "\n" + name;
}

void TableColumns::Keep(const std::string& name, const Column& column) {
  columns_[name] = column;
  OG_CHECK_OK(
      cache_->GetOrMake(KeyOf(name), [&]() -> Result<std::shared_ptr<const QueryCache::Entry>> {
        return std::make_shared<ColumnEntry>(column);
      }));
}

Status TableColumns::Load(const std::set<std::string>& names) {
  std::vector<std::string> absent;
  for (const std::string& name : names) {
    if (columns_.contains(name)) {
      continue;
    }
    const auto cached = cache_->Find(KeyOf(name));
    if (cached != nullptr) {
      columns_[name] = static_cast<const ColumnEntry&>(*cached).column();
    } else {
      absent.push_back(name);
    }
  }
  if (absent.empty()) {
    return Status::OK();
  }
  OG_ASSIGN_OR_RETURN(const std::vector<Column> read, Scan(absent));
  for (size_t i = 0; i < absent.size(); ++i) {
    Keep(absent[i], read[i]);
  }
  return Status::OK();
}

Result<std::vector<Column>> TableColumns::Scan(const std::vector<std::string>& names) const {
  OG_ASSIGN_OR_RETURN(const auto reader, source_->Scan(names));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Table> table, reader->ToTable());
  if (table->num_rows() != source_->rows()) {
    return Corruption("query.row_count",
                      "a scan gave " + std::to_string(table->num_rows()) + " rows, the table has " +
                          std::to_string(source_->rows()),
                      key_);
  }
  std::vector<Column> columns;
  for (const auto& chunks : table->columns()) {
    OG_ASSIGN_OR_RETURN(Column column, Combine(*chunks));
    columns.push_back(std::move(column));
  }
  return columns;
}

Result<Column> TableColumns::Get(const std::string& name) {
  OG_RETURN_NOT_OK(Load({name}));
  return columns_[name];
}

bool TableColumns::IsHeld(const std::string& name) const {
  return columns_.contains(name) || cache_->Find(KeyOf(name)) != nullptr;
}

Status TableColumns::Prepare(const std::set<std::string>& names, const Positions& positions) {
  std::vector<std::string> absent;
  for (const std::string& name : names) {
    if (!IsHeld(name)) {
      absent.push_back(name);
    }
  }
  if (absent.empty()) {
    return Status::OK();
  }
  OG_ASSIGN_OR_RETURN(const bool taken, TakeFew(absent, positions));
  return taken ? Status::OK() : Load(names);
}

Result<Column> TableColumns::Take(const std::string& name, const Positions& positions) {
  if (few_.positions == positions) {
    if (const auto found = few_.columns.find(name); found != few_.columns.end()) {
      return found->second;
    }
  }
  OG_ASSIGN_OR_RETURN(const Column column, Get(name));
  return TakeValues(column, positions);
}

Result<bool> TableColumns::TakeFew(const std::vector<std::string>& names,
                                   const Positions& positions) {
  // A page holds some hundred rows: beyond this share a scan reads about as much.
  constexpr int64_t kRowsPerPosition = 256;
  if (positions->length() > rows() / kRowsPerPosition) {
    return false;
  }
  std::vector<int64_t> distinct(positions->raw_values(),
                                positions->raw_values() + positions->length());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  OG_ASSIGN_OR_RETURN(const auto rows, source_->Take(distinct, names));
  if (!rows) {
    return false;
  }
  arrow::Int32Builder where;
  OG_RETURN_NOT_OK(where.Reserve(positions->length()));
  for (int64_t i = 0; i < positions->length(); ++i) {
    const auto found =
        std::lower_bound(distinct.begin(), distinct.end(), int64_t{positions->Value(i)});
    where.UnsafeAppend(static_cast<int32_t>(found - distinct.begin()));
  }
  OG_ASSIGN_OR_RETURN(const auto indices, where.Finish());
  few_ = {positions, {}};
  for (size_t i = 0; i < names.size(); ++i) {
    OG_ASSIGN_OR_RETURN(const Column column, Combine(*(*rows)->column(static_cast<int>(i))));
    OG_ASSIGN_OR_RETURN(few_.columns[names[i]], TakeValues(column, indices));
  }
  return true;
}

Result<std::shared_ptr<arrow::DictionaryArray>> TableColumns::Dictionary(const std::string& name) {
  const std::string key = "codes of " + name;
  if (!columns_.contains(key)) {
    const auto cached = cache_->Find(KeyOf(key));
    if (cached != nullptr) {
      columns_[key] = static_cast<const ColumnEntry&>(*cached).column();
    } else {
      OG_ASSIGN_OR_RETURN(const Column column, Get(name));
      OG_ASSIGN_OR_RETURN(const arrow::Datum encoded, arrow::compute::DictionaryEncode(column));
      Keep(key, encoded.make_array());
    }
  }
  return std::static_pointer_cast<arrow::DictionaryArray>(columns_[key]);
}

}  // namespace omnigraph::query
