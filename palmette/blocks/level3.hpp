// BLAS-3 (and a little BLAS-2) for the four scalar types under one name each. BLAS is kept to one thread:
// Palmette runs its own.
#pragma once

#include "palmette/base/base.hpp"

namespace palmette::blas {

enum class Transpose { no, transpose, adjoint };
enum class Triangle { lower, upper };
enum class Side { left, right };
enum class Diagonal { stored, unit };

/// Tell the BLAS that is linked to use one thread in this process. Called by factorize and solve; cheap to
/// repeat. Knows OpenBLAS, MKL and BLIS; says false if the BLAS offers no such call.
bool use_one_thread();

/// End the threads that OpenBLAS starts when it is loaded. They do nothing for Palmette, but look for work
/// for about a tenth of a second before they sleep, on processors that the first ordering and factorization
/// need (measured: ordering 0.10 s instead of 0.065). For programs as they start, while nothing else in the
/// process calls the BLAS, which stays usable. Does nothing with another BLAS.
void end_idle_threads();

/// C ← alpha·op(A)·op(B) + beta·C; C is m × n, the inner size k. beta = 0 overwrites C whatever it held.
template <class T>
void gemm(Transpose op_a, Transpose op_b, T alpha, DenseView<const T> a, DenseView<const T> b, T beta,
          DenseView<T> c);

/// The lower triangle of C ← alpha·A·Aᵀ + beta·C, or A·Aᴴ when `hermitian`; C is n × n, A is n × k.
template <class T>
void syrk_lower(bool hermitian, T alpha, DenseView<const T> a, T beta, DenseView<T> c);

struct TriangularSolveCall {
  Side side = Side::left;
  Triangle triangle = Triangle::lower;
  Transpose op = Transpose::no;
  Diagonal diagonal = Diagonal::stored;
};
/// B ← op(A)⁻¹·B (left) or B·op(A)⁻¹ (right); A is triangular.
template <class T>
void trsm(const TriangularSolveCall& how, DenseView<const T> a, DenseView<T> b);

}  // namespace palmette::blas
