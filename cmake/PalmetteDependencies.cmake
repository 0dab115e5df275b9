# Outside libraries. Required: threads, zlib, a CBLAS with LAPACK, AMD (SuiteSparse). Optional: METIS, Scotch,
# MPI, CUDA; the summary and ordering_method_list() say what is absent.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PalmetteBlas REQUIRED)
find_package(PalmetteOrderings REQUIRED)
if(PALMETTE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# MPI: two-sided and one-sided transports, in a target of their own (palmette::mpi).
set(PALMETTE_HAVE_MPI OFF)
set(PALMETTE_MPI_SUMMARY "MPI switched off")
if(NOT PALMETTE_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI 3.1 QUIET COMPONENTS C CXX)
  set(PALMETTE_MPI_SUMMARY "MPI not found")
  if(MPI_CXX_FOUND)
    set(PALMETTE_HAVE_MPI ON)
    set(PALMETTE_MPI_SUMMARY "MPI ${MPI_CXX_VERSION}")
  elseif(PALMETTE_MPI STREQUAL "ON")
    message(FATAL_ERROR
        "PALMETTE_MPI=ON, but no MPI 3.1 was found: install libopenmpi-dev, or set MPI_CXX_COMPILER")
  endif()
endif()
# CUDA: no room needs it yet; the build says whether it was found.
set(PALMETTE_CUDA_SUMMARY "CUDA: not used by this version")
if(PALMETTE_CUDA STREQUAL "ON")
  message(FATAL_ERROR "PALMETTE_CUDA=ON: no solve of this version runs on a GPU yet; use AUTO or OFF")
endif()
