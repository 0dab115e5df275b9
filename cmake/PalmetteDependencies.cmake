# Outside libraries. Required: threads, zlib, a CBLAS with LAPACK, AMD (SuiteSparse). Optional: METIS, Scotch, MPI, CUDA;
# what is absent is said in the summary and in ordering_method_list().
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PalmetteBlas REQUIRED)
find_package(PalmetteOrderings REQUIRED)
if(PALMETTE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# MPI and CUDA: no room of today needs them; found or not, the build says so.
set(PALMETTE_MPI_SUMMARY "MPI: not used by this version")
set(PALMETTE_CUDA_SUMMARY "CUDA: not used by this version")
if(PALMETTE_MPI STREQUAL "ON")
  message(FATAL_ERROR "PALMETTE_MPI=ON: this version has no MPI transport yet; use AUTO or OFF")
endif()
if(PALMETTE_CUDA STREQUAL "ON")
  message(FATAL_ERROR "PALMETTE_CUDA=ON: this version has no device code yet; use AUTO or OFF")
endif()
