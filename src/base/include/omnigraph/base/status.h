/// \file
/// The one carrier of errors: arrow::Status and arrow::Result<T>, with an ErrorDetail that says
/// what a caller does.
///
/// HTTP statuses, exit codes and JSON error bodies derive from ErrorKind in one table
/// (ErrorKindInfo). Nothing of ours throws; adapters around throwing libraries catch in one
/// function.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace omnigraph {

using arrow::Result;
using arrow::Status;

/// What a caller does about an error. A new kind needs a decision record and a caller that would
/// act differently.
enum class ErrorKind : uint8_t {
  kInvalid,        ///< request or configuration is wrong: fix it
  kNotFound,       ///< the named thing is absent: decide
  kAlreadyExists,  ///< a create lost: decide
  kConflict,       ///< a compare-and-swap lost: read again, rebase, retry
  kFenced,  ///< a newer epoch owns this shard: stop this writer; a client sends the request again
  kUnavailable,  ///< store, network or quota: retry with backoff
  kDeadline,     ///< time ran out
  kExhausted,    ///< memory, queue or limit is full: slow down
  kCorruption,   ///< stored bytes break their format: stop reading that object, report
  kUnsupported,  ///< valid, but not built, or of a newer format: upgrade
  kCancelled,    ///< the caller gave up
  kInternal,     ///< a bug was caught at the border: file it
};

/// Whether sending the same request again can help.
enum class Retry : uint8_t { kNever, kSameRequest, kAfterRefresh };

/// Where an error is. Unset members are empty or 0; lines and columns count from 1, columns in
/// bytes.
struct Place {
  std::string object;  ///< object path, table or file name
  int64_t line = 0;
  int64_t column = 0;
  std::string property;  ///< type or property, in the user's own words
  std::string key;       ///< entity id
};

/// The facts about one kind that its surfaces need.
struct ErrorKindFacts {
  std::string_view name;  ///< snake_case name in JSON error bodies
  int http_status;
  int exit_code;
  Retry retry;
};

/// The one table from which HTTP statuses, exit codes and retry advice derive.
const ErrorKindFacts& ErrorKindInfo(ErrorKind kind);

/// The detail attached to every Status that this project makes. Immutable.
class ErrorDetail : public arrow::StatusDetail {
 public:
  ErrorDetail(ErrorKind kind, std::string code, Place place, bool effect_unknown);

  const char* type_id() const override;
  std::string ToString() const override;

  ErrorKind kind() const { return kind_; }
  /// Stable dotted code such as `schema.unknown_property`; what a user finds in the documentation.
  const std::string& code() const { return code_; }
  const Place& place() const { return place_; }
  /// True where the operation may or may not have taken effect.
  bool effect_unknown() const { return effect_unknown_; }

 private:
  ErrorKind kind_;
  std::string code_;
  Place place_;
  bool effect_unknown_;
};

/// Make an error. `message` says what was attempted, on what, with which values, and what to do; no
/// stack of prefixes.
Status MakeError(ErrorKind kind, std::string_view code, std::string message, Place place = {});

/// The same error, marked as one whose effect cannot be known.
Status WithUnknownEffect(const Status& status);
/// The same error, marked as one that surely had no effect.
Status WithKnownEffect(const Status& status);
/// The same error with its place filled in where it was empty.
Status WithPlace(const Status& status, const Place& place);
/// The same error (kind, code, place) with `context: ` before its message. Use once per layer.
Status WithContext(const Status& status, std::string_view context);

Status Invalid(std::string_view code, std::string message, Place place = {});
Status NotFound(std::string_view code, std::string message, Place place = {});
Status AlreadyExists(std::string_view code, std::string message, Place place = {});
Status Conflict(std::string_view code, std::string message, Place place = {});
Status Fenced(std::string_view code, std::string message, Place place = {});
Status Unavailable(std::string_view code, std::string message, Place place = {});
Status Deadline(std::string_view code, std::string message, Place place = {});
Status Exhausted(std::string_view code, std::string message, Place place = {});
/// `object` names the stored object whose bytes break their format.
Status Corruption(std::string_view code, std::string message, std::string_view object);
Status Unsupported(std::string_view code, std::string message, Place place = {});
Status Cancelled(std::string_view code, std::string message, Place place = {});
Status Internal(std::string_view code, std::string message, Place place = {});

