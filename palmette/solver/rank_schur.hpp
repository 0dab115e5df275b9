// Part of the door of `solver`: the Schur complement on unknowns that are not eliminated, over ranks.
#pragma once

#include <memory>
#include <vector>

#include "palmette/solver/rank_solver.hpp"
#include "palmette/solver/schur.hpp"

namespace palmette {

/// Where S lies: whole on one rank, or in ScaLAPACK's block-cyclic layout on some of them.
///
/// Row i belongs to grid row (i / block) mod grid.rows, column j to grid column (j / block) mod grid.cols,
/// and grid position (r, c) is rank r·grid.cols + c: a grid of BLACS that is numbered by rows, with MB = NB =
/// block and RSRC = CSRC = 0. A rank's entries are column-major without gaps, so that LLD is its number of
/// rows. Ranks beyond the grid hold nothing.
struct ComplementLayout {
  bool block_cyclic = false;
  index_t root = 0;        ///< holds all of S unless block_cyclic
  ProcessGrid grid{0, 0};  ///< of at most as many ranks as the run has; 0 × 0: all, nearly square
  index_t block = 64;      ///< rows and columns of a block
};

/// Which entries of S a rank holds.
class ComplementPlaces {
 public:
  /// @param size  rows and columns of S
  /// @throws UsageError if the root does not exist, the grid has more ranks than the run, or block < 1
  ComplementPlaces(const ComplementLayout& layout, index_t size, index_t num_ranks);

  index_t size() const { return size_; }
  const ProcessGrid& grid() const { return grid_; }
  index_t block() const { return block_; }
  index_t owner(index_t row, index_t column) const {
    return first_rank_ + row / block_ % grid_.rows * grid_.cols + column / block_ % grid_.cols;
  }
  index_t num_rows(index_t rank) const { return holds(rank) ? count(row_of(rank), grid_.rows) : 0; }
  index_t num_cols(index_t rank) const { return holds(rank) ? count(column_of(rank), grid_.cols) : 0; }
  /// The row, or column, of S that a rank's row, or column, `local` is.
  index_t row(index_t rank, index_t local) const { return global(row_of(rank), local, grid_.rows); }
  index_t column(index_t rank, index_t local) const { return global(column_of(rank), local, grid_.cols); }
  /// The place of a row of S on the ranks that hold it; likewise of a column.
  index_t local_row(index_t row) const { return local(row, grid_.rows); }
  index_t local_column(index_t column) const { return local(column, grid_.cols); }

 private:
  bool holds(index_t rank) const { return rank >= first_rank_ && rank < first_rank_ + grid_.num_ranks(); }
  index_t row_of(index_t rank) const { return (rank - first_rank_) / grid_.cols; }
  index_t column_of(index_t rank) const { return (rank - first_rank_) % grid_.cols; }
  index_t global(index_t place, index_t local, index_t places) const {
    return (local / block_ * places + place) * block_ + local % block_;
  }
  index_t local(index_t global, index_t places) const {
    return static_cast<index_t>(global / (std::int64_t{block_} * places) * block_ + global % block_);
  }
  index_t count(index_t place, index_t places) const;

