// Inside `columns`: counts pivots as they are computed, and forms the determinant from them.
#pragma once

#include <limits>
#include <span>

#include "palmette/columns/columns.hpp"

namespace palmette {

/// Moduli, phases and the logarithm of their product.
class PivotCount {
 public:
  template <class T>
  void add(const T& pivot) {
    const double modulus = double(std::abs(pivot));
    smallest_ = std::min(smallest_, modulus);
    largest_ = std::max(largest_, modulus);
    moduli_.multiply(modulus);
    if constexpr (is_complex_v<T>) sign_ *= std::complex<double>(pivot) / modulus;
    else if (pivot < 0) sign_ = -sign_;
  }
  /// @param scale_exponents  sum of the binary exponents of the row scale
  PivotReport report(double scale_exponents, bool odd_permutation) const {
    PivotReport report;
    report.smallest_pivot = smallest_;
    report.largest_pivot = largest_;
    report.log_abs_determinant = moduli_.log() - scale_exponents * 0.6931471805599453;
    report.determinant_sign = odd_permutation ? -sign_ : sign_;
    return report;
  }

 private:
  double smallest_ = infinity, largest_ = 0;
  LogProduct moduli_;
  std::complex<double> sign_ = 1;
};

/// Is the permutation from `from` to `to` odd? Both list each index once.
inline bool is_odd(std::span<const index_t> from, std::span<const index_t> place_of_to) {
  return is_odd_permutation(from.size(), [&](std::size_t place) { return place_of_to[from[place]]; });
}

}  // namespace palmette
