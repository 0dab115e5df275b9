// Solves over ranks: small backward error, the same bits for any grid, map, tree, transport and order of
// delivery, and the number of messages that the structure gives.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "palmette/factorize/factorize.hpp"
#include "rank_plans.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"

namespace palmette {
namespace {

using testing::adverse;
using testing::backward_error;
using testing::Flavour;
using testing::flavour_of;
using testing::Problem;
using testing::random_sparse;
using testing::Ranks;
using testing::right_sides;
using testing::same_bits;
using testing::sanitized;
using testing::Setting;

const std::vector<Setting>& settings() {
  static const std::vector<Setting> list = [] {
    std::vector<Setting> all;
    std::uint64_t seed = 1;
    // Every grid of 1 to 8 ranks, each with two of the four pairs of map and trees.
    for (index_t ranks = 1; ranks <= 8; ++ranks)
      for (index_t rows = 1; rows <= ranks; ++rows)
        for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube}) {
          if (ranks % rows != 0) continue;
          const TreeShape trees = ++seed / 2 % 2 == 0 ? TreeShape::binary : TreeShape::flat;
          all.push_back({{rows, ranks / rows}, map, {true, 60}, trees, seed});
        }
    return all;
  }();
  return list;
}

template <class T>
class RankSolve : public ::testing::Test {};
TYPED_TEST_SUITE(RankSolve, TestedScalars);

TYPED_TEST(RankSolve, bits_are_the_same_for_any_grid_map_and_tree_and_messages_are_as_predicted) {
  using T = TypeParam;
  const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-12;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    AnalyzeOptions narrow;
    narrow.max_width = 6;
    const Problem<T> problem(random_sparse<T>(flavour_of(kind), 150, 1.2, 3), kind, narrow);
    for (const index_t num_rhs : {1, 3}) {
      const std::vector<T> b = right_sides<T>(problem.matrix.rows(), num_rhs);
      std::vector<std::vector<T>> first(3);
      for (const Setting& setting : settings()) {
        Ranks<T> ranks(problem, kind, setting, num_rhs);
        int at = 0;
        for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
          const std::vector<T> x = ranks.solve(operation, b, num_rhs, adverse(setting.seed));
          if (first[at].empty()) first[at] = x;
          EXPECT_LE(backward_error(problem, operation, x, b, num_rhs), tolerance)
              << name_of(kind) << " operation " << at;
          EXPECT_TRUE(same_bits(x, first[at])) << name_of(kind) << " " << setting.grid.rows << "x"
                                               << setting.grid.cols << " " << name_of(setting.map);
          EXPECT_EQ(ranks.traffic, predicted_solve_traffic(
                                       *problem.symbolic, *ranks.placement, setting.trees,
                                       padded_rhs(sizeof(T), num_rhs) * static_cast<index_t>(sizeof(T))));
          ++at;
        }
      }
    }
  }
}

TEST(rank_solve, hermitian_indefinite_systems_too) {
  using T = std::complex<double>;
  const Problem<T> problem(random_sparse<T>(Flavour::hermitian, 100, 1.5, 4), FactorKind::ldlt);
  const std::vector<T> b = right_sides<T>(100, 2);
  for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
    Ranks<T> ranks(problem, FactorKind::ldlt, {{2, 2}, PlacementMap::block_cyclic, {true, 50}}, 2);
    EXPECT_LE(backward_error(problem, operation, ranks.solve(operation, b, 2, adverse(5)), b, 2), 1e-12);
  }
}

TEST(rank_solve, more_ranks_than_supernodes_empty_matrices_and_no_right_hand_side) {
  for (const index_t n : {0, 1, 2}) {
    const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, n, 1, 1),
                                  FactorKind::llt);
    for (const bool whole : {true, false})
      for (const index_t num_rhs : {0, 1}) {
        Ranks<double> ranks(problem, FactorKind::llt, {{3, 3}, PlacementMap::subtree_to_subcube, {whole, 0}},
                            1);
        const std::vector<double> b = right_sides<double>(n, num_rhs);
        EXPECT_LE(backward_error(problem, Operation::plain, ranks.solve(Operation::plain, b, num_rhs, {}), b,
                                 num_rhs),
                  1e-15);
      }
  }
}

