// Plans of all ranks of a run, in one layer and in several, and their solves in simulated worlds.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "palmette/factorize/factorize.hpp"
#include "rank_testing.hpp"

namespace palmette::testing {

/// What a rank gets of a solve for single entries.
template <class T>
struct EntriesOfRank {
  /// @param b  n × num_rhs: what is not zero of it is given
  EntriesOfRank(std::span<const index_t> rows, index_t n, const std::vector<T>& b, index_t num_rhs,
                const std::vector<index_t>& all_wanted)
      : wanted(all_wanted) {
    for (index_t row = 0; row < n; ++row)
      for (index_t rhs = 0; rhs < num_rhs; ++rhs)
        if (b[row + rhs * n] != T(0)) given.push_back(row);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto number = static_cast<index_t>(k);
      for (index_t rhs = 0; rhs < num_rhs; ++rhs)
        if (const T value = b[rows[k] + rhs * n]; value != T(0)) own.push_back({number, rhs, value});
      if (std::binary_search(wanted.begin(), wanted.end(), rows[k])) own_wanted.push_back(number);
    }
    for (const index_t number : own_wanted) row_of_x.push_back(rows[number]);
    x = DenseMatrix<T>(static_cast<index_t>(own_wanted.size()), num_rhs);
  }
  RankEntries<T> entries() const { return {given, wanted, own, own_wanted}; }
  void put_back(const std::vector<index_t>& all_wanted, std::vector<T>& all) const {
    for (index_t rhs = 0; rhs < x.cols; ++rhs)
      for (index_t k = 0; k < x.rows; ++k) {
        const auto place = std::lower_bound(all_wanted.begin(), all_wanted.end(), row_of_x[k]);
        all[static_cast<std::size_t>(place - all_wanted.begin()) +
            static_cast<std::size_t>(rhs) * all_wanted.size()] = x.view()(k, rhs);
      }
  }

  std::vector<index_t> given, wanted, own_wanted, row_of_x;
  std::vector<RankEntry<T>> own;
  DenseMatrix<T> x;
};

/// Of a solve for single entries.
template <class T>
struct EntriesAsked {
  index_t n;
  Operation operation;
  const std::vector<T>& b;  ///< n × num_rhs
  index_t num_rhs;
  const std::vector<index_t>& wanted;  ///< ascending
};

/// Rows `wanted` of x, of every right-hand side, by the plans of all ranks. @param traffic  of this solve
template <class T>
std::vector<T> entries_of_plans(std::vector<RankSolvePlan<T>>& plans, const EntriesAsked<T>& asked,
                                const SimulationOptions& simulation, Traffic& traffic) {
  const std::vector<index_t>& wanted = asked.wanted;
  SimulatedWorld world(static_cast<index_t>(plans.size()), simulation);
  std::vector<EntriesOfRank<T>> parts;
  for (const RankSolvePlan<T>& plan : plans)
    parts.emplace_back(plan.rows(), asked.n, asked.b, asked.num_rhs, wanted);
  std::deque<Borrowed> borrowed;
  std::vector<RankProgram*> programs;
  for (std::size_t rank = 0; rank < plans.size(); ++rank)
    borrowed.emplace_back(plans[rank].begin_entries(asked.operation, parts[rank].entries(),
                                                    parts[rank].x.view(),
                                                    world.rank(static_cast<index_t>(rank))));
  for (Borrowed& one : borrowed) programs.push_back(&one);
  traffic = world.run(programs).traffic;
  std::vector<T> x(wanted.size() * static_cast<std::size_t>(asked.num_rhs));
  for (const EntriesOfRank<T>& part : parts) part.put_back(wanted, x);
  return x;
}

struct Setting {
  ProcessGrid grid;
  PlacementMap map = PlacementMap::block_cyclic;
  WholeSubtrees whole;
  TreeShape trees = TreeShape::binary;
  std::uint64_t seed = 1;
  index_t rhs_groups = 1;
};

