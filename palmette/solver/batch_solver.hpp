// Part of the door of `solver`: many small systems with one pattern, solved side by side.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "palmette/batch/batch.hpp"
#include "palmette/order/order.hpp"

namespace palmette {

struct BatchOptions {
  /// Empty: LDLᵀ if the first matrix is symmetric (Hermitian), else LU. LLᵀ: matrices that are not positive
  /// definite are refused, each by itself
  std::optional<FactorKind> kind;
  OrderingMethod ordering = OrderingMethod::automatic;
  int threads = 0;  ///< 0: all processors that this process may use
  /// A system that this way does not solve, because no rows are exchanged, is solved by a Solver of its own.
  bool solve_alone = true;
};

/// What became of one system.
enum class BatchState : std::uint8_t {
  solved,        ///< with the others
  solved_alone,  ///< by a Solver, with pivoting
  not_verified,  ///< x is the best found; its backward error is above the bound
  singular,      ///< x is NaN, as in the states below
  not_definite,  ///< LLᵀ was asked for
  not_finite,    ///< a value of its matrix or right-hand side is not finite
};
std::string_view name_of(BatchState state);

struct BatchReport {
  FactorKind kind = FactorKind::lu;
  index_t num_systems = 0;
  index_t num_rhs = 0;
  offset_t nnz_factor = 0;  ///< of one system
  double flops = 0;         ///< of one factorization, multiplications and additions
  int lanes = 0;            ///< systems side by side
  int threads = 1;
  double seconds = 0;
  double bound = 0;  ///< of backward errors of solved systems
  // length num_systems
  std::vector<BatchState> state;
  std::vector<double> backward_error;  ///< ‖b − Ax‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞), the worst right-hand side
  std::vector<index_t> bad_column;  ///< where elimination without exchanges failed; −1: nowhere
  index_t num_refined = 0;          ///< systems whose solution was corrected
  index_t num_alone = 0;            ///< solved_alone
  index_t num_failed = 0;           ///< neither solved nor solved_alone
  std::vector<std::string> notes;

  bool verified() const { return num_failed == 0; }
};

/// Solves systems whose matrices share a pattern. Thread-safe.
template <class T>
class BatchSolver {
 public:
  /// Order and analyze, once for all systems.
  /// @param first  n × n with the pattern, every entry stored (both triangles of a symmetric matrix); its
  /// values
  ///   decide the kind and which rows are matched with which columns (LU), so it should be like the others
  /// @returns the solver; or structurally_singular
  /// @throws DimensionError if not square; UsageError for values that are not finite, or if a kind is asked
  ///   for that the symmetry of `first` does not allow
  static Outcome<BatchSolver> create(std::shared_ptr<const SparseMatrix<T>> first,
                                     const BatchOptions& options = {});
  BatchSolver(BatchSolver&&) noexcept;
  BatchSolver& operator=(BatchSolver&&) noexcept;
  ~BatchSolver();

  index_t size() const;
  offset_t nnz() const;  ///< entries of each matrix
  FactorKind kind() const;

  /// Factorize and solve every system, verify every solution, correct those that need it.
  ///
  /// A system's x has the same bits whatever systems stand beside it, and for any number of threads.
  /// @param values  nnz() entries of each system, in the order of the pattern: by columns, rows ascending
  /// @param b       n × num_rhs of each; x: the same, may be b's memory
  /// @throws UsageError if a number is negative or an array is missing
  /// @cost  flops of the report and 4·nnz_factor flops a right-hand side for each system
  BatchReport solve(const BatchArray<const T>& values, const BatchArray<const T>& b, const BatchArray<T>& x,
                    index_t num_systems, index_t num_rhs = 1) const;

 private:
  struct State;
  explicit BatchSolver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace palmette
