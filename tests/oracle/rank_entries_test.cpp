// Solves for single entries over ranks: the entries of solves for all of them, with no task and no message
// outside the branches that are visited.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "rank_plans.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"

namespace palmette {
namespace {

using testing::adverse;
using testing::Flavour;
using testing::flavour_of;
using testing::LayeredSetting;
using testing::Layers;
using testing::Problem;
using testing::random_sparse;
using testing::Ranks;
using testing::Setting;

constexpr Operation operations[] = {Operation::plain, Operation::transpose, Operation::adjoint};
constexpr FactorKind kinds[] = {FactorKind::llt, FactorKind::ldlt, FactorKind::lu};

/// Sparse right-hand sides and wanted rows, by a seed; sometimes none.
template <class T>
struct Asked {
  std::vector<T> b;
  std::vector<index_t> given, wanted;

  Asked(index_t n, index_t num_rhs, std::uint64_t seed) : b(static_cast<std::size_t>(n) * num_rhs) {
    std::mt19937_64 random(seed);
    const auto some = [&](index_t most) {
      return static_cast<index_t>(random() % static_cast<std::uint64_t>(most));
    };
    const index_t counts[] = {0, 1, 1, 3, n};
    std::set<index_t> rows;
    for (index_t k = counts[some(5)]; n > 0 && k > 0; --k) {
      const index_t row = some(n), rhs = some(std::max<index_t>(num_rhs, 1));
      if (num_rhs == 0) break;
      b[static_cast<std::size_t>(row) + static_cast<std::size_t>(rhs) * n] =
          testing::scalar<T>(1 + some(9), 1 + some(5));
      rows.insert(row);
    }
    given.assign(rows.begin(), rows.end());
    rows.clear();
    for (index_t k = counts[some(5)]; n > 0 && k > 0; --k) rows.insert(some(n));
    wanted.assign(rows.begin(), rows.end());
  }
};

/// What all ranks sent in the last solve is what their plans say.
template <class World, class CountsOf>
void expect_counted(const World& ranks, std::size_t scalar_bytes, const CountsOf& counts_of) {
  std::int64_t messages = 0, scalars = 0;
  for (const auto& plan : ranks.plans) {
    const RankCounts counts = counts_of(plan);
    messages += counts.messages;
    scalars += counts.scalars;
  }
  EXPECT_EQ(ranks.traffic.messages(), messages);
  EXPECT_EQ(ranks.traffic.bytes(), scalars * static_cast<std::int64_t>(scalar_bytes));
}

/// Entries are those of the whole solution, whatever an earlier solve has left.
template <class T, class World>
void expect_entries(World& ranks, Operation operation, const Asked<T>& asked, index_t num_rhs,
                    std::uint64_t seed) {
  const index_t n = ranks.n;
  const std::vector<T> x = ranks.solve(operation, asked.b, num_rhs, {});
  std::vector<T> poison(asked.b.size(), T(std::numeric_limits<real_t<T>>::quiet_NaN()));
  ranks.solve(operation, poison, num_rhs, {});
  expect_counted(ranks, sizeof(T), [&](const auto& plan) { return plan.counts(num_rhs); });
  const std::vector<T> entries =
      ranks.solve_entries(operation, asked.b, num_rhs, asked.wanted, adverse(seed));
  expect_counted(ranks, sizeof(T), [](const auto& plan) { return plan.entry_counts(); });
  for (std::size_t k = 0; k < asked.wanted.size(); ++k)
    for (index_t rhs = 0; rhs < num_rhs; ++rhs)
      ASSERT_EQ(entries[k + static_cast<std::size_t>(rhs) * asked.wanted.size()],
                x[asked.wanted[k] + static_cast<std::size_t>(rhs) * n])
          << "row " << asked.wanted[k] << " of " << n << ", right-hand side " << rhs;
}

template <class T>
class RankEntrySolve : public ::testing::Test {};
TYPED_TEST_SUITE(RankEntrySolve, TestedScalars);

TYPED_TEST(RankEntrySolve, has_the_entries_of_whole_solutions_by_the_predicted_messages) {
  using T = TypeParam;
  std::uint64_t seed = 1;
  for (const FactorKind kind : kinds) {
    AnalyzeOptions narrow;
    narrow.max_width = 6;
    const Problem<T> problem(random_sparse<T>(flavour_of(kind), 150, 1.2, 3), kind, narrow);
    for (const ProcessGrid grid : {ProcessGrid{1, 1}, {2, 1}, {1, 3}, {2, 2}, {5, 1}, {2, 3}, {1, 7}, {4, 2}})
      for (const index_t num_rhs : {1, 5}) {
        const Setting setting{grid,
                              seed % 2 == 0 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube,
                              {seed % 3 != 0, 60},
                              seed / 2 % 2 == 0 ? TreeShape::binary : TreeShape::flat,
                              seed};
        Ranks<T> ranks(problem, kind, setting, num_rhs);
        for (const Operation operation : operations) {
          const Asked<T> asked(ranks.n, num_rhs, ++seed);
          expect_entries(ranks, operation, asked, num_rhs, seed);
          const SolveReach reach(*problem.symbolic, ranks.placement->units, asked.given, asked.wanted);
          EXPECT_EQ(ranks.traffic,
                    predicted_solve_traffic(*problem.symbolic, *ranks.placement, setting.trees,
                                            padded_rhs(sizeof(T), num_rhs) * static_cast<index_t>(sizeof(T)),
                                            &reach));
        }
      }
  }
}

TEST(rank_entry_solve, random_reaches_matrices_grids_and_delays) {
  const int count = testing::num_seeds(400);
  for (int seed = 1; seed <= count; ++seed) {
    const FactorKind kind = kinds[seed % 3];
    AnalyzeOptions options;
    options.max_width = 1 + seed % 9;
    const Problem<double> problem(random_sparse<double>(flavour_of(kind), 1 + seed * 7 % 60,
                                                        1 + seed % 3 * 0.5, static_cast<unsigned>(seed)),
                                  kind, options);
    const WholeSubtrees whole{seed % 5 != 0, seed % 2 == 0 ? 30.0 : 0.0};
    const Setting setting{{1 + seed % 4, 1 + seed / 4 % 4},
                          seed % 2 == 0 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube,
                          whole,
                          seed % 7 < 3 ? TreeShape::flat : TreeShape::binary,
                          static_cast<std::uint64_t>(seed)};
    SCOPED_TRACE(seed);
    Ranks<double> ranks(problem, kind, setting, 2);
    for (const std::uint64_t turn : {0, 1000, 2000}) {
      const Asked<double> asked(ranks.n, 2, static_cast<std::uint64_t>(seed) + turn);
      expect_entries(ranks, operations[(static_cast<std::uint64_t>(seed) + turn) % 3], asked, 2,
                     static_cast<std::uint64_t>(seed));
    }
  }
}

// A path of one leaf: other ranks' subtrees have nothing to do, and send nothing.
TEST(rank_entry_solve, ranks_outside_the_branch_send_nothing) {
  const Problem<double> problem(testing::tree_matrix({2, 2, 6, 5, 5, 6, -1}, true), FactorKind::llt);
  Ranks<double> ranks(problem, FactorKind::llt, {{4, 1}, PlacementMap::subtree_to_subcube, {false}}, 1);
  const std::vector<double> none(7);
  ranks.solve_entries(Operation::plain, none, 1, {}, {});
  EXPECT_EQ(ranks.traffic.messages(), 0);
  std::vector<double> b(7);
  b[0] = 1;
  ranks.solve_entries(Operation::plain, b, 1, {0}, {});
  const std::int64_t some = ranks.traffic.messages();
  ranks.solve(Operation::plain, b, 1, {});
  EXPECT_LT(some, ranks.traffic.messages());
}

TEST(rank_entry_solve, every_order_of_delivery_gives_the_same_entries) {
  constexpr std::int64_t most_orders = 1000;
  std::int64_t most = 0;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::lu})
    for (const ProcessGrid grid : {ProcessGrid{2, 1}, {1, 2}, {2, 2}})
      for (const index_t row : {0, 2, 4}) {
        const Problem<double> problem(testing::tree_matrix({2, 2, 5, 4, 5, -1}, kind != FactorKind::lu),
                                      kind);
        Ranks<double> ranks(problem, kind, {grid, PlacementMap::block_cyclic, {false}}, 1);
        std::vector<double> b(6);
        b[row] = 3;
        b[3] = 2;  // in another branch, so that the ranks of both work side by side
        const std::vector<index_t> wanted{1, 3, 5};
        const std::vector<double> expected = ranks.solve_entries(Operation::plain, b, 1, wanted, {});
        std::vector<testing::EntriesOfRank<double>> parts;
        const Exploration result =
            explore_orders(ranks.placement->num_ranks(), most_orders, [&](SimulatedWorld& world) {
              ExploredRun run;
              parts.clear();
              for (const auto& plan : ranks.plans) parts.emplace_back(plan.rows(), 6, b, 1, wanted);
              for (std::size_t rank = 0; rank < parts.size(); ++rank)
                run.programs.push_back(std::make_unique<testing::Borrowed>(ranks.plans[rank].begin_entries(
                    Operation::plain, parts[rank].entries(), parts[rank].x.view(),
                    world.rank(static_cast<index_t>(rank)))));
              run.check = [&] {
                std::vector<double> x(3);
                for (const auto& part : parts) part.put_back(wanted, x);
                EXPECT_EQ(x, expected);
              };
              return run;
            });
        EXPECT_TRUE(result.complete || result.orders == most_orders) << result.orders;
        most = std::max(most, result.orders);
      }
  EXPECT_GT(most, 1);
}

