// Segments for the rows of a change and for rows that no segment covers yet.

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "btree_format.h"
#include "btree_segment.h"
#include "key_collector.h"
#include "key_column.h"
#include "merge_plan.h"
#include "omnigraph/lance/index/btree.h"
#include "segment_merge.h"
#include "segment_writer.h"

namespace omnigraph::lance {
namespace {

/// What a row takes in a segment besides its key: row id, end of the key, Bloom filter.
constexpr uint64_t kBytesBesideKey = 14;
/// Mean size of a row before its key is known.
constexpr uint64_t kBytesPerRowGuess = 48;

/// One fragment to cover.
struct Target {
  uint32_t fragment_id = 0;
  uint64_t rows = 0;
  const std::vector<DataFileRef>* files = nullptr;
  /// Of an added fragment: its first row id, and the number of its first row among the keys given.
  bool added = false;
  uint64_t first_row_id = 0;
  uint64_t first_key = 0;
};

/// Works out what a change needs, and adds it. Used once.
class Planner {
 public:
  Planner(const Table& base, const BTreeOptions& options, KeyColumn column, Change* change)
      : base_(base), options_(options), column_(std::move(column)), change_(*change) {
    addresses_ = std::ranges::any_of(base.manifest().indices, [&](const IndexMetadata& index) {
      return IsBTreeOn(index, column_.field_id) && HoldsAddresses(index);
    });
  }

  /// Cover added fragments, and older ones once there are enough of them.
  Status CoverAdded(const arrow::ArrayVector& keys) {
    FindAdded();
    OG_RETURN_NOT_OK(CheckKeys(keys));
    FindUncovered();
    if (!IsDue() || IsDone()) {
      return Status::OK();
    }
    // Leave most of a long backlog to CoverRows: a commit does not wait for it.
    const uint64_t rows_max = RowsPerSegment();
    uint64_t rows = 0;
    std::erase_if(uncovered_, [&](const Target& target) {
      rows += target.rows;
      return rows > rows_max;
    });
    std::vector<Target> targets = std::move(uncovered_);
    targets.insert(targets.end(), added_.begin(), added_.end());
    return CoverAll(targets, keys);
  }

  /// Cover what the base has uncovered, and merge.
  Status CoverBase() {
    FindUncovered();
    if (!uncovered_.empty()) {
      return CoverAll(uncovered_, {});
    }
    const std::vector<const IndexMetadata*> own = OwnSegments();
    const std::vector<size_t> due =
        PlanMerge(SizesOf(own), options_.merge_fan, options_.segment_bytes_max);
    std::vector<const IndexMetadata*> merged;
    for (const size_t number : due) {
      merged.push_back(own[number]);
    }
    return merged.empty() ? Status::OK() : Write(KeyCollector(), {}, merged);
  }

 private:
  /// The numbers that a commit on the base gives to the added fragments and their rows.
  void FindAdded() {
    uint64_t fragment_id = base_.manifest().next_fragment_id();
    uint64_t row_id = std::max(base_.manifest().next_row_id, change_.next_row_id_floor);
    for (const NewFragment& fragment : change_.added) {
      const uint64_t kept = fragment.kept ? fragment.kept->row_ids.rows() : 0;
      if (!fragment.kept && fragment_id <= UINT32_MAX) {
        added_.push_back({.fragment_id = static_cast<uint32_t>(fragment_id),
                          .rows = fragment.rows,
                          .files = &fragment.files,
                          .added = true,
                          .first_row_id = HoldsIds() ? row_id : MakeRowAddress(fragment_id, 0),
                          .first_key = added_rows_});
        added_rows_ += fragment.rows;
      }
      ++fragment_id;
      row_id += fragment.rows - kept;
    }
  }

  /// Whether what a segment holds differs from addresses.
  bool HoldsIds() const { return base_.stable_row_ids() && !addresses_; }

  Status CheckKeys(const arrow::ArrayVector& keys) const {
    uint64_t rows = 0;
    for (const auto& array : keys) {
      if (array->type_id() != arrow::Type::STRING) {
        return Invalid("index.keys", "index added rows: the keys are " + array->type()->ToString() +
                                         ", needs utf8");
      }
      rows += static_cast<uint64_t>(array->length());
    }
    if (!keys.empty() && rows != added_rows_) {
      return Invalid("index.keys", fmt::format("index added rows of {}: {} keys for {} rows",
                                               base_.location().path, rows, added_rows_));
    }
    return Status::OK();
  }

