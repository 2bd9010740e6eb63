/// \file
/// The match of a query: from bindings, hops, filters and blocks to rows of variables.
#pragma once

#include "omnigraph/base/status.h"
#include "session.h"

namespace omnigraph::query {

/// The rows of a query's match, every variable of its outermost pattern bound.
///
/// Errors: kExhausted (`query.too_many_rows`), any kind from the source.
Result<Relation> ExecuteMatch(Session* session);

}  // namespace omnigraph::query
