// A small program around src/lance/table for the interop scripts: makes tables, changes them,
// prints their rows as JSON lines in the form of judge.py.
//
//   lance_table_tool FOLDER TABLE create [--guarded] [--rows-from N --rows COUNT]
//   lance_table_tool FOLDER TABLE append N COUNT       rows N .. N + COUNT - 1
//   lance_table_tool FOLDER TABLE upsert N COUNT       the same, over rows with these numbers
//   lance_table_tool FOLDER TABLE delete N...          rows with these numbers
//   lance_table_tool FOLDER TABLE compact              all fragments into one
//   lance_table_tool FOLDER TABLE promote              three detached versions, then the last of
//   them as ordinary one lance_table_tool FOLDER TABLE rows [VERSION]
#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table_builder.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/object_store.h"
#include "row_json.h"
#include "tool_main.h"

namespace omnigraph::lance {
namespace {

using TablePtr = std::shared_ptr<const Table>;

std::shared_ptr<arrow::Schema> ToolSchema() {
  const auto vector = [](int size) {
    return arrow::fixed_size_list(arrow::field("item", arrow::float32()), size);
  };
  return arrow::schema({
      arrow::field("id", arrow::utf8(), false),
      arrow::field("n", arrow::int64(), false),
      arrow::field("text", arrow::utf8()),
      arrow::field("flag", arrow::boolean()),
      arrow::field("i32", arrow::int32()),
      arrow::field("u32", arrow::uint32()),
      arrow::field("u64", arrow::uint64()),
      arrow::field("f32", arrow::float32()),
      arrow::field("f64", arrow::float64()),
      arrow::field("day", arrow::date32()),
      arrow::field("at", arrow::timestamp(arrow::TimeUnit::MILLI, "UTC")),
      arrow::field("tags", arrow::list(arrow::field("item", arrow::utf8()))),
      arrow::field("counts", arrow::list(arrow::field("item", arrow::int64()))),
      arrow::field("v4", vector(4)),
      arrow::field("v300", vector(300)),
      arrow::field("blob", arrow::large_binary()),
  });
}

/// Appends the cell of row `n`; every seventh row or so is null, by column.
class RowMaker {
 public:
  explicit RowMaker(arrow::RecordBatchBuilder* builder) : builder_(builder) {}

  Status Append(int64_t n) {
    OG_RETURN_NOT_OK(At<arrow::StringBuilder>(0)->Append(fmt::format("k{:08}", n)));
    OG_RETURN_NOT_OK(At<arrow::Int64Builder>(1)->Append(n));
    OG_RETURN_NOT_OK(Cell<arrow::StringBuilder>(2, n, Text(n)));
    OG_RETURN_NOT_OK(Cell<arrow::BooleanBuilder>(3, n, n % 3 == 0));
    OG_RETURN_NOT_OK(Cell<arrow::Int32Builder>(4, n, static_cast<int32_t>(-n)));
    OG_RETURN_NOT_OK(Cell<arrow::UInt32Builder>(5, n, static_cast<uint32_t>(n * 7)));
    OG_RETURN_NOT_OK(Cell<arrow::UInt64Builder>(
        6, n, std::numeric_limits<uint64_t>::max() - static_cast<uint64_t>(n)));
    OG_RETURN_NOT_OK(Cell<arrow::FloatBuilder>(7, n, static_cast<float>(n) / 3.0F));
    OG_RETURN_NOT_OK(Cell<arrow::DoubleBuilder>(8, n, Double(n)));
    OG_RETURN_NOT_OK(Cell<arrow::Date32Builder>(9, n, static_cast<int32_t>(n - 50)));
    OG_RETURN_NOT_OK(Cell<arrow::TimestampBuilder>(10, n, n * 1'234'567 - 1'000'000));
    OG_RETURN_NOT_OK(AppendTags(n));
    OG_RETURN_NOT_OK(AppendCounts(n));
    OG_RETURN_NOT_OK(AppendVector(13, n, 4));
    OG_RETURN_NOT_OK(AppendVector(14, n, 300));
    return Cell<arrow::LargeBinaryBuilder>(15, n,
                                           std::string(static_cast<size_t>(n % 400), '\x80'));
  }

