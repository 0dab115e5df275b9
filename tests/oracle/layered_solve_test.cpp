// Solves over layers of ranks: small backward error, the same bits for any grid of a layer, map, tree,
// transport and order of delivery, and the numbers of messages, synchronizations and replicated entries that
// the structure gives.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>

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
using testing::LayeredSetting;
using testing::Layers;
using testing::Problem;
using testing::random_sparse;
using testing::right_sides;
using testing::same_bits;
using testing::text;

constexpr LayeredMethod methods[] = {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d};

template <class T>
class LayeredSolve : public ::testing::Test {};
TYPED_TEST_SUITE(LayeredSolve, TestedScalars);

TYPED_TEST(LayeredSolve, groups_of_right_hand_sides_change_no_bit) {
  using T = TypeParam;
  const Problem<T> problem(random_sparse<T>(flavour_of(FactorKind::llt), 100, 1.2, 3), FactorKind::llt);
  const Outcome<Factor<T>> factor = problem.factored(FactorKind::llt);
  ASSERT_TRUE(factor);
  constexpr index_t num_rhs = 37;
  const std::vector<T> b = right_sides<T>(problem.matrix.rows(), num_rhs);
  for (const LayeredMethod method : methods) {
    LayeredSetting setting{{{2, 1}, 4}, method, PlacementMap::block_cyclic, {true, 60}};
    Layers<T> together(factor.value(), setting, num_rhs);
    const std::vector<T> expected = together.solve(Operation::plain, b, num_rhs, adverse(1));
    setting.rhs_groups = 2;
    Layers<T> apart(factor.value(), setting, num_rhs);
    EXPECT_TRUE(same_bits(apart.solve(Operation::plain, b, num_rhs, adverse(2)), expected)) << text(setting);
  }
}

TYPED_TEST(LayeredSolve,
           bits_are_the_same_for_any_grid_of_a_layer_map_and_tree_and_messages_are_as_predicted) {
  using T = TypeParam;
  const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-12;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    AnalyzeOptions narrow;
    narrow.max_width = 6;
    const Problem<T> problem(random_sparse<T>(flavour_of(kind), 150, 1.2, 3), kind, narrow);
    const Outcome<Factor<T>> factor = problem.factored(kind);
    ASSERT_TRUE(factor);
    for (const index_t num_rhs : {1, 3}) {
      const std::vector<T> b = right_sides<T>(problem.matrix.rows(), num_rhs);
      for (const LayeredMethod method : methods)
        for (const index_t layers : {1, 2, 3, 4, 5, 8}) {
          std::vector<std::vector<T>> first(3);
          int turn = 0;
          for (const ProcessGrid& grid : {ProcessGrid{1, 1}, {2, 1}, {1, 2}, {3, 1}, {2, 2}, {3, 2}}) {
            const LayeredSetting setting{
                {grid, layers},
                method,
                turn % 2 == 0 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube,
                {true, 60},
                turn % 3 == 0 ? TreeShape::flat : TreeShape::binary};
            ++turn;
            Layers<T> all(factor.value(), setting, num_rhs);
            int at = 0;
            for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
              const std::vector<T> x =
                  all.solve(operation, b, num_rhs, adverse(static_cast<std::uint64_t>(turn + layers)));
              if (first[at].empty()) first[at] = x;
              EXPECT_LE(backward_error(problem, operation, x, b, num_rhs), tolerance)
                  << name_of(kind) << " " << text(setting) << " operation " << at;
              EXPECT_TRUE(same_bits(x, first[at]))
                  << name_of(kind) << " " << text(setting) << " operation " << at;
              EXPECT_EQ(all.traffic, all.predicted(num_rhs)) << name_of(kind) << " " << text(setting);
              ++at;
            }
          }
        }
    }
  }
}

