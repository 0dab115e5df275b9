// Candidates on the equilibrated matrix S = R·A·C, singular vectors within their span, and the transformation
// back to A's own unknowns.
#include "palmette/solver/null_space.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "palmette/solver/scaled_matrix.hpp"
#include "palmette/solver/singularity.hpp"
#include "palmette/solver/whole_or_share.hpp"

namespace palmette {
namespace {

template <class T>
index_t order_of(const SparseMatrix<T>& matrix) {
  return matrix.rows();
}
template <class T>
index_t order_of(const MatrixShare<T>& matrix) {
  return matrix.size();
}

/// Matrix: whole, or a share of it.
template <class T, class Matrix>
class NullSearch {
 public:
  NullSearch(const Matrix& matrix, const ApplyInverse<T>& apply)
      : matrix_(matrix), apply_(apply), scaled_(matrix, apply) {}

  /// Singular vectors of op(S), weakest first, with the distances from singularity that they prove.
  struct Weakest {
    DenseMatrix<T> directions;
    std::vector<double> distances;
    index_t below(double bound) const {
      const auto is_below = [bound](double distance) { return distance <= bound; };
      return static_cast<index_t>(std::count_if(distances.begin(), distances.end(), is_below));
    }
    index_t num_null() const { return below(singular_distance<T>); }
  };

  Weakest weakest(Operation operation, index_t num_starts) const {
    const DenseMatrix<T> starts = start_vectors(operation, num_starts);
    DenseMatrix<T> candidates = differences_of_solutions(operation, starts);
    for (index_t j = 0; j < num_starts; ++j)
      append(candidates, inverse_iteration(operation, column_of(starts, j)));
    Weakest found = singular_vectors(operation, candidates);
    for (int step = 0; step < most_corrections && found.num_null() < found.below(nearly_null()); ++step)
      found = corrected(operation, found);
    return found;
  }

  /// An orthonormal basis of the first `count` directions as unknowns of op(A).
  DenseMatrix<T> unscaled(Operation operation, const DenseMatrix<T>& directions, index_t count) const {
    const std::vector<double>& scale = scaled_.unknown_scale(operation);
    DenseMatrix<T> columns(n(), count);
    for (index_t j = 0; j < count; ++j)
      for (index_t i = 0; i < n(); ++i) columns.view()(i, j) = directions.view()(i, j) * real_t<T>(scale[i]);
    return orthonormalized(columns);
  }

 private:
  index_t n() const { return order_of(matrix_); }
  static std::vector<T> column_of(const DenseMatrix<T>& from, index_t j) {
    return {from.view().column(j), from.view().column(j) + from.rows};
  }
  static void append(DenseMatrix<T>& to, const std::vector<T>& column) {
    to.values.insert(to.values.end(), column.begin(), column.end());
    ++to.cols;
  }

  /// Entries between −1 and 1 without any pattern that a grid could have, the same on every machine; as
  /// unknowns of op(A).
  DenseMatrix<T> start_vectors(Operation operation, index_t count) const {
    DenseMatrix<T> starts(n(), count);
    std::uint64_t state = 1;
    const std::vector<double>& scale = scaled_.unknown_scale(operation);
    for (index_t j = 0; j < count; ++j)
      for (index_t i = 0; i < n(); ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        starts.view()(i, j) = T(real_t<T>((double(state >> 11) / double(1ULL << 52) - 1) * scale[i]));
      }
    return starts;
  }

  /// z − y, where y is a new solution of op(A)·y = op(A)·z; as unknowns of op(S).
  DenseMatrix<T> differences_of_solutions(Operation operation, DenseMatrix<T> z) const {
    DenseMatrix<T> b(n(), z.cols);
    multiply_add<T>(matrix_, operation, T(1), std::as_const(z).view(), b.view());
    DenseMatrix<T> y = b;
    apply_(operation, y.view());
    RefineOptions options;
    options.only_if_needed = false;
    refine<T>(matrix_, operation, apply_, std::as_const(b).view(), y.view(), options);
    const std::vector<double>& scale = scaled_.unknown_scale(operation);
    for (index_t j = 0; j < z.cols; ++j)
      for (index_t i = 0; i < n(); ++i)
        z.view()(i, j) = (z.view()(i, j) - y.view()(i, j)) / real_t<T>(scale[i]);
    return z;
  }

  std::vector<T> inverse_iteration(Operation operation, std::vector<T> start) const {
    return without_shared_part(operation, unit_length(scaled_.solve(operation, std::move(start))));
  }

