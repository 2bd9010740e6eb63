/// \file
/// From `.gq` text to its parse tree. Grammar: docs/query.md.
#pragma once

#include <string_view>

#include "omnigraph/base/status.h"
#include "omnigraph/query/ast.h"

namespace omnigraph::query {

/// The longest text that is read as a query file.
inline constexpr size_t kMaxQueryBytes = 4u << 20;
/// How deep blocks, parentheses and lists may nest.
inline constexpr int kMaxQueryDepth = 64;

/// Parse a text by recursive descent; stops at the first error.
///
/// What belongs to the language and is not executed yet is either kept in the tree, for the binder
/// to refuse, or refused here.
///
/// Shape:  `source` names the text in errors (Place::object); it may be empty.
/// Errors: kInvalid (`query.syntax`, `query.encoding`, `query.too_large`, `query.duplicate_name`),
///         kUnsupported (`query.unsupported`), all with line and column; the message says what to
///         write instead.
/// Cost:   O(text); recursion is bounded by kMaxQueryDepth.
Result<QueryFile> ParseQueries(std::string_view text, std::string_view source = {});

/// The query of that name; with an empty name, the only query of the file.
///
/// Owner:  the result borrows from `file`.
/// Errors: kInvalid (`query.name_required`, `query.unknown_name`, `query.empty_file`).
Result<const QueryDecl*> FindQuery(const QueryFile& file, std::string_view name);

}  // namespace omnigraph::query