/// Compares the blocks that a rank holds, with the pivots of its diagonal blocks, with those of the whole
/// factor.
template <class T>
void expect_same_part(const RankFactor<T>& mine, const RankFactor<T>& expected) {
  ASSERT_EQ(mine.owned.entries(), expected.owned.entries());
  EXPECT_EQ(mine.kind, expected.kind);
  const auto bytes = static_cast<std::size_t>(expected.lower.bytes());
  EXPECT_TRUE(bytes == 0 || std::memcmp(mine.lower.data(), expected.lower.data(), bytes) == 0);
  for (index_t p = 0; p < mine.owned.num_panels(); ++p) {
    const SymbolicFactor& symbolic = *mine.symbolic;
    const index_t s = mine.owned.panel[p];
    if (mine.kind == FactorKind::lu)
      for (const OwnBlock& own : mine.owned.blocks_of_panel(p)) {
        const index_t rows = symbolic.blocks[own.block].count;
        const auto a = mine.rows_of(mine.upper, p, own.first_row, rows),
                   b = expected.rows_of(expected.upper, p, own.first_row, rows);
        for (index_t column = 0; column < a.cols; ++column)
          EXPECT_TRUE(rows == 0 || std::memcmp(a.column(column), b.column(column),
                                               static_cast<std::size_t>(rows) * sizeof(T)) == 0);
      }
    if (mine.owned.owns_diagonal[p] == 0) continue;
    for (index_t column = symbolic.supernode_begin[s]; column < symbolic.supernode_begin[s + 1]; ++column) {
      if (mine.kind != FactorKind::llt) { EXPECT_EQ(mine.place[column], expected.place[column]); }
      if (mine.kind == FactorKind::ldlt) { EXPECT_EQ(mine.d[column], expected.d[column]); }
      if (mine.kind == FactorKind::ldlt) { EXPECT_EQ(mine.d_below[column], expected.d_below[column]); }
    }
  }
}

TYPED_TEST(
    LayeredSolve,
    factorization_over_layers_and_handing_give_the_bits_of_one_rank_with_as_many_messages_as_predicted) {
  using T = TypeParam;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    AnalyzeOptions narrow;
    narrow.max_width = 6;
    const Problem<T> problem(random_sparse<T>(flavour_of(kind), 130, 1.1, 7), kind, narrow);
    const Outcome<Factor<T>> whole = problem.factored(kind);
    ASSERT_TRUE(whole);
    for (const LayeredMethod method : methods)
      for (const LayeredGrid& ranks :
           {LayeredGrid{{1, 1}, 1}, {{1, 1}, 3}, {{2, 1}, 2}, {{2, 2}, 3}, {{1, 2}, 5}}) {
        const auto cut = std::make_shared<const Layering>(cut_into_layers(*problem.symbolic, ranks.layers));
        const std::vector<LayerSystem> systems = layer_systems(
            *problem.symbolic, cut, method, {ranks, PlacementMap::subtree_to_subcube, {true, 40}});
        const auto placement =
            std::make_shared<const Placement>(layered_placement(*problem.symbolic, systems));
        SimulatedWorld world(ranks.num_ranks(), adverse(ranks.layers));
        std::vector<RankFactorization<T>> parts;
        std::vector<RankProgram*> programs;
        for (index_t rank = 0; rank < ranks.num_ranks(); ++rank)
          parts.emplace_back(RankSystem<T>{problem.matrix, problem.symbolic, placement, problem.ordering},
                             RankFactorizeOptions{kind, 0, 1}, world.rank(rank));
        for (RankFactorization<T>& part : parts) programs.push_back(&part.program());
        EXPECT_EQ(world.run(programs).traffic,
                  predicted_fan_out_traffic(*problem.symbolic, *placement, kind, sizeof(T)));
        SimulatedWorld again(ranks.num_ranks(), adverse(ranks.layers + 1));
        std::vector<LayerFactorHanding<T>> handings;
        for (index_t rank = 0; rank < ranks.num_ranks(); ++rank)
          handings.emplace_back(parts[rank].take(),
                                std::make_shared<const LayerSystem>(systems[rank / ranks.grid.num_ranks()]),
                                again.rank(rank));
        programs.clear();
        for (LayerFactorHanding<T>& handing : handings) programs.push_back(&handing.program());
        const Traffic traffic = again.run(programs).traffic;
        EXPECT_EQ(traffic,
                  predicted_handing_traffic(*problem.symbolic, *placement, systems[0], kind, sizeof(T)));
        EXPECT_EQ(traffic.messages() > 0, ranks.layers > 1);
        for (index_t rank = 0; rank < ranks.num_ranks(); ++rank) {
          const LayerSystem& system = systems[rank / ranks.grid.num_ranks()];
          const RankFactor<T> mine = handings[rank].take();
          expect_same_part(mine, rank_part(whole.value(), system.symbolic, system.placement,
                                           rank % ranks.grid.num_ranks(), system.supernode));
        }
      }
  }
}

