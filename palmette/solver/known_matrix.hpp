// The matrix as a solver keeps it: its own, which nobody else can change, and what has been seen of its
// symmetry.
#pragma once

#include <memory>

#include "palmette/blocks/blocks.hpp"
#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// What the caller gave, as a solver may keep it: the object itself if no other pointer shares it, else a
/// copy. A pointer to constant says only that its holder may not change the object, not that nobody else may.
template <class Thing>
std::shared_ptr<const Thing> own(std::shared_ptr<const Thing> given) {
  if (!given || given.use_count() == 1) return given;
  return std::make_shared<const Thing>(*given);
}

template <class T>
struct KnownMatrix {
  std::shared_ptr<const SparseMatrix<T>> matrix;  ///< as given: answers are verified against it
  /// that it is factored with; not promised by `matrix` where it is up to rounding
  Symmetry symmetry = Symmetry::general;
  /// largest |a_ij − a_ji| ÷ |a_ij|; 0: the symmetry is exact
  double asymmetry = 0;

  bool up_to_rounding() const { return asymmetry > 0; }
};

/// Entries of a symmetric matrix that were added up in different orders differ by a few roundings: by no more
/// than this part.
template <class T>
inline constexpr double symmetry_tolerance = 8 * unit_roundoff<T>;

/// Look at a matrix that is marked general, and take any other at its word.
template <class T>
KnownMatrix<T> know_matrix(std::shared_ptr<const SparseMatrix<T>> given);

/// What is factored: the matrix itself, or its symmetric part where it is symmetric up to rounding and the
/// kind needs symmetry. The symmetric part is made anew each time: it is needed as long as a factorization
/// takes.
template <class T>
std::shared_ptr<const SparseMatrix<T>> matrix_to_factor(const KnownMatrix<T>& known, FactorKind kind);

}  // namespace palmette
