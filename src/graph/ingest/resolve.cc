#include "resolve.h"

#include <arrow/array.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "endpoints.h"
#include "omnigraph/graph/schema/physical.h"

namespace omnigraph::graph {
namespace {

constexpr int kSrcColumn = 1;
constexpr int kDstColumn = 2;

/// Decides one cut. Single-owner.
class Resolver {
 public:
  Resolver(Graph* graph, std::vector<TypeCut>* types, FoldCaches* caches, std::set<TableId>* read)
      : graph_(*graph), types_(*types), caches_(*caches), read_(*read) {}

  Status Run();

 private:
  Status ResolveNodes(TypeCut* nodes);
  Status Cascade(const TypeCut& nodes);
  Status CascadeInto(const TypeCut& nodes, bool src, bool dst, TypeCut* edges);
  Status ResolveEdges(TypeCut* edges);
  Status CheckEndpoints(TypeCut* edges);
  Status OpenConstraints(TypeCut* cut, ConstraintState** state);
  void HashIds(TypeCut* cut, bool minted_too);
  void TakeEffect(TypeCut* cut, ConstraintState* constraints);
  void TakeEffectPlainly(TypeCut* cut, bool minted_too);
  void SupersedeMinted(TypeCut* cut);
  void TakeEffectChecked(TypeCut* cut, ConstraintState* constraints);
  void Effect(TypeCut* cut, int64_t row, bool tombstone);
  Status FindOldRows(TypeCut* cut);

