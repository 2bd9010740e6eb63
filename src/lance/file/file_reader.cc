#include "omnigraph/lance/file/file_reader.h"

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>

#include <algorithm>

#include "assemble.h"
#include "container.h"
#include "leaf_path.h"
#include "page_decoder.h"

namespace omnigraph::lance {

struct FileReader::Impl {
  std::shared_ptr<store::ObjectStore> store;
  std::string path;
  Container container;
  ReadContext context;
};

namespace {

/// One page of one leaf of a read.
struct PageTask {
  std::unique_ptr<PageDecoder> decoder;
  LeafSink* sink = nullptr;
};

/// One requested column.
struct ColumnTask {
  std::vector<LeafPath> paths;
  std::vector<std::unique_ptr<LeafSink>> sinks;
};

/// Rows of a file, ascending and apart.
using RowSet = std::vector<RowRange>;

int64_t CountRows(const RowSet& rows) {
  int64_t count = 0;
  for (const RowRange& range : rows) {
    count += range.end - range.begin;
  }
  return count;
}

/// The part of `rows` inside [begin, begin + count), relative to `begin`. `next` moves on over
/// ranges that are done.
RowSet Clip(const RowSet& rows, int64_t begin, int64_t count, size_t* next) {
  RowSet out;
  while (*next < rows.size() && rows[*next].begin < begin + count) {
    const RowRange& range = rows[*next];
    const int64_t from = std::max<int64_t>(range.begin - begin, 0);
    const int64_t to = std::min<int64_t>(range.end - begin, count);
    if (from < to) {
      out.push_back({from, to});
    }
    if (range.end > begin + count) {
      break;  // goes on in the next page
    }
    ++*next;
  }
  return out;
}

/// Reads some rows of some columns: plan, at most two rounds of reading, decode, assemble.
class ReadJob {
 public:
  ReadJob(store::ObjectStore& store, const std::string& path, const Container& container,
          const ReadContext& context)
      : store_(store), path_(path), container_(container), context_(context) {}

  Result<std::shared_ptr<arrow::RecordBatch>> Run(std::span<const ColumnRequest> columns,
                                                  const RowSet& rows) {
    const int64_t count = CountRows(rows);
    columns_.resize(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      OG_RETURN_NOT_OK(PlanColumn(columns[i], rows, &columns_[i]));
    }
    OG_RETURN_NOT_OK(FetchAndDecode());
    std::vector<std::shared_ptr<arrow::Field>> fields;
    std::vector<std::shared_ptr<arrow::Array>> arrays;
    for (size_t i = 0; i < columns.size(); ++i) {
      OG_ASSIGN_OR_RETURN(auto data,
                          Assemble(*columns[i].field, count, columns_[i].sinks, context_));
      fields.push_back(columns[i].field);
      arrays.push_back(arrow::MakeArray(std::move(data)));
    }
    return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), count, std::move(arrays));
  }

 private:
  Status PlanColumn(const ColumnRequest& request, const RowSet& rows, ColumnTask* task) {
    OG_ASSIGN_OR_RETURN(task->paths, LeafPathsOf(*request.field));
    if (task->paths.size() != request.columns.size()) {
      return Invalid("lance.file.request",
                     "read column '" + request.field->name() + "': its type has " +
                         std::to_string(task->paths.size()) + " leaves, the request " +
                         std::to_string(request.columns.size()));
    }
    for (size_t leaf = 0; leaf < task->paths.size(); ++leaf) {
      const int32_t column = request.columns[leaf];
      if (column < 0) {
        task->sinks.push_back(nullptr);
        continue;
      }
      if (static_cast<size_t>(column) >= container_.columns.size()) {
        return context_.Corrupt("container", "it has no column " + std::to_string(column));
      }
      task->sinks.push_back(std::make_unique<LeafSink>(&task->paths[leaf], &context_));
      OG_RETURN_NOT_OK(PlanLeaf(container_.columns[static_cast<size_t>(column)], task->paths[leaf],
                                rows, task->sinks.back().get()));
    }
    return Status::OK();
  }

  Status PlanLeaf(const ColumnInfo& column, const LeafPath& path, const RowSet& rows,
                  LeafSink* sink) {
    OG_RETURN_NOT_OK(column.unsupported);
    if (column.rows != container_.rows) {
      return context_.Corrupt("container", "a column has " + std::to_string(column.rows) +
                                               " rows, the file " +
                                               std::to_string(container_.rows));
    }
    size_t next = 0;
    auto page = column.pages.begin();
    if (!rows.empty()) {
      page = std::partition_point(page, column.pages.end(), [&](const auto& each) {
        return each->first_row + each->rows <= rows.front().begin;
      });
    }
    for (; page != column.pages.end() && next < rows.size(); ++page) {
      RowSet here = Clip(rows, (*page)->first_row, (*page)->rows, &next);
      if (here.empty()) {
        continue;
      }
      PageTask task;
      task.sink = sink;
      OG_ASSIGN_OR_RETURN(task.decoder, PageDecoder::Make(**page, path, std::move(here), context_));
      pages_.push_back(std::move(task));
    }
    return Status::OK();
  }

  Status Fetch(FetchList* list) {
    if (list->empty()) {
      return Status::OK();
    }
    OG_ASSIGN_OR_RETURN(auto buffers, store_.GetRanges(path_, list->ranges()));
    list->SetBuffers(std::move(buffers));
    return Status::OK();
  }

