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

/// Rows of op(A) from `first` on, as columns of a matrix.
template <class T>
struct EquationRows {
  const SparseMatrix<T>& columns;
  bool conjugated = false;
  index_t first = 0;

  /// @param symmetry  of A
  static EquationRows of(const SparseMatrix<T>& matrix, Symmetry symmetry, Operation operation,
                         TransposeOnDemand<T>& transposed);
};

/// Rows, ascending and each once.
std::vector<index_t> sorted_once(std::vector<index_t> rows);

/// The unknowns that occur in these equations, ascending.
/// @param first  row of the first column
std::vector<index_t> unknowns_of(const SparsityPattern& equations, std::span<const index_t> rows,
                                 index_t first = 0);

/// One right-hand side: b's entries, the unknowns that are known (ascending), and their values.
template <class T>
struct KnownEntries {
  std::span<const index_t> b_row;
  std::span<const T> b_value;
  std::span<const index_t> unknown;
  const T* x;  ///< by unknown
};

/// What the error of some equations consists of; each is the largest.
struct EquationSizes {
  double residual = 0;  ///< infinity if a value is not finite
  double row_sum = 0, size_of_x = 0, size_of_b = 0;

  /// As EntryReport::backward_error.
  double error() const;
  /// Of these equations and of others of the same right-hand side.
  EquationSizes with(const EquationSizes& others) const;
};

/// @param rows  ascending; each equation contains known unknowns only
template <class T>
EquationSizes sizes_of_equations(const EquationRows<T>& equations, std::span<const index_t> rows,
                                 const KnownEntries<T>& known);

/// EntryReport::backward_error of one right-hand side; infinity if a value is not finite.
template <class T>
double error_of_equations(const EquationRows<T>& equations, std::span<const index_t> rows,
                          const KnownEntries<T>& known) {
  return sizes_of_equations(equations, rows, known).error();
}

/// All equations of a system, wherever they lie. If several processes hold them, each must call every
/// function, with the same arguments, and gets the same.
template <class T>
class Equations {
 public:
  virtual ~Equations() = default;
  /// That occur in these equations, ascending. @param rows  ascending
  virtual std::vector<index_t> unknowns(std::span<const index_t> rows) const = 0;
  /// Of several right-hand sides the largest. @param rows  ascending
  virtual double error(std::span<const index_t> rows, std::span<const KnownEntries<T>> columns) const = 0;
};

template <class T>
class WholeEquations final : public Equations<T> {
 public:
  explicit WholeEquations(const EquationRows<T>& rows) : rows_(rows) {}
  std::vector<index_t> unknowns(std::span<const index_t> rows) const override {
    return unknowns_of(rows_.columns.pattern, rows);
  }
  double error(std::span<const index_t> rows, std::span<const KnownEntries<T>> columns) const override;

 private:
  EquationRows<T> rows_;
};

}  // namespace palmette
