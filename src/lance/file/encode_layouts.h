/// \file
/// The three layouts a page can get; page_encoder.cc chooses.
#pragma once

#include "page_encoder.h"
#include "page_parts.h"

namespace omnigraph::lance {

/// No value at all, only levels: every slot is null or an empty list.
Result<EncodedPage> EncodeConstantNull(const ShreddedLeaf& leaf, const PageLevels& levels);

Result<EncodedPage> EncodeMiniBlockFixed(const ShreddedLeaf& leaf, const PageLevels& levels,
                                         const FixedValues& values, int chunk_log_max);
Result<EncodedPage> EncodeMiniBlockVariable(const ShreddedLeaf& leaf, const PageLevels& levels,
                                            const VariableValues& values, int chunk_log_max);

/// REQUIRES: items of whole bytes.
Result<EncodedPage> EncodeFullZipFixed(const ShreddedLeaf& leaf, const PageLevels& levels,
                                       const FixedValues& values);
Result<EncodedPage> EncodeFullZipVariable(const ShreddedLeaf& leaf, const PageLevels& levels,
                                          const VariableValues& values);

}  // namespace omnigraph::lance
