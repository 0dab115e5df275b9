// The block power method for the 1-norm: it moves from one pair of columns to a better one until none is
// better.
#include "palmette/refine/one_norm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "palmette/base/base.hpp"
#include "palmette/refine/compensated.hpp"

namespace palmette {
namespace {

constexpr index_t block_columns = 2;
constexpr index_t exact_size = 4;
constexpr int max_rounds = 5;

/// Fixed signs: a splitmix64 stream started at 0.
class SignStream {
 public:
  double next() { return (stream_.next() & 1) != 0 ? 1.0 : -1.0; }

 private:
  SplitMix64 stream_{0};
};

template <class T>
class OneNormEstimator {
 public:
  explicit OneNormEstimator(const LinearMap<T>& map) : map_(map), n_(map.size) {}

  double run() {
    if (n_ == 0) return 0;
    if (n_ <= exact_size) return exact();
    climb();
    return estimate_;
  }

 private:
  static double sum_of_moduli(const T* column, index_t size) {
    double sum = 0;
    for (index_t row = 0; row < size; ++row) {
      if (!is_finite(column[row])) return infinity;
      sum += modulus(widen(column[row]));
    }
    return sum;
  }

  double exact() {
    DenseMatrix<T> identity(n_, n_);
    for (index_t column = 0; column < n_; ++column) identity.view()(column, column) = T(1);
    map_.forward(identity.view());
    for (index_t column = 0; column < n_; ++column)
      estimate_ = std::max(estimate_, sum_of_moduli(identity.view().column(column), n_));
    return estimate_;
  }

  void climb() {
    DenseMatrix<T> block = start_block();
    for (int round = 0; round < max_rounds; ++round) {
      map_.forward(block.view());
      if (!raise_estimate(block, round)) return;
      DenseMatrix<T> signs = signs_of(block);
      if (!separate(signs)) return;
      previous_signs_ = signs;
      map_.adjoint(signs.view());
      if (!choose_units(signs, round)) return;
      block = unit_block();
    }
  }

  /// Columns: 1/n everywhere; signs/n; and the vector that alternates and grows, which handles most matrices
  /// that were constructed to defeat the first.
  DenseMatrix<T> start_block() {
    DenseMatrix<T> block(n_, block_columns + 1);
    const double n = n_;
    for (index_t row = 0; row < n_; ++row) {
      block.view()(row, 0) = T(static_cast<real_t<T>>(1 / n));
      block.view()(row, 1) = T(static_cast<real_t<T>>(signs_.next() / n));
      const double alternating = (row % 2 == 0 ? 1 : -1) * (1 + row / (n - 1));
      block.view()(row, 2) = T(static_cast<real_t<T>>(alternating * 2 / (3 * n)));
    }
    return block;
  }

  /// False if this round found nothing better, or values that are not finite.
  bool raise_estimate(DenseMatrix<T>& block, int round) {
    double best = 0;
    std::size_t best_column = 0;
    for (index_t column = 0; column < block.cols; ++column) {
      const double sum = sum_of_moduli(block.view().column(column), n_);
      if (sum > best) {
        best = sum;
        best_column = static_cast<std::size_t>(column);
      }
    }
    const bool raised = best > estimate_;
    estimate_ = std::max(estimate_, best);
    if (estimate_ == infinity) return false;
    if (round > 0 && raised) best_unit_ = units_[best_column];
    return round == 0 || raised;
  }

  /// sign(y) = y/|y|, 1 where y = 0, of the first columns of the block.
  DenseMatrix<T> signs_of(const DenseMatrix<T>& block) const {
    DenseMatrix<T> signs(n_, std::min(block.cols, block_columns));
    for (std::size_t place = 0; place < signs.values.size(); ++place) {
      const wide_t<T> value = widen(block.values[place]);
      const double size = modulus(value);
      signs.values[place] = size > 0 ? narrow<T>(value / size) : T(1);
    }
    return signs;
  }

