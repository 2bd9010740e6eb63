#include "assemble.h"

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/util/bit_util.h>

#include <limits>

#include "logical_type.h"
#include "omnigraph/lance/file/schema.h"

namespace omnigraph::lance {
namespace {

using arrow::ArrayData;

/// The slots that are entries of one layer, as one leaf sees them.
struct Entries {
  bool all = false;  ///< every slot
  std::vector<uint32_t> slots;
};

struct Nulls {
  std::shared_ptr<arrow::Buffer> bits;
  int64_t count = 0;
};

/// Validity of `length` things from their definition levels: valid below `null_level`.
template <typename DefOf>
Result<Nulls> NullsOf(int64_t length, uint16_t null_level, const DefOf& def_of) {
  Nulls out;
  for (int64_t i = 0; i < length; ++i) {
    out.count += def_of(i) >= null_level;
  }
  if (out.count == 0) {
    return out;
  }
  OG_ASSIGN_OR_RETURN(out.bits, arrow::AllocateEmptyBitmap(length));
  uint8_t* bits = out.bits->mutable_data();
  for (int64_t i = 0; i < length; ++i) {
    if (def_of(i) < null_level) {
      arrow::bit_util::SetBit(bits, i);
    }
  }
  return out;
}

class Assembler {
 public:
  Assembler(const std::vector<std::unique_ptr<LeafSink>>& leaves, const ReadContext& context)
      : leaves_(leaves), context_(context), entries_(leaves.size()) {}

  Status Start(int64_t rows) {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const LeafSink* leaf = leaves_[i].get();
      if (leaf == nullptr) {
        continue;
      }
      if (leaf->path().row_level == 0) {
        entries_[i].all = true;
      } else {
        for (size_t slot = 0; slot < leaf->rep().size(); ++slot) {
          if (leaf->rep()[slot] == leaf->path().row_level) {
            entries_[i].slots.push_back(static_cast<uint32_t>(slot));
          }
        }
      }
      if (Length(i) != rows) {
        return context_.Corrupt("levels", "a column has another number of rows than asked for");
      }
    }
    return Status::OK();
  }

  /// `first` is the first leaf below `field`.
  Result<std::shared_ptr<ArrayData>> Build(const arrow::Field& field, size_t depth, size_t first,
                                           int64_t length) {
    const auto count = static_cast<size_t>(CountLeaves(*field.type()));
    size_t guide = first;
    while (guide < first + count && leaves_[guide] == nullptr) {
      ++guide;
    }
    if (guide == first + count) {
      OG_ASSIGN_OR_RETURN(auto nulls, arrow::MakeArrayOfNull(field.type(), length));
      return nulls->data();
    }
    if (field.type()->id() == arrow::Type::STRUCT) {
      return BuildStruct(field, depth, first, guide, length);
    }
    if (!HasChildFields(*field.type())) {
      return BuildLeaf(first, length);
    }
    return field.type()->id() == arrow::Type::LARGE_LIST
               ? BuildList<int64_t>(field, depth, first, count, guide, length)
               : BuildList<int32_t>(field, depth, first, count, guide, length);
  }

 private:
  int64_t Length(size_t leaf) const {
    return entries_[leaf].all ? leaves_[leaf]->slots()
                              : static_cast<int64_t>(entries_[leaf].slots.size());
  }

  uint8_t DefOf(size_t leaf, int64_t entry) const {
    const auto& def = leaves_[leaf]->def();
    if (def.empty()) {
      return 0;
    }
    return def[entries_[leaf].all ? static_cast<size_t>(entry)
                                  : entries_[leaf].slots[static_cast<size_t>(entry)]];
  }

  const LeafLayer& LayerAt(size_t leaf, size_t depth) const {
    const auto& layers = leaves_[leaf]->path().layers;
    return layers[layers.size() - 1 - depth];
  }

  Result<Nulls> NullsAt(size_t leaf, size_t depth, int64_t length) const {
    if (leaves_[leaf]->def().empty()) {
      return Nulls{};
    }
    const uint16_t null_level = LayerAt(leaf, depth).null_level;
    // An empty list is no null, though its number is above the null's.
    const uint16_t empty_level = LayerAt(leaf, depth).empty_level;
    return NullsOf(length, null_level, [&](int64_t i) -> uint8_t {
      const uint8_t def = DefOf(leaf, i);
      return empty_level != 0 && def == empty_level ? 0 : def;
    });
  }

