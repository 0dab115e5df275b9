// BLAS-3 through CBLAS: one template per routine; overloads choose the scalar's letter.
#include "palmette/blocks/level3.hpp"

#include <algorithm>
#include <cblas.h>
#include <mutex>

// Each BLAS sets its number of threads by its own function. The symbols are weak, so that the BLAS that is
// linked answers, and they are resolved where this library resolves its BLAS: a look-up by name would miss it
// in a module that Python has loaded privately.
extern "C" {
#pragma weak openblas_set_num_threads
#pragma weak openblas_get_num_threads
#pragma weak openblas_get_parallel
#pragma weak blas_thread_shutdown_
#pragma weak MKL_Set_Num_Threads
#pragma weak bli_thread_set_num_threads
void openblas_set_num_threads(int threads);
int openblas_get_num_threads(void);
int openblas_get_parallel(void);
int blas_thread_shutdown_(void);
void MKL_Set_Num_Threads(int threads);
void bli_thread_set_num_threads(std::int64_t threads);
}

namespace palmette::blas {
namespace {

/// A sequential build of OpenBLAS shares its buffers between callers without a lock and then returns wrong
/// products, so calls to it take turns. All threads call any other BLAS at the same time.
class Turn {
 public:
  Turn() {
    static const bool take_turns = openblas_get_parallel != nullptr && openblas_get_parallel() == 0;
    if (take_turns) lock_ = std::unique_lock<ProcessMutex>(mutex());
  }

 private:
  static ProcessMutex& mutex() {
    static ProcessMutex one;
    return one;
  }
  std::unique_lock<ProcessMutex> lock_;
};

using ComplexFloat = std::complex<float>;
using ComplexDouble = std::complex<double>;

CBLAS_TRANSPOSE code(Transpose op) {
  return op == Transpose::no ? CblasNoTrans : op == Transpose::transpose ? CblasTrans : CblasConjTrans;
}
CBLAS_UPLO code(Triangle triangle) { return triangle == Triangle::lower ? CblasLower : CblasUpper; }
CBLAS_SIDE code(Side side) { return side == Side::left ? CblasLeft : CblasRight; }
CBLAS_DIAG code(Diagonal diagonal) { return diagonal == Diagonal::unit ? CblasUnit : CblasNonUnit; }

/// The value of openblas_get_parallel() in a build that has threads of its own; 0 is a sequential build, 2
/// one that uses OpenMP.
constexpr int posix_threads = 1;

/// BLAS refuses a leading dimension below max(1, rows), even of an empty matrix.
template <class T>
int leading(DenseView<T> view) {
  return static_cast<int>(std::max<offset_t>({1, view.rows, view.ld}));
}

/// m × n product with inner size k, in the form that BLAS expects.
struct Product {
  CBLAS_TRANSPOSE op_a, op_b;
  int m, n, k, lda, ldb, ldc;
};

void call_gemm(const Product& p, float alpha, const float* a, const float* b, float beta, float* c) {
  cblas_sgemm(CblasColMajor, p.op_a, p.op_b, p.m, p.n, p.k, alpha, a, p.lda, b, p.ldb, beta, c, p.ldc);
}
void call_gemm(const Product& p, double alpha, const double* a, const double* b, double beta, double* c) {
  cblas_dgemm(CblasColMajor, p.op_a, p.op_b, p.m, p.n, p.k, alpha, a, p.lda, b, p.ldb, beta, c, p.ldc);
}
void call_gemm(const Product& p, ComplexFloat alpha, const ComplexFloat* a, const ComplexFloat* b,
               ComplexFloat beta, ComplexFloat* c) {
  cblas_cgemm(CblasColMajor, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, a, p.lda, b, p.ldb, &beta, c, p.ldc);
}
void call_gemm(const Product& p, ComplexDouble alpha, const ComplexDouble* a, const ComplexDouble* b,
               ComplexDouble beta, ComplexDouble* c) {
  cblas_zgemm(CblasColMajor, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, a, p.lda, b, p.ldb, &beta, c, p.ldc);
}

struct RankUpdate {
  int n, k, lda, ldc;
};

void call_syrk(bool, const RankUpdate& u, float alpha, const float* a, float beta, float* c) {
  cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, u.n, u.k, alpha, a, u.lda, beta, c, u.ldc);
}
void call_syrk(bool, const RankUpdate& u, double alpha, const double* a, double beta, double* c) {
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, u.n, u.k, alpha, a, u.lda, beta, c, u.ldc);
}
void call_syrk(bool hermitian, const RankUpdate& u, ComplexFloat alpha, const ComplexFloat* a,
               ComplexFloat beta, ComplexFloat* c) {
  if (hermitian)
    cblas_cherk(CblasColMajor, CblasLower, CblasNoTrans, u.n, u.k, alpha.real(), a, u.lda, beta.real(), c,
                u.ldc);
  else
    cblas_csyrk(CblasColMajor, CblasLower, CblasNoTrans, u.n, u.k, &alpha, a, u.lda, &beta, c, u.ldc);
}
void call_syrk(bool hermitian, const RankUpdate& u, ComplexDouble alpha, const ComplexDouble* a,
               ComplexDouble beta, ComplexDouble* c) {
  if (hermitian)
    cblas_zherk(CblasColMajor, CblasLower, CblasNoTrans, u.n, u.k, alpha.real(), a, u.lda, beta.real(), c,
                u.ldc);
  else
    cblas_zsyrk(CblasColMajor, CblasLower, CblasNoTrans, u.n, u.k, &alpha, a, u.lda, &beta, c, u.ldc);
}