  bool parallel(const T* left, const T* right) const {
    wide_t<T> sum{};
    for (index_t row = 0; row < n_; ++row) sum += conjugate(widen(left[row])) * widen(right[row]);
    return modulus(sum) > n_ - 0.5;
  }

  bool seen_before(const DenseMatrix<T>& signs, index_t column) const {
    for (index_t other = 0; other < previous_signs_.cols; ++other)
      if (parallel(signs.view().column(column), previous_signs_.view().column(other))) return true;
    return false;
  }

  /// Replaces columns that repeat others, since they would find nothing new. False if all columns were seen
  /// before.
  bool separate(DenseMatrix<T>& signs) {
    if constexpr (is_complex_v<T>) return true;
    index_t repeated = 0;
    for (index_t column = 0; column < signs.cols; ++column) {
      const bool old = seen_before(signs, column);
      repeated += old ? 1 : 0;
      const bool twin = column > 0 && parallel(signs.view().column(column), signs.view().column(column - 1));
      if (!old && !twin) continue;
      for (index_t row = 0; row < n_; ++row)
        signs.view()(row, column) = T(static_cast<real_t<T>>(signs_.next()));
    }
    return repeated < signs.cols;
  }

  /// The most promising unit vectors: those of the largest rows of Bᴴ·signs. False if none is new or
  /// better.
  bool choose_units(const DenseMatrix<T>& gradient, int round) {
    std::vector<double> promise(n_, 0.0);
    for (index_t column = 0; column < gradient.cols; ++column)
      for (index_t row = 0; row < n_; ++row) {
        const double size = modulus(widen(gradient.view()(row, column)));
        if (!(size <= std::numeric_limits<double>::max())) {
          estimate_ = infinity;
          return false;
        }
        promise[row] = std::max(promise[row], size);
      }
    if (round > 0 && promise[best_unit_] >= *std::max_element(promise.begin(), promise.end())) return false;
    return take_best_new(promise);
  }

  bool take_best_new(const std::vector<double>& promise) {
    // At most max_rounds·block_columns units were used before, so this many candidates contain enough new
    // ones.
    const auto candidates = std::min<std::size_t>(promise.size(), max_rounds * block_columns + block_columns);
    std::vector<index_t> order(promise.size());
    std::iota(order.begin(), order.end(), 0);
    const auto more = [&](index_t left, index_t right) {
      return promise[left] != promise[right] ? promise[left] > promise[right] : left < right;
    };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(candidates), order.end(),
                      more);
    const auto used = [&](index_t unit) {
      return std::find(used_.begin(), used_.end(), unit) != used_.end();
    };
    if (used(order[0]) && used(order[1])) return false;
    units_.clear();
    for (std::size_t place = 0; place < candidates && units_.size() < block_columns; ++place)
      if (!used(order[place])) units_.push_back(order[place]);
    used_.insert(used_.end(), units_.begin(), units_.end());
    return !units_.empty();
  }

  DenseMatrix<T> unit_block() const {
    DenseMatrix<T> block(n_, static_cast<index_t>(units_.size()));
    for (std::size_t column = 0; column < units_.size(); ++column)
      block.view()(units_[column], static_cast<index_t>(column)) = T(1);
    return block;
  }

  const LinearMap<T>& map_;
  index_t n_;
  double estimate_ = 0;
  SignStream signs_;
  DenseMatrix<T> previous_signs_;
  index_t best_unit_ = 0;        ///< the unit vector whose column is the estimate
  std::vector<index_t> units_;   // of this round
  std::vector<index_t> used_;    // of all rounds
};

}  // namespace

template <class T>
double estimate_one_norm(const LinearMap<T>& map) {
  return OneNormEstimator<T>(map).run();
}

#define PALMETTE_INSTANTIATE(T) template double estimate_one_norm(const LinearMap<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
