// The door of `solve`: Factor + b → x. A SolvePlan is built once for a factor (or for a caller's triangular
// matrices) and used for many solves by any method of the list.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "palmette/blocks/blocks.hpp"
#include "palmette/device/device.hpp"
#include "palmette/matrix/matrix.hpp"
#include "palmette/solve/plan_options.hpp"
#include "palmette/solve/element_prices.hpp"
#include "palmette/solve/rank_selected_inverse.hpp"
#include "palmette/solve/rank_solve.hpp"
#include "palmette/solve/rank_triangle.hpp"
#include "palmette/solve/selected_inverse.hpp"
#include "palmette/tasks/tasks.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

/// How the tasks of a solve are scheduled. On one machine the arithmetic of a task is the same for all
/// methods, so all give the same bits for any number of threads.
enum class SolveMethod {
  automatic,
#define METHOD(name, ...) name,
#include "palmette/solve/methods.inc"
#undef METHOD
};

/// Where a method runs: the threads of one process, ranks, layers of ranks, a device that holds the factor,
/// several, layers of several that meet once or at each level, or several that take a triangle column by
/// column.
enum class SolveWhere : char {
  one_machine,
  ranks,
  layers,
  device,
  devices,
  device_layers,
  device_levels,
  devices_by_columns
};
std::string_view name_of(SolveWhere where);

struct SolveMethodInfo {
  SolveMethod method;
  std::string_view name;
  std::string_view engine;       ///< what starts a task
  std::string_view delivery;     ///< how a task's result reaches the tasks that need it
  SolveWhere where;
  bool threaded;                 ///< uses several threads of a process
  std::string_view unavailable;  ///< why this build cannot run it; empty if it can
  std::string_view summary;

  bool available() const { return unavailable.empty(); }
};
/// The one list that names every method (automatic is not in it). The command, Python, benchmarks and tests
/// loop over it.
const std::vector<SolveMethodInfo>& solve_method_list();
/// Its rows for one place.
const std::vector<SolveMethodInfo>& solve_method_list(SolveWhere where);
/// @throws UsageError listing the names ("auto" and those of the list) if the name is unknown
SolveMethod solve_method(std::string_view name);
/// @throws UsageError also as check_solve_method
SolveMethod solve_method(std::string_view name, SolveWhere where);
/// @throws UsageError if the method runs at none of these places, saying where it does and which ones run
///   here, or if this build cannot run it, saying why; `automatic` runs everywhere
void check_solve_method(SolveMethod method, std::initializer_list<SolveWhere> places);
std::string_view name_of(SolveMethod method);

/// The method of several layers; message_driven for one layer.
SolveMethod solve_method(index_t layers, LayeredMethod of_several);
/// How the layers of this method work together. @throws UsageError for a method without layers
LayeredMethod layered_method(SolveMethod method);

/// The least cost of one solve; see docs/guide for the model.
struct SolveCost {
  double flops = 0;
  /// factor read once for each sweep and block of right-hand sides, b and x once
  double bytes = 0;
  /// bytes of the costliest path of tasks: a lower bound of the sequential traffic for any number of threads
  double critical_path_bytes = 0;
};

struct SolveRun {
  SolveMethod method = SolveMethod::automatic;
  ThreadTeam* team = nullptr;  ///< null: only the caller's thread
};

/// What a solve did.
struct SolveTrace {
  SolveMethod method = SolveMethod::serial;  ///< the one used (never automatic)
  /// threads that were called: fewer than the team's while hand-overs are slow
  int threads = 1;
  DeviceCounts device = {};  ///< of solves on a device, or on several
  PanelReads panels = {};    ///< of solves with panels that stay in a file
};

/// The entries x(rows, columns) of the solutions of sparse right-hand sides.
struct WantedEntries {
  std::span<const index_t> columns;  ///< of b; those with common branches should stand together
  std::span<const index_t> rows;     ///< in any order, also several times
};

/// What a solve for single entries did.
struct EntryTrace {
  SolveTrace solve;
  double bytes = 0;        ///< of the factor that was read, for all blocks of right-hand sides
  double whole_bytes = 0;  ///< that whole solves of these would have read
  /// Over ranks, of both sweeps, of all ranks: messages and bytes in them, and those of whole solves.
  double messages = 0, message_bytes = 0;
  double whole_messages = 0, whole_message_bytes = 0;
};

/// One of the factors of a matrix: L; D of LDLᵀ; U of LU.
enum class FactorPart { lower, diagonal, upper };

/// What pivoting inside supernodes did: row k of the factors is row result[k] of the structure.
template <class T>
std::vector<index_t> pivoted_places(const Factor<T>& factor);

namespace solve_detail {
class SweepGroups;
template <class T>
class PlanBody;
template <class T>
struct StoredParts;
}

