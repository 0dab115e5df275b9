// A small rank program for the tests of transports: the tasks of a random directed acyclic graph are
// distributed over ranks, a task's value is computed from its number and its predecessors' values in
// ascending order, and values are sent as messages. Whatever the order of delivery, every value must be the
// one that a serial pass finds.
#pragma once

#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "palmette/transport/transport.hpp"

namespace palmette::testing_transport {

struct Dag {
  index_t num_ranks = 1;
  std::vector<index_t> owner;                     // length num_tasks
  std::vector<std::vector<index_t>> predecessors;  // ascending, smaller numbers
  std::vector<std::vector<index_t>> successors;

  index_t num_tasks() const { return static_cast<index_t>(owner.size()); }
};

inline Dag random_dag(index_t num_tasks, index_t num_ranks, double density, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Dag dag{num_ranks,
          {},
          std::vector<std::vector<index_t>>(num_tasks),
          std::vector<std::vector<index_t>>(num_tasks)};
  for (index_t task = 0; task < num_tasks; ++task) {
    dag.owner.push_back(static_cast<index_t>(random() % static_cast<std::uint64_t>(num_ranks)));
    for (index_t earlier = 0; earlier < task; ++earlier)
      if (static_cast<double>(random() % 1000) < 1000 * density) {
        dag.predecessors[task].push_back(earlier);
        dag.successors[earlier].push_back(task);
      }
  }
  return dag;
}

/// Depends on the order of the predecessors, like a floating-point sum.
inline std::uint64_t value_of(index_t task, const std::vector<std::uint64_t>& predecessor_values) {
  std::uint64_t value = 0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(task + 1);
  for (const std::uint64_t other : predecessor_values) value = (value ^ other) * 0xD6E8FEB86659FD93ull + 1;
  return value;
}

inline std::vector<std::uint64_t> serial_values(const Dag& dag) {
  std::vector<std::uint64_t> values;
  for (index_t task = 0; task < dag.num_tasks(); ++task) {
    std::vector<std::uint64_t> inputs;
    for (const index_t earlier : dag.predecessors[task]) inputs.push_back(values[earlier]);
    values.push_back(value_of(task, inputs));
  }
  return values;
}

class DagProgram final : public RankProgram {
 public:
  DagProgram(const Dag& dag, Transport& transport, std::size_t payload_bytes = sizeof(std::uint64_t))
      : dag_(dag),
        transport_(transport),
        payload_bytes_(payload_bytes),
        known_(dag.owner.size()),
        value_(dag.owner.size()) {}

  void start() override {
    for (index_t task = 0; task < dag_.num_tasks(); ++task)
      if (mine(task)) {
        missing_[task] = static_cast<index_t>(dag_.predecessors[task].size());
        ++left_;
        if (missing_[task] == 0) ready_.insert(task);
      }
  }
  void on_message(const Message& message) override {
    const std::lock_guard lock(mutex_);
    const auto task = static_cast<index_t>(message.tag);
    if (known_[task]) throw UsageError("the value of task " + std::to_string(task) + " arrived twice");
    if (message.source != dag_.owner[task]) throw UsageError("a message with a wrong source");
    if (message.payload.size() != payload_bytes_) throw UsageError("a message of a wrong size");
    std::uint64_t value = 0;
    std::memcpy(&value, message.payload.data(), sizeof value);
    learn(task, value);
  }
  bool run_one_task(int) override {
    index_t task = 0;
    std::vector<std::uint64_t> inputs;
    {
      const std::lock_guard lock(mutex_);
      if (ready_.empty()) return false;
      task = *ready_.begin();
      ready_.erase(ready_.begin());
      for (const index_t earlier : dag_.predecessors[task]) inputs.push_back(value_[earlier]);
    }
    const std::uint64_t value = value_of(task, inputs);
    publish(task, value);
    const std::lock_guard lock(mutex_);
    learn(task, value);
    --left_;
    return true;
  }
  bool done() const override {
    const std::lock_guard lock(mutex_);
    return left_ == 0;
  }
  std::string waiting_for() const override {
    const std::lock_guard lock(mutex_);
    for (const auto& [task, count] : missing_)
      if (count > 0)
        for (const index_t earlier : dag_.predecessors[task])
          if (!known_[earlier])
            return "value " + std::to_string(earlier) + " from rank " + std::to_string(dag_.owner[earlier]);
    return "nothing";
  }
  double last_cost() const override { return 1; }
  /// Values of this rank's tasks, by task.
  std::map<index_t, std::uint64_t> results() const {
    std::map<index_t, std::uint64_t> mine_only;
    for (index_t task = 0; task < dag_.num_tasks(); ++task)
      if (mine(task)) mine_only[task] = value_[task];
    return mine_only;
  }

 private:
  bool mine(index_t task) const { return dag_.owner[task] == transport_.rank(); }
  void learn(index_t task, std::uint64_t value) {
    known_[task] = true;
    value_[task] = value;
    for (const index_t later : dag_.successors[task])
      if (mine(later) && --missing_[later] == 0) ready_.insert(later);
  }
  void publish(index_t task, std::uint64_t value) {
    std::set<index_t> destinations;
    for (const index_t later : dag_.successors[task])
      if (!mine(later)) destinations.insert(dag_.owner[later]);
    if (destinations.empty()) return;
    SharedBytes payload = pool_.take(payload_bytes_);
    std::memset(payload.writable().data(), 0, payload_bytes_);
    std::memcpy(payload.writable().data(), &value, sizeof value);
    for (const index_t destination : destinations) transport_.send(destination, task, payload);
  }

  const Dag& dag_;
  Transport& transport_;
  std::size_t payload_bytes_;
  BytePool pool_;
  mutable std::mutex mutex_;
  std::vector<char> known_;
  std::vector<std::uint64_t> value_;
  std::map<index_t, index_t> missing_;
  std::set<index_t> ready_;
  index_t left_ = 0;
};

/// What each rank receives, with messages of `payload_bytes`.
inline TransportPlan plan_of(const Dag& dag, std::size_t payload_bytes) {
  TransportPlan plan;
  for (index_t receiver = 0; receiver < dag.num_ranks; ++receiver) {
    std::map<index_t, std::set<index_t>> from;
    for (index_t task = 0; task < dag.num_tasks(); ++task)
      for (const index_t later : dag.successors[task])
        if (dag.owner[later] == receiver && dag.owner[task] != receiver) from[dag.owner[task]].insert(task);
    std::vector<Inbound> inbound;
    for (const auto& [source, tasks] : from)
      inbound.push_back({source, static_cast<std::int64_t>(tasks.size()),
                         static_cast<std::int64_t>(tasks.size() * payload_bytes)});
    plan.inbound.push_back(inbound);
  }
  return plan;
}

/// Messages that the graph needs: one for each task and rank that waits for it.
inline std::int64_t messages_of(const Dag& dag) {
  std::int64_t messages = 0;
  for (index_t task = 0; task < dag.num_tasks(); ++task) {
    std::set<index_t> destinations;
    for (const index_t later : dag.successors[task])
      if (dag.owner[later] != dag.owner[task]) destinations.insert(dag.owner[later]);
    messages += static_cast<std::int64_t>(destinations.size());
  }
  return messages;
}

}  // namespace palmette::testing_transport
