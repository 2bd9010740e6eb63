#include "evaluate.h"

#include <arrow/compute/api.h>

#include <cmath>
#include <compare>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace omnigraph::query {
namespace {

using arrow::Datum;
namespace compute = arrow::compute;

bool IsSigned(const arrow::DataType& type) {
  return arrow::is_signed_integer(type.id());
}

/// Bring a constant to the type of the column beside it where that loses nothing, so that not the
/// column has to be cast. Floats take the column's width: 0.1 equals a stored 32-bit 0.1.
Datum FitConstant(const Datum& constant, const std::shared_ptr<arrow::DataType>& type) {
  if (constant.type()->Equals(type)) {
    return constant;
  }
  const auto cast = compute::Cast(constant, type, compute::CastOptions::Safe());
  return cast.ok() ? *cast : constant;
}

Result<Datum> AsDecimal(const Datum& value) {
  return compute::Cast(value, arrow::decimal128(20, 0));
}

const char* KernelOf(CompareOp op) {
  switch (op) {
    case CompareOp::kEqual:
      return "equal";
    case CompareOp::kNotEqual:
      return "not_equal";
    case CompareOp::kLess:
      return "less";
    case CompareOp::kLessEqual:
      return "less_equal";
    case CompareOp::kGreater:
      return "greater";
    default:
      return "greater_equal";
  }
}

Result<Column> ToColumn(const Datum& value, int64_t rows) {
  if (value.is_scalar()) {
    return arrow::MakeArrayFromScalar(*value.scalar(), rows);
  }
  return value.make_array();
}

bool IsInteger(const Datum& value) {
  return arrow::is_integer(value.type()->id());
}

bool IsFloating(const Datum& value) {
  return arrow::is_floating(value.type()->id());
}

/// How an integer stands to a float by value: neither type holds all values of the other.
template <typename Integer>
std::partial_ordering OrderOf(Integer integer, double floating) {
  if (std::isnan(floating)) {
    return std::partial_ordering::unordered;
  }
  // 2^63 or 2^64: one above the greatest integer, and a float.
  const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  if (floating >= end) {
    return std::partial_ordering::less;
  }
  if (floating < (std::is_signed_v<Integer> ? -end : 0.0)) {
    return std::partial_ordering::greater;
  }
  const double whole = std::trunc(floating);
  const auto other = static_cast<Integer>(whole);
  return integer == other ? std::partial_ordering(whole <=> floating)
                          : std::partial_ordering(integer <=> other);
}

bool Holds(CompareOp op, std::partial_ordering order) {
  switch (op) {
    case CompareOp::kEqual:
      return std::is_eq(order);
    case CompareOp::kNotEqual:
      return std::is_neq(order);
    case CompareOp::kLess:
      return std::is_lt(order);
    case CompareOp::kLessEqual:
      return std::is_lteq(order);
    case CompareOp::kGreater:
      return std::is_gt(order);
    default:
      return std::is_gteq(order);
  }
}

/// The comparison with its sides changed.
CompareOp Mirrored(CompareOp op) {
  switch (op) {
    case CompareOp::kLess:
      return CompareOp::kGreater;
    case CompareOp::kLessEqual:
      return CompareOp::kGreaterEqual;
    case CompareOp::kGreater:
      return CompareOp::kLess;
    case CompareOp::kGreaterEqual:
      return CompareOp::kLessEqual;
    default:
      return op;
  }
}

template <typename IntegerArray>
Result<Datum> CompareRows(CompareOp op, const IntegerArray& integers,
                          const arrow::DoubleArray& floats) {
  arrow::BooleanBuilder builder;
  OG_RETURN_NOT_OK(builder.Reserve(integers.length()));
  for (int64_t i = 0; i < integers.length(); ++i) {
    if (integers.IsNull(i) || floats.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(Holds(op, OrderOf(integers.Value(i), floats.Value(i))));
    }
  }
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> mask, builder.Finish());
  return Datum(std::move(mask));
}

/// Arrow's kernels cast both sides to one type: they round, or fail on values that it cannot hold.
Result<Datum> CompareIntegerWithFloat(CompareOp op, const Datum& integer, const Datum& floating) {
  const bool both_scalar = integer.is_scalar() && floating.is_scalar();
  const int64_t rows = both_scalar ? 1 : integer.is_scalar() ? floating.length() : integer.length();
  const bool is_signed = IsSigned(*integer.type());
  OG_ASSIGN_OR_RETURN(const Datum wide_integer,
                      compute::Cast(integer, is_signed ? arrow::int64() : arrow::uint64()));
  OG_ASSIGN_OR_RETURN(const Datum wide_float, compute::Cast(floating, arrow::float64()));
  OG_ASSIGN_OR_RETURN(const Column integers, ToColumn(wide_integer, rows));
  OG_ASSIGN_OR_RETURN(const Column floats, ToColumn(wide_float, rows));
  const auto& doubles = static_cast<const arrow::DoubleArray&>(*floats);
  OG_ASSIGN_OR_RETURN(
      const Datum mask,
      is_signed ? CompareRows(op, static_cast<const arrow::Int64Array&>(*integers), doubles)
                : CompareRows(op, static_cast<const arrow::UInt64Array&>(*integers), doubles));
  if (!both_scalar) {
    return mask;
  }
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Scalar> one, mask.make_array()->GetScalar(0));
  return Datum(std::move(one));
}

