# Warnings for our own code, as errors. Third-party headers are system headers and stay silent.
add_library(omnigraph_warnings INTERFACE)
add_library(omnigraph::warnings ALIAS omnigraph_warnings)
target_compile_options(omnigraph_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wunused-result -Wno-missing-field-initializers -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Lock discipline is checked here; g++ ignores the annotations. Deprecated uses are g++'s to find: clang also reports
  # those within the std::stable_sort of libstdc++ 12.
  target_compile_options(omnigraph_warnings INTERFACE
    -Wthread-safety -Wno-deprecated-declarations -Wno-unused-command-line-argument)
else()
  # g++ 12 reports these inside libstdc++ and Arrow templates at -O2 and under sanitizers; they are false.
  target_compile_options(omnigraph_warnings INTERFACE
    -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
endif()
