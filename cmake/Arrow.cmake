# Arrow C++ (core, compute, acero) as imported targets Arrow::arrow, Arrow::compute, Arrow::acero.
#
# Asked first: an installed Arrow of version 21 or newer. Else: the pinned pyarrow wheel that scripts/setup puts below
# .deps/arrow. A wheel has no CMake package and only versioned library names, so the targets are made here.
# OMNIGRAPH_ARROW_DIR names another pyarrow folder (the one that holds include/ and libarrow.so.*).
set(OMNIGRAPH_ARROW_DIR "" CACHE PATH "pyarrow folder with include/ and libarrow.so.*")

if(NOT OMNIGRAPH_ARROW_DIR)
  find_package(Arrow 21 CONFIG QUIET)
  find_package(ArrowCompute 21 CONFIG QUIET)
  find_package(ArrowAcero 21 CONFIG QUIET)
endif()

if(Arrow_FOUND AND ArrowCompute_FOUND AND ArrowAcero_FOUND)
  add_library(Arrow::arrow ALIAS Arrow::arrow_shared)
  add_library(Arrow::compute ALIAS ArrowCompute::arrow_compute_shared)
  add_library(Arrow::acero ALIAS ArrowAcero::arrow_acero_shared)
  message(STATUS "Arrow ${Arrow_VERSION} from ${Arrow_DIR}")
else()
  set(arrow_dir "${OMNIGRAPH_ARROW_DIR}")
  if(NOT arrow_dir)
    file(GLOB arrow_dir "${CMAKE_SOURCE_DIR}/.deps/arrow/lib/python3*/site-packages/pyarrow")
  endif()
  if(NOT arrow_dir OR NOT EXISTS "${arrow_dir}/include/arrow/api.h")
    message(FATAL_ERROR "Arrow C++ 21 or newer was not found. Run scripts/setup, or install Arrow (core, compute, acero).")
  endif()

  # Headers define the ABI of exactly one version: refuse a folder in which headers and libraries disagree.
  file(STRINGS "${arrow_dir}/include/arrow/util/config.h" arrow_so_line REGEX "ARROW_SO_VERSION ")
  string(REGEX MATCH "[0-9]+" arrow_so "${arrow_so_line}")
  foreach(part arrow arrow_compute arrow_acero)
    if(NOT EXISTS "${arrow_dir}/lib${part}.so.${arrow_so}")
      message(FATAL_ERROR "Arrow headers are of ABI ${arrow_so}, but ${arrow_dir}/lib${part}.so.${arrow_so} does not exist.")
    endif()
    add_library(omnigraph_${part} SHARED IMPORTED GLOBAL)
    set_target_properties(omnigraph_${part} PROPERTIES
      IMPORTED_LOCATION "${arrow_dir}/lib${part}.so.${arrow_so}"
      INTERFACE_INCLUDE_DIRECTORIES "${arrow_dir}/include")
  endforeach()
  target_link_libraries(omnigraph_arrow_compute INTERFACE omnigraph_arrow)
  target_link_libraries(omnigraph_arrow_acero INTERFACE omnigraph_arrow_compute)
  add_library(Arrow::arrow ALIAS omnigraph_arrow)
  add_library(Arrow::compute ALIAS omnigraph_arrow_compute)
  add_library(Arrow::acero ALIAS omnigraph_arrow_acero)
  set(OMNIGRAPH_ARROW_LIBRARIES
    "${arrow_dir}/libarrow.so.${arrow_so}" "${arrow_dir}/libarrow_compute.so.${arrow_so}" "${arrow_dir}/libarrow_acero.so.${arrow_so}")
  message(STATUS "Arrow ABI ${arrow_so} from ${arrow_dir}")
endif()
