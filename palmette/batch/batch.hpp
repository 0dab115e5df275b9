// The door of `batch`: many small systems whose matrices share one pattern. One structure is found for all;
// then a *lane* of vector registers is a system, and one instruction works on as many systems as a register
// has lanes. No system is pivoted: rows are chosen once, by the first matrix. Each solution has its backward
// error, by which a caller sees which systems need another method.
#pragma once

#include <memory>
#include <vector>

#include "palmette/analyze/analyze.hpp"

namespace palmette {

/// Systems that are computed side by side: one cache line of reals.
template <class T>
inline constexpr int batch_lanes = static_cast<int>(64 / sizeof(real_t<T>));

/// The factors of every matrix of the batch, without pivoting: entries of L below the diagonal and of U above
/// it, by columns. Rows and columns are in elimination order. Constant after construction.
struct BatchStructure {
  index_t n = 0;
  bool symmetric = false;   ///< L·D·Lᵀ; else L·U
  bool adjoint = false;     ///< L·D·Lᴴ
  bool positive = false;    ///< pivots must be positive: L·D·Lᴴ in place of a Cholesky factorization
  SparsityPattern pattern;  ///< of the matrices
  std::vector<index_t> row, column;             // length n: original row and column at each place
  std::vector<double> row_scale, column_scale;  // length n, by original row and column; powers of two
  std::vector<offset_t> lower_ptr = {0};        // length n + 1
  std::vector<index_t> lower_row;               // ascending within a column
  // LU: rows of U. Symmetric: the columns k < j with an entry in row j of L
  std::vector<offset_t> upper_ptr = {0};  // length n + 1
  std::vector<index_t> upper_row;         // ascending within a column
  std::vector<offset_t> entry_in_row;     // symmetric: place of that entry in lower_row
  // The entries of the matrix that go to column j of the factor; symmetric: those on and below the diagonal
  std::vector<offset_t> scatter_ptr = {0};  // length n + 1
  std::vector<offset_t> scatter_entry;      // number in the pattern
  std::vector<index_t> scatter_row;
  std::vector<double> scatter_scale;  // powers of two
  offset_t nnz_factor = 0;            ///< L, or L and U, with one diagonal
  double flops = 0;                   ///< multiplications and additions of a factorization
};

/// Order a matrix and find the structure of its factors; its values decide which rows are matched with which
/// columns (LU), for all matrices of the batch.
/// @param first  n × n, every entry stored
/// @param kind   llt and ldlt: of the symmetry that the matrix declares, without pivoting
/// @returns the structure, or structurally_singular
/// @cost  O(n² + flops)
template <class T>
Outcome<BatchStructure> batch_structure(const SparseMatrix<T>& first, FactorKind kind,
                                        const OrderOptions& ordering);

/// A caller's array of systems: entry (system, k, rhs) is data[system·between_systems + k·between_entries +
/// rhs·between_rhs].
template <class T>
struct BatchArray {
  T* data = nullptr;
  offset_t between_systems = 0;
  offset_t between_entries = 1;
  offset_t between_rhs = 0;

  T& at(offset_t system, offset_t entry, index_t rhs = 0) const {
    return data[system * between_systems + entry * between_entries + rhs * between_rhs];
  }
};

/// What became of one system.
struct BatchFigures {
  double backward_error = infinity;  ///< as Verification, the worst of its right-hand sides
  index_t bad_pivot = -1;  ///< original column of the first pivot that is zero or not finite, or not
                           ///< positive where it must be; −1: none
  int refine_steps = 0;
};

template <class T>
struct BatchSystems {
  BatchArray<const T> values;  ///< entries in the order of the pattern
  BatchArray<const T> b;       ///< n entries
  BatchArray<T> x;             ///< n entries; may be b's memory
  index_t num_systems = 0;
  index_t num_rhs = 1;
  double bound = 0;  ///< backward error from which on a solution is refined
};

namespace batch_detail {
template <class T>
struct GroupMemory;
}

/// Factorizes and solves groups of batch_lanes systems; one group at a time, in memory that is kept.
template <class T>
class BatchGroup {
 public:
  explicit BatchGroup(const BatchStructure& structure);
  BatchGroup(BatchGroup&&) noexcept;
  ~BatchGroup();

  /// Solve systems [first, first + batch_lanes) ∩ [0, num_systems): x and figures. What a system gets does
  /// not depend on the systems beside it.
  /// @param figures  of all systems
  /// @cost  structure.flops and 4·nnz_factor flops a system and right-hand side, in registers of many lanes
  void solve(const BatchSystems<T>& systems, index_t first, BatchFigures* figures);

 private:
  const BatchStructure& structure_;
  std::unique_ptr<batch_detail::GroupMemory<T>> memory_;
};

}  // namespace palmette
