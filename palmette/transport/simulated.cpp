// What simulated ranks do at each event.
#include <algorithm>
#include <array>
#include <optional>

#include "palmette/simulate/simulate.hpp"
#include "palmette/transport/simulated_state.hpp"

namespace palmette {

namespace transporting {

std::string who_waits(std::span<RankProgram* const> programs) {
  constexpr int most_named = 10;
  std::string text;
  int waiting = 0;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    if (programs[rank]->done() || ++waiting > most_named) continue;
    text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " waits for " +
            programs[rank]->waiting_for();
  }
  if (waiting > most_named) text += "; and " + std::to_string(waiting - most_named) + " ranks more";
  return text;
}

}  // namespace transporting

class SimulatedWorld::State::Rank final : public Transport {
 public:
  Rank(State& world, index_t rank) : world_(world), rank_(rank) {}
  index_t rank() const override { return rank_; }
  index_t num_ranks() const override { return static_cast<index_t>(world_.inbox.size()); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    check_rank(destination, num_ranks());
    TrafficEntry& entry = world_.counts[{rank_, destination}];
    ++entry.messages;
    entry.bytes += static_cast<std::int64_t>(payload.size());
    world_.sent.push_back({destination, {rank_, tag, std::move(payload)}});
  }
  Offer offer(std::int64_t tag, SharedBytes bytes) override {
    return world_.offers[rank_].hold(tag, std::move(bytes));
  }
  void get(index_t source, const Offer& offer) override {
    check_rank(source, num_ranks());
    TrafficEntry& entry = world_.fetched[{source, rank_}];
    ++entry.messages;
    entry.bytes += static_cast<std::int64_t>(offer.bytes);
    world_.sent.push_back(
        {rank_, {source, offer.tag, world_.offers[source].look_up(offer)}, true});
  }
  bool poll(Message& message) override {
    if (!world_.why.empty()) throw BrokenRun(world_.why);
    std::deque<Message>& inbox = world_.inbox[rank_];
    if (inbox.empty()) return false;
    message = std::move(inbox.front());
    inbox.pop_front();
    return true;
  }
  void flush() override {}
  double sum(double) override {
    throw UsageError("simulated ranks share one thread: they cannot wait for a sum");
  }
  int agree(int) override {
    throw UsageError("simulated ranks share one thread: they cannot wait for an agreement");
  }
  void rest(int) override {}
  void abandon(const std::string& why) override { world_.why = why; }

 private:
  State& world_;
  index_t rank_;
};

SimulatedWorld::State::State(index_t num_ranks, SimulationOptions chosen)
    : options(std::move(chosen)), random(options.seed), inbox(static_cast<std::size_t>(num_ranks)),
      offers(static_cast<std::size_t>(num_ranks)) {
  for (index_t rank = 0; rank < num_ranks; ++rank) ranks.push_back(std::make_unique<Rank>(*this, rank));
}
SimulatedWorld::State::~State() = default;

Transport& SimulatedWorld::State::transport(index_t rank) { return *ranks[rank]; }

namespace {

/// An event of a rank: a message arrives (flight ≥ 0), the rank is free to run its next task, or a message
/// reaches the gate of its node.
struct Event {
  index_t rank = 0;
  bool departs = false;     // the message is to leave for `rank`
  std::int64_t flight = -1;
};

void check(const SimulationOptions& options) {
  for (const double probability : {options.slow_ranks, options.idle_wakeups})
    if (!(probability >= 0 && probability <= 1))
      throw UsageError("a probability of " + std::to_string(probability) + "; it must lie between 0 and 1");
  if (options.jitter < 0 || options.slowness < 1 || options.seconds_per_cost < 0 ||
      options.task_overhead_seconds < 0)
    throw UsageError("simulated times must not be negative, and slowness is at least 1");
  if (options.cluster) check(*options.cluster);
}

}  // namespace

