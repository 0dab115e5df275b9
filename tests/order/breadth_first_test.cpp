// Dimensions of graphs, and numberings in which neighbours lie near each other.
#include <gtest/gtest.h>

#include <algorithm>

#include "palmette/order/breadth_first.hpp"
#include "tests/order/small_graphs.hpp"

namespace palmette {
namespace {

using namespace order_detail;
using namespace order_test;

TEST(BreadthFirst, growth_tells_meshes_of_the_plane_from_those_in_space) {
  EXPECT_NEAR(growth_dimension(graph_of_problem("poisson2d9", 70)), 2, 0.1);
  EXPECT_NEAR(growth_dimension(graph_of_problem("poisson2d5", 50)), 2, 0.1) << "searched in part";
  EXPECT_NEAR(growth_dimension(graph_of_problem("thermal2d", 5000)), 2.2, 0.25);
  EXPECT_GT(growth_dimension(graph_of_problem("poisson3d7", 17)), 2.6);
  EXPECT_EQ(growth_dimension(Graph{0, {0}, {}, {}}), 0);
  EXPECT_EQ(growth_dimension(Graph{3, {0, 0, 0, 0}, {}, {}}), 0) << "falls apart";
}

TEST(BreadthFirst, balls_tell_the_plane_from_space_and_slabs) {
  EXPECT_NEAR(local_dimension(graph_of_problem("poisson2d9", 70)), 2, 0.1);
  EXPECT_NEAR(local_dimension(graph_of_problem("poisson2d5", 70)), 2, 0.1);
  EXPECT_NEAR(local_dimension(graph_of_problem("thermal2d", 5000)), 2.2, 0.1);
  EXPECT_GT(local_dimension(graph_of_problem("poisson3d7", 20)), 2.6);
  EXPECT_GT(local_dimension(graph_of(slab(60, 4))), 2.37);
  EXPECT_NEAR(local_dimension(graph_of(path(1000))), 1, 0.05);
}

TEST(BreadthFirst, balls_forget_a_few_long_edges) {
  constexpr index_t side = 100;
  Edges edges = slab_edges(side, 1);
  Dice dice(6);
  for (index_t last = side * side - 1, nth = 0; nth < 30; ++nth)
    edges.emplace_back(dice.below(last / 2), last - nth);
  EXPECT_NEAR(local_dimension(graph_of(from_edges(side * side, edges))), 2, 0.1);
}

TEST(BreadthFirst, balls_that_contain_the_graph_tell_nothing) {
  EXPECT_EQ(local_dimension(Graph{0, {0}, {}, {}}), 0);
  EXPECT_EQ(local_dimension(graph_of(path(20))), 0);
  EXPECT_EQ(local_dimension(graph_of(star(5000))), 0);
}

TEST(BreadthFirst, order_lists_each_vertex_once_and_neighbours_soon) {
  for (const NamedMatrix& named : tricky_matrices()) {
    const Graph graph = graph_of(named.matrix);
    std::vector<index_t> order = breadth_first_order(graph);
    EXPECT_EQ(Permutation(order).size(), graph.n) << named.name;
  }
  const Graph line = graph_of(path(300));
  EXPECT_TRUE(std::ranges::is_sorted(breadth_first_order(line)));
}

TEST(BreadthFirst, renumbering_keeps_edges_and_weights) {
  Graph graph = graph_of(grid(9, 2));
  for (index_t vertex = 0; vertex < graph.n; ++vertex) graph.weight.push_back(vertex + 1);
  const std::vector<index_t> order = Dice(3).permutation(graph.n).new_to_old();
  ThreadTeam team(2);
  const Graph moved = renumbered(graph, order, team);
  ASSERT_EQ(moved.start.back(), graph.start.back());
  for (index_t vertex = 0; vertex < moved.n; ++vertex) {
    EXPECT_EQ(moved.weight[vertex], graph.weight[order[vertex]]);
    std::vector<index_t> neighbours, expected;
    for (offset_t edge = moved.start[vertex]; edge < moved.start[vertex + 1]; ++edge)
      neighbours.push_back(order[moved.neighbour[edge]]);
    EXPECT_TRUE(std::is_sorted(moved.neighbour.begin() + moved.start[vertex],
                               moved.neighbour.begin() + moved.start[vertex + 1]));
    for (offset_t edge = graph.start[order[vertex]]; edge < graph.start[order[vertex] + 1]; ++edge)
      expected.push_back(graph.neighbour[edge]);
    std::ranges::sort(neighbours);
    std::ranges::sort(expected);
    EXPECT_EQ(neighbours, expected);
  }
}

TEST(BreadthFirst, numbering_at_random_is_scattered_and_small_graphs_never_are) {
  const Graph graph = graph_of(grid(330));
  EXPECT_FALSE(is_scattered(graph));
  ThreadTeam team(2);
  const Graph shuffled = renumbered(graph, Dice(4).permutation(graph.n).new_to_old(), team);
  EXPECT_TRUE(is_scattered(shuffled));
  EXPECT_FALSE(is_scattered(renumbered(shuffled, breadth_first_order(shuffled), team)));
  const Graph small = graph_of(grid(60));
  EXPECT_FALSE(is_scattered(renumbered(small, Dice(4).permutation(small.n).new_to_old(), team)));
}

}  // namespace
}  // namespace palmette
