// The rule of `auto`, in one place for the hall and for callers that stop before the factorization.
#include "palmette/solver/choose_kind.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/solver/known_matrix.hpp"

namespace palmette {
namespace {

template <class T>
bool has_positive_diagonal(const SparseMatrix<T>& matrix) {
  for (index_t j = 0; j < matrix.cols(); ++j) {
    const auto rows = matrix.pattern.column(j);
    const auto place = std::lower_bound(rows.begin(), rows.end(), j);
    if (place == rows.end() || *place != j) return false;
    const T value = matrix.values[matrix.pattern.column_ptr[j] + (place - rows.begin())];
    // A diagonal that is real up to rounding counts as real: that of the Hermitian part is exactly real.
    if (!(std::real(value) > 0) || std::abs(std::imag(value)) > symmetry_tolerance<T> * std::real(value))
      return false;
  }
  return true;
}

}  // namespace

template <class T>
bool kind_fits(FactorKind kind, Symmetry symmetry) {
  if (kind == FactorKind::lu) return true;
  if (symmetry == Symmetry::hermitian) return true;
  if (symmetry != Symmetry::symmetric) return false;
  return kind == FactorKind::ldlt || !is_complex_v<T>;
}

template <class T>
FactorKind choose_kind(const SparseMatrix<T>& matrix, std::optional<FactorKind> wanted) {
  if (matrix.symmetry != Symmetry::general) return choose_kind(matrix, matrix.symmetry, wanted);
  return choose_kind(matrix, detect_symmetry(matrix, symmetry_tolerance<T>).symmetry, wanted);
}

template <class T>
FactorKind choose_kind(const SparseMatrix<T>& matrix, Symmetry symmetry, std::optional<FactorKind> wanted) {
  const bool looked_for = !wanted && kind_fits<T>(FactorKind::llt, symmetry);
  return choose_kind<T>(symmetry, looked_for && has_positive_diagonal(matrix), wanted);
}

template <class T>
FactorKind choose_kind(Symmetry symmetry, bool positive_diagonal, std::optional<FactorKind> wanted) {
  const bool ldlt_fits = kind_fits<T>(FactorKind::ldlt, symmetry);
  if (!wanted) {
    if (kind_fits<T>(FactorKind::llt, symmetry) && positive_diagonal) return FactorKind::llt;
    return ldlt_fits ? FactorKind::ldlt : FactorKind::lu;
  }
  if (kind_fits<T>(*wanted, symmetry)) return *wanted;
  throw UsageError("a factorization of kind " + std::string(name_of(*wanted)) + " needs a " +
                   (is_complex_v<T> && *wanted == FactorKind::llt ? "Hermitian" : "symmetric") +
                   " matrix, this one is " + std::string(name_of(symmetry)) + "; use kind " +
                   (ldlt_fits ? "ldlt" : "lu"));
}

PivotNeed pivot_need(FactorKind kind) {
  switch (kind) {
    case FactorKind::llt: return PivotNeed::none;
    case FactorKind::ldlt: return PivotNeed::indefinite;
    case FactorKind::lu: return PivotNeed::unsymmetric;
  }
  return PivotNeed::none;
}

#define PALMETTE_INSTANTIATE(T)                                                                \
  template FactorKind choose_kind(const SparseMatrix<T>&, std::optional<FactorKind>);          \
  template FactorKind choose_kind(const SparseMatrix<T>&, Symmetry, std::optional<FactorKind>); \
  template FactorKind choose_kind<T>(Symmetry, bool, std::optional<FactorKind>);               \
  template bool kind_fits<T>(FactorKind, Symmetry);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