  Result<std::shared_ptr<ArrayData>> BuildStruct(const arrow::Field& field, size_t depth,
                                                 size_t first, size_t guide, int64_t length) {
    OG_ASSIGN_OR_RETURN(Nulls nulls, NullsAt(guide, depth, length));
    std::vector<std::shared_ptr<ArrayData>> children;
    for (const auto& child : field.type()->fields()) {
      OG_ASSIGN_OR_RETURN(auto built, Build(*child, depth + 1, first, length));
      children.push_back(std::move(built));
      first += static_cast<size_t>(CountLeaves(*child->type()));
    }
    return ArrayData::Make(field.type(), length, {std::move(nulls.bits)}, std::move(children),
                           nulls.count);
  }

  /// Children of the entries of a list layer, as one leaf sees them; `lengths` (if not null) gets
  /// their number per entry.
  Entries ChildrenOf(size_t leaf, size_t depth, std::vector<int64_t>* lengths) const {
    const LeafSink& sink = *leaves_[leaf];
    const LeafLayer& layer = LayerAt(leaf, depth);
    const std::vector<uint32_t>& parents = entries_[leaf].slots;
    Entries out;
    size_t next = 0;
    bool open = false;
    for (size_t slot = 0; slot < sink.rep().size(); ++slot) {
      const uint8_t def = sink.def().empty() ? 0 : sink.def()[slot];
      if (next < parents.size() && parents[next] == slot) {
        ++next;
        open = def < layer.null_level;
      }
      if (open && def < layer.null_level && sink.rep()[slot] + 1 >= layer.rep_level) {
        out.slots.push_back(static_cast<uint32_t>(slot));
        if (lengths != nullptr) {
          ++(*lengths)[next - 1];
        }
      }
    }
    return out;
  }

  template <typename Offset>
  Result<std::shared_ptr<ArrayData>> BuildList(const arrow::Field& field, size_t depth,
                                               size_t first, size_t count, size_t guide,
                                               int64_t length) {
    OG_ASSIGN_OR_RETURN(Nulls nulls, NullsAt(guide, depth, length));
    std::vector<int64_t> lengths(static_cast<size_t>(length), 0);
    const Entries guide_children = ChildrenOf(guide, depth, &lengths);
    const auto items = static_cast<int64_t>(guide_children.slots.size());
    if (items > std::numeric_limits<Offset>::max()) {
      return Exhausted("lance.file.too_large", "read a list column: too many items in one batch");
    }
    OG_ASSIGN_OR_RETURN(auto offsets,
                        arrow::AllocateBuffer((length + 1) * static_cast<int64_t>(sizeof(Offset))));
    auto* to = reinterpret_cast<Offset*>(offsets->mutable_data());
    to[0] = 0;
    for (int64_t i = 0; i < length; ++i) {
      to[i + 1] = static_cast<Offset>(to[i] + lengths[static_cast<size_t>(i)]);
    }
    for (size_t leaf = first; leaf < first + count; ++leaf) {
      if (leaves_[leaf] == nullptr) {
        continue;
      }
      entries_[leaf] = leaf == guide ? guide_children : ChildrenOf(leaf, depth, nullptr);
      if (static_cast<int64_t>(entries_[leaf].slots.size()) != items) {
        return context_.Corrupt("levels", "columns of one list disagree on its items");
      }
    }
    OG_ASSIGN_OR_RETURN(auto child, Build(*field.type()->field(0), depth + 1, first, items));
    return ArrayData::Make(
        field.type(), length,
        {std::move(nulls.bits), std::shared_ptr<arrow::Buffer>(std::move(offsets))},
        {std::move(child)}, nulls.count);
  }

  Result<std::shared_ptr<ArrayData>> BuildLeaf(size_t leaf, int64_t length) {
    LeafSink& sink = *leaves_[leaf];
    if (Length(leaf) != length || sink.values() != length) {
      return context_.Corrupt("levels", "a column has " + std::to_string(sink.values()) +
                                            " values for " + std::to_string(length) + " entries");
    }
    Nulls nulls;
    if (!sink.def().empty()) {
      OG_ASSIGN_OR_RETURN(nulls,
                          NullsOf(length, 1, [&](int64_t i) -> uint8_t { return DefOf(leaf, i); }));
    }
    return sink.Finish(std::move(nulls.bits), nulls.count);
  }

  const std::vector<std::unique_ptr<LeafSink>>& leaves_;
  const ReadContext& context_;
  std::vector<Entries> entries_;
};

}  // namespace

Result<std::shared_ptr<ArrayData>> Assemble(const arrow::Field& field, int64_t rows,
                                            const std::vector<std::unique_ptr<LeafSink>>& leaves,
                                            const ReadContext& context) {
  Assembler assembler(leaves, context);
  OG_RETURN_NOT_OK(assembler.Start(rows));
  return assembler.Build(field, 0, 0, rows);
}

}  // namespace omnigraph::lance
