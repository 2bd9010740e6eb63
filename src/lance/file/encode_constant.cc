#include "encode_layouts.h"

namespace omnigraph::lance {

Result<EncodedPage> EncodeConstantNull(const ShreddedLeaf& leaf, const PageLevels& levels) {
  EncodedPage page;
  page.rows = leaf.rows;
  pb::ConstantLayout* layout = page.layout.mutable_constant();
  for (const pb::Layer layer : levels.layers) {
    layout->add_layers(layer);
  }
  // One nullable layer says it all. With more layers the two level buffers tell them apart; they
  // may never be left out below a list, where official readers index them unseen.
  if (levels.layers.size() == 1) {
    return page;
  }
  const int64_t level_bytes = leaf.slots * static_cast<int64_t>(sizeof(uint16_t));
  OG_ASSIGN_OR_RETURN(PageBytes bytes, PageBytes::Allocate(2 * level_bytes + 2 * kBufferAlignment));
  const int64_t rep_bytes = levels.has_rep ? level_bytes : 0;
  bytes.PutBytes(leaf.rep.data(), rep_bytes);
  page.buffers.emplace_back(0, rep_bytes);
  bytes.PadTo(kBufferAlignment, kGapByte);
  page.buffers.emplace_back(bytes.position(), levels.has_def ? level_bytes : 0);
  for (size_t i = 0; levels.has_def && i < leaf.def.size(); ++i) {
    bytes.Put<uint16_t>(levels.of_canonical[leaf.def[i]]);
  }
  page.bytes = bytes.Finish();
  return page;
}

}  // namespace omnigraph::lance
