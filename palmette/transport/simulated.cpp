// The event loop of simulated ranks.
#include <algorithm>
#include <queue>

#include "palmette/transport/simulated_state.hpp"

namespace palmette {

namespace transporting {

std::string who_waits(std::span<RankProgram* const> programs) {
  constexpr int most_named = 10;
  std::string text;
  int waiting = 0;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    if (programs[rank]->done() || ++waiting > most_named) continue;
    text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " waits for " + programs[rank]->waiting_for();
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
  Offer offer(std::int64_t tag, SharedBytes bytes) override { return world_.offers[static_cast<std::size_t>(rank_)].hold(tag, std::move(bytes)); }
  void get(index_t source, const Offer& offer) override {
    check_rank(source, num_ranks());
    TrafficEntry& entry = world_.fetched[{source, rank_}];
    ++entry.messages;
    entry.bytes += static_cast<std::int64_t>(offer.bytes);
    world_.sent.push_back({rank_, {source, offer.tag, world_.offers[static_cast<std::size_t>(source)].look_up(offer)}, true});
  }
  bool poll(Message& message) override {
    if (!world_.why.empty()) throw BrokenRun(world_.why);
    std::deque<Message>& inbox = world_.inbox[static_cast<std::size_t>(rank_)];
    if (inbox.empty()) return false;
    message = std::move(inbox.front());
    inbox.pop_front();
    return true;
  }
  void flush() override {}
  double sum(double) override { throw UsageError("simulated ranks share one thread: they cannot wait for a sum"); }
  int agree(int) override { throw UsageError("simulated ranks share one thread: they cannot wait for an agreement"); }
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

Transport& SimulatedWorld::State::transport(index_t rank) { return *ranks[static_cast<std::size_t>(rank)]; }

namespace {

/// Something happens to a rank: a message arrives (flight ≥ 0), or it is free to run its next task.
struct Event {
  double seconds = 0;
  std::int64_t number = 0;  // events of one moment happen in the order in which they were planned
  index_t rank = 0;
  std::int64_t flight = -1;
};
struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.number > b.number;
  }
};

void check(const SimulationOptions& options) {
  for (const double probability : {options.slow_ranks, options.idle_wakeups})
    if (!(probability >= 0 && probability <= 1))
      throw UsageError("a probability of " + std::to_string(probability) + "; it must lie between 0 and 1");
  if (options.jitter < 0 || options.slowness < 1 || options.seconds_per_cost < 0 || options.task_overhead_seconds < 0)
    throw UsageError("simulated times must not be negative, and slowness is at least 1");
}

}  // namespace

/// One run of the event loop.
struct SimulatedWorld::Run {
  SimulatedWorld::State& world;
  std::span<RankProgram* const> programs;
  std::span<Transport* const> transports;
  SimulationResult result;
  std::priority_queue<Event, std::vector<Event>, Later> events;
  std::vector<Message> flights;
  std::vector<std::int64_t> free_flights;
  std::vector<double> free_at;      // length num_ranks
  std::vector<char> wake_planned;   // length num_ranks
  std::vector<double> speed;        // length num_ranks: tasks take so many times their cost
  std::int64_t planned = 0;

