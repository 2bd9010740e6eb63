#include <fmt/format.h>

#include <ctime>

#include "manifest_format.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/lance/table/transaction.h"
#include "omnigraph/lance/table/unpublished.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/store/object_store.h"
#include "version_parts.h"

namespace omnigraph::lance {
namespace {

/// Older than any cleanup's limit, and not zero, which could be taken for "no time".
constexpr int64_t kAncientUs = 1'000'000;
constexpr std::string_view kKeyPositionMetadata = "lance-schema:unenforced-primary-key:position";

Status Exists(const TableLocation& location) {
  return AlreadyExists("table.exists", fmt::format("there is a table at {}", location.path),
                       {.object = location.path});
}

Result<Schema> MakeSchema(const TableLocation& location, const arrow::Schema& arrow_schema,
                          const std::vector<std::string>& primary_key) {
  OG_ASSIGN_OR_RETURN(Schema schema, Schema::FromArrow(arrow_schema));
  for (size_t i = 0; i < primary_key.size(); ++i) {
    const Field* found = schema.FindField(primary_key[i]);
    if (found == nullptr || found->nullable) {
      return Invalid("table.primary_key",
                     fmt::format("key column '{}' of {} must exist and must not be nullable",
                                 primary_key[i], location.path),
                     {.object = location.path, .property = primary_key[i]});
    }
    for (Field& field : schema.mutable_fields()) {
      if (field.id == found->id) {
        field.primary_key_position = static_cast<uint32_t>(i + 1);
        field.metadata[std::string(kKeyPositionMetadata)] = std::to_string(i + 1);
      }
    }
  }
  return schema;
}

/// The ancient version 1 and a tag on it: official cleanups up to release 13 end with an error
/// before they delete anything.
Status PutGuardTag(const TableLocation& location, const std::string& name, int64_t now_us,
                   size_t manifest_bytes) {
  const std::string now = FormatTime(now_us);
  const std::string json = fmt::format(
      R"({{"branch":null,"version":1,"createdAt":"{}","updatedAt":"{}","manifestSize":{},"metadata":{{}}}})",
      now, now, manifest_bytes);
  const Status put =
      PutUnpublished(*location.store, location.Child(fmt::format("{}/{}.json", kTagsFolder, name)),
                     store::BytesOf(json), store::PutStrength::kStrict);
  // The tag of a creation that went no further guards this one too.
  return IsAlreadyExists(put) ? Status::OK() : put;
}

/// What version 1 is built upon: nothing, in the shape of a table.
Result<std::shared_ptr<const Table>> MakeNothing(const TableLocation& location, Schema schema,
                                                 const CreateOptions& options) {
  Manifest manifest;
  manifest.schema = std::make_shared<const Schema>(std::move(schema));
  manifest.config = options.config;
  manifest.table_metadata = options.table_metadata;
  if (options.stable_row_ids) {
    manifest.reader_flags = kFlagStableRowIds;
  }
  manifest.writer_flags = manifest.reader_flags | (options.guarded ? kFlagGraphGuard : 0);
  StoredManifest stored;
  stored.manifest = std::move(manifest);
  stored.object = location.path;
  return Table::FromManifest(location, std::move(stored), {.passes_guard = options.guarded});
}

Transaction CreationOf(const Manifest& manifest) {
  Transaction transaction;
  transaction.operation = Operation::kOverwrite;
  transaction.schema = manifest.schema;
  transaction.config = manifest.config;
  transaction.properties["omnigraph.created"] = "1";
  return transaction;
}

}  // namespace

std::string FormatTime(int64_t unix_us) {
  const std::time_t seconds = static_cast<std::time_t>(unix_us / 1'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     unix_us % 1'000'000 * 1000);
}

Result<std::shared_ptr<const Table>> CreateTable(const TableLocation& location,
                                                 const std::shared_ptr<arrow::Schema>& schema,
                                                 const CreateOptions& options) {
  const auto newest = ReadLatestManifest(location, Look::kWriter);
  if (newest.ok()) {
    return Exists(location);
  }
  if (!IsNotFound(newest.status())) {
    return newest.status();
  }
  OG_ASSIGN_OR_RETURN(Schema lance_schema, MakeSchema(location, *schema, options.primary_key));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const Table> nothing,
                      MakeNothing(location, std::move(lance_schema), options));
  Manifest manifest = nothing->manifest();
  manifest.version = 1;
  SetFlags(&manifest);
  BuildOptions build{.write_transaction_file = true};
  if (options.guarded) {
    build.timestamp_us = kAncientUs;
  }
  Transaction transaction = CreationOf(manifest);
  OG_ASSIGN_OR_RETURN(const BuiltVersion built,
                      FinishBuild(nothing, std::move(manifest), std::move(transaction),
                                  ManifestNaming::kV2, build));
  if (options.guarded) {
    OG_RETURN_NOT_OK(
        PutGuardTag(location, options.guard_tag, runtime::WallNow().count(), built.bytes.size()));
  }
  auto table = PutSettled(built);
  if (!table.ok()) {
    return CodeOf(table.status()) == "commit.lost" ? Exists(location) : table.status();
  }
  (void)WriteHint(location, 1);  // only helps readers
  return table;
}

}  // namespace omnigraph::lance
