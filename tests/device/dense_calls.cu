// The declarations of cuBLAS's and cuSOLVER's calls beside their headers. It compiles, or it does not.
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <type_traits>

#include "palmette/device/dense_cuda_calls.hpp"

namespace palmette::device::cuda_calls {

/// Passed in the same way: pointers as pointers, enumerations as integers.
template <class Ours, class Theirs>
constexpr bool is_passed_alike = (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
                                 (std::is_same_v<Ours, int> &&
                                  (std::is_same_v<Theirs, int> ||
                                   (std::is_enum_v<Theirs> && sizeof(Theirs) == sizeof(int))));

template <class Ours, class Theirs>
struct IsCalledAlike;
template <class A, class... As, class B, class... Bs>
struct IsCalledAlike<A(As...), B(Bs...)> {
  static constexpr bool value = is_passed_alike<A, B> && (is_passed_alike<As, Bs> && ...);
};

template <class Ours, class Theirs>
constexpr bool is_called_alike = IsCalledAlike<Ours, Theirs>::value;

static_assert(is_called_alike<Create, decltype(cublasCreate_v2)>);
static_assert(is_called_alike<Destroy, decltype(cublasDestroy_v2)>);
static_assert(is_called_alike<Gemm<float>, decltype(cublasSgemm_v2)>);
static_assert(is_called_alike<Gemm<double>, decltype(cublasDgemm_v2)>);
static_assert(is_called_alike<Gemm<std::complex<double>>, decltype(cublasZgemm_v2)>);
static_assert(is_called_alike<RankUpdate<double>, decltype(cublasDsyrk_v2)>);
static_assert(is_called_alike<RankUpdate<std::complex<float>>, decltype(cublasCherk_v2)>);
static_assert(is_called_alike<Trsm<double>, decltype(cublasDtrsm_v2)>);
static_assert(is_called_alike<Create, decltype(cusolverDnCreate)>);
static_assert(is_called_alike<Destroy, decltype(cusolverDnDestroy)>);
static_assert(is_called_alike<PotrfBuffer<double>, decltype(cusolverDnDpotrf_bufferSize)>);
static_assert(is_called_alike<Potrf<std::complex<double>>, decltype(cusolverDnZpotrf)>);

static_assert(plain == CUBLAS_OP_N && transposed == CUBLAS_OP_T && adjoint == CUBLAS_OP_C);
static_assert(lower == CUBLAS_FILL_MODE_LOWER && upper == CUBLAS_FILL_MODE_UPPER);
static_assert(stored == CUBLAS_DIAG_NON_UNIT && unit == CUBLAS_DIAG_UNIT && right == CUBLAS_SIDE_RIGHT);
static_assert(blas_out_of_memory == CUBLAS_STATUS_ALLOC_FAILED);
static_assert(solver_out_of_memory == CUSOLVER_STATUS_ALLOC_FAILED);

}  // namespace palmette::device::cuda_calls
