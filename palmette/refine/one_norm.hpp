// Inside `refine`: a lower bound of ‖B‖₁, nearly always sharp, for a B that is known only as an operator.
#pragma once

#include <functional>

#include "palmette/base/base.hpp"

namespace palmette {

/// An n × n operator, given as functions: v ← B·v and v ← Bᴴ·v, for all columns of v.
template <class T>
struct LinearMap {
  index_t size = 0;
  std::function<void(DenseView<T>)> forward;
  std::function<void(DenseView<T>)> adjoint;
};

/// Estimate ‖B‖₁; exact for n ≤ 4. The start vectors are always the same, so the estimate is too.
/// @return infinity if B yields values that are not finite
/// @cost  typically 2 applications of B and 2 of Bᴴ to two or three columns, at most 5 of each
/// @source [Higham and Tisseur 2000], algorithm 2.4 with t = 2; the extra alternating vector is that of
///         LAPACK's xLACN2 [Higham 1988]
template <class T>
double estimate_one_norm(const LinearMap<T>& map);

}  // namespace palmette
