/// \file
/// Schemas that the tests of this folder share, and a counting id source.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "omnigraph/graph/schema/catalog.h"

namespace omnigraph::schema {

/// The fixture of the surface's golden behaviours.
inline constexpr std::string_view kFixture = R"(
interface Named { name: String @index }
node Person implements Named { slug: String @key  age: I32?  tags: [String]?  @range(age, 0..150) }
node Team { code: String  region: enum(eu, us, apac)  size: I32  @key(code, region) }
node Memo { body: String @index }
edge Knows: Person -> Person { since: Date? }
edge MemberOf: Person -> Team @card(0..1)
)";

/// Ids 1, 2, 3, ...
inline IdSource CountingIds(uint64_t first = 1) {
  return [next = first]() mutable { return next++; };
}

inline Result<std::shared_ptr<const Catalog>> Compile(std::string_view text,
                                                      const Catalog* previous = nullptr,
                                                      uint64_t first_id = 1) {
  return CompileSchema(text, previous, CountingIds(first_id));
}

}  // namespace omnigraph::schema
