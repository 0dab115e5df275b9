// Which sweep a rank over a network is in, and how its kernels ended.
#include "palmette/solve/network_sweeps.hpp"

#include <sstream>
#include <utility>

namespace palmette::solve_detail {

void SymmetricMemory::claim(DeviceNetwork& network, std::size_t bytes) {
  release();
  claim_ = network.claim(bytes);
  bytes_ = bytes;
}

void SymmetricMemory::allocate(DeviceNetwork& network) {
  if (is_there_) return;
  memory_ = network.allocate(bytes_, std::exchange(claim_, nullptr));
  is_there_ = true;
}

NetworkSweeps::NetworkSweeps(std::shared_ptr<DeviceNetwork> network, std::shared_ptr<Device> device,
                             index_t rank, std::size_t num_signals)
    : network_(std::move(network)), device_(std::move(device)), rank_(rank), num_signals_(num_signals) {}

void NetworkSweeps::claim_signals() {
  if (signals_.bytes() == 0)
    signals_.claim(*network_, static_cast<std::size_t>(planned_bytes()));
}

void NetworkSweeps::begin(int number, const device::KernelCall& call, const device::LaunchShape& shape) {
  leave_out();
  network_->begin(call, shape);
  number_ = number;
  state_ = State::running;
}

bool NetworkSweeps::have_ended() {
  if (state_ != State::running) return false;
  state_ = State::lost;  // if one has failed
  const bool ended = network_->ended();
  if (!ended) state_ = State::running;
  return ended;  // what they report is still to be read
}

device::ElementReport NetworkSweeps::take_report() {
  device::ElementReport found{};
  device_->copy_out(&found, report(), sizeof found);
  if (found.status.gave_up != 0) device_->clear(&report()->status, sizeof found.status);
  state_ = State::none;
  return found;
}

std::optional<device::ElementStatus> NetworkSweeps::take_end() {
  if (!have_ended()) return std::nullopt;
  const device::ElementReport found = take_report();
  if (found.status.gave_up != 0 || found.alarm < static_cast<device::ElementSignal>(number_))
    return found.status;
  state_ = State::stopped;
  return std::nullopt;
}

void NetworkSweeps::refuse(const std::string& who) const {
  throw DeviceError(who +
                    " cannot go on with a plan over a network of devices whose last solve did not end on all "
                    "ranks: start all ranks again, and make their plans anew");
}

void NetworkSweeps::check() {
  const std::string rank = "rank " + std::to_string(rank_);
  try {
    if (have_ended()) (void)take_report();
  } catch (const DeviceError&) {  // it was said when the solve ended
  }
  if (state_ == State::stopped) state_ = State::none;
  if (state_ == State::running)
    throw DeviceError(rank + " begins a solve while kernels of one that ended early run: start all ranks "
                      "again, or call recover of these plans on all ranks first");
  if (state_ == State::lost) refuse(rank);
}

/// Kernels that all ranks have begun end. How they ended was said, or is of no more interest.
void NetworkSweeps::recover(Transport& transport, double watchdog_seconds) {
  const int newest = transport.agree(number_);
  const bool is_behind = transport.agree(newest - number_) != 0;
  if (is_behind || transport.agree(state_ == State::lost ? 1 : 0) != 0) {
    leave_out();
    refuse("the ranks");
  }
  switch (agreed_ending(transport, watchdog_seconds)) {
    case Ending::all_have_ended: state_ = State::none; return;
    case Ending::too_late: say_who_runs(transport, watchdog_seconds);
    case Ending::some_run:
    case Ending::some_failed: break;
  }
  leave_out();
  refuse("the ranks");
}

/// Kernels of others may wait for one that has failed, and clocks differ: so ranks agree in every turn.
NetworkSweeps::Ending NetworkSweeps::agreed_ending(Transport& transport, double watchdog_seconds) {
  const Stopwatch since;
  bool has_failed = false;
  for (int turns = 0;; ++turns) {
    try {
      if (have_ended()) (void)take_report();
    } catch (const DeviceError&) {
      has_failed = true;
    }
    const bool is_late = watchdog_seconds > 0 && since.seconds() >= watchdog_seconds;
    Ending mine = Ending::all_have_ended;
    if (has_failed)
      mine = Ending::some_failed;
    else if (state_ == State::running)
      mine = is_late ? Ending::too_late : Ending::some_run;
    const auto worst = static_cast<Ending>(transport.agree(static_cast<int>(mine)));
    if (worst != Ending::some_run) return worst;
    wait_politely(turns);
  }
}

/// Their kernels may still end: the ranks may call recover again.
void NetworkSweeps::say_who_runs(Transport& transport, double watchdog_seconds) const {
  const bool runs = state_ == State::running;
  const int num_ranks = transport.num_ranks();
  const int first = num_ranks - transport.agree(runs ? num_ranks - transport.rank() : 0);
  const auto all = static_cast<int>(transport.sum(runs ? 1 : 0));
  std::ostringstream said;
  said << "the ranks have waited " << watchdog_seconds
       << " s for kernels of a solve that ended early, and that of rank " << first << " still runs";
  if (all > 1) said << ", with those of " << all - 1 << (all == 2 ? " other rank" : " other ranks");
  said << ": call recover of these plans again on all ranks, or start all again and make their plans anew";
  throw DeviceError(said.str());
}

}  // namespace palmette::solve_detail
