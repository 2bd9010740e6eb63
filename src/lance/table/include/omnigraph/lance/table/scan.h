/// \file
/// What a scan returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omnigraph::lance {

/// Names of the system columns, uint64. They follow the asked columns in this order.
inline constexpr std::string_view kRowIdColumn = "_rowid";
inline constexpr std::string_view kRowAddressColumn = "_rowaddr";
inline constexpr std::string_view kCreatedVersionColumn = "_row_created_at_version";
inline constexpr std::string_view kUpdatedVersionColumn = "_row_last_updated_at_version";

struct ScanOptions {
  /// Top-level columns by name, in the order wanted; absent = all. Empty = system columns only.
  std::optional<std::vector<std::string>> columns;
  /// Most rows per batch; batches never span fragments. Default 8,192; smaller needs less memory.
  int64_t batch_rows = 8192;
  bool with_row_id = false;
  bool with_row_address = false;
  bool with_created_version = false;  ///< needs stable row ids
  bool with_updated_version = false;  ///< needs stable row ids
  /// Only these fragments, in table order; absent = all.
  std::optional<std::vector<uint64_t>> fragments;
};

}  // namespace omnigraph::lance