  bool Removed(uint64_t fragment_id) const {
    return std::ranges::binary_search(change_.removed_fragments, fragment_id) ||
           change_.effective_kind() == ChangeKind::kOverwrite;
  }

  void FindUncovered() {
    for (const Fragment& fragment : base_.manifest().fragments) {
      const bool covered =
          std::ranges::any_of(base_.manifest().indices, [&](const IndexMetadata& index) {
            return IsBTreeOn(index, column_.field_id) && Covers(index, fragment.id);
          });
      if (!covered && !Removed(fragment.id) && LivesOn(fragment)) {
        uncovered_.push_back({.fragment_id = static_cast<uint32_t>(fragment.id),
                              .rows = fragment.physical_rows,
                              .files = &fragment.files});
      }
    }
  }

  static bool Covers(const IndexMetadata& index, uint64_t fragment_id) {
    return std::ranges::binary_search(index.fragment_ids, fragment_id);
  }

  bool IsDue() const {
    uint64_t rows = added_rows_;
    for (const Target& target : uncovered_) {
      rows += target.rows;
    }
    return !added_.empty() &&
           (rows >= options_.uncovered_rows_max ||
            uncovered_.size() + added_.size() >= options_.uncovered_fragments_max);
  }

  /// Whether an earlier call did it, and no rebase has undone it.
  bool IsDone() const {
    return std::ranges::any_of(change_.new_indices, [&](const IndexMetadata& index) {
      return IsBTreeOn(index, column_.field_id) && Covers(index, added_.front().fragment_id);
    });
  }

  uint64_t RowsPerSegment() const {
    return std::max<uint64_t>(1, options_.segment_bytes_max / kBytesPerRowGuess);
  }

  /// Deleted rows of this change in one fragment: part of its sorted list.
  std::span<const uint64_t> DeletedIn(uint64_t fragment_id) const {
    const auto& all = change_.deleted_addresses;
    const auto begin = std::ranges::lower_bound(all, MakeRowAddress(fragment_id, 0));
    const auto end = std::lower_bound(begin, all.end(), MakeRowAddress(fragment_id + 1, 0));
    return {begin, end};
  }

  /// Whether the fragment is still there after the change.
  bool LivesOn(const Fragment& fragment) const {
    return fragment.live_rows() > DeletedIn(fragment.id).size();
  }

  /// One segment for as many fragments as it may hold, and so on; the last one takes part in
  /// merging.
  Status CoverAll(const std::vector<Target>& targets, const arrow::ArrayVector& keys) {
    std::vector<const IndexMetadata*> merged;
    for (size_t begin = 0; begin < targets.size();) {
      KeyCollector rows;
      std::vector<uint32_t> fragments;
      size_t end = begin;
      while (end < targets.size() &&
             (end == begin ||
              static_cast<uint64_t>(rows.rows()) + targets[end].rows <= RowsPerSegment())) {
        OG_RETURN_NOT_OK(Collect(targets[end], keys, &rows));
        fragments.push_back(targets[end].fragment_id);
        ++end;
      }
      if (end == targets.size()) {
        merged = PlanWith(rows);
      }
      OG_RETURN_NOT_OK(Write(std::move(rows), std::move(fragments), merged));
      begin = end;
    }
    return Status::OK();
  }

  Status Collect(const Target& target, const arrow::ArrayVector& keys, KeyCollector* rows) {
    if (target.added && !keys.empty()) {
      return CollectGiven(target, keys, rows);
    }
    if (target.added) {
      return VisitKeys(base_, *target.files, target.rows, column_,
                       [&](std::shared_ptr<arrow::StringArray> batch, uint64_t first) {
                         rows->Add(std::move(batch), target.first_row_id + first);
                         return Status::OK();
                       });
    }
    return CollectOld(target, rows);
  }

