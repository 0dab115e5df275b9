// Which factorization a matrix gets, and what that asks of its ordering.
#pragma once

#include <optional>

#include "palmette/analyze/analyze.hpp"
#include "palmette/order/order.hpp"

namespace palmette {

/// The wanted kind if it fits; without a wish LLᵀ for symmetric (Hermitian) matrices with positive diagonal,
/// LDLᵀ for other symmetric ones, LU for the rest. A symmetry other than general is taken at its word,
/// general is looked into as know_matrix does.
/// @throws UsageError if the wanted kind does not fit, naming one that does
template <class T>
FactorKind choose_kind(const SparseMatrix<T>& matrix, std::optional<FactorKind> wanted = {});

/// The same for a matrix whose symmetry has been looked for.
template <class T>
FactorKind choose_kind(const SparseMatrix<T>& matrix, Symmetry symmetry, std::optional<FactorKind> wanted);

/// The same by what has been seen of the matrix. @param positive_diagonal  real and positive, everywhere
template <class T>
FactorKind choose_kind(Symmetry symmetry, bool positive_diagonal, std::optional<FactorKind> wanted);

/// LLᵀ needs A = Aᴴ; LDLᵀ needs A = Aᵀ or A = Aᴴ; LU fits all.
template <class T>
bool kind_fits(FactorKind kind, Symmetry symmetry);

PivotNeed pivot_need(FactorKind kind);

}  // namespace palmette
