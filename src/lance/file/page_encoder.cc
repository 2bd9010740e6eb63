#include "page_encoder.h"

#include <algorithm>

#include "encode_layouts.h"

namespace omnigraph::lance {
namespace {

/// True if some slot holds a value that is not null.
bool HasValue(const ShreddedLeaf& leaf) {
  if (leaf.def.empty()) {
    return leaf.values->length > 0;
  }
  return std::any_of(leaf.def.begin(), leaf.def.end(), [](uint16_t def) { return def == 0; });
}

template <typename Offset>
int64_t LongestValue(const VariableValues& values, int64_t count) {
  const auto* offsets = static_cast<const Offset*>(values.offsets);
  Offset longest = 0;
  for (int64_t i = 0; i < count; ++i) {
    longest = std::max<Offset>(longest, offsets[i + 1] - offsets[i]);
  }
  return longest;
}

}  // namespace

Result<EncodedPage> EncodePage(const ShreddedLeaf& leaf, int chunk_log_max) {
  const PageLevels levels = NumberLevels(leaf);
  const LeafForm& form = leaf.path->form;
  if (!HasValue(leaf) || form.kind == LeafForm::Kind::kNull) {
    return EncodeConstantNull(leaf, levels);
  }
  if (form.kind == LeafForm::Kind::kFixed) {
    OG_ASSIGN_OR_RETURN(const FixedValues values, CollectFixed(leaf));
    // Bits cannot be zipped; such lists stay in chunks whatever their length.
    return form.value_bits() / 8 < kFullZipMinBytes || form.item_bits % 8 != 0
               ? EncodeMiniBlockFixed(leaf, levels, values, chunk_log_max)
               : EncodeFullZipFixed(leaf, levels, values);
  }
  OG_ASSIGN_OR_RETURN(const VariableValues values, CollectVariable(leaf));
  const int64_t longest = form.offset_bits == 32
                              ? LongestValue<int32_t>(values, leaf.values->length)
                              : LongestValue<int64_t>(values, leaf.values->length);
  return longest < kFullZipMinBytes ? EncodeMiniBlockVariable(leaf, levels, values, chunk_log_max)
                                    : EncodeFullZipVariable(leaf, levels, values);
}

}  // namespace omnigraph::lance
