// How functions of kernels are declared for CUDA, HIP and the emulator.
#pragma once

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
// Local to their file: their handles would otherwise have the names of the emulator's functions. nvcc makes
// them so without being told.
#if defined(__HIPCC__)
#define PALMETTE_KERNEL static __global__
#else
#define PALMETTE_KERNEL __global__
#endif
#define PALMETTE_DEVICE __device__ __forceinline__
#define PALMETTE_HOST_DEVICE __host__ __device__ __forceinline__
/// Before a loop of which a thread seldom has a second round: copies of its body would only take registers.
#define PALMETTE_NOT_UNROLLED _Pragma("unroll 1")
#else
#define PALMETTE_KERNEL
#define PALMETTE_DEVICE inline
#define PALMETTE_HOST_DEVICE inline
#define PALMETTE_NOT_UNROLLED
#endif