TEST(rank_solve, random_matrices_grids_and_delays_end_and_give_the_bits_of_one_rank) {
  const int count = testing::num_seeds(500);
  for (int seed = 1; seed <= count; ++seed) {
    const FactorKind kind =
        std::array{FactorKind::llt, FactorKind::ldlt, FactorKind::lu}[static_cast<std::size_t>(seed % 3)];
    AnalyzeOptions options;
    options.max_width = 1 + seed % 9;
    const Problem<double> problem(random_sparse<double>(flavour_of(kind), 1 + seed * 7 % 60,
                                                        1 + seed % 3 * 0.5, static_cast<unsigned>(seed)),
                                  kind, options);
    const index_t n = problem.matrix.rows();
    const std::vector<double> b = right_sides<double>(n, 1);
    const WholeSubtrees whole{seed % 5 != 0, seed % 2 == 0 ? 30.0 : 0.0};
    Setting setting{{1 + seed % 4, 1 + seed / 4 % 4},
                    seed % 2 == 0 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube,
                    whole,
                    seed % 7 < 3 ? TreeShape::flat : TreeShape::binary,
                    static_cast<std::uint64_t>(seed)};
    Ranks<double> many(problem, kind, setting, 1);
    setting.grid = {1, 1};
    Ranks<double> one(problem, kind, setting, 1);
    const std::vector<double> x = many.solve(Operation::plain, b, 1, adverse(setting.seed));
    ASSERT_TRUE(same_bits(x, one.solve(Operation::plain, b, 1, {}))) << "seed " << seed;
    ASSERT_LE(backward_error(problem, Operation::plain, x, b, 1), 1e-9) << "seed " << seed;
  }
}

TEST(rank_solve, threads_wrappers_and_repeated_solves_change_no_bit_and_make_no_more_buffers) {
  AnalyzeOptions narrow;
  narrow.max_width = 8;
  const Problem<double> problem(random_sparse<double>(Flavour::unsymmetric, 300, 2, 9), FactorKind::lu,
                                narrow);
  const std::vector<double> b = right_sides<double>(300, 1);
  Ranks<double> alone(problem, FactorKind::lu, {{1, 1}, PlacementMap::block_cyclic, {true, 100}}, 1);
  const std::vector<double> expected = alone.solve(Operation::plain, b, 1, {});
  for (const index_t ranks : {1, 2, 3, 4, 6, 8})
    for (const int threads : {1, 2}) {
      const auto placement = std::make_shared<const Placement>(
          place(*problem.symbolic, nearly_square_grid(ranks), PlacementMap::subtree_to_subcube, {true, 100}));
      ThreadWorld world(ranks);
      world.run([&](Transport& plain) {
        Checked checked(plain);
        Aggregator transport(checked);
        ThreadTeam team(threads);
        RankFactorization<double> part({problem.matrix, problem.symbolic, placement, problem.ordering},
                                       {FactorKind::lu, 0, threads}, transport);
        drive(part.program(), transport, team, {60});
        transport.agree(0);
        RankPlanOptions options;
        options.threads = threads;
        RankSolvePlan<double> plan(std::make_shared<const RankFactor<double>>(part.take()), options);
        const auto rows = plan.rows();
        const auto count = static_cast<index_t>(rows.size());
        for (int time = 0; time < 3; ++time) {
          std::vector<double> x;
          for (const index_t row : rows) x.push_back(b[row]);
          const DenseView<double> both{x.data(), count, 1, count};
          drive(plan.begin(Operation::plain, both, both, transport), transport, team, {60});
          transport.agree(0);
          for (index_t k = 0; k < count; ++k) EXPECT_EQ(x[k], expected[rows[k]]) << "row " << rows[k];
        }
      });
    }
}

/// Solves in at most so many orders of delivery, each of which must give the expected bits.
Exploration explore_solves(Ranks<double>& ranks, const std::vector<double>& b, index_t num_rhs,
                           const std::vector<double>& expected, std::int64_t tried) {
  std::vector<std::vector<double>> mine(ranks.plans.size());
  return explore_orders(ranks.placement->num_ranks(), tried, [&](SimulatedWorld& world) {
    ExploredRun run;
    for (std::size_t rank = 0; rank < mine.size(); ++rank) {
      const auto rows = ranks.plans[rank].rows();
      mine[rank].clear();
      for (index_t rhs = 0; rhs < num_rhs; ++rhs)
        for (const index_t row : rows) mine[rank].push_back(b[row + rhs * ranks.n]);
      const auto count = static_cast<index_t>(rows.size());
      const DenseView<double> both{mine[rank].data(), count, num_rhs, count};
      run.programs.push_back(std::make_unique<testing::Borrowed>(
          ranks.plans[rank].begin(Operation::plain, both, both, world.rank(static_cast<index_t>(rank)))));
    }
    run.check = [&] {
      for (std::size_t rank = 0; rank < mine.size(); ++rank) {
        const auto rows = ranks.plans[rank].rows();
        for (std::size_t k = 0; k < mine[rank].size(); ++k)
          EXPECT_EQ(mine[rank][k], expected[rows[k % rows.size()] + k / rows.size() * ranks.n]);
      }
    };
    return run;
  });
}

