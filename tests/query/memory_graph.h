/// \file
/// A graph in memory for tests, from a schema text and load lines.
#pragma once

#include <memory>
#include <string_view>

#include "omnigraph/query/memory_source.h"

namespace omnigraph::query::testing {

/// Read load lines (docs/loading.md) without any check beyond their types; ids of keyed nodes come
/// from their keys, of edges without an id from their number.
Result<std::shared_ptr<MemorySource>> MakeMemoryGraph(std::string_view schema_text,
                                                      std::string_view lines,
                                                      std::string_view name = {});

/// A catalog with type ids 1, 2, ...
Result<std::shared_ptr<const schema::Catalog>> MakeCatalog(std::string_view schema_text);

}  // namespace omnigraph::query::testing
