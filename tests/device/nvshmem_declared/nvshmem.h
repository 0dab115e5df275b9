/* Declares what the vocabulary calls of NVSHMEM, so that a test sees the calls where the library is not
 * installed. Nothing here is defined or run. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Numbers of this header alone, so that neither can be taken for the other. */
enum { NVSHMEM_SIGNAL_SET = 9, NVSHMEM_CMP_EQ = 5 };

extern "C" {
__device__ int nvshmem_my_pe();
__device__ int nvshmem_n_pes();
__device__ void nvshmem_putmem_signal_nbi(void* to, const void* from, size_t bytes, uint64_t* signal,
                                          uint64_t value, int operation, int pe);
__device__ uint64_t nvshmem_signal_wait_until(uint64_t* signal, int comparison, uint64_t value);
__device__ void nvshmem_quiet();
__device__ double nvshmem_double_g(const double* from, int pe);
__device__ int nvshmem_int_g(const int* from, int pe);
}
