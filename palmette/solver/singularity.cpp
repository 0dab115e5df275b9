// Inverse iteration and its correction, on the equilibrated matrix S = R·A·C with S⁻¹ = C⁻¹·A⁻¹·R⁻¹.
#include "palmette/solver/singularity.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/solver/scaled_matrix.hpp"

namespace palmette {
namespace {

template <class T>
double largest_modulus(const std::vector<T>& values) {
  double largest = 0;
  for (const T& value : values) largest = std::max(largest, double(std::abs(value)));
  return largest;
}

template <class T>
index_t place_of_largest(const std::vector<T>& values) {
  const auto smaller = [](const T& a, const T& b) { return std::abs(a) < std::abs(b); };
  return static_cast<index_t>(std::max_element(values.begin(), values.end(), smaller) - values.begin());
}

/// Scale z to largest modulus one; false if it is zero or not finite.
template <class T>
bool normalize(std::vector<T>& z) {
  const double size = largest_modulus(z);
  if (!(size > 0) || !std::isfinite(size)) return false;
  for (T& value : z) value /= real_t<T>(size);
  return true;
}

/// z − y, where y is a new solution of A·y = A·z: zero up to rounding if A is regular, a null vector of A if
/// it is singular and the solver finds another solution than z. With a poor inverse, refinement does what
/// single corrections cannot.
template <class T, class Matrix>
std::vector<T> difference_of_solutions(const Matrix& matrix, const ApplyInverse<T>& apply, index_t n) {
  DenseMatrix<T> z(n, 1), b(n, 1);
  // Sizes between 1 and 2 without any pattern that a grid could have: the fractional parts of multiples of
  // the golden ratio.
  for (index_t i = 0; i < n; ++i) {
    const double multiple = 0.6180339887498949 * (double(i) + 1);
    z.values[i] = T(real_t<T>(1 + multiple - std::floor(multiple)));
  }
  multiply_add<T>(matrix, Operation::plain, T(1), std::as_const(z).view(), b.view());
  DenseMatrix<T> y = b;
  apply(Operation::plain, y.view());
  RefineOptions options;
  options.only_if_needed = false;
  refine<T>(matrix, Operation::plain, apply, std::as_const(b).view(), y.view(), options);
  for (index_t i = 0; i < n; ++i) z.values[i] -= y.values[i];
  return std::move(z.values);
}

template <class T, class Matrix>
Singularity find(const Matrix& matrix, const ApplyInverse<T>& apply, Operation operation,
                 DenseView<const T> x) {
  const std::size_t n = static_cast<std::size_t>(x.rows);
  Singularity found;
  if (n == 0) return found;
  const ScaledMatrix<T, Matrix> scaled(matrix, apply);
  // Entries of alternating sign and slowly changing size: seldom orthogonal to anything.
  std::vector<T> start(n);
  for (std::size_t i = 0; i < n; ++i)
    start[i] = T(real_t<T>((i % 2 == 0 ? 1.0 : -1.0) * (1 + double(i) / double(n))));
  std::vector<T> left = scaled.solve(Operation::adjoint, start);
  if (normalize(left)) found.row = place_of_largest(left);
  // A candidate direction with the distance from singularity that it proves.
  const auto consider = [&](Operation op, const std::vector<T>& direction) {
    std::vector<T> image = scaled.multiply(op, direction);
    const double distance = largest_modulus(image) / scaled.norm();
    index_t& place = op == Operation::plain ? found.column : found.row;
    if (distance < found.distance || place < 0) place = place_of_largest(direction);
    found.distance = std::min(found.distance, distance);
    return image;
  };
  const auto is_proved = [&] { return found.distance <= singular_distance<T> / 4; };
  std::vector<T> z = scaled.solve(Operation::plain, std::move(start));
  std::vector<T> answer = scaled.scaled_solution(operation, x);
  if (normalize(answer)) consider(operation, answer);
  // Several replaced pivots leave several directions to separate: continue while it helps.
  int without_gain = 0;
  for (int step = 0; step < 20 && without_gain < 4 && !is_proved() && normalize(z); ++step) {
    const double before = found.distance;
    std::vector<T> image = consider(Operation::plain, z);
    without_gain = found.distance < 0.5 * before ? 0 : without_gain + 1;
    const std::vector<T> correction = scaled.solve(Operation::plain, std::move(image));
    for (std::size_t i = 0; i < n; ++i) z[i] -= correction[i];
  }
  if (is_proved()) return found;
  const std::vector<T> difference = difference_of_solutions(matrix, apply, x.rows);
  z = scaled.scaled_solution(Operation::plain, {difference.data(), x.rows, 1, x.rows});
  if (normalize(z)) consider(Operation::plain, z);
  return found;
}

}  // namespace

template <class T>
Singularity find_singularity(const SparseMatrix<T>& matrix, const ApplyInverse<T>& apply, Operation operation,
                             DenseView<const T> x) {
  return find(matrix, apply, operation, x);
}
template <class T>
Singularity find_singularity(const MatrixShare<T>& matrix, const ApplyInverse<T>& apply, Operation operation,
                             DenseView<const T> x) {
  return find(matrix, apply, operation, x);
}

#define PALMETTE_INSTANTIATE(T)                                                                    \
  template Singularity find_singularity(const MatrixShare<T>&, const ApplyInverse<T>&, Operation,  \
                                        DenseView<const T>);                                       \
  template Singularity find_singularity(const SparseMatrix<T>&, const ApplyInverse<T>&, Operation, \
                                        DenseView<const T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