  static Status CollectGiven(const Target& target, const arrow::ArrayVector& keys,
                             KeyCollector* rows) {
    uint64_t skipped = 0;  // rows before this array
    for (const auto& array : keys) {
      const auto length = static_cast<uint64_t>(array->length());
      const uint64_t begin = std::max(skipped, target.first_key);
      const uint64_t end = std::min(skipped + length, target.first_key + target.rows);
      if (begin < end) {
        rows->Add(std::static_pointer_cast<arrow::StringArray>(array->Slice(
                      static_cast<int64_t>(begin - skipped), static_cast<int64_t>(end - begin))),
                  target.first_row_id + begin - target.first_key);
      }
      skipped += length;
    }
    return Status::OK();
  }

  /// Rows of a fragment of the base; dead ones are indexed too, readers mask them.
  Status CollectOld(const Target& target, KeyCollector* rows) {
    RowIdSequence row_ids =
        RowIdSequence::Range(MakeRowAddress(target.fragment_id, 0), target.rows);
    if (HoldsIds()) {
      OG_ASSIGN_OR_RETURN(RowLineage lineage, base_.Lineage(target.fragment_id));
      row_ids = std::move(lineage.row_ids);
    }
    if (row_ids.rows() != target.rows) {
      return Corruption(
          "row_ids.count",
          fmt::format("fragment {} of {} has {} rows and {} row ids", target.fragment_id,
                      base_.location().path, target.rows, row_ids.rows()),
          base_.stored().object);
    }
    return VisitKeys(base_, *target.files, target.rows, column_,
                     [&](std::shared_ptr<arrow::StringArray> batch, uint64_t first) {
                       const int64_t count = batch->length();
                       std::vector<uint64_t> ids;
                       row_ids.AppendTo(first, first + static_cast<uint64_t>(count), &ids);
                       rows->Add(std::move(batch),
                                 std::make_shared<arrow::UInt64Array>(
                                     count, arrow::Buffer::FromVector(std::move(ids))));
                       return Status::OK();
                     });
  }

  /// Segments that may be merged: ours by form, and not taken out by the change.
  std::vector<const IndexMetadata*> OwnSegments() const {
    std::vector<const IndexMetadata*> own;
    const bool moves =
        !change_.removed_fragments.empty() || change_.effective_kind() == ChangeKind::kOverwrite;
    for (const IndexMetadata& index : base_.manifest().indices) {
      if (!moves && HoldsAddresses(index) == addresses_ && IsBTreeOn(index, column_.field_id) &&
          !index.files.empty() &&
          std::ranges::find(change_.removed_indices, index.uuid) == change_.removed_indices.end()) {
        own.push_back(&index);
      }
    }
    return own;
  }

  static std::vector<uint64_t> SizesOf(const std::vector<const IndexMetadata*>& segments) {
    std::vector<uint64_t> sizes;
    for (const IndexMetadata* segment : segments) {
      uint64_t bytes = 0;
      for (const IndexFileRef& file : segment->files) {
        bytes += file.size_bytes;
      }
      sizes.push_back(bytes);
    }
    return sizes;
  }

  /// The old segments that the new rows complete a tier with.
  std::vector<const IndexMetadata*> PlanWith(const KeyCollector& rows) const {
    const std::vector<const IndexMetadata*> own = OwnSegments();
    std::vector<uint64_t> sizes = SizesOf(own);
    sizes.push_back(static_cast<uint64_t>(rows.key_bytes()) +
                    static_cast<uint64_t>(rows.rows()) * kBytesBesideKey);
    const std::vector<size_t> due =
        PlanMerge(sizes, options_.merge_fan, options_.segment_bytes_max);
    std::vector<const IndexMetadata*> merged;
    if (!due.empty() && due.back() == own.size()) {
      for (const size_t number : due) {
        if (number < own.size()) {
          merged.push_back(own[number]);
        }
      }
    }
    return merged;
  }

