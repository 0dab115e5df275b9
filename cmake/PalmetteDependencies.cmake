# Outside libraries. Required: threads, zlib, a CBLAS with LAPACK, AMD (SuiteSparse). Optional: METIS, Scotch,
# MPI, nvcc; the summary and ordering_method_list() say what is absent.
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
include(CheckCXXSourceCompiles)
# PETSc with the same MPI, in double precision, real or complex: 3.18 is what has been tried.
set(PALMETTE_HAVE_PETSC OFF)
set(PALMETTE_PETSC_SUMMARY "PETSc switched off")
if(NOT PALMETTE_PETSC STREQUAL "OFF")
  set(PALMETTE_PETSC_SUMMARY "PETSc not found")
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND AND PALMETTE_HAVE_MPI)
    pkg_check_modules(PETSC QUIET IMPORTED_TARGET petsc>=3.18)
  endif()
  if(PETSC_FOUND)
    # The headers of a PETSc that was configured without a C++ compiler are C alone.
    set(CMAKE_REQUIRED_LIBRARIES PkgConfig::PETSC MPI::MPI_CXX)
    check_cxx_source_compiles("#include <petscsys.h>
int main() { PetscCall(PetscSleep(0)); }" PALMETTE_PETSC_${PETSC_VERSION}_KNOWS_CXX)
    unset(CMAKE_REQUIRED_LIBRARIES)
    set(PALMETTE_HAVE_PETSC ${PALMETTE_PETSC_${PETSC_VERSION}_KNOWS_CXX})
    set(PALMETTE_PETSC_SUMMARY "PETSc ${PETSC_VERSION}")
    if(NOT PALMETTE_HAVE_PETSC)
      string(APPEND PALMETTE_PETSC_SUMMARY
          " does not compile from C++ (was it configured with a C++ compiler?)")
    endif()
  endif()
  if(PALMETTE_PETSC STREQUAL "ON" AND NOT PALMETTE_HAVE_PETSC)
    message(FATAL_ERROR "PALMETTE_PETSC=ON, but there is no MPI, or pkg-config finds no petsc of 3.18 or "
        "later that was configured with C++: install petsc-dev, or set PKG_CONFIG_PATH")
  endif()
endif()
# HIP. The tests have hipcc compile the kernels and the back end for AMD's GPUs. The library gets its HIP back
# end where there is a driver too, or with PALMETTE_HIP=ON.
set(PALMETTE_HIP_SUMMARY "HIP switched off")
set(PALMETTE_HAVE_HIP OFF)
if(NOT PALMETTE_HIP STREQUAL "OFF")
  find_program(PALMETTE_HIPCC hipcc HINTS ENV ROCM_PATH PATH_SUFFIXES bin PATHS /opt/rocm/bin)
  set(PALMETTE_HIP_SUMMARY "no hipcc")
  if(PALMETTE_HIPCC)
    find_package(PalmetteHip QUIET)
    set(PALMETTE_HIP_SUMMARY "kernels for AMD's GPUs compiled by ${PALMETTE_HIPCC} for tests")
    if(PalmetteHip_FOUND AND (EXISTS /dev/kfd OR PALMETTE_HIP STREQUAL "ON"))
      set(PALMETTE_HAVE_HIP ON)
      set(PALMETTE_HIP_SUMMARY "HIP by ${PALMETTE_HIPCC}, never run by its authors")
    endif()
  endif()
  if(PALMETTE_HIP STREQUAL "ON" AND NOT PALMETTE_HAVE_HIP)
    message(FATAL_ERROR "PALMETTE_HIP=ON, but there is no hipcc or no libamdhip64: install them (Debian: "
        "hipcc), or set ROCM_PATH")
  endif()
endif()
# CUDA. The tests have nvcc compile the kernels, run its PTX in the emulator, and hold what it makes of them
# against limits. The library gets its CUDA back end where there is a driver too, or with PALMETTE_CUDA=ON.
# nvcc is that of a toolkit, or from PyPI's packages in the environment .venv.
set(PALMETTE_CUDA_SUMMARY "CUDA switched off")
set(PALMETTE_HAVE_CUDA OFF)
if(NOT PALMETTE_CUDA STREQUAL "OFF")
  file(GLOB PALMETTE_CUDA_FOLDERS ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/bin)
  find_program(PALMETTE_NVCC nvcc HINTS ENV CUDA_HOME PATH_SUFFIXES bin
               PATHS /usr/local/cuda/bin ${PALMETTE_CUDA_FOLDERS})
  find_program(PALMETTE_CUOBJDUMP cuobjdump HINTS ENV CUDA_HOME PATH_SUFFIXES bin
               PATHS /usr/local/cuda/bin ${PALMETTE_CUDA_FOLDERS})
  # cuobjdump calls nvdisasm.
  find_program(PALMETTE_NVDISASM nvdisasm HINTS ENV CUDA_HOME PATH_SUFFIXES bin
               PATHS /usr/local/cuda/bin ${PALMETTE_CUDA_FOLDERS})
  set(PALMETTE_CUDA_SUMMARY "no nvcc: kernels for GPUs are compiled for the emulator alone")
  find_library(PALMETTE_CUDA_DRIVER NAMES libcuda.so.1)
  set(PALMETTE_WANTS_NVCC OFF)
  if(PALMETTE_TESTS OR PALMETTE_CUDA_DRIVER OR PALMETTE_CUDA STREQUAL "ON")
    set(PALMETTE_WANTS_NVCC ON)
  endif()
  if(PALMETTE_NVCC AND PALMETTE_WANTS_NVCC AND NOT PALMETTE_NVCC_WORKS STREQUAL PALMETTE_NVCC)
    execute_process(COMMAND ${PALMETTE_NVCC} -std=c++20 -arch=sm_90 -ccbin ${CMAKE_CXX_COMPILER}
                            -I ${PROJECT_SOURCE_DIR} -ptx ${PROJECT_SOURCE_DIR}/tests/device/words.cu
                            -o ${PROJECT_BINARY_DIR}/words.ptx
                    RESULT_VARIABLE PALMETTE_NVCC_STATUS OUTPUT_QUIET ERROR_QUIET)
    if(PALMETTE_NVCC_STATUS EQUAL 0)
      set(PALMETTE_NVCC_WORKS ${PALMETTE_NVCC} CACHE INTERNAL "The nvcc that compiles the kernels")
    endif()
  endif()
  if(PALMETTE_NVCC AND PALMETTE_NVCC_WORKS STREQUAL PALMETTE_NVCC)
    find_package(PalmetteCudart QUIET)
    set(PALMETTE_CUDA_SUMMARY "kernels for GPUs compiled by ${PALMETTE_NVCC} for tests")
    if(PalmetteCudart_FOUND AND (PALMETTE_CUDA_DRIVER OR PALMETTE_CUDA STREQUAL "ON"))
      set(PALMETTE_HAVE_CUDA ON)
      set(PALMETTE_CUDA_SUMMARY "CUDA by ${PALMETTE_NVCC}")
    endif()
  elseif(PALMETTE_NVCC AND PALMETTE_WANTS_NVCC)
    set(PALMETTE_CUDA_SUMMARY "${PALMETTE_NVCC} does not compile the kernels for GPUs")
  endif()
  if(PALMETTE_CUDA STREQUAL "ON" AND NOT PALMETTE_HAVE_CUDA)
    message(FATAL_ERROR "PALMETTE_CUDA=ON, but there is no nvcc that compiles the kernels, or no "
        "libcudart_static.a: install CUDA 13, set CUDA_HOME, or set PALMETTE_NVCC to the path of nvcc")
  endif()
endif()