/// One run.
struct SimulatedWorld::Run {
  SimulatedWorld::State& world;
  std::span<RankProgram* const> programs;
  std::span<Transport* const> transports;
  SimulationResult result;
  EventLoop<Event> events;
  std::vector<Message> flights;
  std::vector<std::int64_t> free_flights;
  std::vector<double> free_at;      // length num_ranks
  std::vector<char> wake_planned;   // length num_ranks
  std::vector<double> speed;        // length num_ranks: tasks take this many times their cost
  std::vector<std::array<bool, 4>> launches;  // length num_ranks: by phase, whether its kernel was launched
  std::vector<double> finished;     // length num_ranks: when it did something last
  std::vector<double> read_gbs;     // length num_ranks, with a cluster
  std::vector<RankRecord> records;  // length num_ranks
  std::optional<Interconnect> interconnect;  // with a cluster

  Transport& transport(index_t rank) {
    return transports.empty() ? world.transport(rank) : *transports[rank];
  }
  void plan(double seconds, index_t rank, std::int64_t flight, bool departs = false) {
    events.plan(seconds, {rank, departs, flight});
  }
  void wake(index_t rank, double now) {
    if (wake_planned[rank] != 0) return;
    wake_planned[rank] = 1;
    plan(std::max(now, free_at[rank]), rank, -1);
  }
  double network_seconds(index_t source, index_t destination, std::size_t bytes) const {
    if (cluster() != nullptr) return cluster()->link(source, destination).seconds(bytes);
    return world.options.network_seconds ? world.options.network_seconds(source, destination, bytes) : 1e-6;
  }
  const Cluster* cluster() const { return world.options.cluster.get(); }
  RankRecord& record(index_t rank) { return records[rank]; }

  std::int64_t place_of(Message message) {
    if (free_flights.empty()) {
      flights.push_back(std::move(message));
      return static_cast<std::int64_t>(flights.size()) - 1;
    }
    const std::int64_t place = free_flights.back();
    free_flights.pop_back();
    flights[place] = std::move(message);
    return place;
  }
  /// Messages just sent leave at `now` or, on a cluster, one after the other. @returns when the rank is
  /// free again
  double depart(double now) {
    for (transporting::Flight& flight : world.sent) {
      const index_t source = flight.message.source, destination = flight.destination;
      const std::size_t bytes = flight.message.payload.size();
      if (cluster() != nullptr) now += cluster()->link(source, destination).send_overhead_us * 1e-6;
      if (world.options.keeps_timeline)
        record(source).message({now, true, destination, flight.message.tag, bytes});
      const double request = flight.fetched ? network_seconds(destination, source, 0) : 0;
      if (cluster() != nullptr) {
        plan(now + request, destination, place_of(std::move(flight.message)), true);
        continue;
      }
      const double seconds = network_seconds(source, destination, bytes) + request;
      plan(now + seconds + late(seconds), destination, place_of(std::move(flight.message)));
    }
    world.sent.clear();
    return now;
  }
  double late(double seconds) {
    return world.options.jitter > 0 ? world.options.jitter * seconds * world.draw() : 0;
  }
  void leave(double now, const Event& event) {
    const Message& message = flights[event.flight];
    const double arrives = interconnect->arrival(message.source, event.rank, message.payload.size(), now);
    plan(arrives + late(arrives - now), event.rank, event.flight);
  }
  void arrive(double now, const Event& event) {
    const auto rank = static_cast<std::size_t>(event.rank);
    world.inbox[rank].push_back(std::move(flights[event.flight]));
    flights[event.flight] = {};
    free_flights.push_back(event.flight);
    wake(event.rank, now);
  }
  double task_seconds(std::size_t rank) const {
    if (cluster() == nullptr)
      return programs[rank]->last_cost() * world.options.seconds_per_cost +
             world.options.task_overhead_seconds;
    return cluster()->rank_seconds(programs[rank]->last_task(0).work, read_gbs[rank]);
  }
  /// Before the first task of a sweep on a rank its kernel is launched.
  double launch_seconds(std::size_t rank) {
    if (cluster() == nullptr || cluster()->launch_us <= 0) return 0;
    const SweepPhase phase = programs[rank]->last_task(0).phase;
    if (phase != SweepPhase::forward && phase != SweepPhase::backward) return 0;
    bool& launched = launches[rank][static_cast<std::size_t>(phase)];
    return std::exchange(launched, true) ? 0 : cluster()->launch_us * 1e-6;
  }
  /// @returns when the rank has handled them and sent the resulting messages
  double take_messages(index_t rank, double now) {
    const double begin = now;
    Message message;
    while (transport(rank).poll(message)) {
      if (cluster() != nullptr) now += cluster()->link(message.source, rank).receive_overhead_us * 1e-6;
      if (world.options.keeps_timeline)
        record(rank).message({now, false, message.source, message.tag, message.payload.size()});
      programs[rank]->on_message(message);
      if (cluster() != nullptr) now = depart(now);
    }
    if (now > begin) record(rank).handled(0, now - begin);
    return now;
  }
  void work(double turn, const Event& event) {
    const auto rank = static_cast<std::size_t>(event.rank);
    wake_planned[rank] = 0;
    double now = take_messages(event.rank, turn);
    if (programs[rank]->run_one_task(0)) {
      now += launch_seconds(rank);
      const double seconds = speed[rank] * task_seconds(rank), begin = now;
      result.busy_seconds[rank] += seconds;
      now += seconds;
      const double ended = now;
      now = depart(now);
      record(event.rank).task(0, programs[rank]->last_task(0), begin, now, now - ended);
      free_at[rank] = now;
      wake(event.rank, now);
    } else {
      transport(event.rank).flush();
      now = depart(now);
      free_at[rank] = now;
    }
    finished[rank] = now;
    result.seconds = std::max(result.seconds, now);
    if (world.options.idle_wakeups > 0 && world.draw() < world.options.idle_wakeups) wake(event.rank, now);
  }
  void run() {
    const auto ranks = static_cast<index_t>(programs.size());
    for (index_t rank = 0; rank < ranks; ++rank) {
      launches.push_back({});
      speed.push_back(world.draw() < world.options.slow_ranks ? world.options.slowness : 1);
      programs[rank]->start();
      free_at[rank] = depart(0);
      wake(rank, 0);
    }
    result.events = events.run([this](double now, const Event& event) {
      if (event.departs) leave(now, event);
      else if (event.flight >= 0) arrive(now, event);
      else work(now, event);
    });
    for (index_t rank = 0; rank < ranks; ++rank) finish(rank);
  }
  void finish(index_t rank) {
    RankRecord& mine = record(rank);
    mine.finish(0, finished[rank]);
    result.times.push_back(mine.times());
    if (world.options.keeps_timeline) result.timelines.push_back(mine.timeline());
  }
  void prepare() {
    const std::size_t ranks = programs.size();
    free_at.assign(ranks, 0);
    wake_planned.assign(ranks, 0);
    finished.assign(ranks, 0);
    result.busy_seconds.assign(ranks, 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) records.emplace_back(1, world.options.keeps_timeline);
    if (cluster() == nullptr) return;
    interconnect.emplace(*cluster(), static_cast<index_t>(ranks));
    read_gbs = world.options.read_gbs;
    if (read_gbs.empty()) read_gbs.assign(ranks, cluster()->rank_memory_gbs(static_cast<index_t>(ranks)));
  }
};