  Transport& transport(index_t rank) {
    return transports.empty() ? world.transport(rank) : *transports[static_cast<std::size_t>(rank)];
  }
  void plan(double seconds, index_t rank, std::int64_t flight) { events.push({seconds, planned++, rank, flight}); }
  void wake(index_t rank, double now) {
    if (wake_planned[static_cast<std::size_t>(rank)] != 0) return;
    wake_planned[static_cast<std::size_t>(rank)] = 1;
    plan(std::max(now, free_at[static_cast<std::size_t>(rank)]), rank, -1);
  }
  double network_seconds(index_t source, index_t destination, std::size_t bytes) const {
    return world.options.network_seconds ? world.options.network_seconds(source, destination, bytes) : 1e-6;
  }
  /// Messages sent just now leave at `now`.
  void depart(double now) {
    for (transporting::Flight& flight : world.sent) {
      double seconds = network_seconds(flight.message.source, flight.destination, flight.message.payload.size());
      if (flight.fetched) seconds += network_seconds(flight.destination, flight.message.source, 0);  // the request
      const double late = world.options.jitter > 0 ? world.options.jitter * seconds * world.draw() : 0;
      std::int64_t place = static_cast<std::int64_t>(flights.size());
      if (free_flights.empty()) {
        flights.emplace_back();
      } else {
        place = free_flights.back();
        free_flights.pop_back();
      }
      flights[static_cast<std::size_t>(place)] = std::move(flight.message);
      plan(now + seconds + late, flight.destination, place);
    }
    world.sent.clear();
  }
  void arrive(const Event& event) {
    const auto rank = static_cast<std::size_t>(event.rank);
    world.inbox[rank].push_back(std::move(flights[static_cast<std::size_t>(event.flight)]));
    flights[static_cast<std::size_t>(event.flight)] = {};
    free_flights.push_back(event.flight);
    wake(event.rank, event.seconds);
  }
  void work(const Event& event) {
    const auto rank = static_cast<std::size_t>(event.rank);
    wake_planned[rank] = 0;
    Message message;
    while (transport(event.rank).poll(message)) programs[rank]->on_message(message);
    double now = event.seconds;
    if (programs[rank]->run_one_task(0)) {
      const double seconds = speed[rank] * (programs[rank]->last_cost() * world.options.seconds_per_cost + world.options.task_overhead_seconds);
      result.busy_seconds[rank] += seconds;
      now += seconds;
      free_at[rank] = now;
      wake(event.rank, now);
    } else {
      transport(event.rank).flush();
    }
    depart(now);
    result.seconds = std::max(result.seconds, now);
    if (world.options.idle_wakeups > 0 && world.draw() < world.options.idle_wakeups) wake(event.rank, now);
  }
  void run() {
    const auto ranks = static_cast<index_t>(programs.size());
    for (index_t rank = 0; rank < ranks; ++rank) {
      speed.push_back(world.draw() < world.options.slow_ranks ? world.options.slowness : 1);
      programs[static_cast<std::size_t>(rank)]->start();
      depart(0);
      wake(rank, 0);
    }
    while (!events.empty()) {
      const Event event = events.top();
      events.pop();
      ++result.events;
      if (event.flight >= 0) arrive(event);
      else work(event);
    }
  }
};

SimulatedWorld::SimulatedWorld(index_t num_ranks, SimulationOptions options) {
  check_num_ranks(num_ranks);
  check(options);
  state_ = std::make_unique<State>(num_ranks, std::move(options));
}
SimulatedWorld::~SimulatedWorld() = default;

index_t SimulatedWorld::num_ranks() const { return static_cast<index_t>(state_->ranks.size()); }
Transport& SimulatedWorld::rank(index_t rank) {
  check_rank(rank, num_ranks());
  return state_->transport(rank);
}

SimulationResult SimulatedWorld::run(std::span<RankProgram* const> programs, std::span<Transport* const> transports) {
  const auto ranks = static_cast<std::size_t>(num_ranks());
  if (programs.size() != ranks || (!transports.empty() && transports.size() != ranks))
    throw DimensionError(std::to_string(programs.size()) + " programs for " + std::to_string(ranks) + " ranks");
  Run run{*state_, programs, transports, {}, {}, {}, {}, std::vector<double>(ranks), std::vector<char>(ranks), {}};
  run.result.busy_seconds.assign(ranks, 0);
  run.run();
  const auto traffic_of = [&](auto& counts) {
    std::vector<TrafficEntry> entries;
    for (const auto& [pair, entry] : counts) entries.push_back({pair.first, pair.second, entry.messages, entry.bytes});
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
