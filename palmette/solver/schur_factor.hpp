// Inside `solver`: the factorization that stops before a boundary, and what becomes of its last panels.
#pragma once

#include <span>
#include <vector>

#include "palmette/factorize/factorize.hpp"
#include "palmette/solver/schur.hpp"
#include "palmette/solver/whole_or_share.hpp"

namespace palmette {

/// Which unknowns stay. @returns length n
/// @throws UsageError naming an unknown that does not exist or is given twice
std::vector<char> marked(index_t n, std::span<const index_t> boundary);

/// The kinds to try, in turn. @param first  of choose_kind
std::vector<FactorKind> kinds_to_try(FactorKind first, bool is_given);

/// A vector without pattern, to compare S with A.
template <class T>
DenseMatrix<T> trial_vector(index_t n);

/// diag(A_II, 1): A with the rows and columns of the boundary replaced by those of the identity.
/// @param matrix       n × n, or columns first, first + 1, … of such a matrix
/// @param on_boundary  length n
template <class T>
SparseMatrix<T> interior_of(const SparseMatrix<T>& matrix, const std::vector<char>& on_boundary,
                            index_t first = 0);
SparsityPattern interior_of(const SparsityPattern& pattern, const std::vector<char>& on_boundary);

/// A_IB as n × m with empty rows on the boundary, by columns of the boundary.
template <class T>
SparseMatrix<T> coupling_of(const SparseMatrix<T>& matrix, std::span<const index_t> boundary,
                            const std::vector<char>& on_boundary);

/// The pattern with all entries between unknowns of the boundary.
SparsityPattern with_full_boundary(const SparsityPattern& pattern, std::span<const index_t> boundary);

/// The ordering of interior_of with the boundary moved to its end, and scales of the boundary that make its
/// coupling with the interior at most one. Every process must call it if the matrix is shared.
template <class T>
Ordering boundary_last(Ordering interior, const WholeOrShare<T>& matrix, Symmetry symmetry,
                       std::span<const index_t> boundary, const std::vector<char>& on_boundary);

/// The structure of the factor of diag(A_II, 1): that of A without the boundary's rows; its columns stand
/// alone. Supernodes keep their numbers.
SymbolicFactor interior_structure(const SymbolicFactor& symbolic, index_t columns_last);

/// Entries of the factors' columns that are eliminated, their rows on the boundary included.
offset_t factor_entries_before_boundary(const SymbolicFactor& symbolic, FactorKind kind,
                                        index_t columns_last);
/// Multiplications and additions for the columns that are eliminated.
double flops_before_boundary(const SymbolicFactor& symbolic, FactorKind kind, index_t columns_last);

/// A part of a panel that was not eliminated: S(row + i, column + j), scaled; for LU, parts below the
/// diagonal block have S(column + j, row + i) in `upper`.
template <class T>
struct ComplementPart {
  index_t row, column;
  DenseView<const T> lower, upper;
};
/// Calls put(i, j, value) for each entry of S that the part holds or mirrors, scalings undone.
/// @param factor  a Factor or RankFactor, of a structure with columns_last = m
template <class T, class AnyFactor, class Put>
void visit_complement(const AnyFactor& factor, const ComplementPart<T>& part, index_t m, const Put& put) {
  const bool is_lu = factor.kind == FactorKind::lu, is_diagonal = part.row == part.column;
  const index_t first = factor.symbolic->n - m;
  const auto put_unscaled = [&](index_t i, index_t j, const T& value) {
    const bool has_scales = !factor.row_scale.empty();
    put(i, j,
        has_scales ? value / static_cast<real_t<T>>(
                                 factor.row_scale[factor.symbolic->row.new_to_old()[first + i]] *
                                 factor.column_scale[factor.symbolic->column.new_to_old()[first + j]])
                   : value);
  };
  for (index_t j = 0; j < part.lower.cols; ++j)
    for (index_t i = is_diagonal && !is_lu ? j : 0; i < part.lower.rows; ++i) {
      const T value = part.lower(i, j);
      const index_t row = part.row + i, column = part.column + j;
      put_unscaled(row, column, value);
      if (row == column || (is_lu && is_diagonal)) continue;
      put_unscaled(column, row, is_lu ? part.upper(i, j) : factor.hermitian ? conjugate(value) : value);
    }
}

/// Take S out of the last panels, scalings undone, and leave the factor of the identity there.
/// @param factor  of factorize with columns_last = m @returns m × m
template <class T>
DenseMatrix<T> take_complement(Factor<T>& factor, index_t columns_last);

/// What the comparison of S with A says, after `notes`.
void note_check(SchurReport& report, const Verification& found, std::vector<std::string> notes);

struct PartSize {
  index_t rows, cols;
};
/// @throws DimensionError unless the sizes are those needed
void check_boundary_part(const char* what, const PartSize& given, const PartSize& needed);

}  // namespace palmette
