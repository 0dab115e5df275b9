// Gram–Schmidt and one-sided Jacobi, column by column.
#include "palmette/solver/thin_basis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace palmette {
namespace {

template <class T>
using Wide = with_precision_t<T, double>;

template <class T>
Wide<T> inner_product(DenseView<const T> left, index_t i, DenseView<const T> right, index_t j) {
  Wide<T> sum{};
  for (index_t row = 0; row < left.rows; ++row)
    sum += conjugate(Wide<T>(left(row, i))) * Wide<T>(right(row, j));
  return sum;
}

/// target column j ← target column j + factor·source column i
template <class T>
void add_multiple(DenseView<T> target, index_t j, const Wide<T>& factor, DenseView<const T> source,
                  index_t i) {
  for (index_t row = 0; row < target.rows; ++row)
    target(row, j) = T(Wide<T>(target(row, j)) + factor * Wide<T>(source(row, i)));
}

/// The rotation that makes two columns orthogonal: (p, q) ← (c·p − s·ē·q, s·p + c·ē·q).
template <class Scalar>
struct PlaneRotation {
  double c = 1, s = 0;
  Scalar phase = Scalar(1);  ///< ē

  static PlaneRotation between(double p_squared, double q_squared, const Scalar& product) {
    const double size = std::abs(product);
    const double zeta = (q_squared - p_squared) / (2 * size);
    const double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1, zeta));
    const double c = 1 / std::hypot(1, t);
    return {c, c * t, conjugate(product / size)};
  }
  template <class T>
  void apply(DenseView<T> columns, index_t p, index_t q) const {
    for (index_t row = 0; row < columns.rows; ++row) {
      const Scalar left(columns(row, p)), right = phase * Scalar(columns(row, q));
      columns(row, p) = T(c * left - s * right);
      columns(row, q) = T(s * left + c * right);
    }
  }
};

template <class T>
void sort_by_norm(DenseMatrix<T>& basis, DenseMatrix<T>& image) {
  std::vector<double> norms;
  for (index_t j = 0; j < image.cols; ++j) norms.push_back(two_norm<T>(std::as_const(image).view(), j));
  std::vector<index_t> order(norms.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return norms[a] < norms[b]; });
  const auto sorted = [&](const DenseMatrix<T>& from) {
    DenseMatrix<T> to(from.rows, from.cols);
    for (index_t j = 0; j < from.cols; ++j)
      std::copy_n(from.view().column(order[j]), from.rows, to.view().column(j));
    return to;
  };
  basis = sorted(basis);
  image = sorted(image);
}

}  // namespace

