/* As nvshmem.h beside it. */
#pragma once
#include "nvshmem.h"

extern "C" __device__ void nvshmemx_putmem_signal_nbi_block(void* to, const void* from, size_t bytes,
                                                            uint64_t* signal, uint64_t value, int operation,
                                                            int pe);
extern "C" __device__ void nvshmemx_signal_op(uint64_t* signal, uint64_t value, int operation, int pe);
