// The door of `solver`, the hall: Solver runs all phases in order, owns their products, and keeps what a
// second matrix or right-hand side can reuse. Users need only this header.
#pragma once

#include <memory>
#include <span>

#include "palmette/machine/machine.hpp"
#include "palmette/solver/batch_solver.hpp"
#include "palmette/solver/choose_kind.hpp"
#include "palmette/solver/device_layout.hpp"
#include "palmette/solver/entry_solve.hpp"
#include "palmette/solver/extract.hpp"
#include "palmette/solver/inverse_entries.hpp"
#include "palmette/solver/measure_cluster.hpp"
#include "palmette/solver/null_space.hpp"
#include "palmette/solver/rank_schur.hpp"
#include "palmette/solver/rank_solver.hpp"
#include "palmette/solver/report.hpp"
#include "palmette/solver/schur.hpp"
#include "palmette/solver/simulate_solve.hpp"
#include "palmette/solver/solve_request.hpp"
#include "palmette/solver/updated_solver.hpp"

namespace palmette {

struct SolverOptions {
  /// Empty: LLᵀ if A is symmetric (Hermitian) with positive diagonal, and LDLᵀ if that meets a pivot that is
  /// not positive; LDLᵀ for other symmetric matrices; LU if A is not symmetric, or if the LDLᵀ solution fails
  /// verification.
  std::optional<FactorKind> kind;
  OrderingMethod ordering = OrderingMethod::automatic;
  Permutation user_ordering;  ///< for OrderingMethod::user
  SolveMethod method = SolveMethod::automatic;
  int threads = 0;            ///< 0: all processors that this process may use; at most 4096
  /// holds the factor and solves with it, by a method for devices; null: the host. See open_device
  std::shared_ptr<Device> device = nullptr;
  /// `device` holds the factor only if it has room for it and a solve there is predicted to be faster than on
  /// the host; a note of the report says which and why. With no device: why there is none
  bool device_if_faster = false;
  std::string why_no_device;
  /// several devices hold the factor and solve with it together, by a method for them; the host factorizes
  /// and verifies; null: `device`, or the host. See open_world
  std::shared_ptr<DeviceWorld> world = nullptr;
  /// a grid of no columns in one layer: predicted; layers 0, with no columns: predicted too
  WorldOptions of_world = {};
  /// what of the factorization goes to the device that holds the factor, if one does
  OffloadWhen offload = OffloadWhen::automatic;
  std::optional<OffloadModel> offload_model;  ///< empty: estimated_offload_model()
  /// factor in single precision and refine to working precision; double and complex<double> only
  bool mixed_precision = false;
  double tiny_pivot = 0;      ///< as FactorizeOptions
  /// What to do with a matrix that is singular to working precision.
  SingularAnswer singular = SingularAnswer::raise;
  AnalyzeOptions analyze;
  bool measure = true;        ///< measure the machine's stream bandwidth for the report
  std::string cache_folder;   ///< where that measurement is stored; empty: measure again for each Solver
  ProgressCallback progress;
};

/// How a saved solver is loaded.
struct LoadOptions {
  SolveMethod method = SolveMethod::automatic;
  int threads = 0;  ///< 0: all processors that this process may use
  /// The values of the factors stay in the file and are read where they lie, when a solve needs them; false:
  /// they are copied into memory, and the file may change afterwards
  bool map = true;
  /// compare the checksums of these values, too, which reads them all; everything else always is compared
  bool check_panels = true;
  /// Bytes of memory for the whole solver, solves with one right-hand side included. The panels of the
  /// factors then stay in the file: each sweep of a solve reads them piece by piece, in its order, by a
  /// thread that reads ahead. x has the same bits. One solve runs at a time, serially; solves for single
  /// entries are whole ones; refactor, update_factor, save and factor() are refused. 0: panels are mapped, or
  /// copied
  offset_t memory_budget = 0;
  double disk_gbs = 0;  ///< of the disk, for the report; 0: measured with this file, if `measure`
  bool measure = true;  ///< as SolverOptions
  std::string cache_folder;
  ProgressCallback progress;
};

/// Before a solver is made, whether it can be saved there: creates a temporary file beside it, and removes
/// that.
/// @throws IoError as Solver::save
void check_savable(const std::string& path);
/// The scalar of a saved solver. @throws IoError as Solver::load
ScalarType saved_scalar(const std::string& path);

/// Sets the device of options by its name.
/// @param name  "none"; an address, see open_device; "auto": the first GPU of this machine, if it is faster
void set_device(SolverOptions& options, std::string_view name);
/// Sets several devices of a kind.
/// @param kind  "emulated", "cuda" or "hip"
/// @param grid    rows × columns of them, over which blocks are distributed; no columns: in one layer, the
///   grid of `rows` devices that is predicted to be the fastest, which a note of the report explains; in
///   several layers, one column
/// @param layers  of such grids; more than 1 needs a method of several layers. 0, with no columns: `rows`
///   devices in the grid and layers that are predicted to be the fastest. The last bits of x depend on it
/// @throws UsageError if it is no kind or there are fewer; DeviceError if there are none here, saying why
void set_devices(SolverOptions& options, std::string_view kind, ProcessGrid grid, index_t layers = 1);

/// A factored matrix, ready to solve. Movable. All functions are thread-safe: if refactor runs during a
/// solve, the solve continues with the factor that it started with (both factors are then in memory).
template <class T>
class Solver {
 public:
  /// Order, analyze and factorize.
  ///
  /// The solver owns the matrix: it takes it over if this is the only pointer to it (use std::move),
  /// otherwise it copies it. So no one can change the matrix that solutions are verified against.
  /// @param matrix  n × n, with every entry stored, also both triangles of a symmetric matrix. Checks that
  ///   values are finite, the pattern is well formed and a declared symmetry holds. Symmetry is detected if
  ///   the matrix is marked general: |A − Aᵀ| ≤ 8 u |A| (Hermitian: Aᴴ) in every entry counts as symmetric;
  ///   then (A + Aᵀ) / 2 is factored, a note says so, and solutions are verified against A
  /// @returns the solver, or the failure: structurally or numerically singular, not positive definite (if LLᵀ
  ///   was requested)
  /// @throws DimensionError if not square; UsageError for values that are not finite (naming row and column)
  ///   and for invalid options; MemoryError
  static Outcome<Solver> create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                const SolverOptions& options = {});

