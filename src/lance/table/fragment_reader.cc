#include "fragment_reader.h"

#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "omnigraph/lance/file/schema.h"

namespace omnigraph::lance {
namespace {

/// Where a leaf is within a fragment.
struct LeafPlace {
  size_t file = 0;
  int32_t column = -1;
};

std::map<int32_t, LeafPlace> LeafPlaces(const Fragment& fragment) {
  std::map<int32_t, LeafPlace> places;
  for (size_t i = 0; i < fragment.files.size(); ++i) {
    const DataFileRef& file = fragment.files[i];
    for (size_t k = 0; k < file.field_ids.size(); ++k) {
      if (file.field_ids[k] >= 0 && file.column_indices[k] >= 0) {
        places[file.field_ids[k]] = {i, file.column_indices[k]};
      }
    }
  }
  return places;
}

/// Columns of one target and the file that holds them; file -1: no file holds any leaf.
struct TargetPlace {
  int64_t file = -1;
  std::vector<int32_t> columns;
};

Result<TargetPlace> PlaceOf(const ColumnTarget& target, const Fragment& fragment,
                            const std::map<int32_t, LeafPlace>& places) {
  TargetPlace result;
  for (const int32_t leaf : target.leaf_ids) {
    const auto at = places.find(leaf);
    if (at == places.end()) {
      result.columns.push_back(-1);
      continue;
    }
    const int64_t file = static_cast<int64_t>(at->second.file);
    if (result.file >= 0 && result.file != file) {
      return Unsupported(
          "fragment.split_column",
          fmt::format("column '{}' of fragment {} lies in several data files", target.field->name(),
                      fragment.id),
          {.object = fragment.files[at->second.file].path, .property = target.field->name()});
    }
    result.file = file;
    result.columns.push_back(at->second.column);
  }
  return result;
}

}  // namespace

Result<std::vector<ColumnTarget>> ResolveColumns(
    const Table& table, const std::optional<std::vector<std::string>>& names) {
  const Schema& schema = *table.lance_schema();
  std::vector<ColumnTarget> targets;
  const auto add = [&](const Field& field) {
    targets.push_back({table.schema()->GetFieldByName(field.name), schema.LeafIds(field.id)});
  };
  if (!names) {
    const std::vector<const Field*> fields = schema.TopLevelFields();
    for (size_t i = 0; i < fields.size(); ++i) {
      targets.push_back(
          {table.schema()->field(static_cast<int>(i)), schema.LeafIds(fields[i]->id)});
    }
    return targets;
  }
  for (const std::string& name : *names) {
    const Field* field = schema.FindField(name);
    if (field == nullptr || table.schema()->GetFieldByName(name) == nullptr) {
      return Invalid("scan.unknown_column",
                     fmt::format("table {} has no column '{}'", table.location().path, name),
                     {.object = table.location().path, .property = name});
    }
    add(*field);
  }
  return targets;
}

Result<FragmentReader> FragmentReader::Make(const Table& table, const Fragment& fragment,
                                            const std::vector<ColumnTarget>& targets) {
  FragmentReader reader;
  reader.targets_ = &targets;
  reader.rows_ = fragment.physical_rows;
  const std::map<int32_t, LeafPlace> places = LeafPlaces(fragment);
  std::map<int64_t, size_t> part_of_file;
  for (size_t i = 0; i < targets.size(); ++i) {
    OG_ASSIGN_OR_RETURN(TargetPlace place, PlaceOf(targets[i], fragment, places));
    if (place.file < 0) {
      continue;
    }
    const auto [at, fresh] = part_of_file.emplace(place.file, reader.parts_.size());
    if (fresh) {
      const DataFileRef& file = fragment.files[static_cast<size_t>(place.file)];
      Part part;
      OG_ASSIGN_OR_RETURN(part.file, table.OpenDataFile(file));
      if (static_cast<uint64_t>(part.file->rows()) != fragment.physical_rows) {
        return Corruption("fragment.row_count",
                          fmt::format("data file {} has {} rows; fragment {} of {} has {}",
                                      file.path, part.file->rows(), fragment.id,
                                      table.location().path, fragment.physical_rows),
                          part.file->path());
      }
      reader.parts_.push_back(std::move(part));
    }
    Part& part = reader.parts_[at->second];
    part.requests.push_back({targets[i].field, std::move(place.columns)});
    part.positions.push_back(i);
  }
  return reader;
}

template <typename ReadPart>
Result<arrow::ArrayVector> FragmentReader::Read(int64_t rows, const ReadPart& read) const {
  arrow::ArrayVector arrays(targets_->size());
  for (const Part& part : parts_) {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> batch, read(part));
    OG_CHECK(batch->num_columns() == static_cast<int>(part.positions.size()));
    for (size_t i = 0; i < part.positions.size(); ++i) {
      arrays[part.positions[i]] = batch->column(static_cast<int>(i));
    }
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i] == nullptr) {
      OG_ASSIGN_OR_RETURN(arrays[i], arrow::MakeArrayOfNull((*targets_)[i].field->type(), rows));
    }
  }
  return arrays;
}

Result<arrow::ArrayVector> FragmentReader::ReadRange(int64_t offset, int64_t count) const {
  return Read(count,
              [&](const Part& part) { return part.file->ReadRange(part.requests, offset, count); });
}

Result<arrow::ArrayVector> FragmentReader::Take(std::span<const uint64_t> offsets) const {
  return Read(static_cast<int64_t>(offsets.size()),
              [&](const Part& part) { return part.file->Take(part.requests, offsets); });
}

uint64_t FragmentReader::bytes_per_row() const {
  uint64_t bytes = 0;
  for (const Part& part : parts_) {
    bytes += part.file->size();
  }
  return bytes / std::max<uint64_t>(rows_, 1);
}

}  // namespace omnigraph::lance
