#include "local_errno.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "errors.h"

namespace omnigraph::store {

Status ErrnoStatus(int error, std::string_view action, std::string_view object) {
  const std::string message = "cannot " + std::string(action) + " " + std::string(object) + ": " +
                              std::generic_category().message(error);
  const Place place = ObjectPlace(object);
  switch (error) {
    case ENOENT:
      return NotFound("store.not_found", message, place);
    case EEXIST:
      return AlreadyExists("store.already_exists", message, place);
    case EACCES:
    case EPERM:
    case EROFS:
      return Invalid("store.permission_denied", message, place);
    case ENOTDIR:
      return Invalid("store.not_a_folder", message, place);
    case EISDIR:
      return Invalid("store.is_a_folder", message, place);
    case ENAMETOOLONG:
    case ELOOP:
      return Invalid("store.bad_path", message, place);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Exhausted("store.full", message, place);
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Exhausted("store.too_many_files", message, place);
    default:
      return Unavailable("store.io", message, place);
  }
}

}  // namespace omnigraph::store