/// Memory that plans leave for the next plan of the same structure and kind when their last owner releases
/// them: panels, and the workspaces of solves. Empty at first; one plan is made with it at a time.
template <class T>
class PlanStore {
 public:
  /// What serves plans of this structure; what another one has left is dropped.
  const solve_detail::StoredParts<T>& parts_for(std::shared_ptr<const solve_detail::SweepGroups> structure,
                                                FactorKind kind);

 private:
  std::shared_ptr<solve_detail::StoredParts<T>> parts_;
};

/// Constant after construction and thread-safe (each solve has its own workspace).
template <class T>
class SolvePlan {
 public:
  SolvePlan();
  explicit SolvePlan(std::unique_ptr<const solve_detail::PlanBody<T>> body);
  SolvePlan(SolvePlan&&) noexcept;
  SolvePlan& operator=(SolvePlan&&) noexcept;
  ~SolvePlan();

  index_t size() const;

  /// x ← op(A)⁻¹·b, A being the matrix that was factored (or the given triangle, or the product of given
  /// factors).
  ///
  /// @param b  n × k in the user's order, k ≥ 0
  /// @param x  n × k; may be the same memory as b
  /// @throws DimensionError if sizes differ; MemoryError
  /// @cost  cost(k) flops and bytes; workspace O(n·min(k, 64))
  SolveTrace solve(Operation operation, DenseView<const T> b, DenseView<T> x, const SolveRun& run = {}) const;

  /// The same with b and x in the memory of the device that holds the factor. May return before x is there:
  /// later calls of the device come after it.
  /// @throws UsageError if the factor lies on the host
  SolveTrace solve(Operation operation, OnDevice<const T> b, OnDevice<T> x, const SolveRun& run = {}) const;

  /// x ← op(F)⁻¹·b with a single factor, for a plan from plan_solve.
  ///
  /// The factors are those of the matrix with rows and columns permuted, pivoting included, and scalings
  /// undone: P·A·Pᵀ = L·Lᴴ or L·D·Lᴴ (complex symmetric: L·D·Lᵀ), P·A·Qᵀ = L·U; with P =
  /// row.then(pivoted_places) and Q = column of the structure. Scalings are powers of two: undoing them
  /// rounds nothing. D of LLᵀ is the identity.
  /// @param b  n × k in the order of the factors; x: the same; may be the same memory as b
  /// @throws DimensionError; UsageError for a part that the factorization does not have; MemoryError
  /// @cost   half of cost(k), for D O(n·k)
  SolveTrace solve_part(FactorPart part, Operation operation, DenseView<const T> b, DenseView<T> x,
                        const SolveRun& run = {}) const;

  /// Entries of op(A)⁻¹·b for sparse right-hand sides, 64 at a time. Only the branches of the tree that the
  /// entries of b and the wanted rows lie in are visited; where the plan has no such solves (own factors,
  /// devices), whole solves are made. Entries are those of whole solves, bit for bit except for the signs of
  /// zeros, as long as all values are finite.
  ///
  /// @param b  n × m, rows in the user's order
  /// @param x  wanted.rows.size() × wanted.columns.size()
  /// @throws DimensionError if sizes differ or a row or column does not exist; MemoryError
  /// @cost  the panels of the supernodes visited, O(num_supernodes) bytes, workspace as solve
  EntryTrace solve_entries(Operation operation, const SparseMatrix<T>& b, const WantedEntries& wanted,
                           DenseView<T> x, const SolveRun& run = {}) const;

  SolveCost cost(index_t num_rhs) const;
  /// What the plan computed from its factor, where it lies; empty for plans on devices and of own factors.
  PlanValues<T> values() const;
  /// Diagonal blocks that were not inverted since their inverse would grow too much.
  index_t guarded_blocks() const;
  /// Bytes that the plan holds in addition to the factor.
  offset_t memory_bytes() const;

 private:
  std::unique_ptr<const solve_detail::PlanBody<T>> body_;
};

/// The part of a plan that depends only on the structure: tasks, and the places of rows. Constant; all plans
/// for factors with this structure, and with scalars of this size, may share one.
using PlanStructure = solve_detail::SweepGroups;
std::shared_ptr<const PlanStructure> plan_structure(std::shared_ptr<const SymbolicFactor> symbolic,
                                                    ScalarType scalar);

