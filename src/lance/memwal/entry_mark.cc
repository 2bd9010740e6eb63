// The admission mark of an entry: its JSON out and in.
#include "json_text.h"
#include "omnigraph/lance/memwal/entry.h"

namespace omnigraph::lance {
namespace {

constexpr int64_t kMarkVersion = 1;

void AppendRun(std::string* out, const EntryRun& run) {
  out->append(R"({"rows":)").append(std::to_string(run.rows)).append(R"(,"actor":)");
  AppendJsonString(out, run.actor);
  out->append(run.minted ? R"(,"minted":true)" : R"(,"minted":false)");
  if (!run.producer.empty()) {
    out->append(R"(,"producer":)");
    AppendJsonString(out, run.producer);
  }
  if (!run.ranges.empty()) {
    out->append(R"(,"ranges":[)");
    for (size_t i = 0; i < run.ranges.size(); ++i) {
      out->append(i == 0 ? "[" : ",[").append(std::to_string(run.ranges[i].first));
      out->append(",").append(std::to_string(run.ranges[i].second)).append("]");
    }
    out->push_back(']');
  }
  out->push_back('}');
}

// False where the JSON has another shape.
bool ParseRanges(const simdjson::dom::array& array, EntryRun* run) {
  for (const simdjson::dom::element element : array) {
    simdjson::dom::array pair;
    uint64_t first = 0;
    uint64_t last = 0;
    if (element.get_array().get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
        pair.at(0).get_uint64().get(first) != simdjson::SUCCESS ||
        pair.at(1).get_uint64().get(last) != simdjson::SUCCESS || first > last) {
      return false;
    }
    run->ranges.emplace_back(first, last);
  }
  return true;
}

bool ParseRun(const simdjson::dom::element& element, EntryRun* run) {
  simdjson::dom::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) {
    return false;
  }
  run->rows = JsonInt(object, "rows", -1);
  run->actor = JsonString(object, "actor");
  run->producer = JsonString(object, "producer");
  bool minted = false;
  run->minted = object["minted"].get_bool().get(minted) == simdjson::SUCCESS && minted;
  simdjson::dom::array ranges;
  const bool has_ranges = object["ranges"].get_array().get(ranges) == simdjson::SUCCESS;
  return run->rows >= 1 && (!has_ranges || ParseRanges(ranges, run));
}

bool ParseMark(std::string_view json, EntryMark* mark) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get_object().get(object) != simdjson::SUCCESS ||
      JsonInt(object, "v", 0) != kMarkVersion) {
    return false;
  }
  mark->schema = JsonString(object, "schema");
  mark->at_ms = JsonInt(object, "at_ms", 0);
  simdjson::dom::array runs;
  if (object["runs"].get_array().get(runs) != simdjson::SUCCESS) {
    return false;
  }
  for (const simdjson::dom::element element : runs) {
    EntryRun run;
    if (!ParseRun(element, &run)) {
      return false;
    }
    mark->runs.push_back(std::move(run));
  }
  return true;
}

}  // namespace

std::string EncodeEntryMark(const EntryMark& mark) {
  std::string out;
  out.reserve(128 + 64 * mark.runs.size());
  out.append(R"({"v":)").append(std::to_string(kMarkVersion)).append(R"(,"schema":)");
  AppendJsonString(&out, mark.schema);
  out.append(R"(,"at_ms":)").append(std::to_string(mark.at_ms)).append(R"(,"runs":[)");
  for (size_t i = 0; i < mark.runs.size(); ++i) {
    if (i > 0) {
      out.push_back(',');
    }
    AppendRun(&out, mark.runs[i]);
  }
  out.append("]}");
  return out;
}

Result<EntryMark> ParseEntryMark(std::string_view json, std::string_view object) {
  EntryMark mark;
  if (!ParseMark(json, &mark)) {
    return Corruption("memwal.entry_mark",
                      "parse the admission mark of an entry: not the JSON of version 1 (" +
                          std::to_string(json.size()) + " bytes)",
                      object);
  }
  return mark;
}

}  // namespace omnigraph::lance