  /// Put a segment of these rows and of the live rows of old segments, which it replaces.
  Status Write(KeyCollector rows, std::vector<uint32_t> fragments,
               const std::vector<const IndexMetadata*>& merged) {
    std::vector<std::shared_ptr<const BTreeSegment>> segments;
    std::vector<const IndexMetadata*> replaced;
    for (const IndexMetadata* index : merged) {
      auto segment = BTreeSegment::Open(base_.location(), *index);
      if (!segment.ok() && (IsNotFound(segment.status()) || IsUnsupported(segment.status()))) {
        continue;  // left as it is: its rows are found by scanning
      }
      OG_RETURN_NOT_OK(segment.status());
      segments.push_back(*std::move(segment));
      replaced.push_back(index);
      change_.removed_indices.push_back(index->uuid);
      for (const uint32_t id : index->fragment_ids) {
        const Fragment* fragment = base_.manifest().FindFragment(id);
        if (fragment != nullptr && LivesOn(*fragment)) {
          fragments.push_back(id);
        }
      }
    }
    std::ranges::sort(fragments);
    const auto repeats = std::ranges::unique(fragments);
    fragments.erase(repeats.begin(), repeats.end());
    OG_ASSIGN_OR_RETURN(const KeyRows sorted, rows.Sort());
    OG_ASSIGN_OR_RETURN(const auto writer, SegmentWriter::Make(options_.page_rows));
    if (segments.empty()) {
      OG_RETURN_NOT_OK(writer->Write(sorted));
    } else {
      OG_RETURN_NOT_OK(MergeInto(
          sorted, segments,
          [&](size_t number, std::span<const uint64_t> ids) {
            return LiveAfter(*replaced[number], ids);
          },
          writer.get()));
    }
    if (writer->rows() == 0 && fragments.empty()) {
      return Status::OK();
    }
    OG_ASSIGN_OR_RETURN(IndexMetadata index,
                        writer->Finish(base_.location(), CoverageOf(std::move(fragments))));
    change_.new_indices.push_back(std::move(index));
    return Status::OK();
  }

  BTreeCoverage CoverageOf(std::vector<uint32_t> fragments) const {
    // The number of a detached version says nothing about age; version 1 is always older.
    return {.column = options_.column,
            .field_id = column_.field_id,
            .dataset_version = IsDetachedVersion(base_.version()) ? 1 : base_.version(),
            .fragment_ids = std::move(fragments),
            .addresses = addresses_};
  }

  /// Whether rows of a segment are there after the change, in a fragment that it stands for.
  Result<std::vector<bool>> LiveAfter(const IndexMetadata& index,
                                      std::span<const uint64_t> ids) const {
    OG_ASSIGN_OR_RETURN(const auto addresses, LiveAddresses(base_, index, ids));
    std::vector<bool> live(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      live[i] =
          addresses[i] && !std::ranges::binary_search(change_.deleted_addresses, *addresses[i]);
    }
    return live;
  }

  const Table& base_;
  const BTreeOptions& options_;
  const KeyColumn column_;
  Change& change_;
  /// What the segments of this index hold: official readers refuse a mixture.
  bool addresses_ = false;
  std::vector<Target> added_;
  std::vector<Target> uncovered_;
  uint64_t added_rows_ = 0;
};

Result<KeyColumn> IndexableColumn(const Table& table, const std::string& name) {
  OG_ASSIGN_OR_RETURN(KeyColumn column, FindKeyColumn(table, name));
  if (column.field->nullable()) {
    return Invalid("index.column",
                   fmt::format("index column '{}' of {}: it is nullable, keys are not", name,
                               table.location().path),
                   {.object = table.location().path, .property = name});
  }
  return column;
}

}  // namespace

Status AddBTreeSegment(const Table& base, const std::vector<std::shared_ptr<arrow::Array>>& keys,
                       Change* change, const BTreeOptions& options) {
  OG_ASSIGN_OR_RETURN(KeyColumn column, IndexableColumn(base, options.column));
  if (change->effective_kind() == ChangeKind::kRestore || change->schema != nullptr) {
    return Status::OK();
  }
  return Planner(base, options, std::move(column), change).CoverAdded(keys);
}

Result<Change> CoverRows(const Table& table, const BTreeOptions& options) {
  OG_ASSIGN_OR_RETURN(KeyColumn column, IndexableColumn(table, options.column));
  Change change;
  OG_RETURN_NOT_OK(Planner(table, options, std::move(column), &change).CoverBase());
  return change;
}

}  // namespace omnigraph::lance
