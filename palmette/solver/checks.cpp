// Checks at the door of the hall.
#include "palmette/solver/checks.hpp"

#include <algorithm>
#include <functional>

namespace palmette {
namespace {

constexpr int most_threads = 4096;

std::string place_of(index_t row, index_t column) {
  return "(" + std::to_string(row + 1) + ", " + std::to_string(column + 1) + ")";
}

/// The value at (row, column), zero where nothing is stored.
template <class T>
T value_at(const SparseMatrix<T>& matrix, index_t row, index_t column) {
  const auto rows = matrix.pattern.column(column);
  const auto place = std::lower_bound(rows.begin(), rows.end(), row);
  if (place == rows.end() || *place != row) return T(0);
  return matrix.values[matrix.pattern.column_ptr[column] + (place - rows.begin())];
}

template <class T>
T mirrored(Symmetry symmetry, const T& value) {
  if (symmetry == Symmetry::skew) return -value;
  return symmetry == Symmetry::hermitian ? conjugate(value) : value;
}

/// A false promise would lead METIS beyond its arrays and the factorization to another matrix.
template <class T>
void check_promise(const SparseMatrix<T>& matrix) {
  if (matrix.symmetry == Symmetry::general) return;
  if (detect_symmetry(matrix) == matrix.symmetry) return;  // which pairs every entry with its mirror
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (const index_t i : matrix.pattern.column(j)) {
      const bool stored =
          std::binary_search(matrix.pattern.column(i).begin(), matrix.pattern.column(i).end(), j);
      if (stored && value_at(matrix, j, i) == mirrored(matrix.symmetry, value_at(matrix, i, j))) continue;
      throw UsageError(
          "the matrix is marked " + std::string(name_of(matrix.symmetry)) + ", but its entries " +
          place_of(i, j) + " and " + place_of(j, i) +
          (stored ? " do not agree" : " are not both stored; every entry must be, in both triangles"));
    }
}

}  // namespace

void check_threads(int threads) {
  if (threads < 0 || threads > most_threads)
    throw UsageError("the number of threads is " + std::to_string(threads) +
                     "; use 0 for all processors, or 1 to " + std::to_string(most_threads));
}

namespace {

void check_method_for(SolveMethod method, const std::shared_ptr<Device>& device) {
  check_solve_method(method, {device ? SolveWhere::device : SolveWhere::one_machine});
}

/// A device that is chosen by prediction may not be used: only `automatic` runs on both sides.
void check_choice(const SolverOptions& options) {
  if (options.world) {
    if (options.device || options.device_if_faster)
      throw UsageError("options name one device and several: leave one of them out");
    using enum SolveWhere;
    if (options.of_world.layers == 0)
      return check_solve_method(options.method, {devices, device_layers, device_levels});
    if (options.of_world.layers == 1) return check_solve_method(options.method, {devices});
    return check_solve_method(options.method, {device_layers, device_levels});
  }
  if (!options.device_if_faster) return check_method_for(options.method, options.device);
  if (options.method != SolveMethod::automatic)
    throw UsageError("the method " + std::string(name_of(options.method)) +
                     " runs at one place, but the device auto may choose the other: leave the method auto, "
                     "or name the device");
}

}  // namespace

template <class T>
void check_options(const SolverOptions& options) {
  check_threads(options.threads);
  check_choice(options);
  if (!(options.tiny_pivot >= 0 && options.tiny_pivot < 1))
    throw UsageError("tiny_pivot is " + std::to_string(options.tiny_pivot) +
                     "; it is a fraction of the largest entry, 0 <= t < 1");
  if (options.mixed_precision && std::is_same_v<real_t<T>, float>)
    throw UsageError(
        "mixed precision needs a matrix in double precision: this one is in single precision already");
}

template <class T>
void check_system(const std::shared_ptr<const SparseMatrix<T>>& matrix, const SolverOptions& options) {
  if (!matrix) throw UsageError("the matrix is null");
  if (matrix->rows() != matrix->cols())
    throw DimensionError("a solve needs a square matrix; this one is " + std::to_string(matrix->rows()) +
                         " x " + std::to_string(matrix->cols()));
  check_options<T>(options);
  check_matrix(*matrix);
  check_promise(*matrix);
}

template <class T>
void check_triangle(const SparseMatrix<T>& matrix, const TriangularSolverOptions& options) {
  if (matrix.rows() != matrix.cols())
    throw DimensionError("a triangular solve needs a square matrix; this one is " +
                         std::to_string(matrix.rows()) + " x " + std::to_string(matrix.cols()));
  check_threads(options.threads);
  if (options.triangle.plan.world)
    check_solve_method(options.method, {SolveWhere::devices, SolveWhere::devices_by_columns});
  else
    check_method_for(options.method, options.triangle.plan.device);
  check_matrix(matrix);
}

template <class T>
void check_right_hand_side_sizes(index_t n, DenseView<const T> b, DenseView<T> x) {
  if (b.rows != n)
    throw DimensionError("the right-hand side has " + std::to_string(b.rows) + " rows, the matrix " +
                         std::to_string(n));
  if (b.cols < 0) throw DimensionError("the number of right-hand sides is " + std::to_string(b.cols));
  if (x.rows != b.rows || x.cols != b.cols)
    throw DimensionError("the solution is " + std::to_string(x.rows) + " x " + std::to_string(x.cols) +
                         ", the right-hand side " + std::to_string(b.rows) + " x " + std::to_string(b.cols));
  if (b.cols > 1 && (b.ld < n || x.ld < n))
    throw DimensionError("the leading dimensions are " + std::to_string(b.ld) + " and " +
                         std::to_string(x.ld) + ", less than the " + std::to_string(n) + " rows");
}

template <class T>
void check_finite(DenseView<const T> b, index_t first) {
  for (index_t j = 0; j < b.cols; ++j)
    for (index_t i = 0; i < b.rows; ++i)
      if (!is_finite(b(i, j)))
        throw UsageError("the right-hand side is not finite in row " + std::to_string(i + 1) + ", column " +
                         std::to_string(first + j + 1));
}

template <class T>
void check_right_hand_sides(index_t n, DenseView<const T> b, DenseView<T> x) {
  check_right_hand_side_sizes(n, b, x);
  check_finite(b);
}

template <class T>
std::shared_ptr<const SparseMatrix<T>> with_known_symmetry(std::shared_ptr<const SparseMatrix<T>> matrix) {
  if (matrix->symmetry != Symmetry::general) return matrix;
  const Symmetry found = detect_symmetry(*matrix);
  if (found == Symmetry::general) return matrix;
  auto copy = std::make_shared<SparseMatrix<T>>(*matrix);
  copy->symmetry = found;
  return copy;
}

template <class T>
DenseMatrix<T> copy_if_overlapping(DenseView<const T> b, DenseView<T> x) {
  if (b.rows == 0 || b.cols == 0) return {};
  const T* const b_end = b.column(b.cols - 1) + b.rows;
  const T* const x_end = x.column(x.cols - 1) + x.rows;
  const std::less<const T*> before;
  if (!before(b.data, x_end) || !before(x.data, b_end)) return {};
  DenseMatrix<T> copy(b.rows, b.cols);
  for (index_t j = 0; j < b.cols; ++j) std::copy(b.column(j), b.column(j) + b.rows, copy.view().column(j));
  return copy;
}

#define PALMETTE_INSTANTIATE(T)                                                                    \
  template void check_system(const std::shared_ptr<const SparseMatrix<T>>&, const SolverOptions&); \
  template void check_options<T>(const SolverOptions&);                                            \
  template void check_triangle(const SparseMatrix<T>&, const TriangularSolverOptions&);                  \
  template void check_right_hand_side_sizes(index_t, DenseView<const T>, DenseView<T>);            \
  template void check_finite(DenseView<const T>, index_t);                                         \
  template void check_right_hand_sides(index_t, DenseView<const T>, DenseView<T>);                 \
  template std::shared_ptr<const SparseMatrix<T>> with_known_symmetry(                             \
      std::shared_ptr<const SparseMatrix<T>>);                                                     \
  template DenseMatrix<T> copy_if_overlapping(DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
