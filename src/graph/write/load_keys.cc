#include "load_keys.h"

#include <arrow/api.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "omnigraph/base/bytes.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/graph/schema/value_text.h"
#include "omnigraph/lance/table/table.h"
#include "tuple.h"
#include "value_reader.h"

namespace omnigraph::write {
namespace {

using schema::Member;
using schema::TypeDef;

// Facts of a KeyRecord. Ids of a type: `line` and `number` (row in the input) of its definition,
// `other_line` and `text` of the first edge that names it. Unique tuples: `line`, `number` (a hash
// of the row's id). Sources of edges: `line` (the last), `number` (how many), `other_line` (how
// many in the graph), `text`.
enum KeyFlags : uint32_t {
  kUsed = 1,
  kDefined = 2,
  kReferenced = 4,
  kExists = 8,
  kFrom = 16,
  kEdgeShift = 8,  ///< the edge type that referenced first stands above
};

constexpr size_t kTextBytes = 32u << 20;

const arrow::StringArray& Text(const arrow::RecordBatch& batch, int column) {
  return static_cast<const arrow::StringArray&>(*batch.column(column));
}

/// An id in quotes, and beside it its code points where it is not plain ASCII: two spellings of one
/// word look alike (B49).
std::string ShownId(std::string_view id) {
  std::string shown = "'" + Shown(id) + "'";
  if (std::any_of(id.begin(), id.end(), [](char c) { return static_cast<uint8_t>(c) >= 0x80; })) {
    shown += " (" + EscapeNonAscii(id) + ")";
  }
  return shown;
}

std::string RuleName(const TypeDef& type, std::string_view rule,
                     const std::vector<Member>& members) {
  std::string name = "@" + std::string(rule) + "(";
  for (size_t i = 0; i < members.size(); ++i) {
    name += (i == 0 ? "" : ", ") + MemberName(type, members[i]);
  }
  return name + ")";
}

std::string CardName(const schema::Card& card) {
  return "@card(" + std::to_string(card.min) + ".." +
         (card.max.has_value() ? std::to_string(*card.max) : "") + ")";
}

/// Visit each hash of the input (a KeyIndex or KeySorter) with its records and those of the graph.
template <typename Keys, typename Visit>
Status Join(Keys* input, KeySorter* existing, Visit visit) {
  OG_ASSIGN_OR_RETURN(const auto left, input->Sorted());
  OG_ASSIGN_OR_RETURN(const auto right, existing->Sorted());
  std::vector<KeyRecord> mine;
  std::vector<KeyRecord> theirs;
  OG_RETURN_NOT_OK(right->NextGroup(&theirs));
  while (true) {
    OG_RETURN_NOT_OK(left->NextGroup(&mine));
    if (mine.empty()) {
      return Status::OK();
    }
    while (!theirs.empty() && theirs.front().hash < mine.front().hash) {
      OG_RETURN_NOT_OK(right->NextGroup(&theirs));
    }
    const bool both = !theirs.empty() && theirs.front().hash == mine.front().hash;
    visit(mine, both ? theirs : std::vector<KeyRecord>());
  }
}

/// All records of one id as one.
KeyRecord Combine(const std::vector<KeyRecord>& records) {
  KeyRecord sum = records.front();
  sum.flags = kUsed;
  for (const KeyRecord& record : records) {
    if ((record.flags & kDefined) != 0) {
      sum.line = record.line;
      sum.number = record.number;
    }
    if ((record.flags & kReferenced) != 0 && (sum.flags & kReferenced) == 0) {
      sum.other_line = record.other_line;
      sum.text = record.text;
    }
    sum.flags |= record.flags;
  }
  return sum;
}

}  // namespace

struct LoadKeys::Unique {
  Unique(const schema::MemberRule* rule_in, SpillSpace* space) : rule(rule_in), index(space) {}
  const schema::MemberRule* rule;
  KeyIndex index;
};

struct LoadKeys::TypeKeys {
  TypeKeys(const TypeDef& type_in, SpillSpace* space) : type(type_in), ids(space) {
    for (const schema::MemberRule& rule : type.uniques) {
      uniques.push_back(std::make_unique<Unique>(&rule, space));
    }
    if (type.is_edge() && (type.card.max.has_value() || type.card.min > 0)) {
      sources = std::make_unique<KeyIndex>(space);
    }
  }