/// Prepare solves with a factor: diagonal blocks inverted, narrow supernodes packed in the order of a sweep,
/// and the task graphs of both sweeps. The plan keeps the factor alive.
/// @param structure  of the factor's symbolic and scalar; built if it is null or belongs to another
/// @param known  values() of a plan with the default options and the same groups for this factor, made by a
///   build of the same plan_layout(): used in place. What does not fit is computed. With a file the factor
///   has no panels, and solves are made by the serial engine, with the bits of all engines, while a thread
///   reads ahead
/// @param store  of plans before this one, which is made in their memory and leaves it there in turn; null:
///   memory of its own. Not used on devices and with `known` values
/// @throws MemoryError; UsageError if the file's values do not fit, or its memory is less than
///   least_panel_memory
/// @cost Σ w³ flops over supernodes of width w, and w²·r for the r rows below narrow ones, whose entries are
///   copied
template <class T>
SolvePlan<T> plan_solve(std::shared_ptr<const Factor<T>> factor, const PlanOptions& options = {},
                        std::shared_ptr<const PlanStructure> structure = nullptr,
                        const PlanValues<T>& known = {}, PlanStore<T>* store = nullptr);

/// Bytes that solves with panels in a file need at least for panels in memory. @param known  with its file
template <class T>
offset_t least_panel_memory(std::shared_ptr<const Factor<T>> factor,
                            std::shared_ptr<const PlanStructure> structure, const PlanValues<T>& known);

/// A number for the way in which this build lays out the panels of a plan: it depends on the width of the
/// processor's registers and on the version of the layout.
index_t plan_layout(ScalarType scalar);

/// Bytes that plan_solve will hold in addition to the factor, and the workspace of one solve with num_rhs
/// right-hand sides.
struct PlanMemory {
  offset_t plan_bytes = 0;
  offset_t structure_bytes = 0;  ///< of these, what plan_structure holds
  offset_t workspace_bytes = 0;
};
PlanMemory predicted_plan_bytes(const SymbolicFactor& symbolic, FactorKind kind, ScalarType scalar,
                                index_t num_rhs);
/// The same for a known structure.
PlanMemory predicted_plan_bytes(const PlanStructure& structure, FactorKind kind, ScalarType scalar,
                                index_t num_rhs);

/// Bytes of a device's memory that a factor takes, and its solves by the tree.
struct DeviceFactorBytes {
  offset_t factor_bytes = 0;
  offset_t flag_bytes = 0;
  offset_t map_bytes = 0;      ///< permutations and scalings of the vectors
  offset_t vector_bytes = 0;   ///< from the first solve on
  offset_t staging_bytes = 0;  ///< from the first solve on with vectors of the host
  offset_t sum() const { return factor_bytes + flag_bytes + map_bytes + vector_bytes + staging_bytes; }
};
/// @tparam T  scalar of the factor
/// @param num_scales  0; 1: rows and columns are scaled alike; 2
template <class T>
DeviceFactorBytes predicted_device_bytes(const SymbolicFactor& symbolic, FactorKind kind, index_t num_rhs,
                                         int num_scales = 0);

struct TriangleOptions {
  bool lower = true;
  bool unit_diagonal = false;  ///< the diagonal is taken as one, whatever is stored
  PlanOptions plan;
};

/// Prepare solves with a given sparse triangular matrix. Entries in the other triangle are ignored, as
/// scipy.sparse.linalg.spsolve_triangular and LAPACK do. A pattern that is closed under elimination (a factor
/// of a direct method) is solved by supernodes, any other (an ILU factor) row by row.
/// @returns the plan, or numerically_singular naming the first row whose diagonal is zero or missing
/// @throws DimensionError if not square; UsageError naming row and column of a value that is not finite
template <class T>
Outcome<SolvePlan<T>> plan_triangle(const SparseMatrix<T>& triangle, const TriangleOptions& options = {});

/// A caller's factors of A: with S = diag(row_scale)·A·diag(column_scale), S(row.new_to_old[i],
///   column.new_to_old[j]) = (L·U)(i, j).
/// Empty U: L·Lᵀ (L·Lᴴ when `hermitian`). Empty permutations: identity. Empty scales: one.
template <class T>
struct OwnFactors {
  SparseMatrix<T> lower;
  SparseMatrix<T> upper;         ///< 0 × 0: absent
  Permutation row;
  Permutation column;
  std::vector<double> row_scale;
  std::vector<double> column_scale;
  bool lower_unit_diagonal = false;
  bool upper_unit_diagonal = false;
  bool hermitian = false;
  /// Inverted diagonal blocks lose digits if they grow. Without A, refinement cannot recover them, so the
  /// limit is low here.
  PlanOptions plan{true, 1e2};
};

/// What plan_own_factors checks, without a plan.
/// @returns nothing, or the failure, as plan_own_factors
/// @throws as plan_own_factors
/// @cost  O(entries)
template <class T>
Outcome<void> check_own_factors(const OwnFactors<T>& factors);

/// @returns the plan, or numerically_singular naming the factor and its first row with a zero or missing
///   diagonal
/// @throws DimensionError, UsageError as plan_triangle, and UsageError naming the place of an entry on the
///   wrong side
template <class T>
Outcome<SolvePlan<T>> plan_own_factors(const OwnFactors<T>& factors);

}  // namespace palmette
