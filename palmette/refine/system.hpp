// Inside `refine`: one linear system op(A)x = b, as its functions pass it on, and the argument checks.
#pragma once

#include "palmette/refine/refine.hpp"

namespace palmette {

/// A for refinement: the whole matrix, or this process's share of it. Refers to the caller's object.
template <class T>
struct SystemMatrix {
  const SparseMatrix<T>* whole = nullptr;
  const MatrixShare<T>* part = nullptr;

  SystemMatrix(const SparseMatrix<T>& matrix) : whole(&matrix) {}
  SystemMatrix(const MatrixShare<T>& matrix) : part(&matrix) {}
  index_t rows() const { return part != nullptr ? part->size() : whole->rows(); }
  index_t cols() const { return part != nullptr ? part->size() : whole->cols(); }
  /// The rows of op(A) that this process holds, each as a column; conjugated if `operation` is the adjoint.
  const SparseMatrix<T>& own_rows(Operation operation) const {
    return operation == Operation::plain ? part->rows : part->columns;
  }
};

/// op(A) and a way to apply its inverse. Refers to the caller's objects.
template <class T>
struct InvertibleOperator {
  SystemMatrix<T> matrix;
  Operation operation;
  const ApplyInverse<T>& apply;
};

/// @throws DimensionError unless b has rows(op(A)) rows, x cols(op(A)) rows, and both as many columns
template <class T>
void check_sizes(const SystemMatrix<T>& matrix, Operation operation, DenseView<const T> b,
                 DenseView<const T> x);
/// @throws DimensionError unless rows = columns
template <class T>
void check_square(const SystemMatrix<T>& matrix);

}  // namespace palmette
