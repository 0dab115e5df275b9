// Inside `factorize`: counts pivots as they are computed. Each task that computes pivots has its own tally;
// the tallies are joined in the order of the tasks, so that the sums do not depend on the number of threads.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <vector>

#include "palmette/blocks/blocks.hpp"

namespace palmette::factorize_detail {

struct PivotTally {
  Inertia inertia;
  double smallest = infinity;
  double largest = 0;
  std::complex<double> sign = 1;           ///< product of the pivots' phases and of in-block row permutations
  std::vector<ReplacedPivot> replacements;  ///< of the permuted and scaled matrix
  bool singular_root = false;        ///< a root block was exactly singular
  bool inexact_replacement = false;  ///< some pivot was replaced without proof of singularity

  /// A 1 × 1 pivot of LDLᵀ or LU.
  void add(std::complex<double> pivot, bool replaced);
  /// A 2 × 2 pivot with diagonal a, c; the product of its off-diagonal entries is b_squared.
  void add_pair(std::complex<double> a, std::complex<double> c, std::complex<double> b_squared);
  /// A pivot of LLᵀ, given by its square root; counts its modulus too.
  void add_square(double root);
  void add_moduli(double smallest_modulus, double largest_modulus);
  /// Append `later`, the tally of later columns.
  void append(const PivotTally& later);
  /// Sum of the logarithms of the pivots' moduli.
  double log_modulus() const { return moduli_.log(); }

 private:
  LogProduct moduli_;
};

}  // namespace palmette::factorize_detail
