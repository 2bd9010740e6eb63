#include "shred.h"

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include <algorithm>

#include "logical_type.h"

namespace omnigraph::lance {
namespace {

using arrow::ArrayData;

/// Level slots on the way down. Levels count from the outside here, since the leaves of one struct
/// number them differently: `rep` 0 = new row; `def` = 1 + 2 * depth of the layer that is null, one
/// more where it is an empty list. `index` is the position in the current array (relative to its
/// offset), or -1 for a slot that holds no value below here.
struct Slots {
  std::vector<uint16_t> rep;
  std::vector<uint16_t> def;
  std::vector<int64_t> index;
  int64_t rows = 0;
};

bool IsNull(const ArrayData& array, int64_t index) {
  return array.buffers[0] != nullptr &&
         !arrow::bit_util::GetBit(array.buffers[0]->data(), array.offset + index);
}

class Shredder {
 public:
  explicit Shredder(const std::vector<LeafPath>& paths) : paths_(paths) {}

  /// `depth` counts layers from the outside.
  Status Visit(const std::shared_ptr<ArrayData>& array, size_t depth, Slots slots) {
    const LeafPath& path = paths_[out_.size()];
    const LeafLayer& layer = LayerAt(path, depth);
    const arrow::Type::type id = array->type->id();
    if (id == arrow::Type::STRUCT) {
      OG_RETURN_NOT_OK(MarkNulls(*array, layer, depth, &slots));
      for (const auto& child : array->child_data) {
        // A struct array's offset applies to its children too.
        OG_RETURN_NOT_OK(Visit(child->Slice(array->offset, array->length), depth + 1, slots));
      }
      return Status::OK();
    }
    if (layer.is_list) {
      OG_ASSIGN_OR_RETURN(Slots inner,
                          id == arrow::Type::LARGE_LIST
                              ? Expand<int64_t>(*array, path, depth, std::move(slots))
                              : Expand<int32_t>(*array, path, depth, std::move(slots)));
      return Visit(array->child_data[0], depth + 1, std::move(inner));
    }
    OG_RETURN_NOT_OK(MarkNulls(*array, layer, depth, &slots));
    return FinishLeaf(array, path, std::move(slots));
  }

  std::vector<ShreddedLeaf> Take() { return std::move(out_); }

 private:
  static const LeafLayer& LayerAt(const LeafPath& path, size_t depth) {
    return path.layers[path.layers.size() - 1 - depth];
  }
  static uint16_t NullAt(size_t depth) { return static_cast<uint16_t>(1 + 2 * depth); }
  static uint16_t CanonicalOf(const LeafPath& path, uint16_t def) {
    if (def == 0) {
      return 0;
    }
    const LeafLayer& layer = LayerAt(path, static_cast<size_t>(def - 1) / 2);
    return def % 2 == 1 ? layer.null_level : layer.empty_level;
  }

  static Status NullInRequired() {
    return Invalid("lance.file.null_in_required",
                   "write a nested column: null inside a field that is not nullable");
  }

  static Status MarkNulls(const ArrayData& array, const LeafLayer& layer, size_t depth,
                          Slots* slots) {
    const bool all_null = array.type->id() == arrow::Type::NA;
    if (!all_null && (array.buffers[0] == nullptr || array.GetNullCount() == 0)) {
      return Status::OK();
    }
    for (size_t i = 0; i < slots->index.size(); ++i) {
      if (slots->def[i] == 0 && slots->index[i] >= 0 &&
          (all_null || IsNull(array, slots->index[i]))) {
        if (!layer.nullable) {
          return NullInRequired();
        }
        slots->def[i] = NullAt(depth);
      }
    }
    return Status::OK();
  }

