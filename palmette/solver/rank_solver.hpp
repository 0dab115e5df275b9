// Part of the door of `solver`: the solver over ranks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "palmette/factorize/factorize.hpp"
#include "palmette/place/place.hpp"
#include "palmette/solver/entry_solve.hpp"
#include "palmette/solver/inverse_entries.hpp"
#include "palmette/solver/null_space.hpp"
#include "palmette/solver/report.hpp"
#include "palmette/solver/row_block.hpp"
#include "palmette/solver/solve_request.hpp"
#include "palmette/solver/updated_solver.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

/// How the ranks of a run are arranged.
struct RankLayout {
  LayeredGrid ranks;
  PlacementMap map = PlacementMap::subtree_to_subcube;
  LayeredMethod layered_method = LayeredMethod::one_sync_3d;  ///< of several layers
  index_t rhs_groups = 1;                                     ///< as RankSolverOptions
};

struct RankSolverOptions {
  std::optional<FactorKind> kind;  ///< empty: as SolverOptions
  OrderingMethod ordering = OrderingMethod::automatic;
  Permutation user_ordering;  ///< for OrderingMethod::user
  double tiny_pivot = 0;      ///< as FactorizeOptions
  SingularAnswer singular = SingularAnswer::raise;  ///< as SolverOptions
  /// LDLᵀ and LU: bring large entries to the diagonal and scale by weighted matching. With rows as input,
  /// each rank then receives the size of every entry (a logarithm, 4 bytes) during ordering, but no values.
  /// false: scale by the largest entries of rows and columns, and keep the diagonal of the pattern; then
  /// nothing about values is sent, and matrices with small diagonals may fail.
  bool matching = true;
  AnalyzeOptions analyze;
  ProcessGrid grid{0, 0};     ///< of one layer; 0 × 0: the nearly square one
  /// >= 1; with several, the top of the elimination tree is replicated; the last bits of x depend on the
  /// number
  index_t layers = 1;
  LayeredMethod layered_method = LayeredMethod::one_sync_3d;  ///< if there are several layers
  PlacementMap map = PlacementMap::subtree_to_subcube;
  WholeSubtrees whole;        ///< as in `place`; the last bits of x depend on it
  /// Right-hand sides are solved in so many groups of columns, side by side, so that messages of one travel
  /// while another is computed; the factor is read for each. x keeps its bits. Ranks with devices: 1
  index_t rhs_groups = 1;
  /// If set, chooses grid, layers, layered_method, map and rhs_groups once the structure is known, for
  /// scalars of the given number of bytes. Every rank must set it, but only that of rank 0 is called
  /// (chosen_layout and choose_rhs_groups of `predict` can be used). A layout for another number of ranks is
  /// a UsageError.
  std::function<RankLayout(const SymbolicFactor& symbolic, index_t num_ranks, int scalar_bytes)>
      choose_layout;
  TreeShape trees = TreeShape::binary;
  BlockDelivery delivery = BlockDelivery::push;  ///< of the factorization's blocks
  /// most right-hand sides that are solved together; the plan holds memory for them; >= 1
  index_t max_rhs = 64;
  int threads = 1;            ///< threads of each rank, at most 4096
  /// a rank that waits this long without a message ends the run; 0: it waits forever
  double watchdog_seconds = 600;
  /// This rank's, which holds its part of the factor and solves; the host factorizes. Every rank must have
  /// one or none, as open_device_of_rank gives it. Several layers then meet once
  std::shared_ptr<Device> device;
  MemoryKind memory = MemoryKind::automatic;  ///< how devices' messages travel
  std::string transport_name;     ///< for the report
  std::string transport_note;     ///< for the report's notes, as MpiExchange::note; empty: none
  /// makes the transport of factorization and solves; empty: the transport that is passed to create
  PlannedTransports planned;
};

/// How a solver over ranks that was saved is loaded; what was factored, and over which grid, the files say.
struct RankLoadOptions {
  int threads = 1;                       ///< as RankSolverOptions, likewise those without a comment
  double watchdog_seconds = 600;
  /// the values of the factor stay in the files and are read where they lie; false: they are copied
  bool map = true;
  /// compare the checksums of these values, too, which reads them all; everything else always is compared
  bool check_panels = true;
  std::shared_ptr<Device> device;
  MemoryKind memory = MemoryKind::automatic;
  std::string transport_name;
  std::string transport_note;
  PlannedTransports planned;
  SingularAnswer singular = SingularAnswer::raise;
};

