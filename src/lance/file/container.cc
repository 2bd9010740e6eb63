#include "container.h"

#include <algorithm>
#include <limits>

#include "file_format.h"
#include "lance/file.pb.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/lance/proto/serialize.h"
#include "schema_proto.h"

namespace omnigraph::lance {
namespace {

constexpr uint64_t kTailBytes = 64 << 10;
constexpr size_t kTableEntryBytes = 2 * sizeof(uint64_t);
constexpr uint64_t kRowsMax = uint64_t{1} << 40;

/// The last 40 bytes.
struct Footer {
  uint64_t column_metadata_at = 0;
  uint64_t column_table_at = 0;
  uint64_t global_table_at = 0;
  uint32_t num_globals = 0;
  uint32_t num_columns = 0;
  uint16_t major_version = 0;
  uint16_t minor_version = 0;
};

/// The end of a file, from `begin` on.
struct Tail {
  std::shared_ptr<arrow::Buffer> bytes;
  uint64_t begin = 0;
  uint64_t size = 0;  ///< of the file

  std::string_view View(uint64_t offset, uint64_t length) const {
    return {reinterpret_cast<const char*>(bytes->data()) + (offset - begin), length};
  }
};

class ContainerReader {
 public:
  ContainerReader(store::ObjectStore& store, const std::string& path)
      : store_(store), path_(path), context_{path_} {}

  Result<Container> Read(std::optional<uint64_t> size) {
    OG_ASSIGN_OR_RETURN(tail_, ReadTail(size));
    OG_ASSIGN_OR_RETURN(const Footer footer, ParseFooter());
    OG_RETURN_NOT_OK(CheckVersion(footer));
    OG_RETURN_NOT_OK(CheckTables(footer));
    Container out;
    out.size = tail_.size;
    out.major_version = footer.major_version;
    out.minor_version = footer.minor_version;
    // The schema, too, must be in the tail; it stands just before the column metadata, nearly
    // always.
    OG_RETURN_NOT_OK(ExtendTail(std::min(footer.column_metadata_at, footer.column_table_at)));
    OG_ASSIGN_OR_RETURN(out.global_buffers, ReadTable(footer.global_table_at, footer.num_globals));
    OG_RETURN_NOT_OK(ReadDescriptor(&out));
    OG_ASSIGN_OR_RETURN(const auto columns, ReadTable(footer.column_table_at, footer.num_columns));
    for (const store::ByteRange& column : columns) {
      OG_ASSIGN_OR_RETURN(const std::string_view bytes, Slice(column));
      OG_ASSIGN_OR_RETURN(ColumnInfo info, ReadColumn(bytes));
      out.columns.push_back(std::move(info));
    }
    return out;
  }

 private:
  Status Corrupt(std::string_view what) const { return context_.Corrupt("container", what); }

  Result<Tail> ReadTail(std::optional<uint64_t> size) {
    Tail tail;
    if (size.has_value()) {
      tail.size = *size;
      const uint64_t length = std::min(tail.size, kTailBytes);
      const store::ByteRange range{tail.size - length, length};
      OG_ASSIGN_OR_RETURN(auto buffers, store_.GetRanges(path_, std::span(&range, 1)));
      tail.bytes = buffers[0];
    } else {
      OG_ASSIGN_OR_RETURN(const store::ObjectTail got, store_.GetTail(path_, kTailBytes));
      tail.bytes = got.bytes;
      tail.size = got.object_size;
    }
    tail.begin = tail.size - static_cast<uint64_t>(tail.bytes->size());
    if (tail.bytes->size() < kFooterBytes) {
      return Corrupt("it is shorter than a footer");
    }
    return tail;
  }

  /// Make the tail start at `begin` or before.
  Status ExtendTail(uint64_t begin) {
    if (begin >= tail_.begin) {
      return Status::OK();
    }
    const store::ByteRange range{begin, tail_.size - begin};
    OG_ASSIGN_OR_RETURN(auto buffers, store_.GetRanges(path_, std::span(&range, 1)));
    tail_.bytes = buffers[0];
    tail_.begin = begin;
    return Status::OK();
  }

  Result<Footer> ParseFooter() const {
    const std::string_view bytes = tail_.View(tail_.size - static_cast<uint64_t>(kFooterBytes),
                                              static_cast<uint64_t>(kFooterBytes));
    if (bytes.substr(36) != kFileMagic) {
      return Corrupt("it does not end in the magic of a data file");
    }
    Footer footer;
    footer.column_metadata_at = LoadLittle<uint64_t>(bytes.data());
    footer.column_table_at = LoadLittle<uint64_t>(bytes.data() + 8);
    footer.global_table_at = LoadLittle<uint64_t>(bytes.data() + 16);
    footer.num_globals = LoadLittle<uint32_t>(bytes.data() + 24);
    footer.num_columns = LoadLittle<uint32_t>(bytes.data() + 28);
    footer.major_version = LoadLittle<uint16_t>(bytes.data() + 32);
    footer.minor_version = LoadLittle<uint16_t>(bytes.data() + 34);
    return footer;
  }

