// Part of the door of `solver`: the hall over ranks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "palmette/factorize/factorize.hpp"
#include "palmette/place/place.hpp"
#include "palmette/solver/report.hpp"
#include "palmette/solver/row_block.hpp"
#include "palmette/solver/solve_request.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

/// How the ranks of a run are arranged.
struct RankLayout {
  LayeredGrid ranks;
  PlacementMap map = PlacementMap::subtree_to_subcube;
  LayeredMethod layered_method = LayeredMethod::one_sync_3d;  ///< of several layers
};

struct RankSolverOptions {
  std::optional<FactorKind> kind;  ///< empty: as SolverOptions
  OrderingMethod ordering = OrderingMethod::automatic;
  Permutation user_ordering;  ///< for OrderingMethod::user
  double tiny_pivot = 0;      ///< as FactorizeOptions
  /// LDLᵀ and LU: bring large entries to the diagonal and scale by weighted matching. With rows as input each
  /// rank then learns the size of every entry (a logarithm, 4 bytes) while it orders, no values. false: scale
  /// by the largest entries of rows and columns, and let the diagonal be where the pattern has it; then
  /// nothing is said of values, and matrices with small diagonals may fail.
  bool matching = true;
  AnalyzeOptions analyze;
  ProcessGrid grid{0, 0};     ///< of one layer; 0 × 0: the nearly square one
  /// >= 1; with several, what lies high in the elimination tree is replicated; x has other last bits for each
  /// number
  index_t layers = 1;
  LayeredMethod layered_method = LayeredMethod::one_sync_3d;  ///< how several layers solve
  PlacementMap map = PlacementMap::subtree_to_subcube;
  WholeSubtrees whole;        ///< as place; another choice gives x other bits
  /// Set: says, once the structure is known, what grid, layers, layered_method and map say otherwise; for
  /// scalars of so many bytes. Every rank must have one, but only that of rank 0 is asked (chosen_layout of
  /// `predict` can answer); an arrangement of another number of ranks is a UsageError.
  std::function<RankLayout(const SymbolicFactor& symbolic, index_t num_ranks, int scalar_bytes)>
      choose_layout;
  TreeShape trees = TreeShape::binary;
  BlockDelivery delivery = BlockDelivery::push;  ///< of the factorization's blocks
  /// right-hand sides that are solved together, for which the plan holds memory; >= 1
  index_t max_rhs = 64;
  int threads = 1;            ///< threads of each rank, at most 4096
  /// silence after which a rank that waits ends the run; 0: it waits for ever
  double watchdog_seconds = 600;
  std::string transport_name;     ///< for the report
  std::string transport_note;     ///< for the report's notes, as MpiExchange::note; empty: none
  /// makes what factorization and solves go through; empty: the transport that create is given
  PlannedTransports planned;
};

/// A Report, and what there is to say of ranks. Seconds are those of the rank that reports.
/// factorize.memory_bytes is the sum over ranks of factor and plan; memory_bytes is the same for each.
/// solve.bytes counts panels, read once for each sweep and block of right-hand sides; no peak of memory is
/// predicted.
struct RankReport {
  Report run;
  index_t num_ranks = 1;
  ProcessGrid grid;           ///< of one layer
  index_t layers = 1;
  SolveMethod method = SolveMethod::message_driven;  ///< of its solves
  index_t synchronizations = 0;     ///< of layers in each solve, both sweeps
  std::int64_t replicated_bytes = 0;  ///< of the factor, beyond one copy
  PlacementMap map = PlacementMap::block_cyclic;
  TreeShape trees = TreeShape::binary;
  BlockDelivery delivery = BlockDelivery::push;
  std::string transport;
  int threads = 1;
  RankFigure memory_bytes;
  std::vector<RankTimes> times;  ///< by rank: where the time of its solves (those of refinement too) went
};

