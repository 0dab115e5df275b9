# Finds a CBLAS + LAPACK and defines the target palmette::blas. Palmette runs its own threads and limits the
# BLAS to one (palmette/blocks), but calls it from several: Debian's serial OpenBLAS does not support that and
# returns wrong products, so the pthread build is preferred, and calls to a serial one take turns. Set
# PALMETTE_BLAS_LIBRARIES to choose another.
set(PALMETTE_BLAS_LIBRARIES "" CACHE STRING "Libraries that provide CBLAS and LAPACK (empty: search)")
if(PALMETTE_BLAS_LIBRARIES)
  set(_palmette_blas ${PALMETTE_BLAS_LIBRARIES})
else()
  foreach(_palmette_variant pthread openmp serial)
    if(NOT PALMETTE_OPENBLAS)
      find_library(PALMETTE_OPENBLAS NAMES openblas PATH_SUFFIXES openblas-${_palmette_variant}
        PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} NO_CMAKE_SYSTEM_PATH)
    endif()
  endforeach()
  if(PALMETTE_OPENBLAS)
    set(_palmette_blas ${PALMETTE_OPENBLAS})
  else()
    find_package(LAPACK QUIET)
    set(_palmette_blas ${LAPACK_LIBRARIES} ${BLAS_LIBRARIES})
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PalmetteBlas REQUIRED_VARS _palmette_blas
  REASON_FAILURE_MESSAGE "install libopenblas-pthread-dev, or set PALMETTE_BLAS_LIBRARIES")
if(PalmetteBlas_FOUND AND NOT TARGET palmette::blas)
  add_library(palmette::blas INTERFACE IMPORTED)
  target_link_libraries(palmette::blas INTERFACE ${_palmette_blas} ${CMAKE_DL_LIBS})
  # Debian's builds of OpenBLAS share one soname: the run path selects the one that was found.
  list(GET _palmette_blas 0 _palmette_blas_first)
  if(IS_ABSOLUTE "${_palmette_blas_first}")
    get_filename_component(_palmette_blas_folder ${_palmette_blas_first} DIRECTORY)
    target_link_options(palmette::blas INTERFACE "LINKER:-rpath,${_palmette_blas_folder}")
  endif()
endif()
# The folder of an OpenBLAS that no system folder holds, for the run path of what is installed.
set(PALMETTE_BLAS_FOLDER "${_palmette_blas_folder}")
set(PALMETTE_BLAS_SUMMARY "${_palmette_blas}")