TEST(layered_solve,
     layers_exchange_one_packed_message_for_each_level_and_phase_and_hold_what_the_structure_says) {
  AnalyzeOptions narrow;
  narrow.max_width = 8;
  const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, 300, 1, 2), FactorKind::llt,
                                narrow);
  const Outcome<Factor<double>> factor = problem.factored(FactorKind::llt);
  const std::vector<double> b = right_sides<double>(300, 1);
  for (const index_t layers : {1, 2, 3, 4, 5, 6, 7, 8, 13, 16})
    for (const LayeredMethod method : methods) {
      const LayeredSetting setting{{{2, 1}, layers}, method, PlacementMap::block_cyclic, {true, 60}};
      Layers<double> all(factor.value(), setting, 1);
      all.solve(Operation::plain, b, 1, {});
      index_t levels = 0;
      while ((1 << levels) < layers) ++levels;
      const Layering& cut = *all.systems[0].layering;
      EXPECT_EQ(layer_synchronizations(cut, LayeredMethod::one_sync_3d), layers > 1 ? 1 : 0);
      EXPECT_EQ(layer_synchronizations(cut, LayeredMethod::baseline_3d), 2 * levels);
      std::map<index_t, std::int64_t> by_process;
      std::int64_t between = 0;
      for (const TrafficEntry& entry : all.traffic.entries) {
        if (entry.source / 2 == entry.destination / 2) continue;
        EXPECT_EQ(entry.source % 2, entry.destination % 2) << "partners have the same place in their layers";
        EXPECT_EQ(entry.messages, 1);
        by_process[entry.source] += entry.messages;
        between += entry.messages;
      }
      for (const auto& [rank, messages] : by_process) EXPECT_LE(messages, 2 * levels) << "rank " << rank;
      EXPECT_LE(between, 2 * 2 * (layers - 1))
          << "each layer but the first sends once upward and gets once downward, on each of two ranks";
      EXPECT_EQ(between > 0, layers > 1);
      EXPECT_EQ(between, predicted_layered_traffic(all.systems, all.trees, 8).between.messages());
      const Replication held = replication_of(*problem.symbolic, cut, method);
      for (const LayerSystem& system : all.systems)
        EXPECT_EQ(system.symbolic->panel_entries(), held.entries[system.layer]);
      EXPECT_EQ(held.extra_entries() > 0, layers > 1);
    }
}

TEST(layered_solve, random_matrices_grids_and_delays_end_and_give_the_bits_of_one_rank_for_each_layer) {
  const int seeds = testing::num_seeds(500);
  for (int seed = 1; seed <= seeds; ++seed) {
    const FactorKind kind =
        std::array{FactorKind::llt, FactorKind::ldlt, FactorKind::lu}[static_cast<std::size_t>(seed % 3)];
    AnalyzeOptions options;
    options.max_width = 1 + seed % 9;
    const Problem<double> problem(random_sparse<double>(flavour_of(kind), 1 + seed * 7 % 60,
                                                        0.5 + seed % 4 * 0.4, static_cast<unsigned>(seed)),
                                  kind, options);
    const Outcome<Factor<double>> factor = problem.factored(kind);
    ASSERT_TRUE(factor) << "seed " << seed;
    const std::vector<double> b = right_sides<double>(problem.matrix.rows(), 1);
    const index_t layers = 1 + seed % 7;
    LayeredSetting setting{{{1 + seed % 3, 1 + seed / 3 % 3}, layers},
                    seed / 2 % 2 == 0 ? LayeredMethod::one_sync_3d : LayeredMethod::baseline_3d,
                    seed % 2 == 0 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube,
                    {seed % 5 != 0, seed % 2 == 0 ? 30.0 : 0.0},
                    seed % 7 < 3 ? TreeShape::flat : TreeShape::binary};
    Layers<double> many(factor.value(), setting, 1);
    setting.ranks.grid = {1, 1};
    Layers<double> one(factor.value(), setting, 1);
    const Operation operation = seed % 4 == 0 ? Operation::transpose : Operation::plain;
    const std::vector<double> x = many.solve(operation, b, 1, adverse(static_cast<std::uint64_t>(seed)));
    ASSERT_TRUE(same_bits(x, one.solve(operation, b, 1, {}))) << "seed " << seed << ": " << text(setting);
    ASSERT_EQ(many.traffic, many.predicted(1)) << "seed " << seed;
    ASSERT_LE(backward_error(problem, operation, x, b, 1), 1e-9) << "seed " << seed << ": " << text(setting);
  }
}

