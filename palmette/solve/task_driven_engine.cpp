// The task-driven engine: the sweep as a RankProgram, the state machine that transports drive. With one rank
// nothing is sent, so no message can arrive; only the tasks' counters decide.
#include "palmette/solve/engines.hpp"

namespace palmette::solve_detail {
namespace {

class SweepProgram final : public RankProgram {
 public:
  SweepProgram(ReadyTasks& ready, SweepBody& body, std::atomic<bool>& failed)
      : ready_(ready), body_(body), failed_(failed) {}

  void start() override { ready_.reset(); }

  void on_message(const Message& message) override {
    throw UsageError("a sweep on one rank got a message with tag " + std::to_string(message.tag) +
                     ": the transport must be its own");
  }

  bool run_one_task(int thread) override {
    if (failed_.load(std::memory_order_relaxed)) return false;
    const index_t task = ready_.take();
    if (task < 0) return false;
    try {
      body_.run_task(task, thread);
    } catch (...) {
      failed_.store(true, std::memory_order_release);
      throw;
    }
    ready_.finish(task);
    return true;
  }

  /// The plan has set it.
  ArithmeticMode mode() const override { return ArithmeticMode::of_this_thread(); }

  bool done() const override { return failed_.load(std::memory_order_acquire) || ready_.all_finished(); }

 private:
  ReadyTasks& ready_;
  SweepBody& body_;
  std::atomic<bool>& failed_;
};

}  // namespace

int run_task_driven(const SweepRun& run) {
  EngineState& state = run.state;
  if (!state.ready) state.ready = std::make_unique<ReadyTasks>(run.schedule.graph);
  if (!state.transport) state.transport = make_loopback();
  state.failed.store(false, std::memory_order_relaxed);
  SweepProgram program(*state.ready, run.body, state.failed);
  if (run.team != nullptr) return drive(program, *state.transport, *run.team);
  ThreadTeam alone(1);
  return drive(program, *state.transport, alone);
}

}  // namespace palmette::solve_detail
