// How blocks of GPU threads share a sweep: every order is topological, and large panels have several tasks.
#include <gtest/gtest.h>

#include <algorithm>

#include "palmette/tasks/tasks.hpp"

namespace palmette {
namespace {

SymbolicFactor factor_of(const char* problem, index_t n) {
  GenerateOptions what;
  what.problem = problem;
  what.n = n;
  const SparseMatrix<double> matrix = generate(what);
  OrderOptions options;
  options.method = OrderingMethod::amd;
  return analyze(matrix.pattern, order(matrix, options).value());
}

/// By task: its place in an order, which must hold each task once.
std::vector<index_t> places_in(const std::vector<index_t>& order) {
  std::vector<index_t> place(order.size(), -1);
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<index_t>(k);
  EXPECT_EQ(std::count(place.begin(), place.end(), -1), 0);
  return place;
}

TEST(block_tasks, orders_hold_every_task_once_and_after_those_that_it_waits_for) {
  for (const SymbolicFactor& symbolic : {factor_of("poisson3d7", 12), factor_of("poisson2d5", 30)}) {
    const BlockTasks tasks = block_tasks(symbolic);
    const auto forward = places_in(tasks.forward), backward = places_in(tasks.backward),
               level = places_in(tasks.by_level);
    ASSERT_EQ(tasks.forward.size(), tasks.supernode_of.size());
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
      const index_t up = symbolic.parent[s];
      for (index_t task = tasks.task_ptr[s]; task < tasks.task_ptr[s + 1]; ++task) {
        EXPECT_EQ(tasks.supernode_of[task], s);
        const index_t end = up < 0 ? 0 : tasks.task_ptr[up + 1];
        for (index_t above = up < 0 ? 0 : tasks.task_ptr[up]; above < end; ++above) {
          EXPECT_LT(forward[task], forward[above]);
          EXPECT_GT(backward[task], backward[above]);
          EXPECT_LT(level[task], level[above]);
        }
      }
    }
    EXPECT_EQ(tasks.level_begin.back(), tasks.num_tasks());
  }
}

TEST(block_tasks, large_panels_are_shared_and_small_ones_are_not) {
  const SymbolicFactor symbolic = factor_of("poisson3d7", 16);
  const BlockTasks tasks = block_tasks(symbolic);
  index_t most = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const offset_t entries = symbolic.leading_dimension(s) * symbolic.width(s);
    if (entries < 16384) {
      EXPECT_EQ(tasks.parts(s), 1);
    }
    most = std::max(most, tasks.parts(s));
  }
  EXPECT_GT(most, 2);
}

TEST(block_tasks, warps_take_the_small_supernodes_first_forward_and_last_backward) {
  const SymbolicFactor symbolic = factor_of("poisson3d7", 12);
  const BlockTasks tasks = block_tasks(symbolic);
  EXPECT_GT(tasks.num_small, tasks.num_tasks() / 2);
  EXPECT_LT(tasks.num_small, tasks.num_tasks());
  for (index_t k = 0; k < tasks.num_tasks(); ++k) {
    EXPECT_EQ(tasks.is_small[tasks.supernode_of[tasks.forward[k]]] != 0, k < tasks.num_small);
    EXPECT_EQ(tasks.is_small[tasks.supernode_of[tasks.backward[k]]] != 0,
              k >= tasks.num_tasks() - tasks.num_small);
  }
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    if (tasks.is_small[s] == 0) continue;
    EXPECT_LE(symbolic.width(s), small_width);
    EXPECT_LE(symbolic.leading_dimension(s), small_rows);
    EXPECT_EQ(tasks.parts(s), 1);
  }
}

TEST(block_tasks, nothing_has_no_tasks) { EXPECT_EQ(block_tasks(SymbolicFactor()).num_tasks(), 0); }

}  // namespace
}  // namespace palmette