TEST(layered_solve, one_layer_has_the_bits_of_a_solve_without_layers) {
  const Problem<double> problem(random_sparse<double>(Flavour::unsymmetric, 120, 1.5, 3), FactorKind::lu);
  const Outcome<Factor<double>> factor = problem.factored(FactorKind::lu);
  const std::vector<double> b = right_sides<double>(120, 1);
  Layers<double> one(factor.value(),
                     {{{2, 2}, 1}, LayeredMethod::one_sync_3d, PlacementMap::block_cyclic, {true, 60}}, 1);
  const auto placement = std::make_shared<const Placement>(
      place(*problem.symbolic, {1, 1}, PlacementMap::block_cyclic, {true, 60}));
  RankSolvePlan<double> plan(
      std::make_shared<const RankFactor<double>>(rank_part(factor.value(), placement, 0)));
  std::vector<double> x = b;
  SimulatedWorld world(1, {});
  RankProgram* program =
      &plan.begin(Operation::plain, {x.data(), 120, 1, 120}, {x.data(), 120, 1, 120}, world.rank(0));
  world.run(std::span<RankProgram* const>(&program, 1));
  EXPECT_TRUE(same_bits(one.solve(Operation::plain, b, 1, {}), x));
}

TEST(layered_solve, a_rank_names_the_rank_of_the_other_layer_that_it_waits_for) {
  AnalyzeOptions narrow;
  narrow.max_width = 6;
  const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, 120, 1.5, 6),
                                FactorKind::llt, narrow);
  const Outcome<Factor<double>> factor = problem.factored(FactorKind::llt);
  const std::vector<double> b = right_sides<double>(120, 1);
  for (const LayeredMethod method : methods) {
    Layers<double> all(factor.value(), {{{1, 1}, 2}, method, PlacementMap::block_cyclic, {true, 60}}, 1);
    SimulatedWorld world(2, {});
    for (const index_t rank : {0, 1}) {
      std::vector<double> mine = all.part_of(b, static_cast<std::size_t>(rank), 1);
      const DenseView<double> both = all.view_of(mine, static_cast<std::size_t>(rank), 1);
      RankProgram& program = all.plans[rank].begin(Operation::plain, both, both, world.rank(rank));
      program.start();
      while (program.run_one_task(0)) {}
      EXPECT_FALSE(program.done());
      EXPECT_EQ(program.waiting_for(), rank == 0
                                           ? "what the ranks of other layers add to shared rows, from rank 1"
                                           : "shared rows of the solution from rank 0");
    }
  }
}

TEST(layered_solve, more_layers_than_supernodes_empty_matrices_and_no_right_hand_side) {
  for (const LayeredMethod method : methods)
    for (const index_t n : {0, 1, 2, 5}) {
      const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, n, 0, 1),
                                    FactorKind::llt);
      const Outcome<Factor<double>> factor = problem.factored(FactorKind::llt);
      for (const index_t layers : {1, 3, 8})
        for (const index_t num_rhs : {0, 1, 2}) {
          Layers<double> all(factor.value(),
                             {{{2, 1}, layers}, method, PlacementMap::subtree_to_subcube, {n % 2 == 0}}, 2);
          const std::vector<double> b = right_sides<double>(n, num_rhs);
          const std::vector<double> x = all.solve(Operation::plain, b, num_rhs, adverse(3));
          EXPECT_LE(backward_error(problem, Operation::plain, x, b, num_rhs), 1e-14);
        }
    }
}

TEST(layered_solve, not_a_number_comes_through_and_the_next_solve_is_clean) {
  AnalyzeOptions narrow;
  narrow.max_width = 4;
  const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, 80, 1, 2), FactorKind::llt,
                                narrow);
  const Outcome<Factor<double>> factor = problem.factored(FactorKind::llt);
  const std::vector<double> b = right_sides<double>(80, 1);
  for (const LayeredMethod method : methods) {
    Layers<double> all(factor.value(), {{{1, 2}, 3}, method, PlacementMap::block_cyclic, {true, 30}}, 1);
    const std::vector<double> before = all.solve(Operation::plain, b, 1, {});
    std::vector<double> broken = b;
    broken[79] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(all.solve(Operation::plain, broken, 1, {})[79]));
    EXPECT_TRUE(same_bits(all.solve(Operation::plain, b, 1, {}), before));
  }
}