  /// Write matrix, order, structure and factors to one file, with what solves computed of them. The file
  /// appears under its name when all of it is on the disk; until then a file that was there stays.
  /// @throws IoError
  /// @cost  bytes of the factors, written once; of a solver on devices, what the host holds
  void save(const std::string& path) const;
  /// A solver as it was saved: with the same kernels (see docs/guide), x has the bits that it had before. The
  /// factor lies on the host. Checksums guard against accidents, not against a file that was made to deceive.
  /// @throws IoError naming the file, the reason and the remedy: it cannot be read, was not saved by
  /// Palmette,
  ///   is of another version, byte order or scalar, was cut short, or has changed; UsageError for a memory
  ///   budget that is too small, naming the least
  /// @cost  mapped and unchecked: the matrix and the structure; otherwise also the factors, read once
  static Solver load(const std::string& path, const LoadOptions& options = {});

  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;
  ~Solver();

  index_t size() const;
  /// What holds the factor now; null: the host.
  std::shared_ptr<Device> device() const;
  /// The current matrix, which solutions are verified against.
  std::shared_ptr<const SparseMatrix<T>> matrix() const;

  /// x ← op(A)⁻¹·b, refined and verified.
  /// @param b  n × k; x: n × k, may be b's memory
  /// @returns the report of all phases; or numerically_singular, naming a dependent row and column, if pivots
  ///   were replaced or x is so large that A may be singular, and A (equilibrated) then proves to be within
  ///   20 u of a singular matrix. A solution that fails verification is still returned: then
  ///   report.verify->verified is false, and a note says so.
  /// @throws DimensionError; UsageError for values of b that are not finite
  Outcome<Report> solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request = {});

  /// The same with b and x in the memory of the device that holds the factor: residuals, refinement and
  /// verification are done there too. Work that request.stream was given comes before it; x is complete on
  /// return.
  /// @throws also UsageError if the factor lies on the host, or b or x on another device; MemoryError if the
  ///   device has no room for the work vectors
  Outcome<Report> solve(OnDevice<const T> b, OnDevice<T> x, const SolveRequest& request = {});

  /// Rows of op(A)⁻¹·b for sparse right-hand sides, checked. Only the branches of the tree that the entries
  /// of b and the wanted rows lie in are visited; right-hand sides with common branches are solved together.
  ///
  /// Solutions are not refined. The equations of the wanted rows, and of the rows where b has entries, are
  /// checked; if one does not hold to rounding level, the systems are solved whole, refined and verified.
  /// @param b       n × k, sparse
  /// @param wanted  rows of x, in any order, also several times
  /// @returns x, wanted.size() × k; or numerically_singular as solve
  /// @throws DimensionError; UsageError naming a value of b that is not finite, or a row that does not exist
  /// @cost  the panels of the supernodes visited, twice: for the check, neighbours of the checked rows are
  ///   solved for as well. Whole solves in mixed precision and on devices
  Outcome<SolvedEntries<T>> solve_entries(const SparseMatrix<T>& b, std::span<const index_t> wanted,
                                          const EntryRequest& request = {});

  /// Factorize again with new values in the same pattern, with the same ordering, scaling and structure. The
  /// new factor and its solves reuse the memory of those before the last if no solve reads them any more;
  /// from the second call on, the memory of two factors, their plans and two matrices is held.
  /// @param matrix   of the same pattern; taken over or copied as by create @throws UsageError if the pattern
  ///   differs
  /// @param threads  at most this many threads, and no more than the options allow; 0: as the options say
  /// @returns success, or the failure; then the solver keeps its previous factor
  Outcome<void> refactor(std::shared_ptr<const SparseMatrix<T>> matrix, int threads = 0);
  /// The same with values only, in the order of the solver's pattern: by columns, rows ascending.
  /// @throws DimensionError unless there is one value for each entry
  Outcome<void> refactor_values(std::vector<T> values, int threads = 0);

  /// Report of the phases so far, without solve and verify.
  Report report() const;
  /// The supernodal structure. If the matrix was factored by columns (analyze.supernodes is 0), analyzes and
  /// factorizes it by supernodes now.
  /// @throws NumericalError if that fails
  std::shared_ptr<const SymbolicFactor> symbolic() const;
  /// Sign (or phase) and logarithm of the modulus of the determinant.
  std::pair<std::complex<double>, double> slogdet() const;
  /// Signs that replaced pivots left open are decided by solves with the factor, once for each factorization,
  /// if at most 1000 were replaced. `zero` counts those that rounding leaves undecided: the numbers of
  /// positive and of negative eigenvalues are at most `zero` larger than given.
  /// @throws UsageError for LU and for complex symmetric matrices, for which inertia is not defined
  /// @cost  nothing, or see CapacitanceReport: three times k solves for k replaced pivots
  Inertia inertia() const;
  /// The null space of A to working precision: a basis, empty if A is regular. Solutions of least norm are
  /// those of SingularAnswer::least_norm.
  /// @returns the basis; or numerically_singular if it has more than 16 columns
  /// @cost  computed once for each factorization: about 10 solves for each column, at least 20
  /// @source see find_null_space
  Outcome<NullBasis<T>> null_space();

  /// The solver of A + U·Vᵀ, by solves with the factor that this solver has now.
  /// @param u, v  n × k, k at most n and best below 100; conjugate V for U·Vᴴ
  /// @returns it, or numerically_singular if I + Vᵀ·A⁻¹·U is singular to working precision
  /// @throws DimensionError; UsageError naming a value that is not finite, in mixed precision, and if devices
  ///   hold the factor
  /// @cost  2·k solves, see UpdateReport
  Outcome<UpdatedSolver<T>> update(SparseMatrix<T> u, SparseMatrix<T> v);

  /// Make this the solver of A + W·Wᴴ or A − W·Wᴴ, by changes of the factor along the paths of its tree on
  /// which the columns of W lie. Solves that run continue with the factor before. Solutions are verified
  /// against the changed matrix, which `matrix` returns, and whose pattern `refactor` takes from then on.
  ///
  /// Needs a factor of kind LLᵀ that has places for W·Wᴴ, see palmette::update_factor; `update` takes any U
  /// and V.
  /// @param w  n × k, sparse
  /// @returns what was done; or not_positive_definite, then the solver keeps its factor and its matrix
  /// @throws DimensionError; UsageError for another kind, in mixed precision, if devices hold the factor, and
  ///   naming a value that is not finite or the first entry of W for which the factor has no place
  /// @cost  a copy of the factor, of its plan and of A; for each column of W 6 flops (complex: 20) for each
  ///   entry of the panels on its path; the plan's panels on the paths made anew
  Outcome<FactorUpdateReport> update_factor(const SparseMatrix<T>& w, UpdateSign sign = UpdateSign::add);

  /// x ← op(F)⁻¹·b with a single factor F, neither refined nor verified: for half solves, as in sampling and
  /// whitening.
  ///
  /// F is that of extract_ldl(*factor()) or extract_lu(*factor()); b and x are in the order of its rows, see
  /// order_of. So solving with L, D and Lᴴ, or with L and U, in turn solves A x = b in permuted order.
  /// @param b  n × k; x: n × k, may be b's memory
  /// @throws as SolvePlan::solve_part; UsageError in mixed precision; NumericalError, see symbolic
  void solve_part(FactorPart part, Operation operation, DenseView<const T> b, DenseView<T> x) const;
  /// The supernodal Factor in working precision; see symbolic. @throws UsageError in mixed precision;
  /// NumericalError
  std::shared_ptr<const Factor<T>> factor() const;

 private:
  struct State;
  explicit Solver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct TriangularSolverOptions {
  TriangleOptions triangle;  ///< its plan may name a device; given factors name their own
  SolveMethod method = SolveMethod::automatic;
  int threads = 0;
  bool measure = true;
  std::string cache_folder;
  std::string note_on_device;  ///< for the report: why this device
  double watchdog_seconds = 600;  ///< over ranks, as RankSolverOptions
};
/// As for SolverOptions; "auto": the first GPU of this machine, since nothing is known of the factors yet.
void set_device(TriangularSolverOptions& options, std::string_view name);
/// So many devices of a kind, to which columns are dealt, or supernodes where they pay; 1: as set_device.
/// Factors that are given get what options.triangle.plan then says.
/// @param kind  as for SolverOptions
/// @throws UsageError if it is no kind or there are fewer; DeviceError if there are none here, saying why
void set_devices(TriangularSolverOptions& options, std::string_view kind, index_t num_devices);

