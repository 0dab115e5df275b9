// Part of the door of `solve`: solves with a factor whose blocks are distributed over ranks.
#pragma once

#include <memory>
#include <span>

#include "palmette/blocks/blocks.hpp"
#include "palmette/device/device.hpp"
#include "palmette/solve/plan_options.hpp"
#include "palmette/tasks/tasks.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

/// How what a device found reaches the device of another rank.
enum class MemoryKind {
  automatic,  ///< native where device and transport can, else reference
  native,     ///< the transport is given addresses on the device
  reference,  ///< copied to the host, sent from there, and copied from the other host to its device
  symmetric   ///< kernels put it into memory of a DeviceNetwork; hosts carry nothing
};
inline constexpr MemoryKind memory_kinds[] = {MemoryKind::automatic, MemoryKind::native,
                                              MemoryKind::reference, MemoryKind::symmetric};
constexpr std::string_view name_of(MemoryKind kind) {
  constexpr std::string_view names[] = {"auto", "native", "reference", "symmetric"};
  return names[static_cast<int>(kind)];
}

/// What the hosts of devices have carried, in all solves so far.
struct CarriedCounts {
  offset_t launches = 0;
  offset_t messages = 0;
  offset_t bytes = 0;       ///< of their payloads
  offset_t copies_out = 0;  ///< of payloads from devices to hosts
  offset_t bytes_out = 0;
  offset_t copies_in = 0;   ///< from hosts to devices
  offset_t bytes_in = 0;
  offset_t copies_there = 0;  ///< within devices, or from one to another
  offset_t bytes_there = 0;

  /// Each count ← function(each count here, each there).
  template <class Function>
  CarriedCounts with(const CarriedCounts& other, Function&& of) const {
    return {of(launches, other.launches),     of(messages, other.messages),
            of(bytes, other.bytes),           of(copies_out, other.copies_out),
            of(bytes_out, other.bytes_out),   of(copies_in, other.copies_in),
            of(bytes_in, other.bytes_in),     of(copies_there, other.copies_there),
            of(bytes_there, other.bytes_there)};
  }
  CarriedCounts operator+(const CarriedCounts& other) const {
    return with(other, [](offset_t a, offset_t b) { return a + b; });
  }
  CarriedCounts operator-(const CarriedCounts& other) const {
    return with(other, [](offset_t a, offset_t b) { return a - b; });
  }
};

/// What one message between devices of two ranks takes, predicted: natively as the link says; by way of the
/// hosts a copy over the bus comes before and one behind, each whole.
/// @param device  its bus_gbs and bus_latency_us
double carried_seconds(MemoryKind kind, std::size_t bytes, const Link& link, const Cluster& device);

struct RankPlanOptions {
  TreeShape trees = TreeShape::binary;
  PlanOptions plan;
  index_t max_rhs = 64;  ///< right-hand sides of one solve
  /// right-hand sides are solved in so many groups of columns, side by side: messages of one group travel
  /// while another is computed; the factor is read for each. x keeps its bits. With a device: 1
  index_t rhs_groups = 1;
  int threads = 1;       ///< threads that will drive a solve
  /// Of the factor's structure and placement, with these trees: shared by the plans of ranks in one process.
  /// Null: built for this plan.
  std::shared_ptr<const ExchangePlan> structure = nullptr;
  /// Of the layer to which the factor belongs; null: there is only one layer.
  std::shared_ptr<const LayerSystem> layer = nullptr;
  /// This rank's, which holds its part of the factor and solves; all ranks have one. Null: the host
  std::shared_ptr<Device> device = nullptr;
  MemoryKind memory = MemoryKind::automatic;
  /// With the memory kind symmetric: of the devices of all ranks
  std::shared_ptr<DeviceNetwork> network = nullptr;
  /// As in WorldOptions, of the memory kind symmetric
  std::int64_t most_polls = WorldOptions().most_polls;
  /// With a device: those of all layers
  std::shared_ptr<const std::vector<LayerSystem>> systems = nullptr;
};

/// An entry of a right-hand side.
template <class T>
struct RankEntry {
  index_t row = 0;  ///< number in RankSolvePlan::rows
  index_t column = 0;
  T value = T(0);
};

/// Right-hand sides with few entries, and rows of x that are wanted.
template <class T>
struct RankEntries {
  /// Rows of the permuted matrix in which b has entries, and wanted rows of x: the same on all ranks of a
  /// layer, in any order. A layer may leave out rows that it does not have.
  std::span<const index_t> given, wanted;
  std::span<const RankEntry<T>> own;    ///< of b in this rank's rows, all given; each place once
  std::span<const index_t> own_wanted;  ///< wanted, this rank's: numbers in its rows, ascending, each once
};

/// What a rank does of a solve.
struct RankCounts {
  double entries = 0;         ///< of panels that both sweeps read, on all ranks of the layer
  std::int64_t messages = 0;  ///< that this rank sends, of all groups of right-hand sides
  offset_t scalars = 0;       ///< in them, with what pads rows of right-hand sides
};

