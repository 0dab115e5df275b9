// Plain triangles over ranks with one device each, whose kernels put to each other over a network: bits,
// traffic and memory as planned, planted faults, and what happens when a device does not answer.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/decaying_triangle.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"
#include "tests/solve/rank_triangles.hpp"

namespace palmette {
namespace {

using namespace reference;
using device::Fault;

constexpr offset_t bytes_of_column_report = sizeof(device::ElementReport);

template <class T>
SolvePlan<T> triangle_on_host(const SparseMatrix<T>& triangle, bool lower, bool unit_diagonal = false) {
  TriangleOptions options;
  options.lower = lower;
  options.unit_diagonal = unit_diagonal;
  return plan_triangle(triangle, options).value();
}

/// Devices of one process, by puts.
SolvePlan<double> columns_in_one_process(const SparseMatrix<double>& triangle, int devices, index_t tasks) {
  TriangleOptions options;
  options.plan.world = make_emulated_world(devices, {.blocks = 2, .threads = 32});
  options.plan.of_world.by_columns = true;
  options.plan.of_world.by_network = true;
  options.plan.of_world.tasks_per_element = tasks;
  return plan_triangle(triangle, options).value();
}

template <class T>
class TrianglesOverRanks : public OnEmulator {};
TYPED_TEST_SUITE(TrianglesOverRanks, TestedScalars);

/// Sums that are exact have one value in any order; x is then that of the serial engine, but for signs of
/// zeros.
TYPED_TEST(TrianglesOverRanks, have_the_bits_of_the_host_on_1_to_8_ranks_where_sums_are_exact) {
  using T = TypeParam;
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (const bool lower : {true, false}) {
      const bool unit = ranks % 2 == 0;
      const auto triangle = exact_triangle<T>(27, lower, ranks);
      const auto host = triangle_on_host(triangle, lower, unit);
      TriangleRanks<T> over(triangle, {ranks, 1 + ranks % 4, lower, unit, ranks});
      for (const index_t num_rhs : {1, 3, ranks == 3 ? 50 : 2}) {
        const auto b = whole_numbers<T>(27, num_rhs);
        for (const Operation operation : all_operations)
          EXPECT_EQ(solved(host, operation, b, {SolveMethod::serial, nullptr}).values,
                    over.solve(operation, b).values)
              << ranks << " ranks, " << name_of(operation) << ", " << num_rhs << " right-hand sides";
      }
    }
}

TYPED_TEST(TrianglesOverRanks, more_ranks_than_columns_one_column_and_none_are_ordinary_cases) {
  using T = TypeParam;
  for (const index_t n : {0, 1, 3}) {
    const auto triangle = exact_triangle<T>(n, true, 3);
    TriangleRanks<T> over(triangle, {7, 4});
    const auto host = triangle_on_host(triangle, true);
    for (const index_t num_rhs : {0, 2})
      for (const Operation operation : all_operations) {
        const auto b = whole_numbers<T>(n, num_rhs);
        EXPECT_EQ(solved(host, operation, b).values, over.solve(operation, b).values) << n;
      }
  }
}

TYPED_TEST(TrianglesOverRanks, are_right_under_every_seed_of_order) {
  using T = TypeParam;
  const auto triangle = random_triangle<T>(24, true, 9);
  const DenseMatrix<T> dense = dense_of(triangle);
  for (int seed = 1; seed <= testing::num_seeds_of<T>(500); ++seed) {
    constexpr std::int64_t endless = 1'000'000'000;
    TriangleRanks<T> over(triangle, {1 + seed % 8, 1 + seed % 5, true, false, seed, seed % 2 * endless});
    const DenseMatrix<T> b = random_dense<T>(24, seed / 8 % 4 == 0 ? 5 : 1, 7);
    const Operation operation = all_operations[seed % 3];
    ASSERT_LE(backward_error<T>(dense.view(), operation, b.view(), over.solve(operation, b).view()),
              8 * unit_roundoff<T>)
        << "seed " << seed;
  }
}

class TriangleOfFloatsOverRanks : public OnEmulator {};
class TriangleOfDoublesOverRanks : public OnEmulator {};

TEST_F(TriangleOfFloatsOverRanks, keeps_subnormal_numbers_when_it_is_driven) {
  const index_t n = testing::decaying_size;
  TriangleRanks<float> over(testing::decaying_triangle(), {});
  SimulatedWorld world(1, {});
  ThreadTeam team(1);
  DenseMatrix<float> x(n, 1);
  x.values[0] = 1;
  RankProgram& program =
      over.plans[0].begin(Operation::plain, std::as_const(x).view(), x.view(), world.rank(0));
  drive(program, world.rank(0), team);
  for (index_t k = 0; k < n; ++k) EXPECT_EQ(x.values[k], std::ldexp(1.0F, -6 * (k + 1))) << k;
}

/// A long chain, in every order in which puts arrive.
TEST_F(TriangleOfDoublesOverRanks, has_the_bits_of_devices_in_one_process) {
  const auto triangle = two_before_each(21);
  const DenseMatrix<double> b = random_dense<double>(21, 3, 7);
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (const Operation operation : all_operations) {
      TriangleRanks<double> over(triangle, {ranks, 3, true, false, ranks});
      const auto there = columns_in_one_process(triangle, ranks, 3);
      EXPECT_TRUE(same_bits(solved(there, operation, b), over.solve(operation, b))) << ranks;
    }
}

/// Of each rank: rows of its own to which another rank adds, in the worse of both directions.
offset_t slots_of(const std::vector<std::vector<index_t>>& rows, const SparsityPattern& pattern) {
  std::vector<int> owner(static_cast<std::size_t>(pattern.cols));
  for (std::size_t rank = 0; rank < rows.size(); ++rank)
    for (const index_t row : rows[rank]) owner[row] = static_cast<int>(rank);
  offset_t most = 0;
  for (const bool transposed : {false, true}) {
    std::vector<std::set<std::pair<index_t, int>>> come(rows.size());
    for (index_t column = 0; column < pattern.cols; ++column)
      for (const index_t row : pattern.column(column)) {
        const index_t to = transposed ? column : row, from = transposed ? row : column;
        if (owner[to] != owner[from]) come[owner[to]].emplace(to, owner[from]);
      }
    for (const auto& one : come) most = std::max(most, static_cast<offset_t>(one.size()));
  }
  return most;
}

TEST_F(TriangleOfDoublesOverRanks, messages_bytes_and_symmetric_memory_are_as_planned) {
  const auto triangle = random_triangle<double>(30, true, 9);
  for (const int ranks : {1, 2, 3, 5, 8}) {
    TriangleRanks<double> over(triangle, {ranks, 2, true, false, ranks});
    index_t most = 0;
    for (const index_t num_rhs : {1, 3, 50, 2}) {
      most = std::max(most, num_rhs);
      for (const Operation operation : {Operation::plain, Operation::transpose}) {
        PutTraffic planned;
        for (const auto& plan : over.plans) {
          const PutTraffic own = plan.put_traffic(operation, num_rhs);
          planned.messages += own.messages;
          planned.bytes += own.bytes;
        }
        EXPECT_EQ(planned.messages > 0, ranks > 1);
        const WorldCounts before = over.networks[0]->counts();
        (void)over.solve(operation, random_dense<double>(30, num_rhs, 7));
        const WorldCounts after = over.networks[0]->counts();
        EXPECT_EQ(after.puts - before.puts, planned.messages);
        EXPECT_EQ(after.put_bytes - before.put_bytes, planned.bytes);
        EXPECT_EQ(after.gets, before.gets);
      }
      for (const auto& network : over.networks)
        EXPECT_EQ(network->bytes_in_use(), over.plans[0].symmetric_bytes(most));
      std::vector<std::vector<index_t>> rows;
      for (const auto& plan : over.plans) rows.emplace_back(plan.rows().begin(), plan.rows().end());
      const offset_t slots = slots_of(rows, triangle.pattern);
      EXPECT_EQ(slots > 0, ranks > 1);
      EXPECT_LE(slots, (ranks - 1) * static_cast<offset_t>((30 + ranks - 1) / ranks));
      EXPECT_EQ(over.plans[0].symmetric_bytes(most),
                8 * most * (30 + slots) + 8 * slots + bytes_of_column_report);
    }
    EXPECT_EQ(over.plans[0].launches(), 8);
    EXPECT_GT(over.plans[0].memory_bytes(), over.plans[0].symmetric_bytes(most));
    over.plans.clear();
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(over.networks[rank]->bytes_in_use(), 0);
      EXPECT_EQ(over.devices[rank]->bytes_in_use(), 0);
    }
  }
}

Launcher planted_in_columns(Fault fault) {
  return [fault](const device::KernelCall& call, const device::LaunchShape& shape) {
    return device::columns_with(fault, device::Sharing::put,
                                *static_cast<const device::ColumnSweep<double>*>(call.argument), shape);
  };
}

TEST_F(TriangleOfDoublesOverRanks, planted_faults_are_found_in_every_seed) {
  const auto triangle = random_triangle<double>(60, true, 9);
  for (int seed = 1; seed <= testing::num_seeds(25); ++seed)
    for (const index_t num_rhs : {1, 3}) {
      const auto outcome = [&](Fault fault) {
        TriangleRanks<double> over(triangle, {3, 4, true, false, seed, 0, planted_in_columns(fault)});
        return over.error_of(Operation::plain, random_dense<double>(60, num_rhs, 7));
      };
      EXPECT_EQ(outcome(Fault::none), "nothing was thrown") << seed;
      EXPECT_NE(outcome(Fault::no_network_wait).find("race"), std::string::npos) << seed;
      EXPECT_NE(outcome(Fault::no_quiet).find("without quiet"), std::string::npos) << seed;
      EXPECT_NE(outcome(Fault::early_reuse).find("before quiet"), std::string::npos) << seed;
    }
}

/// Ranks whose device `dead` runs a kernel that does nothing, while `is_dead`.
struct TroubledRanks {
  TroubledRanks(int seed, int dead, index_t n = 21, std::int64_t most_polls = 20)
      : triangle(two_before_each(n)),
        ranks(triangle, {3, 7, true, false, seed, most_polls,
                         [dead, is_dead = is_dead](const auto& call, const auto& shape) {
                           emulate::Launch launch = device::emulated_launch(call, shape);
                           const auto& sweep =
                               *static_cast<const device::ColumnSweep<double>*>(call.argument);
                           if (sweep.element == dead && *is_dead) launch.kernel = [] {};
                           return launch;
                         },
                         200}) {}
  SparseMatrix<double> triangle;
  std::shared_ptr<bool> is_dead = std::make_shared<bool>(false);
  TriangleRanks<double> ranks;
};

/// Column k is on rank k mod 3. Row 2 is the first that needs rank 1; from below, row 18 is the first. The
/// last rank looks first.
TEST_F(TriangleOfDoublesOverRanks, a_device_that_adds_nothing_is_named_and_the_plan_lives_on) {
  const DenseMatrix<double> b = random_dense<double>(21, 3, 7);
  for (int seed = 1; seed <= testing::num_seeds(20); ++seed) {
    TroubledRanks troubled(seed, 1);
    const auto judge = troubled.ranks.solve(Operation::plain, b);
    const auto turned = troubled.ranks.solve(Operation::transpose, b);
    *troubled.is_dead = true;
    EXPECT_EQ(troubled.ranks.error_of(Operation::plain, b),
              "the device of rank 2 has waited in vain, at column 3, for what the device of rank 1 adds to "
              "its row, in a sweep by columns of 3 ranks");
    const std::string text = troubled.ranks.error_of(Operation::transpose, b);
    EXPECT_NE(text.find("for what the device of rank "), std::string::npos) << text;
    *troubled.is_dead = false;
    EXPECT_TRUE(same_bits(judge, troubled.ranks.solve(Operation::plain, b))) << seed;
    EXPECT_TRUE(same_bits(turned, troubled.ranks.solve(Operation::transpose, b))) << seed;
  }
}

/// The one that has not given up learns of it, waits for the others' word, and gives no wrong x back.
TEST_F(TriangleOfDoublesOverRanks, no_rank_goes_on_when_another_has_given_up) {
  TroubledRanks troubled(1, 1);
  TriangleRanks<double>& ranks = troubled.ranks;
  const DenseMatrix<double> b = random_dense<double>(21, 1, 7);
  *troubled.is_dead = true;
  SimulatedWorld world(3, {});
  std::vector<DenseMatrix<double>> x;
  std::vector<RankProgram*> programs;
  for (int rank = 0; rank < 3; ++rank) x.push_back(ranks.own_rows(rank, b));
  for (int rank = 0; rank < 3; ++rank)
    programs.push_back(&ranks.plans[rank].begin(Operation::plain, std::as_const(x[rank]).view(),
                                                x[rank].view(), world.rank(rank)));
  for (RankProgram* const one : programs) one->start();
  for (int turn = 0; turn < 4; ++turn) EXPECT_FALSE(programs[1]->run_one_task(0));
  EXPECT_FALSE(programs[1]->done());
  EXPECT_NE(programs[1]->waiting_for().find("the rank whose device has waited in vain"), std::string::npos);
  EXPECT_THROW((void)programs[2]->run_one_task(0), DeviceError);
}

/// Without a watchdog the emulator reports a deadlock: signals of that solve may still come.
TEST_F(TriangleOfDoublesOverRanks, a_plan_whose_kernels_failed_says_what_to_do) {
  TroubledRanks troubled(1, 1, 21, 0);
  const DenseMatrix<double> b = random_dense<double>(21, 1, 7);
  *troubled.is_dead = true;
  EXPECT_NE(troubled.ranks.error_of(Operation::plain, b).find("deadlock"), std::string::npos);
  EXPECT_NE(troubled.ranks.error_of(Operation::plain, b).find("start all ranks again"), std::string::npos);
}

/// Rank 1 has begun nothing: ranks that have begun a kernel are in another sweep.
TEST_F(TriangleOfDoublesOverRanks, recovery_lets_healthy_plans_go_on_and_refuses_the_others_on_all_ranks) {
  const auto triangle = two_before_each(21);
  const DenseMatrix<double> b = random_dense<double>(21, 1, 7);
  for (const int begun : {0, 1, 2, 3}) {  // ranks that begin the solve that ends early
    TriangleRanks<double> ranks(triangle, {3, 2});
    const auto judge = ranks.solve(Operation::plain, b);
    SimulatedWorld world(3, {});
    std::vector<DenseMatrix<double>> x;
    for (int rank = 0; rank < 3; ++rank) x.push_back(ranks.own_rows(rank, b));
    for (int rank = 0; rank < begun; ++rank)
      ranks.plans[rank]
          .begin(Operation::plain, std::as_const(x[rank]).view(), x[rank].view(), world.rank(rank))
          .start();
    if (begun == 1) {  // its kernel waits
      EXPECT_THROW(ranks.plans[0].reserve(Operation::plain, 1), DeviceError);
    }
    ThreadWorld threads(3);
    std::atomic<int> refused{0};
    threads.run([&](Transport& transport) {
      try {
        ranks.plans[transport.rank()].recover(transport, 60);
      } catch (const DeviceError& error) {
        EXPECT_EQ(std::string(error.what()).find("the ranks cannot go on"), 0u) << error.what();
        ++refused;
      }
    });
    EXPECT_EQ(refused, begun % 3 == 0 ? 0 : 3) << begun;
    if (refused == 0) {
      EXPECT_TRUE(same_bits(judge, ranks.solve(Operation::plain, b)));
    } else {
      EXPECT_NE(ranks.error_of(Operation::plain, b).find("start all ranks again"), std::string::npos);
    }
  }
}

/// What each rank says when all recover; empty: nothing.
std::vector<std::string> said_in_recovery(TriangleRanks<double>& ranks, double watchdog_seconds,
                                          bool abandoned = false) {
  std::vector<std::string> said(ranks.plans.size());
  ThreadWorld(ranks.count()).run([&](Transport& transport) {
    const index_t rank = transport.rank();
    if (abandoned && rank == 0) transport.abandon("ended before");
    try {
      ranks.plans[rank].recover(transport, watchdog_seconds);
    } catch (const DeviceError& error) {
      said[rank] = error.what();
    } catch (const BrokenRun& error) {
      said[rank] = std::string("broken: ") + error.what();
    }
  });
  return said;
}

/// The kernels of ranks 1 and 2 of four seem to run for ever; later they have ended.
TEST_F(TriangleOfDoublesOverRanks, recovery_gives_up_after_a_time_and_names_the_rank_that_is_waited_for) {
  const auto triangle = two_before_each(21);
  const DenseMatrix<double> b = random_dense<double>(21, 1, 7);
  const auto runs = std::make_shared<std::atomic<bool>>(false);
  TriangleRanksSetting setting{4, 2};
  setting.wrap = [&](int rank, auto device, auto network) -> std::shared_ptr<DeviceNetwork> {
    if (rank == 0 || rank == 3) return network;
    return std::make_shared<SlowNetwork>(device, network, runs);
  };
  TriangleRanks<double> ranks(triangle, setting);
  const auto judge = ranks.solve(Operation::plain, b);
  *runs = true;
  SimulatedWorld world(4, {});
  std::vector<DenseMatrix<double>> x;
  for (int rank = 0; rank < 4; ++rank) x.push_back(ranks.own_rows(rank, b));
  for (int rank = 0; rank < 4; ++rank)
    ranks.plans[rank]
        .begin(Operation::plain, std::as_const(x[rank]).view(), x[rank].view(), world.rank(rank))
        .start();
  EXPECT_NO_THROW(ranks.plans[0].check());
  EXPECT_THROW(ranks.plans[1].check(), DeviceError);
  for (int times = 0; times < 2; ++times)
    for (const std::string& said : said_in_recovery(ranks, 0.05))
      EXPECT_NE(said.find("that of rank 1 still runs, with those of 1 other rank: call recover of"),
                std::string::npos)
          << said;
  for (const std::string& said : said_in_recovery(ranks, 60, true)) EXPECT_EQ(said, "broken: ended before");
  *runs = false;
  for (const std::string& said : said_in_recovery(ranks, 60)) EXPECT_EQ(said, "");
  EXPECT_TRUE(same_bits(judge, ranks.solve(Operation::plain, b)));
}

/// Rank 1 has no room for so many: it alone throws, and all go on with fewer.
TEST_F(TriangleOfDoublesOverRanks, room_is_found_before_anything_is_allocated_together) {
  const auto triangle = two_before_each(21);
  const DenseMatrix<double> b = random_dense<double>(21, 2, 7);
  TriangleRanks<double> ranks(triangle, {3, 2});
  const auto judge = TriangleRanks<double>(triangle, {3, 2}).solve(Operation::plain, b);
  ranks.plans[1].reserve(Operation::plain, 2);
  ranks.devices[1]->limit_memory(ranks.devices[1]->bytes_in_use() + 100);
  for (const index_t num_rhs : {50, 2}) {
    for (int rank = 0; rank < 3; ++rank) {
      const auto reserve = [&] { ranks.plans[rank].reserve(Operation::plain, num_rhs); };
      if (rank == 1 && num_rhs == 50) {
        EXPECT_THROW(reserve(), MemoryError);
      } else {
        reserve();
      }
    }
  }
  EXPECT_TRUE(same_bits(judge, ranks.solve(Operation::plain, b)));
}

TEST_F(TriangleOfDoublesOverRanks, misuse_is_named) {
  const auto triangle = two_before_each(5);
  RankTriangleOptions options;
  EXPECT_THROW((void)plan_rank_triangle(triangle, options), UsageError);
  options.device = make_emulated_device();
  EXPECT_THROW((void)plan_rank_triangle(triangle, options), UsageError);
  options.network = make_emulated_networks({options.device}).front();
  EXPECT_TRUE(plan_rank_triangle(triangle, options).ok());
  const auto refused = [&](auto change) {
    RankTriangleOptions changed = options;
    change(changed);
    EXPECT_THROW((void)plan_rank_triangle(triangle, changed), UsageError);
  };
  refused([](RankTriangleOptions& o) { o.tasks_per_rank = 0; });
  refused([](RankTriangleOptions& o) { o.max_rhs = 0; });
  refused([](RankTriangleOptions& o) { o.rank = 1; });
  refused([](RankTriangleOptions& o) { o.num_ranks = 33; });
  auto plan = plan_rank_triangle(triangle, options).value();
  SimulatedWorld two(2, {}), one(1, {});
  DenseMatrix<double> right(5, 1), short_one(4, 1), wide(5, 65);
  const auto begin = [&](DenseMatrix<double>& x, SimulatedWorld& world) {
    (void)plan.begin(Operation::plain, std::as_const(x).view(), x.view(), world.rank(0));
  };
  EXPECT_THROW(begin(right, two), UsageError);
  EXPECT_THROW(begin(short_one, one), DimensionError);
  EXPECT_THROW(begin(wide, one), DimensionError);
  SparseMatrix<double> zero = two_before_each(5);
  zero.values[0] = 0;
  const auto singular = plan_rank_triangle(zero, options);
  ASSERT_FALSE(singular.ok());
  EXPECT_EQ(singular.failure().kind, FailureKind::numerically_singular);
  EXPECT_EQ(singular.failure().row, 0);
  EXPECT_THROW(plan.reserve(Operation::plain, 65), DimensionError);
  EXPECT_THROW(plan.reserve(Operation::plain, -1), UsageError);
}

/// Room for many, also after a solve for fewer.
TEST_F(TriangleOfDoublesOverRanks, what_was_reserved_stays) {
  TriangleRanks<double> ranks(two_before_each(21), {3, 2});
  for (int rank = 0; rank < 3; ++rank) ranks.plans[rank].reserve(Operation::plain, 50);
  for (int rank = 0; rank < 3; ++rank) ranks.plans[rank].allocate();
  (void)ranks.solve(Operation::plain, random_dense<double>(21, 2, 7));
  for (const auto& network : ranks.networks)
    EXPECT_EQ(network->bytes_in_use(), ranks.plans[0].symmetric_bytes(50));
}

TEST_F(TriangleOfDoublesOverRanks, costs_are_those_of_any_number_of_right_hand_sides) {
  RankTriangleOptions options;
  options.device = make_emulated_device();
  options.network = make_emulated_networks({options.device}).front();
  options.max_rhs = std::numeric_limits<index_t>::max();
  const auto plan = plan_rank_triangle(two_before_each(5), options).value();
  EXPECT_GT(plan.cost(3).bytes, plan.cost(1).bytes);
  EXPECT_GT(plan.cost(1).bytes, 0);
}

}  // namespace
}  // namespace palmette
