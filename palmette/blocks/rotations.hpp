// Changes of a Cholesky factor by vectors: L·Lᴴ + v·vᴴ is again L·Lᴴ after rotations of columns of L with v,
// and L·Lᴴ − v·vᴴ after hyperbolic ones, if it is positive definite.
#pragma once

#include <span>

#include "palmette/base/base.hpp"

namespace palmette {

/// Of one column of L with one vector; by default it changes nothing.
template <class T>
struct Rotation {
  real_t<T> cosine = 1;  ///< of a hyperbolic rotation √(1 − |sine|²)
  T sine = T(0);
};

/// Change a diagonal block by m vectors, and keep the rotations for the rows below.
/// @param subtract  v·vᴴ is subtracted
/// @param block     w × w, lower triangle; the strict upper one is not read
/// @param vectors   w × m: rows of the block; zero on return
/// @param rotation  w·m; on return, that of column j with vector v at j·m + v
/// @returns the first column whose pivot is not positive to working precision, or not finite; −1: none. Block
///   and vectors are then worthless
/// @cost  3·w²·m multiplications and additions
/// @source [Golub and Van Loan 2013], §6.5; the mixed form of hyperbolic rotations is stable
template <class T>
index_t rotate_diagonal(bool subtract, DenseView<T> block, DenseView<T> vectors,
                        std::span<Rotation<T>> rotation);

/// The same rotations for rows below: r × w of L, and r × m of the vectors. The bits of a row do not depend
/// on the others if they come in pieces of rotated_rows.
/// @cost  6·r·w·m real flops, 20 for complex scalars
template <class T>
void rotate_rows(bool subtract, std::span<const Rotation<T>> rotation, DenseView<T> rows,
                 DenseView<T> vectors);

/// A piece of rows whose columns stay in the nearest cache.
inline constexpr index_t rotated_rows = 256;

}  // namespace palmette