Result<Datum> CompareValues(CompareOp op, Datum left, Datum right) {
  if (left.is_scalar() && !right.is_scalar()) {
    left = FitConstant(left, right.type());
  } else if (right.is_scalar() && !left.is_scalar()) {
    right = FitConstant(right, left.type());
  }
  if (IsInteger(left) && IsFloating(right)) {
    return CompareIntegerWithFloat(op, left, right);
  }
  if (IsFloating(left) && IsInteger(right)) {
    return CompareIntegerWithFloat(Mirrored(op), right, left);
  }
  // No integer type holds both; Arrow would fail on large values.
  const bool mixed = (left.type()->id() == arrow::Type::UINT64 && IsSigned(*right.type())) ||
                     (right.type()->id() == arrow::Type::UINT64 && IsSigned(*left.type()));
  if (mixed) {
    OG_ASSIGN_OR_RETURN(left, AsDecimal(left));
    OG_ASSIGN_OR_RETURN(right, AsDecimal(right));
  }
  return compute::CallFunction(KernelOf(op), {left, right});
}

std::string_view TextAt(const arrow::Array& array, int64_t row) {
  if (array.type_id() == arrow::Type::LARGE_STRING) {
    return static_cast<const arrow::LargeStringArray&>(array).GetView(row);
  }
  return static_cast<const arrow::StringArray&>(array).GetView(row);
}

/// Both sides vary: no kernel takes a pattern per row.
Result<Datum> MatchTextRows(CompareOp op, const Column& texts, const Column& patterns) {
  arrow::BooleanBuilder builder;
  OG_RETURN_NOT_OK(builder.Reserve(texts->length()));
  for (int64_t i = 0; i < texts->length(); ++i) {
    if (texts->IsNull(i) || patterns->IsNull(i)) {
      builder.UnsafeAppendNull();
      continue;
    }
    const std::string_view text = TextAt(*texts, i);
    const std::string_view pattern = TextAt(*patterns, i);
    builder.UnsafeAppend(op == CompareOp::kStartsWith
                             ? text.starts_with(pattern)
                             : text.find(pattern) != std::string_view::npos);
  }
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> mask, builder.Finish());
  return Datum(std::move(mask));
}

Result<Datum> MatchText(CompareOp op, const Datum& text, const Datum& pattern, int64_t rows) {
  if (pattern.is_scalar() && !text.is_scalar()) {
    if (!pattern.scalar()->is_valid) {
      return Datum(arrow::MakeNullScalar(arrow::boolean()));
    }
    const compute::MatchSubstringOptions options(pattern.scalar()->ToString());
    return compute::CallFunction(op == CompareOp::kStartsWith ? "starts_with" : "match_substring",
                                 {text}, &options);
  }
  OG_ASSIGN_OR_RETURN(const Column texts, ToColumn(text, rows));
  OG_ASSIGN_OR_RETURN(const Column patterns, ToColumn(pattern, rows));
  return MatchTextRows(op, texts, patterns);
}

/// Beside each element of the lists the value of its row.
Result<Datum> SpreadOverElements(const Column& lists, const Column& values) {
  OG_ASSIGN_OR_RETURN(const Datum parents, compute::CallFunction("list_parent_indices", {lists}));
  return compute::Take(values, parents);
}

/// True where some element equals the value.
Result<Datum> ListContains(const Datum& list, const Datum& value, int64_t rows) {
  OG_ASSIGN_OR_RETURN(const Column lists, ToColumn(list, rows));
  OG_ASSIGN_OR_RETURN(const Column values, ToColumn(value, rows));
  const auto& typed = static_cast<const arrow::ListArray&>(*lists);
  OG_ASSIGN_OR_RETURN(const Datum elements, compute::CallFunction("list_flatten", {lists}));
  Datum wanted = value;
  if (!value.is_scalar()) {
    OG_ASSIGN_OR_RETURN(wanted, SpreadOverElements(lists, values));
  }
  OG_ASSIGN_OR_RETURN(const Datum equal, CompareValues(CompareOp::kEqual, elements, wanted));
  const auto hits = std::static_pointer_cast<arrow::BooleanArray>(equal.make_array());
  arrow::BooleanBuilder builder;
  OG_RETURN_NOT_OK(builder.Reserve(rows));
  int64_t at = 0;  // list_flatten leaves out what stands under nulls
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t end = typed.IsNull(i) ? at : at + typed.value_length(i);
    bool found = false;
    for (; at < end; ++at) {
      found = found || (hits->IsValid(at) && hits->Value(at));
    }
    if (typed.IsNull(i) || values->IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(found);
    }
  }
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> mask, builder.Finish());
  return Datum(std::move(mask));
}

