// CUDA's and HIP's runtimes under one set of names: PALMETTE_GPU(Malloc) is cudaMalloc or hipMalloc. Only the
// back end of devices includes this file.
#pragma once

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define PALMETTE_GPU(name) hip##name
#define PALMETTE_WHY_NO_GPU why_no_hip
#define PALMETTE_MAKE_GPU make_hip_device
#else
#include <cuda_runtime.h>
#define PALMETTE_GPU(name) cuda##name
#define PALMETTE_WHY_NO_GPU why_no_cuda
#define PALMETTE_MAKE_GPU make_cuda_device
#endif

namespace palmette::device {

#if defined(__HIPCC__)
using GpuProperties = hipDeviceProp_t;
constexpr auto gpu_out_of_memory = hipErrorOutOfMemory;
constexpr auto gpu_reached_before = hipErrorPeerAccessAlreadyEnabled;
constexpr auto gpu_memory_clock = hipDeviceAttributeMemoryClockRate;
constexpr auto gpu_memory_bits = hipDeviceAttributeMemoryBusWidth;
constexpr auto gpu_concurrent_managed = hipDeviceAttributeConcurrentManagedAccess;
constexpr const char* gpu_runtime_name = "HIP";
constexpr const char* gpu_kind = "hip";
inline hipMemoryType kind_of_memory(const hipPointerAttribute_t& found) {
#if HIP_VERSION_MAJOR >= 6
  return found.type;
#else
  return found.memoryType;
#endif
}
inline bool is_managed(const hipPointerAttribute_t& found) { return found.isManaged != 0; }
using GpuPointerAttributes = hipPointerAttribute_t;
#else
using GpuProperties = cudaDeviceProp;
constexpr auto gpu_out_of_memory = cudaErrorMemoryAllocation;
constexpr auto gpu_reached_before = cudaErrorPeerAccessAlreadyEnabled;
constexpr auto gpu_memory_clock = cudaDevAttrMemoryClockRate;
constexpr auto gpu_memory_bits = cudaDevAttrGlobalMemoryBusWidth;
constexpr auto gpu_concurrent_managed = cudaDevAttrConcurrentManagedAccess;
constexpr const char* gpu_runtime_name = "CUDA";
constexpr const char* gpu_kind = "cuda";
inline cudaMemoryType kind_of_memory(const cudaPointerAttributes& found) { return found.type; }
inline bool is_managed(const cudaPointerAttributes& found) { return found.type == cudaMemoryTypeManaged; }
using GpuPointerAttributes = cudaPointerAttributes;
#endif

}  // namespace palmette::device