TEST(layered_solve, threads_wrappers_and_repeated_solves_change_no_bit) {
  AnalyzeOptions narrow;
  narrow.max_width = 8;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    const Problem<double> problem(random_sparse<double>(flavour_of(kind), 300, 1, 9), kind, narrow);
    const Outcome<Factor<double>> factor = problem.factored(kind);
    ASSERT_TRUE(factor);
    const std::vector<double> b = right_sides<double>(300, 2);
    for (const LayeredMethod method : methods)
      for (const index_t rows : {1, 2, 3})
        for (const index_t cols : {1, 2})
          for (const index_t layers : {1, 2, 3, 4, 5, 8}) {
            if (rows * cols * layers > 12) continue;
            const LayeredSetting setting{
                {{rows, cols}, layers}, method, PlacementMap::subtree_to_subcube, {true, 100}};
            Layers<double> all(factor.value(), setting, 2);
            const std::vector<double> expected = all.solve(Operation::plain, b, 2, {});
            EXPECT_LE(backward_error(problem, Operation::plain, expected, b, 2),
                      kind == FactorKind::llt ? 1e-14 : 1e-12)
                << text(setting);
            std::vector<std::vector<double>> pieces(all.plans.size());
            ThreadWorld world(setting.ranks.num_ranks());
            world.run([&](Transport& plain) {
              Checked checked(plain);
              Aggregator transport(checked);
              ThreadTeam team(1);
              const auto rank = static_cast<std::size_t>(plain.rank());
              for (int time = 0; time < 2; ++time) {
                pieces[rank] = all.part_of(b, rank, 2);
                const DenseView<double> both = all.view_of(pieces[rank], rank, 2);
                drive(all.plans[rank].begin(Operation::plain, both, both, transport), transport, team, {60});
                transport.agree(0);
              }
            });
            std::vector<double> x(b.size());
            for (std::size_t rank = 0; rank < pieces.size(); ++rank) all.put_back(pieces[rank], rank, 2, x);
            EXPECT_TRUE(same_bits(x, expected)) << text(setting);
          }
  }
}

TEST(layered_solve, every_order_of_delivery_gives_the_same_bits) {
  struct Tiny {
    LayeredGrid ranks;
    index_t arms;  // leaves under one root
  };
  for (const LayeredMethod method : methods)
    for (const Tiny& tiny : {Tiny{{{1, 1}, 2}, 2}, {{{1, 1}, 2}, 3}, {{{1, 1}, 3}, 3}, {{{2, 1}, 2}, 2}}) {
      // A star of stars: leaves 0 … arms − 1, the root last.
      const index_t n = tiny.arms + 1;
      Triplets<double> entries{n, n, {}, {}, {}};
      const auto add = [&](index_t row, index_t column, double value) {
        entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(value);
      };
      for (index_t k = 0; k < n; ++k) add(k, k, 5.0 + k);
      for (index_t k = 0; k + 1 < n; ++k) add(n - 1, k, -1), add(k, n - 1, -1);
      AnalyzeOptions options;
      options.max_width = 1;
      options.relax = false;
      const Problem<double> problem(from_triplets(entries, Symmetry::symmetric), FactorKind::llt, options);
      const Outcome<Factor<double>> factor = problem.factored(FactorKind::llt);
      ASSERT_EQ(problem.symbolic->num_supernodes(), n);
      const std::vector<double> b = right_sides<double>(n, 1);
      Layers<double> all(factor.value(), {tiny.ranks, method, PlacementMap::block_cyclic, {false}}, 1);
      const std::vector<double> expected = all.solve(Operation::plain, b, 1, {});
      std::vector<std::vector<double>> mine(all.plans.size());
      const Exploration result = explore_orders(tiny.ranks.num_ranks(), 30000, [&](SimulatedWorld& world) {
        ExploredRun run;
        for (std::size_t rank = 0; rank < mine.size(); ++rank) {
          mine[rank] = all.part_of(b, rank, 1);
          const DenseView<double> both = all.view_of(mine[rank], rank, 1);
          run.programs.push_back(std::make_unique<testing::Borrowed>(
              all.plans[rank].begin(Operation::plain, both, both, world.rank(static_cast<index_t>(rank)))));
        }
        run.check = [&] {
          std::vector<double> x(b.size());
          for (std::size_t rank = 0; rank < mine.size(); ++rank) all.put_back(mine[rank], rank, 1, x);
          EXPECT_TRUE(same_bits(x, expected));
        };
        return run;
      });
      EXPECT_GT(result.orders, 1);
      EXPECT_TRUE(result.complete) << name_of(solve_method(2, method)) << " " << result.orders
                                   << " orders with " << tiny.ranks.num_ranks() << " ranks";
    }
}

}  // namespace
}  // namespace palmette