/// The detail of a status that this project made; nullptr for OK and for a bare Arrow status.
const ErrorDetail* GetErrorDetail(const Status& status);
/// The kind of any failed status; a bare Arrow status maps by its Arrow code. REQUIRES:
/// !status.ok().
ErrorKind KindOf(const Status& status);
/// The dotted code; empty for a bare Arrow status.
std::string CodeOf(const Status& status);
/// Predicates for tests and callers; never compare message text.
bool Is(const Status& status, ErrorKind kind);
inline bool IsNotFound(const Status& s) {
  return Is(s, ErrorKind::kNotFound);
}
inline bool IsAlreadyExists(const Status& s) {
  return Is(s, ErrorKind::kAlreadyExists);
}
inline bool IsConflict(const Status& s) {
  return Is(s, ErrorKind::kConflict);
}
inline bool IsFenced(const Status& s) {
  return Is(s, ErrorKind::kFenced);
}
inline bool IsCorruption(const Status& s) {
  return Is(s, ErrorKind::kCorruption);
}
inline bool IsInvalid(const Status& s) {
  return Is(s, ErrorKind::kInvalid);
}
inline bool IsUnsupported(const Status& s) {
  return Is(s, ErrorKind::kUnsupported);
}

namespace internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression,
                              const std::string& values);
}  // namespace internal
}  // namespace omnigraph

#define OG_CONCAT_INNER(a, b) a##b
#define OG_CONCAT(a, b) OG_CONCAT_INNER(a, b)

/// Return the status of `expr` from this function unless it is OK.
#define OG_RETURN_NOT_OK(expr)               \
  do {                                       \
    ::omnigraph::Status _og_status = (expr); \
    if (!_og_status.ok())                    \
      return _og_status;                     \
  } while (false)

/// The same, with a context added once: OG_RETURN_NOT_OK_CTX(expr, "flush shard " + id).
#define OG_RETURN_NOT_OK_CTX(expr, context)                   \
  do {                                                        \
    ::omnigraph::Status _og_status = (expr);                  \
    if (!_og_status.ok())                                     \
      return ::omnigraph::WithContext(_og_status, (context)); \
  } while (false)

#define OG_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto&& tmp = (expr);                           \
  if (!tmp.ok())                                 \
    return tmp.status();                         \
  lhs = std::move(tmp).ValueUnsafe()

/// Declare or assign `lhs` from a Result, or return its error.
#define OG_ASSIGN_OR_RETURN(lhs, expr) \
  OG_ASSIGN_OR_RETURN_IMPL(OG_CONCAT(_og_result_, __COUNTER__), lhs, expr)

/// Always on. For bugs (broken invariants, impossible states, misuse), never for bytes from
/// outside.
#define OG_CHECK(condition)                                                              \
  do {                                                                                   \
    if (!(condition)) [[unlikely]]                                                       \
      ::omnigraph::internal::CheckFailed(__FILE__, __LINE__, #condition, std::string()); \
  } while (false)

/// OG_CHECK for a Status or Result: prints the error.
#define OG_CHECK_OK(expr)                                                                   \
  do {                                                                                      \
    const ::omnigraph::Status _og_status = ::omnigraph::internal_status(expr);              \
    if (!_og_status.ok()) [[unlikely]]                                                      \
      ::omnigraph::internal::CheckFailed(__FILE__, __LINE__, #expr, _og_status.ToString()); \
  } while (false)

namespace omnigraph {
inline const Status& internal_status(const Status& status) {
  return status;
}
template <typename T>
Status internal_status(const Result<T>& result) {
  return result.status();
}
}  // namespace omnigraph
