// Solves over layers of ranks: small backward error, the same bits for any grid of a layer, map, tree, transport and order of delivery, and as many
// messages, synchronizations and replicated entries as the structure says.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "palmette/factorize/factorize.hpp"
#include "rank_testing.hpp"

namespace palmette {
namespace {

using testing::adverse;
using testing::backward_error;
using testing::Flavour;
using testing::flavour_of;
using testing::Problem;
using testing::random_sparse;
using testing::right_sides;
using testing::same_bits;

struct Setting {
  LayeredGrid ranks;
  LayeredMethod method = LayeredMethod::one_sync_3d;
  PlacementMap map = PlacementMap::block_cyclic;
  WholeSubtrees whole;
  TreeShape trees = TreeShape::binary;
};

std::string text(const Setting& setting) {
  return std::to_string(setting.ranks.grid.rows) + "x" + std::to_string(setting.ranks.grid.cols) + "x" + std::to_string(setting.ranks.layers) + " " +
         std::string(name_of(setting.method)) + " " + std::string(name_of(setting.map)) + " " + std::string(name_of(setting.trees));
}

/// Plans of all ranks of all layers, their factors taken out of one.
template <class T>
struct Layers {
  Layers(const Factor<T>& factor, const Setting& setting, index_t most_sides) : n(factor.size()), ranks(setting.ranks), trees(setting.trees) {
    const auto cut = std::make_shared<const Layering>(cut_into_layers(*factor.symbolic, ranks.layers));
    systems = layer_systems(*factor.symbolic, cut, setting.method, {ranks, setting.map, setting.whole});
    RankPlanOptions options;
    options.trees = setting.trees;
    options.most_sides = most_sides;
    for (const LayerSystem& system : systems)
      for (index_t rank = 0; rank < ranks.grid.num_ranks(); ++rank) {
        auto part = std::make_shared<const RankFactor<T>>(rank_part(factor, system.symbolic, system.placement, rank, system.supernode));
        plans.emplace_back(std::move(part), std::make_shared<const LayerSystem>(system), options);
      }
  }

  /// Right-hand sides of one rank.
  std::vector<T> part_of(const std::vector<T>& b, std::size_t rank, index_t sides) const {
    std::vector<T> mine;
    for (index_t side = 0; side < sides; ++side)
      for (const index_t row : plans[rank].rows()) mine.push_back(b[row + side * n]);
    return mine;
  }
  DenseView<T> view_of(std::vector<T>& mine, std::size_t rank, index_t sides) const {
    const auto count = static_cast<index_t>(plans[rank].rows().size());
    return {mine.data(), count, sides, count};
  }

  /// x of the permuted matrix.
  std::vector<T> solve(Operation operation, const std::vector<T>& b, index_t sides, const SimulationOptions& simulation) {
    SimulatedWorld world(ranks.num_ranks(), simulation);
    std::vector<std::vector<T>> mine(plans.size());
    std::vector<RankProgram*> programs;
    std::vector<int> owners(static_cast<std::size_t>(n), 0);
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      mine[rank] = part_of(b, rank, sides);
      for (const index_t row : plans[rank].rows()) ++owners[row];
      const DenseView<T> both = view_of(mine[rank], rank, sides);
      programs.push_back(&plans[rank].begin(operation, both, both, world.rank(static_cast<index_t>(rank))));
    }
    for (const int count : owners) EXPECT_EQ(count, 1) << "each row has one rank";
    traffic = world.run(programs).traffic;
    std::vector<T> x(b.size());
    for (std::size_t rank = 0; rank < plans.size(); ++rank) put_back(mine[rank], rank, sides, x);
    return x;
  }
  void put_back(const std::vector<T>& mine, std::size_t rank, index_t sides, std::vector<T>& x) const {
    const auto rows = plans[rank].rows();
    for (index_t side = 0; side < sides; ++side)
      for (std::size_t k = 0; k < rows.size(); ++k) x[rows[k] + side * n] = mine[k + static_cast<std::size_t>(side) * rows.size()];
  }
  Traffic predicted(index_t sides) const {
    return predicted_layered_traffic(systems, trees, padded_sides(sizeof(T), sides) * static_cast<offset_t>(sizeof(T))).all();
  }

  index_t n;
  LayeredGrid ranks;
  TreeShape trees;
  std::vector<LayerSystem> systems;
  std::vector<LayeredSolvePlan<T>> plans;
  Traffic traffic;
};

constexpr LayeredMethod methods[] = {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d};

template <class T>
class LayeredSolve : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LayeredSolve, Scalars);

TYPED_TEST(LayeredSolve, bits_are_the_same_for_any_grid_of_a_layer_map_and_tree_and_messages_are_as_predicted) {
  using T = TypeParam;
  const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-12;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    AnalyzeOptions narrow;
    narrow.max_width = 6;
    const Problem<T> problem(random_sparse<T>(flavour_of(kind), 150, 1.2, 3), kind, narrow);
    const Outcome<Factor<T>> factor = problem.factored(kind);
    ASSERT_TRUE(factor);
    for (const index_t sides : {1, 3}) {
      const std::vector<T> b = right_sides<T>(problem.matrix.rows(), sides);
      for (const LayeredMethod method : methods)
        for (const index_t layers : {1, 2, 3, 4, 5, 8}) {
          std::vector<std::vector<T>> first(3);
          int turn = 0;
          for (const ProcessGrid& grid : {ProcessGrid{1, 1}, {2, 1}, {1, 2}, {3, 1}, {2, 2}, {3, 2}}) {
            const Setting setting{{grid, layers}, method, turn % 2 == 0 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube, {true, 60},
                                  turn % 3 == 0 ? TreeShape::flat : TreeShape::binary};
            ++turn;
            Layers<T> all(factor.value(), setting, sides);
            int at = 0;
            for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
              const std::vector<T> x = all.solve(operation, b, sides, adverse(static_cast<std::uint64_t>(turn + layers)));
              if (first[at].empty()) first[at] = x;
              EXPECT_LE(backward_error(problem, operation, x, b, sides), tolerance) << name_of(kind) << " " << text(setting) << " operation " << at;
              EXPECT_TRUE(same_bits(x, first[at])) << name_of(kind) << " " << text(setting) << " operation " << at;
              EXPECT_EQ(all.traffic, all.predicted(sides)) << name_of(kind) << " " << text(setting);
              ++at;
            }
          }
        }
    }
  }
}

}  // namespace
}  // namespace palmette
