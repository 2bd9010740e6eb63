#include "page_decoder.h"

#include <algorithm>

#include "omnigraph/base/bytes.h"

namespace omnigraph::lance {

Result<std::unique_ptr<PageDecoder>> PageDecoder::Make(const PageInfo& page, const LeafPath& path,
                                                       std::vector<RowRange> ranges,
                                                       const ReadContext& context) {
  switch (page.layout.layout_case()) {
    case pb::PageLayout::kMiniBlock:
      return MakeMiniBlockDecoder(page, path, std::move(ranges), context);
    case pb::PageLayout::kFullZip:
      return MakeFullZipDecoder(page, path, std::move(ranges), context);
    case pb::PageLayout::kConstant:
      return MakeConstantDecoder(page, path, std::move(ranges), context);
    default:
      return context.NotBuilt("a page layout of another kind");
  }
}

Result<std::vector<uint8_t>> CanonicalLevels(const google::protobuf::RepeatedField<int>& layers,
                                             const LeafPath& path, const ReadContext& context) {
  std::vector<uint8_t> levels = {0};
  if (layers.size() != static_cast<int>(path.layers.size())) {
    return context.Corrupt("page", "a page has " + std::to_string(layers.size()) +
                                       " layers, the column's type has " +
                                       std::to_string(path.layers.size()));
  }
  for (int i = 0; i < layers.size(); ++i) {
    const LeafLayer& layer = path.layers[static_cast<size_t>(i)];
    const auto null_level = static_cast<uint8_t>(layer.null_level);
    const auto empty_level = static_cast<uint8_t>(layer.empty_level);
    bool list = true;
    switch (layers.Get(i)) {
      case pb::LAYER_ALL_VALID_ITEM:
        list = false;
        break;
      case pb::LAYER_NULLABLE_ITEM:
        list = false;
        levels.push_back(null_level);
        break;
      case pb::LAYER_ALL_VALID_LIST:
        break;
      case pb::LAYER_NULLABLE_LIST:
        levels.push_back(null_level);
        break;
      case pb::LAYER_EMPTYABLE_LIST:
        levels.push_back(empty_level);
        break;
      case pb::LAYER_NULL_AND_EMPTY_LIST:
        levels.push_back(null_level);
        levels.push_back(empty_level);
        break;
      default:
        return context.NotBuilt("a layer of kind " + std::to_string(layers.Get(i)));
    }
    if (list != layer.is_list) {
      return context.Corrupt("page", "lists of a page are not where the column's type has them");
    }
  }
  return levels;
}

Status MapDefLevels(const uint8_t* levels, int64_t count, const std::vector<uint8_t>& canonical,
                    const ReadContext& context, std::vector<uint8_t>* out) {
  out->resize(static_cast<size_t>(count));
  uint16_t highest = 0;
  for (int64_t i = 0; i < count; ++i) {
    highest = std::max(highest, LoadLittle<uint16_t>(levels + 2 * i));
  }
  if (highest >= canonical.size()) {
    return context.Corrupt("levels", "definition level " + std::to_string(highest) +
                                         " in a page of " + std::to_string(canonical.size()));
  }
  for (int64_t i = 0; i < count; ++i) {
    (*out)[static_cast<size_t>(i)] = canonical[LoadLittle<uint16_t>(levels + 2 * i)];
  }
  return Status::OK();
}

Status MapRepLevels(const uint8_t* levels, int64_t count, const LeafPath& path,
                    const ReadContext& context, std::vector<uint8_t>* out) {
  out->resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const auto level = LoadLittle<uint16_t>(levels + 2 * i);
    if (level > path.row_level) {
      return context.Corrupt("levels", "repetition level " + std::to_string(level) +
                                           " in a column of " + std::to_string(path.row_level));
    }
    (*out)[static_cast<size_t>(i)] = static_cast<uint8_t>(level);
  }
  return Status::OK();
}

}  // namespace omnigraph::lance
