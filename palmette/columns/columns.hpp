// The door of `columns`: ColumnFactor, LU and LLᵀ column by column, for factors so thin that supernodes and
// tasks would cost more than the arithmetic: circuits, networks, and all small systems. One thread factors;
// a team solves with many right-hand sides.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "palmette/archive/archive.hpp"
#include "palmette/blocks/blocks.hpp"
#include "palmette/order/order.hpp"

namespace palmette {

/// The structure of a ColumnFactor. Rows are places, that is rows of the permuted matrix. Constant after
/// construction.
///
/// Diagonal block b holds the places [order->block_begin[b], order->block_begin[b + 1]). L and U are those of
/// the diagonal blocks; the entries of A above them are kept unchanged, and never fill in.
struct ColumnStructure {
  std::shared_ptr<const BlockOrdering> order;
  std::vector<index_t> row;          // length n: original row at each place, after pivoting within blocks
  std::vector<index_t> place_of_row; // length n: its inverse
  std::vector<offset_t> lower_ptr = {0}, upper_ptr = {0}, above_ptr = {0};  // length n + 1
  PanelVector<index_t> lower_row;    // strictly below the diagonal
  // strictly above it, in an order in which a column can be eliminated (LU)
  PanelVector<index_t> upper_row;
  PanelVector<index_t> above_row;    // above the diagonal block (LU)

  index_t size() const { return static_cast<index_t>(row.size()); }
  offset_t memory_bytes() const;
};

/// LU with threshold pivoting inside the diagonal blocks, S = diag(row_scale)·A, or LLᵀ (LLᴴ) of A. Constant
/// after construction.
template <class T>
class ColumnFactor {
 public:
  /// Factor A, or return null if it needs a more careful method.
  ///
  /// LU exchanges rows within a diagonal block, diagonal entries preferred: they need only reach a tenth of
  /// the largest entry of their column (half of it if the diagonal was matched). Rows are scaled by powers of
  /// two.
  /// @param matrix  n × n, every entry stored
  /// @param order   of its pattern; row == column for LLᵀ
  /// @param kind    llt or lu
  /// @returns the factor; null if a pivot is not positive (LLᵀ), not finite, or below u^(2/3) times its
  ///   column's largest entry before elimination (LU): the matrix may be singular, and needs matching,
  ///   scaling and static pivoting
  /// @cost  LU proportional to the flops; LLᵀ to the flops and entries of L. Memory: the factor and O(n)
  /// @source [Gilbert and Peierls 1988]; [Eisenstat and Liu 1992] for pruning;
  ///         [Davis and Palamadai Natarajan 2010] (KLU); [Davis 2006], §4.7 for LLᵀ
  static std::shared_ptr<const ColumnFactor> create(const SparseMatrix<T>& matrix,
                                                    std::shared_ptr<const BlockOrdering> order,
                                                    FactorKind kind);
  /// The same structure and pivots with new values. @returns null null as for `create`, or if a pivot is less
  /// than 1e-4 times its column's largest entry
  std::shared_ptr<const ColumnFactor> refactor(const SparseMatrix<T>& matrix) const;

  /// x ← op(A)⁻¹·b; the bits do not depend on the team.
  /// @param b     n × k; x: n × k, may be b's memory
  /// @param team  shares the right-hand sides, eight at a time, where that is worth waking it; null: the
  ///   caller's thread alone
  /// @returns how many threads were called
  /// @cost  2 flops for each entry and right-hand side; memory for 8·n entries in each thread, n for k = 1
  int solve(Operation operation, DenseView<const T> b, DenseView<T> x, ThreadTeam* team = nullptr) const;

  FactorKind kind() const { return kind_; }
  index_t size() const { return structure_->size(); }
  const ColumnStructure& structure() const { return *structure_; }
  /// Number of entries in the factors of the diagonal blocks and above them.
  offset_t entries() const;
  double flops() const { return flops_; }  ///< multiplications and additions of the factorization
  const PivotReport& pivots() const { return pivots_; }
  offset_t memory_bytes() const;

  /// Write everything but the pivots as sections. @throws IoError
  void save(ArchiveWriter& file) const;
  /// What save has written, copied into memory. @param pivots  of the factor @throws IoError
  static std::shared_ptr<const ColumnFactor> load(const Archive& file, PivotReport pivots);

 private:
  template <class>
  friend class LuColumns;
  template <class>
  friend class LltColumns;
  template <class>
  friend class DenseColumns;

  FactorKind kind_ = FactorKind::lu;
  std::shared_ptr<const ColumnStructure> structure_;
  PanelVector<T> lower_, upper_, above_;  // in the structure's order; L of LU has a unit diagonal
  // n × n, or empty: L and U, or L, of a matrix with few zeros; then lower_ … are empty
  PanelArray<T> dense_;
  std::vector<T> inverse_pivot_;          // length n: 1 / diagonal of U or of L
  std::vector<real_t<T>> row_scale_;      // length n, by original row (LU); powers of two
  double flops_ = 0;
  PivotReport pivots_;
};

}  // namespace palmette
