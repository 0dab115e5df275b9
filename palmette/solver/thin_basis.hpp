// Inside `solver`: a few dense columns as a basis. Inner products are summed in double for every scalar.
#pragma once

#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// leftᴴ·right, entry by entry. @param left  n × k; right: n × m @returns k × m, in double
template <class T>
DenseMatrix<with_precision_t<T, double>> inner_products(DenseView<const T> left, DenseView<const T> right);

/// y ← y + factor·basis·weights. @param basis  n × k; weights: k × m; y: n × m
template <class T>
void add_combination(double factor, DenseView<const T> basis,
                     const DenseMatrix<with_precision_t<T, double>>& weights, DenseView<T> y);

/// Take out of every column of y what lies in the span of the orthonormal basis, twice, since once is not
/// enough for what lies nearly in it. @cost 8·n·k·m flops
template <class T>
void project_out(const DenseMatrix<T>& basis, DenseView<T> y);

/// An orthonormal basis of the columns' span. Columns that are not finite or depend on those before them (to
/// 50 u) are left out.
/// @source [Golub and Van Loan 2013], §5.2
template <class T>
DenseMatrix<T> orthonormalized(const DenseMatrix<T>& columns);

/// Turn the orthonormal `basis` so that its `image` under some operator becomes orthogonal, smallest column
/// first: the columns are then the operator's right singular vectors within that span, and the norms of the
/// images its singular values.
/// @param basis  n × k; image: m × k, of the same columns
/// @source [Golub and Van Loan 2013], §8.6.4, one-sided Jacobi rotations
template <class T>
void turn_to_singular_vectors(DenseMatrix<T>& basis, DenseMatrix<T>& image);

/// The unitary matrix that is nearest to a square one; where that is singular, one of the nearest.
/// @source [Golub and Van Loan 2013], §6.4.1
template <class Wide>
DenseMatrix<Wide> nearest_unitary(const DenseMatrix<Wide>& matrix);

/// The inverse of a square matrix, its singular values raised to `least` where they are smaller.
template <class Wide>
DenseMatrix<Wide> bounded_inverse(const DenseMatrix<Wide>& matrix, double least);

/// ‖column‖₂, in double.
template <class T>
double two_norm(DenseView<const T> view, index_t column);

}  // namespace palmette
