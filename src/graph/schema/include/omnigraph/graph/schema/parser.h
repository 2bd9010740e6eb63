/// \file
/// From `.pg` text to its parse tree. Grammar: docs/schema.md.
#pragma once

#include <string_view>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/ast.h"

namespace omnigraph::schema {

/// The longest text that is read as a schema.
inline constexpr size_t kMaxSchemaBytes = 4u << 20;

/// Parse a schema text by recursive descent; stops at the first error.
///
/// Errors: kInvalid with line and column (`schema.syntax`, `schema.encoding`,
/// `schema.string_escape`,
///         `schema.too_large` and further `schema.*` codes of docs/errors.md); the message says
///         what to write instead.
/// Cost:   O(text), recursion does not depend on the text.
Result<Ast> ParseSchema(std::string_view text);

}  // namespace omnigraph::schema
