// A solve over one-sided queues in memory that tears every put: our protocol gives the same bits as messages;
// a signal after a local flush is detected.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "../factorize/factor_testing.hpp"
#include "../transport/torn_memory.hpp"
#include "palmette/factorize/factorize.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette {
namespace {

using testing::Flavour;
using testing::Problem;
using testing::random_sparse;
using testing_transport::Fabric;
using testing_transport::LocallyFlushed;
using testing_transport::OneSidedQueue;
using testing_transport::QueueEnd;
using testing_transport::TearingMemory;

constexpr index_t n = 40;

/// Plans of all ranks.
std::vector<RankSolvePlan<double>> plans_of(const Problem<double>& problem,
                                            const std::shared_ptr<const Placement>& placement) {
  SimulatedWorld world(placement->num_ranks(), {});
  std::vector<RankFactorization<double>> parts;
  std::vector<RankProgram*> programs;
  for (index_t rank = 0; rank < placement->num_ranks(); ++rank)
    parts.emplace_back(RankSystem<double>{problem.matrix, problem.symbolic, placement, problem.ordering},
                       RankFactorizeOptions{FactorKind::llt, 0, 1}, world.rank(rank));
  for (auto& part : parts) programs.push_back(&part.program());
  world.run(programs);
  std::vector<RankSolvePlan<double>> plans;
  for (auto& part : parts) plans.emplace_back(std::make_shared<const RankFactor<double>>(part.take()));
  return plans;
}

/// One solve: programs with their rows of b, which become x.
struct Solve {
  std::vector<std::vector<double>> x;
  std::vector<RankProgram*> programs;
  template <class TransportOf>
  Solve(std::vector<RankSolvePlan<double>>& plans, const TransportOf& transport) {
    x.resize(plans.size());
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      for (const index_t row : plans[rank].rows()) x[rank].push_back(row * 7 % 11 - 5);
      const auto count = static_cast<index_t>(x[rank].size());
      const DenseView<double> both{x[rank].data(), count, 1, count};
      programs.push_back(
          &plans[rank].begin(Operation::plain, both, both, transport(static_cast<index_t>(rank))));
    }
  }
};

/// Records what was sent, so that data that was never sent is detected before a program uses it.
class Remembering final : public Transport {
 public:
  using Sent = std::multiset<std::tuple<index_t, index_t, std::int64_t, std::vector<std::byte>>>;
  Remembering(QueueEnd& inner, Sent& sent) : inner_(inner), sent_(sent) {}
  index_t rank() const override { return inner_.rank(); }
  index_t num_ranks() const override { return inner_.num_ranks(); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    sent_.emplace(rank(), destination, tag,
                  std::vector<std::byte>(payload.view().begin(), payload.view().end()));
    inner_.send(destination, tag, std::move(payload));
  }
  bool poll(Message& message) override {
    if (!inner_.poll(message)) return false;
    const auto found = sent_.find({message.source,
                                   rank(),
                                   message.tag,
                                   {message.payload.view().begin(), message.payload.view().end()}});
    if (found == sent_.end()) throw BrokenRun("a message that nobody sent");
    sent_.erase(found);
    return true;
  }
  void flush() override { inner_.flush(); }
  double sum(double value) override { return value; }
  int agree(int status) override { return status; }
  void abandon(const std::string&) override {}

 private:
  QueueEnd& inner_;
  Sent& sent_;
};

/// @returns whether x has the same bits as over messages
template <class Queue>
bool solves(Publication publication, std::uint64_t seed) {
  AnalyzeOptions narrow;
  narrow.max_width = 4;
  const Problem<double> problem(
      random_sparse<double>(Flavour::positive_definite, n, 1.2, static_cast<unsigned>(seed)), FactorKind::llt,
      narrow);
  const index_t ranks = 2 + static_cast<index_t>(seed % 3);
  const auto placement = std::make_shared<const Placement>(
      place(*problem.symbolic, nearly_square_grid(ranks), PlacementMap::block_cyclic, {false}));
  std::vector<RankSolvePlan<double>> plans = plans_of(problem, placement);
  SimulatedWorld world(ranks, {});
  Solve over_messages(plans, [&](index_t rank) -> Transport& { return world.rank(rank); });
  world.run(over_messages.programs);

  const TransportPlan plan =
      transport_plan(predicted_solve_traffic(*problem.symbolic, *placement, TreeShape::binary,
                                             padded_rhs(sizeof(double), 1) * offset_t{sizeof(double)}));
  std::vector<std::size_t> bytes;
  for (index_t rank = 0; rank < ranks; ++rank)
    bytes.push_back(transport_detail::QueueLayout(plan).window_bytes(rank));
  Fabric fabric(bytes, seed);
  Remembering::Sent sent;
  std::vector<std::unique_ptr<TearingMemory>> memory;
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<std::unique_ptr<QueueEnd>> ends;
  std::vector<std::unique_ptr<Remembering>> transports;
  for (index_t rank = 0; rank < ranks; ++rank) {
    memory.push_back(std::make_unique<TearingMemory>(fabric, rank, ranks));
    queues.push_back(std::make_unique<Queue>(*memory.back(), plan, publication));
    queues.back()->begin(1);
    ends.push_back(std::make_unique<QueueEnd>(*memory.back(), *queues.back()));
    transports.push_back(std::make_unique<Remembering>(*ends.back(), sent));
  }
  Solve solve(plans, [&](index_t rank) -> Transport& { return *transports[rank]; });
  for (RankProgram* const program : solve.programs) program->start();
  // All words arrive in the end with probability 1; this many turns without it are a fault.
  for (int turn = 0; turn < 200000; ++turn) {
    const auto rank = static_cast<std::size_t>(fabric.random()() % static_cast<std::uint64_t>(ranks));
    Message message;
    if (transports[rank]->poll(message)) solve.programs[rank]->on_message(message);
    else solve.programs[rank]->run_one_task(0);
    if (turn % 16 == 0 && std::all_of(solve.programs.begin(), solve.programs.end(),
                                      [](RankProgram* one) { return one->done(); }))
      break;
  }
  return solve.x == over_messages.x;
}

TEST(torn_solve, both_protocols_have_the_bits_of_messages) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    for (const Publication publication : {Publication::checksum, Publication::counter})
      ASSERT_TRUE(solves<OneSidedQueue>(publication, seed))
          << "seed " << seed << ", " << name_of(publication);
}

TEST(torn_solve, a_signal_after_a_local_flush_is_caught) {
  int caught = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    try {
      caught += solves<LocallyFlushed>(Publication::counter, seed) ? 0 : 1;
    } catch (const Error&) {
      ++caught;
    }
  }
  EXPECT_GE(caught, 40) << "the test would not see a protocol that is wrong";
}

}  // namespace
}  // namespace palmette