/// As visit of the Report, and a section
/// ranks{num_ranks,grid_rows,grid_cols,layers,method,synchronizations,replicated_bytes,map,trees,
///       delivery,transport,threads_per_rank,memory_bytes{least,mean,most},
/// times{…}}; times has, for each phase that occurs (forward, between, backward), work, messages and waiting,
/// each with least, mean and most.
void visit(const RankReport& report, ReportVisitor& visitor);

/// One rank's part of a solver whose factor lies on many ranks.
///
/// The matrix is brought by every rank as a whole, or by each some of its rows; so are right-hand sides and
/// solutions. Order and analyze are run by each rank, with the same result; the factor is distributed, no
/// rank holds all of it. x has the same bits for any grid (of a layer; several layers have others, for each
/// number of them and each method), map, transport and number of threads, and for any way to bring the matrix
/// (with matching = false and a pattern that lacks diagonal entries, LU alone takes another order for rows).
/// Every function but those that are const must be called by all ranks; what it throws for wrong arguments
/// all throw.
template <class T>
class RankSolver {
 public:
  /// Order, analyze and place; factorize and plan the solves over ranks. As Solver::create, without the way
  /// by columns.
  /// @param matrix     the same on all ranks; shared with the caller, since ranks of one process may share
  ///   one. A solve refuses a matrix whose fingerprint is no longer that of its first day; values may change
  ///   before a refactor with the same pointer
  /// @param transport  must outlive this; carries nothing else meanwhile
  /// @returns the solver, or the failure, the same on all ranks
  /// @throws as Solver::create; UsageError if the grid has not as many ranks as the transport; BrokenRun
  static Outcome<RankSolver> create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                    const RankSolverOptions& options, Transport& transport);

  /// The same from rows. No rank ever holds the values of all: a rank keeps those of its rows and of the
  /// columns of the same numbers, and sends each entry to the rank in whose block it is factored. The pattern
  /// comes to all ranks: 4 bytes for each entry, besides what order and analyze need for them.
  /// @throws as create; UsageError, DimensionError unless the blocks of all ranks hold every row of a square
  ///   matrix once
  static Outcome<RankSolver> create_from_rows(const RowBlock<T>& rows, const RankSolverOptions& options,
                                              Transport& transport);

  RankSolver(RankSolver&&) noexcept;
  RankSolver& operator=(RankSolver&&) noexcept;
  ~RankSolver();

  index_t size() const;
  /// Rows that this rank has brought; all of them where the matrix came whole.
  index_t first_row() const;
  index_t num_rows() const;

  /// x ← op(A)⁻¹·b, refined and verified, as Solver::solve.
  /// @param b  n × k, the same on all ranks; x: n × k, may be b's memory
  /// @returns the report, or numerically_singular, the same on all ranks
  /// @throws as Solver::solve; BrokenRun
  Outcome<RankReport> solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request = {});

  /// The same with each rank's rows of b and x. Vectors are whole on every rank meanwhile: twice n × k
  /// scalars.
  /// @param b  num_rows() × k; x: num_rows() × k, may be b's memory; the same k on all ranks
  Outcome<RankReport> solve_rows(DenseView<const T> b, DenseView<T> x, const SolveRequest& request = {});

  /// New values in the same pattern: factorize again with the same order, scaling and structure. A solver
  /// that was made from rows gets rows.
  /// @returns true, or the failure, the same on all ranks; the solver then keeps its former factor
  /// @throws UsageError on all ranks if the pattern differs, or the kind does not fit the new values
  Outcome<void> refactor(std::shared_ptr<const SparseMatrix<T>> matrix);
  Outcome<void> refactor_rows(const RowBlock<T>& rows);

  /// Report of the phases so far, without solve and verify; its pivots hold the determinant.
  RankReport report() const;
  /// As Solver::slogdet and Solver::inertia.
  std::pair<std::complex<double>, double> slogdet() const;
  Inertia inertia() const;

 private:
  struct State;
  explicit RankSolver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace palmette
