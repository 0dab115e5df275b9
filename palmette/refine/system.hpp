// Inside `refine`: one linear system op(A)x = b as its functions hand it around, and the checks at the door.
#pragma once

#include "palmette/refine/refine.hpp"

namespace palmette {

/// op(A) and a way to apply its inverse. Refers to the caller's objects.
template <class T>
struct InvertibleOperator {
  const SparseMatrix<T>& matrix;
  Operation operation;
  const ApplyInverse<T>& apply;
};

/// @throws DimensionError unless b has rows(op(A)) rows, x cols(op(A)) rows, and both as many columns
template <class T>
void check_sizes(const SparseMatrix<T>& matrix, Operation operation, DenseView<const T> b, DenseView<const T> x);
/// @throws DimensionError unless rows = columns
template <class T>
void check_square(const SparseMatrix<T>& matrix);

}  // namespace palmette
