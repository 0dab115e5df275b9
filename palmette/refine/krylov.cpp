// Flexible GMRES: Arnoldi by modified Gram–Schmidt, the least-squares problem by Givens rotations; all inner
// products and the small triangular system are computed in double.
#include "palmette/refine/krylov.hpp"

#include <algorithm>
#include <limits>

namespace palmette {
namespace {

template <class T>
wide_t<T> inner_product(const std::vector<T>& left, const std::vector<T>& right) {
  wide_t<T> sum{};
  for (std::size_t row = 0; row < left.size(); ++row) sum += conjugate(widen(left[row])) * widen(right[row]);
  return sum;
}

/// ‖v‖₂, with a power of two that keeps the squares in range; infinity if v is not finite.
template <class T>
double two_norm(const std::vector<T>& vector) {
  double largest = 0;
  for (const T& value : vector) {
    if (!is_finite(value)) return infinity;
    largest = std::max(largest, static_cast<double>(cheap_modulus(value)));
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  const double factor = std::ldexp(1.0, std::clamp(-exponent, -1000, 1000));
  double sum = 0;
  for (const T& value : vector) {
    const wide_t<T> wide = widen(value, factor);
    if constexpr (is_complex_v<T>) sum += wide.real() * wide.real() + wide.imag() * wide.imag();
    else sum += wide * wide;
  }
  return std::sqrt(sum) / factor;
}

bool usable(double norm) { return norm > 0 && norm <= std::numeric_limits<double>::max(); }

/// target ← target + factor·vector.
template <class T>
void add_multiple(std::vector<T>& target, const wide_t<T>& factor, const std::vector<T>& vector) {
  for (std::size_t row = 0; row < target.size(); ++row)
    target[row] = narrow<T>(widen(target[row]) + factor * widen(vector[row]));
}

template <class T>
std::vector<T> divided_by(const std::vector<T>& vector, double norm) {
  std::vector<T> result(vector.size());
  for (std::size_t row = 0; row < vector.size(); ++row) result[row] = narrow<T>(widen(vector[row]) / norm);
  return result;
}

/// The rotation (c, s; −s̄, c) that takes (a, b) to (r, 0), b real and nonnegative.
template <class Wide>
struct Rotation {
  double c = 1;
  Wide s{};

  static Rotation eliminating(const Wide& a, double b) {
    const double length = std::hypot(modulus(a), b);
    if (length == 0) return {};
    if (modulus(a) == 0) return {0, Wide(1)};
    return {modulus(a) / length, a / modulus(a) * (b / length)};
  }
  void apply(Wide& upper, Wide& lower) const {
    const Wide old_upper = upper;
    upper = c * old_upper + s * lower;
    lower = c * lower - conjugate(s) * old_upper;
  }
};

template <class T>
class FlexibleGmres {
 public:
  FlexibleGmres(const InvertibleOperator<T>& inverse, const std::vector<T>& residual,
                const KrylovOptions& options)
      : inverse_(inverse), options_(options), size_(static_cast<index_t>(residual.size())) {
    start_norm_ = two_norm(residual);
    if (usable(start_norm_)) basis_.push_back(divided_by(residual, start_norm_));
    reduced_.push_back(wide_t<T>(start_norm_));
  }

  KrylovCorrection<T> run() {
    if (basis_.empty()) return {};
    while (applications_ < options_.max_iterations && extend()) {
    }
    return {combine(), applications_};
  }

 private:
  DenseView<T> view(std::vector<T>& vector) const { return {vector.data(), size_, 1, size_}; }

  /// y ← y + op(A)·x
  void multiply(DenseView<const T> x, DenseView<T> y) const {
    if (inverse_.matrix.part != nullptr)
      multiply_add<T>(*inverse_.matrix.part, inverse_.operation, T(1), x, y);
    else multiply_add<T>(*inverse_.matrix.whole, inverse_.operation, T(1), x, y);
  }

  /// Adds one direction. False if the cycle is over: it has converged or broken down, or the direction is not
  /// usable.
  bool extend() {
    std::vector<T> direction = basis_.back();
    inverse_.apply(inverse_.operation, view(direction));
    ++applications_;
    const double length = two_norm(direction);
    if (!usable(length)) return false;
    // Scaled to length one: otherwise vectors that the inverse enlarges could leave the range of float.
    direction = divided_by(direction, length);
    std::vector<T> image(direction.size(), T{});
    multiply(view(direction), view(image));
    const double image_norm = two_norm(image);
    if (!usable(image_norm)) return false;
    std::vector<wide_t<T>> column = orthogonalize(image);
    const double rest = two_norm(image);
    const bool exhausted = !(rest > 4 * unit_roundoff<T> * image_norm);
    if (!append_column(std::move(column), exhausted ? 0 : rest)) return false;
    directions_.push_back(std::move(direction));
    if (exhausted || modulus(reduced_.back()) <= options_.tolerance * start_norm_) return false;
    basis_.push_back(divided_by(image, rest));
    return true;
  }

  /// Orthogonalizes `image` against the basis, twice, since once is not enough for an image that lies nearly
  /// in its span.
  std::vector<wide_t<T>> orthogonalize(std::vector<T>& image) const {
    std::vector<wide_t<T>> column(basis_.size(), wide_t<T>{});
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t place = 0; place < basis_.size(); ++place) {
        const wide_t<T> product = inner_product(basis_[place], image);
        add_multiple(image, -product, basis_[place]);
        column[place] += product;
      }
    return column;
  }

  /// The next column of the Hessenberg matrix, rotated to triangular form. False if it depends on the earlier
  /// columns.
  bool append_column(std::vector<wide_t<T>> column, double subdiagonal) {
    double size = subdiagonal;
    for (const wide_t<T>& value : column) size = std::max(size, modulus(value));
    for (std::size_t place = 0; place < rotations_.size(); ++place)
      rotations_[place].apply(column[place], column[place + 1]);
    wide_t<T> below(subdiagonal);
    const auto rotation = Rotation<wide_t<T>>::eliminating(column.back(), subdiagonal);
    rotation.apply(column.back(), below);
    if (!(modulus(column.back()) > unit_roundoff<T> * size)) return false;
    wide_t<T> next{};
    rotation.apply(reduced_.back(), next);
    reduced_.push_back(next);
    rotations_.push_back(rotation);
    triangle_.push_back(std::move(column));
    return true;
  }

  /// The combination of the directions that minimizes the residual.
  std::vector<T> combine() const {
    const std::size_t count = directions_.size();
    if (count == 0) return {};
    std::vector<wide_t<T>> weight(reduced_.begin(), reduced_.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t place = count; place-- > 0;) {
      weight[place] /= triangle_[place][place];
      for (std::size_t above = 0; above < place; ++above)
        weight[above] -= triangle_[place][above] * weight[place];
    }
    std::vector<T> correction(size_, T{});
    for (std::size_t place = 0; place < count; ++place)
      add_multiple(correction, weight[place], directions_[place]);
    return correction;
  }

  const InvertibleOperator<T>& inverse_;
  KrylovOptions options_;
  index_t size_;
  int applications_ = 0;
  double start_norm_ = 0;
  std::vector<std::vector<T>> basis_;             // orthonormal, of length n each; one more for each
                                                  // iteration
  std::vector<std::vector<T>> directions_;        // z with op(A)z in the span of the basis
  std::vector<std::vector<wide_t<T>>> triangle_;  // column k has k + 1 entries
  std::vector<Rotation<wide_t<T>>> rotations_;
  // rotated right-hand side; the last entry is the residual's norm
  std::vector<wide_t<T>> reduced_;
};

}  // namespace

template <class T>
KrylovCorrection<T> flexible_gmres_cycle(const InvertibleOperator<T>& inverse, const std::vector<T>& residual,
                                         const KrylovOptions& options) {
  return FlexibleGmres<T>(inverse, residual, options).run();
}

#define PALMETTE_INSTANTIATE(T)                                                                          \
  template KrylovCorrection<T> flexible_gmres_cycle(const InvertibleOperator<T>&, const std::vector<T>&, \
                                                    const KrylovOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
