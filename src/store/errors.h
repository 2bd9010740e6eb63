/// \file
/// Makers of the store's typed errors: one code, one sentence, the object's name as the place.
#pragma once

#include <string>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::store {

inline Place ObjectPlace(std::string_view path) {
  Place place;
  place.object = std::string(path);
  return place;
}

inline Status ObjectNotFound(std::string_view path) {
  return NotFound("store.not_found", "there is no object " + std::string(path), ObjectPlace(path));
}

inline Status ObjectExists(std::string_view path) {
  return AlreadyExists("store.already_exists",
                       "the object " + std::string(path) + " exists already", ObjectPlace(path));
}

inline Status FolderIsObject(std::string_view path, std::string_view folder) {
  return Invalid(
      "store.not_a_folder",
      "cannot put " + std::string(path) + ": " + std::string(folder) + " is not a folder",
      ObjectPlace(path));
}

inline Status ObjectIsFolder(std::string_view path) {
  return Invalid("store.is_a_folder", "cannot put " + std::string(path) + ": it is a folder",
                 ObjectPlace(path));
}

inline Status ShortObject(std::string_view path, uint64_t offset, uint64_t length, uint64_t size) {
  return Corruption("store.short_object",
                    "wanted " + std::to_string(length) + " bytes at offset " +
                        std::to_string(offset) + " of " + std::string(path) + ", which has " +
                        std::to_string(size),
                    path);
}

/// True where the range lies inside an object of `size` bytes, whatever its numbers.
inline bool RangeFits(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

}  // namespace omnigraph::store
