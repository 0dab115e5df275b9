# Finds a CBLAS + LAPACK and makes the target palmette::blas. Palmette runs its own threads, so a serial BLAS is preferred;
# a threaded one is kept to one thread at run time (palmette/blocks). Set PALMETTE_BLAS_LIBRARIES to choose another.
set(PALMETTE_BLAS_LIBRARIES "" CACHE STRING "Libraries that provide CBLAS and LAPACK (empty: search)")
if(PALMETTE_BLAS_LIBRARIES)
  set(_palmette_blas ${PALMETTE_BLAS_LIBRARIES})
else()
  find_library(PALMETTE_OPENBLAS_SERIAL NAMES openblas PATH_SUFFIXES openblas-serial
    PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} NO_CMAKE_SYSTEM_PATH)
  if(PALMETTE_OPENBLAS_SERIAL)
    set(_palmette_blas ${PALMETTE_OPENBLAS_SERIAL})
  else()
    find_package(LAPACK QUIET)
    set(_palmette_blas ${LAPACK_LIBRARIES} ${BLAS_LIBRARIES})
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PalmetteBlas REQUIRED_VARS _palmette_blas
  REASON_FAILURE_MESSAGE "install libopenblas-serial-dev, or set PALMETTE_BLAS_LIBRARIES")
if(PalmetteBlas_FOUND AND NOT TARGET palmette::blas)
  add_library(palmette::blas INTERFACE IMPORTED)
  target_link_libraries(palmette::blas INTERFACE ${_palmette_blas} ${CMAKE_DL_LIBS})
  # Debian's serial OpenBLAS shares its soname with the threaded ones: the run path picks it.
  list(GET _palmette_blas 0 _palmette_blas_first)
  if(IS_ABSOLUTE "${_palmette_blas_first}")
    get_filename_component(_palmette_blas_folder ${_palmette_blas_first} DIRECTORY)
    target_link_options(palmette::blas INTERFACE "LINKER:-rpath,${_palmette_blas_folder}")
  endif()
endif()
set(PALMETTE_BLAS_SUMMARY "${_palmette_blas}")