SimulatedWorld::SimulatedWorld(index_t num_ranks, SimulationOptions options) {
  check_num_ranks(num_ranks);
  check(options);
  if (!options.read_gbs.empty() && options.read_gbs.size() != static_cast<std::size_t>(num_ranks))
    throw DimensionError(std::to_string(options.read_gbs.size()) + " reading rates for " +
                         std::to_string(num_ranks) + " ranks");
  state_ = std::make_unique<State>(num_ranks, std::move(options));
}
SimulatedWorld::~SimulatedWorld() = default;

index_t SimulatedWorld::num_ranks() const { return static_cast<index_t>(state_->ranks.size()); }
Transport& SimulatedWorld::rank(index_t rank) {
  check_rank(rank, num_ranks());
  return state_->transport(rank);
}

SimulationResult SimulatedWorld::run(std::span<RankProgram* const> programs,
                                     std::span<Transport* const> transports) {
  const auto ranks = static_cast<std::size_t>(num_ranks());
  if (programs.size() != ranks || (!transports.empty() && transports.size() != ranks))
    throw DimensionError(std::to_string(programs.size()) + " programs for " + std::to_string(ranks) +
                         " ranks");
  Run run{*state_, programs, transports, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
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
  for (transporting::HeldOffers& held : state_->offers) held.forget();
  const std::string waiting = transporting::who_waits(programs);
  if (!waiting.empty()) throw BrokenRun("nothing more can happen: " + waiting);
  return std::move(run.result);
}

}  // namespace palmette