  const TypeDef& type;
  bool occurs = false;
  KeyIndex ids;  ///< brought or derived ids; of nodes also those that edges name
  std::vector<std::unique_ptr<Unique>> uniques;
  std::unique_ptr<KeyIndex> sources;
  std::vector<uint64_t> superseded;
};

LoadKeys::LoadKeys(const schema::Catalog& catalog, LoadMode mode, SpillSpace* space)
    : catalog_(catalog), mode_(mode), space_(space) {
  for (const TypeDef& type : catalog_.types()) {
    types_.push_back(std::make_unique<TypeKeys>(type, space_));
  }
}

LoadKeys::~LoadKeys() = default;

bool LoadKeys::occurs(int type_index) const {
  return types_[static_cast<size_t>(type_index)]->occurs;
}

bool LoadKeys::brings_ids(int type_index) const {
  return !types_[static_cast<size_t>(type_index)]->ids.empty();
}

const std::vector<uint64_t>& LoadKeys::superseded(int type_index) const {
  return types_[static_cast<size_t>(type_index)]->superseded;
}

uint32_t LoadKeys::KeepText(std::string_view text) {
  if (texts_.size() + text.size() + sizeof(uint32_t) > kTextBytes) {
    return 0;
  }
  AppendLittle(&texts_, static_cast<uint32_t>(text.size()));
  texts_.append(text);
  return static_cast<uint32_t>(texts_.size() - text.size());
}

std::string LoadKeys::TextOf(uint32_t kept) const {
  if (kept == 0) {
    return "an id";
  }
  const auto size = LoadLittle<uint32_t>(texts_.data() + kept - sizeof(uint32_t));
  return ShownId(std::string_view(texts_).substr(kept, size));
}

// --- while rows stream by ---

Status LoadKeys::Add(int type_index, const RowBatch& rows, uint64_t first, ErrorList* errors) {
  TypeKeys* keys = types_[static_cast<size_t>(type_index)].get();
  keys->occurs = keys->occurs || rows.batch->num_rows() > 0;
  const arrow::StringArray& ids = Text(*rows.batch, 0);
  for (int64_t i = 0; i < ids.length(); ++i) {
    // A fresh ULID is nobody else's, and nothing in the input can name it.
    if (rows.minted[static_cast<size_t>(i)] == 0) {
      OG_RETURN_NOT_OK(AddId(keys, ids.GetView(i), rows.lines[static_cast<size_t>(i)],
                             first + static_cast<uint64_t>(i), errors));
    }
  }
  if (keys->type.is_edge()) {
    const int source = catalog_.SourceIndex(keys->type);
    const int target = catalog_.TargetIndex(keys->type);
    const arrow::StringArray& src = Text(*rows.batch, 1);
    const arrow::StringArray& dst = Text(*rows.batch, 2);
    std::string_view last;
    for (int64_t i = 0; i < ids.length(); ++i) {
      const int64_t line = rows.lines[static_cast<size_t>(i)];
      const std::string_view from = src.GetView(i);
      // Edges of one source mostly stand together.
      if (i == 0 || from != last) {
        OG_RETURN_NOT_OK(AddEndpoint(source, type_index, true, from, line));
      }
      last = from;
      OG_RETURN_NOT_OK(AddEndpoint(target, type_index, false, dst.GetView(i), line));
    }
    OG_RETURN_NOT_OK(AddCards(keys, rows));
  }
  return AddUniques(keys, rows, errors);
}

Status LoadKeys::AddId(TypeKeys* keys, std::string_view id, int64_t line, uint64_t number,
                       ErrorList* errors) {
  OG_ASSIGN_OR_RETURN(KeyRecord* const record, keys->ids.Upsert(XxHash128(id)));
  if ((record->flags & kDefined) != 0) {
    Duplicate(keys, ShownId(id), line, record->line, record->number, errors);
  }
  record->flags |= kUsed | kDefined;
  record->line = line;
  record->number = number;
  return Status::OK();
}

/// Two lines of one input have one id: keys never may; of the rest the last wins where rows are
/// merged.
void LoadKeys::Duplicate(TypeKeys* keys, std::string_view id, int64_t line, int64_t other_line,
                         uint64_t older, ErrorList* errors) {
  LineError error;
  error.line = line;
  error.type = keys->type.name;
  const std::string where = " of " + keys->type.name + " is also that of line " +
                            std::to_string(other_line) + " of this input";
  if (keys->type.keyed()) {
    error.code = "constraint.unique";
    error.property = MemberName(keys->type, keys->type.key.front());
    error.message = "the key " + std::string(id) + where + "; a key is @unique";
  } else if (mode_ == LoadMode::kMerge) {
    keys->superseded.push_back(older);
    return;
  } else {
    error.code = "load.key_conflict";
    error.property = "id";
    error.message = "the id " + std::string(id) + where;
  }
  errors->Add(std::move(error));
}

Status LoadKeys::AddEndpoint(int node_index, int edge_index, bool from, std::string_view id,
                             int64_t line) {
  KeyIndex& ids = types_[static_cast<size_t>(node_index)]->ids;
  OG_ASSIGN_OR_RETURN(KeyRecord* const record, ids.Upsert(XxHash128(id)));
  if ((record->flags & kReferenced) == 0) {
    record->flags |= kUsed | kReferenced | (from ? uint32_t{kFrom} : 0u) |
                     static_cast<uint32_t>(edge_index) << kEdgeShift;
    record->other_line = line;
    record->text = KeepText(id);
  }
  return Status::OK();
}

Status LoadKeys::AddCards(TypeKeys* keys, const RowBatch& rows) {
  if (keys->sources == nullptr) {
    return Status::OK();
  }
  const arrow::StringArray& src = Text(*rows.batch, 1);
  for (int64_t i = 0; i < src.length(); ++i) {
    const std::string_view id = src.GetView(i);
    OG_ASSIGN_OR_RETURN(KeyRecord* const record, keys->sources->Upsert(XxHash128(id)));
    if (record->flags == 0) {
      record->flags = kUsed;
      record->text = KeepText(id);
    }
    record->number += 1;
    record->line = rows.lines[static_cast<size_t>(i)];
  }
  return Status::OK();
}

Status LoadKeys::AddUniques(TypeKeys* keys, const RowBatch& rows, ErrorList* errors) {
  const arrow::StringArray& ids = Text(*rows.batch, 0);
  std::string bytes;
  for (const auto& unique : keys->uniques) {
    const TupleReader tuples(keys->type, unique->rule->members, *rows.batch);
    for (int64_t i = 0; i < ids.length(); ++i) {
      if (!tuples.Read(i, &bytes)) {
        continue;
      }
      OG_ASSIGN_OR_RETURN(KeyRecord* const record, unique->index.Upsert(XxHash128(bytes)));
      const uint64_t owner = XxHash64(ids.GetView(i));
      const int64_t line = rows.lines[static_cast<size_t>(i)];
      if (record->flags == 0) {
        record->flags = kUsed;
        record->line = line;
        record->number = owner;
      } else if (record->number != owner) {
        errors->Add({line, 0, "constraint.unique",
                     RuleName(keys->type, "unique", unique->rule->members) + ": " +
                         tuples.Shown(i) + " of " + ShownId(ids.GetView(i)) +
                         " is also that of line " + std::to_string(record->line) + " of this input",
                     keys->type.name, MemberName(keys->type, unique->rule->members.front())});
      }
    }
  }
  return Status::OK();
}

Status LoadKeys::FinishInput(ErrorList* errors) {
  for (const auto& keys : types_) {
    KeySorter none(space_);
    if (keys->ids.spilled()) {
      OG_RETURN_NOT_OK(Join(&keys->ids, &none, [&](const auto& records, const auto&) {
        const KeyRecord* last = nullptr;
        for (const KeyRecord& record : records) {
          if ((record.flags & kDefined) == 0) {
            continue;
          }
          if (last != nullptr) {
            Duplicate(keys.get(), "here", record.line, last->line, last->number, errors);
          }
          last = &record;
        }
      }));
    }
    for (const auto& unique : keys->uniques) {
      if (!unique->index.spilled()) {
        continue;
      }
      OG_RETURN_NOT_OK(Join(&unique->index, &none, [&](const auto& records, const auto&) {
        for (size_t i = 1; i < records.size(); ++i) {
          if (records[i].number != records[0].number) {
            errors->Add({std::max(records[i].line, records[0].line), 0, "constraint.unique",
                         RuleName(keys->type, "unique", unique->rule->members) +
                             ": the value here is also that of line " +
                             std::to_string(std::min(records[i].line, records[0].line)) +
                             " of this input",
                         keys->type.name, MemberName(keys->type, unique->rule->members.front())});
          }
        }
      }));
    }
    std::sort(keys->superseded.begin(), keys->superseded.end());
  }
  return Status::OK();
}

// --- against the graph ---

/// One resolution against one snapshot.
class LoadKeys::Resolver {
 public:
  Resolver(LoadKeys* keys, graph::Graph* graph, const graph::Snapshot& snapshot, ErrorList* errors)
      : keys_(*keys), graph_(*graph), snapshot_(snapshot), errors_(*errors) {}