template <class T>
double two_norm(DenseView<const T> view, index_t column) {
  double largest = 0;
  for (index_t row = 0; row < view.rows; ++row)
    largest = std::max(largest, double(std::abs(view(row, column))));
  if (!(largest > 0) || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (index_t row = 0; row < view.rows; ++row) sum += std::norm(Wide<T>(view(row, column)) / largest);
  return largest * std::sqrt(sum);
}

template <class T>
DenseMatrix<Wide<T>> inner_products(DenseView<const T> left, DenseView<const T> right) {
  DenseMatrix<Wide<T>> products(left.cols, right.cols);
  for (index_t j = 0; j < right.cols; ++j)
    for (index_t i = 0; i < left.cols; ++i) products.view()(i, j) = inner_product<T>(left, i, right, j);
  return products;
}

template <class T>
void add_combination(double factor, DenseView<const T> basis, const DenseMatrix<Wide<T>>& weights,
                     DenseView<T> y) {
  for (index_t j = 0; j < y.cols; ++j)
    for (index_t i = 0; i < basis.cols; ++i) add_multiple<T>(y, j, factor * weights.view()(i, j), basis, i);
}

template <class T>
void project_out(const DenseMatrix<T>& basis, DenseView<T> y) {
  for (int pass = 0; pass < 2; ++pass)
    for (index_t j = 0; j < y.cols; ++j)
      for (index_t i = 0; i < basis.cols; ++i)
        add_multiple<T>(y, j, -inner_product<T>(basis.view(), i, y, j), basis.view(), i);
}

template <class T>
DenseMatrix<T> orthonormalized(const DenseMatrix<T>& columns) {
  DenseMatrix<T> basis(columns.rows, 0);
  for (index_t j = 0; j < columns.cols; ++j) {
    DenseMatrix<T> next(columns.rows, 1);
    const double norm = two_norm<T>(columns.view(), j);
    if (!(norm > 0) || !std::isfinite(norm)) continue;
    for (index_t row = 0; row < columns.rows; ++row)
      next.values[row] = T(Wide<T>(columns.view()(row, j)) / norm);
    project_out(basis, next.view());
    const double rest = two_norm<T>(std::as_const(next).view(), 0);
    if (!(rest > 50 * unit_roundoff<T>)) continue;
    for (T& value : next.values) value = T(Wide<T>(value) / rest);
    // Rounding is a large part of a small remainder.
    project_out(basis, next.view());
    const double length = two_norm<T>(std::as_const(next).view(), 0);
    if (!(length > 0.5)) continue;
    for (T& value : next.values) value = T(Wide<T>(value) / length);
    basis.values.insert(basis.values.end(), next.values.begin(), next.values.end());
    ++basis.cols;
  }
  return basis;
}

template <class T>
void turn_to_singular_vectors(DenseMatrix<T>& basis, DenseMatrix<T>& image) {
  constexpr int most_sweeps = 30;
  bool turned = true;
  for (int sweep = 0; sweep < most_sweeps && turned; ++sweep) {
    turned = false;
    for (index_t p = 0; p < image.cols; ++p)
      for (index_t q = p + 1; q < image.cols; ++q) {
        const DenseView<const T> columns = std::as_const(image).view();
        const double norm_p = two_norm(columns, p), norm_q = two_norm(columns, q);
        const Wide<T> product = inner_product(columns, p, columns, q);
        if (!(std::abs(product) > 4 * unit_roundoff<T> * norm_p * norm_q)) continue;
        turned = true;
        const auto rotation = PlaneRotation<Wide<T>>::between(norm_p * norm_p, norm_q * norm_q, product);
        rotation.apply(image.view(), p, q);
        rotation.apply(basis.view(), p, q);
      }
  }
  sort_by_norm(basis, image);
}

template <class Scalar>
DenseMatrix<Scalar> nearest_unitary(const DenseMatrix<Scalar>& matrix) {
  const index_t k = matrix.rows;
  DenseMatrix<Scalar> right(k, k), image = matrix;
  for (index_t j = 0; j < k; ++j) right.view()(j, j) = Scalar(1);
  turn_to_singular_vectors(right, image);  // matrix·right = image = left·Σ, ascending
  // the largest first, then unit vectors for the missing directions
  DenseMatrix<Scalar> candidates(k, 2 * k);
  const double largest = k > 0 ? two_norm<Scalar>(std::as_const(image).view(), k - 1) : 0;
  index_t rank = 0;
  for (index_t j = k; j-- > 0;)
    if (two_norm<Scalar>(std::as_const(image).view(), j) > 1e-8 * largest && largest > 0)
      std::copy_n(image.view().column(j), k, candidates.view().column(rank++));
  for (index_t j = 0; j < k; ++j) candidates.view()(j, k + j) = Scalar(1);
  const DenseMatrix<Scalar> left = orthonormalized(candidates);
  DenseMatrix<Scalar> unitary(k, k);
  for (index_t j = 0; j < k; ++j)  // column j of left belongs to column k − 1 − j of right
    for (index_t row = 0; row < k; ++row)
      for (index_t column = 0; column < k; ++column)
        unitary.view()(row, column) += left.view()(row, j) * conjugate(right.view()(column, k - 1 - j));
  return unitary;
}

template <class Scalar>
DenseMatrix<Scalar> bounded_inverse(const DenseMatrix<Scalar>& matrix, double least) {
  const index_t k = matrix.rows;
  DenseMatrix<Scalar> right(k, k), image = matrix, inverse(k, k);
  for (index_t j = 0; j < k; ++j) right.view()(j, j) = Scalar(1);
  turn_to_singular_vectors(right, image);  // matrix·right = image = left·Σ
  for (index_t j = 0; j < k; ++j) {
    const double value = two_norm<Scalar>(std::as_const(image).view(), j);
    if (!(value > 0)) continue;
    for (index_t row = 0; row < k; ++row)
      for (index_t column = 0; column < k; ++column)
        inverse.view()(row, column) +=
            right.view()(row, j) * conjugate(image.view()(column, j)) / (value * std::max(value, least));
  }
  return inverse;
}

#define PALMETTE_INSTANTIATE(T)                                                                              \
  template double two_norm(DenseView<const T>, index_t);                                                     \
  template DenseMatrix<with_precision_t<T, double>> inner_products(DenseView<const T>, DenseView<const T>);  \
  template void add_combination(double, DenseView<const T>, const DenseMatrix<with_precision_t<T, double>>&, \
                                DenseView<T>);                                                               \
  template void project_out(const DenseMatrix<T>&, DenseView<T>);                                            \
  template DenseMatrix<T> orthonormalized(const DenseMatrix<T>&);                                            \
  template void turn_to_singular_vectors(DenseMatrix<T>&, DenseMatrix<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE
template DenseMatrix<double> bounded_inverse(const DenseMatrix<double>&, double);
template DenseMatrix<std::complex<double>> bounded_inverse(const DenseMatrix<std::complex<double>>&, double);
template DenseMatrix<double> nearest_unitary(const DenseMatrix<double>&);
template DenseMatrix<std::complex<double>> nearest_unitary(const DenseMatrix<std::complex<double>>&);

}  // namespace palmette
