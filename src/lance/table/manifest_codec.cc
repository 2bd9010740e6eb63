#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "manifest_format.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/proto/serialize.h"
#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/lance/table/manifest.h"
#include "wire_structs.h"

namespace omnigraph::lance {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

Status Malformed(std::string_view object, std::string_view what) {
  return Corruption("manifest.malformed", fmt::format("manifest {}: {}", object, what), object);
}

/// Append a section; the result is its place in the file.
uint64_t AppendSection(std::string_view section, std::string* out) {
  const uint64_t at = out->size();
  AppendLittle(out, static_cast<uint32_t>(section.size()));
  out->append(section);
  return at;
}

/// The bytes of the section at `at`, which ends before `end`.
Result<std::string_view> SectionAt(std::string_view bytes, uint64_t at, size_t end,
                                   std::string_view object) {
  if (at > end || end - at < kSectionLengthBytes) {
    return Malformed(object, fmt::format("a section begins at {} of {}", at, end));
  }
  const uint64_t size = LoadLittle<uint32_t>(bytes.data() + at);
  if (size > end - at - kSectionLengthBytes) {
    return Malformed(object, fmt::format("the section at {} is longer than the file", at));
  }
  return bytes.substr(at + kSectionLengthBytes, size);
}

int64_t MicrosOf(const pb::Timestamp& timestamp) {
  // Out of range is clamped: a time that nobody meant must not overflow.
  constexpr int64_t kSecondsMax = int64_t{1} << 40;
  const int64_t seconds = std::clamp(timestamp.seconds(), -kSecondsMax, kSecondsMax);
  return seconds * kMicrosPerSecond + timestamp.nanos() / 1000;
}

void FillTimestamp(int64_t micros, pb::Timestamp* timestamp) {
  int64_t seconds = micros / kMicrosPerSecond;
  int64_t rest = micros % kMicrosPerSecond;
  if (rest < 0) {
    seconds -= 1;
    rest += kMicrosPerSecond;
  }
  timestamp->set_seconds(seconds);
  timestamp->set_nanos(static_cast<int32_t>(rest * 1000));
}

void FillHead(const Manifest& manifest, pb::Manifest* message) {
  SchemaToWire(*manifest.schema, message->mutable_fields(), message->mutable_schema_metadata());
  for (const Fragment& fragment : manifest.fragments) {
    FragmentToWire(fragment, message->add_fragments());
  }
  message->set_version(manifest.version);
  FillTimestamp(manifest.timestamp_us, message->mutable_timestamp());
  message->set_reader_flags(manifest.reader_flags);
  message->set_writer_flags(manifest.writer_flags);
  if (manifest.max_fragment_id) {
    message->set_max_fragment_id(*manifest.max_fragment_id);
  }
  message->set_transaction_file(manifest.transaction_file);
  message->set_next_row_id(manifest.next_row_id);
}

void FillRest(const Manifest& manifest, pb::Manifest* message) {
  if (manifest.writer) {
    message->mutable_writer()->set_library(manifest.writer->library);
    message->mutable_writer()->set_version(manifest.writer->version);
    RestoreUnknown(manifest.writer->unknown, message->mutable_writer());
  }
  if (!manifest.file_version.empty()) {
    message->mutable_data_format()->set_file_format(manifest.file_format);
    message->mutable_data_format()->set_version(manifest.file_version);
    RestoreUnknown(manifest.file_format_unknown, message->mutable_data_format());
  }
  FillMap(manifest.config, message->mutable_config());
  for (const BasePath& base : manifest.base_paths) {
    pb::BasePath* out = message->add_base_paths();
    out->set_id(base.id);
    if (base.name) {
      out->set_name(*base.name);
    }
    out->set_is_dataset_root(base.is_dataset_root);
    out->set_path(base.path);
    RestoreUnknown(base.unknown, out);
  }
  FillMap(manifest.table_metadata, message->mutable_table_metadata());
  if (manifest.branch) {
    message->set_branch(*manifest.branch);
  }
  RestoreUnknown(manifest.unknown, message);
}

/// Releases that keep them elsewhere say so in fields that we do not know.
Status NoRowIds(const Fragment& fragment, std::string_view object) {
  if (fragment.unknown.empty()) {
    return Corruption(
        "row_ids.absent",
        fmt::format("fragment {} of {} has no row ids, though the table promises them", fragment.id,
                    object),
        object);
  }
  return Unsupported("row_ids.external",
                     fmt::format("fragment {} of {} keeps its row ids outside the manifest, which "
                                 "is not supported",
                                 fragment.id, object),
                     {.object = std::string(object)});
}

Status ReadFragments(const pb::Manifest& message, std::string_view object, Manifest* manifest) {
  std::set<uint64_t> ids;
  manifest->fragments.reserve(static_cast<size_t>(message.fragments_size()));
  for (const pb::Fragment& wire : message.fragments()) {
    OG_ASSIGN_OR_RETURN(Fragment fragment, FragmentFromWire(wire, object));
    if (!ids.insert(fragment.id).second) {
      return Malformed(object, fmt::format("fragment {} stands twice", fragment.id));
    }
    if (manifest->stable_row_ids() && !fragment.row_ids && fragment.physical_rows != 0) {
      return NoRowIds(fragment, object);
    }
    manifest->fragments.push_back(std::move(fragment));
  }
  return Status::OK();
}

void ReadSmallParts(const pb::Manifest& message, Manifest* manifest) {
  manifest->version = message.version();
  manifest->timestamp_us = MicrosOf(message.timestamp());
  manifest->reader_flags = message.reader_flags();
  manifest->writer_flags = message.writer_flags();
  if (message.has_max_fragment_id()) {
    manifest->max_fragment_id = message.max_fragment_id();
  }
  manifest->transaction_file = message.transaction_file();
  if (message.has_writer()) {
    manifest->writer = WriterVersion{.library = message.writer().library(),
                                     .version = message.writer().version(),
                                     .unknown = UnknownOf(message.writer())};
  }
  manifest->next_row_id = message.next_row_id();
  manifest->config = SortedMap(message.config());
  for (const pb::BasePath& base : message.base_paths()) {
    manifest->base_paths.push_back(
        {.id = base.id(),
         .name = base.has_name() ? std::optional(base.name()) : std::nullopt,
         .is_dataset_root = base.is_dataset_root(),
         .path = base.path(),
         .unknown = UnknownOf(base)});
  }
  manifest->table_metadata = SortedMap(message.table_metadata());
  if (message.has_branch()) {
    manifest->branch = message.branch();
  }
  manifest->unknown = UnknownOf(message);
}

Status ReadFileVersion(const pb::Manifest& message, std::string_view object, Manifest* manifest) {
  if (message.has_data_format()) {
    manifest->file_format = message.data_format().file_format();
    manifest->file_version = message.data_format().version();
    manifest->file_format_unknown = UnknownOf(message.data_format());
  } else if (!manifest->fragments.empty() && !manifest->fragments[0].files.empty()) {
    const DataFileRef& file = manifest->fragments[0].files[0];
    manifest->file_version = fmt::format("{}.{}", file.major_version, file.minor_version);
  } else {
    manifest->file_version.clear();
  }
  if (manifest->file_format != "lance") {
    return Unsupported(
        "manifest.file_format",
        fmt::format("{} keeps its rows in files of format '{}'", object, manifest->file_format),
        {.object = std::string(object)});
  }
  return Status::OK();
}

/// The parts that stand before the manifest message: indexes and transaction.
Status ReadSections(const pb::Manifest& message, std::string_view bytes, size_t end,
                    std::string_view object, Manifest* manifest) {
  if (message.has_index_section()) {
    OG_ASSIGN_OR_RETURN(const std::string_view raw,
                        SectionAt(bytes, message.index_section(), end, object));
    pb::IndexSection section;
    OG_RETURN_NOT_OK(ParseProto(raw, object, &section));
    for (const pb::Index& wire : section.indices()) {
      OG_ASSIGN_OR_RETURN(IndexMetadata index, IndexFromWire(wire, object));
      manifest->indices.push_back(std::move(index));
    }
    manifest->indices_unknown = UnknownOf(section);
  }
  if (message.has_transaction_section() || message.has_transaction_section_12()) {
    const uint64_t at = message.has_transaction_section() ? message.transaction_section()
                                                          : message.transaction_section_12();
    OG_ASSIGN_OR_RETURN(const std::string_view raw, SectionAt(bytes, at, end, object));
    manifest->transaction = std::string(raw);
  }
  return Status::OK();
}

}  // namespace

