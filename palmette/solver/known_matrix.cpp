// Ownership and symmetry of a matrix that enters the hall.
#include "palmette/solver/known_matrix.hpp"

namespace palmette {

template <class T>
KnownMatrix<T> know_matrix(std::shared_ptr<const SparseMatrix<T>> given) {
  if (given->symmetry != Symmetry::general) {
    const Symmetry promised = given->symmetry;
    return {own(std::move(given)), promised, 0};
  }
  const LooseSymmetry found = detect_symmetry(*given, symmetry_tolerance<T>);
  if (found.symmetry == Symmetry::general || found.asymmetry > 0)
    return {own(std::move(given)), found.symmetry, found.asymmetry};
  auto marked = std::make_shared<SparseMatrix<T>>(*given);
  marked->symmetry = found.symmetry;
  return {std::move(marked), found.symmetry, 0};
}

template <class T>
std::shared_ptr<const SparseMatrix<T>> matrix_to_factor(const KnownMatrix<T>& known, FactorKind kind) {
  if (!known.up_to_rounding() || kind == FactorKind::lu) return known.matrix;
  return std::make_shared<const SparseMatrix<T>>(symmetric_part(*known.matrix, known.symmetry));
}

#define PALMETTE_INSTANTIATE(T)                                                          \
  template KnownMatrix<T> know_matrix(std::shared_ptr<const SparseMatrix<T>>);           \
  template std::shared_ptr<const SparseMatrix<T>> matrix_to_factor(const KnownMatrix<T>&, FactorKind);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
