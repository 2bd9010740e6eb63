#include "omnigraph/base/status.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace omnigraph {
namespace {

constexpr const char* kDetailTypeId = "omnigraph::ErrorDetail";

constexpr std::array<ErrorKindFacts, 12> kFacts = {{
    {"invalid", 400, 2, Retry::kNever},
    {"not_found", 404, 3, Retry::kNever},
    {"already_exists", 409, 3, Retry::kNever},
    {"conflict", 409, 4, Retry::kAfterRefresh},
    {"fenced", 503, 5, Retry::kSameRequest},
    {"unavailable", 503, 6, Retry::kSameRequest},
    {"deadline", 504, 6, Retry::kAfterRefresh},
    {"exhausted", 429, 6, Retry::kSameRequest},
    {"corruption", 500, 7, Retry::kNever},
    {"unsupported", 501, 2, Retry::kNever},
    {"cancelled", 499, 130, Retry::kNever},
    {"internal", 500, 70, Retry::kNever},
}};

arrow::StatusCode ArrowCode(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return arrow::StatusCode::Invalid;
    case ErrorKind::kNotFound:
      return arrow::StatusCode::KeyError;
    case ErrorKind::kAlreadyExists:
      return arrow::StatusCode::AlreadyExists;
    case ErrorKind::kConflict:
    case ErrorKind::kUnavailable:
      return arrow::StatusCode::IOError;
    case ErrorKind::kFenced:
    case ErrorKind::kDeadline:
    case ErrorKind::kCancelled:
      return arrow::StatusCode::Cancelled;
    case ErrorKind::kExhausted:
      return arrow::StatusCode::CapacityError;
    case ErrorKind::kCorruption:
      return arrow::StatusCode::SerializationError;
    case ErrorKind::kUnsupported:
      return arrow::StatusCode::NotImplemented;
    case ErrorKind::kInternal:
      return arrow::StatusCode::UnknownError;
  }
  return arrow::StatusCode::UnknownError;
}

ErrorKind KindOfArrowCode(arrow::StatusCode code) {
  switch (code) {
    case arrow::StatusCode::OutOfMemory:
    case arrow::StatusCode::CapacityError:
      return ErrorKind::kExhausted;
    case arrow::StatusCode::KeyError:
      return ErrorKind::kNotFound;
    case arrow::StatusCode::AlreadyExists:
      return ErrorKind::kAlreadyExists;
    case arrow::StatusCode::TypeError:
    case arrow::StatusCode::Invalid:
    case arrow::StatusCode::IndexError:
      return ErrorKind::kInvalid;
    case arrow::StatusCode::IOError:
      return ErrorKind::kUnavailable;
    case arrow::StatusCode::Cancelled:
      return ErrorKind::kCancelled;
    case arrow::StatusCode::SerializationError:
      return ErrorKind::kCorruption;
    case arrow::StatusCode::NotImplemented:
      return ErrorKind::kUnsupported;
    default:
      return ErrorKind::kInternal;
  }
}

Status Rebuild(const Status& status, std::string message, Place place, bool effect_unknown) {
  return Status::FromDetailAndArgs(status.code(),
                                   std::make_shared<ErrorDetail>(KindOf(status), CodeOf(status),
                                                                 std::move(place), effect_unknown),
                                   std::move(message));
}

}  // namespace

const ErrorKindFacts& ErrorKindInfo(ErrorKind kind) {
  return kFacts[static_cast<size_t>(kind)];
}

ErrorDetail::ErrorDetail(ErrorKind kind, std::string code, Place place, bool effect_unknown)
    : kind_(kind),
      code_(std::move(code)),
      place_(std::move(place)),
      effect_unknown_(effect_unknown) {}

const char* ErrorDetail::type_id() const {
  return kDetailTypeId;
}

