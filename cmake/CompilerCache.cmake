# Compile through ccache where it is installed and nobody chose another launcher. Paths below this checkout count as
# relative, so that all checkouts of one machine share what they compiled.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(OMNIGRAPH_CCACHE ccache)
  if(OMNIGRAPH_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
      env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${OMNIGRAPH_CCACHE}")
  endif()
endif()