/// The file that a rank writes and reads of a set: path, ".rank", and its number.
std::string file_of_rank(const std::string& path, index_t rank);
/// The scalar of a set. Every rank must call it. @throws IoError on all ranks, as RankSolver::load
ScalarType saved_scalar_over_ranks(const std::string& path, Transport& transport);
/// As check_savable, of the files of all ranks. Every rank must call it. @throws IoError on all ranks
void check_savable_over_ranks(const std::string& path, Transport& transport);

/// As open_device; an address without an index means that ranks take the devices of their machine in turn,
/// which gives each its own where consecutive ranks share a machine that has enough.
std::shared_ptr<Device> open_device_of_rank(std::string_view address, index_t rank);

/// A Report with figures about ranks. Seconds are those of the reporting rank. factorize.memory_bytes is the
/// sum over ranks of factor and plan; memory_bytes is the same for each rank. solve.bytes counts panels,
/// which are read once for each sweep and block of right-hand sides. Peak memory is not predicted.
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
  index_t rhs_groups = 1;
  std::string transport;
  int threads = 1;
  RankFigure memory_bytes;
  /// Of ranks with devices: their kind, and how messages travelled; what all hosts carried in this solve.
  std::string device_kind;  ///< empty: hosts solve
  MemoryKind memory = MemoryKind::automatic;
  CarriedCounts carried;
  std::vector<RankTimes> times;  ///< by rank: time of its solves by phase, refinement included
};

/// As visit of the Report, with an additional section
/// ranks{num_ranks,grid_rows,grid_cols,layers,method,synchronizations,replicated_bytes,map,trees,
///       delivery,rhs_groups,transport,threads_per_rank,memory_bytes{least,mean,most},
/// times{…},devices{kind,memory,launches,messages,bytes,copies_out,bytes_out,copies_in,bytes_in,copies_there,
/// bytes_there}}; devices only if there are any. For each phase that occurs (forward, between, backward),
/// times has work, messages and waiting, each with least, mean and most.
void visit(const RankReport& report, ReportVisitor& visitor);

template <class T>
class UpdatedRankSolver;
template <class T>
class RankSchurSolver;

