// A rank under SimGrid: the real program and transport, with the machine's seconds charged between them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <mpi.h>

#include "palmette/transport/transport.hpp"

namespace palmette::testing {

/// Advances SimGrid's clock by this many seconds for this rank. Hosts of the platform compute 10⁹ flops/s.
inline void pass(double seconds) {
  if (seconds > 0) smpi_execute_flops(seconds * 1e9);
}

/// Holds the messages of a task until the task has been charged; then each message costs its sender the
/// overhead of its link.
class ChargedTransport final : public TransportWrapper {
 public:
  ChargedTransport(Transport& inner, const Cluster& cluster) : TransportWrapper(inner), cluster_(cluster) {}
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    held_.push_back({destination, tag, std::move(payload)});
  }
  /// Time must advance while a rank has nothing to do.
  void rest(int) override { pass(nap); }

  void release() {
    for (Held& one : held_) {
      pass(cluster_.link(rank(), one.destination).send_overhead_us * 1e-6);
      inner_.send(one.destination, one.tag, std::move(one.payload));
      inner_.flush();
    }
    sent_ += static_cast<std::int64_t>(held_.size());
    held_.clear();
  }
  std::int64_t sent() const { return sent_; }

  static constexpr double nap = 5e-8;

 private:
  struct Held {
    index_t destination;
    std::int64_t tag;
    SharedBytes payload;
  };
  const Cluster& cluster_;
  std::vector<Held> held_;
  std::int64_t sent_ = 0;
};

class ChargedProgram final : public RankProgram {
 public:
  ChargedProgram(RankProgram& inner, ChargedTransport& transport, const Cluster& cluster, double read_gbs)
      : inner_(inner), transport_(transport), cluster_(cluster), read_gbs_(read_gbs) {}
  void start() override {
    inner_.start();
    transport_.release();
  }
  void on_message(const Message& message) override {
    pass(cluster_.link(message.source, transport_.rank()).receive_overhead_us * 1e-6);
    inner_.on_message(message);
    transport_.release();
  }
  bool run_one_task(int member) override {
    if (!inner_.run_one_task(member)) return false;
    const TaskNote note = inner_.last_task(member);
    pass(cluster_.rank_seconds(note.work, read_gbs_));
    if (note.phase == SweepPhase::forward) forward_end_ = MPI_Wtime();
    transport_.release();
    return true;
  }
  bool done() const override { return inner_.done(); }
  std::string waiting_for() const override { return inner_.waiting_for(); }
  double forward_end() const { return forward_end_; }

 private:
  RankProgram& inner_;
  ChargedTransport& transport_;
  const Cluster& cluster_;
  double read_gbs_;
  double forward_end_ = 0;
};

struct ChargedRun {
  double seconds = 0;          ///< from the moment at which all ranks began until the last was done
  double forward_seconds = 0;  ///< until the last task of the forward sweep
  std::int64_t messages = 0;
};

inline double largest(double value) {
  double result = value;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

/// All ranks begin at one moment of SimGrid's clock. Every rank must call it, and gets the same.
inline ChargedRun run_charged(ChargedProgram& program, ChargedTransport& transport) {
  constexpr double ahead = 1e-2;
  const double begin = largest(MPI_Wtime()) + ahead;
  pass(begin - MPI_Wtime());
  ThreadTeam team(1);
  drive(program, transport, team);
  ChargedRun run;
  run.seconds = largest(MPI_Wtime()) - begin;
  run.forward_seconds = std::max(0.0, largest(program.forward_end()) - begin);
  const std::int64_t sent = transport.sent();
  MPI_Allreduce(&sent, &run.messages, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return run;
}

}  // namespace palmette::testing
