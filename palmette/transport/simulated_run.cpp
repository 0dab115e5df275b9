// What simulated ranks do at each event. A rank's workers take tasks; the results of a task are there, and
// its messages leave, when the worker has spent the task's time.
#include <algorithm>
#include <optional>

#include "palmette/simulate/simulate.hpp"
#include "palmette/transport/simulated_state.hpp"

namespace palmette {
namespace {

struct Event {
  enum class Kind : char {
    turn,       // the rank takes messages and tasks
    finish,     // its worker `at` ends a task
    departure,  // the message `at` is to leave for the rank
    arrival,    // and arrives
  };
  Kind kind = Kind::turn;
  index_t rank = 0;
  std::int64_t at = 0;
};

/// A worker of a rank, and the task that it runs.
struct Worker {
  bool is_busy = false;
  int ticket = 0;
  double begin = 0;
  TaskNote note;
  std::vector<transport_detail::Flight> sent;  // by a program without tickets: they leave when the task ends
};

struct RankState {
  double free_at = 0;            // when it has handled its messages, and sent those of its last task
  double finished = 0;           // when it did something last
  double speed = 1;              // tasks take this many times their cost
  double read_gbs = 0;           // with a cluster
  bool wake_planned = false;
  index_t busy = 0;              // workers
  std::vector<Worker> workers;
  Launches launches;
  std::int64_t records = 0;      // packed and unpacked so far
};

/// Messages in transit, in places that are used again.
class Flights {
 public:
  std::int64_t add(Message message) {
    if (free_.empty()) {
      messages_.push_back(std::move(message));
      return static_cast<std::int64_t>(messages_.size()) - 1;
    }
    const std::int64_t place = free_.back();
    free_.pop_back();
    messages_[place] = std::move(message);
    return place;
  }
  const Message& operator[](std::int64_t place) const { return messages_[place]; }
  Message take(std::int64_t place) {
    free_.push_back(place);
    return std::exchange(messages_[place], {});
  }

 private:
  std::vector<Message> messages_;
  std::vector<std::int64_t> free_;
};

}  // namespace

/// One run.
struct SimulatedWorld::Run {
  SimulatedWorld::State& world;
  std::span<RankProgram* const> programs;
  std::span<Transport* const> transports;
  SimulationResult result = {};
  EventLoop<Event> events = {};
  Flights flights = {};
  std::vector<RankState> states = {};  // by rank
  // By rank; with several workers, one more thread has the messages that the rank takes.
  std::vector<RankRecord> records = {};
  std::optional<Interconnect> interconnect = std::nullopt;  // with a cluster