TEST(rank_solve, every_order_of_delivery_gives_the_same_bits) {
  struct Tiny {
    ProcessGrid grid;
    index_t n;
    index_t max_width;
    std::vector<index_t> tree = {};
    std::int64_t tried = 20000;
  };
  // The number of orders grows fast: three full supernodes on four ranks have thousands, five have too many
  // to try; six in a tree have fewer, and on the largest only the first thousand are tried.
  const std::vector<index_t> chain = {1, 2, 3, 4, 5, -1}, star = {5, 5, 5, 5, 5, -1},
                             binary = {2, 2, 5, 4, 5, -1};
  for (const FactorKind kind : {FactorKind::llt, FactorKind::lu})
    for (const Tiny& tiny : {Tiny{{2, 1}, 3, 1},
                             {{2, 1}, 4, 2},
                             {{1, 2}, 5, 2},
                             {{2, 1}, 5, 2},
                             {{2, 2}, 3, 1},
                             {{2, 2}, 4, 2},
                             {{1, 2}, 6, 1, star},
                             {{2, 1}, 6, 1, chain, 1000},
                             {{2, 1}, 6, 1, binary, 1000},
                             {{2, 2}, 6, 1, star, 1000}}) {
      const ProcessGrid grid = tiny.grid;
      AnalyzeOptions options;
      options.max_width = tiny.max_width;
      options.relax = false;
      const SparseMatrix<double> matrix = tiny.tree.empty()
                                              ? random_sparse<double>(flavour_of(kind), tiny.n, 0.7, 2)
                                              : testing::tree_matrix(tiny.tree, kind != FactorKind::lu);
      const Problem<double> problem(matrix, kind, options);
      ASSERT_GE(problem.symbolic->num_supernodes(), 3);
      const index_t n = problem.matrix.rows();
      const std::vector<double> b = right_sides<double>(n, 1);
      Ranks<double> ranks(problem, kind, {grid, PlacementMap::block_cyclic, {false}}, 1);
      const std::vector<double> expected = ranks.solve(Operation::plain, b, 1, {});
      const Exploration result = explore_solves(ranks, b, 1, expected, tiny.tried);
      EXPECT_GT(result.orders, 1);
      EXPECT_TRUE(result.complete || tiny.tried == 1000) << result.orders;
    }
}

// Groups begin at whole registers: 17 right-hand sides in double are 8 + 9, 3 are one group.
TYPED_TEST(RankSolve, groups_of_right_hand_sides_change_no_bit_and_send_the_same_bytes) {
  using T = TypeParam;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::lu}) {
    AnalyzeOptions narrow;
    narrow.max_width = 20;
    const Problem<T> problem(random_sparse<T>(flavour_of(kind), 120, 1.2, 3), kind, narrow);
    constexpr index_t most = 50;
    const std::vector<T> b = right_sides<T>(problem.matrix.rows(), most);
    for (const ProcessGrid grid : {ProcessGrid{1, 1}, {3, 1}, {2, 2}}) {
      Setting setting{grid, PlacementMap::block_cyclic, {true, 60}};
      Ranks<T> together(problem, kind, setting, most);
      for (const index_t groups : {2, 3, 5}) {
        setting.rhs_groups = groups;
        Ranks<T> apart(problem, kind, setting, most);
        for (const index_t num_rhs : {0, 3, 17, 50}) {
          const std::vector<T> some(b.begin(), b.begin() + offset_t{num_rhs} * problem.matrix.rows());
          const std::vector<T> expected = together.solve(Operation::plain, some, num_rhs, adverse(1));
          const auto seed = static_cast<std::uint64_t>(groups);
          EXPECT_TRUE(same_bits(apart.solve(Operation::plain, some, num_rhs, adverse(seed)), expected))
              << name_of(kind) << " " << groups << " groups of " << num_rhs;
          EXPECT_EQ(apart.traffic.bytes(), together.traffic.bytes());
          const std::int64_t whole = num_rhs * static_cast<std::int64_t>(sizeof(T)) / 64;
          const std::int64_t used = std::max<std::int64_t>(1, std::min<std::int64_t>(groups, whole));
          EXPECT_EQ(apart.traffic.messages(), used * together.traffic.messages()) << num_rhs;
        }
      }
    }
  }
}

