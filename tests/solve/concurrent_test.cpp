// One plan, many callers: concurrent solves, workspaces that are kept but never shared, structures cut as
// finely as possible.
#include <gtest/gtest.h>

#include <thread>

#include "palmette/solve/supernodal_core.hpp"
#include "tests/solve/reference.hpp"

namespace palmette {
namespace {

using reference::Wish;

TEST(concurrent_solves, on_one_plan_from_several_threads_give_the_bits_of_one) {
  const Wish wish{FactorKind::lu, false, 21, 41};
  const auto plan = plan_solve(reference::naive_factor(reference::make_problem<double>(wish), wish));
  ThreadTeam shared(3);
  std::vector<DenseMatrix<double>> b, expected;
  for (const index_t num_rhs : {1, 2, 5, 7}) {
    b.push_back(
        reference::random_dense<double>(plan.size(), num_rhs, 50 + static_cast<std::uint64_t>(num_rhs)));
    expected.push_back(reference::solved(plan, Operation::transpose, b.back()));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      ThreadTeam own(2);
      for (int repeat = 0; repeat < 40; ++repeat) {
        const std::size_t which = static_cast<std::size_t>(caller + repeat) % b.size();
        const SolveMethodInfo& method =
            solve_method_list(SolveWhere::one_machine)[static_cast<std::size_t>(repeat) %
                                                       solve_method_list(SolveWhere::one_machine).size()];
        const SolveRun run{method.method, repeat % 3 == 0 ? &shared : &own};
        if (!reference::same_bits(expected[which],
                                  reference::solved(plan, Operation::transpose, b[which], run)))
          ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(concurrent_solves, of_a_transposed_triangle_make_the_second_sweep_once) {
  Triplets<double> entries{400, 400, {}, {}, {}};
  for (index_t row = 0; row < 400; ++row)
    for (const index_t column : {row, row - 3, row - 19})
      if (column >= 0)
        entries.row.push_back(row), entries.column.push_back(column),
            entries.value.push_back(column == row ? 4 : 1);
  const auto triangle = from_triplets(entries);
  const auto b = reference::random_dense<double>(400, 1, 3);
  const auto expected = reference::solved(plan_triangle<double>(triangle).value(), Operation::transpose, b);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto plan = plan_triangle<double>(triangle).value();
    const offset_t before = plan.memory_bytes();
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&] {
        if (!reference::same_bits(expected, reference::solved(plan, Operation::transpose, b))) ++wrong;
      });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_GT(plan.memory_bytes(), before);
  }
}

/// A core of a factor cut into groups of at most `group_bytes`, run without the plan around it.
class FineCore {
 public:
  FineCore(std::shared_ptr<const Factor<double>> factor, double group_bytes) {
    solve_detail::SupernodalParts<double> parts;
    parts.structure = std::make_shared<const solve_detail::SweepGroups>(factor->symbolic, 8, group_bytes);
    groups = parts.structure->num_groups();
    parts.lower = std::make_unique<solve_detail::SupernodalTriangle<double>>(
        *parts.structure,
        solve_detail::TriangleSource<double>{factor->lower.data(), factor->lower.data(), false, false,
                                             nullptr},
        PlanOptions{});
    parts.values = factor;
    core = std::make_unique<solve_detail::SupernodalCore<double>>(std::move(parts));
    workspace.states.resize(2);
  }
  DenseMatrix<double> solve(const DenseMatrix<double>& b, SolveMethod method, ThreadTeam* team) {
    const solve_detail::WorkspaceNeed need = core->workspace_need(b.cols);
    workspace.thread_stride = need.thread + 64;
    workspace.work = PanelArray<double>(need.work);
    workspace.boundary = PanelArray<double>(need.boundary + 1);
    workspace.threads = PanelArray<double>(workspace.thread_stride * 8);
    DenseMatrix<double> x(b.rows, b.cols);
    core->solve(false, {{b.view(), {}, false}, {x.view(), {}, false}, workspace, 0, method, team});
    return x;
  }
  index_t groups = 0;

 private:
  std::unique_ptr<solve_detail::SupernodalCore<double>> core;
  solve_detail::SolveWorkspace<double> workspace;
};

TEST(fine_groups, single_supernodes_as_tasks_give_the_same_bits_by_every_method_again_and_again) {
  const Wish wish{FactorKind::llt, false, 20, 42};
  const auto factor = reference::naive_factor(reference::make_problem<double>(wish), wish);
  FineCore fine(factor, 1.0);
  ASSERT_EQ(fine.groups, factor->symbolic->num_supernodes());
  for (const index_t num_rhs : {1, 3}) {
    const auto b = reference::random_dense<double>(factor->size(), num_rhs, 6);
    const auto judge = fine.solve(b, SolveMethod::serial, nullptr);
    for (const int threads : {2, 3, 5, 8}) {
      ThreadTeam team(threads);
      for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine))
        for (int repeat = 0; repeat < 15; ++repeat)
          EXPECT_TRUE(reference::same_bits(judge, fine.solve(b, method.method, &team)))
              << method.name << " " << threads;
    }
  }
}

TEST(fine_groups, every_cut_of_the_tree_solves_the_same_system) {
  const Wish wish{FactorKind::llt, false, 14, 43};
  const auto problem = reference::make_problem<double>(wish);
  const auto factor = reference::naive_factor(problem, wish);
  const DenseMatrix<double> s = reference::dense_s(problem, *factor->symbolic);
  const auto b = reference::random_dense<double>(factor->size(), 2, 7);
  index_t groups_before = factor->symbolic->num_supernodes() + 1;
  for (const double group_bytes : {1.0, 1000.0, 8000.0, 1e9}) {
    FineCore core(factor, group_bytes);
    EXPECT_LE(core.groups, groups_before);
    groups_before = core.groups;
    const auto x = core.solve(b, SolveMethod::serial, nullptr);
    EXPECT_LE(reference::backward_error<double>(s.view(), Operation::plain, b.view(), x.view()), 1e-14);
  }
  EXPECT_EQ(groups_before, 1);
}

TEST(sweep_structure, a_forest_of_tiny_trees_is_few_tasks) {
  SparsityPattern diagonal;
  diagonal.rows = diagonal.cols = 100000;
  for (index_t k = 0; k < diagonal.rows; ++k)
    diagonal.row_index.push_back(k), diagonal.column_ptr.push_back(k + 1);
  Ordering natural;
  natural.row = natural.column = Permutation::identity(diagonal.rows);
  const solve_detail::SweepGroups structure(
      std::make_shared<const SymbolicFactor>(analyze(diagonal, natural)), 8);
  EXPECT_LT(structure.num_groups(), 200);
  index_t columns = 0;
  for (index_t group = 0; group < structure.num_groups(); ++group) columns += structure.num_columns(group);
  EXPECT_EQ(columns, 100000);
}

}  // namespace
}  // namespace palmette