TEST(rank_entry_solve, what_does_not_fit_together_is_refused) {
  const Problem<double> problem(testing::tree_matrix({2, 2, 5, 4, 5, -1}, true), FactorKind::llt);
  Ranks<double> ranks(problem, FactorKind::llt, {{1, 1}, PlacementMap::block_cyclic, {false}}, 2);
  SimulatedWorld world(1, {});
  DenseMatrix<double> x(2, 1);
  using Rows = std::vector<index_t>;
  const auto said = [&](const Rows& given, const Rows& wanted, const RankEntry<double>& own,
                        const Rows& own_wanted) -> std::string {
    try {
      const RankEntries<double> entries{given, wanted, std::span(&own, 1), own_wanted};
      ranks.plans[0].begin_entries(Operation::plain, entries, x.view(), world.rank(0));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  const auto expect_said = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  EXPECT_EQ(said({3, 0}, {5, 1}, {0, 0, 1.0}, {1, 5}), "");
  expect_said(said({0, 6}, {1, 5}, {0, 0, 1.0}, {1, 5}), "given row 6 is not from 0 to 5");
  expect_said(said({0}, {-1, 1, 5}, {0, 0, 1.0}, {1, 5}), "wanted row -1 is not from 0 to 5");
  expect_said(said({0}, {1, 5}, {6, 0, 1.0}, {1, 5}), "row 6 is not from 0 to 5");
  expect_said(said({0}, {1, 5}, {0, 1, 1.0}, {1, 5}), "right-hand side 1 is not from 0 to 0");
  expect_said(said({0}, {1, 5}, {2, 0, 1.0}, {1, 5}), "row 2 of this rank is not among the given");
  expect_said(said({0}, {1, 5}, {0, 0, 1.0}, {1, 4}), "row 4 of this rank is not among the wanted");
  expect_said(said({0}, {1, 5}, {0, 0, 1.0}, {5, 1}), "not ascending: 1 follows 5");
  expect_said(said({0}, {1, 5}, {0, 0, 1.0}, {1, 1}), "not ascending: 1 follows 1");
}

// Groups begin at whole registers: 17 right-hand sides in double are 8 + 9.
TEST(rank_entry_solve, groups_of_right_hand_sides_find_their_columns) {
  const Problem<double> problem(random_sparse<double>(Flavour::unsymmetric, 120, 1.2, 5), FactorKind::lu);
  for (const index_t groups : {1, 2, 3}) {
    Setting setting{{3, 1}, PlacementMap::subtree_to_subcube, {true, 60}};
    setting.rhs_groups = groups;
    Ranks<double> ranks(problem, FactorKind::lu, setting, 17);
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6})
      expect_entries(ranks, Operation::plain, Asked<double>(120, 17, seed), 17, seed);
  }
}