// Two columns in a chain, and the first thousand orders of three in a row.
TEST(rank_solve, every_order_of_delivery_of_two_groups_gives_the_same_bits) {
  AnalyzeOptions options;
  options.max_width = 1;
  options.relax = false;
  constexpr index_t num_rhs = 16;
  for (const std::vector<index_t>& tree : {std::vector<index_t>{1, -1}, {1, 2, -1}}) {
    const Problem<double> problem(testing::tree_matrix(tree, true), FactorKind::llt, options);
    const std::vector<double> b = right_sides<double>(problem.matrix.rows(), num_rhs);
    Setting setting{{2, 1}, PlacementMap::block_cyclic, {false}};
    const std::vector<double> expected =
        Ranks<double>(problem, FactorKind::llt, setting, num_rhs).solve(Operation::plain, b, num_rhs, {});
    setting.rhs_groups = 2;
    Ranks<double> ranks(problem, FactorKind::llt, setting, num_rhs);
    const bool is_small = tree.size() == 2;
    const Exploration result = explore_solves(ranks, b, num_rhs, expected, is_small ? 20000 : 1000);
    EXPECT_GT(result.orders, 1);
    EXPECT_TRUE(result.complete || !is_small) << result.orders;
    RecordProperty("orders of " + std::to_string(tree.size()), std::to_string(result.orders));
  }
}

TEST(rank_solve, groups_with_random_grids_and_delays_end_and_give_the_bits_of_one_rank) {
  for (int seed = 1; seed <= testing::num_seeds(50); ++seed) {
    const FactorKind kind = seed % 2 == 0 ? FactorKind::llt : FactorKind::lu;
    const Problem<double> problem(
        random_sparse<double>(flavour_of(kind), 1 + seed * 7 % 60, 1.2, static_cast<unsigned>(seed)), kind);
    const index_t num_rhs = 16 + seed % 20;
    const std::vector<double> b = right_sides<double>(problem.matrix.rows(), num_rhs);
    Setting setting{{1 + seed % 4, 1 + seed / 4 % 4}, PlacementMap::block_cyclic, {true, 30}};
    setting.rhs_groups = 2 + seed % 3;
    const std::vector<double> x =
        Ranks<double>(problem, kind, setting, num_rhs)
            .solve(Operation::transpose, b, num_rhs, adverse(static_cast<std::uint64_t>(seed)));
    setting.grid = {1, 1};
    setting.rhs_groups = 1;
    Ranks<double> one(problem, kind, setting, num_rhs);
    ASSERT_TRUE(same_bits(x, one.solve(Operation::transpose, b, num_rhs, {}))) << "seed " << seed;
  }
}

TEST(rank_solve, groups_work_with_threads_and_refuse_numbers_below_one) {
  const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, 200, 2, 9),
                                FactorKind::llt);
  constexpr index_t num_rhs = 20;
  const std::vector<double> b = right_sides<double>(200, num_rhs);
  Ranks<double> alone(problem, FactorKind::llt, {{1, 1}, PlacementMap::block_cyclic, {}}, num_rhs);
  const std::vector<double> expected = alone.solve(Operation::plain, b, num_rhs, {});
  const auto placement = std::make_shared<const Placement>(
      place(*problem.symbolic, {2, 1}, PlacementMap::block_cyclic, WholeSubtrees{}));
  ThreadWorld world(2);
  world.run([&](Transport& transport) {
    ThreadTeam team(3);
    RankFactorization<double> part({problem.matrix, problem.symbolic, placement, problem.ordering},
                                   {FactorKind::llt, 0, 3}, transport);
    drive(part.program(), transport, team, {60});
    transport.agree(0);
    const auto factor = std::make_shared<const RankFactor<double>>(part.take());
    RankPlanOptions options;
    options.threads = 3;
    options.rhs_groups = 0;
    EXPECT_THROW(RankSolvePlan<double>(factor, options), UsageError);
    options.rhs_groups = 2;
    RankSolvePlan<double> plan(factor, options);
    const auto rows = plan.rows();
    const auto count = static_cast<index_t>(rows.size());
    for (int time = 0; time < 5; ++time) {
      std::vector<double> x;
      for (index_t rhs = 0; rhs < num_rhs; ++rhs)
        for (const index_t row : rows) x.push_back(b[row + rhs * 200]);
      const DenseView<double> both{x.data(), count, num_rhs, count};
      drive(plan.begin(Operation::plain, both, both, transport), transport, team, {60});
      transport.agree(0);
      int wrong = 0;
      for (index_t rhs = 0; rhs < num_rhs; ++rhs)
        for (index_t k = 0; k < count; ++k) wrong += both(k, rhs) != expected[rows[k] + rhs * 200];
      EXPECT_EQ(wrong, 0);
    }
  });
}

