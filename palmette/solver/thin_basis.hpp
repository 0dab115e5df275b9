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

/// Remove from every column of y its part in the span of the orthonormal basis. This is done twice, because
/// once is not enough for columns that lie nearly in the span. @cost 8·n·k·m flops
template <class T>
void project_out(const DenseMatrix<T>& basis, DenseView<T> y);

/// An orthonormal basis of the columns' span. Columns that are not finite, or that depend on earlier ones (to
/// 50 u), are omitted.
/// @source [Golub and Van Loan 2013], §5.2
template <class T>
DenseMatrix<T> orthonormalized(const DenseMatrix<T>& columns);

/// Rotate the orthonormal `basis` so that its `image` under an operator becomes orthogonal, smallest column
/// first. The columns of the basis are then the right singular vectors of the operator restricted to that
/// span, and the norms of the images its singular values.
/// @param basis  n × k; image: m × k, of the same columns
/// @source [Golub and Van Loan 2013], §8.6.4, one-sided Jacobi rotations
template <class T>
void turn_to_singular_vectors(DenseMatrix<T>& basis, DenseMatrix<T>& image);

/// The unitary matrix nearest to a square matrix; if that is singular, one of the nearest.
/// @source [Golub and Van Loan 2013], §6.4.1
template <class Wide>
DenseMatrix<Wide> nearest_unitary(const DenseMatrix<Wide>& matrix);

/// The inverse of a square matrix whose singular values below `least` are raised to `least`.
template <class Wide>
DenseMatrix<Wide> bounded_inverse(const DenseMatrix<Wide>& matrix, double least);

/// ‖column‖₂, in double.
template <class T>
double two_norm(DenseView<const T> view, index_t column);

}  // namespace palmette
