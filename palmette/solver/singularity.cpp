// Inverse iteration and its correction, on the equilibrated matrix S = R·A·C with S⁻¹ = C⁻¹·A⁻¹·R⁻¹.
#include "palmette/solver/singularity.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/order/order.hpp"

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

/// ‖S‖∞ with S = diag(row_scale)·A·diag(column_scale).
template <class T>
double scaled_norm(const SparseMatrix<T>& matrix, const std::vector<double>& row_scale,
                   const std::vector<double>& column_scale) {
  std::vector<double> sums(static_cast<std::size_t>(matrix.rows()), 0);
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry)
      sums[matrix.pattern.row_index[entry]] += double(std::abs(matrix.values[entry])) * column_scale[j];
  double largest = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) largest = std::max(largest, sums[i] * row_scale[i]);
  return largest;
}

/// S as an operator with its approximate inverse.
template <class T>
class ScaledMatrix {
 public:
  ScaledMatrix(const SparseMatrix<T>& matrix, const ApplyInverse<T>& apply) : matrix_(matrix), apply_(apply) {
    equilibrate(matrix, row_scale_, column_scale_);
    norm_ = scaled_norm(matrix, row_scale_, column_scale_);
  }
  double norm() const { return norm_; }
  std::vector<T> multiply(std::vector<T> z) const {
    std::vector<T> image(z.size(), T(0));
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= real_t<T>(column_scale_[i]);
    multiply_add<T>(matrix_, Operation::plain, T(1), DenseView<const T>(view(z)), view(image));
    for (std::size_t i = 0; i < z.size(); ++i) image[i] *= real_t<T>(row_scale_[i]);
    return image;
  }
  /// op(S)⁻¹·z
  std::vector<T> solve(Operation operation, std::vector<T> z) const {
    const bool plain = operation == Operation::plain;
    const std::vector<double>& before = plain ? row_scale_ : column_scale_;
    const std::vector<double>& after = plain ? column_scale_ : row_scale_;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] /= real_t<T>(before[i]);
    apply_(operation, view(z));
    for (std::size_t i = 0; i < z.size(); ++i) z[i] /= real_t<T>(after[i]);
    return z;
  }

 private:
  static DenseView<T> view(std::vector<T>& values) {
    const index_t n = static_cast<index_t>(values.size());
    return {values.data(), n, 1, n};
  }
  const SparseMatrix<T>& matrix_;
  const ApplyInverse<T>& apply_;
  std::vector<double> row_scale_, column_scale_;
  double norm_ = 0;
};

/// Scale z to largest modulus one; false if it is zero or not finite.
template <class T>
bool normalize(std::vector<T>& z) {
  const double size = largest_modulus(z);
  if (!(size > 0) || !std::isfinite(size)) return false;
  for (T& value : z) value /= real_t<T>(size);
  return true;
}

}  // namespace

template <class T>
Singularity find_singularity(const SparseMatrix<T>& matrix, const ApplyInverse<T>& apply) {
  const std::size_t n = static_cast<std::size_t>(matrix.rows());
  Singularity found;
  if (n == 0) return found;
  const ScaledMatrix<T> scaled(matrix, apply);
  // Entries of alternating sign and slowly changing size: seldom orthogonal to anything.
  std::vector<T> start(n);
  for (std::size_t i = 0; i < n; ++i) start[i] = T(real_t<T>((i % 2 == 0 ? 1.0 : -1.0) * (1 + double(i) / double(n))));
  std::vector<T> left = scaled.solve(Operation::adjoint, start);
  std::vector<T> z = scaled.solve(Operation::plain, std::move(start));
  // Several replaced pivots leave several directions to be told apart: go on while it helps.
  int without_gain = 0;
  for (int step = 0; step < 20 && without_gain < 4 && normalize(z); ++step) {
    std::vector<T> image = scaled.multiply(z);
    const double distance = largest_modulus(image) / scaled.norm();
    without_gain = distance < 0.5 * found.distance ? 0 : without_gain + 1;
    if (distance < found.distance) {
      found.distance = distance;
      found.column = place_of_largest(z);
    }
    if (found.distance <= singular_distance<T> / 4) break;
    const std::vector<T> correction = scaled.solve(Operation::plain, std::move(image));
    for (std::size_t i = 0; i < n; ++i) z[i] -= correction[i];
  }
  if (normalize(left)) found.row = place_of_largest(left);
  return found;
}

#define PALMETTE_INSTANTIATE(T) template Singularity find_singularity(const SparseMatrix<T>&, const ApplyInverse<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
