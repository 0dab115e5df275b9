// Inside `solve`: the state machine of a rank whose part of the factor lies on its device. The device runs
// the tasks of one element of a world; the hosts carry what elements send each other, or the devices do so
// themselves, over a network.
#pragma once

#include <optional>

#include "palmette/solve/device_schedule.hpp"
#include "palmette/solve/diagonal_handing.hpp"
#include "palmette/solve/element.hpp"
#include "palmette/solve/network_sweeps.hpp"
#include "palmette/solve/rank_program.hpp"

namespace palmette::solve_detail {

/// x has the bits that a world of devices in one process has with the same placement, since the same kernels
/// run the same tasks; a launch takes all tasks whose input has come, and those that wait for these alone.
/// Over a network, one launch takes all tasks of a sweep.
template <class T>
class DeviceRankProgram final : public SolveProgram<T> {
 public:
  /// @throws UsageError for a network without the memory kind symmetric, or this without a network
  DeviceRankProgram(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options);

  RankProgram& preparation(Transport& transport);
  /// Behind the preparation: this rank's part to its device. @throws MemoryError; needs no other rank
  void load();
  /// Room for so many right-hand sides; see RankSolvePlan.
  void reserve(index_t num_rhs);
  void allocate();
  void check() {
    if (network_) network_->check();
  }
  void recover(Transport& transport, double watchdog_seconds) {
    if (network_) network_->recover(transport, watchdog_seconds);
  }
  const std::vector<index_t>& rows() const { return rows_; }
  index_t guarded_blocks() const { return guarded_blocks_; }
  offset_t memory_bytes() const;
  MemoryKind memory_kind() const { return memory_; }
  const CarriedCounts& carried() const { return carried_; }

  void reset(const ProgramRun<T>& run, Transport& transport) override;
  void start() override;
  void on_message(const Message& message) override;
  bool run_one_task(int thread) override;
  bool done() const override { return done_.load(std::memory_order_acquire); }
  double last_cost() const override { return 0; }
  TaskNote last_task(int thread) const override;
  std::string waiting_for() const override;

 private:
  const SweepStep& step() const { return steps_.step[at_]; }
  SweepTasks& tasks() { return schedule_->sweep(step().forward); }
  void choose_memory(Transport& transport);
  void put_on_device(const std::map<index_t, SharedBytes>& diagonal_blocks);
  /// The triangle's blocks and those of others.
  ElementPanels<T> panels_of(const SupernodalTriangle<T>& own, bool upper,
                             const std::map<index_t, SharedBytes>& diagonal_blocks);
  void make_room(index_t stride);
  void make_room_for_messages();
  void release_room();
  void move_rows(bool to_device);
  void begin_sweep();
  void begin_kernel();
  bool kernel_has_ended();
  device::ElementSweep<T> sweep_arguments();
  device::KernelCall call_of(const device::ElementSweep<T>& a) const;
  void end_sweep();
  void put(int signal, const SharedBytes& payload);
  void launch(const std::vector<int>& batch);
  void send_after(const std::vector<int>& batch);
  SharedBytes payload_of(const RowsToSend& rows);
  T* shared_values() const { return network_ ? static_cast<T*>(symmetric_.get()) : shared_.data(); }
  T* store_row(long long row) {
    return row < shared_rows_ ? shared_values() + row * stride_
                              : element_->local.data() + (row - shared_rows_) * stride_;
  }

  std::shared_ptr<const RankFactor<T>> factor_;
  RankPlanOptions options_;
  HostElement host_;
  std::optional<DeviceSchedule> schedule_;
  std::optional<DiagonalHanding<T>> handing_;
  std::optional<std::map<index_t, SharedBytes>> diagonal_blocks_;  // of the preparation, until load
  long long shared_rows_ = 0;
  int widest_ = 0;
  std::vector<index_t> rows_;
  index_t guarded_blocks_ = 0;
  MemoryKind memory_ = MemoryKind::automatic;
  BytePool on_host_;
  std::shared_ptr<BytePool> on_device_;

  std::optional<Element<T>> element_;
  DeviceArray<T> shared_;                      // hosts carry messages
  std::optional<NetworkSweeps> network_;       // kernels send
  SymmetricMemory symmetric_;                  // their shared rows
  device::ElementSweep<T> running_;
  DeviceArray<int> order_;
  index_t room_ = 0;  // right-hand sides for which there is memory
  index_t message_room_ = 0;  // likewise, of native messages
  int sweep_ = 0;  // number of the last one, of all solves
  CarriedCounts carried_;

  // Of one solve.
  Transport* transport_ = nullptr;
  DenseView<const T> b_;
  DenseView<T> x_;
  bool conjugated_ = false;
  SweepOrder steps_;
  int at_ = 0;  // in steps_
  std::vector<char> has_come_;                            // by signal
  std::vector<std::pair<int, SharedBytes>> early_;        // for the other sweep
  index_t stride_ = 1;  // right-hand sides, padded
  std::atomic<bool> done_{true};
};

}  // namespace palmette::solve_detail