  const Cluster* cluster() const { return world.options.cluster.get(); }
  Transport& transport(index_t rank) {
    return transports.empty() ? world.transport(rank) : *transports[rank];
  }
  void wake(index_t rank, double now) {
    RankState& state = states[rank];
    if (state.wake_planned) return;
    state.wake_planned = true;
    events.plan(now, {Event::Kind::turn, rank, 0});
  }
  double network_seconds(index_t source, index_t destination, std::size_t bytes) const {
    if (cluster() != nullptr) return cluster()->link(source, destination).seconds(bytes);
    return world.options.network_seconds ? world.options.network_seconds(source, destination, bytes) : 1e-6;
  }
  double late(double seconds) {
    return world.options.jitter > 0 ? world.options.jitter * seconds * world.draw() : 0;
  }
  /// What the rank has spent on packing and unpacking since the last call.
  double packing_seconds(index_t rank) {
    if (!world.options.packing || cluster() == nullptr) return 0;
    const std::int64_t before = std::exchange(states[rank].records, world.packers[rank]->records());
    return static_cast<double>(states[rank].records - before) * world.options.packing->record_us * 1e-6;
  }
  /// Messages that this rank has just sent leave at `now` or, on a cluster, one after the other. @returns
  /// when the rank is free again
  double depart(index_t rank, double now) {
    now += packing_seconds(rank);
    for (transport_detail::Flight& flight : world.sent) {
      const index_t source = flight.message.source, destination = flight.destination;
      const std::size_t bytes = flight.message.payload.size();
      if (cluster() != nullptr) now += cluster()->link(source, destination).send_overhead_us * 1e-6;
      if (world.options.keeps_timeline)
        records[source].message({now, true, destination, flight.message.tag, bytes});
      const double request = flight.fetched ? network_seconds(destination, source, 0) : 0;
      const std::int64_t place = flights.add(std::move(flight.message));
      if (cluster() != nullptr) {
        events.plan(now + request, {Event::Kind::departure, destination, place});
        continue;
      }
      const double seconds = network_seconds(source, destination, bytes) + request;
      events.plan(now + seconds + late(seconds), {Event::Kind::arrival, destination, place});
    }
    world.sent.clear();
    return now;
  }
  void leave(double now, const Event& event) {
    const Message& message = flights[event.at];
    const double arrives = interconnect->arrival(message.source, event.rank, message.payload.size(), now);
    events.plan(arrives + late(arrives - now), {Event::Kind::arrival, event.rank, event.at});
  }
  void arrive(double now, const Event& event) {
    world.inbox[event.rank].push_back(flights.take(event.at));
    const RankState& state = states[event.rank];
    // A rank whose workers are all busy takes its messages when one of them ends.
    if (state.busy < static_cast<index_t>(state.workers.size()))
      wake(event.rank, std::max(now, state.free_at));
  }
  /// @returns when the rank has handled them and sent the resulting messages
  double take_messages(index_t rank, double now) {
    const double begin = now;
    for (Message message;;) {
      world.taken_from.reset();
      const bool any = transport(rank).poll(message);
      if (world.taken_from && cluster() != nullptr)
        now += cluster()->link(*world.taken_from, rank).receive_overhead_us * 1e-6;
      if (any && world.options.keeps_timeline)
        records[rank].message({now, false, message.source, message.tag, message.payload.size()});
      if (any) programs[rank]->on_message(message);
      now = depart(rank, now);
      if (!any) break;
    }
    const std::size_t workers = states[rank].workers.size();
    if (now > begin) records[rank].handled(workers > 1 ? static_cast<int>(workers) : 0, now - begin);
    return now;
  }
  double task_seconds(index_t rank, const TaskNote& note) const {
    const RankState& state = states[rank];
    if (cluster() == nullptr)
      return programs[rank]->last_cost() * world.options.seconds_per_cost +
             world.options.task_overhead_seconds;
    if (!programs[rank]->has_tickets()) return cluster()->rank_seconds(note.work, state.read_gbs);
    return cluster()->worker_seconds(note.work, state.read_gbs, state.busy);
  }
  /// Before the first task of a sweep on a rank its kernel is launched.
  double launched(RankState& state, SweepPhase phase, double now) const {
    if (cluster() == nullptr || (phase != SweepPhase::forward && phase != SweepPhase::backward)) return now;
    return state.launches.begin(*cluster(), phase == SweepPhase::forward ? 0 : 1, now);
  }
  /// The task that its program has just taken.
  void start(index_t rank, int ticket, double now) {
    RankState& state = states[rank];
    const auto worker = std::find_if(state.workers.begin(), state.workers.end(),
                                     [](const Worker& one) { return !one.is_busy; });
    ++state.busy;
    worker->is_busy = true;
    worker->ticket = ticket;
    worker->note = programs[rank]->last_task(0);
    worker->begin = launched(state, worker->note.phase, now);
    worker->sent.swap(world.sent);
    const double seconds = state.speed * task_seconds(rank, worker->note);
    result.busy_seconds[rank] += seconds;
    events.plan(worker->begin + seconds, {Event::Kind::finish, rank, worker - state.workers.begin()});
  }
  void finish(double now, const Event& event) {
    RankState& state = states[event.rank];
    Worker& worker = state.workers[event.at];
    world.sent.swap(worker.sent);
    programs[event.rank]->finish_task(worker.ticket);
    const double end = depart(event.rank, now);
    records[event.rank].task(static_cast<int>(event.at), worker.note, worker.begin, end, end - now);
    worker.is_busy = false;
    --state.busy;
    state.free_at = std::max(state.free_at, end);
    note_end(state, end);
    wake(event.rank, end);
  }
  void note_end(RankState& state, double now) {
    state.finished = std::max(state.finished, now);
    result.seconds = std::max(result.seconds, now);
  }
  void take_turn(double turn, index_t rank) {
    RankState& state = states[rank];
    state.wake_planned = false;
    double now = take_messages(rank, turn);
    const auto workers = static_cast<index_t>(state.workers.size());
    for (int ticket = 0; state.busy < workers && ticket != -1;) {
      ticket = programs[rank]->take_task();
      if (ticket != -1) start(rank, ticket, now);
    }
    if (state.busy == 0) {
      transport(rank).flush();
      now = depart(rank, now);
    }
    state.free_at = std::max(state.free_at, now);
    note_end(state, now);
    const bool woken = world.options.idle_wakeups > 0 && world.draw() < world.options.idle_wakeups;
    if (woken && state.busy < workers) wake(rank, state.free_at);
  }
  void run() {
    const SubnormalsAsZero scope;
    for (index_t rank = 0; rank < static_cast<index_t>(programs.size()); ++rank) {
      RankState& state = states[rank];
      state.speed = world.draw() < world.options.slow_ranks ? world.options.slowness : 1;
      programs[rank]->start();
      state.free_at = depart(rank, 0);
      wake(rank, state.free_at);
    }
    result.events = events.run([this](double now, const Event& event) {
      switch (event.kind) {
        case Event::Kind::turn: return take_turn(now, event.rank);
        case Event::Kind::finish: return finish(now, event);
        case Event::Kind::departure: return leave(now, event);
        case Event::Kind::arrival: return arrive(now, event);
      }
    });
    for (index_t rank = 0; rank < static_cast<index_t>(programs.size()); ++rank) conclude(rank);
  }
  void conclude(index_t rank) {
    RankRecord& mine = records[rank];
    const std::size_t workers = states[rank].workers.size();
    for (std::size_t thread = 0; thread < workers + (workers > 1); ++thread)
      mine.finish(static_cast<int>(thread), states[rank].finished);
    result.times.push_back(mine.times());
    if (world.options.keeps_timeline) result.timelines.push_back(mine.timeline());
  }
  void prepare() {
    const std::size_t ranks = programs.size();
    states.resize(ranks);
    result.busy_seconds.assign(ranks, 0);
    if (cluster() != nullptr) interconnect.emplace(*cluster(), static_cast<index_t>(ranks));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const bool several = cluster() != nullptr && programs[rank]->has_tickets();
      const std::size_t workers = several ? cluster()->workers : 1;
      states[rank].workers.resize(workers);
      records.emplace_back(static_cast<int>(workers + (workers > 1)), world.options.keeps_timeline);
      if (cluster() == nullptr) continue;
      states[rank].read_gbs = world.options.read_gbs.empty()
                                  ? cluster()->rank_memory_gbs(static_cast<index_t>(ranks))
                                  : world.options.read_gbs[rank];
    }
  }
};

SimulationResult SimulatedWorld::run(std::span<RankProgram* const> programs,
                                     std::span<Transport* const> transports) {
  const auto ranks = static_cast<std::size_t>(num_ranks());
  if (programs.size() != ranks || (!transports.empty() && transports.size() != ranks))
    throw DimensionError(std::to_string(programs.size()) + " programs for " + std::to_string(ranks) +
                         " ranks");
  Run run{*state_, programs, transports};
  run.prepare();
  run.run();
  const auto traffic_of = [&](auto& counts) {
    std::vector<TrafficEntry> entries;
    for (const auto& [pair, entry] : counts)
      entries.push_back({pair.first, pair.second, entry.messages, entry.bytes});
    counts.clear();
    return make_traffic(num_ranks(), std::move(entries));
  };
  run.result.traffic = traffic_of(state_->counts);
  run.result.fetched = traffic_of(state_->fetched);
  for (transport_detail::HeldOffers& held : state_->offers) held.forget();
  const std::string waiting = transport_detail::who_waits(programs);
  if (!waiting.empty()) throw BrokenRun("nothing more can happen: " + waiting);
  return std::move(run.result);
}

}  // namespace palmette
