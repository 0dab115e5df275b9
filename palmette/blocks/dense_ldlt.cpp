// LDLᵀ of one diagonal block with rook pivoting, left-looking: a column of the remaining matrix is computed
// when the pivot search asks for it, from the finished columns of L and of L·D.
#include <cmath>
#include <numeric>

#include "palmette/blocks/column_kernels.hpp"
#include "palmette/blocks/dense_factor.hpp"
#include "palmette/blocks/small_products.hpp"

namespace palmette {
namespace {

/// A pivot is good enough if its modulus is at least this times the largest of its row: one 2 × 2 step then
/// grows entries as much as two 1 × 1 steps.
constexpr double pivot_ratio = 0.6403882032022076;  // (1 + √17) / 8

/// The largest modulus of a column outside one place, and its row (−1 if all are zero or NaN).
template <class T>
struct Largest {
  real_t<T> modulus = 0;
  index_t place = -1;
};

template <class T>
class RookFactorization {
 public:
  RookFactorization(bool hermitian, real_t<T> tiny, DenseView<T> block, std::span<index_t> place,
                    std::span<T> columns)
      : hermitian_(hermitian),
        tiny_(tiny),
        a_(block),
        place_(place),
        width_(block.cols),
        own_columns_(columns.empty() ? static_cast<std::size_t>(width_) * static_cast<std::size_t>(width_ + 1)
                                     : 0),
        columns_(columns.empty() ? own_columns_.data() : columns.data()) {
    std::iota(place.begin(), place.end(), index_t(0));
  }

  BlockPivots run(std::span<T> d, std::span<T> d_below) {
    for (index_t k = 0; k < width_;) {
      d_below[k] = T(0);
      if (choose(k)) {
        take_pair(k, d, d_below);
        k += 2;
      } else {
        take_single(k, d);
        k += 1;
      }
    }
    return std::move(pivots_);
  }

 private:
  /// Columns of L·D for the finished part; the columns behind it hold the candidates.
  T* ld_column(index_t k) {
    return columns_ + static_cast<std::size_t>(k) * width_;
  }
  T mirrored(const T& value) const { return hermitian_ ? conjugate(value) : value; }

  /// Rows k … w of column `column` of what remains after k pivots, into `out` (length w).
  void remaining_column(index_t k, index_t column, T* out) {
    for (index_t row = k; row < column; ++row) out[row] = mirrored(a_(column, row));
    std::copy(a_.column(column) + column, a_.column(column) + width_, out + column);
    const DenseView<const T> finished{a_.data + k, width_ - k, k, a_.ld};
    const auto coefficient = [&](index_t p, int) { return -mirrored(ld_column(p)[column]); };
    if (k > 0) kernels::multiply_columns<T, 1>(true, finished, coefficient, out + k, width_);
    if (hermitian_) out[column] = T(std::real(out[column]));
  }

  Largest<T> largest_outside(index_t k, index_t outside, const T* column) const {
    Largest<T> found;
    for (index_t row = k; row < width_; ++row) {
      if (row == outside) continue;
      const real_t<T> modulus = cheap_modulus(column[row]);
      if (modulus > found.modulus) found = {modulus, row};
    }
    return found;
  }

  /// Find the next pivot and move it to place k (and k + 1); its columns are then in first_ (and second_).
  /// @returns true for a 2 × 2 pivot
  bool choose(index_t k) {
    first_ = ld_column(k);
    second_ = ld_column(k + 1);
    remaining_column(k, k, first_);
    Largest<T> beside = largest_outside(k, k, first_);
    if (beside.place < 0 || beside.modulus < tiny_ || cheap_modulus(first_[k]) >= ratio * beside.modulus)
      return false;
    index_t candidate = k;
    while (true) {
      const index_t next = beside.place;
      remaining_column(k, next, second_);
      const Largest<T> across = largest_outside(k, next, second_);
      if (cheap_modulus(second_[next]) >= ratio * across.modulus) {
        std::copy(second_ + k, second_ + width_, first_ + k);
        exchange(k, k, next, 1);
        return false;
      }
      if (across.place == candidate || !(across.modulus > beside.modulus)) {
        exchange(k, k, candidate, 2);
        exchange(k, k + 1, next == k ? candidate : next, 2);
        return true;
      }
      candidate = next;
      beside = across;
      std::copy(second_ + k, second_ + width_, first_ + k);
    }
  }

