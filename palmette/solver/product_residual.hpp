// Verification of a solve with given factors if the matrix itself is not available.
#pragma once

#include "palmette/refine/refine.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette {

/// Backward errors in the factors' own order and scaling, M = L·U (or L·Lᵀ, L·Lᴴ), with |L||U||x| instead of
/// |A||x|: componentwise max |r|_i / (|L||U||x| + |b|)_i, normwise ‖r‖∞ / ‖ |L||U||x| + |b| ‖∞.
template <class T>
Verification verify_product(const OwnFactors<T>& factors, Operation operation, DenseView<const T> b,
                            DenseView<const T> x);

}  // namespace palmette