  Status CheckVersion(const Footer& footer) const {
    // Version 2.3 is accepted here: where its pages are of the known kind they read alike, and else
    // they are refused by name.
    if (footer.major_version == kMajorVersion && footer.minor_version >= 1 &&
        footer.minor_version <= 3) {
      return Status::OK();
    }
    return Unsupported("lance.file.version",
                       "read a data file of version " + std::to_string(footer.major_version) + "." +
                           std::to_string(footer.minor_version) + ": only 2.1 to 2.3 are built",
                       Place{.object = path_});
  }

  Status CheckTables(const Footer& footer) const {
    const auto fits = [&](uint64_t at, uint64_t entries) {
      return at <= tail_.size && entries <= (tail_.size - at) / kTableEntryBytes;
    };
    if (footer.column_metadata_at > tail_.size || footer.num_globals == 0 ||
        !fits(footer.column_table_at, footer.num_columns) ||
        !fits(footer.global_table_at, footer.num_globals)) {
      return Corrupt("its footer points outside the file");
    }
    return Status::OK();
  }

  Status CheckRange(const store::ByteRange& range) const {
    return range.offset <= tail_.size && range.length <= tail_.size - range.offset
               ? Status::OK()
               : Corrupt("a table of it points outside the file");
  }

  /// Bytes of a range, read unless they are in the tail.
  Result<std::string_view> Slice(const store::ByteRange& range) {
    OG_RETURN_NOT_OK(CheckRange(range));
    if (range.offset < tail_.begin) {
      OG_RETURN_NOT_OK(ExtendTail(range.offset));
    }
    return tail_.View(range.offset, range.length);
  }

  Result<std::vector<store::ByteRange>> ReadTable(uint64_t at, uint32_t entries) {
    OG_ASSIGN_OR_RETURN(const std::string_view bytes, Slice({at, entries * kTableEntryBytes}));
    std::vector<store::ByteRange> table;
    for (uint32_t i = 0; i < entries; ++i) {
      const char* entry = bytes.data() + i * kTableEntryBytes;
      table.push_back({LoadLittle<uint64_t>(entry), LoadLittle<uint64_t>(entry + 8)});
      OG_RETURN_NOT_OK(CheckRange(table.back()));
    }
    return table;
  }

  Status ReadDescriptor(Container* out) {
    // One read of its own when it lies far before the tail (large global buffers may stand
    // between).
    const store::ByteRange range = out->global_buffers[0];
    std::shared_ptr<arrow::Buffer> bytes;
    std::string_view view;
    if (range.offset >= tail_.begin) {
      view = tail_.View(range.offset, range.length);
    } else {
      OG_ASSIGN_OR_RETURN(auto buffers, store_.GetRanges(path_, std::span(&range, 1)));
      bytes = buffers[0];
      view = {reinterpret_cast<const char*>(bytes->data()), range.length};
    }
    pb::FileDescriptor descriptor;
    OG_RETURN_NOT_OK(ParseProto(view, path_, &descriptor));
    if (descriptor.rows() > kRowsMax) {
      return Corrupt("it claims an impossible number of rows");
    }
    out->rows = static_cast<int64_t>(descriptor.rows());
    out->schema = SchemaFromProto(descriptor.schema());
    return Status::OK();
  }

  Result<ColumnInfo> ReadColumn(std::string_view bytes) const {
    pb::ColumnMetadata metadata;
    OG_RETURN_NOT_OK(ParseProto(bytes, path_, &metadata));
    ColumnInfo column;
    for (const pb::Page& page : metadata.pages()) {
      auto info = std::make_unique<PageInfo>();
      if (page.buffer_offsets_size() != page.buffer_sizes_size() || page.rows() > kRowsMax ||
          static_cast<uint64_t>(column.rows) + page.rows() > kRowsMax) {
        return Corrupt("a page of it is described wrongly");
      }
      for (int i = 0; i < page.buffer_offsets_size(); ++i) {
        info->buffers.push_back({page.buffer_offsets(i), page.buffer_sizes(i)});
        OG_RETURN_NOT_OK(CheckRange(info->buffers.back()));
      }
      info->rows = static_cast<int64_t>(page.rows());
      info->first_row = column.rows;
      const Status parsed = ParseLayout(page.encoding(), &info->layout);
      if (!parsed.ok()) {
        if (!IsUnsupported(parsed)) {
          return parsed;
        }
        column.unsupported = parsed;
      }
      column.rows += info->rows;
      if (info->rows > 0) {
        column.pages.push_back(std::move(info));
      }
    }
    return column;
  }

  Status ParseLayout(const pb::Encoding& encoding, pb::PageLayout* layout) const {
    if (!encoding.has_direct()) {
      return context_.NotBuilt("a page whose encoding is stored elsewhere");
    }
    pb::AnyMessage any;
    OG_RETURN_NOT_OK(ParseProto(encoding.direct().encoding(), path_, &any));
    if (any.type_url() != kPageLayoutUrl) {
      return context_.NotBuilt("a page of type " + any.type_url());
    }
    return ParseProto(any.value(), path_, layout);
  }

  store::ObjectStore& store_;
  const std::string& path_;
  ReadContext context_;
  Tail tail_;
};

}  // namespace

Result<Container> ReadContainer(store::ObjectStore& store, const std::string& path,
                                std::optional<uint64_t> size) {
  return ContainerReader(store, path).Read(size);
}

}  // namespace omnigraph::lance
