// Inside `solve`: the kernels of one rank over a network of devices, one for each sweep, their signals, and
// whether all ranks are in the same sweep.
#pragma once

#include <memory>
#include <optional>

#include "palmette/device/device.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette::solve_detail {

/// Symmetric memory that is claimed first, by each rank for itself, and then allocated by all together: who
/// has no room says so before the others wait for it.
class SymmetricMemory {
 public:
  /// Releases what was there. Every rank must call it, with the same size. @throws MemoryError
  void claim(DeviceNetwork& network, std::size_t bytes);
  /// What was claimed, zero. Every rank must call it; does nothing where it is there. @throws MemoryError
  void allocate(DeviceNetwork& network);
  void release() { *this = {}; }
  bool is_there() const { return is_there_; }
  void* get() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> claim_, memory_;
  std::size_t bytes_ = 0;
  bool is_there_ = false;
};

/// All ranks begin the same sweeps, since signals hold the number of a sweep: the plan goes on only if none
/// was left out anywhere.
class NetworkSweeps {
 public:
  /// @param num_signals  of every rank
  NetworkSweeps(std::shared_ptr<DeviceNetwork> network, std::shared_ptr<Device> device, index_t rank,
                std::size_t num_signals);

  DeviceNetwork& network() const { return *network_; }
  /// Of signals and the report behind them. @throws MemoryError; needs no other rank
  void claim_signals();
  /// Every rank must call it.
  void allocate_signals() { signals_.allocate(*network_); }
  device::ElementSignal* signals() const { return static_cast<device::ElementSignal*>(signals_.get()); }
  device::ElementReport* report() const {
    return reinterpret_cast<device::ElementReport*>(signals() + num_signals_);
  }
  offset_t planned_bytes() const {
    return static_cast<offset_t>(num_signals_ * sizeof(device::ElementSignal) +
                                 sizeof(device::ElementReport));
  }
  offset_t memory_bytes() const { return static_cast<offset_t>(signals_.bytes()); }

  /// Before a solve, by each rank for itself. @throws DeviceError if a solve ended early, and the kernels of
  ///   its last sweep run or have failed
  void check();
  /// See RankSolvePlan::recover.
  void recover(Transport& transport, double watchdog_seconds);
  /// The other ranks begin a sweep. If this one does not follow, the plan is of no more use.
  void leave_out() { state_ = State::lost; }
  /// @param call  its argument must live until the kernels have ended
  /// @param number  of the sweep, of all solves. @throws DeviceError
  void begin(int number, const device::KernelCall& call, const device::LaunchShape& shape);
  /// Returns at once: what this rank's kernel has waited for in vain, if it has, when the kernels of all
  /// ranks have ended; nothing before that, and if another rank's has waited in vain. That rank says so.
  /// @throws DeviceError
  std::optional<device::ElementStatus> take_end();
  bool is_stopped() const { return state_ == State::stopped; }

 private:
  enum class State : char {
    none,
    running,
    stopped,  ///< on all ranks: the one that has waited in vain says so
    lost      ///< not begun here, or never to end: other ranks may be in another sweep
  };
  enum class Ending : int { all_have_ended, some_run, too_late, some_failed };
  Ending agreed_ending(Transport& transport, double watchdog_seconds);
  [[noreturn]] void say_who_runs(Transport& transport, double watchdog_seconds) const;
  bool have_ended();
  device::ElementReport take_report();
  [[noreturn]] void refuse(const std::string& who) const;

  std::shared_ptr<DeviceNetwork> network_;
  std::shared_ptr<Device> device_;
  index_t rank_;
  std::size_t num_signals_;
  SymmetricMemory signals_;
  State state_ = State::none;
  int number_ = 0;
};

}  // namespace palmette::solve_detail
