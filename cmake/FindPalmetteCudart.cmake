# Finds CUDA's static runtime and defines the target palmette::cudart. PALMETTE_NVCC, if it is set, says where
# CUDA lies.
set(_palmette_cuda_folders ENV CUDA_HOME)
if(PALMETTE_NVCC)
  get_filename_component(_palmette_nvcc ${PALMETTE_NVCC} REALPATH)
  get_filename_component(_palmette_nvcc ${_palmette_nvcc} DIRECTORY)
  list(APPEND _palmette_cuda_folders ${_palmette_nvcc}/..)
endif()
find_library(PALMETTE_CUDART_LIBRARY libcudart_static.a HINTS ${_palmette_cuda_folders}
             PATHS /usr/local/cuda PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PalmetteCudart REQUIRED_VARS PALMETTE_CUDART_LIBRARY
  REASON_FAILURE_MESSAGE "install CUDA 13, or set CUDA_HOME")
if(PalmetteCudart_FOUND AND NOT TARGET palmette::cudart)
  find_package(Threads REQUIRED)
  add_library(palmette::cudart INTERFACE IMPORTED)
  target_link_libraries(palmette::cudart INTERFACE ${PALMETTE_CUDART_LIBRARY} Threads::Threads rt
                        ${CMAKE_DL_LIBS})
endif()