  Result<Resolution> Run() {
    for (size_t i = 0; i < keys_.types_.size(); ++i) {
      OG_RETURN_NOT_OK(ResolveIds(static_cast<int>(i)));
    }
    for (size_t i = 0; i < keys_.types_.size(); ++i) {
      const auto index = static_cast<int>(i);
      TypeKeys* type = keys_.types_[i].get();
      if (!type->occurs) {
        OG_RETURN_NOT_OK(CheckOrphans(index));
        continue;
      }
      for (const auto& unique : type->uniques) {
        OG_RETURN_NOT_OK(CheckUnique(index, unique.get()));
      }
      if (type->sources != nullptr) {
        OG_RETURN_NOT_OK(CheckCards(index));
      }
    }
    return std::move(out_);
  }

 private:
  /// The table of a type with rows that stay or are replaced; nullptr when there are none.
  Result<std::shared_ptr<const lance::Table>> TableOf(int type_index) {
    const TypeDef& type = keys_.catalog_.type(type_index);
    const graph::TableState* state = snapshot_.FindTable(type.table_id);
    if (state == nullptr) {
      return NotFound("table.unknown", "the snapshot has no table of " + type.name);
    }
    out_.read.insert(type.table_id);
    if (state->rows == 0 || keys_.overwrites(type_index)) {
      return std::shared_ptr<const lance::Table>();
    }
    return graph_.OpenTable(*state);
  }

