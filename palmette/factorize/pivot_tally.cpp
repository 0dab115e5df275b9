// Moduli, signs and counts of pivots.
#include "palmette/factorize/pivot_tally.hpp"

#include <algorithm>
#include <cmath>

namespace palmette::factorizing {

void PivotTally::multiply(double modulus) {
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

void PivotTally::add(std::complex<double> pivot, bool replaced) {
  const double modulus = std::abs(pivot);
  multiply(modulus);
  sign *= pivot / modulus;
  if (replaced) ++inertia.zero;
  else ++(pivot.real() > 0 ? inertia.positive : inertia.negative);
}

void PivotTally::add_pair(std::complex<double> a, std::complex<double> c, std::complex<double> b_squared) {
  const std::complex<double> determinant = a * c - b_squared;
  const double modulus = std::abs(determinant);
  multiply(modulus);
  sign *= determinant / modulus;
  if (determinant.real() < 0) {
    ++inertia.positive;
    ++inertia.negative;
  } else {
    ((a + c).real() > 0 ? inertia.positive : inertia.negative) += 2;
  }
}

void PivotTally::add_square(double root) {
  const double pivot = root * root;
  multiply(pivot);
  add_moduli(pivot, pivot);
  ++inertia.positive;
}

void PivotTally::add_moduli(double smallest_modulus, double largest_modulus) {
  smallest = std::min(smallest, smallest_modulus);
  largest = std::max(largest, largest_modulus);
}

void PivotTally::append(const PivotTally& later) {
  inertia.positive += later.inertia.positive;
  inertia.negative += later.inertia.negative;
  inertia.zero += later.inertia.zero;
  add_moduli(later.smallest, later.largest);
  sign *= later.sign;
  perturbed_columns.insert(perturbed_columns.end(), later.perturbed_columns.begin(), later.perturbed_columns.end());
  singular_root = singular_root || later.singular_root;
  inexact_replacement = inexact_replacement || later.inexact_replacement;
  log_ += later.log_modulus();
}

int parity(std::span<const index_t> new_to_old) {
  std::vector<char> seen(new_to_old.size(), 0);
  bool odd = false;
  for (std::size_t start = 0; start < new_to_old.size(); ++start) {
    if (seen[start] != 0) continue;
    // A cycle of length c is c − 1 exchanges.
    for (auto member = static_cast<std::size_t>(new_to_old[start]); member != start;
         member = static_cast<std::size_t>(new_to_old[member])) {
      seen[member] = 1;
      odd = !odd;
    }
  }
  return odd ? -1 : 1;
}

}  // namespace palmette::factorizing
