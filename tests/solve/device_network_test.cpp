// Ranks with one device each, whose kernels send to each other over a network: bits, memory, and what happens
// when a device does not answer.
#include <gtest/gtest.h>

#include "tests/solve/device_ranks.hpp"

namespace palmette {
namespace {

using namespace reference;

constexpr offset_t bytes_of_report = sizeof(device::ElementReport);

class DeviceRanksOverANetwork : public DeviceRankRuns {};

/// Kernels that send to each other by themselves, in every order in which puts arrive, and without a race.
TEST_F(DeviceRanksOverANetwork, have_their_bits_in_symmetric_memory_as_large_as_planned) {
  const auto factor = small_factor();
  for (const Shape& shape : {Shape{{1, 1}}, Shape{{4, 1}}, Shape{{2, 2}, 2}, Shape{{2, 1}, 3, at_levels}}) {
    Setting setting{shape, MemoryKind::symmetric};
    setting.emulated.emulator = {.delay_stores = true, .find_races = true};
    DeviceRanks<double> ranks(factor, setting);
    WorldOptions of_world{shape.grid, shape.layers, shape.method};
    of_world.subtrees = small_subtrees;
    const auto programs = solve_detail::programs_of_world(*factor->symbolic, of_world, sizeof(double));
    EXPECT_EQ(programs.traffic.messages > 0, shape.num_ranks() > 1);
    offset_t before = 0;
    for (const index_t num_rhs : {1, 3, 3}) {
      const auto b = random_dense<double>(factor->size(), num_rhs, 5);
      const auto judge = solved(in_one_process(factor, shape), Operation::plain, b);
      EXPECT_TRUE(same_bits(judge, ranks.solve(Operation::plain, b, 3)));
      const offset_t rows = programs.shared_rows * (num_rhs == 1 ? 1 : 4);
      for (const auto& network : ranks.networks)
        EXPECT_EQ(network->bytes_in_use(), 8 * (rows + programs.num_signals) + bytes_of_report);
      EXPECT_EQ(ranks.carried().launches - before, 2 * shape.num_ranks());
      EXPECT_EQ(ranks.carried().messages, 0);
      before = ranks.carried().launches;
    }
    EXPECT_EQ(ranks.plans[0].memory_kind(), MemoryKind::symmetric);
    const offset_t with = ranks.plans[0].memory_bytes();
    DeviceRanks<double> hosts(factor, {shape, MemoryKind::reference});
    (void)hosts.solve(Operation::plain, random_dense<double>(factor->size(), 3, 5), 3);
    EXPECT_EQ(with - hosts.plans[0].memory_bytes(), 8 * programs.num_signals + bytes_of_report);
    ranks.plans.clear();
    for (const auto& network : ranks.networks) EXPECT_EQ(network->bytes_in_use(), 0);
  }
}

/// Ranks that solve over a network, where the kernel of one launch of all does nothing.
Setting with_an_idle_kernel(const Shape& shape, int idle, std::int64_t most_polls) {
  Setting setting{shape, MemoryKind::symmetric};
  setting.most_polls = most_polls;
  setting.emulated.emulator.last_looks = 100;
  setting.launcher = [idle, launches = std::make_shared<int>(0)](const device::KernelCall& call,
                                                                 const device::LaunchShape& shape_of_call) {
    emulate::Launch launch = device::emulated_launch(call, shape_of_call);
    if ((*launches)++ == idle) launch.kernel = [] {};
    return launch;
  };
  return setting;
}

/// Another rank gives up, and says what it has waited for; the plans of all can then be used again.
TEST_F(DeviceRanksOverANetwork, a_device_that_does_not_send_is_named_and_later_solves_are_right) {
  const auto factor = small_factor();
  const auto b = random_dense<double>(factor->size(), 1, 5);
  const Shape shape{{3, 1}};
  const auto judge = solved(in_one_process(factor, shape), Operation::plain, b);
  for (const int idle : {0, 2, 3, 5}) {  // in either sweep one of the ranks for which others wait
    DeviceRanks<double> ranks(factor, with_an_idle_kernel(shape, idle, 20));
    const std::string text = text_of<DeviceError>([&] { (void)ranks.solve(Operation::plain, b, 3); });
    EXPECT_NE(text.find(" has waited in vain for "), std::string::npos) << idle << ": " << text;
    EXPECT_NE(text.find(idle < 3 ? ", in the forward sweep" : ", in the backward sweep"), std::string::npos)
        << idle << ": " << text;
    for (int again = 0; again < 2; ++again)
      EXPECT_TRUE(same_bits(judge, ranks.solve(Operation::plain, b, 3))) << idle;
  }
}

/// The one that has not given up learns of it, waits for the others' word, and gives no wrong x back.
TEST_F(DeviceRanksOverANetwork, no_rank_goes_on_when_another_has_given_up) {
  const auto factor = small_factor();
  DeviceRanks<double> ranks(factor, with_an_idle_kernel({{2, 1}}, 0, 20));
  std::vector<DenseMatrix<double>> x;
  std::vector<RankProgram*> programs;
  SimulatedWorld world(2, {});
  for (int rank = 0; rank < 2; ++rank) {
    x.emplace_back(static_cast<index_t>(ranks.plans[rank].rows().size()), 1);
    programs.push_back(&ranks.plans[rank].begin(Operation::plain, std::as_const(x[rank]).view(),
                                                x[rank].view(), world.rank(rank)));
  }
  for (RankProgram* const one : programs) one->start();
  for (int turn = 0; turn < 4; ++turn) EXPECT_FALSE(programs[0]->run_one_task(0));
  EXPECT_FALSE(programs[0]->done());
  EXPECT_NE(programs[0]->waiting_for().find("the rank whose device has waited in vain"), std::string::npos);
  EXPECT_THROW((void)programs[1]->run_one_task(0), DeviceError);
}

/// A solve that ended while kernels ran: where all ranks have begun it, they go on.
TEST_F(DeviceRanksOverANetwork, recovery_waits_for_kernels_that_all_have_begun) {
  const auto factor = small_factor();
  const auto b = random_dense<double>(factor->size(), 1, 5);
  const Shape shape{{3, 1}};
  for (const int begun : {1, 3}) {  // ranks that begin the solve that ends early
    DeviceRanks<double> ranks(factor, {shape, MemoryKind::symmetric});
    const auto judge = ranks.solve(Operation::plain, b, 3);
    std::vector<DenseMatrix<double>> x;
    SimulatedWorld world(3, {});
    for (const auto& plan : ranks.plans) x.emplace_back(static_cast<index_t>(plan.rows().size()), 1);
    for (int rank = 0; rank < begun; ++rank)
      ranks.plans[rank]
          .begin(Operation::plain, std::as_const(x[rank]).view(), x[rank].view(), world.rank(rank))
          .start();
    std::atomic<int> refused{0};
    ThreadWorld(3).run([&](Transport& transport) {
      try {
        ranks.plans[transport.rank()].recover(transport, 60);
      } catch (const DeviceError&) {
        ++refused;
      }
    });
    EXPECT_EQ(refused, begun == 3 ? 0 : 3);
    if (begun == 3) {
      EXPECT_TRUE(same_bits(judge, ranks.solve(Operation::plain, b, 3)));
    }
  }
}

/// Without a watchdog the emulator reports a deadlock: signals of that sweep may still come.
TEST_F(DeviceRanksOverANetwork, a_plan_whose_kernels_failed_says_what_to_do) {
  const auto factor = small_factor();
  DeviceRanks<double> ranks(factor, with_an_idle_kernel({{2, 1}}, 0, 0));
  const auto b = random_dense<double>(factor->size(), 1, 5);
  EXPECT_NE(text_of<DeviceError>([&] { (void)ranks.solve(Operation::plain, b, 3); }).find("deadlock"),
            std::string::npos);
  EXPECT_NE(text_of<DeviceError>([&] { (void)ranks.solve(Operation::plain, b, 3); })
                .find("start all ranks again, and make their plans anew"),
            std::string::npos);
}

TEST_F(DeviceRanksOverANetwork, the_memory_kind_symmetric_needs_a_network) {
  const auto factor = small_factor();
  const auto placement = std::make_shared<const Placement>(
      place(*factor->symbolic, {1, 1}, PlacementMap::block_cyclic, small_subtrees));
  const auto part = std::make_shared<const RankFactor<double>>(rank_part(*factor, placement, 0));
  RankPlanOptions options;
  options.device = make_emulated_device();
  options.memory = MemoryKind::symmetric;
  EXPECT_THROW(RankSolvePlan<double>(part, options), UsageError);
  options.network = make_emulated_networks({options.device}).front();
  EXPECT_NO_THROW(RankSolvePlan<double>(part, options));
  options.memory = MemoryKind::native;
  EXPECT_THROW(RankSolvePlan<double>(part, options), UsageError);
}

}  // namespace
}  // namespace palmette