  /// Run `visit(batch)` over some columns of a table, `_rowaddr` last.
  template <typename Visit>
  static Status ScanColumns(const lance::Table& table, std::vector<std::string> columns,
                            Visit visit) {
    lance::ScanOptions options;
    options.columns = std::move(columns);
    options.batch_rows = 65536;
    options.with_row_address = true;
    OG_ASSIGN_OR_RETURN(const auto reader, table.Scan(options));
    while (true) {
      std::shared_ptr<arrow::RecordBatch> batch;
      OG_RETURN_NOT_OK(reader->ReadNext(&batch));
      if (batch == nullptr) {
        return Status::OK();
      }
      OG_RETURN_NOT_OK(visit(*batch));
    }
  }

  static uint64_t Address(const arrow::RecordBatch& batch, int64_t row) {
    return static_cast<const arrow::UInt64Array&>(*batch.column(batch.num_columns() - 1))
        .Value(row);
  }

  // Ids: which rows are replaced, which endpoints are missing.

  Status ResolveIds(int type_index) {
    TypeKeys* type = keys_.types_[static_cast<size_t>(type_index)].get();
    if (type->ids.empty()) {
      return Status::OK();
    }
    OG_ASSIGN_OR_RETURN(const auto table, TableOf(type_index));
    std::vector<uint64_t>& replaced = out_.replaced[type_index];
    if (type->ids.spilled()) {
      OG_RETURN_NOT_OK(ResolveSpilledIds(type, table.get(), &replaced));
    } else {
      type->ids.ForEach([](KeyRecord& record) { record.flags &= ~uint32_t{kExists}; });
      if (table != nullptr) {
        const Status scanned = ScanColumns(*table, {schema::kIdColumn}, [&](const auto& batch) {
          const arrow::StringArray& ids = Text(batch, 0);
          for (int64_t i = 0; i < ids.length(); ++i) {
            KeyRecord* record = type->ids.Find(XxHash128(ids.GetView(i)));
            if (record != nullptr) {
              record->flags |= kExists;
              Exists(type->type, *record, ShownId(ids.GetView(i)), Address(batch, i), &replaced);
            }
          }
          return Status::OK();
        });
        OG_RETURN_NOT_OK(scanned);
      }
      type->ids.ForEach([&](const KeyRecord& record) { CheckEndpoint(type->type, record); });
    }
    std::sort(replaced.begin(), replaced.end());
    return Status::OK();
  }

