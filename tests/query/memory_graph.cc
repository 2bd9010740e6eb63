#include "memory_graph.h"

#include <arrow/api.h>
#include <simdjson.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/graph/schema/value_text.h"

namespace omnigraph::query::testing {
namespace {

using simdjson::dom::element;

Status AppendValue(arrow::ArrayBuilder* builder, const element& json);

Status AppendText(arrow::ArrayBuilder* builder, std::string_view text) {
  switch (builder->type()->id()) {
    case arrow::Type::DATE32:
      return static_cast<arrow::Date32Builder*>(builder)->Append(*schema::ParseDate(text));
    case arrow::Type::TIMESTAMP:
      return static_cast<arrow::TimestampBuilder*>(builder)->Append(*schema::ParseDateTime(text));
    case arrow::Type::LARGE_BINARY:
      return static_cast<arrow::LargeBinaryBuilder*>(builder)->Append(text);
    default:
      return static_cast<arrow::StringBuilder*>(builder)->Append(text);
  }
}

Status AppendNumber(arrow::ArrayBuilder* builder, const element& json) {
  double real = 0;
  int64_t integer = 0;
  uint64_t magnitude = 0;
  if (json.get(real) != simdjson::SUCCESS) {
    return Invalid("test.data", "not a number");
  }
  if (json.get(integer) != simdjson::SUCCESS) {
    integer = 0;
  }
  if (json.get(magnitude) != simdjson::SUCCESS) {
    magnitude = 0;
  }
  switch (builder->type()->id()) {
    case arrow::Type::INT32:
      return static_cast<arrow::Int32Builder*>(builder)->Append(static_cast<int32_t>(integer));
    case arrow::Type::INT64:
      return static_cast<arrow::Int64Builder*>(builder)->Append(integer);
    case arrow::Type::UINT32:
      return static_cast<arrow::UInt32Builder*>(builder)->Append(static_cast<uint32_t>(magnitude));
    case arrow::Type::UINT64:
      return static_cast<arrow::UInt64Builder*>(builder)->Append(magnitude);
    case arrow::Type::FLOAT:
      return static_cast<arrow::FloatBuilder*>(builder)->Append(static_cast<float>(real));
    default:
      return static_cast<arrow::DoubleBuilder*>(builder)->Append(real);
  }
}

template <typename Builder>
Status AppendItems(Builder* builder, const simdjson::dom::array& items) {
  OG_RETURN_NOT_OK(builder->Append());
  for (const element item : items) {
    OG_RETURN_NOT_OK(AppendValue(builder->value_builder(), item));
  }
  return Status::OK();
}

Status AppendValue(arrow::ArrayBuilder* builder, const element& json) {
  std::string_view text;
  bool boolean = false;
  simdjson::dom::array items;
  if (json.is_null()) {
    return builder->AppendNull();
  }
  if (json.get(text) == simdjson::SUCCESS) {
    return AppendText(builder, text);
  }
  if (json.get(boolean) == simdjson::SUCCESS) {
    return static_cast<arrow::BooleanBuilder*>(builder)->Append(boolean);
  }
  if (json.get(items) == simdjson::SUCCESS) {
    return builder->type()->id() == arrow::Type::LIST
               ? AppendItems(static_cast<arrow::ListBuilder*>(builder), items)
               : AppendItems(static_cast<arrow::FixedSizeListBuilder*>(builder), items);
  }
  return AppendNumber(builder, json);
}

/// Rows of one type under construction.
struct Rows {
  std::vector<std::unique_ptr<arrow::ArrayBuilder>> builders;
  int64_t count = 0;
};

std::string KeyOf(const schema::TypeDef& type, const element& data) {
  std::string id;
  for (const schema::Member& member : type.key) {
    const std::string& name = type.properties[static_cast<size_t>(member.property)].name;
    const element value = data[name];
    std::string_view text;
    if (type.key.size() == 1) {
      return value.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(value);
    }
    id += (id.empty() ? "[" : ",") + simdjson::minify(value);
  }
  return id + "]";
}

Status AppendSystemText(const element& line, const char* member, arrow::ArrayBuilder* builder) {
  std::string_view text;
  if (line[member].get(text) != simdjson::SUCCESS) {
    return Invalid("test.data", std::string("no ") + member);
  }
  return AppendText(builder, text);
}

Status AppendRow(const schema::TypeDef& type, const element& line, Rows* rows) {
  const auto columns = schema::ArrowSchemaOf(type);
  if (rows->builders.empty()) {
    for (const auto& field : columns->fields()) {
      OG_ASSIGN_OR_RETURN(auto builder, arrow::MakeBuilder(field->type()));
      rows->builders.push_back(std::move(builder));
    }
  }
  element data;
  simdjson::dom::parser empty_parser;
  if (line["data"].get(data) != simdjson::SUCCESS) {
    data = empty_parser.parse(std::string_view("{}")).value();
  }
  std::string_view id;
  std::string own_id = "e" + std::to_string(rows->count + 1);
  if (line["id"].get(id) == simdjson::SUCCESS) {
    own_id = id;
  } else if (type.keyed()) {
    own_id = KeyOf(type, data);
  }
  OG_RETURN_NOT_OK(AppendText(rows->builders[0].get(), own_id));
  if (type.is_edge()) {
    OG_RETURN_NOT_OK(AppendSystemText(line, "from", rows->builders[1].get()));
    OG_RETURN_NOT_OK(AppendSystemText(line, "to", rows->builders[2].get()));
  }
  for (size_t i = 0; i < type.properties.size(); ++i) {
    const int column = schema::ColumnOf(type, static_cast<int>(i));
    if (column == 0) {
      continue;  // the key that is the id
    }
    element value;
    arrow::ArrayBuilder* builder = rows->builders[static_cast<size_t>(column)].get();
    if (data[type.properties[i].name].get(value) == simdjson::SUCCESS) {
      OG_RETURN_NOT_OK(AppendValue(builder, value));
    } else {
      OG_RETURN_NOT_OK(builder->AppendNull());
    }
  }
  ++rows->count;
  return Status::OK();
}

}  // namespace

Result<std::shared_ptr<const schema::Catalog>> MakeCatalog(std::string_view schema_text) {
  uint64_t next = 0;
  return schema::CompileSchema(schema_text, nullptr, [&next] { return ++next; });
}

Result<std::shared_ptr<MemorySource>> MakeMemoryGraph(std::string_view schema_text,
                                                      std::string_view lines,
                                                      std::string_view name) {
  OG_ASSIGN_OR_RETURN(const auto catalog, MakeCatalog(schema_text));
  std::map<const schema::TypeDef*, Rows> rows;
  simdjson::dom::parser parser;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (line.empty()) {
      continue;
    }
    element json;
    if (parser.parse(line).get(json) != simdjson::SUCCESS) {
      return Invalid("test.data", "no JSON: " + std::string(line));
    }
    std::string_view type_name;
    const bool is_node = json["type"].get(type_name) == simdjson::SUCCESS;
    if (!is_node && json["edge"].get(type_name) != simdjson::SUCCESS) {
      return Invalid("test.data", "no type: " + std::string(line));
    }
    const schema::TypeDef* type =
        is_node ? catalog->FindNode(type_name) : catalog->FindEdge(type_name);
    if (type == nullptr) {
      return Invalid("test.data", "unknown type: " + std::string(line));
    }
    OG_RETURN_NOT_OK(AppendRow(*type, json, &rows[type]));
  }
  auto source = std::make_shared<MemorySource>(catalog, std::string(name));
  for (auto& [type, built] : rows) {
    arrow::ArrayVector columns;
    for (auto& builder : built.builders) {
      OG_ASSIGN_OR_RETURN(auto column, builder->Finish());
      columns.push_back(std::move(column));
    }
    OG_RETURN_NOT_OK(source->SetTable(
        *type, arrow::Table::Make(schema::ArrowSchemaOf(*type), columns, built.count)));
  }
  return source;
}

}  // namespace omnigraph::query::testing