  index_t size_ = 0, first_rank_ = 0;
  ProcessGrid grid_;
  index_t block_ = 1;
};

struct RankSchurOptions {
  /// How the interior is ordered, factored and solved. `choose_layout` gets the structure of the whole
  RankSolverOptions ranks;
  ComplementLayout complement;
  /// A rank sends its entries of S in rounds of about so many bytes, at least one block of its factor in each
  std::int64_t round_bytes = std::int64_t{1} << 26;
};

/// A SchurReport with figures about ranks. Seconds are those of the reporting rank; memory_bytes and
/// memory_bytes_predicted of `run` are sums over ranks.
struct RankSchurReport {
  SchurReport run;
  index_t num_ranks = 1;
  ProcessGrid grid;  ///< of one layer
  index_t layers = 1;
  PlacementMap map = PlacementMap::block_cyclic;
  BlockDelivery delivery = BlockDelivery::push;
  std::string transport;
  ProcessGrid complement_grid;  ///< 1 × 1: S is whole, on one rank
  index_t complement_block = 0;
  /// Of each rank: bytes of factors, S, their messages, or of the pattern that it analyzes, which has all
  /// entries between unknowns that stay; at once, at most
  RankFigure memory_bytes_predicted;
  RankFigure memory_bytes;  ///< of each rank: the interior's factor, the plan of its solves, and S
};

/// One rank's part of a Schur complement: SchurSolver with a factor that is distributed over ranks.
///
/// Ranks share the factorization, which stops before the boundary, whose blocks lie on all of them. They then
/// send their entries of S to where it is wanted, and keep the interior's factor, without its rows on the
/// boundary. S, and the part of x in the interior, have the same bits for any grid of one layer, map,
/// transport, number of threads and layout, and for either form of input. All ranks must call every function
/// that is not const, with the same boundary and options; if arguments are wrong, all ranks throw.
template <class T>
class RankSchurSolver {
 public:
  /// @param matrix, boundary  as for SchurSolver::create, the same on all ranks
  /// @param transport  must outlive this object; nothing else may use it during that time
  /// @returns as SchurSolver::create, the same on all ranks
  /// @throws as RankSolver::create and ComplementPlaces; UsageError if the boundary differs among ranks
  /// @cost  as SchurSolver::create, divided among the ranks; sending S: its entries once, in rounds. A rank
  ///   holds the panels of the factorization and, for a moment, the interior's beside them. Before, each
  ///   rank analyzes the pattern with a full boundary, which is not divided: 4·(nnz + m²) bytes
  static Outcome<RankSchurSolver> create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                         std::vector<index_t> boundary, const RankSchurOptions& options,
                                         Transport& transport);
  /// The same from rows, as RankSolver::create_from_rows.
  static Outcome<RankSchurSolver> create_from_rows(const RowBlock<T>& rows, std::vector<index_t> boundary,
                                                   const RankSchurOptions& options, Transport& transport);
  RankSchurSolver(RankSchurSolver&&) noexcept;
  RankSchurSolver& operator=(RankSchurSolver&&) noexcept;
  ~RankSchurSolver();

  index_t size() const;
  /// As RankSolver.
  index_t first_row() const;
  index_t num_rows() const;
  const std::vector<index_t>& boundary() const;
  /// This rank's entries of S; which they are, complement_places() says.
  DenseView<const T> complement() const;
  const ComplementPlaces& complement_places() const;
  const RankSchurReport& report() const;

  /// As SchurSolver::solve_interior. @param b, x  n × k, b the same on all ranks; x may be b's memory
  Verification solve_interior(DenseView<const T> b, DenseView<T> x);
  /// The same with each rank's rows of b and x, num_rows() × k. Each rank temporarily holds whole vectors.
  Verification solve_interior_rows(DenseView<const T> b, DenseView<T> x);

  /// g ← b_B − A_BI·A_II⁻¹·b_I, on all ranks: a solve and a product, neither refined nor verified.
  /// @param b  n × k, the same on all ranks; g: m × k
  void condense(DenseView<const T> b, DenseView<T> g);
  /// @param b  num_rows() × k
  void condense_rows(DenseView<const T> b, DenseView<T> g);

  /// As SchurSolver::expand. @param boundary_part  m × k, the same on all ranks
  Verification expand(DenseView<const T> b, DenseView<const T> boundary_part, DenseView<T> x);
  /// @param b, x  num_rows() × k; boundary_part: all of it
  Verification expand_rows(DenseView<const T> b, DenseView<const T> boundary_part, DenseView<T> x);

 private:
  struct State;
  explicit RankSchurSolver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace palmette
