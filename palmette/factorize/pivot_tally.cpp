// Moduli, signs and counts of pivots.
#include "palmette/factorize/pivot_tally.hpp"

#include <algorithm>
#include <cmath>

namespace palmette::factorize_detail {

void PivotTally::add(std::complex<double> pivot, bool replaced) {
  const double modulus = std::abs(pivot);
  moduli_.multiply(modulus);
  sign *= pivot / modulus;
  if (replaced) ++inertia.zero;
  else ++(pivot.real() > 0 ? inertia.positive : inertia.negative);
}

void PivotTally::add_pair(std::complex<double> a, std::complex<double> c, std::complex<double> b_squared) {
  const std::complex<double> determinant = a * c - b_squared;
  const double modulus = std::abs(determinant);
  moduli_.multiply(modulus);
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
  moduli_.multiply(pivot);
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
  replacements.insert(replacements.end(), later.replacements.begin(), later.replacements.end());
  singular_root = singular_root || later.singular_root;
  inexact_replacement = inexact_replacement || later.inexact_replacement;
  moduli_.append(later.moduli_);
}

}  // namespace palmette::factorize_detail