/// A solver for a triangle or factors that the caller provides. Solutions are verified against these.
template <class T>
class TriangularSolver {
 public:
  /// The solver owns the triangle, factors and matrix, as in Solver::create.
  /// @returns the solver, or numerically_singular naming the row with a zero or missing diagonal
  static Outcome<TriangularSolver> create(std::shared_ptr<const SparseMatrix<T>> triangle,
                                          const TriangularSolverOptions& options = {});
  /// Over ranks with one device each, whose kernels put to each other over their network; see
  /// RankTrianglePlan. Every rank must call it with the same triangle, its own device in the options' plan
  /// and the same other options, and every function that is not const with the same arguments; all get the
  /// same x and verify it. If arguments are wrong, all throw.
  /// Vectors lie on the host: `device` is null. The memory of the host is not measured.
  /// @param transport  must outlive this object; nothing else may use it during that time
  /// @throws UsageError for a method other than devices_pushed, for a world of devices, its grid, layers or
  ///   network, and by solve, for b or a request that differs from that of another rank; MemoryError on all
  ///   ranks if one device has no room, also by solve, after which all may solve for fewer right-hand sides;
  ///   as make_network_id and join_network; BrokenRun
  static Outcome<TriangularSolver> create(std::shared_ptr<const SparseMatrix<T>> triangle,
                                          const TriangularSolverOptions& options, Transport& transport);
  /// Solve with the product of given factors. Solutions are verified against `matrix` if there is one (then
  /// they can also be refined), otherwise against the product: |b − LUx|_i over (|L||U||x| + |b|)_i in the
  /// permuted and scaled system.
  static Outcome<TriangularSolver> from_factors(std::shared_ptr<const OwnFactors<T>> factors,
                                                std::shared_ptr<const SparseMatrix<T>> matrix,
                                                const TriangularSolverOptions& options = {});
  /// The same over ranks with one device each: both triangles are solved by columns, whatever their pattern,
  /// as `create` with a transport solves one, and the rows of the first solution go to all ranks. Every rank
  /// passes the same factors, whose plan names its own device.
  /// @throws as create with a transport, and as plan_own_factors
  static Outcome<TriangularSolver> from_factors(std::shared_ptr<const OwnFactors<T>> factors,
                                                std::shared_ptr<const SparseMatrix<T>> matrix,
                                                const TriangularSolverOptions& options, Transport& transport);
  TriangularSolver(TriangularSolver&&) noexcept;
  TriangularSolver& operator=(TriangularSolver&&) noexcept;
  ~TriangularSolver();