  Status ResolveSpilledIds(TypeKeys* type, const lance::Table* table,
                           std::vector<uint64_t>* replaced) {
    KeySorter existing(keys_.space_);
    if (table != nullptr) {
      const Status scanned = ScanColumns(*table, {schema::kIdColumn}, [&](const auto& batch) {
        const arrow::StringArray& ids = Text(batch, 0);
        for (int64_t i = 0; i < ids.length(); ++i) {
          KeyRecord record;
          record.hash = XxHash128(ids.GetView(i));
          record.number = Address(batch, i);
          OG_RETURN_NOT_OK(existing.Add(record));
        }
        return Status::OK();
      });
      OG_RETURN_NOT_OK(scanned);
    }
    return Join(&type->ids, &existing, [&](const auto& mine, const auto& theirs) {
      KeyRecord record = Combine(mine);
      for (const KeyRecord& one : theirs) {
        record.flags |= kExists;
        Exists(type->type, record, "here", one.number, replaced);
      }
      CheckEndpoint(type->type, record);
    });
  }

  /// The graph holds a row of this id.
  void Exists(const TypeDef& type, const KeyRecord& record, const std::string& id, uint64_t address,
              std::vector<uint64_t>* replaced) {
    if ((record.flags & kDefined) == 0) {
      return;
    }
    if (keys_.mode_ == LoadMode::kMerge) {
      replaced->push_back(address);
      return;
    }
    errors_.Add({record.line, 0, "load.key_conflict",
                 "the id " + id + " of " + type.name +
                     " exists already; use mode merge to replace such rows",
                 type.name, "id"});
  }

  void CheckEndpoint(const TypeDef& node, const KeyRecord& record) {
    if ((record.flags & kReferenced) == 0 || (record.flags & (kDefined | kExists)) != 0) {
      return;
    }
    const TypeDef& edge = keys_.catalog_.type(static_cast<int>(record.flags >> kEdgeShift));
    const std::string side = (record.flags & kFrom) != 0 ? "from" : "to";
    errors_.Add({record.other_line, 0, "edge.endpoint_missing",
                 "'" + side + "' of this " + edge.name + " names " + keys_.TextOf(record.text) +
                     ", but there is no such " + node.name,
                 edge.name, side});
  }

  // Overwritten nodes: edges that stay must keep both ends.

  Status CheckOrphans(int edge_index) {
    const TypeDef& edge = keys_.catalog_.type(edge_index);
    if (!edge.is_edge()) {
      return Status::OK();
    }
    const int ends[2] = {keys_.catalog_.SourceIndex(edge), keys_.catalog_.TargetIndex(edge)};
    if (!keys_.overwrites(ends[0]) && !keys_.overwrites(ends[1])) {
      return Status::OK();
    }
    OG_ASSIGN_OR_RETURN(const auto table, TableOf(edge_index));
    if (table == nullptr) {
      return Status::OK();
    }
    for (int side = 0; side < 2; ++side) {
      if (keys_.overwrites(ends[side])) {
        OG_RETURN_NOT_OK(CheckOrphanSide(edge, *table, side == 0, ends[side]));
      }
    }
    return Status::OK();
  }

  Status CheckOrphanSide(const TypeDef& edge, const lance::Table& table, bool from,
                         int node_index) {
    TypeKeys* node = keys_.types_[static_cast<size_t>(node_index)].get();
    const auto orphan = [&](const std::string& id) {
      errors_.Add({0, 0, "edge.endpoint_missing",
                   "this load removes " + id + " of " + node->type.name + ", but edges of " +
                       edge.name + " still name it; load those edges too, or use mode merge",
                   edge.name, from ? "from" : "to"});
    };
    KeySorter existing(keys_.space_);
    const bool spilled = node->ids.spilled();
    const Status scanned = ScanColumns(table, {from ? schema::kSrcColumn : schema::kDstColumn},
                                       [&](const auto& batch) {
                                         const arrow::StringArray& ids = Text(batch, 0);
                                         for (int64_t i = 0; i < ids.length(); ++i) {
                                           KeyRecord record;
                                           record.hash = XxHash128(ids.GetView(i));
                                           if (spilled) {
                                             OG_RETURN_NOT_OK(existing.Add(record));
                                             continue;
                                           }
                                           const KeyRecord* found = node->ids.Find(record.hash);
                                           if (found == nullptr || (found->flags & kDefined) == 0) {
                                             orphan(ShownId(ids.GetView(i)));
                                           }
                                         }
                                         return Status::OK();
                                       });
    OG_RETURN_NOT_OK(scanned);
    return spilled ? CheckSpilledOrphans(node, &existing, orphan) : Status::OK();
  }

