#include "leaf_path.h"

#include <algorithm>

#include "logical_type.h"

namespace omnigraph::lance {
namespace {

Result<LeafForm> FormOf(const arrow::DataType& type) {
  LeafForm form;
  switch (type.id()) {
    case arrow::Type::NA:
      return form;
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      form.kind = LeafForm::Kind::kVariable;
      form.offset_bits =
          type.id() == arrow::Type::STRING || type.id() == arrow::Type::BINARY ? 32 : 64;
      return form;
    case arrow::Type::FIXED_SIZE_LIST: {
      const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
      OG_ASSIGN_OR_RETURN(form, FormOf(*list.value_type()));
      form.dims.insert(form.dims.begin(), list.list_size());
      if (FixedBits(type) && form.dims.size() <= kTypeDepthMax) {
        return form;
      }
      break;
    }
    default:
      if (const std::optional<int64_t> bits = FixedBits(type)) {
        form.kind = LeafForm::Kind::kFixed;
        form.item_bits = *bits;
        return form;
      }
      break;
  }
  return Unsupported("lance.schema.type", "a column of type " + type.ToString());
}

/// `outer` is outermost first on the way down.
Status Collect(const arrow::Field& field, std::vector<LeafLayer>* outer,
               std::vector<LeafPath>* paths) {
  const arrow::DataType& type = *field.type();
  LeafLayer layer;
  layer.nullable = field.nullable();
  layer.is_list = HasChildFields(type) && type.id() != arrow::Type::STRUCT;
  outer->push_back(layer);
  if (layer.is_list) {
    OG_RETURN_NOT_OK(Collect(*type.field(0), outer, paths));
  } else if (HasChildFields(type)) {
    for (const auto& child : type.fields()) {
      OG_RETURN_NOT_OK(Collect(*child, outer, paths));
    }
  } else {
    LeafPath path;
    OG_ASSIGN_OR_RETURN(path.form, FormOf(type));
    path.type = field.type();
    path.layers.assign(outer->rbegin(), outer->rend());
    for (LeafLayer& each : path.layers) {
      each.null_level = ++path.max_level;
      if (each.is_list) {
        each.empty_level = ++path.max_level;
        each.rep_level = ++path.row_level;
        path.special_level = std::min(path.special_level, each.null_level);
      }
    }
    paths->push_back(std::move(path));
  }
  outer->pop_back();
  return Status::OK();
}

}  // namespace

int64_t LeafForm::items_per_value() const {
  int64_t items = 1;
  for (const int32_t dim : dims) {
    items *= dim;
  }
  return items;
}

Result<std::vector<LeafPath>> LeafPathsOf(const arrow::Field& field) {
  std::vector<LeafPath> paths;
  std::vector<LeafLayer> outer;
  OG_RETURN_NOT_OK(Collect(field, &outer, &paths));
  return paths;
}

}  // namespace omnigraph::lance