  index_t size() const;
  /// What holds the factors, where vectors may lie; null: the host, or the devices of ranks.
  std::shared_ptr<Device> device() const;
  /// As Solver::solve; the report has no order, analyze and factorize sections.
  Outcome<Report> solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request = {});
  Outcome<Report> solve(OnDevice<const T> b, OnDevice<T> x, const SolveRequest& request = {});
  const Report& report() const;

 private:
  struct State;
  explicit TriangularSolver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// An n × k array in the memory of a device, columns or rows lying together.
template <class T>
struct ArrayOnDevice {
  T* data = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  bool by_rows = false;  ///< in C order
};

/// x ← op(A)⁻¹·b by a solver whose factor lies on the device; arrays in C order are turned there, which takes
/// room for a copy.
/// @throws as Solver::solve
template <class T>
Outcome<Report> solve_on_device(Solver<T>& solver, ArrayOnDevice<const T> b, ArrayOnDevice<T> x,
                                const SolveRequest& request = {});
template <class T>
Outcome<Report> solve_on_device(TriangularSolver<T>& solver, ArrayOnDevice<const T> b, ArrayOnDevice<T> x,
                                const SolveRequest& request = {});

/// What a memory prediction depends on, in addition to the structure.
struct RunShape {
  FactorKind kind = FactorKind::llt;
  ScalarType scalar = ScalarType::float64;  ///< of the factor
  int threads = 1;
  index_t num_rhs = 1;
  offset_t bytes_before = 0;  ///< already resident: A, the ordering, the program itself
};

/// Peak memory of a run in bytes: bytes_before, structure, factor, plan and workspaces. Known before
/// factorization; accurate to 10 % for factors above 100 MB.
offset_t predicted_peak_bytes(const SymbolicFactor& symbolic, const RunShape& shape);
/// The same for a known structure of the plans, which must be for shape.scalar and must not be counted in
/// shape.bytes_before.
offset_t predicted_peak_bytes(const SymbolicFactor& symbolic, const PlanStructure& structure,
                              const RunShape& shape);

}  // namespace palmette
