// Inside `solve`: the state machine of a rank that has columns of a plain triangle on its device. One kernel
// for each rank solves; kernels put what their columns add to rows of others over the network
// [Xie et al. 2021].
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "palmette/solve/element_columns.hpp"
#include "palmette/solve/network_sweeps.hpp"
#include "palmette/solve/rank_program.hpp"
#include "palmette/solve/rank_triangle.hpp"

namespace palmette::solve_detail {

/// The order of additions depends on time, so bits may differ from solve to solve.
template <class T>
class ColumnRankProgram final : public SolveProgram<T> {
 public:
  /// @throws UsageError as plan_rank_triangle
  ColumnRankProgram(LowerTriangle<T> triangle, const RankTriangleOptions& options);

  const std::vector<index_t>& rows() const { return rows_; }
  int num_ranks() const { return deal_.elements; }
  index_t max_rhs() const { return options_.max_rhs; }
  index_t size() const { return triangle_.size(); }
  CoreCost cost() const { return cost_of_entries(triangle_); }
  /// See RankTrianglePlan, as those that follow.
  void reserve(Operation operation, index_t num_rhs);
  void allocate();
  void check() { sweeps_.check(); }
  void recover(Transport& transport, double watchdog_seconds) {
    sweeps_.recover(transport, watchdog_seconds);
  }
  PutTraffic put_traffic(Operation operation, index_t num_rhs) const;
  offset_t symmetric_bytes(index_t num_rhs) const {
    return static_cast<offset_t>(bytes_of_sums(num_rhs)) + sweeps_.planned_bytes();
  }
  offset_t launches() const { return launches_; }
  offset_t memory_bytes() const;

  void reset(const ProgramRun<T>& run, Transport& transport) override;
  void start() override;
  void on_message(const Message& message) override;
  bool run_one_task(int thread) override;
  bool done() const override { return done_.load(std::memory_order_acquire); }
  std::string waiting_for() const override;
  /// The caller's numbers are taken as they are, subnormal ones too.
  ArithmeticMode mode() const override { return ArithmeticMode::of_this_thread(); }

 private:
  /// Lᵀ is solved by plain solves with an upper triangle, and by transposed ones with a lower one.
  bool turns(Operation operation) const { return (operation != Operation::plain) == options_.lower; }
  const ColumnsThere<T>& columns(bool transposed);
  std::size_t bytes_of_sums(index_t num_rhs) const {
    return (static_cast<std::size_t>(triangle_.size()) + num_slots_) * static_cast<std::size_t>(num_rhs) *
           sizeof(T);
  }
  void make_room(index_t num_rhs);
  /// Of the k-th own column in the order of the solve: which of this rank's rows it is.
  index_t place_of(std::size_t k) const;
  void load(const ColumnsThere<T>& a);
  void begin_kernel(const ColumnsThere<T>& a);
  void store();
  std::string words_of_missing(const ColumnsThere<T>& a, const device::ElementStatus& status) const;
  T* sums() const { return static_cast<T*>(sums_.get()); }

  LowerTriangle<T> triangle_;
  RankTriangleOptions options_;
  ColumnDeal deal_;
  std::size_t num_slots_;  // of each rank
  NetworkSweeps sweeps_;   // its signals: by slot, whether the sum has come
  std::vector<index_t> rows_;
  std::optional<ColumnsThere<T>> columns_[2];  // plain, transposed
  SymmetricMemory sums_;  // n × room: this rank's; slots × room: those that others put
  DeviceArray<T> b_there_, x_there_;
  DeviceArray<int> remaining_, ticket_;
  index_t room_ = 0;  // right-hand sides
  int sweep_ = 0;     // number of the last one, of all solves
  offset_t launches_ = 0;

  // Of one solve.
  device::ColumnSweep<T> running_{};
  index_t rank_ = 0;
  DenseView<const T> b_;
  DenseView<T> x_;
  bool transposed_ = false, conjugated_ = false;
  std::atomic<bool> done_{true};
};

}  // namespace palmette::solve_detail