/// A factor over ranks in one simulated world, and its plans.
template <class T>
struct Ranks {
  Ranks(const Problem<T>& problem, FactorKind kind, const Setting& setting, index_t max_rhs)
      : n(problem.matrix.rows()),
        placement(std::make_shared<const Placement>(
            place(*problem.symbolic, setting.grid, setting.map, setting.whole))),
        symbolic(problem.symbolic) {
    SimulatedWorld world(placement->num_ranks(), adverse(setting.seed));
    std::vector<RankFactorization<T>> parts;
    std::vector<RankProgram*> programs;
    for (index_t rank = 0; rank < placement->num_ranks(); ++rank)
      parts.emplace_back(RankSystem<T>{problem.matrix, problem.symbolic, placement, problem.ordering},
                         RankFactorizeOptions{kind, 0, 1}, world.rank(rank));
    for (RankFactorization<T>& part : parts) programs.push_back(&part.program());
    world.run(programs);
    for (RankFactorization<T>& part : parts) {
      RankPlanOptions options;
      options.trees = setting.trees;
      options.max_rhs = max_rhs;
      options.rhs_groups = setting.rhs_groups;
      plans.emplace_back(std::make_shared<const RankFactor<T>>(part.take()), options);
    }
  }

  /// x of the permuted matrix.
  std::vector<T> solve(Operation operation, const std::vector<T>& b, index_t num_rhs,
                       const SimulationOptions& simulation) {
    SimulatedWorld world(placement->num_ranks(), simulation);
    std::vector<std::vector<T>> mine(plans.size());
    std::vector<RankProgram*> programs;
    std::vector<int> owners(n, 0);
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      const auto rows = plans[rank].rows();
      for (index_t rhs = 0; rhs < num_rhs; ++rhs)
        for (const index_t row : rows) mine[rank].push_back(b[row + rhs * n]);
      for (const index_t row : rows) ++owners[row];
      const auto count = static_cast<index_t>(rows.size());
      const DenseView<T> both{mine[rank].data(), count, num_rhs, count};
      programs.push_back(&plans[rank].begin(operation, both, both, world.rank(static_cast<index_t>(rank))));
    }
    for (const int count : owners) EXPECT_EQ(count, 1) << "each row has one rank";
    const SimulationResult result = world.run(programs);
    traffic = result.traffic;
    std::vector<T> x(b.size());
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      const auto rows = plans[rank].rows();
      for (index_t rhs = 0; rhs < num_rhs; ++rhs)
        for (std::size_t k = 0; k < rows.size(); ++k)
          x[rows[k] + rhs * n] = mine[rank][k + static_cast<std::size_t>(rhs) * rows.size()];
    }
    return x;
  }

  /// Rows `wanted` (ascending) of x, of every right-hand side: a solve for these alone.
  std::vector<T> solve_entries(Operation operation, const std::vector<T>& b, index_t num_rhs,
                               const std::vector<index_t>& wanted, const SimulationOptions& simulation) {
    return entries_of_plans<T>(plans, {n, operation, b, num_rhs, wanted}, simulation, traffic);
  }

  index_t n;
  std::shared_ptr<const Placement> placement;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::vector<RankSolvePlan<T>> plans;
  Traffic traffic;
};

struct LayeredSetting {
  LayeredGrid ranks;
  LayeredMethod method = LayeredMethod::one_sync_3d;
  PlacementMap map = PlacementMap::block_cyclic;
  WholeSubtrees whole;
  TreeShape trees = TreeShape::binary;
  index_t rhs_groups = 1;
};

inline std::string text(const LayeredSetting& setting) {
  return std::to_string(setting.ranks.grid.rows) + "x" + std::to_string(setting.ranks.grid.cols) + "x" +
         std::to_string(setting.ranks.layers) + " " + std::string(name_of(solve_method(2, setting.method))) +
         " " + std::string(name_of(setting.map)) + " " + std::string(name_of(setting.trees));
}