  /// Ends of edges against definitions, both in order of hash.
  template <typename Orphan>
  Status CheckSpilledOrphans(TypeKeys* node, KeySorter* existing, Orphan orphan) {
    OG_ASSIGN_OR_RETURN(const auto ends, existing->Sorted());
    OG_ASSIGN_OR_RETURN(const auto nodes, node->ids.Sorted());
    std::vector<KeyRecord> end;
    std::vector<KeyRecord> defined;
    OG_RETURN_NOT_OK(nodes->NextGroup(&defined));
    while (true) {
      OG_RETURN_NOT_OK(ends->NextGroup(&end));
      if (end.empty()) {
        return Status::OK();
      }
      while (!defined.empty() && defined.front().hash < end.front().hash) {
        OG_RETURN_NOT_OK(nodes->NextGroup(&defined));
      }
      const bool there = !defined.empty() && defined.front().hash == end.front().hash &&
                         (Combine(defined).flags & kDefined) != 0;
      if (!there) {
        orphan("a node");
      }
    }
  }

  // `@unique` and `@card`: rows of the graph that stay count too.

  bool IsReplaced(int type_index, uint64_t address) const {
    const auto found = out_.replaced.find(type_index);
    return found != out_.replaced.end() &&
           std::binary_search(found->second.begin(), found->second.end(), address);
  }

  Status CheckUnique(int type_index, Unique* unique) {
    const TypeDef& type = keys_.catalog_.type(type_index);
    OG_ASSIGN_OR_RETURN(const auto table, TableOf(type_index));
    if (table == nullptr || unique->index.empty()) {
      return Status::OK();
    }
    const std::vector<Member>& members = unique->rule->members;
    const auto violation = [&](const KeyRecord& record, const std::string& whose) {
      errors_.Add({record.line, 0, "constraint.unique",
                   RuleName(type, "unique", members) + ": the value here is also that of " + whose +
                       " in the graph",
                   type.name, MemberName(type, members.front())});
    };
    KeySorter existing(keys_.space_);
    const bool spilled = unique->index.spilled();
    std::vector<std::string> columns = MemberColumns(type, members);
    columns.emplace_back(schema::kIdColumn);
    std::string bytes;
    const Status scanned = ScanColumns(*table, std::move(columns), [&](const auto& batch) {
      const TupleReader tuples(members.size(), batch);
      const arrow::StringArray& ids = Text(batch, static_cast<int>(members.size()));
      for (int64_t i = 0; i < batch.num_rows(); ++i) {
        if (IsReplaced(type_index, Address(batch, i)) || !tuples.Read(i, &bytes)) {
          continue;
        }
        KeyRecord record;
        record.hash = XxHash128(bytes);
        if (spilled) {
          OG_RETURN_NOT_OK(existing.Add(record));
        } else if (const KeyRecord* found = unique->index.Find(record.hash); found != nullptr) {
          violation(*found, ShownId(ids.GetView(i)));
        }
      }
      return Status::OK();
    });
    OG_RETURN_NOT_OK(scanned);
    if (!spilled) {
      return Status::OK();
    }
    return Join(&unique->index, &existing, [&](const auto& mine, const auto& theirs) {
      if (!theirs.empty()) {
        violation(mine.front(), "a row");
      }
    });
  }

  void CheckCard(const TypeDef& edge, const KeyRecord& source, uint64_t count) {
    if (count >= edge.card.min && (!edge.card.max.has_value() || count <= *edge.card.max)) {
      return;
    }
    errors_.Add({source.line, 0, "constraint.card",
                 "with this input " + keys_.TextOf(source.text) + " has " + std::to_string(count) +
                     " edges of " + edge.name + "; " + CardName(edge.card) + " allows " +
                     (count < edge.card.min ? "no fewer than " + std::to_string(edge.card.min)
                                            : "at most " + std::to_string(*edge.card.max)),
                 edge.name, "from"});
  }

