// A list schedule by events: a message arrives, or a rank is free.
#include "palmette/predict/schedule.hpp"

#include <algorithm>
#include <queue>

#include "palmette/predict/packets.hpp"
#include "palmette/simulate/simulate.hpp"

namespace palmette {
namespace {

struct TaskEvent {
  enum class Kind : char { departure, arrival, turn, finish };
  Kind kind = Kind::turn;
  index_t rank = 0;   // turn
  offset_t at = 0;    // an edge or a packet: departure, arrival; a task: finish
};

struct Ready {
  double priority = 0;
  index_t task = 0;
  bool operator<(const Ready& other) const {
    return priority != other.priority ? priority < other.priority : task > other.task;
  }
};

struct RankState {
  std::priority_queue<Ready> ready;
  std::vector<offset_t> inbox;
  double free_at = 0;        ///< when its last worker became free
  index_t busy = 0;          ///< workers that run a task
  bool turn_planned = false;
  Launches launches;
  OpenPackets open;          ///< with packing
  index_t last_task = -1;    ///< that ended
};

/// When each task began and ended, and after which other task it began.
struct TaskHistory {
  explicit TaskHistory(std::size_t tasks) : step(tasks), before(tasks, -1) {}

  /// The tasks that led to the last one to end, each of which began after the one before it.
  std::vector<PathStep> path() const {
    std::vector<PathStep> found;
    for (index_t at = last; at != -1; at = before[at]) {
      PathStep one = step[at];
      one.task = at;
      one.message_seconds = before[at] == -1 ? 0 : std::max(0.0, one.begin - step[before[at]].end);
      found.push_back(one);
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  std::vector<PathStep> step;
  std::vector<index_t> before;  // −1: none
  index_t last = -1;            // to end
};

class Scheduler {
 public:
  Scheduler(const SolveGraph& tasks, const RankRates& rates, const std::optional<Packing>& packing)
      : tasks_(tasks),
        rates_(rates),
        packing_(packing),
        interconnect_(rates.cluster, tasks.num_ranks),
        ranks_(tasks.num_ranks),
        waits_(tasks.tasks.size()),
        history_(tasks.tasks.size()) {
    for (const SolveEdge& edge : tasks.edges) ++waits_[edge.to];
    result_.busy_seconds.assign(ranks_.size(), 0);
    result_.message_seconds.assign(ranks_.size(), 0);
  }

  Schedule run() {
    for (index_t task = 0; task < tasks_.num_tasks(); ++task)
      if (waits_[task] == 0) make_ready(task);
    for (index_t rank = 0; rank < tasks_.num_ranks; ++rank) plan_turn(rank, 0);
    events_.run([this](double now, const TaskEvent& event) {
      if (event.kind == TaskEvent::Kind::departure) depart(now, event);
      else if (event.kind == TaskEvent::Kind::arrival) arrive(now, event);
      else if (event.kind == TaskEvent::Kind::finish) finish(static_cast<index_t>(event.at), now);
      else take_turn(event.rank, now);
    });
    result_.path = history_.path();
    return std::move(result_);
  }

 private:
  const SolveTask& task(index_t number) const { return tasks_.tasks[number]; }
  RankState& rank(index_t number) { return ranks_[number]; }
  PathStep& step(index_t number) { return history_.step[number]; }
  void plan_turn(index_t number, double now) {
    RankState& state = rank(number);
    if (state.turn_planned) return;
    state.turn_planned = true;
    events_.plan(now, {TaskEvent::Kind::turn, number, 0});
  }
  void make_ready(index_t number) {
    const SolveTask& one = task(number);
    rank(one.rank).ready.push({one.urgency, number});
  }

  /// The message of this edge has arrived; `by` ended at `now`.
  void satisfy(const SolveEdge& edge, StepCause cause) {
    if (--waits_[edge.to] > 0) return;
    history_.before[edge.to] = edge.from;
    step(edge.to).cause = cause;
    make_ready(edge.to);
  }

  /// Send the results of a task that ended at `now` to where they are needed. @returns when the rank is free
  /// again
  double pass_on(index_t number, double now) {
    for (offset_t at = tasks_.out_ptr[number];
         at < tasks_.out_ptr[number + 1]; ++at) {
      const SolveEdge& edge = tasks_.edges[at];
      const index_t from = task(number).rank, to = task(edge.to).rank;
      if (from == to) {
        satisfy(edge, StepCause::own_task);
        continue;
      }
      if (packing_ && rates_.message_bytes(edge) <= packing_->small_bytes) now = pack(from, to, at, now);
      else now = send(from, to, at, now);
    }
    return now;
  }

  /// @param at  an edge, or a packet. @returns when the rank is free again
  double send(index_t from, index_t to, offset_t at, double now) {
    return now + spend(from, rates_.cluster.link(from, to).send_overhead_us, [&](double later) {
             events_.plan(now + later, {TaskEvent::Kind::departure, from, at});
           });
  }
  template <class Then>
  double spend(index_t number, double microseconds, Then&& then) {
    result_.message_seconds[number] += microseconds * 1e-6;
    then(microseconds * 1e-6);
    return microseconds * 1e-6;
  }
  double spend(index_t number, double microseconds) {
    return spend(number, microseconds, [](double) {});
  }

  double pack(index_t from, index_t to, offset_t at, double now) {
    now += spend(from, packing_->record_us);
    OpenPackets& open = rank(from).open;
    const std::size_t bytes = open.add(to, at, Packing::record_bytes(rates_.message_bytes(tasks_.edges[at])));
    return bytes < packing_->packet_bytes ? now : leave(from, to, open.take(to), now);
  }
  double leave(index_t from, index_t to, Packet packet, double now) {
    packets_.push_back(std::move(packet));
    return send(from, to, -static_cast<offset_t>(packets_.size()), now);
  }
  /// A turn begins, or the rank has nothing to do: packets leave that are old enough, or all.
  double leave_packets(index_t number, bool all, double now) {
    if (!packing_) return now;
    OpenPackets& open = rank(number).open;
    for (const index_t to : all ? open.destinations() : open.next_turn(packing_->max_age_tasks))
      now = leave(number, to, open.take(to), now);
    return now;
  }
  const Packet& packet(offset_t at) const { return packets_[-at - 1]; }
  /// One edge of a message, whose ends are those of the message.
  const SolveEdge& edge_of(offset_t at) const { return tasks_.edges[at < 0 ? packet(at).edges.front() : at]; }

  void depart(double now, const TaskEvent& event) {
    const SolveEdge& edge = edge_of(event.at);
    const std::size_t bytes = event.at < 0 ? packet(event.at).bytes : rates_.message_bytes(edge);
    const double arrives = interconnect_.arrival(task(edge.from).rank, task(edge.to).rank, bytes, now);
    events_.plan(arrives, {TaskEvent::Kind::arrival, task(edge.to).rank, event.at});
  }
  void arrive(double now, const TaskEvent& event) {
    RankState& state = rank(event.rank);
    state.inbox.push_back(event.at);
    if (state.busy < rates_.cluster.workers) plan_turn(event.rank, std::max(now, state.free_at));
  }

  double handle_messages(index_t number, double now) {
    RankState& state = rank(number);
    std::vector<offset_t> inbox;
    inbox.swap(state.inbox);
    for (const offset_t at : inbox) {
      now += spend(number, rates_.cluster.link(task(edge_of(at).from).rank, number).receive_overhead_us);
      if (at >= 0) {
        now = handle(tasks_.edges[at], now);
        continue;
      }
      for (const offset_t record : std::exchange(packets_[-at - 1].edges, {}))
        now = handle(tasks_.edges[record], now + spend(number, packing_->record_us));
    }
    return now;
  }
  /// @returns when the rank has passed the message on, if it has to
  double handle(const SolveEdge& edge, double now) {
    if (!is_relay(task(edge.to).part)) {
      satisfy(edge, StepCause::message);
      return now;
    }
    history_.before[edge.to] = edge.from;
    step(edge.to) = {edge.to, StepCause::message, now, now, 0};
    return pass_on(edge.to, now);
  }

  void take_turn(index_t number, double now) {
    RankState& state = rank(number);
    state.turn_planned = false;
    const bool comes_from_task = state.last_task != -1 && now <= state.free_at;
    now = leave_packets(number, false, handle_messages(number, now));
    if (state.ready.empty() && state.busy == 0) now = leave_packets(number, true, now);
    state.free_at = std::max(state.free_at, now);
    for (bool first = true; !state.ready.empty() && state.busy < rates_.cluster.workers; first = false) {
      const index_t next = state.ready.top().task;
      state.ready.pop();
      start(state, next, now);
      // A worker came from its previous task without a pause, so that task delayed this one.
      if (!first || !comes_from_task) continue;
      history_.before[next] = state.last_task;
      step(next).cause = StepCause::own_task;
    }
  }

  void start(RankState& state, index_t next, double now) {
    const SolveTask& one = task(next);
    if (one.part != SolvePart::layers_meet)
      now = state.launches.begin(rates_.cluster, is_forward(one.part) ? 0 : 1, now);
    ++state.busy;
    PathStep& mine = step(next);
    mine.task = next;
    mine.begin = now;
    mine.end = now + rates_.seconds(one, state.busy);
    result_.busy_seconds[one.rank] += mine.end - now;
    result_.seconds = std::max(result_.seconds, mine.end);
    if (is_forward(one.part)) result_.forward_seconds = std::max(result_.forward_seconds, mine.end);
    if (mine.end >= result_.seconds) history_.last = next;
    events_.plan(mine.end, {TaskEvent::Kind::finish, one.rank, next});
  }

  void finish(index_t number, double now) {
    RankState& state = rank(task(number).rank);
    --state.busy;
    state.last_task = number;
    const double free_at = pass_on(number, now);
    state.free_at = std::max(state.free_at, free_at);
    plan_turn(task(number).rank, free_at);
  }

  const SolveGraph& tasks_;
  const RankRates& rates_;
  const std::optional<Packing> packing_;
  std::vector<Packet> packets_;  // that have left
  Interconnect interconnect_;
  std::vector<RankState> ranks_;
  std::vector<index_t> waits_;   // by task
  TaskHistory history_;
  EventLoop<TaskEvent> events_;
  Schedule result_;
};

}  // namespace

TaskWork RankRates::work(const SolveTask& task) const {
  return task.with_rhs(scalar_bytes, 2, num_rhs);
}

RankRates rank_rates(const SolveGraph& tasks, const Cluster& cluster, index_t num_rhs, int scalar_bytes,
                     FactorKind kind) {
  check(cluster);
  RankRates rates{cluster, scalar_bytes, num_rhs, {}};
  std::vector<double> bytes(tasks.num_ranks);
  // Both sweeps are in the graph; L is read twice, or L and U once each.
  const double reads = kind == FactorKind::lu ? 1 : 2;
  for (const SolveTask& task : tasks.tasks)
    bytes[task.rank] += task.entries * scalar_bytes / reads;
  for (const double one : bytes) rates.read_gbs.push_back(cluster.rank_solve_gbs(tasks.num_ranks, one));
  return rates;
}

Schedule schedule_solve(const SolveGraph& tasks, const RankRates& rates,
                        const std::optional<Packing>& packing) {
  return Scheduler(tasks, rates, packing).run();
}

PackingChoice choose_packing(const SolveGraph& tasks, const RankRates& rates) {
  constexpr double least_gain = 1.05;
  const Schedule plain = schedule_solve(tasks, rates);
  PackingChoice choice{std::nullopt, plain.seconds, plain.seconds};
  const double messages = *std::max_element(plain.message_seconds.begin(), plain.message_seconds.end());
  if (least_gain * (plain.seconds - messages) > plain.seconds) return choice;
  for (const std::int64_t age : {4, 16, 64, 256}) {
    Packing packing;
    packing.max_age_tasks = age;
    const double seconds = schedule_solve(tasks, rates, packing).seconds;
    if (least_gain * seconds < plain.seconds && seconds < choice.seconds)
      choice = {packing, plain.seconds, seconds};
  }
  return choice;
}

}  // namespace palmette
