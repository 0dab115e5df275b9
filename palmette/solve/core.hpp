// Inside `solve`: the parts of a plan. A core is a triangle, or a product of two, ready for solves; a stage
// says how a core takes part in A.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "palmette/device/device.hpp"
#include "palmette/solve/engines.hpp"
#include "palmette/solve/plan_options.hpp"
#include "palmette/solve/vector_map.hpp"

namespace palmette::solve_detail {

/// Number of right-hand sides that pass through a sweep together.
inline constexpr index_t rhs_block = 64;

/// Engine states that a core may use, one for each of its schedules.
inline constexpr std::size_t states_of_stage = 4;

/// Number of scalars that one solve with a block of right-hand sides needs.
struct WorkspaceNeed {
  offset_t work = 0;      ///< shared by all threads: the vectors between the sweeps
  offset_t boundary = 0;  ///< shared: what groups pass to their parents
  offset_t thread = 0;    ///< for each thread
};

/// Workspace of one solve at a time; kept by the plan for the next one.
template <class T>
struct SolveWorkspace {
  PanelArray<T> work;
  PanelArray<T> boundary;
  PanelArray<T> threads;
  PanelArray<T> middle;  ///< n × block: the vector between two stages
  DeviceArray<T> there;  ///< n × block: the host's vectors on their way through a device
  offset_t thread_stride = 0;
  int most_called = 1;  ///< the most threads that were called to a sweep of this solve
  std::vector<std::unique_ptr<EngineState>> states;  // states_of_stage for each stage

  void called(int count) { most_called = std::max(most_called, count); }
  T* thread(int number) { return threads.data() + number * thread_stride; }
  EngineState& state(index_t slot, const SweepSchedule& schedule) {
    if (!states[slot]) states[slot] = std::make_unique<EngineState>(schedule);
    return *states[slot];
  }
};

/// One block of right-hand sides through one core. A core on a device is given addresses there for `solve`,
/// of vectors and maps, and addresses of the host for `solve_part`.
template <class T>
struct CoreRun {
  Reader<T> in;
  Writer<T> out;  ///< out.to.cols right-hand sides; may be the memory that `in` reads
  SolveWorkspace<T>& workspace;
  index_t slot = 0;  ///< of the core's engine states in workspace.states
  SolveMethod method = SolveMethod::serial;
  ThreadTeam* team = nullptr;

  index_t num_rhs() const { return out.to.cols; }
};

/// Some sparse right-hand sides through one core, and the rows of x that are wanted.
template <class T>
struct EntryRun {
  const SparseMatrix<T>& b;          ///< n × k, rows in the caller's order
  std::span<const index_t> columns;  ///< of b, at most rhs_block
  std::span<const index_t> wanted;   ///< the caller's rows of x
  DenseView<T> x;                    ///< one row for each wanted one, a column for each of `columns`
  IndexMap in = {};                  ///< both with `back`, unless they are the identity
  IndexMap out = {};
  bool conjugated = false;
  bool transposed = false;
  SolveWorkspace<T>* workspace = nullptr;
  SolveMethod method = SolveMethod::serial;
  ThreadTeam* team = nullptr;
};

/// What one solve through a core costs for one right-hand side; flops in real operations.
struct CoreCost {
  double flops = 0;
  double bytes = 0;
  double critical_path_bytes = 0;
  /// with one right-hand side alone; never more than critical_path_bytes
  double critical_path_bytes_of_one = 0;
  /// from this many right-hand sides on, threads share these instead of tasks; 0: never
  index_t rhs_to_share = 0;

  /// The sequential part, for any number of threads.
  double critical_path(index_t num_rhs) const {
    if (rhs_to_share > 0 && num_rhs >= rhs_to_share) return 0;
    return num_rhs == 1 && critical_path_bytes_of_one > 0 ? critical_path_bytes_of_one : critical_path_bytes;
  }
};

/// How a core's matrix S is related to its transpose: symmetric S = Sᵀ, hermitian S = conj(Sᵀ).
enum class Relation { general, symmetric, hermitian };

template <class T>
class SweepCore {
 public:
  virtual ~SweepCore() = default;
  /// out ← S⁻¹·in, or S⁻ᵀ·in; called for the transpose only if relation() is general.
  virtual void solve(bool transposed, const CoreRun<T>& run) const = 0;
  /// out ← op(F)⁻¹·in with one factor of S. Rows that pivoting moved are moved by the run's maps.
  virtual void solve_part(FactorPart, Operation, const CoreRun<T>&) const {
    throw UsageError("a solve with one factor needs a plan that was built from a factor");
  }
  /// What solve_entries will visit; null: the core has no such solves.
  virtual std::shared_ptr<const SolveReach> reach(const EntryRun<T>&) const { return nullptr; }
  virtual void solve_entries(const EntryRun<T>&, const SolveReach&) const {
    throw UsageError("this core has no solves for single entries");
  }
  virtual Relation relation() const { return Relation::general; }
  virtual WorkspaceNeed workspace_need(index_t num_rhs) const = 0;
  virtual CoreCost cost() const = 0;
  virtual index_t guarded_blocks() const { return 0; }
  /// What a core on the host computed from a factor.
  virtual PlanValues<T> values() const { return {}; }
  virtual offset_t memory_bytes() const = 0;
  /// What holds the core; null: the host.
  virtual std::shared_ptr<Device> device() const { return nullptr; }
  virtual SolveWhere where() const { return device() ? SolveWhere::device : SolveWhere::one_machine; }
  /// Its panels stay in a file: solves are serial, one at a time.
  virtual bool is_streamed() const { return false; }
  virtual PanelReads panel_reads() const { return {}; }
  /// Of the devices that hold the core.
  virtual DeviceCounts device_counts() const { return device() ? device()->counts() : DeviceCounts(); }
};

/// A core's part in A, with the maps from the vectors on its two sides to those of its neighbours: for the
/// plain solve `range` maps what it reads (b) and `domain` what it writes (x); for the transposed one the
/// other way round.
template <class T>
struct Stage {
  std::shared_ptr<const SweepCore<T>> core;
  bool transposed = false;  ///< the core is part of A in transposed form
  bool conjugated = false;  ///< and conjugated
  bool is_given = false;    ///< by the caller, whose numbers are taken as they are, subnormal ones too
  IndexMap range;
  IndexMap domain;
  std::shared_ptr<const void> maps;  ///< owner of the arrays of the maps; null: the core keeps them
  offset_t maps_bytes = 0;           ///< of them, if this stage is the only owner; or those on a device
};

}  // namespace palmette::solve_detail
