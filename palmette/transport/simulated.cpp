// The ends of simulated ranks.
#include "palmette/transport/simulated_state.hpp"

namespace palmette {

namespace transport_detail {

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

}  // namespace transport_detail

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
    std::deque<Message>& arrived = world_.inbox[rank_];
    if (arrived.empty()) return false;
    message = std::move(arrived.front());
    arrived.pop_front();
    world_.taken_from = message.source;
    return true;
  }
  void flush() override {}
  double sum(double) override {
    throw UsageError("simulated ranks share one thread: they cannot wait for a sum");
  }
  int agree(int) override {
    throw UsageError("simulated ranks share one thread: they cannot wait for an agreement");
  }
  bool carry_from(const std::shared_ptr<BytePool>&) override { return true; }
  void rest(int) override {}
  void abandon(const std::string& reason) override { world_.why = reason; }

 private:
  State& world_;
  index_t rank_;
};

SimulatedWorld::State::State(index_t num_ranks, SimulationOptions chosen)
    : options(std::move(chosen)), random(options.seed), inbox(num_ranks),
      offers(num_ranks) {
  for (index_t rank = 0; rank < num_ranks; ++rank) {
    ranks.push_back(std::make_unique<Rank>(*this, rank));
    if (options.packing) packers.push_back(std::make_unique<Aggregator>(*ranks.back(), *options.packing));
  }
}
SimulatedWorld::State::~State() = default;

Transport& SimulatedWorld::State::transport(index_t rank) {
  if (options.packing) return *packers[rank];
  return *ranks[rank];
}

namespace {

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

}  // namespace palmette