Result<Datum> EvaluateCompare(const BoundExpr& expr, const Leaves& leaves) {
  OG_ASSIGN_OR_RETURN(const Datum left, Evaluate(expr.args[0], leaves));
  OG_ASSIGN_OR_RETURN(const Datum right, Evaluate(expr.args[1], leaves));
  if (expr.op == CompareOp::kContains && expr.args[0].type.is_list()) {
    return ListContains(left, right, leaves.rows);
  }
  if (expr.op == CompareOp::kContains || expr.op == CompareOp::kStartsWith) {
    return MatchText(expr.op, left, right, leaves.rows);
  }
  return CompareValues(expr.op, left, right);
}

Result<Datum> EvaluateLogic(const BoundExpr& expr, const Leaves& leaves) {
  OG_ASSIGN_OR_RETURN(Datum result, Evaluate(expr.args[0], leaves));
  if (expr.kind == BoundExpr::Kind::kNot) {
    return compute::CallFunction("invert", {result});
  }
  const char* kernel = expr.kind == BoundExpr::Kind::kAnd ? "and_kleene" : "or_kleene";
  for (size_t i = 1; i < expr.args.size(); ++i) {
    OG_ASSIGN_OR_RETURN(const Datum next, Evaluate(expr.args[i], leaves));
    OG_ASSIGN_OR_RETURN(result, compute::CallFunction(kernel, {result, next}));
  }
  return result;
}

Result<Datum> EvaluateKind(const BoundExpr& expr, const Leaves& leaves) {
  switch (expr.kind) {
    case BoundExpr::Kind::kConstant:
      return Datum(expr.value);
    case BoundExpr::Kind::kParameter:
      return Datum(leaves.params->at(static_cast<size_t>(expr.index)));
    case BoundExpr::Kind::kNow:
      return Datum(leaves.now);
    case BoundExpr::Kind::kColumn: {
      OG_ASSIGN_OR_RETURN(Column column, leaves.column(expr.index, expr.column));
      return Datum(std::move(column));
    }
    case BoundExpr::Kind::kCompare:
      return EvaluateCompare(expr, leaves);
    case BoundExpr::Kind::kIsNull: {
      OG_ASSIGN_OR_RETURN(const Datum value, Evaluate(expr.args[0], leaves));
      return compute::CallFunction(expr.negated ? "is_valid" : "is_null", {value});
    }
    case BoundExpr::Kind::kNot:
    case BoundExpr::Kind::kAnd:
    case BoundExpr::Kind::kOr:
      return EvaluateLogic(expr, leaves);
    case BoundExpr::Kind::kEntity:
    case BoundExpr::Kind::kAggregate:
      break;
  }
  return Internal("query.expression", "an entity or aggregate stands where a value is computed");
}

}  // namespace

Result<Datum> Evaluate(const BoundExpr& expr, const Leaves& leaves) {
  Result<Datum> value = EvaluateKind(expr, leaves);
  if (!value.ok() && GetErrorDetail(value.status()) == nullptr) {
    // A kernel's own error says neither what it is about nor where it stands.
    return MakeError(KindOf(value.status()), "query.expression", value.status().message(),
                     Place{.line = expr.at.line, .column = expr.at.column});
  }
  return value;
}

Result<Column> EvaluateColumn(const BoundExpr& expr, const Leaves& leaves) {
  OG_ASSIGN_OR_RETURN(const Datum value, Evaluate(expr, leaves));
  return ToColumn(value, leaves.rows);
}

Result<std::shared_ptr<arrow::BooleanArray>> EvaluateMask(const BoundExpr& condition,
                                                          const Leaves& leaves) {
  OG_ASSIGN_OR_RETURN(Column mask, EvaluateColumn(condition, leaves));
  if (mask->null_count() > 0) {
    OG_ASSIGN_OR_RETURN(const Datum filled,
                        compute::CallFunction("coalesce", {mask, Datum(arrow::MakeScalar(false))}));
    mask = filled.make_array();
  }
  return std::static_pointer_cast<arrow::BooleanArray>(mask);
}

}  // namespace omnigraph::query