  /// Exchange rows and columns `at` and `with` (at ≤ with) of the remaining matrix, of L, of L·D and of the
  /// candidates.
  void exchange(index_t k, index_t at, index_t with, int candidates) {
    if (at == with) return;
    std::swap(place_[at], place_[with]);
    for (index_t column = 0; column < k; ++column) {
      std::swap(a_(at, column), a_(with, column));
      std::swap(ld_column(column)[at], ld_column(column)[with]);
    }
    for (index_t column = k; column < at; ++column) std::swap(a_(at, column), a_(with, column));
    std::swap(a_(at, at), a_(with, with));
    for (index_t between = at + 1; between < with; ++between) {
      const T below = a_(between, at);
      a_(between, at) = mirrored(a_(with, between));
      a_(with, between) = mirrored(below);
    }
    a_(with, at) = mirrored(a_(with, at));
    for (index_t row = with + 1; row < width_; ++row) std::swap(a_(row, at), a_(row, with));
    std::swap(first_[at], first_[with]);
    if (candidates == 2) std::swap(second_[at], second_[with]);
  }

  void take_single(index_t k, std::span<T> d) {
    T pivot = first_[k];
    const real_t<T> modulus = std::abs(pivot);
    pivots_.count(modulus);
    if (modulus < tiny_) {
      const std::complex<double> before(pivot);
      pivot = modulus > 0 ? pivot * (tiny_ / modulus) : T(tiny_);
      pivots_.replaced(k, std::complex<double>(pivot) - before,
                       modulus == 0 && largest_outside(k, k, first_).place < 0);
    }
    d[k] = pivot;
    const T inverse = T(1) / pivot;
    for (index_t row = k + 1; row < width_; ++row) a_(row, k) = first_[row] * inverse;
  }

  void take_pair(index_t k, std::span<T> d, std::span<T> d_below) {
    d[k] = first_[k];
    d_below[k] = first_[k + 1];
    d[k + 1] = second_[k + 1];
    d_below[k + 1] = T(0);
    count_pair(d[k], d_below[k], d[k + 1]);
    const DenseView<T> rows{a_.data + k + 2 + k * a_.ld, width_ - k - 2, 2, a_.ld};
    std::copy(first_ + k + 2, first_ + width_, rows.column(0));
    std::copy(second_ + k + 2, second_ + width_, rows.column(1));
    divide_by_pairs<T>({hermitian_, d.subspan(k, 2), d_below.subspan(k, 2)}, rows);
    a_(k + 1, k) = T(0);
  }

  /// Eigenvalues of [[a, b̄], [b, c]]: mean ± √(half difference² + b·b̄).
  void count_pair(const T& a, const T& b, const T& c) {
    using Complex = std::complex<double>;
    const Complex mean = 0.5 * (Complex(a) + Complex(c)), half = 0.5 * (Complex(a) - Complex(c));
    const Complex square = Complex(b) * Complex(mirrored(b));
    const Complex root = std::sqrt(half * half + square);
    pivots_.count(std::abs(mean + root));
    pivots_.count(std::abs(mean - root));
  }

  static constexpr real_t<T> ratio = static_cast<real_t<T>>(pivot_ratio);
  bool hermitian_;
  real_t<T> tiny_;
  DenseView<T> a_;
  std::span<index_t> place_;
  index_t width_;
  std::vector<T> own_columns_;
  T* columns_;              // width × (width + 1)
  T* first_ = nullptr;      // column of L·D at k
  T* second_ = nullptr;     // column of L·D at k + 1
  BlockPivots pivots_;
};

}  // namespace

template <class T>
BlockPivots factor_ldlt(bool hermitian, real_t<T> tiny, DenseView<T> block, const PairStorage<T>& pairs,
                        std::span<index_t> place) {
  return RookFactorization<T>(hermitian && is_complex_v<T>, tiny, block, place, pairs.columns)
      .run(pairs.d, pairs.d_below);
}

#define PALMETTE_INSTANTIATE(T)                                                             \
  template BlockPivots factor_ldlt<T>(bool, real_t<T>, DenseView<T>, const PairStorage<T>&, \
                                      std::span<index_t>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
