# Compile through ccache where it is installed and nobody chose another launcher.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(OMNIGRAPH_CCACHE ccache)
  if(OMNIGRAPH_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${OMNIGRAPH_CCACHE}")
  endif()
endif()
