// The parts of a determinant: moduli of pivots, multiplied without overflow and without a logarithm for each,
// and signs of permutations.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace palmette {

/// The logarithm of a product of positive numbers, with one logarithm for many of them and without overflow
/// or underflow.
class LogProduct {
 public:
  void multiply(double modulus) {
    constexpr double low = 1e-100, high = 1e100;
    if (!(modulus > low && modulus < high)) {
      log_ += std::log(modulus);
      return;
    }
    product_ *= modulus;
    if (product_ > low && product_ < high) return;
    log_ += std::log(product_);
    product_ = 1;
  }
  void append(const LogProduct& later) { log_ += later.log(); }
  double log() const { return log_ + std::log(product_); }

 private:
  double log_ = 0;
  double product_ = 1;  // product of the numbers not yet in log_
};

/// Is the permutation k → image(k) of [0, n) odd?
template <class Image>
bool is_odd_permutation(std::size_t n, Image image) {
  std::vector<char> seen(n, 0);
  bool odd = false;
  for (std::size_t start = 0; start < n; ++start)
    // A cycle of length c is c − 1 exchanges.
    for (std::size_t at = start; seen[at] == 0;) {
      seen[at] = 1;
      at = static_cast<std::size_t>(image(at));
      if (at != start) odd = !odd;
    }
  return odd;
}

}  // namespace palmette