std::string ErrorDetail::ToString() const {
  std::string text = code_.empty() ? std::string(ErrorKindInfo(kind_).name) : code_;
  if (!place_.object.empty()) {
    text += " at " + place_.object;
  }
  if (place_.line > 0) {
    text += " line " + std::to_string(place_.line);
  }
  if (place_.column > 0) {
    text += " column " + std::to_string(place_.column);
  }
  if (!place_.property.empty()) {
    text += " property " + place_.property;
  }
  if (!place_.key.empty()) {
    text += " key " + place_.key;
  }
  if (effect_unknown_) {
    text += " effect unknown";
  }
  return text;
}

Status MakeError(ErrorKind kind, std::string_view code, std::string message, Place place) {
  return Status::FromDetailAndArgs(
      ArrowCode(kind),
      std::make_shared<ErrorDetail>(kind, std::string(code), std::move(place), false),
      std::move(message));
}

Status WithUnknownEffect(const Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return Rebuild(status, status.message(), detail != nullptr ? detail->place() : Place{}, true);
}

Status WithKnownEffect(const Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return Rebuild(status, status.message(), detail != nullptr ? detail->place() : Place{}, false);
}

Status WithPlace(const Status& status, const Place& place) {
  const ErrorDetail* detail = GetErrorDetail(status);
  Place merged = detail != nullptr ? detail->place() : Place{};
  if (merged.object.empty()) {
    merged.object = place.object;
  }
  if (merged.line == 0) {
    merged.line = place.line;
  }
  if (merged.column == 0) {
    merged.column = place.column;
  }
  if (merged.property.empty()) {
    merged.property = place.property;
  }
  if (merged.key.empty()) {
    merged.key = place.key;
  }
  return Rebuild(status, status.message(), std::move(merged),
                 detail != nullptr && detail->effect_unknown());
}

Status WithContext(const Status& status, std::string_view context) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return Rebuild(status, std::string(context) + ": " + status.message(),
                 detail != nullptr ? detail->place() : Place{},
                 detail != nullptr && detail->effect_unknown());
}

Status Invalid(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kInvalid, code, std::move(message), std::move(place));
}
Status NotFound(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kNotFound, code, std::move(message), std::move(place));
}
Status AlreadyExists(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kAlreadyExists, code, std::move(message), std::move(place));
}
Status Conflict(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kConflict, code, std::move(message), std::move(place));
}
Status Fenced(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kFenced, code, std::move(message), std::move(place));
}
Status Unavailable(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kUnavailable, code, std::move(message), std::move(place));
}
Status Deadline(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kDeadline, code, std::move(message), std::move(place));
}
Status Exhausted(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kExhausted, code, std::move(message), std::move(place));
}
Status Corruption(std::string_view code, std::string message, std::string_view object) {
  Place place;
  place.object = std::string(object);
  return MakeError(ErrorKind::kCorruption, code, std::move(message), std::move(place));
}
Status Unsupported(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kUnsupported, code, std::move(message), std::move(place));
}
Status Cancelled(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kCancelled, code, std::move(message), std::move(place));
}
Status Internal(std::string_view code, std::string message, Place place) {
  return MakeError(ErrorKind::kInternal, code, std::move(message), std::move(place));
}

const ErrorDetail* GetErrorDetail(const Status& status) {
  if (status.ok() || status.detail() == nullptr) {
    return nullptr;
  }
  if (std::string_view(status.detail()->type_id()) != kDetailTypeId) {
    return nullptr;
  }
  return static_cast<const ErrorDetail*>(status.detail().get());
}

ErrorKind KindOf(const Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return detail != nullptr ? detail->kind() : KindOfArrowCode(status.code());
}

std::string CodeOf(const Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return detail != nullptr ? detail->code() : std::string();
}

bool Is(const Status& status, ErrorKind kind) {
  return !status.ok() && KindOf(status) == kind;
}

namespace internal {
void CheckFailed(const char* file, int line, const char* expression, const std::string& values) {
  std::fprintf(stderr, "%s:%d: check failed: %s %s\n", file, line, expression, values.c_str());
  std::abort();
}
}  // namespace internal
}  // namespace omnigraph
