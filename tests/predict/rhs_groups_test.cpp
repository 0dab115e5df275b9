// Groups of right-hand sides: predicted to pay where bytes of messages are waited for, and nowhere else.
#include <gtest/gtest.h>

#include "tests/predict/predict_testing.hpp"

namespace palmette {
namespace {

using testing::microsecond;
using testing::simple_cluster;

/// A chain on so many ranks: each step has a message.
SolveGraph chain_tasks(index_t n, index_t ranks) {
  const SymbolicFactor symbolic =
      analyze(testing::chain_matrix(n).pattern, testing::natural_order(n), testing::single_columns());
  return solve_tasks(symbolic, place(symbolic, {ranks, 1}, PlacementMap::block_cyclic, {false}),
                     TreeShape::flat);
}

TEST(rhs_groups, have_the_tasks_and_edges_of_each_and_those_of_the_first_are_most_urgent) {
  const SolveGraph one = chain_tasks(5, 2), three = tasks_in_groups(one, 3);
  ASSERT_EQ(three.num_tasks(), 3 * one.num_tasks());
  ASSERT_EQ(three.edges.size(), 3 * one.edges.size());
  EXPECT_EQ(three.out_ptr.back(), static_cast<offset_t>(three.edges.size()));
  for (index_t task = 0; task < one.num_tasks(); ++task) {
    const index_t last = task + 2 * one.num_tasks();
    EXPECT_EQ(three.tasks[last].urgency, one.tasks[task].urgency);
    for (index_t other = 0; other < one.num_tasks(); ++other)
      EXPECT_GT(three.tasks[task].urgency, three.tasks[other + one.num_tasks()].urgency);
    ASSERT_EQ(three.out(last).size(), one.out(task).size());
    for (std::size_t k = 0; k < one.out(task).size(); ++k)
      EXPECT_EQ(three.out(last)[k].to, one.out(task)[k].to + 2 * one.num_tasks());
  }
  EXPECT_THROW(tasks_in_groups(one, 0), UsageError);
}

// 20 columns on 4 ranks, 32 right-hand sides: 19 messages of 5 + 32 µs in each sweep. The first of two groups
// has messages of 5 + 16 µs, and its steps wait for at most a task of the other one, 1 µs each; the second
// group is behind by what its messages wait for those of the first.
TEST(rhs_groups, pay_where_bytes_of_messages_are_waited_for) {
  const SolveGraph tasks = chain_tasks(20, 4);
  const Cluster cluster = simple_cluster();
  const GroupChoice found = choose_rhs_groups(tasks, rank_rates(tasks, cluster, 32, 8));
  EXPECT_NEAR(found.plain_seconds, 2 * (20 + 19 + 19 * (5 + 32)) * microsecond, 1e-12);
  RankRates half = rank_rates(tasks, cluster, 16, 8);
  const double two = schedule_solve(tasks_in_groups(tasks, 2), half).seconds;
  EXPECT_GE(two, 2 * (20 + 19 + 19 * (5 + 16)) * microsecond - 1e-12);
  EXPECT_LE(two, 2 * (2 * (20 + 19) + 19 * (5 + 16) + 16) * microsecond);
  EXPECT_GT(found.groups, 1);
  EXPECT_LE(found.seconds, two);
}

TEST(rhs_groups, do_not_pay_on_one_rank_for_few_right_hand_sides_or_where_messages_cost_overheads) {
  const SolveGraph alone = chain_tasks(20, 1), tasks = chain_tasks(20, 4);
  Cluster cluster = simple_cluster();
  EXPECT_EQ(choose_rhs_groups(alone, rank_rates(alone, cluster, 32, 8)).groups, 1);
  EXPECT_EQ(choose_rhs_groups(tasks, rank_rates(tasks, cluster, 1, 8)).groups, 1);
  EXPECT_EQ(choose_rhs_groups(tasks, rank_rates(tasks, cluster, 14, 8)).groups, 1) << "half a line each";
  testing::set_message_overheads(cluster, 400);
  EXPECT_EQ(choose_rhs_groups(tasks, rank_rates(tasks, cluster, 32, 8)).groups, 1);
}

}  // namespace
}  // namespace palmette
