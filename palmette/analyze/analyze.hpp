// The door of `analyze`: a pattern and an Ordering → the SymbolicFactor: elimination tree, supernodes and
// blocks of the factor. Sees no values.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "palmette/matrix/matrix.hpp"
#include "palmette/order/order.hpp"

namespace palmette {

enum class FactorKind { llt, ldlt, lu };
std::string_view name_of(FactorKind kind);

/// How supernodes are formed. The defaults suit both factorization and solve.
struct AnalyzeOptions {
  index_t max_width = 128;        ///< wider supernodes are split into panels of nearly equal width
  bool relax = true;              ///< merge a child into its parent if few explicit zeros result
  /// of the merged supernode's entries, for merged widths above relax_narrow_width
  double relax_zero_fraction = 0.10;
  /// up to this merged width half of the entries may be zeros; up to width 4 all may be
  index_t relax_narrow_width = 16;
  /// declares that the pattern is its own transpose; saves time, the result is the same. It is only checked
  /// that both triangles have as many entries: any other pattern must not be declared so
  bool symmetric_pattern = false;
  /// so many columns at the end of the Ordering keep their order and their place, in supernodes without other
  /// columns; the pattern must hold all entries between them
  index_t columns_last = 0;

  friend bool operator==(const AnalyzeOptions&, const AnalyzeOptions&) = default;
};

/// Rows [first, first + count) of a supernode's row list that belong to one other supernode: the unit of
/// ownership and of messages.
struct Block {
  index_t row_supernode;  ///< the supernode that these rows belong to
  index_t first;          ///< place in the row list
  index_t count;
};

/// Supernode `source` updates the supernode of this list through its block number `block` (global number).
struct Updater {
  index_t source;
  offset_t block;
};

/// The structure of L (and of Uᵀ, which has the same) in permuted order, n × n. Constant after construction;
/// independent of the grid.
///
/// Columns are postordered, so the subtree of supernode s is the supernodes [first_descendant[s], s]. A
/// supernode of width w with r rows below has a panel of (w + r) × w entries, column-major, at panel_offset:
/// first the diagonal block, then the rows row_index[row_ptr[s] … row_ptr[s+1]), ascending.
struct SymbolicFactor {
  index_t n = 0;
  Permutation row;     ///< length n: the Ordering's rows, then the postorder
  Permutation column;  ///< length n

  std::vector<index_t> column_parent;  // length n: elimination tree, −1 at roots
  std::vector<index_t> column_count;   // length n: exact entries of each column of L, diagonal included

  std::vector<index_t> supernode_begin = {0};  // length num_supernodes + 1: first column of each
  std::vector<index_t> supernode_of;           // length n: supernode of each column
  std::vector<index_t> parent;                 // length num_supernodes: −1 at roots
  std::vector<index_t> first_descendant;       // length num_supernodes
  std::vector<offset_t> row_ptr = {0};         // length num_supernodes + 1
  std::vector<index_t> row_index;              // rows below the diagonal block, ascending within a supernode
  std::vector<offset_t> block_ptr = {0};       // length num_supernodes + 1
  std::vector<Block> blocks;                   // row_supernode ascending within a supernode
  std::vector<offset_t> updater_ptr = {0};     // length num_supernodes + 1
  std::vector<Updater> updaters;               // source ascending within a supernode
  std::vector<offset_t> panel_offset = {0};    // length num_supernodes + 1, in entries

  /// exact entries of L, diagonal included, without the zeros of relaxed supernodes
  offset_t nnz_factor = 0;
  /// Σ column_count²: multiplications and additions of LLᵀ, square roots and divisions
  double flops_llt = 0;

  index_t num_supernodes() const { return static_cast<index_t>(parent.size()); }
  index_t width(index_t s) const { return supernode_begin[s + 1] - supernode_begin[s]; }
  index_t num_rows_below(index_t s) const { return static_cast<index_t>(row_ptr[s + 1] - row_ptr[s]); }
  offset_t leading_dimension(index_t s) const { return width(s) + num_rows_below(s); }
  std::span<const index_t> rows_below(index_t s) const {
    return {row_index.data() + row_ptr[s], static_cast<std::size_t>(num_rows_below(s))};
  }
  std::span<const Block> blocks_of(index_t s) const {
    return {blocks.data() + block_ptr[s], static_cast<std::size_t>(block_ptr[s + 1] - block_ptr[s])};
  }
  std::span<const Updater> updaters_of(index_t s) const {
    return {updaters.data() + updater_ptr[s], static_cast<std::size_t>(updater_ptr[s + 1] - updater_ptr[s])};
  }
  /// Entries of all panels, the upper triangles of diagonal blocks and the zeros of relaxed supernodes
  /// included.
  offset_t panel_entries() const { return panel_offset.back(); }
  /// Bytes of this object.
  offset_t memory_bytes() const;
};

/// The whole structure from its parts that say everything, as a file keeps them.
/// @param given  n, row, column, column_parent, column_count, supernode_begin, row_ptr and row_index; the
/// other
///   members are not read
/// @throws UsageError if sizes, orders or numbers in it contradict each other
/// @cost  O(n + row_index)
SymbolicFactor completed_structure(SymbolicFactor given);

/// Multiplications and additions of a factorization of this kind, exact for the structure without relaxation:
/// LLᵀ Σ c², LDLᵀ Σ c² + c, LU Σ 2(c−1)² + (c−1), with c = column_count.
double factorization_flops(const SymbolicFactor& symbolic, FactorKind kind);
/// Entries of the factors: nnz(L) for LLᵀ and LDLᵀ, nnz(L) + nnz(U) − n for LU.
offset_t factor_entries(const SymbolicFactor& symbolic, FactorKind kind);

/// Find the structure of the factor of the permuted matrix, pattern of P_r·A·P_cᵀ plus its transpose.
///
/// Pairs of `ordering.paired_with_next` stay adjacent and in one supernode.
/// @param pattern   n × n, any symmetry
/// @param ordering  of the same size
/// @param team      null: only the caller's thread; the result is the same
/// @throws DimensionError if sizes differ or the matrix is not square; UsageError if a pattern that is
///     declared symmetric has more entries in one triangle
/// @cost  O(nnz(A)·α(n)) for tree and counts, O(row_index) for the supernodes; memory O(nnz(A) + row_index)
/// @source [Liu 1990] for the tree; [Gilbert et al. 1994] for the counts;
///         [Ashcraft and Grimes 1989] for relaxed supernodes
SymbolicFactor analyze(const SparsityPattern& pattern, const Ordering& ordering,
                       const AnalyzeOptions& options = {}, ThreadTeam* team = nullptr);

/// The structure of a given lower triangular pattern if it is closed under elimination: the rows of each
/// column, except its parent, occur in its parent's column. Factors of CHOLMOD are closed, ILU factors are
/// not.
///
/// `row` and `column` of the result hold the postorder. Missing diagonal entries count as present.
/// @returns nothing if the pattern is not closed; then the triangle is solved row by row
/// @throws DimensionError if not square; UsageError naming the first entry above the diagonal
std::optional<SymbolicFactor> analyze_triangle(const SparsityPattern& lower,
                                               const AnalyzeOptions& options = {});

}  // namespace palmette