/// One rank's part of a solver whose factor is distributed over ranks.
///
/// Each rank provides either the whole matrix or some of its rows; the same holds for right-hand sides and
/// solutions. Every rank runs order and analyze, with the same result. The factor is distributed: no rank
/// holds all of it. x has the same bits for any grid of one layer, map, transport and number of threads, and
/// for either form of input (except LU with matching = false and a pattern that lacks diagonal entries, which
/// orders rows differently). With several layers, its last bits depend on their number and on the method. All
/// ranks must call every function that is not const; if arguments are wrong, all ranks throw.
template <class T>
class RankSolver {
 public:
  /// Order, analyze and place; factorize and plan the solves over ranks. As Solver::create, but never by
  /// columns.
  /// @param matrix  the same on all ranks; shared with the caller, since ranks of one process may share one.
  ///   A solve throws if the matrix has changed, by its fingerprint; values may change before a refactor with
  ///   the same pointer
  /// @param transport  must outlive this object; nothing else may use it during that time
  /// @returns the solver, or the failure, the same on all ranks
  /// @throws as Solver::create; UsageError if grid and transport have different numbers of ranks; BrokenRun
  static Outcome<RankSolver> create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                    const RankSolverOptions& options, Transport& transport);

  /// The same from rows. No rank ever holds all values: a rank keeps those of its rows and of the columns
  /// with the same indices, and sends each entry to the rank that factors its block. All ranks receive the
  /// pattern: 4 bytes for each entry, in addition to what order and analyze need.
  /// @throws as create; UsageError, DimensionError unless the blocks of all ranks together hold every row of
  ///   a square matrix once
  static Outcome<RankSolver> create_from_rows(const RowBlock<T>& rows, const RankSolverOptions& options,
                                              Transport& transport);

  /// Write a set of files, one for each rank: what the rank holds of matrix, order, structure and factor.
  /// They appear under their names when all ranks have written theirs.
  /// @throws IoError on all ranks, naming the file
  /// @cost  bytes of the rank's part of the factor, of its matrix or rows, and of the structure, each written
  ///   once
  void save(const std::string& path) const;

  /// A solver as a set of as many ranks saved it; with the same kernels, x has the bits that it had before.
  /// The solves are planned anew, which the files do not hold.
  /// @throws IoError on all ranks, naming the file, the reason and the remedy, as Solver::load; and if
  ///   another number of ranks saved the set, or a file belongs to another set
  /// @cost  the files, read once (mapped and unchecked: without the values of the factor), and RankSolvePlan
  static RankSolver load(const std::string& path, const RankLoadOptions& options, Transport& transport);

  RankSolver(RankSolver&&) noexcept;
  RankSolver& operator=(RankSolver&&) noexcept;
  ~RankSolver();

  index_t size() const;
  /// The rows that this rank provided; all rows if it provided the whole matrix.
  index_t first_row() const;
  index_t num_rows() const;
  /// The rows themselves, columns ascending, duplicates summed, until the next refactor; empty if the solver
  /// was created from a whole matrix.
  std::optional<RowBlock<T>> rows() const;

  /// x ← op(A)⁻¹·b, refined and verified, as Solver::solve.
  /// @param b  n × k, the same on all ranks; x: n × k, may be b's memory
  /// @returns the report, or numerically_singular, the same on all ranks
  /// @throws as Solver::solve; BrokenRun
  Outcome<RankReport> solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request = {});

  /// The same with each rank's rows of b and x. Each rank temporarily holds the whole vectors: twice n × k
  /// scalars.
  /// @param b  num_rows() × k; x: num_rows() × k, may be b's memory; the same k on all ranks
  Outcome<RankReport> solve_rows(DenseView<const T> b, DenseView<T> x, const SolveRequest& request = {});

  /// Rows of op(A)⁻¹·b for sparse right-hand sides, checked, as Solver::solve_entries: a rank whose blocks
  /// lie in none of the branches that are visited runs no task and sends no message of the sweeps; the wanted
  /// rows of x go to all ranks, and so do, with a check, the other unknowns of the checked equations. In
  /// several layers, all that they share is visited. Ranks with devices, and factors with replaced pivots,
  /// solve whole, and say so.
  /// @param b  n × k; wanted: rows of x; both the same on all ranks, like the request
  /// @returns x, wanted.size() × k, and the report (its seconds are this rank's), or numerically_singular,
  ///   the same on all ranks. Unless solved_whole, entries are those of an unrefined solve over these ranks
  ///   that takes as many right-hand sides side by side (blocks of 64, fewer if max_rhs is less, and the rest
  ///   last), bit for bit, but for the sign of zeros
  /// @throws on all ranks, as Solver::solve_entries; UsageError if ranks pass different arguments
  /// @cost  as Solver::solve_entries, by all ranks together; to each rank the wanted rows of x, and with a
  ///   check all unknowns of the equations of these rows and of those with entries of b. At the first call
  ///   O(n) bytes on each rank, which stay; where ranks hold the whole matrix and it is unsymmetric, at the
  ///   first plain solve with a check Aᵀ too, on each rank
  Outcome<SolvedEntries<T>> solve_entries(const SparseMatrix<T>& b, std::span<const index_t> wanted,
                                          const EntryRequest& request = {});

  /// The same with each rank's rows of b. Each rank temporarily holds all entries of b.
  /// @param b       num_rows() × k, the same k on all ranks
  /// @param wanted  rows of the whole x that this rank wants, in any order, also several times
  /// @returns those rows of x, and the report of all ranks' entries
  Outcome<SolvedEntries<T>> solve_entries_rows(const SparseMatrix<T>& b, std::span<const index_t> wanted,
                                               const EntryRequest& request = {});

  /// The entries of A⁻¹ on the pattern of the factor, each on the rank that factored its block: one copy in
  /// all, also in several layers.
  /// @param request  the same on all ranks; `threads` is not used
  /// @returns this rank's entries, and the report of all; or the failure of a solve that checks them
  /// @throws on all ranks: UsageError if ranks pass different requests or the matrix has changed; MemoryError
  ///   if a rank has no room for its entries. What is predicted, predicted_inverse_counts says
  /// @cost  see RankInverseRun; in several layers returned_factor_bytes, too, which the rank's
  ///   counts.memory_bytes includes. Each checked column is a solve with an estimate of the condition
  Outcome<CheckedRankInverse<T>> selected_inverse(const InverseRequest& request = {});

  /// Entries (rows[k], columns[k]) of A⁻¹: those on the pattern of the factor from its selected inverse, if
  /// this, with solves for the other columns, needs fewer flops than solves for all columns; both are counted
  /// before. Solves are for single entries: 64 columns with common branches at a time, each for the rows that
  /// are asked for in them, whose equations are checked. Some columns are solved for whole and compared.
  /// Factors with replaced pivots, which are those of another matrix, only solve.
  /// @param rows, columns  counted from 0, in any order, also several times; the same on all ranks, like the
  ///   request, of which `threads` is not used
  /// @returns the values, the same on all ranks; report.solved_columns are the columns that were solved for,
  ///   report.flops those of the recurrence, 0 without it, and report.seconds this rank's of both; or
  ///   numerically_singular
  /// @throws on all ranks, as inverse_entries; UsageError if ranks pass different arguments
  /// @cost  selected_inverse, or for every 64 columns twice the panels of their branches, by all ranks
  ///   together, and what solve_entries sends with a check and keeps
  Outcome<InverseEntries<T>> inverse_entries(std::span<const index_t> rows, std::span<const index_t> columns,
                                             const InverseRequest& request = {});
  /// The diagonal of A⁻¹. @cost  as inverse_entries: usually that of selected_inverse, since solves for n/64
  ///   groups of columns follow as many paths to the root
  Outcome<InverseEntries<T>> inverse_diagonal(const InverseRequest& request = {});

  /// Factorize again with new values in the same pattern, with the same order, scaling and structure. A
  /// solver created from rows takes rows.
  /// @returns success, or the failure, the same on all ranks; then the solver keeps its previous factor
  /// @throws UsageError on all ranks if the pattern differs or the kind does not fit the new values
  Outcome<void> refactor(std::shared_ptr<const SparseMatrix<T>> matrix);
  Outcome<void> refactor_rows(const RowBlock<T>& rows);

  /// The solver of A + U·Vᵀ, by solves with the factor that this solver has now. As Solver::update; the
  /// capacitance matrix is on every rank.
  /// @param u, v  n × k, the same on all ranks
  /// @returns it, or numerically_singular, the same on all ranks
  /// @throws as Solver::update, on all ranks
  /// @cost  as Solver::update; each rank holds n × k scalars
  Outcome<UpdatedRankSolver<T>> update(SparseMatrix<T> u, SparseMatrix<T> v);
  /// The same with each rank's rows of U and V, num_rows() × k.
  Outcome<UpdatedRankSolver<T>> update_rows(DenseView<const T> u, DenseView<const T> v);

  /// Report of the phases so far, without solve and verify.
  RankReport report() const;
  /// As Solver::slogdet.
  std::pair<std::complex<double>, double> slogdet() const;
  /// As Solver::inertia, by solves of all ranks, which must all call it. Not decided: more than 1000 replaced
  /// pivots, and sets of files that an older version saved. The report has the decision from then on.
  /// @throws as Solver::inertia; UsageError if the matrix has changed
  Inertia inertia();
  /// As Solver::null_space, on all ranks: n × k. All ranks must call it.
  Outcome<NullBasis<T>> null_space();

 private:
  struct State;
  explicit RankSolver(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
  friend class UpdatedRankSolver<T>;
  friend class RankSchurSolver<T>;
};