  static std::vector<T> unit_length(std::vector<T> z) {
    const index_t rows = static_cast<index_t>(z.size());
    const double norm = two_norm<T>({z.data(), rows, 1, rows}, 0);
    if (norm > 0 && std::isfinite(norm))
      for (T& value : z) value = T(value / real_t<T>(norm));
    return z;
  }

  /// z − op(S)⁻¹·op(S)·z: zero if the inverse is exact, z itself if S maps z to zero.
  std::vector<T> without_shared_part(Operation operation, std::vector<T> z) const {
    const std::vector<T> correction = scaled_.solve(operation, scaled_.multiply(operation, z));
    for (std::size_t i = 0; i < z.size(); ++i) z[i] -= correction[i];
    return z;
  }

  /// Directions this weak may be null vectors that still contain a part of something else.
  static double nearly_null() { return std::sqrt(unit_roundoff<T>); }
  static constexpr int most_corrections = 4;

  /// The part outside the null space is what A and its inverse share: it is removed from the weak directions.
  Weakest corrected(Operation operation, const Weakest& found) const {
    DenseMatrix<T> candidates(n(), 0);
    for (index_t j = 0; j < found.below(nearly_null()); ++j)
      append(candidates, without_shared_part(operation, column_of(found.directions, j)));
    for (index_t j = 0; j < found.directions.cols; ++j) append(candidates, column_of(found.directions, j));
    return singular_vectors(operation, candidates);
  }

  Weakest singular_vectors(Operation operation, const DenseMatrix<T>& candidates) const {
    Weakest found{orthonormalized(candidates), {}};
    DenseMatrix<T> image(n(), 0);
    for (index_t j = 0; j < found.directions.cols; ++j)
      append(image, scaled_.multiply(operation, column_of(found.directions, j)));
    turn_to_singular_vectors(found.directions, image);
    for (index_t j = 0; j < image.cols; ++j) {
      double of_image = 0, of_direction = 0;
      for (index_t i = 0; i < n(); ++i) {
        of_image = std::max(of_image, double(std::abs(image.view()(i, j))));
        of_direction = std::max(of_direction, double(std::abs(found.directions.view()(i, j))));
      }
      found.distances.push_back(scaled_.norm() > 0 ? of_image / (scaled_.norm() * of_direction) : 0);
    }
    return found;
  }