/// One rank's part of the solves with a factor: built once, with all memory that a solve needs.
///
/// Message-driven: a value is sent down its column to the ranks that have blocks there, contributions are
/// sent to the rank of their row; a task runs as soon as its input has arrived. Contributions are added in an
/// order that depends only on the structure (a contribution that may not be added yet is passed on
/// unchanged), so x has the same bits for any placement with the same units, any tree, transport and number
/// of threads. With several layers, its last bits also depend on the method and the number of layers, because
/// each layer forms partial sums before they are added.
template <class T>
class RankSolvePlan {
 public:
  /// @param factor  this rank's, or its part of a layer's system, from LayerFactorHanding or rank_part; the
  ///   plan keeps it alive
  /// @throws UsageError if the factor is not of options.layer; MemoryError
  /// @cost Σ w³ flops over the rank's diagonal blocks of width w; solve_exchange
  RankSolvePlan(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options = {});
  ~RankSolvePlan();
  RankSolvePlan(RankSolvePlan&&) noexcept;

  /// What must be driven once, on all ranks together, before the first solve: null, or ranks with devices
  /// give each other diagonal blocks, by which each multiplies its blocks below them. Then all ranks must
  /// agree on something.
  /// @throws UsageError if the transport cannot send from the memory of devices, and that was asked for
  RankProgram* preparation(Transport& transport);
  /// Behind the preparation: this rank's part of the factor to its device. The first solve does it otherwise,
  /// but then the other ranks wait in vain where one has no room. @throws MemoryError; needs no other rank
  void load();
  /// Claims device memory for solves with so many right-hand sides; else begin does it, with the same remark.
  /// Every rank must call it, with the same number, and then `allocate` if it threw on none; if it threw on
  /// one, all must reserve again before they begin. Over a network, memory that has become too small is
  /// released by all ranks together: all must agree on `check` first.
  /// @throws MemoryError by this rank alone; DeviceError as check
  void reserve(index_t num_rhs);
  /// What all ranks have reserved: no later solve with at most as many right-hand sides asks for more. Every
  /// rank must call it. @throws MemoryError
  void allocate();
  /// Whether solves can begin; over other than a network of devices they always can. Needs no other rank.
  /// @throws DeviceError if a solve ended early, and its kernels run or have failed
  void check();
  /// After a solve over a network of devices that ended early on any rank: waits for its kernels. Every rank
  /// must call it.
  /// @param transport  over which nobody has ended the run: a solve that threw inside `exchange` has ended
  ///   that of its own
  /// @param watchdog_seconds  for kernels to end; 0: it waits forever
  /// @throws DeviceError, on all ranks the same, if their devices are not in the same sweep, or, naming the
  ///   first rank whose kernel runs, if the time is over: then they may call it again; BrokenRun
  void recover(Transport& transport, double watchdog_seconds);

  /// Rows of the permuted matrix whose values this rank provides and receives, ascending. Each row belongs to
  /// one rank of all layers.
  std::span<const index_t> rows() const;
  index_t max_rhs() const;

  /// Begin to solve op(S)·x = b, S being the permuted and scaled matrix that was factored. Drive the program
  /// until done; then all ranks must agree on something before the next solve begins, so that messages of the
  /// two do not mix.
  ///
  /// @param b, x  rows().size() × k, k ≤ max_rhs(); may be the same memory; must live until the program is
  ///   done
  /// @param transport  of the ranks of all layers
  /// @throws DimensionError if sizes differ; UsageError if the transport has another number of ranks
  /// @cost 4·entries·k flops over both sweeps; allocates nothing once messages of these sizes have been sent
  RankProgram& begin(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport);

  /// Begin to solve for single entries: only the branches of the tree that the entries of b and the wanted
  /// rows lie in are visited, and only messages between them are sent. In several layers, all that they share
  /// is visited. What is found has the bits of a solve with all entries, except for the sign of zeros.
  ///
  /// @param entries  what its spans refer to must live until the program is done
  /// @param x  entries.own_wanted.size() × k, k ≤ max_rhs(): the wanted rows of this rank, in their order
  /// @throws DimensionError; UsageError as begin, if a device holds the factor, if a row or a column does not
  ///   exist, if an entry lies in a row that is not given, or if own_wanted is not ascending or not wanted
  /// @cost   O(supernodes) and O(tasks of the rank) bytes; flops, tasks and messages of the visited branches;
  ///   the given and the wanted rows are sorted once more for the checks
  RankProgram& begin_entries(Operation operation, const RankEntries<T>& entries, DenseView<T> x,
                             Transport& transport);
  /// Of the last begin_entries.
  RankCounts entry_counts() const;
  /// Of any other solve with so many right-hand sides; without a device.
  RankCounts counts(index_t num_rhs) const;

  /// Diagonal blocks of this rank that were not inverted since their inverse would grow too much.
  index_t guarded_blocks() const;
  /// Which was chosen at the preparation; without a device: automatic.
  MemoryKind memory_kind() const;
  /// Of this rank's device.
  CarriedCounts carried() const;
  /// Bytes that the plan holds in addition to the factor.
  offset_t memory_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palmette
