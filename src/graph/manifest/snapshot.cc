#include "omnigraph/graph/manifest/snapshot.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>

#include "omnigraph/graph/manifest/json_text.h"

namespace omnigraph::graph {
namespace {

using internal::JsonObject;
namespace dom = simdjson::dom;

Status BadState(std::string_view what, std::string_view object) {
  return Corruption("manifest.table_state",
                    fmt::format("a table's state in the metadata is malformed: {}", what), object);
}

Status BadSnapshot(std::string_view what, std::string_view object) {
  return Corruption("manifest.snapshot", fmt::format("the graph's metadata is malformed: {}", what),
                    object);
}

std::optional<uint64_t> ParseU64(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

/// A number, or a string of digits (numbers above 2^53).
std::optional<uint64_t> U64Of(const dom::element& element) {
  uint64_t number = 0;
  if (element.get_uint64().get(number) == simdjson::SUCCESS) {
    return number;
  }
  std::string_view text;
  if (element.get_string().get(text) == simdjson::SUCCESS) {
    return ParseU64(text);
  }
  return std::nullopt;
}

Result<uint64_t> U64Member(const dom::object& json, const char* key, std::string_view object) {
  dom::element element;
  if (json[key].get(element) != simdjson::SUCCESS) {
    return BadState(fmt::format("no member `{}`", key), object);
  }
  const std::optional<uint64_t> value = U64Of(element);
  if (!value.has_value()) {
    return BadState(fmt::format("`{}` is not a whole number", key), object);
  }
  return *value;
}

Result<std::string> TextMember(const dom::object& json, const char* key, std::string_view object) {
  std::string_view text;
  if (json[key].get_string().get(text) != simdjson::SUCCESS) {
    return BadState(fmt::format("no text `{}`", key), object);
  }
  return std::string(text);
}

Result<TableKind> ParseKind(std::string_view name, std::string_view object) {
  for (const TableKind kind : {TableKind::kNode, TableKind::kEdge, TableKind::kRejects}) {
    if (TableKindName(kind) == name) {
      return kind;
    }
  }
  return BadState(fmt::format("unknown kind `{}`", name), object);
}

std::string JsonArray(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) {
      out.push_back(',');
    }
    internal::AppendJsonString(&out, value);
  }
  out.push_back(']');
  return out;
}

Result<std::vector<std::string>> ParseArray(std::string_view json, std::string_view object) {
  dom::parser parser;
  dom::array array;
  if (parser.parse(json.data(), json.size()).get_array().get(array) != simdjson::SUCCESS) {
    return BadSnapshot("the list of paused types", object);
  }
  std::vector<std::string> out;
  for (const dom::element element : array) {
    std::string_view text;
    if (element.get_string().get(text) != simdjson::SUCCESS) {
      return BadSnapshot("the list of paused types", object);
    }
    out.emplace_back(text);
  }
  return out;
}

}  // namespace

std::string_view TableKindName(TableKind kind) {
  switch (kind) {
    case TableKind::kNode:
      return "node";
    case TableKind::kEdge:
      return "edge";
    case TableKind::kRejects:
      return "rejects";
  }
  return "unknown";
}

std::string TableState::path() const {
  if (kind == TableKind::kRejects) {
    return std::string(kRejectsPath);
  }
  return fmt::format("{}s/{}-{}.lance", TableKindName(kind), FormatHex64(id),
                     FormatHex64(incarnation));
}

std::string TableState::ToJson() const {
  JsonObject positions;
  for (const auto& [shard, position] : shards) {
    positions.Number(shard.ToString(), position);
  }
  return JsonObject()
      .Text("kind", TableKindName(kind))
      .Text("name", name)
      .Text("incarnation", FormatHex64(incarnation))
      .Number("version", version)
      .Number("publishes", publishes)
      .Number("rows", static_cast<uint64_t>(rows))
      .Raw("shards", positions.Finish())
      .Number("acked", acked)
      .Number("visible", visible)
      .Number("superseded", superseded)
      .Number("rejected", rejected)
      .Finish();
}

Result<TableState> TableState::FromJson(TableId id, std::string_view json,
                                        std::string_view object) {
  dom::parser parser;
  dom::object root;
  if (parser.parse(json.data(), json.size()).get_object().get(root) != simdjson::SUCCESS) {
    return BadState("not a JSON object", object);
  }
  TableState state;
  state.id = id;
  OG_ASSIGN_OR_RETURN(const std::string kind, TextMember(root, "kind", object));
  OG_ASSIGN_OR_RETURN(state.kind, ParseKind(kind, object));
  OG_ASSIGN_OR_RETURN(state.name, TextMember(root, "name", object));
  OG_ASSIGN_OR_RETURN(const std::string incarnation, TextMember(root, "incarnation", object));
  const Result<uint64_t> parsed = ParseHex64(incarnation);
  if (!parsed.ok()) {
    return BadState("`incarnation` is not 16 hex digits", object);
  }
  state.incarnation = *parsed;
  OG_ASSIGN_OR_RETURN(state.version, U64Member(root, "version", object));
  OG_ASSIGN_OR_RETURN(state.publishes, U64Member(root, "publishes", object));
  OG_ASSIGN_OR_RETURN(const uint64_t rows, U64Member(root, "rows", object));
  state.rows = static_cast<int64_t>(rows);
  OG_ASSIGN_OR_RETURN(state.acked, U64Member(root, "acked", object));
  OG_ASSIGN_OR_RETURN(state.visible, U64Member(root, "visible", object));
  OG_ASSIGN_OR_RETURN(state.superseded, U64Member(root, "superseded", object));
  OG_ASSIGN_OR_RETURN(state.rejected, U64Member(root, "rejected", object));
  dom::object shards;
  if (root["shards"].get_object().get(shards) != simdjson::SUCCESS) {
    return BadState("no object `shards`", object);
  }
  for (const auto& [key, value] : shards) {
    const Result<Uuid> shard = Uuid::Parse(key);
    const std::optional<uint64_t> position = U64Of(value);
    if (!shard.ok() || !position.has_value()) {
      return BadState("a shard's position", object);
    }
    state.shards[*shard] = *position;
  }
  return state;
}

