// A list schedule by events: a message arrives, or a rank is free.
#include "palmette/predict/schedule.hpp"

#include <algorithm>
#include <queue>

#include "palmette/simulate/simulate.hpp"

namespace palmette {
namespace {

bool is_relay(SolvePart part) {
  return part == SolvePart::forward_relay || part == SolvePart::backward_relay;
}

struct Event {
  enum class Kind : char { departure, arrival, turn, finish };
  Kind kind = Kind::turn;
  index_t rank = 0;   // turn
  offset_t at = 0;    // an edge: departure, arrival; a task: finish
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
  index_t last_task = -1;    ///< that ended
};

class Scheduler {
 public:
  Scheduler(const SolveTasks& tasks, const RankRates& rates)
      : tasks_(tasks),
        rates_(rates),
        interconnect_(rates.cluster, tasks.num_ranks),
        ranks_(tasks.num_ranks),
        waits_(tasks.tasks.size()),
        step_(tasks.tasks.size()),
        before_(tasks.tasks.size(), -1) {
    for (const SolveEdge& edge : tasks.edges) ++waits_[edge.to];
    result_.busy_seconds.assign(ranks_.size(), 0);
    result_.message_seconds.assign(ranks_.size(), 0);
  }

  Schedule run() {
    for (index_t task = 0; task < tasks_.num_tasks(); ++task)
      if (waits_[task] == 0) make_ready(task);
    for (index_t rank = 0; rank < tasks_.num_ranks; ++rank) plan_turn(rank, 0);
    events_.run([this](double now, const Event& event) {
      if (event.kind == Event::Kind::departure) depart(now, event);
      else if (event.kind == Event::Kind::arrival) arrive(now, event);
      else if (event.kind == Event::Kind::finish) finish(static_cast<index_t>(event.at), now);
      else take_turn(event.rank, now);
    });
    find_path();
    return std::move(result_);
  }

 private:
  const SolveTask& task(index_t number) const { return tasks_.tasks[number]; }
  RankState& rank(index_t number) { return ranks_[number]; }
  PathStep& step(index_t number) { return step_[number]; }
  void plan_turn(index_t number, double now) {
    RankState& state = rank(number);
    if (state.turn_planned) return;
    state.turn_planned = true;
    events_.plan(now, {Event::Kind::turn, number, 0});
  }
  void make_ready(index_t number) {
    const SolveTask& one = task(number);
    rank(one.rank).ready.push({one.urgency, number});
  }

  /// The message of this edge has arrived; `by` ended at `now`.
  void satisfy(const SolveEdge& edge, StepCause cause) {
    if (--waits_[edge.to] > 0) return;
    before_[edge.to] = edge.from;
    step(edge.to).cause = cause;
    make_ready(edge.to);
  }

  /// Send the results of a task that ended at `now` to where they are needed. @returns when the rank is free
  /// again
  double pass_on(index_t number, double now) {
    for (offset_t at = tasks_.out_ptr[number];
         at < tasks_.out_ptr[static_cast<std::size_t>(number) + 1]; ++at) {
      const SolveEdge& edge = tasks_.edges[at];
      const index_t from = task(number).rank, to = task(edge.to).rank;
      if (from == to) {
        satisfy(edge, StepCause::own_task);
        continue;
      }
      const double overhead = rates_.cluster.link(from, to).send_overhead_us * 1e-6;
      now += overhead;
      result_.message_seconds[from] += overhead;
      events_.plan(now, {Event::Kind::departure, from, at});
    }
    return now;
  }

  void depart(double now, const Event& event) {
    const SolveEdge& edge = tasks_.edges[event.at];
    const double arrives =
        interconnect_.arrival(task(edge.from).rank, task(edge.to).rank, rates_.message_bytes(edge), now);
    events_.plan(arrives, {Event::Kind::arrival, task(edge.to).rank, event.at});
  }
  void arrive(double now, const Event& event) {
    RankState& state = rank(event.rank);
    state.inbox.push_back(event.at);
    if (state.busy < rates_.cluster.workers) plan_turn(event.rank, std::max(now, state.free_at));
  }

  double handle_messages(index_t number, double now) {
    RankState& state = rank(number);
    std::vector<offset_t> inbox;
    inbox.swap(state.inbox);
    for (const offset_t at : inbox) {
      const SolveEdge& edge = tasks_.edges[at];
      const double overhead = rates_.cluster.link(task(edge.from).rank, number).receive_overhead_us * 1e-6;
      now += overhead;
      result_.message_seconds[number] += overhead;
      if (!is_relay(task(edge.to).part)) {
        satisfy(edge, StepCause::message);
        continue;
      }
      before_[edge.to] = edge.from;
      step(edge.to) = {edge.to, StepCause::message, now, now, 0};
      now = pass_on(edge.to, now);
    }
    return now;
  }

  void take_turn(index_t number, double now) {
    RankState& state = rank(number);
    state.turn_planned = false;
    const bool comes_from_task = state.last_task != -1 && now <= state.free_at;
    now = handle_messages(number, now);
    state.free_at = std::max(state.free_at, now);
    for (bool first = true; !state.ready.empty() && state.busy < rates_.cluster.workers; first = false) {
      const index_t next = state.ready.top().task;
      state.ready.pop();
      start(state, next, now);
      // A worker came from its previous task without a pause, so that task delayed this one.
      if (first && comes_from_task) before_[next] = state.last_task, step(next).cause = StepCause::own_task;
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
    if (mine.end >= result_.seconds) last_ = next;
    events_.plan(mine.end, {Event::Kind::finish, one.rank, next});
  }

  void finish(index_t number, double now) {
    RankState& state = rank(task(number).rank);
    --state.busy;
    state.last_task = number;
    const double free_at = pass_on(number, now);
    state.free_at = std::max(state.free_at, free_at);
    plan_turn(task(number).rank, free_at);
  }

  void find_path() {
    for (index_t at = last_; at != -1; at = before_[at]) {
      PathStep one = step(at);
      one.task = at;
      const index_t before = before_[at];
      one.message_seconds = before == -1 ? 0 : std::max(0.0, one.begin - step(before).end);
      result_.path.push_back(one);
    }
    std::reverse(result_.path.begin(), result_.path.end());
  }

  const SolveTasks& tasks_;
  const RankRates& rates_;
  Interconnect interconnect_;
  std::vector<RankState> ranks_;
  std::vector<index_t> waits_;   // by task
  std::vector<PathStep> step_;   // by task
  std::vector<index_t> before_;  // by task: the task after which it began; −1
  EventLoop<Event> events_;
  index_t last_ = -1;
  Schedule result_;
};

}  // namespace

TaskWork RankRates::work(const SolveTask& task) const {
  return task.with_rhs(scalar_bytes, 2, num_rhs);
}

RankRates rank_rates(const SolveTasks& tasks, const Cluster& cluster, index_t num_rhs, int scalar_bytes,
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

Schedule schedule_solve(const SolveTasks& tasks, const RankRates& rates) {
  return Scheduler(tasks, rates).run();
}

}  // namespace palmette
