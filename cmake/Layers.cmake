# The layer rule, as a build rule. Each layer has an include root of its own (its include/ folder), and sees only the
# roots of the layers that it links; an include that breaks the table in docs/architecture.md finds no such file.

# og_layer(name DEPS <targets...> [PRIVATE_DEPS <targets...>] SRCS <files...>)
#   target og_<name>, alias omnigraph::<name>; '/' in a folder name becomes '_' in the target name.
function(og_layer name)
  cmake_parse_arguments(A "" "" "DEPS;PRIVATE_DEPS;SRCS" ${ARGN})
  if(NOT A_SRCS)
    add_library(og_${name} INTERFACE)
    add_library(omnigraph::${name} ALIAS og_${name})
    target_include_directories(og_${name} INTERFACE include)
    target_link_libraries(og_${name} INTERFACE ${A_DEPS})
    return()
  endif()
  add_library(og_${name} STATIC ${A_SRCS})
  add_library(omnigraph::${name} ALIAS og_${name})
  target_include_directories(og_${name} PUBLIC include PRIVATE .)
  target_link_libraries(og_${name} PUBLIC ${A_DEPS} PRIVATE ${A_PRIVATE_DEPS} omnigraph::warnings)
endfunction()

# og_app(name LINK <targets...> SRCS <files...>): a program on the real machine.
function(og_app name)
  cmake_parse_arguments(A "" "" "LINK;SRCS" ${ARGN})
  add_executable(${name} ${A_SRCS})
  target_include_directories(${name} PRIVATE .)
  target_link_libraries(${name} PRIVATE ${A_LINK} omnigraph::runtime_threads omnigraph::warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin" INSTALL_RPATH "$ORIGIN/../lib")
endfunction()

# og_test(name LABEL <unit|conf|golden|sim|e2e|model> [SIM] LINK <targets...> SRCS <files...>)
#   SIM links the simulated machine instead of real threads. GoogleTest's main comes from tests/testing.
function(og_test name)
  cmake_parse_arguments(A "SIM" "LABEL" "LINK;SRCS" ${ARGN})
  add_executable(${name} ${A_SRCS})
  target_include_directories(${name} PRIVATE .)
  if(A_SIM)
    set(runtime omnigraph::runtime_sim)
  else()
    set(runtime omnigraph::runtime_threads)
  endif()
  target_link_libraries(${name} PRIVATE ${A_LINK} omnigraph::testing ${runtime} omnigraph::warnings GTest::gtest GTest::gmock)
  foreach(source ${A_SRCS})
    # Only where they are used: a path on the command line makes a compiler cache miss in another checkout.
    file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/${source}" uses REGEX "OMNIGRAPH_(SOURCE|BINARY)_DIR" LIMIT_COUNT 1)
    if(uses)
      set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS
        "OMNIGRAPH_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\";OMNIGRAPH_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
    endif()
  endforeach()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABEL}" TIMEOUT 900)
  if(CMAKE_CXX_FLAGS MATCHES "fsanitize")
    # Arrow's own allocator is not instrumented: reports in it are false, and true ones are hidden.
    # An allocation that cannot be is an error to us, not the sanitizer's end of the process.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
      "ARROW_DEFAULT_MEMORY_POOL=system;ASAN_OPTIONS=allocator_may_return_null=1;TSAN_OPTIONS=allocator_may_return_null=1")
  endif()
endfunction()

# og_bench(name LINK <targets...> SRCS <files...>): the program bench_<name> of one group of figures, on the real machine.
#   `bench_<name> --work DIR` prints lines `figure <name>.<figure> <number>`; scripts/bench runs all programs.
function(og_bench name)
  cmake_parse_arguments(A "" "" "LINK;SRCS" ${ARGN})
  add_executable(bench_${name} ${A_SRCS})
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/bench)
  target_link_libraries(bench_${name} PRIVATE ${A_LINK} omnigraph::runtime_threads omnigraph::warnings)
endfunction()