bool Manifest::stable_row_ids() const {
  return (reader_flags & kFlagStableRowIds) != 0;
}

uint64_t Manifest::live_rows() const {
  uint64_t rows = 0;
  for (const Fragment& fragment : fragments) {
    rows += fragment.live_rows();
  }
  return rows;
}

uint64_t Manifest::next_fragment_id() const {
  uint64_t next = max_fragment_id ? uint64_t{*max_fragment_id} + 1 : 0;
  for (const Fragment& fragment : fragments) {
    next = std::max(next, fragment.id + 1);
  }
  return next;
}

const Fragment* Manifest::FindFragment(uint64_t id) const {
  // In scan order, which is by id unless somebody compacted: try the ordered place first.
  const auto at =
      std::lower_bound(fragments.begin(), fragments.end(), id,
                       [](const Fragment& f, uint64_t wanted) { return f.id < wanted; });
  if (at != fragments.end() && at->id == id) {
    return &*at;
  }
  for (const Fragment& fragment : fragments) {
    if (fragment.id == id) {
      return &fragment;
    }
  }
  return nullptr;
}

std::string EncodeManifest(const Manifest& manifest) {
  OG_CHECK(manifest.schema != nullptr);
  std::string out;
  pb::Manifest message;
  FillHead(manifest, &message);
  FillRest(manifest, &message);
  if (!manifest.indices.empty() || !manifest.indices_unknown.empty()) {
    pb::IndexSection section;
    for (const IndexMetadata& index : manifest.indices) {
      IndexToWire(index, section.add_indices());
    }
    RestoreUnknown(manifest.indices_unknown, &section);
    message.set_index_section(AppendSection(SerializeProto(section), &out));
  }
  if (!manifest.transaction.empty()) {
    const uint64_t at = AppendSection(manifest.transaction, &out);
    message.set_transaction_section_12(at);
    message.set_transaction_section(at);
  }
  const uint64_t at = AppendSection(SerializeProto(message), &out);
  AppendLittle(&out, at);
  AppendLittle(&out, kManifestMajor);
  AppendLittle(&out, kManifestMinor);
  out.append(kManifestMagic);
  return out;
}