 private:
  static std::string Text(int64_t n) {
    if (n % 11 == 0) {
      return "";
    }
    return n % 13 == 0 ? "gr\xc3\xbc\xc3\x9f dich \xf0\x9f\x8c\x8d " + std::string(300, 'x')
                       : fmt::format("text {}", n);
  }
  static double Double(int64_t n) {
    switch (n % 9) {
      case 1:
        return std::numeric_limits<double>::quiet_NaN();
      case 2:
        return -0.0;
      case 3:
        return std::numeric_limits<double>::infinity();
      default:
        return static_cast<double>(n) * 0.1;
    }
  }
  static bool IsNullCell(int column, int64_t n) { return (n + column) % 7 == 0; }

  template <typename Builder>
  Builder* At(int column) {
    return builder_->GetFieldAs<Builder>(column);
  }
  template <typename Builder, typename Value>
  Status Cell(int column, int64_t n, const Value& value) {
    return IsNullCell(column, n) ? At<Builder>(column)->AppendNull()
                                 : At<Builder>(column)->Append(value);
  }
  Status AppendTags(int64_t n) {
    auto* list = At<arrow::ListBuilder>(11);
    if (IsNullCell(11, n)) {
      return list->AppendNull();
    }
    OG_RETURN_NOT_OK(list->Append());
    for (int64_t i = 0; i < n % 4; ++i) {
      OG_RETURN_NOT_OK(static_cast<arrow::StringBuilder*>(list->value_builder())
                           ->Append(fmt::format("t{}", n + i)));
    }
    return Status::OK();
  }
  Status AppendCounts(int64_t n) {
    auto* list = At<arrow::ListBuilder>(12);
    if (IsNullCell(12, n)) {
      return list->AppendNull();
    }
    OG_RETURN_NOT_OK(list->Append());
    auto* items = static_cast<arrow::Int64Builder*>(list->value_builder());
    for (int64_t i = 0; i < n % 5; ++i) {
      OG_RETURN_NOT_OK(i == 2 ? items->AppendNull() : items->Append(n * i));
    }
    return Status::OK();
  }
  Status AppendVector(int column, int64_t n, int size) {
    auto* list = At<arrow::FixedSizeListBuilder>(column);
    if (IsNullCell(column, n)) {
      return list->AppendNull();
    }
    OG_RETURN_NOT_OK(list->Append());
    auto* items = static_cast<arrow::FloatBuilder*>(list->value_builder());
    for (int i = 0; i < size; ++i) {
      OG_RETURN_NOT_OK(items->Append(static_cast<float>(n) + 0.25F * static_cast<float>(i)));
    }
    return Status::OK();
  }

  arrow::RecordBatchBuilder* builder_;
};

Result<std::shared_ptr<arrow::RecordBatch>> MakeRows(int64_t first, int64_t count) {
  OG_ASSIGN_OR_RETURN(const auto builder,
                      arrow::RecordBatchBuilder::Make(ToolSchema(), arrow::default_memory_pool()));
  RowMaker maker(builder.get());
  for (int64_t n = first; n < first + count; ++n) {
    OG_RETURN_NOT_OK(maker.Append(n));
  }
  return builder->Flush();
}

Result<Change> AppendOf(const Table& table, int64_t first, int64_t count) {
  OG_ASSIGN_OR_RETURN(const auto rows, MakeRows(first, count));
  OG_ASSIGN_OR_RETURN(const auto writer, DataWriter::Make(table.location(), table.lance_schema()));
  OG_RETURN_NOT_OK(writer->Write(*rows));
  Change change;
  OG_ASSIGN_OR_RETURN(change.added, writer->Finish());
  return change;
}

/// Addresses of the live rows whose `n` is one of these.
Result<std::vector<uint64_t>> FindRows(const Table& table, const std::set<int64_t>& numbers) {
  OG_ASSIGN_OR_RETURN(const auto reader,
                      table.Scan({.columns = {{"n"}}, .with_row_address = true}));
  std::vector<uint64_t> addresses;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    OG_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      break;
    }
    const auto* n = batch->column(0)->data()->GetValues<int64_t>(1);
    const auto* at = batch->column(1)->data()->GetValues<uint64_t>(1);
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      if (numbers.contains(n[i])) {
        addresses.push_back(at[i]);
      }
    }
  }
  std::ranges::sort(addresses);
  return addresses;
}

std::set<int64_t> NumbersIn(const Arguments& arguments) {
  std::set<int64_t> numbers;
  for (const std::string& text : arguments) {
    numbers.insert(std::stoll(text));
  }
  return numbers;
}

