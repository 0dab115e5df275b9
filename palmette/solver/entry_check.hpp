// Whether equations of a system hold in which only some entries of x are known.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// Aᵀ, made when rows of an unsymmetric matrix are first asked for.
template <class T>
class TransposeOnDemand {
 public:
  const SparseMatrix<T>& get(const SparseMatrix<T>& matrix) {
    std::call_once(made_, [&] { transposed_ = transpose(matrix); });
    return transposed_;
  }

 private:
  std::once_flag made_;
  SparseMatrix<T> transposed_;
};

/// The rows of op(A), as columns of a matrix.
template <class T>
struct EquationRows {
  const SparseMatrix<T>& columns;
  bool conjugated = false;

  /// @param symmetry  of A
  static EquationRows of(const SparseMatrix<T>& matrix, Symmetry symmetry, Operation operation,
                         TransposeOnDemand<T>& transposed);
};

/// Rows, ascending and each once.
std::vector<index_t> sorted_once(std::vector<index_t> rows);

/// The unknowns that occur in these equations, ascending.
std::vector<index_t> unknowns_of(const SparsityPattern& equations, std::span<const index_t> rows);

/// One right-hand side: b's entries, the unknowns that are known (ascending), and their values.
template <class T>
struct KnownEntries {
  std::span<const index_t> b_row;
  std::span<const T> b_value;
  std::span<const index_t> unknown;
  const T* x;  ///< by unknown
};

/// EntryReport::backward_error of one right-hand side; infinity if a value is not finite.
/// @param rows  ascending; each equation contains known unknowns only
template <class T>
double error_of_equations(const EquationRows<T>& equations, std::span<const index_t> rows,
                          const KnownEntries<T>& known);

}  // namespace palmette