  template <typename Offset>
  static Result<Slots> Expand(const ArrayData& array, const LeafPath& path, size_t depth,
                              Slots in) {
    const LeafLayer& layer = LayerAt(path, depth);
    const Offset* offsets = array.GetValues<Offset>(1);
    const bool has_nulls = array.GetNullCount() > 0;
    Slots out;
    out.rows = in.rows;
    const size_t guess =
        in.index.size() +
        (array.length > 0 ? static_cast<size_t>(offsets[array.length] - offsets[0]) : 0);
    out.rep.reserve(guess);
    out.def.reserve(guess);
    out.index.reserve(guess);
    const auto inner_rep = static_cast<uint16_t>(path.row_level - layer.rep_level + 1);
    for (size_t i = 0; i < in.index.size(); ++i) {
      const int64_t at = in.index[i];
      uint16_t def = in.def[i];
      int64_t begin = 0;
      int64_t end = 0;
      if (def == 0) {
        begin = offsets[at];
        end = offsets[at + 1];
        if (has_nulls && IsNull(array, at)) {
          if (!layer.nullable) {
            return NullInRequired();
          }
          def = NullAt(depth);
          end = begin;
        } else if (begin == end) {
          def = static_cast<uint16_t>(NullAt(depth) + 1);
        }
      }
      out.rep.push_back(in.rep[i]);
      out.def.push_back(def);
      out.index.push_back(begin < end ? begin : -1);
      for (int64_t item = begin + 1; item < end; ++item) {
        out.rep.push_back(inner_rep);
        out.def.push_back(0);
        out.index.push_back(item);
      }
    }
    return out;
  }

  Status FinishLeaf(const std::shared_ptr<ArrayData>& array, const LeafPath& path, Slots slots) {
    ShreddedLeaf leaf;
    leaf.path = &path;
    leaf.rows = slots.rows;
    leaf.slots = static_cast<int64_t>(slots.index.size());
    // Runs of neighbouring values; nearly always one.
    arrow::ArrayVector runs;
    for (size_t i = 0; i < slots.index.size();) {
      const int64_t begin = slots.index[i++];
      if (begin < 0) {
        continue;
      }
      int64_t end = begin + 1;
      while (i < slots.index.size() && (slots.index[i] < 0 || slots.index[i] == end)) {
        end += slots.index[i++] < 0 ? 0 : 1;
      }
      runs.push_back(arrow::MakeArray(array->Slice(begin, end - begin)));
    }
    if (runs.empty()) {
      leaf.values = array->Slice(0, 0);
    } else if (runs.size() == 1) {
      leaf.values = runs[0]->data();
    } else {
      OG_ASSIGN_OR_RETURN(auto joined, arrow::Concatenate(runs));
      leaf.values = joined->data();
    }
    if (path.row_level > 0) {
      leaf.rep = std::move(slots.rep);
      for (uint16_t& rep : leaf.rep) {
        rep = static_cast<uint16_t>(path.row_level - rep);
      }
    }
    if (std::any_of(slots.def.begin(), slots.def.end(), [](uint16_t def) { return def != 0; })) {
      leaf.def = std::move(slots.def);
      for (uint16_t& def : leaf.def) {
        def = CanonicalOf(path, def);
      }
    }
    out_.push_back(std::move(leaf));
    return Status::OK();
  }

  const std::vector<LeafPath>& paths_;
  std::vector<ShreddedLeaf> out_;
};

ShreddedLeaf ShredFlat(const std::shared_ptr<ArrayData>& array, const LeafPath& path) {
  ShreddedLeaf leaf;
  leaf.path = &path;
  leaf.values = array;
  leaf.rows = leaf.slots = array->length;
  if (array->type->id() == arrow::Type::NA) {
    leaf.def.assign(static_cast<size_t>(array->length), 1);
  } else if (array->GetNullCount() > 0) {
    leaf.def.resize(static_cast<size_t>(array->length));
    const uint8_t* valid = array->buffers[0]->data();
    for (int64_t i = 0; i < array->length; ++i) {
      leaf.def[static_cast<size_t>(i)] = !arrow::bit_util::GetBit(valid, array->offset + i);
    }
  }
  return leaf;
}

}  // namespace

Result<std::vector<ShreddedLeaf>> Shred(const std::shared_ptr<ArrayData>& array,
                                        const std::vector<LeafPath>& paths) {
  if (!HasChildFields(*array->type)) {
    std::vector<ShreddedLeaf> out;
    out.push_back(ShredFlat(array, paths[0]));
    return out;
  }
  Slots slots;
  slots.rows = array->length;
  slots.rep.assign(static_cast<size_t>(array->length), 0);
  slots.def.assign(static_cast<size_t>(array->length), 0);
  slots.index.resize(static_cast<size_t>(array->length));
  for (int64_t i = 0; i < array->length; ++i) {
    slots.index[static_cast<size_t>(i)] = i;
  }
  Shredder shredder(paths);
  OG_RETURN_NOT_OK(shredder.Visit(array, 0, std::move(slots)));
  return shredder.Take();
}

}  // namespace omnigraph::lance