Result<Manifest> DecodeManifest(std::string_view bytes, std::string_view object) {
  if (bytes.size() < kManifestTrailerBytes + kSectionLengthBytes) {
    return Malformed(object, fmt::format("{} bytes are too few", bytes.size()));
  }
  const size_t end = bytes.size() - kManifestTrailerBytes;
  const char* trailer = bytes.data() + end;
  if (bytes.substr(bytes.size() - kManifestMagic.size()) != kManifestMagic) {
    return Malformed(object, "wrong magic");
  }
  if (LoadLittle<uint16_t>(trailer + 8) != kManifestMajor ||
      LoadLittle<uint16_t>(trailer + 10) != kManifestMinor) {
    return Unsupported(
        "manifest.version",
        fmt::format("manifest {} has version {}.{}; this release reads 0.2", object,
                    LoadLittle<uint16_t>(trailer + 8), LoadLittle<uint16_t>(trailer + 10)),
        {.object = std::string(object)});
  }
  const uint64_t at = LoadLittle<uint64_t>(trailer);
  OG_ASSIGN_OR_RETURN(const std::string_view raw, SectionAt(bytes, at, end, object));
  if (at + kSectionLengthBytes + raw.size() != end) {
    return Malformed(object, "the manifest does not end at the trailer");
  }
  pb::Manifest message;
  OG_RETURN_NOT_OK(ParseProto(raw, object, &message));
  Manifest manifest;
  OG_ASSIGN_OR_RETURN(manifest.schema,
                      SchemaFromWire(message.fields(), message.schema_metadata(), object));
  ReadSmallParts(message, &manifest);
  OG_RETURN_NOT_OK(ReadFragments(message, object, &manifest));
  OG_RETURN_NOT_OK(ReadFileVersion(message, object, &manifest));
  OG_RETURN_NOT_OK(ReadSections(message, bytes, end, object, &manifest));
  return manifest;
}

}  // namespace omnigraph::lance
