#include "load_files.h"

#include <arrow/api.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/lance/file/file_reader.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/runtime/queue.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::write {
namespace {

/// Encoded bytes that all open files together may hold.
constexpr uint64_t kOpenBytes = uint64_t{160} << 20;
constexpr uint64_t kFileBytesMost = uint64_t{64} << 20;
constexpr uint64_t kFileBytesLeast = uint64_t{4} << 20;
constexpr uint64_t kRewriteRows = 8192;
constexpr size_t kFinishThreads = 4;

}  // namespace

struct LoadFiles::TypeFiles {
  std::shared_ptr<const lance::Table> table;
  std::unique_ptr<lance::DataWriter> writer;
  std::vector<lance::NewFragment> fragments;
  uint64_t rows = 0;   ///< of the input
  uint64_t added = 0;  ///< of the fragments
  Status finished;

  void Finish() {
    Result<std::vector<lance::NewFragment>> put = writer->Finish();
    writer.reset();
    finished = put.status();
    if (put.ok()) {
      fragments = std::move(put).ValueUnsafe();
    }
    for (const lance::NewFragment& fragment : fragments) {
      added += fragment.rows;
    }
  }
};

LoadFiles::LoadFiles(graph::Graph* graph, graph::SnapshotRef snapshot,
                     const schema::Catalog& catalog)
    : graph_(*graph), snapshot_(std::move(snapshot)), catalog_(catalog) {}

LoadFiles::~LoadFiles() = default;

Result<LoadFiles::TypeFiles*> LoadFiles::Open(int type_index) {
  if (const auto found = types_.find(type_index); found != types_.end()) {
    return found->second.get();
  }
  auto opened = std::make_unique<TypeFiles>();
  OG_ASSIGN_OR_RETURN(opened->table,
                      graph_.OpenTable(*snapshot_, catalog_.type(type_index).table_id));
  lance::DataWriterOptions options;
  options.file_bytes_max =
      std::clamp(kOpenBytes / catalog_.types().size(), kFileBytesLeast, kFileBytesMost);
  OG_ASSIGN_OR_RETURN(
      opened->writer,
      lance::DataWriter::Make(opened->table->location(), opened->table->lance_schema(), options));
  // Only now: what failed to open has nothing to abandon.
  return types_.emplace(type_index, std::move(opened)).first->second.get();
}

Status LoadFiles::Write(int type_index, const arrow::RecordBatch& batch, bool wanted) {
  OG_ASSIGN_OR_RETURN(TypeFiles* const files, Open(type_index));
  files->rows += static_cast<uint64_t>(batch.num_rows());
  if (!wanted) {
    return Status::OK();
  }
  OG_ASSIGN_OR_RETURN(const auto columns, batch.RemoveColumn(batch.num_columns() - 1));
  return files->writer->Write(*columns);
}

uint64_t LoadFiles::rows(int type_index) const {
  const auto found = types_.find(type_index);
  return found == types_.end() ? 0 : found->second->rows;
}

Status LoadFiles::Finish() {
  runtime::BoundedQueue<TypeFiles*> work(types_.size() + 1);
  for (const auto& [index, files] : types_) {
    OG_CHECK(work.Push(files.get()));
  }
  work.Close();
  const auto finish_some = [&work] {
    while (const std::optional<TypeFiles*> files = work.Pop()) {
      (*files)->Finish();
    }
  };
  // Most of a put is waiting for the disk.
  std::vector<runtime::Thread> helpers;
  for (size_t i = 1; i < std::min(kFinishThreads, types_.size()); ++i) {
    helpers.push_back(runtime::Thread::Start("load-finish", finish_some));
  }
  finish_some();
  helpers.clear();  // joins
  for (const auto& [index, files] : types_) {
    OG_RETURN_NOT_OK(files->finished);
  }
  return Status::OK();
}

Status LoadFiles::Remove(int type_index, const std::vector<uint64_t>& numbers) {
  if (numbers.empty()) {
    return Status::OK();
  }
  TypeFiles* files = types_.at(type_index).get();
  const lance::Table& table = *files->table;
  OG_ASSIGN_OR_RETURN(const auto writer,
                      lance::DataWriter::Make(table.location(), table.lance_schema()));
  uint64_t first = 0;
  auto next = numbers.begin();
  for (const lance::NewFragment& fragment : files->fragments) {
    OG_ASSIGN_OR_RETURN(const auto reader, table.OpenDataFile(fragment.files.front()));
    OG_ASSIGN_OR_RETURN(const auto columns, reader->RequestColumns(table.schema()->field_names()));
    for (uint64_t at = 0; at < fragment.rows; at += kRewriteRows) {
      const uint64_t count = std::min(kRewriteRows, fragment.rows - at);
      OG_ASSIGN_OR_RETURN(const auto batch, reader->ReadRange(columns, static_cast<int64_t>(at),
                                                              static_cast<int64_t>(count)));
      // Write the stretches between the rows that go.
      uint64_t kept = 0;
      for (; next != numbers.end() && *next < first + at + count; ++next) {
        const uint64_t gone = *next - first - at;
        if (gone > kept) {
          OG_RETURN_NOT_OK(writer->Write(
              *batch->Slice(static_cast<int64_t>(kept), static_cast<int64_t>(gone - kept))));
        }
        kept = gone + 1;
      }
      if (kept < count) {
        OG_RETURN_NOT_OK(writer->Write(*batch->Slice(static_cast<int64_t>(kept))));
      }
    }
    first += fragment.rows;
  }
  OG_ASSIGN_OR_RETURN(auto fragments, writer->Finish());
  Delete(*files, files->fragments);
  files->fragments = std::move(fragments);
  files->added -= numbers.size();
  return Status::OK();
}

const std::vector<lance::NewFragment>& LoadFiles::fragments(int type_index) const {
  return types_.at(type_index)->fragments;
}

int64_t LoadFiles::added_rows(int type_index) const {
  return static_cast<int64_t>(types_.at(type_index)->added);
}

void LoadFiles::Delete(const TypeFiles& files, const std::vector<lance::NewFragment>& fragments) {
  const lance::TableLocation& location = files.table->location();
  for (const lance::NewFragment& fragment : fragments) {
    for (const lance::DataFileRef& file : fragment.files) {
      static_cast<void>(location.store->Delete(
          location.Child(std::string(lance::kDataFolder) + "/" + file.path)));
    }
  }
}

void LoadFiles::Abandon() {
  for (const auto& [index, files] : types_) {
    if (files->writer != nullptr) {
      // What the writer has put already is only named by its own end.
      const auto fragments = files->writer->Finish();
      if (fragments.ok()) {
        Delete(*files, *fragments);
      }
    }
    Delete(*files, files->fragments);
  }
}

}  // namespace omnigraph::write