  Status CheckCards(int type_index) {
    TypeKeys* type = keys_.types_[static_cast<size_t>(type_index)].get();
    OG_ASSIGN_OR_RETURN(const auto table, TableOf(type_index));
    const auto replaced = out_.replaced.find(type_index);
    const bool replaces = replaced != out_.replaced.end() && !replaced->second.empty();
    if (type->type.card.min > 0 && replaces) {
      return CheckCardsOfAll(type_index, type, *table);
    }
    return type->sources->spilled() ? CheckSpilledCards(type_index, type, table.get())
                                    : CheckCardsInMemory(type_index, type, table.get());
  }

  /// Run `visit(source's id, whether the edge is replaced)` over the edges of a table.
  template <typename Visit>
  Status ScanSources(int type_index, const lance::Table* table, Visit visit) {
    if (table == nullptr) {
      return Status::OK();
    }
    return ScanColumns(*table, {schema::kSrcColumn}, [&](const auto& batch) {
      const arrow::StringArray& src = Text(batch, 0);
      for (int64_t i = 0; i < src.length(); ++i) {
        OG_RETURN_NOT_OK(visit(src.GetView(i), IsReplaced(type_index, Address(batch, i))));
      }
      return Status::OK();
    });
  }

  Status CheckCardsInMemory(int type_index, TypeKeys* type, const lance::Table* table) {
    type->sources->ForEach([](KeyRecord& record) { record.other_line = 0; });
    OG_RETURN_NOT_OK(ScanSources(type_index, table, [&](std::string_view id, bool is_replaced) {
      KeyRecord* found = is_replaced ? nullptr : type->sources->Find(XxHash128(id));
      if (found != nullptr) {
        found->other_line += 1;
      }
      return Status::OK();
    }));
    type->sources->ForEach([&](const KeyRecord& record) {
      CheckCard(type->type, record, record.number + static_cast<uint64_t>(record.other_line));
    });
    return Status::OK();
  }

  Status CheckSpilledCards(int type_index, TypeKeys* type, const lance::Table* table) {
    KeySorter existing(keys_.space_);
    OG_RETURN_NOT_OK(ScanSources(type_index, table, [&](std::string_view id, bool is_replaced) {
      return is_replaced ? Status::OK() : existing.Add(KeyRecord{.hash = XxHash128(id)});
    }));
    return JoinCards(type->type, type->sources.get(), &existing);
  }

  /// An edge that is replaced may leave its source, which the input need not name, with too few:
  /// the sources of the replaced edges count as named too.
  Status CheckCardsOfAll(int type_index, TypeKeys* type, const lance::Table& table) {
    KeySorter named(keys_.space_);
    OG_ASSIGN_OR_RETURN(const auto input, type->sources->Sorted());
    std::vector<KeyRecord> group;
    do {
      OG_RETURN_NOT_OK(input->NextGroup(&group));
      for (const KeyRecord& record : group) {
        OG_RETURN_NOT_OK(named.Add(record));
      }
    } while (!group.empty());
    KeySorter existing(keys_.space_);
    OG_RETURN_NOT_OK(ScanSources(type_index, &table, [&](std::string_view id, bool is_replaced) {
      KeyRecord record{.hash = XxHash128(id)};
      if (!is_replaced) {
        return existing.Add(record);
      }
      record.text = keys_.KeepText(id);
      return named.Add(record);
    }));
    return JoinCards(type->type, &named, &existing);
  }

  template <typename Keys>
  Status JoinCards(const TypeDef& edge, Keys* named, KeySorter* existing) {
    return Join(named, existing, [&](const auto& mine, const auto& theirs) {
      KeyRecord source = mine.front();
      uint64_t count = theirs.size();
      for (const KeyRecord& record : mine) {
        count += record.number;
        source.line = std::max(source.line, record.line);
        source.text = source.text != 0 ? source.text : record.text;
      }
      CheckCard(edge, source, count);
    });
  }

  LoadKeys& keys_;
  graph::Graph& graph_;
  const graph::Snapshot& snapshot_;
  ErrorList& errors_;
  Resolution out_;
};

Result<Resolution> LoadKeys::Resolve(graph::Graph* graph, const graph::Snapshot& snapshot,
                                     ErrorList* errors) {
  return Resolver(this, graph, snapshot, errors).Run();
}

}  // namespace omnigraph::write
