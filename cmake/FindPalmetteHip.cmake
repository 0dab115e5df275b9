# Finds HIP's runtime for AMD's GPUs and defines the target palmette::amdhip. PALMETTE_HIPCC, if it is set,
# says where HIP lies.
set(_palmette_hip_folders ENV ROCM_PATH)
if(PALMETTE_HIPCC)
  get_filename_component(_palmette_hipcc ${PALMETTE_HIPCC} REALPATH)
  get_filename_component(_palmette_hipcc ${_palmette_hipcc} DIRECTORY)
  list(APPEND _palmette_hip_folders ${_palmette_hipcc}/..)
endif()
find_library(PALMETTE_AMDHIP_LIBRARY amdhip64 HINTS ${_palmette_hip_folders} PATHS /opt/rocm
             PATH_SUFFIXES lib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PalmetteHip REQUIRED_VARS PALMETTE_AMDHIP_LIBRARY
  REASON_FAILURE_MESSAGE "install HIP's runtime, or set ROCM_PATH")
if(PalmetteHip_FOUND AND NOT TARGET palmette::amdhip)
  add_library(palmette::amdhip INTERFACE IMPORTED)
  target_link_libraries(palmette::amdhip INTERFACE ${PALMETTE_AMDHIP_LIBRARY})
endif()