TEST(rank_entry_solve, over_layers_has_the_entries_of_whole_solutions) {
  for (const FactorKind kind : kinds) {
    AnalyzeOptions narrow;
    narrow.max_width = 6;
    const Problem<std::complex<double>> problem(
        random_sparse<std::complex<double>>(flavour_of(kind), 150, 1.2, 3), kind, narrow);
    const auto factor = problem.factored(kind);
    ASSERT_TRUE(factor);
    std::uint64_t seed = 1;
    for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
      for (const index_t layers : {1, 2, 3, 5})
        for (const ProcessGrid& grid : {ProcessGrid{1, 1}, {2, 1}, {3, 1}, {2, 2}}) {
          LayeredSetting setting{
              {grid, layers},
              method,
              ++seed % 2 == 0 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube,
              {true, 60},
              seed % 3 == 0 ? TreeShape::flat : TreeShape::binary};
          setting.rhs_groups = 1 + static_cast<index_t>(seed % 2);
          Layers<std::complex<double>> ranks(factor.value(), setting, 9);
          SCOPED_TRACE(text(setting));
          const std::int64_t whole = ranks.predicted(9).bytes();
          for (const Operation operation : operations) {
            const Asked<std::complex<double>> asked(ranks.n, 9, ++seed);
            expect_entries(ranks, operation, asked, 9, seed);
            if (setting.rhs_groups == 1) {
              EXPECT_LE(ranks.traffic.bytes(), whole);
            }
          }
        }
  }
}

TEST(rank_entry_solve, empty_matrices_no_right_hand_sides_and_more_ranks_than_supernodes) {
  for (const index_t n : {0, 1, 2, 3})
    for (const ProcessGrid grid : {ProcessGrid{1, 1}, {3, 1}, {2, 4}})
      for (const index_t num_rhs : {0, 1, 2}) {
        const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, n, 1, 1),
                                      FactorKind::llt);
        Ranks<double> ranks(problem, FactorKind::llt, {grid, PlacementMap::block_cyclic, {false}}, 2);
        for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6})
          expect_entries(ranks, Operation::plain, Asked<double>(n, num_rhs, seed), num_rhs, seed);
      }
}

}  // namespace
}  // namespace palmette