/// Messages of [Ding et al. 2020]: a bidiagonal matrix on P × 1, 1 × P and √P × √P. Each of its n − 1 blocks
/// joins neighbours k and k + 1; its owner has the process row of k + 1 and the process column of k. On P × 1
/// the value goes to it (the row's own rank), on 1 × P the contribution; on a square grid both, unless P = 1:
/// twice the messages.
TEST(rank_solve, a_bidiagonal_matrix_costs_twice_the_messages_on_a_square_grid) {
  Triplets<double> entries{1000, 1000, {}, {}, {}};
  for (index_t k = 0; k < 1000; ++k) {
    entries.row.push_back(k), entries.column.push_back(k), entries.value.push_back(4);
    if (k + 1 == 1000) continue;
    entries.row.push_back(k + 1), entries.column.push_back(k), entries.value.push_back(-1);
    entries.row.push_back(k), entries.column.push_back(k + 1), entries.value.push_back(-1);
  }
  Ordering natural;
  natural.row = natural.column = Permutation::identity(1000);
  AnalyzeOptions single;
  single.max_width = 1;
  single.relax = false;
  const SymbolicFactor symbolic =
      analyze(from_triplets(entries, Symmetry::symmetric).pattern, natural, single);
  ASSERT_EQ(symbolic.num_supernodes(), 1000);
  for (const index_t root : {2, 3, 4, 8}) {
    const auto messages = [&](ProcessGrid grid) {
      const Placement placement = place(symbolic, grid, PlacementMap::block_cyclic, {false});
      return predicted_solve_traffic(symbolic, placement, TreeShape::binary, 8).messages();
    };
    // Both sweeps: every message of the forward sweep has one in the backward sweep.
    EXPECT_EQ(messages({root * root, 1}), 2 * 999);
    EXPECT_EQ(messages({1, root * root}), 2 * 999);
    EXPECT_EQ(messages({root, root}), 4 * 999);
  }
}

/// Messages of [Ding et al. 2020]: a dense triangle. With p process rows the value of column k goes to min(p,
/// n − k) − 1 other ranks; with p process columns the contributions to row k come from min(p, k + 1) − 1.
/// Both ways in both sweeps.
TEST(rank_solve, a_dense_triangle_costs_each_column_its_process_rows_and_each_row_its_process_columns) {
  constexpr index_t n = sanitized ? 300 : 1200;
  Triplets<double> entries{n, n, {}, {}, {}};
  for (index_t column = 0; column < n; ++column)
    for (index_t row = 0; row < n; ++row)
      entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(1);
  Ordering natural;
  natural.row = natural.column = Permutation::identity(n);
  AnalyzeOptions single;
  single.max_width = 1;
  const SymbolicFactor symbolic =
      analyze(from_triplets(entries, Symmetry::symmetric).pattern, natural, single);
  ASSERT_EQ(symbolic.num_supernodes(), n);
  const auto of_side = [](std::int64_t p) {
    std::int64_t messages = 0;
    for (std::int64_t k = 0; k < n; ++k) messages += std::min(p, n - k) - 1;
    return messages;
  };
  for (const index_t root : {2, 3, 4, 8})
    for (const ProcessGrid& grid :
         {ProcessGrid{root * root, 1}, ProcessGrid{1, root * root}, ProcessGrid{root, root}}) {
      const Placement placement = place(symbolic, grid, PlacementMap::block_cyclic, {false});
      EXPECT_EQ(predicted_solve_traffic(symbolic, placement, TreeShape::flat, 8).messages(),
                2 * (of_side(grid.rows) + of_side(grid.cols)));
    }
}

}  // namespace
}  // namespace palmette
