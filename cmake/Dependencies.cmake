# Every third-party library, wrapped once. Headers arrive as system headers.
# What was tried together, and what must never be linked (Debian's RE2 and Abseil), is in docs/decisions/0002-dependencies.md.
include(Arrow)

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(simdjson REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(curl REQUIRED IMPORTED_TARGET libcurl)

set(Boost_NO_WARN_NEW_VERSIONS ON)
find_package(Boost 1.81 REQUIRED COMPONENTS json url system)

if(OMNIGRAPH_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()

# Debian's roaring package has a CMake file that never finds itself.
find_library(ROARING_LIBRARY roaring REQUIRED)
find_path(ROARING_INCLUDE_DIR roaring/roaring.h REQUIRED)
add_library(omnigraph_roaring UNKNOWN IMPORTED GLOBAL)
add_library(Roaring::roaring ALIAS omnigraph_roaring)
set_target_properties(omnigraph_roaring PROPERTIES
  IMPORTED_LOCATION "${ROARING_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${ROARING_INCLUDE_DIR}")
