// The matrix as a solver keeps it: an object that no one else can change, with what is known of its symmetry.
#pragma once

#include <memory>

#include "palmette/blocks/blocks.hpp"
#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// The caller's object in a form that a solver may keep: the object itself if no other pointer shares it,
/// otherwise a copy. A pointer to const only stops its holder from changing the object, not others.
template <class Thing>
std::shared_ptr<const Thing> own(std::shared_ptr<const Thing> given) {
  if (!given || given.use_count() == 1) return given;
  return std::make_shared<const Thing>(*given);
}

template <class T>
struct KnownMatrix {
  std::shared_ptr<const SparseMatrix<T>> matrix;  ///< as given; solutions are verified against it
  /// used for the factorization; `matrix` does not have it exactly if up_to_rounding()
  Symmetry symmetry = Symmetry::general;
  /// largest |a_ij − a_ji| ÷ |a_ij|; 0 if the symmetry is exact
  double asymmetry = 0;

  bool up_to_rounding() const { return asymmetry > 0; }
};

/// Largest relative difference of a_ij and a_ji that counts as rounding: entries of a symmetric matrix that
/// were summed in different orders differ by a few roundings.
template <class T>
inline constexpr double symmetry_tolerance = 8 * unit_roundoff<T>;

/// Detect the symmetry of a matrix that is marked general; trust any other declared symmetry.
template <class T>
KnownMatrix<T> know_matrix(std::shared_ptr<const SparseMatrix<T>> given);

/// The matrix to factor: the matrix itself, or its symmetric part if it is symmetric up to rounding and the
/// kind needs symmetry. The symmetric part is computed anew each time, because only the factorization needs
/// it.
template <class T>
std::shared_ptr<const SparseMatrix<T>> matrix_to_factor(const KnownMatrix<T>& known, FactorKind kind);

}  // namespace palmette