Result<Change> UpsertOf(const Table& table, int64_t first, int64_t count) {
  OG_ASSIGN_OR_RETURN(Change change, AppendOf(table, first, count));
  std::set<int64_t> numbers;
  for (int64_t n = first; n < first + count; ++n) {
    numbers.insert(n);
  }
  OG_ASSIGN_OR_RETURN(change.deleted_addresses, FindRows(table, numbers));
  return change;
}

Result<Change> CompactionOf(const Table& table) {
  Change change;
  change.kind = ChangeKind::kRewrite;
  for (const Fragment& fragment : table.manifest().fragments) {
    change.removed_fragments.push_back(fragment.id);
  }
  OG_ASSIGN_OR_RETURN(change.added, RewriteFragments(table, change.removed_fragments));
  std::ranges::sort(change.removed_fragments);
  return change;
}

Status PromoteSome(const TablePtr& latest, int64_t n) {
  TablePtr head = latest;
  OG_ASSIGN_OR_RETURN(const Change append, AppendOf(*head, n, 20));
  OG_ASSIGN_OR_RETURN(head, CommitDetached(head, append));
  Change removal;
  OG_ASSIGN_OR_RETURN(removal.deleted_addresses, FindRows(*head, {n, n + 1}));
  OG_ASSIGN_OR_RETURN(head, CommitDetached(head, removal));
  OG_ASSIGN_OR_RETURN(const Change upsert, UpsertOf(*head, n + 10, 20));
  OG_ASSIGN_OR_RETURN(head, CommitDetached(head, upsert));
  fmt::print("{}\n", head->version());
  return Promote(latest, head).status();
}

Status PrintRows(const Table& table) {
  const bool stable = table.stable_row_ids();
  OG_ASSIGN_OR_RETURN(const auto reader, table.Scan({.batch_rows = 1000,
                                                     .with_row_id = true,
                                                     .with_row_address = true,
                                                     .with_created_version = stable,
                                                     .with_updated_version = stable}));
  const int columns = table.schema()->num_fields();
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    OG_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      return Status::OK();
    }
    const auto number = [&](int column, int64_t row) {
      return batch->column(column)->data()->GetValues<uint64_t>(1)[row];
    };
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      std::string line = fmt::format("{{\"kind\":\"row\",\"rowid\":{},\"rowaddr\":{}",
                                     number(columns, i), number(columns + 1, i));
      if (stable) {
        line += fmt::format(",\"created\":{},\"updated\":{}", number(columns + 2, i),
                            number(columns + 3, i));
      }
      fmt::print("{},\"v\":{}}}\n", line,
                 testing::JsonOfRow(*batch, i, 0, columns, testing::JsonStyle::kExact));
    }
  }
}

Status Create(const TableLocation& location, const Arguments& rest) {
  CreateOptions options;
  options.primary_key = {"id"};
  options.guarded = std::ranges::find(rest, "--guarded") != rest.end();
  options.stable_row_ids = std::ranges::find(rest, "--addresses") == rest.end();
  return CreateTable(location, ToolSchema(), options).status();
}

Status Run(const TableLocation& location, const std::string& command, const Arguments& rest) {
  if (command == "create") {
    return Create(location, rest);
  }
  const auto at = [&](size_t i) { return std::stoll(rest.at(i)); };
  OpenOptions options{.look = Look::kWriter, .passes_guard = true};
  if (command == "rows" && !rest.empty()) {
    options.version = std::stoull(rest[0]);
  }
  OG_ASSIGN_OR_RETURN(const TablePtr table, Table::Open(location, options));
  if (command == "rows") {
    return PrintRows(*table);
  }
  if (command == "promote") {
    return PromoteSome(table, at(0));
  }
  Change change;
  if (command == "append") {
    OG_ASSIGN_OR_RETURN(change, AppendOf(*table, at(0), at(1)));
  } else if (command == "upsert") {
    OG_ASSIGN_OR_RETURN(change, UpsertOf(*table, at(0), at(1)));
  } else if (command == "delete") {
    OG_ASSIGN_OR_RETURN(change.deleted_addresses, FindRows(*table, NumbersIn(rest)));
  } else if (command == "compact") {
    OG_ASSIGN_OR_RETURN(change, CompactionOf(*table));
  } else {
    return Invalid("tool.command", "unknown command " + command);
  }
  return CommitOrdinary(table, change).status();
}

}  // namespace
}  // namespace omnigraph::lance

int main(int argc, char** argv) {
  return omnigraph::lance::ToolMain("lance_table_tool", argc, argv, omnigraph::lance::Run);
}
