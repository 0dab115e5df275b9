// Inside `refine`: one cycle of flexible GMRES, preconditioned by the approximate inverse, for a column that
// plain refinement cannot bring below its bound.
#pragma once

#include <vector>

#include "palmette/refine/compensated.hpp"
#include "palmette/refine/system.hpp"

namespace palmette {

struct KrylovOptions {
  int max_iterations = 30;  ///< twice as many vectors are stored
  double tolerance = 0.1;   ///< stop when the residual's 2-norm has fallen by this factor
};

/// d with ‖r − op(A)d‖₂ as small as the subspace allows.
template <class T>
struct KrylovCorrection {
  std::vector<T> correction;  ///< length n; empty if not even one direction was usable
  int iterations = 0;         ///< applications of the inverse
};

/// Flexible GMRES from d = 0 in the working precision.
///
/// Preconditioned from the right and flexible, since then the minimized residual is the true one, however
/// inaccurate the inverse: each direction z is stored as `apply` returned it, and op(A)z is computed, not
/// assumed. If p pivots were perturbed, op(A)M⁻¹ − I has rank p, and p + 1 iterations suffice in exact
/// arithmetic. A breakdown ends the cycle early.
/// @param residual  length n, its largest entry of modulus about 1
/// @cost  per iteration: one apply, one product with op(A), 4·n·(iterations so far) flops; 2·n numbers of
///   memory
/// @source [Saad 1993]; [Arioli and Duff 2009]: backward stability with an inverse in lower precision
template <class T>
KrylovCorrection<T> flexible_gmres_cycle(const InvertibleOperator<T>& inverse, const std::vector<T>& residual,
                                         const KrylovOptions& options);

}  // namespace palmette
