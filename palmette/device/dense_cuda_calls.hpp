// Inside `device`: the part of the C interfaces of cuBLAS (version 2 of its calls) and cuSOLVER that is used.
// Their handles are pointers, their enumerations and states are integers.
#pragma once

#include "palmette/base/base.hpp"

namespace palmette::device::cuda_calls {

inline constexpr int plain = 0, transposed = 1, adjoint = 2;  // cublasOperation_t
inline constexpr int lower = 0, upper = 1;                    // cublasFillMode_t
inline constexpr int stored = 0, unit = 1;                    // cublasDiagType_t
inline constexpr int right = 1;                               // cublasSideMode_t
inline constexpr int blas_out_of_memory = 3;                  // cublasStatus_t
inline constexpr int solver_out_of_memory = 2;                // cusolverStatus_t

using Create = int(void** handle);
using Destroy = int(void* handle);
template <class T>
using Gemm = int(void* handle, int op_a, int op_b, int m, int n, int k, const T* alpha, const T* a, int lda,
                 const T* b, int ldb, const T* beta, T* c, int ldc);
/// syrk of real and herk of complex numbers: the factors are real.
template <class T>
using RankUpdate = int(void* handle, int triangle, int op, int n, int k, const real_t<T>* alpha, const T* a,
                       int lda, const real_t<T>* beta, T* c, int ldc);
template <class T>
using Trsm = int(void* handle, int side, int triangle, int op, int diagonal, int m, int n, const T* alpha,
                 const T* a, int lda, T* b, int ldb);
template <class T>
using PotrfBuffer = int(void* handle, int triangle, int n, T* a, int lda, int* entries);
template <class T>
using Potrf = int(void* handle, int triangle, int n, T* a, int lda, T* workspace, int entries, int* info);

}  // namespace palmette::device::cuda_calls