  const Matrix& matrix_;
  const ApplyInverse<T>& apply_;
  const ScaledMatrix<T, Matrix> scaled_;
};

/// Row of the first column's entry of largest modulus; −1 if there is no column.
template <class T>
index_t place_of_largest(const DenseMatrix<T>& directions) {
  if (directions.cols == 0) return -1;
  const auto smaller = [](const T& a, const T& b) { return std::abs(a) < std::abs(b); };
  const auto end = directions.values.begin() + directions.rows;
  return static_cast<index_t>(std::max_element(directions.values.begin(), end, smaller) -
                              directions.values.begin());
}

/// For a symmetric matrix both sides are the same, and must have the same bits.
template <class T>
DenseMatrix<T> mirrored(Symmetry symmetry, DenseMatrix<T> right) {
  if (symmetry != Symmetry::hermitian)
    for (T& value : right.values) value = conjugate(value);
  return right;
}

/// leftᴴ·A·right. Errors of null vectors enter it only as products of two errors, so its value, far below
/// u·‖A‖, is meaningful, but only if the sums have more digits than the scalar.
template <class T>
DenseMatrix<with_precision_t<T, double>> small_image(const DenseMatrix<T>& left,
                                                     const WholeOrShare<T>& matrix,
                                                     const DenseMatrix<T>& right) {
  DenseMatrix<with_precision_t<T, double>> image(left.cols, right.cols);
  LongSums<T> product(matrix.rows());
  for (index_t j = 0; j < right.cols; ++j) {
    product.clear();
    matrix.add_product({Operation::plain, 1}, right.view().column(j), product);
    for (index_t i = 0; i < left.cols; ++i) {
      LongScalar<T> sum(0);
      for (index_t row = 0; row < left.rows; ++row)
        sum += LongScalar<T>(conjugate(left.view()(row, i))) * product.sum[row];
      image.view()(i, j) = with_precision_t<T, double>(sum);
    }
  }
  return image;
}

template <class T, class Matrix>
DenseMatrix<with_precision_t<T, double>> growth_along(const NullSpace<T>& found, const Matrix& matrix) {
  using Wide = with_precision_t<T, double>;
  const double least = unit_roundoff<T> * norm_infinity(matrix);
  DenseMatrix<Wide> image = small_image<T>(found.left, matrix, found.right);
  // Directions whose image is zero get an image: the left vector nearest to the right one, so that symmetry
  // is kept.
  const DenseMatrix<Wide> nearest = nearest_unitary(inner_products<T>(found.left.view(), found.right.view()));
  for (std::size_t i = 0; i < image.values.size(); ++i) image.values[i] += 1e-3 * least * nearest.values[i];
  return bounded_inverse(image, least);
}

template <class Matrix>
struct Subject {
  const Matrix& matrix;
  Symmetry symmetry;
};

template <class T, class Matrix>
void fill_bases(NullSpace<T>& found, const Subject<Matrix>& subject, const NullSearch<T, Matrix>& search,
                const typename NullSearch<T, Matrix>::Weakest& right, index_t num_starts) {
  const bool one_side = subject.symmetry != Symmetry::general;
  index_t dimension = right.num_null();
  typename NullSearch<T, Matrix>::Weakest left;
  if (!one_side) {
    left = search.weakest(Operation::adjoint, num_starts);
    // Both sides have the same singular values: one that a side finds just above the bound is not above it.
    dimension = std::min<index_t>(std::max(dimension, left.num_null()),
                                  std::min(left.directions.cols, right.directions.cols));
  }
  found.row = one_side ? found.column : place_of_largest(left.directions);
  found.right = search.unscaled(Operation::plain, right.directions, dimension);
  found.left = one_side ? mirrored(subject.symmetry, found.right)
                        : search.unscaled(Operation::adjoint, left.directions, dimension);
  found.growth = growth_along(found, subject.matrix);
}

template <class T, class Matrix>
NullSpace<T> search_null_space(const Matrix& matrix, Symmetry symmetry, const ApplyInverse<T>& apply) {
  NullSpace<T> found;
  const index_t n = order_of(matrix);
  if (n == 0) return found;
  const NullSearch<T, Matrix> search(matrix, apply);
  for (const index_t wanted : {2, 6, most_null_directions + 2}) {
    const index_t num_starts = std::min(wanted, n);
    const auto right = search.weakest(Operation::plain, num_starts);
    const index_t seen = right.num_null();
    if (!right.distances.empty()) found.distance = right.distances.front();
    if (seen >= num_starts && num_starts < n && wanted <= most_null_directions) continue;
    found.too_large = seen > most_null_directions;
    if (seen > 0) found.column = place_of_largest(right.directions);
    if (seen > 0 && !found.too_large)
      fill_bases<T, Matrix>(found, {matrix, symmetry}, search, right, num_starts);
    return found;
  }
  return found;
}

}  // namespace

template <class T>
NullSpace<T> find_null_space(const SparseMatrix<T>& matrix, Symmetry symmetry, const ApplyInverse<T>& apply) {
  return search_null_space<T>(matrix, symmetry, apply);
}
template <class T>
NullSpace<T> find_null_space(const MatrixShare<T>& matrix, Symmetry symmetry, const ApplyInverse<T>& apply) {
  return search_null_space<T>(matrix, symmetry, apply);
}

template <class T, class Matrix>
Outcome<NullBasis<T>> verified_basis(const NullSpace<T>& found, const Matrix& matrix) {
  if (found.too_large) {
    NumericalFailure failure;
    failure.row = found.row;
    failure.column = found.column;
    failure.message = "the null space has more than " + std::to_string(most_null_directions) +
                      " dimensions; remove some of the dependent rows and columns";
    return failure;
  }
  NullBasis<T> made{found.right, 0, verification_bound(unit_roundoff<T>), true, found.distance};
  const DenseMatrix<T> zero(order_of(matrix), made.dimension());
  if (made.dimension() > 0)
    made.residual =
        verify<T>(matrix, Operation::plain, zero.view(), std::as_const(made.basis).view()).backward_error;
  made.verified = made.residual <= made.bound;
  return made;
}

#define PALMETTE_INSTANTIATE(T)                                                                     \
  template NullSpace<T> find_null_space(const SparseMatrix<T>&, Symmetry, const ApplyInverse<T>&);  \
  template NullSpace<T> find_null_space(const MatrixShare<T>&, Symmetry, const ApplyInverse<T>&);   \
  template Outcome<NullBasis<T>> verified_basis(const NullSpace<T>&, const SparseMatrix<T>&);       \
  template Outcome<NullBasis<T>> verified_basis(const NullSpace<T>&, const MatrixShare<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