  Graph& graph_;
  std::vector<TypeCut>& types_;
  FoldCaches& caches_;
  std::set<TableId>& read_;
};

Status Resolver::Run() {
  for (TypeCut& cut : types_) {
    if (cut.type->is_node() && cut.rows > 0) {
      OG_RETURN_NOT_OK(ResolveNodes(&cut));
    }
  }
  for (TypeCut& cut : types_) {
    if (cut.type->is_edge() && cut.rows > 0) {
      OG_RETURN_NOT_OK(ResolveEdges(&cut));
    }
  }
  for (TypeCut& cut : types_) {
    std::sort(cut.deleted_addresses.begin(), cut.deleted_addresses.end());
    const auto repeated = std::unique(cut.deleted_addresses.begin(), cut.deleted_addresses.end());
    cut.deleted_addresses.erase(repeated, cut.deleted_addresses.end());
    for (const Hash128& id : cut.cascaded_ids) {
      if (cut.cascaded_left.Find(id) != nullptr) {
        cut.erased.push_back(id);
        ++cut.cascaded;
      }
    }
    cut.deleted += cut.cascaded;
  }
  return Status::OK();
}

void Resolver::HashIds(TypeCut* cut, bool minted_too) {
  cut->hashes.resize(static_cast<size_t>(cut->rows));
  for (const CutBatch& batch : cut->batches) {
    const arrow::StringArray& ids = batch.ids();
    for (int64_t i = 0; i < ids.length(); ++i) {
      const size_t row = static_cast<size_t>(batch.first + i);
      if (minted_too || cut->minted[row] == 0) {
        cut->hashes[row] = XxHash128(ids.GetView(i));
      }
    }
  }
}

/// A row that passed becomes the last of its key.
void Resolver::Effect(TypeCut* cut, int64_t row, bool tombstone) {
  const size_t at = static_cast<size_t>(row);
  const auto [last, fresh] = cut->last.Insert(cut->hashes[at], static_cast<uint32_t>(row));
  if (!fresh) {
    cut->verdicts[*last] = Verdict::kSuperseded;
    *last = static_cast<uint32_t>(row);
  }
  cut->verdicts[at] = tombstone ? Verdict::kDelete : Verdict::kPut;
}

void Resolver::TakeEffectPlainly(TypeCut* cut, bool minted_too) {
  for (const CutBatch& batch : cut->batches) {
    const arrow::BooleanArray& tombstones = batch.tombstones();
    const bool none_deleted = tombstones.true_count() == 0;
    for (int64_t i = 0; i < batch.rows->num_rows(); ++i) {
      const int64_t row = batch.first + i;
      if (cut->verdicts[static_cast<size_t>(row)] != Verdict::kOpen) {
        continue;
      }
      if (!minted_too && cut->minted[static_cast<size_t>(row)] != 0) {
        cut->verdicts[static_cast<size_t>(row)] = Verdict::kPut;
        continue;
      }
      Effect(cut, row, !none_deleted && tombstones.Value(i));
    }
  }
}

/// A minted id can be met again only in a later row that names it: that one wins.
void Resolver::SupersedeMinted(TypeCut* cut) {
  if (cut->last.size() == 0) {
    return;
  }
  for (const CutBatch& batch : cut->batches) {
    const arrow::StringArray& ids = batch.ids();
    for (int64_t i = 0; i < ids.length(); ++i) {
      const size_t row = static_cast<size_t>(batch.first + i);
      if (cut->minted[row] != 0 && cut->verdicts[row] == Verdict::kPut &&
          cut->last.Find(XxHash128(ids.GetView(i))) != nullptr) {
        cut->verdicts[row] = Verdict::kSuperseded;
      }
    }
  }
}

void Resolver::TakeEffectChecked(TypeCut* cut, ConstraintState* constraints) {
  for (const CutBatch& batch : cut->batches) {
    const arrow::BooleanArray& tombstones = batch.tombstones();
    for (int64_t i = 0; i < batch.rows->num_rows(); ++i) {
      const int64_t row = batch.first + i;
      if (cut->verdicts[static_cast<size_t>(row)] != Verdict::kOpen) {
        continue;
      }
      const bool tombstone = tombstones.Value(i);
      if (tombstone) {
        constraints->Remove(cut->hashes[static_cast<size_t>(row)]);
      } else if (std::optional<Violation> violation = constraints->Check(*batch.rows, i)) {
        cut->RejectRow(row, violation->code, std::move(violation->message));
        continue;
      } else {
        constraints->Apply(*batch.rows, i);
      }
      Effect(cut, row, tombstone);
    }
  }
}

Status Resolver::OpenConstraints(TypeCut* cut, ConstraintState** state) {
  *state = nullptr;
  if (!HasFoldConstraints(*cut->type)) {
    return Status::OK();
  }
  FoldCaches::Constraints& cached = caches_.constraints[cut->type->table_id];
  if (cached.state == nullptr || cached.version != cut->base->version()) {
    cached.state = std::make_unique<ConstraintState>(*cut->type);
    cached.whole = caches_.MakeRoom(ConstraintState::BytesFor(*cut->type, cut->base->CountRows()),
                                    cut->type->table_id);
    if (cached.whole) {
      OG_RETURN_NOT_OK(cached.state->Read(*cut->base));
    } else {
      std::vector<const arrow::RecordBatch*> rows;
      for (const CutBatch& batch : cut->batches) {
        rows.push_back(batch.rows.get());
      }
      OG_RETURN_NOT_OK(cached.state->ReadFor(*cut->base, rows));
    }
  }
  cached.state->set_type(*cut->type);
  cached.version = 0;  // of no version until this fold is published
  caches_.moved.insert(cut->type->table_id);
  *state = cached.state.get();
  return Status::OK();
}

/// Where the keys of the cut stand in the table now.
Status Resolver::FindOldRows(TypeCut* cut) {
  std::vector<KeyRef> keys;
  std::vector<Verdict> verdicts;
  for (const CutBatch& batch : cut->batches) {
    const arrow::StringArray& ids = batch.ids();
    for (int64_t i = 0; i < ids.length(); ++i) {
      const size_t row = static_cast<size_t>(batch.first + i);
      const Verdict verdict = cut->verdicts[row];
      if (verdict == Verdict::kPut && cut->minted[row] != 0) {
        ++cut->inserted;
      } else if (verdict == Verdict::kPut || verdict == Verdict::kDelete) {
        keys.push_back(KeyRef{cut->hashes[row], ids.GetView(i)});
        verdicts.push_back(verdict);
      }
    }
  }
  OG_ASSIGN_OR_RETURN(const std::vector<std::optional<uint64_t>> old,
                      caches_.keys.FindAddresses(cut->type->table_id, cut->base, keys));
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool put = verdicts[i] == Verdict::kPut;
    if (!old[i].has_value()) {
      cut->inserted += put ? 1 : 0;
      continue;
    }
    cut->deleted_addresses.push_back(*old[i]);
    cut->cascaded_left.Erase(keys[i].hash);
    if (put) {
      ++cut->updated;
    } else {
      ++cut->deleted;
      cut->erased.push_back(keys[i].hash);
    }
  }
  return Status::OK();
}

Status Resolver::ResolveNodes(TypeCut* nodes) {
  HashIds(nodes, true);
  nodes->last.Reserve(static_cast<size_t>(nodes->rows));
  ConstraintState* constraints = nullptr;
  OG_RETURN_NOT_OK(OpenConstraints(nodes, &constraints));
  if (constraints != nullptr) {
    TakeEffectChecked(nodes, constraints);
  } else {
    TakeEffectPlainly(nodes, true);
  }
  OG_RETURN_NOT_OK(FindOldRows(nodes));
  return Cascade(*nodes);
}

/// Delete the committed edges of nodes that had a tombstone in the cut, also where the cut restores
/// them.
Status Resolver::Cascade(const TypeCut& nodes) {
  bool any = false;
  for (const CutBatch& batch : nodes.batches) {
    any = any || batch.tombstones().true_count() > 0;
  }
  if (!any) {
    return Status::OK();
  }
  for (const int index : nodes.catalog->IncidentEdges(*nodes.type)) {
    TypeCut& edges = types_[static_cast<size_t>(index)];
    OG_RETURN_NOT_OK(edges.OpenBase(graph_));
    read_.insert(edges.type->table_id);
    if (edges.base->CountRows() > 0) {
      OG_RETURN_NOT_OK(
          CascadeInto(nodes, nodes.catalog->SourceIndex(*edges.type) == nodes.type_index,
                      nodes.catalog->TargetIndex(*edges.type) == nodes.type_index, &edges));
    }
  }
  return Status::OK();
}

Status Resolver::CascadeInto(const TypeCut& nodes, bool src, bool dst, TypeCut* edges) {
  HashMap128<uint8_t> gone;
  for (const CutBatch& batch : nodes.batches) {
    for (int64_t i = 0; i < batch.rows->num_rows(); ++i) {
      const size_t row = static_cast<size_t>(batch.first + i);
      const bool effective = nodes.verdicts[row] != Verdict::kRejected;
      if (effective && batch.tombstones().Value(i)) {
        gone.Insert(nodes.hashes[row], 1);
      }
    }
  }
  ConstraintState* constraints = nullptr;
  OG_RETURN_NOT_OK(OpenConstraints(edges, &constraints));
  lance::ScanOptions options;
  options.columns = std::vector<std::string>{"id", "src", "dst"};
  options.with_row_address = true;
  options.batch_rows = 64 * 1024;
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatchReader> reader,
                      edges->base->Scan(options));
  while (true) {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> batch, reader->Next());
    if (batch == nullptr) {
      break;
    }
    const auto text = [&batch](int column, int64_t row) {
      return static_cast<const arrow::StringArray&>(*batch->column(column)).GetView(row);
    };
    const auto& addresses = static_cast<const arrow::UInt64Array&>(*batch->column(3));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      if ((src && gone.Find(XxHash128(text(kSrcColumn, i))) != nullptr) ||
          (dst && gone.Find(XxHash128(text(kDstColumn, i))) != nullptr)) {
        const Hash128 id = XxHash128(text(0, i));
        edges->deleted_addresses.push_back(addresses.Value(i));
        if (edges->cascaded_left.Insert(id, 1).second) {
          edges->cascaded_ids.push_back(id);
        }
        if (constraints != nullptr) {
          constraints->Remove(id);
        }
      }
    }
  }
  // A second node type of the same fold goes on from here.
  if (constraints != nullptr) {
    caches_.constraints[edges->type->table_id].version = edges->base->version();
  }
  return Status::OK();
}

