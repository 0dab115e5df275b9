// How functions of kernels are declared for CUDA, HIP and the emulator.
#pragma once

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
#define PALMETTE_KERNEL __global__
#define PALMETTE_DEVICE __device__ __forceinline__
#define PALMETTE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define PALMETTE_KERNEL
#define PALMETTE_DEVICE inline
#define PALMETTE_HOST_DEVICE inline
#endif