/// One rank's part of the system with A + U·Vᵀ, made by RankSolver::update. Keeps matrix and factor alive;
/// a refactor of the solver that made it does not affect it. The transport must outlive it. All ranks must
/// call every function that is not const, and destroy it in the same order as other solvers.
template <class T>
class UpdatedRankSolver {
 public:
  struct State;
  explicit UpdatedRankSolver(std::unique_ptr<State> state);
  UpdatedRankSolver(UpdatedRankSolver&&) noexcept;
  UpdatedRankSolver& operator=(UpdatedRankSolver&&) noexcept;
  ~UpdatedRankSolver();

  index_t size() const;
  /// As RankSolver::num_rows.
  index_t num_rows() const;
  const UpdateReport& report() const;

  /// x ← op(A + U·Vᵀ)⁻¹·b, refined and verified against A, U and V.
  /// @param b  n × k, the same on all ranks; x: n × k, may be b's memory
  /// @throws as UpdatedSolver::solve; BrokenRun
  UpdateReport solve(DenseView<const T> b, DenseView<T> x, Operation operation = Operation::plain);
  /// The same with each rank's rows of b and x, as RankSolver::solve_rows.
  UpdateReport solve_rows(DenseView<const T> b, DenseView<T> x, Operation operation = Operation::plain);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace palmette