Status Resolver::CheckEndpoints(TypeCut* edges) {
  const int source = edges->catalog->SourceIndex(*edges->type);
  const int target = edges->catalog->TargetIndex(*edges->type);
  Endpoints sources;
  Endpoints targets;
  std::vector<std::pair<uint32_t, uint32_t>> ends(static_cast<size_t>(edges->rows));
  for (const CutBatch& batch : edges->batches) {
    const arrow::StringArray& src = batch.endpoint(kSrcColumn);
    const arrow::StringArray& dst = batch.endpoint(kDstColumn);
    const arrow::BooleanArray& tombstones = batch.tombstones();
    const bool none_deleted = tombstones.true_count() == 0;
    for (int64_t i = 0; i < src.length(); ++i) {
      if (none_deleted || !tombstones.Value(i)) {
        ends[static_cast<size_t>(batch.first + i)] = {sources.Add(src.GetView(i)),
                                                      targets.Add(dst.GetView(i))};
      }
    }
  }
  for (const auto& [index, endpoints] :
       {std::pair(source, &sources), std::pair(target, &targets)}) {
    TypeCut& nodes = types_[static_cast<size_t>(index)];
    OG_RETURN_NOT_OK(nodes.OpenBase(graph_));
    read_.insert(nodes.type->table_id);
    OG_RETURN_NOT_OK(endpoints->Resolve(nodes, &caches_.keys));
  }
  for (const CutBatch& batch : edges->batches) {
    const arrow::BooleanArray& tombstones = batch.tombstones();
    for (int64_t i = 0; i < batch.rows->num_rows(); ++i) {
      const int64_t row = batch.first + i;
      if (tombstones.Value(i)) {
        continue;
      }
      const auto [src, dst] = ends[static_cast<size_t>(row)];
      const Endpoints::State from = sources.state(src);
      const Endpoints::State to = targets.state(dst);
      if (from == Endpoints::State::kAbsent || to == Endpoints::State::kAbsent) {
        const bool at_src = from == Endpoints::State::kAbsent;
        edges->RejectRow(
            row, kRejectEndpointMissing,
            fmt::format("`{}` of this `{}` does not exist: no {} \"{}\"", at_src ? "from" : "to",
                        edges->type->name, at_src ? edges->type->source : edges->type->target,
                        at_src ? sources.text(src) : targets.text(dst)));
      } else if (from == Endpoints::State::kDeleted || to == Endpoints::State::kDeleted) {
        edges->verdicts[static_cast<size_t>(row)] = Verdict::kSuperseded;
      }
    }
  }
  return Status::OK();
}

Status Resolver::ResolveEdges(TypeCut* edges) {
  OG_RETURN_NOT_OK(CheckEndpoints(edges));
  ConstraintState* constraints = nullptr;
  OG_RETURN_NOT_OK(OpenConstraints(edges, &constraints));
  if (constraints != nullptr) {
    HashIds(edges, true);
    TakeEffectChecked(edges, constraints);
    return FindOldRows(edges);
  }
  if (!edges->all_minted) {
    HashIds(edges, false);
  }
  TakeEffectPlainly(edges, false);
  SupersedeMinted(edges);
  return FindOldRows(edges);
}

}  // namespace

Status ResolveCut(Graph& graph, std::vector<TypeCut>* types, FoldCaches* caches,
                  std::set<TableId>* read) {
  return Resolver(&graph, types, caches, read).Run();
}

}  // namespace omnigraph::graph