const TableState* Snapshot::FindTable(TableKind kind, std::string_view name) const {
  for (const auto& [id, table] : tables) {
    if (table.kind == kind && table.name == name) {
      return &table;
    }
  }
  return nullptr;
}

const TableState* Snapshot::FindTable(TableId id) const {
  const auto found = tables.find(id);
  return found == tables.end() ? nullptr : &found->second;
}

const TableState* Snapshot::Rejects() const {
  for (const auto& [id, table] : tables) {
    if (table.kind == TableKind::kRejects) {
      return &table;
    }
  }
  return nullptr;
}

std::map<std::string, std::string> Snapshot::ToMetadata() const {
  std::map<std::string, std::string> out = extra;
  out[std::string(kKeyFormat)] = std::to_string(format);
  out[std::string(kKeyGraph)] = graph_id;
  out[std::string(kKeyBranch)] = branch;
  out[std::string(kKeySequence)] = std::to_string(sequence);
  out[std::string(kKeyHead)] = head;
  out[std::string(kKeySchema)] = schema_hash;
  if (!producers.empty()) {
    out[std::string(kKeyProducers)] = producers;
  }
  if (!paused.empty()) {
    out[std::string(kKeyPaused)] = JsonArray(paused);
  }
  if (ended.has_value()) {
    out[std::string(kKeyEnded)] = *ended;
  }
  for (const auto& [id, table] : tables) {
    out[std::string(kKeyTablePrefix) + FormatHex64(id)] = table.ToJson();
  }
  return out;
}

namespace {

/// Take one known key out of `rest`; empty when it is absent.
std::string TakeKey(std::map<std::string, std::string>* rest, std::string_view key) {
  const auto found = rest->find(std::string(key));
  if (found == rest->end()) {
    return {};
  }
  std::string value = std::move(found->second);
  rest->erase(found);
  return value;
}

Status TakeTables(std::map<std::string, std::string>* rest, std::string_view object,
                  std::map<TableId, TableState>* tables) {
  auto at = rest->lower_bound(std::string(kKeyTablePrefix));
  while (at != rest->end() && at->first.starts_with(kKeyTablePrefix)) {
    const Result<uint64_t> id =
        ParseHex64(std::string_view(at->first).substr(kKeyTablePrefix.size()));
    if (!id.ok()) {
      return BadSnapshot(fmt::format("key `{}`", at->first), object);
    }
    OG_ASSIGN_OR_RETURN(TableState state, TableState::FromJson(*id, at->second, object));
    tables->emplace(*id, std::move(state));
    at = rest->erase(at);
  }
  return Status::OK();
}

}  // namespace

Result<Snapshot> Snapshot::FromMetadata(const std::map<std::string, std::string>& metadata,
                                        std::string_view object) {
  std::map<std::string, std::string> rest = metadata;
  Snapshot out;
  const std::optional<uint64_t> format = ParseU64(TakeKey(&rest, kKeyFormat));
  if (!format.has_value()) {
    return BadSnapshot("no format number", object);
  }
  if (*format > static_cast<uint64_t>(kGraphFormat)) {
    return Unsupported("graph.newer_format",
                       fmt::format("the graph has format {}, this program reads up to {}: use a "
                                   "newer release of OmniGraph",
                                   *format, kGraphFormat),
                       Place{.object = std::string(object)});
  }
  out.format = static_cast<int>(*format);
  const std::optional<uint64_t> sequence = ParseU64(TakeKey(&rest, kKeySequence));
  if (!sequence.has_value()) {
    return BadSnapshot("no sequence number", object);
  }
  out.sequence = *sequence;
  out.graph_id = TakeKey(&rest, kKeyGraph);
  out.branch = TakeKey(&rest, kKeyBranch);
  out.head = TakeKey(&rest, kKeyHead);
  out.schema_hash = TakeKey(&rest, kKeySchema);
  out.producers = TakeKey(&rest, kKeyProducers);
  if (const std::string paused = TakeKey(&rest, kKeyPaused); !paused.empty()) {
    OG_ASSIGN_OR_RETURN(out.paused, ParseArray(paused, object));
  }
  if (const auto ended = rest.find(std::string(kKeyEnded)); ended != rest.end()) {
    out.ended = ended->second;
    rest.erase(ended);
  }
  OG_RETURN_NOT_OK(TakeTables(&rest, object, &out.tables));
  out.extra = std::move(rest);
  return out;
}

bool Snapshot::IsOwn(const std::map<std::string, std::string>& metadata, uint64_t version) {
  const auto found = metadata.find(std::string(kKeySequence));
  return found != metadata.end() && ParseU64(found->second) == version;
}

}  // namespace omnigraph::graph
