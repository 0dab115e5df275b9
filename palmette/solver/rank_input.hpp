// The matrix of a solver over ranks: whole on every rank, or some of its rows on each.
#pragma once

#include <memory>

#include "palmette/archive/archive.hpp"
#include "palmette/solver/entry_check.hpp"
#include "palmette/solver/rank_checks.hpp"
#include "palmette/solver/verified_answer.hpp"

namespace palmette {

/// What a rank factorizes from: see RankSystem.
template <class T>
struct OwnEntries {
  std::shared_ptr<const SparseMatrix<T>> matrix;
  double largest = 0;
};

/// The structure of a factor, and who owns its blocks.
struct PlacedStructure {
  FactorKind kind = FactorKind::llt;
  std::shared_ptr<const Ordering> ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Placement> placement;
  index_t columns_last = 0;  ///< as FactorizeOptions
};

/// Constant after construction. All ranks must call each function, except those that only read.
template <class T>
class RankInput {
 public:
  virtual ~RankInput() = default;
  /// Of the whole matrix.
  virtual const SparsityPattern& pattern() const = 0;
  virtual Symmetry symmetry() const = 0;
  /// @throws UsageError if the caller has changed a shared matrix
  virtual void check_unchanged() const {}
  virtual void check_pattern_unchanged() const {}
  /// As sections, what load_rank_input takes. Needs no other rank. @throws IoError
  virtual void save(ArchiveWriter& file) const = 0;
  /// Make `source` verify its solution against this matrix.
  virtual void attach(AnswerSource<T>& source) const = 0;
  /// Of op(A); must not outlive this.
  virtual std::unique_ptr<const Equations<T>> equations(Operation operation) const = 0;

  /// As choose_kind. @throws as that, on all ranks
  virtual FactorKind choose(std::optional<FactorKind> wanted) const = 0;
  /// As `order`; the same on all ranks.
  virtual Outcome<Ordering> order(const OrderOptions& options) const = 0;
  virtual OwnEntries<T> own_entries(const PlacedStructure& what) const = 0;
  /// diag(A_II, 1), as interior_of gives it, in the same form. Needs no other rank.
  virtual std::shared_ptr<const RankInput<T>> interior(const std::vector<char>& on_boundary) const = 0;
};

/// Every rank holds the whole matrix. @param matrix checked, with known symmetry
template <class T>
std::unique_ptr<RankInput<T>> make_whole_input(std::shared_ptr<const SparseMatrix<T>> matrix,
                                               Transport& transport);

/// Every rank provides its rows.
///
/// All ranks receive the pattern, since analysis is replicated, but not the values: a rank keeps its rows and
/// the columns with the same indices (for products with A, Aᵀ and Aᴴ). When the matrix is factored, it sends
/// each entry once to the rank that owns its block.
template <class T>
class RowInput final : public RankInput<T> {
 public:
  /// @param former  input of the same pattern by the same ranks, or null
  /// @throws UsageError, DimensionError or MemoryError, the same on all ranks
  RowInput(const RowBlock<T>& rows, const RankTeam& ranks, const RowInput* former);
  RowInput(const RowInput&) = delete;
  RowInput& operator=(const RowInput&) = delete;

  const SparsityPattern& pattern() const override { return *pattern_; }
  Symmetry symmetry() const override { return symmetry_; }
  void save(ArchiveWriter& file) const override;
  void attach(AnswerSource<T>& source) const override { source.share = &share_; }
  std::unique_ptr<const Equations<T>> equations(Operation operation) const override;
  FactorKind choose(std::optional<FactorKind> wanted) const override;
  Outcome<Ordering> order(const OrderOptions& options) const override;
  OwnEntries<T> own_entries(const PlacedStructure& what) const override;
  std::shared_ptr<const RankInput<T>> interior(const std::vector<char>& on_boundary) const override;

  index_t first_row() const { return share_.first; }
  index_t num_rows() const { return share_.count(); }
  RowBlock<T> block() const {
    const SparseMatrix<T>& rows = share_.rows;
    return {share_.size(), share_.first, rows.pattern.column_ptr, rows.pattern.row_index, rows.values};
  }
  /// By rank.
  const std::vector<RowsOfRank>& ranges() const { return ranges_; }
  /// Every rank passes its rows of sparse columns, num_rows() × k; @returns all rows. All pass the same k.
  SparseMatrix<T> whole_columns(const SparseMatrix<T>& own) const;
  /// Every rank passes its rows of n × k columns; @returns all rows
  DenseMatrix<T> whole_columns(DenseView<const T> own) const;

 private:
  /// The interior of `whole`.
  RowInput(const RowInput& whole, const std::vector<char>& on_boundary);
  void share_rows();
  std::vector<SharedBytes> gather(std::span<const std::byte> mine) const;
  std::vector<SharedBytes> deal(const std::vector<SharedBytes>& pieces) const;
  void share_items(std::span<std::byte> items, std::size_t item_bytes) const;
  std::shared_ptr<const SparsityPattern> gather_pattern() const;
  void deal_columns();
  void find_symmetry();
  bool has_positive_diagonal() const;
  std::vector<entry_size_t> sizes_of_all() const;
  Outcome<Ordering> order_by_structure(const OrderOptions& options) const;
  double largest_scaled_entry(const PlacedStructure& what) const;
  std::vector<index_t> rank_of_rows() const;

  RankTeam ranks_;
  std::vector<RowsOfRank> ranges_;  // by rank
  std::shared_ptr<const SparsityPattern> pattern_;
  Symmetry symmetry_ = Symmetry::general;
  MatrixShare<T> share_;
  mutable BytePool pool_;
};

/// A matrix, and the rows that this rank provided; null: all of them.
template <class T>
struct AnyRankInput {
  std::shared_ptr<const RankInput<T>> input;
  const RowInput<T>* rows = nullptr;
};
/// What RankInput::save has written. Every rank must call it. @throws IoError on all ranks
template <class T>
AnyRankInput<T> load_rank_input(const Archive& file, const RankTeam& ranks);

}  // namespace palmette
