// Part of the door of `solve`: plain triangles over ranks with one device each, whose kernels send to each
// other over a network.
#pragma once

#include <memory>
#include <span>

#include "palmette/device/device.hpp"
#include "palmette/matrix/matrix.hpp"
#include "palmette/solve/plan_options.hpp"
#include "palmette/solve/rank_solve.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

struct RankTriangleOptions {
  bool lower = true;
  bool unit_diagonal = false;  ///< the diagonal is taken as one, whatever is stored
  index_t rank = 0, num_ranks = 1;
  std::shared_ptr<Device> device = nullptr;          ///< this rank's
  std::shared_ptr<DeviceNetwork> network = nullptr;  ///< of the devices of all ranks
  /// The columns are cut into so many tasks for each rank, which are dealt in turn
  index_t tasks_per_rank = WorldOptions().tasks_per_element;
  index_t max_rhs = 64;  ///< right-hand sides of one solve
  /// As in WorldOptions
  std::int64_t most_polls = WorldOptions().most_polls;
};

struct SolveCost;

/// What the kernel of one rank puts into the memory of others.
struct PutTraffic {
  offset_t messages = 0;
  offset_t bytes = 0;
};

namespace solve_detail {
template <class T>
class ColumnRankProgram;
}

/// One rank's part of the solves with a plain triangle of any pattern: a warp for each of its columns
/// [Xie et al. 2021]. One kernel for each rank and solve; who makes a device's last addition to a row of
/// another rank puts its sum there, once for all right-hand sides, and the hosts carry nothing. Sums are
/// added up in the order of time, so bits may differ from solve to solve.
template <class T>
class RankTrianglePlan {
 public:
  explicit RankTrianglePlan(std::unique_ptr<solve_detail::ColumnRankProgram<T>> program);
  ~RankTrianglePlan();
  RankTrianglePlan(RankTrianglePlan&&) noexcept;

  /// Rows whose values this rank provides and receives, ascending.
  std::span<const index_t> rows() const;
  index_t max_rhs() const;

  /// Device memory for solves of this kind with so many right-hand sides; as RankSolvePlan::reserve.
  /// @throws also DimensionError for more than max_rhs(); UsageError for a negative number
  void reserve(Operation operation, index_t num_rhs);
  /// As RankSolvePlan::allocate.
  void allocate();
  /// As RankSolvePlan::check and RankSolvePlan::recover.
  void check();
  void recover(Transport& transport, double watchdog_seconds);
  /// Begin to solve op(T)·x = b. Drive the program until done; then all ranks must agree on something before
  /// the next solve begins.
  ///
  /// @param b, x  rows().size() × k, k ≤ max_rhs(), the same k on all ranks; may be the same memory; must
  ///   live until the program is done
  /// @throws DimensionError if sizes differ; UsageError if the transport has another number of ranks;
  ///   DeviceError if a solve ended early, and its kernels run or have failed
  /// @cost  2·entries·k flops; puts
  RankProgram& begin(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport);

  /// Of one solve by all ranks.
  SolveCost cost(index_t num_rhs) const;
  /// Of one solve by this rank, known before it.
  PutTraffic put_traffic(Operation operation, index_t num_rhs) const;
  /// That this plan has on every rank, for solves with so many right-hand sides. Of each: n sums, and a slot
  /// for each row of the rank and each other rank that adds to it, as many on all ranks as the most have.
  /// Whatever the number: 8 bytes a slot, and 24 for what went wrong.
  offset_t symmetric_bytes(index_t num_rhs) const;
  /// Kernels that this rank has started, in all solves so far.
  offset_t launches() const;
  /// Of this rank, on its device, so far.
  offset_t memory_bytes() const;

 private:
  std::unique_ptr<solve_detail::ColumnRankProgram<T>> program_;
};

/// Every rank must call it with the same triangle, and options that differ in rank and device alone.
/// @param triangle  whole; entries on the other side are ignored
/// @returns the plan, or numerically_singular naming the first row whose diagonal is zero or missing
/// @throws DimensionError if not square; UsageError naming a value that is not finite, for more ranks than a
///   warp has lanes (32), less than one task or right-hand side, and without device or network
/// @cost  O(entries + n·num_ranks) on the host, which keeps the triangle
template <class T>
Outcome<RankTrianglePlan<T>> plan_rank_triangle(const SparseMatrix<T>& triangle,
                                                const RankTriangleOptions& options);

}  // namespace palmette
