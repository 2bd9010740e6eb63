/// \file
/// Names and constants of BTREE segments. The page that defines them: docs/format/lance-btree.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace omnigraph::lance {

inline constexpr std::string_view kPageDataFile = "page_data.lance";
inline constexpr std::string_view kPageLookupFile = "page_lookup.lance";

/// Schema metadata of `page_lookup.lance`.
inline constexpr std::string_view kBatchSizeKey = "batch_size";
inline constexpr std::string_view kRangePartitionedKey = "range_partitioned";
/// Ours: number of the global buffer that holds the Bloom filter.
inline constexpr std::string_view kBloomKey = "omnigraph.bloom";

/// Rows of a page that is read, at most (ours have 256, official ones 4,096 unless asked): pages
/// are read whole.
inline constexpr int64_t kPageRowsMax = 1 << 20;

/// IndexMetadata::index_version: `ids` holds row ids (stable ones where the table has them; else
/// they are addresses anyway), or addresses always (Lance 14).
inline constexpr int32_t kBTreeOfRowIds = 0;
inline constexpr int32_t kBTreeOfAddresses = 1;

/// Bloom filter: header, then blocks of 32 bytes.
inline constexpr std::string_view kBloomMagic = "OGBLOOM1";
inline constexpr size_t kBloomHeaderBytes = 32;
inline constexpr size_t kBloomBlockBytes = 32;
inline constexpr uint64_t kBloomBitsPerKey = 10;

}  // namespace omnigraph::lance
