// Chooses the factorization of a matrix, and the kind of pivots that its ordering must provide.
#pragma once

#include <optional>

#include "palmette/analyze/analyze.hpp"
#include "palmette/order/order.hpp"

namespace palmette {

/// The wanted kind if it fits. If none is given, LLᵀ for symmetric (Hermitian) matrices with positive
/// diagonal, LDLᵀ for other symmetric ones, LU for the rest. A declared symmetry is trusted; a matrix marked
/// general is examined as in know_matrix.
/// @throws UsageError if the wanted kind does not fit, naming one that fits
template <class T>
FactorKind choose_kind(const SparseMatrix<T>& matrix, std::optional<FactorKind> wanted = {});

/// The same for a matrix whose symmetry is already known.
template <class T>
FactorKind choose_kind(const SparseMatrix<T>& matrix, Symmetry symmetry, std::optional<FactorKind> wanted);

/// The same from known properties. @param positive_diagonal every diagonal entry is real and positive
template <class T>
FactorKind choose_kind(Symmetry symmetry, bool positive_diagonal, std::optional<FactorKind> wanted);

/// LLᵀ needs A = Aᴴ; LDLᵀ needs A = Aᵀ or A = Aᴴ; LU fits all.
template <class T>
bool kind_fits(FactorKind kind, Symmetry symmetry);

PivotNeed pivot_need(FactorKind kind);

}  // namespace palmette