/// Plans of all ranks of all layers, with their factors taken from a single factor.
template <class T>
struct Layers {
  Layers(const Factor<T>& factor, const LayeredSetting& setting, index_t max_rhs)
      : n(factor.size()), ranks(setting.ranks), trees(setting.trees) {
    const auto cut = std::make_shared<const Layering>(cut_into_layers(*factor.symbolic, ranks.layers));
    systems = layer_systems(*factor.symbolic, cut, setting.method, {ranks, setting.map, setting.whole});
    RankPlanOptions options;
    options.trees = setting.trees;
    options.max_rhs = max_rhs;
    options.rhs_groups = setting.rhs_groups;
    for (const LayerSystem& system : systems) {
      options.layer = std::make_shared<const LayerSystem>(system);
      for (index_t rank = 0; rank < ranks.grid.num_ranks(); ++rank)
        plans.emplace_back(std::make_shared<const RankFactor<T>>(
                               rank_part(factor, system.symbolic, system.placement, rank, system.supernode)),
                           options);
    }
  }

  /// Right-hand sides of one rank.
  std::vector<T> part_of(const std::vector<T>& b, std::size_t rank, index_t num_rhs) const {
    std::vector<T> mine;
    for (index_t rhs = 0; rhs < num_rhs; ++rhs)
      for (const index_t row : plans[rank].rows()) mine.push_back(b[row + rhs * n]);
    return mine;
  }
  DenseView<T> view_of(std::vector<T>& mine, std::size_t rank, index_t num_rhs) const {
    const auto count = static_cast<index_t>(plans[rank].rows().size());
    return {mine.data(), count, num_rhs, count};
  }

  /// x of the permuted matrix.
  std::vector<T> solve(Operation operation, const std::vector<T>& b, index_t num_rhs,
                       const SimulationOptions& simulation) {
    SimulatedWorld world(ranks.num_ranks(), simulation);
    std::vector<std::vector<T>> mine(plans.size());
    std::vector<RankProgram*> programs;
    std::vector<int> owners(n, 0);
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      mine[rank] = part_of(b, rank, num_rhs);
      for (const index_t row : plans[rank].rows()) ++owners[row];
      const DenseView<T> both = view_of(mine[rank], rank, num_rhs);
      programs.push_back(&plans[rank].begin(operation, both, both, world.rank(static_cast<index_t>(rank))));
    }
    for (const int count : owners) EXPECT_EQ(count, 1) << "each row has one rank";
    traffic = world.run(programs).traffic;
    std::vector<T> x(b.size());
    for (std::size_t rank = 0; rank < plans.size(); ++rank) put_back(mine[rank], rank, num_rhs, x);
    return x;
  }
  void put_back(const std::vector<T>& mine, std::size_t rank, index_t num_rhs, std::vector<T>& x) const {
    const auto rows = plans[rank].rows();
    for (index_t rhs = 0; rhs < num_rhs; ++rhs)
      for (std::size_t k = 0; k < rows.size(); ++k)
        x[rows[k] + rhs * n] = mine[k + static_cast<std::size_t>(rhs) * rows.size()];
  }
  Traffic predicted(index_t num_rhs) const {
    return predicted_layered_traffic(systems, trees,
                                     padded_rhs(sizeof(T), num_rhs) * static_cast<offset_t>(sizeof(T)))
        .all();
  }

  /// Rows `wanted` (ascending) of x, of every right-hand side: a solve for these alone.
  std::vector<T> solve_entries(Operation operation, const std::vector<T>& b, index_t num_rhs,
                               const std::vector<index_t>& wanted, const SimulationOptions& simulation) {
    return entries_of_plans<T>(plans, {n, operation, b, num_rhs, wanted}, simulation, traffic);
  }

  index_t n;
  LayeredGrid ranks;
  TreeShape trees;
  std::vector<LayerSystem> systems;
  std::vector<RankSolvePlan<T>> plans;
  Traffic traffic;
};

}  // namespace palmette::testing
