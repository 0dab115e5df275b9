// The door of `order`: a matrix → an Ordering: row and column permutations that keep the factor sparse and,
// for unsymmetric and indefinite matrices, a matching and scalings that keep static pivots large.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

enum class OrderingMethod { automatic, amd, nd, metis, scotch, natural, user };
std::string_view name_of(OrderingMethod method);
/// @throws UsageError listing the names if the name is unknown
OrderingMethod ordering_method(std::string_view name);

/// One fill-reducing method of this build; `available` is false if its library was not found when Palmette
/// was configured.
struct OrderingMethodInfo {
  OrderingMethod method;
  bool available;
  std::string_view summary;
};
const std::vector<OrderingMethodInfo>& ordering_method_list();

/// What the factorization needs from the ordering.
enum class PivotNeed {
  none,         ///< LLᵀ: any symmetric permutation
  indefinite,   ///< LDLᵀ: symmetric matching; matched pairs stay together as candidates for 2×2 pivots
  unsymmetric,  ///< LU: maximum-product matching brings large entries to the diagonal
};

struct OrderOptions {
  OrderingMethod method = OrderingMethod::automatic;
  PivotNeed pivot_need = PivotNeed::none;
  bool matching = true;      ///< false: do not permute rows by matching (pivot_need other than none)
  bool scaling = true;       ///< false: no row and column scaling
  Permutation user;          ///< for OrderingMethod::user: column order, new_to_old, length n
  int threads = 1;
};

/// Entry (row.new_to_old[i], column.new_to_old[j]) of diag(row_scale)·A·diag(column_scale) becomes entry (i,
/// j). Constant after construction.
struct Ordering {
  OrderingMethod method = OrderingMethod::natural;  ///< the one used (never automatic)
  Permutation row;                                   // length n; equal to `column` unless unsymmetric
  Permutation column;                                // length n
  // length n by original row, or empty: all ones; powers of two
  std::vector<double> row_scale;
  std::vector<double> column_scale;                  // length n by original column, or empty
  /// Length n or empty. paired_with_next[k] = 1: new columns k and k+1 were matched with each other and
  /// should be in one supernode. Only for PivotNeed::indefinite. The orders natural and user are not changed
  /// for pairs: with them, only pairs that are already adjacent are marked.
  std::vector<char> paired_with_next;
  bool matched = false;                              ///< a maximum-product matching was applied
  double seconds = 0;                                ///< wall time of the call
};

/// Find row and column permutations and scalings.
///
/// The scalings are rounded to powers of two, so that scaling adds no rounding error. After matching, scaled
/// entries have moduli of at most 2, the matched ones of at least 1/2, except where that would need factors
/// outside 2^±500 (2^±60 in single precision). Within these bounds row_scale[i]·column_scale[j] is finite in
/// T, and so is a_ij times it; multiply the two factors first. For PivotNeed::none there is no scaling and
/// row == column. The result does not depend on `threads`. Stored zeros belong to the pattern, but cannot be
/// matched.
/// @param matrix  n × n; its values are read only for PivotNeed other than none (or scaling)
/// @returns the ordering, or structurally_singular with all rows and columns that cannot be matched
/// @throws DimensionError if the matrix is not square; UsageError for a method that this build lacks, naming
///   the remedy
/// @cost  matching: O(n·nnz) worst case, near-linear in practice; the rest as the method
/// @source [Duff and Koster 2001]; [Duff and Pralet 2005] for pairs;
///         [Amestoy et al. 1996] for AMD
template <class T>
Outcome<Ordering> order(const SparseMatrix<T>& matrix, const OrderOptions& options = {});

/// What matching and scaling use of a value: log₂ of its modulus in units of 2⁻²⁰, rounded; no_entry_size for
/// zero.
using entry_size_t = std::int32_t;
inline constexpr entry_size_t no_entry_size = std::numeric_limits<entry_size_t>::min();
template <class T>
entry_size_t entry_size(const T& value);

/// As `order` for a matrix with this pattern and these sizes of entries, with the same result.
/// @tparam T  scalar of that matrix: its range bounds the scalings
/// @param pattern  n × n; with its declared symmetry
/// @param sizes  length nnz, in the pattern's order; empty if the order needs none: PivotNeed::none, or
///   neither matching nor scaling
template <class T>
Outcome<Ordering> order_by_sizes(const SparsityPattern& pattern, Symmetry symmetry,
                                 std::span<const entry_size_t> sizes, const OrderOptions& options = {});

/// A block upper triangular form: row[k] and column[k] are at place k, and no entry is below the diagonal
/// blocks, which are the places [block_begin[b], block_begin[b + 1]). Each block is ordered for sparsity.
/// Constant after construction.
struct BlockOrdering {
  std::vector<index_t> row;          // length n: the row at each place; its diagonal entry is in the pattern
  std::vector<index_t> column;       // length n
  std::vector<index_t> block_begin;  // length blocks + 1
  /// so few entries are zero that the natural order is kept: one block, rows and columns unchanged
  bool dense = false;
  double entries = 0;  ///< of L of the symmetrized blocks, diagonal included: a bound, by AMD
  double flops = 0;    ///< Σ (entries of a column of L)², likewise

  index_t num_blocks() const { return static_cast<index_t>(block_begin.size()) - 1; }
};

/// Find the strongly connected components of a matrix and order each by AMD; the smallest matrices by their
/// degrees, and trees (paths, stars) from their leaves. A matrix with full diagonal and symmetric pattern
/// counts as one block.
/// @param pattern    n × n
/// @param symmetric  declares that the pattern is symmetric: one block, rows as columns
/// @returns the form, or nothing if the matrix is structurally singular (not checked if `dense`)
/// @cost  O(nnz + n) for the components of a matrix with full diagonal, O(nnz·√n) at worst; then AMD
/// @source [Tarjan 1972]; [Duff and Reid 1978]; [Davis and Palamadai Natarajan 2010]
std::optional<BlockOrdering> order_blocks(const SparsityPattern& pattern, bool symmetric);

/// Row and column scaling factors, powers of two, that bring the largest entry of each row and column near
/// one.
/// @source [Ruiz 2001]
template <class T>
void equilibrate(const SparseMatrix<T>& matrix, std::vector<double>& row_scale,
                 std::vector<double>& column_scale);
/// The same for a matrix that is distributed over several processes. Every process must call it, and all get
/// the factors of the whole matrix.
template <class T>
void equilibrate(const MatrixShare<T>& matrix, std::vector<double>& row_scale,
                 std::vector<double>& column_scale);

}  // namespace palmette