  Status FetchAndDecode() {
    FetchList first;
    FetchList second;
    for (PageTask& task : pages_) {
      OG_RETURN_NOT_OK(task.decoder->Plan(&first));
    }
    OG_RETURN_NOT_OK(Fetch(&first));
    for (PageTask& task : pages_) {
      OG_RETURN_NOT_OK(task.decoder->Locate(first, &second));
    }
    OG_RETURN_NOT_OK(Fetch(&second));
    for (PageTask& task : pages_) {
      OG_RETURN_NOT_OK(task.decoder->Decode(first, second, task.sink));
    }
    return Status::OK();
  }

  store::ObjectStore& store_;
  const std::string& path_;
  const Container& container_;
  const ReadContext& context_;
  std::vector<ColumnTask> columns_;
  std::vector<PageTask> pages_;
};

}  // namespace

FileReader::FileReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FileReader::~FileReader() = default;

Result<std::shared_ptr<const FileReader>> FileReader::Open(
    std::shared_ptr<store::ObjectStore> store, std::string path, std::optional<uint64_t> size) {
  auto impl = std::make_unique<Impl>();
  impl->store = std::move(store);
  impl->path = std::move(path);
  impl->context.object = impl->path;
  OG_ASSIGN_OR_RETURN(impl->container, ReadContainer(*impl->store, impl->path, size));
  return std::shared_ptr<const FileReader>(new FileReader(std::move(impl)));
}

int64_t FileReader::rows() const {
  return impl_->container.rows;
}

int32_t FileReader::num_columns() const {
  return static_cast<int32_t>(impl_->container.columns.size());
}

std::pair<uint16_t, uint16_t> FileReader::version() const {
  return {impl_->container.major_version, impl_->container.minor_version};
}

const Schema& FileReader::schema() const {
  return impl_->container.schema;
}

const std::string& FileReader::path() const {
  return impl_->path;
}

uint64_t FileReader::size() const {
  return impl_->container.size;
}

int32_t FileReader::num_global_buffers() const {
  return static_cast<int32_t>(impl_->container.global_buffers.size());
}

Result<std::shared_ptr<arrow::Buffer>> FileReader::ReadGlobalBuffer(int32_t index) const {
  if (index < 0 || index >= num_global_buffers()) {
    return impl_->context.Corrupt("global_buffer",
                                  "it has no global buffer " + std::to_string(index));
  }
  const store::ByteRange range = impl_->container.global_buffers[static_cast<size_t>(index)];
  OG_ASSIGN_OR_RETURN(auto buffers, impl_->store->GetRanges(impl_->path, std::span(&range, 1)));
  return buffers[0];
}

Result<std::vector<ColumnRequest>> FileReader::RequestColumns(
    const std::vector<std::string>& names) const {
  OG_ASSIGN_OR_RETURN(const auto arrow_schema, schema().ToArrow());
  std::vector<ColumnRequest> all;
  int32_t column = 0;
  for (const auto& field : arrow_schema->fields()) {
    ColumnRequest request{field, {}};
    for (int leaf = CountLeaves(*field->type()); leaf > 0; --leaf) {
      request.columns.push_back(column++);
    }
    all.push_back(std::move(request));
  }
  if (names.empty()) {
    return all;
  }
  std::vector<ColumnRequest> out;
  for (const std::string& name : names) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const ColumnRequest& request) {
      return request.field->name() == name;
    });
    if (at == all.end()) {
      return NotFound("lance.schema.field", "read column '" + name + "': no such field",
                      Place{.object = impl_->path});
    }
    out.push_back(*at);
  }
  return out;
}

Result<std::shared_ptr<arrow::RecordBatch>> FileReader::ReadRange(
    std::span<const ColumnRequest> columns, int64_t offset, int64_t count) const {
  if (offset < 0 || count < 0 || count > rows() || offset > rows() - count) {
    return Invalid("lance.file.range",
                   "read rows " + std::to_string(offset) + " to " + std::to_string(offset + count) +
                       " of a file of " + std::to_string(rows()),
                   Place{.object = impl_->path});
  }
  RowSet set;
  if (count > 0) {
    set.push_back({offset, offset + count});
  }
  return ReadJob(*impl_->store, impl_->path, impl_->container, impl_->context).Run(columns, set);
}

Result<std::shared_ptr<arrow::RecordBatch>> FileReader::Take(
    std::span<const ColumnRequest> columns, std::span<const uint64_t> row_offsets) const {
  RowSet set;
  for (const uint64_t row : row_offsets) {
    const auto at = static_cast<int64_t>(row);
    if (row >= static_cast<uint64_t>(rows()) || (!set.empty() && at < set.back().end)) {
      return Invalid("lance.file.range",
                     "take row " + std::to_string(row) + " of a file of " + std::to_string(rows()) +
                         ": outside, or not in ascending order",
                     Place{.object = impl_->path});
    }
    if (!set.empty() && set.back().end == at) {
      ++set.back().end;
    } else {
      set.push_back({at, at + 1});
    }
  }
  return ReadJob(*impl_->store, impl_->path, impl_->container, impl_->context).Run(columns, set);
}

}  // namespace omnigraph::lance