struct TriangularCall {
  CBLAS_SIDE side;
  CBLAS_UPLO triangle;
  CBLAS_TRANSPOSE op;
  CBLAS_DIAG diagonal;
  int m, n, lda, ldb;
};

void call_trsm(const TriangularCall& t, const float* a, float* b) {
  cblas_strsm(CblasColMajor, t.side, t.triangle, t.op, t.diagonal, t.m, t.n, 1.0f, a, t.lda, b, t.ldb);
}
void call_trsm(const TriangularCall& t, const double* a, double* b) {
  cblas_dtrsm(CblasColMajor, t.side, t.triangle, t.op, t.diagonal, t.m, t.n, 1.0, a, t.lda, b, t.ldb);
}
void call_trsm(const TriangularCall& t, const ComplexFloat* a, ComplexFloat* b) {
  const ComplexFloat one = 1;
  cblas_ctrsm(CblasColMajor, t.side, t.triangle, t.op, t.diagonal, t.m, t.n, &one, a, t.lda, b, t.ldb);
}
void call_trsm(const TriangularCall& t, const ComplexDouble* a, ComplexDouble* b) {
  const ComplexDouble one = 1;
  cblas_ztrsm(CblasColMajor, t.side, t.triangle, t.op, t.diagonal, t.m, t.n, &one, a, t.lda, b, t.ldb);
}

/// C ← beta·C, where beta = 0 overwrites: what remains of a product whose inner size is 0.
template <class T>
void scale(T beta, DenseView<T> c) {
  for (index_t column = 0; column < c.cols; ++column)
    for (index_t row = 0; row < c.rows; ++row) c(row, column) = beta == T(0) ? T(0) : beta * c(row, column);
}

}  // namespace

bool use_one_thread() {
  if (openblas_set_num_threads != nullptr) {
    // Setting the number, even to its present value, restarts OpenBLAS's threads in a forked process, or
    // after they were ended.
    if (openblas_get_num_threads == nullptr || openblas_get_num_threads() != 1) openblas_set_num_threads(1);
  } else if (MKL_Set_Num_Threads != nullptr) MKL_Set_Num_Threads(1);
  else if (bli_thread_set_num_threads != nullptr) bli_thread_set_num_threads(1);
  else return false;
  return true;
}

void end_idle_threads() {
  if (openblas_get_parallel == nullptr || openblas_get_parallel() != posix_threads ||
      blas_thread_shutdown_ == nullptr)
    return;
  use_one_thread();
  blas_thread_shutdown_();
}

template <class T>
void gemm(Transpose op_a, Transpose op_b, T alpha, DenseView<const T> a, DenseView<const T> b, T beta,
          DenseView<T> c) {
  const index_t inner = op_a == Transpose::no ? a.cols : a.rows;
  if (c.rows == 0 || c.cols == 0) return;
  if (inner == 0) return scale(beta, c);
  const Product product{code(op_a), code(op_b), c.rows, c.cols, inner, leading(a), leading(b), leading(c)};
  const Turn turn;
  call_gemm(product, alpha, a.data, b.data, beta, c.data);
}

template <class T>
void syrk_lower(bool hermitian, T alpha, DenseView<const T> a, T beta, DenseView<T> c) {
  if (c.cols == 0) return;
  const Turn turn;
  call_syrk(hermitian, {c.cols, a.cols, leading(a), leading(c)}, alpha, a.data, beta, c.data);
}

template <class T>
void trsm(const TriangularSolveCall& how, DenseView<const T> a, DenseView<T> b) {
  if (b.rows == 0 || b.cols == 0) return;
  const TriangularCall call{code(how.side), code(how.triangle), code(how.op), code(how.diagonal), b.rows,
                            b.cols,         leading(a),         leading(b)};
  const Turn turn;
  call_trsm(call, a.data, b.data);
}

#define PALMETTE_INSTANTIATE(T)                                                                            \
  template void gemm<T>(Transpose, Transpose, T, DenseView<const T>, DenseView<const T>, T, DenseView<T>); \
  template void syrk_lower<T>(bool, T, DenseView<const T>, T, DenseView<T>);                               \
  template void trsm<T>(const TriangularSolveCall&, DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::blas
