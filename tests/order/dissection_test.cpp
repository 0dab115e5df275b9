// Palmette's own nested dissection and its parts: hierarchy, separators, minimum degree with a halo.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "palmette/order/choose.hpp"
#include "palmette/order/dissection.hpp"
#include "palmette/order/distance_levels.hpp"
#include "palmette/order/fill_count.hpp"
#include "palmette/order/fill_methods.hpp"
#include "palmette/order/minimum_degree.hpp"
#include "palmette/order/separator.hpp"
#include "tests/order/small_graphs.hpp"

namespace palmette {
namespace {

using namespace order_detail;
using namespace order_test;

SparseMatrix<double> cube(index_t side) { return slab(side, side); }

/// Vertex k is joined to three earlier vertices, preferably early ones: few hubs, many vertices of low
/// degree.
SparseMatrix<double> scale_free(index_t n) {
  Dice dice(5);
  Edges edges;
  std::vector<index_t> ends = {0, 1};
  edges.emplace_back(0, 1);
  for (index_t vertex = 2; vertex < n; ++vertex)
    for (int link = 0; link < 3; ++link) {
      const index_t other = ends[dice.below(static_cast<index_t>(ends.size()))];
      if (other == vertex) continue;
      edges.emplace_back(vertex, other);
      ends.insert(ends.end(), {vertex, other});
    }
  return from_edges(n, edges);
}

/// 40 stars of 200 leaves, their hubs in a ring: matching can match only one leaf of each star.
SparseMatrix<double> ring_of_stars() {
  Edges edges;
  for (index_t hub = 0; hub < 40; ++hub) {
    edges.emplace_back(hub, (hub + 1) % 40);
    for (index_t leaf = 0; leaf < 200; ++leaf) edges.emplace_back(hub, 40 + hub * 200 + leaf);
  }
  return from_edges(40 * 201, edges);
}

std::vector<NamedMatrix> larger_matrices() {
  return {{"chain", path(20000)},
          {"cube", cube(16)},
          {"grid with three unknowns a point", grid(40, 3)},
          {"clique", clique(700)},
          {"scale-free", scale_free(8000)},
          {"ring of stars", ring_of_stars()},
          {"grid with a dense row", grid_with_dense_row(60)},
          {"many islands", [] {
             Edges edges;
             for (index_t at = 0; at + 1 < 6000; ++at)
               if (at % 3 != 2) edges.emplace_back(at, at + 1);
             return from_edges(6000, edges);
           }()}};
}

TEST(Coarsening, keeps_weights_and_edges_and_does_not_stall_on_stars) {
  for (const NamedMatrix& named : larger_matrices()) {
    const Graph graph = graph_of(named.matrix);
    ThreadTeam team(3);
    const std::vector<LevelGraph> levels = coarsen(graph, 100, team);
    for (const LevelGraph& level : levels) {
      EXPECT_EQ(std::accumulate(level.weight.begin(), level.weight.end(), offset_t{0}), graph.n)
          << named.name;
      for (index_t vertex = 0; vertex < level.n; ++vertex)
        for (const index_t other : level.neighbours(vertex)) {
          const auto back = level.neighbours(other);
          ASSERT_NE(other, vertex) << named.name;
          ASSERT_NE(std::find(back.begin(), back.end(), vertex), back.end()) << named.name;
        }
    }
    if (named.name == "ring of stars" || named.name == "chain") {
      EXPECT_LE(levels.back().n, 130) << named.name;
    }
  }
}

/// Its sides do not touch, and its weights and lists are those of its sides.
void expect_sound(const Cut& cut, const LevelGraph& level) {
  offset_t weight[3] = {0, 0, 0};
  for (index_t vertex = 0; vertex < level.n; ++vertex) {
    weight[static_cast<int>(cut.side[vertex])] += level.weight[vertex];
    if (cut.side[vertex] != Side::first) continue;
    for (const index_t other : level.neighbours(vertex)) ASSERT_NE(cut.side[other], Side::second);
  }
  EXPECT_EQ(weight[0], cut.side_weight[0]);
  EXPECT_EQ(weight[1], cut.side_weight[1]);
  EXPECT_EQ(weight[2], cut.separator_weight);
  offset_t listed = 0;
  for (const index_t vertex : cut.separator) {
    EXPECT_EQ(cut.side[vertex], Side::separator);
    listed += level.weight[vertex];
  }
  EXPECT_EQ(listed, cut.separator_weight);
}

TEST(Separators, leave_no_edge_between_the_sides_and_count_their_weights) {
  for (const NamedMatrix& named : larger_matrices()) {
    SCOPED_TRACE(named.name);
    const Graph graph = graph_of(named.matrix);
    const LevelGraph level = finest_level(graph);
    expect_sound(SeparatorSearch().begin(level, 7), level);
  }
}

TEST(DistanceLevels, leave_no_edge_between_the_sides_and_count_their_weights) {
  for (const NamedMatrix& named : larger_matrices()) {
    SCOPED_TRACE(named.name);
    Graph graph = graph_of(named.matrix);
    for (index_t vertex = 0; vertex < graph.n; ++vertex) graph.weight.push_back(1 + vertex % 3);
    const LevelGraph level = finest_level(graph);
    for (const std::uint64_t name : {1, 2, 3}) expect_sound(cut_by_distance(level, name), level);
  }
}

TEST(DistanceLevels, cut_a_cube_diagonally) {
  // Of side³ points with neighbours along the axes 0.75·side² have the middle sum of coordinates; an axis has
  // side².
  const index_t side = 20;
  const Graph graph = graph_of(cube(side));
  const Cut cut = cut_by_distance(finest_level(graph), 5);
  EXPECT_LE(cut.separator_weight, 0.76 * side * side);
  EXPECT_LE(cut.heavier(), cut.heaviest_allowed());
}

TEST(DistanceLevels, begin_far_out_wherever_the_search_begins) {
  // A path is cut near its middle, at one vertex, for any name.
  const Graph graph = graph_of(path(1001));
  for (std::uint64_t name = 0; name < 20; ++name) {
    const Cut cut = cut_by_distance(finest_level(graph), name);
    EXPECT_EQ(cut.separator, std::vector<index_t>{500}) << name;
  }
}

TEST(Separators, of_a_long_strip_are_as_short_as_its_width) {
  Edges edges;  // 8 × 200 grid
  for (index_t x = 0; x < 200; ++x)
    for (index_t y = 0; y < 8; ++y) {
      if (y + 1 < 8) edges.emplace_back(8 * x + y, 8 * x + y + 1);
      if (x + 1 < 200) edges.emplace_back(8 * x + y, 8 * x + y + 8);
    }
  const Graph graph = graph_of(from_edges(1600, edges));
  const Cut cut = SeparatorSearch().begin(finest_level(graph), 3);
  EXPECT_EQ(cut.separator_weight, 8);
  EXPECT_LE(cut.heavier(), cut.heaviest_allowed());
}

TEST(Separators, price_weighs_length_against_evenness) {
  // Price: separator · (1 + d²). Sides 60 and 40: d² = 0.04, so even sides are worth four percent.
  Cut even, uneven;
  even.side_weight[0] = even.side_weight[1] = 50000;
  uneven.side_weight[0] = 60000;
  uneven.side_weight[1] = 40000;
  uneven.separator_weight = 1000;
  even.separator_weight = 1039;
  EXPECT_TRUE(is_better(even, uneven));
  even.separator_weight = 1041;
  EXPECT_TRUE(is_better(uneven, even));
  uneven.side_weight[0] = 70000;  // beyond 13/20 of all
  uneven.side_weight[1] = 30000;
  uneven.separator_weight = 1;
  EXPECT_TRUE(is_better(even, uneven));
}

TEST(GainBuckets, give_the_largest_gain_first_and_the_oldest_of_equals) {
  GainBuckets queue;
  queue.fit(6, 1);
  EXPECT_EQ(queue.first(), -1);
  queue.insert(0, -2);
  queue.insert(1, 1);
  queue.insert(2, 1);
  queue.insert(3, -9);
  EXPECT_EQ(queue.first(), 1);
  queue.change(1, 1);  // goes to the end of its bucket
  EXPECT_EQ(queue.first(), 2);
  queue.remove(2);
  queue.change(3, 4);
  EXPECT_EQ(queue.first(), 3);
  EXPECT_TRUE(queue.holds(0) && queue.holds(1) && !queue.holds(2));
  queue.clear();
  EXPECT_FALSE(queue.holds(0) || queue.holds(1) || queue.holds(3));
  EXPECT_EQ(queue.first(), -1);
}

TEST(GainBuckets, hold_gains_of_any_size) {
  for (const offset_t typical_weight : {1, 1000000}) {
    GainBuckets queue;
    queue.fit(3, typical_weight);
    queue.insert(0, std::numeric_limits<index_t>::min());
    queue.insert(1, std::numeric_limits<index_t>::max());
    queue.insert(2, 0);
    EXPECT_EQ(queue.first(), 1);
    queue.remove(1);
    EXPECT_EQ(queue.first(), 2);
  }
}

TEST(MinimumDegree, fills_as_little_as_the_library_s) {
  for (const NamedMatrix& named : larger_matrices()) {
    if (named.name == "grid with a dense row") continue;  // the library sets dense rows aside
    const Graph graph = graph_of(named.matrix);
    std::vector<index_t> all(graph.n), order(all.size());
    std::iota(all.begin(), all.end(), 0);
    HaloMinimumDegree().order(finest_level(graph), all, order);
    EXPECT_LE(fill_count(graph, order).entries, 1.05 * fill_count(graph, amd_order(graph).order).entries)
        << named.name;
  }
}

// Elements that lie within others are absorbed early, so that a few branches are in two pieces.
TEST(MinimumDegree, writes_branches_of_the_elimination_tree_together) {
  const Graph graph = graph_of(grid(40));
  std::vector<index_t> all(graph.n), order(graph.n);
  std::iota(all.begin(), all.end(), 0);
  HaloMinimumDegree().order(finest_level(graph), all, order);
  const std::vector<index_t> parent = elimination_tree(graph, order, Permutation(order).old_to_new());
  std::vector<index_t> size(graph.n, 1), first(graph.n);
  std::iota(first.begin(), first.end(), 0);
  index_t together = 0;
  for (index_t column = 0; column < graph.n; ++column) {
    together += column - first[column] + 1 == size[column];
    if (parent[column] < 0) continue;
    size[parent[column]] += size[column];
    first[parent[column]] = std::min(first[parent[column]], first[column]);
  }
  EXPECT_GE(together, 0.95 * graph.n);
}

TEST(MinimumDegree, vertex_next_to_a_large_halo_comes_after_those_inside) {
  // Path 0-1-2-3-4 to be ordered; 0 and 4 each have three more neighbours that stay.
  const Graph graph = graph_of(
      from_edges(11, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 5}, {0, 6}, {0, 7}, {4, 8}, {4, 9}, {4, 10}}));
  const std::vector<index_t> region = {0, 1, 2, 3, 4};
  std::vector<index_t> order(5);
  HaloMinimumDegree().order(finest_level(graph), region, order);
  EXPECT_TRUE((order[3] == 0 && order[4] == 4) || (order[3] == 4 && order[4] == 0));
}

/// side³ points of a 27-point torus with three unknowns each; some couplings of different unknowns are
/// omitted. Adjacent points share half of their neighbours.
SparseMatrix<double> thinned_elasticity(index_t side) {
  Dice dice(3);
  Edges edges;
  const auto point = [side](index_t x, index_t y, index_t z) { return (z * side + y) * side + x; };
  for (index_t p = 0; p < side * side * side; ++p)
    for (index_t dz = -1; dz <= 1; ++dz)
      for (index_t dy = -1; dy <= 1; ++dy)
        for (index_t dx = -1; dx <= 1; ++dx) {
          const auto wrapped = [side](index_t at) { return (at + side) % side; };
          const index_t q =
              point(wrapped(p % side + dx), wrapped(p / side % side + dy), wrapped(p / (side * side) + dz));
          for (index_t a = 0; a < 3; ++a)
            for (index_t b = 0; b < 3; ++b)
              if (3 * p + a < 3 * q + b && (p == q || a == b || dice.below(8) != 0))
                edges.emplace_back(3 * p + a, 3 * q + b);
        }
  return from_edges(3 * side * side * side, edges);
}

TEST(NearMerging, finds_the_points_of_unknowns_with_couplings_left_out) {
  const Groups groups = nearly_indistinguishable(graph_of(thinned_elasticity(7)));
  EXPECT_LE(groups.count(), 0.6 * 1029);
  for (index_t group = 0; group < groups.count(); ++group)
    for (index_t at = groups.start[group]; at < groups.start[group + 1]; ++at)
      EXPECT_EQ(groups.member[at] / 3, groups.member[groups.start[group]] / 3);
}

TEST(NearMerging, leaves_meshes_alone) {
  for (const NamedMatrix& named : larger_matrices())
    if (named.name == "cube" || named.name == "scale-free" || named.name == "chain") {
      EXPECT_EQ(nearly_indistinguishable(graph_of(named.matrix)).count(), named.matrix.cols()) << named.name;
    }
}

TEST(Dissection, order_is_a_permutation_and_the_same_for_any_number_of_threads) {
  for (const NamedMatrix& named : larger_matrices()) {
    const Graph graph = graph_of(named.matrix);
    const std::vector<index_t> first = order_graph(graph, OrderingMethod::nd, 1).order;
    EXPECT_EQ(Permutation(first).size(), graph.n) << named.name;  // the constructor checks that it is one
    for (const int threads : {2, 3, 8})
      EXPECT_EQ(order_graph(graph, OrderingMethod::nd, threads).order, first) << named.name;
  }
}

TEST(Dissection, of_a_cube_saves_flops_against_minimum_degree) {
  const Graph graph = graph_of(cube(24));
  EXPECT_LT(fill_count(graph, order_graph(graph, OrderingMethod::nd).order).flops,
            0.75 * fill_count(graph, amd_order(graph).order).flops);
}

TEST(Dissection, of_cubes_fills_less_than_the_library_s) {
  if (!has_metis()) GTEST_SKIP() << "this build has no METIS to compare with";
  for (const index_t side : {18, 24, 30}) {
    const Graph graph = graph_of(cube(side));
    EXPECT_LT(fill_count(graph, order_graph(graph, OrderingMethod::nd).order).entries,
              0.95 * fill_count(graph, order_graph(graph, OrderingMethod::metis).order).entries)
        << side;
  }
}

TEST(Dissection, cuts_stencils_further_where_other_graphs_are_left_to_minimum_degree) {
  ThreadTeam team(2);
  const auto order_of = [&](const Graph& graph, index_t largest_whole) {
    return dissection_order(graph, largest_whole, team).order;
  };
  const Graph stencil = graph_of_problem("poisson2d5", 80), triangles = graph_of_problem("thermal2d", 6400);
  const index_t larger = 2 * stencil_region;  // than the sides of the first cut
  EXPECT_EQ(order_of(stencil, larger), order_of(stencil, stencil_region));
  EXPECT_NE(order_of(triangles, larger), order_of(triangles, stencil_region));
  EXPECT_NE(order_of(stencil, stencil_region), order_of(stencil, small_region));
}

TEST(Dissection, knows_stencils) {
  ThreadTeam team(2);
  const auto is_stencil = [&](const Graph& graph) {
    return dissection_order(graph, small_region, team).is_stencil;
  };
  EXPECT_TRUE(is_stencil(graph_of(cube(12))));
  EXPECT_TRUE(is_stencil(graph_of_problem("poisson2d5", 60)));
  EXPECT_FALSE(is_stencil(graph_of_problem("poisson3d27", 12)));
  EXPECT_FALSE(is_stencil(graph_of_problem("thermal2d", 6400)));
}

/// Both graphs in one, with an edge from each of the last vertices of the first to one of the first
/// vertices of the second.
Graph joined(const Graph& one, const Graph& two, index_t edges_between) {
  Edges edges;
  const auto add = [&](const Graph& graph, index_t base) {
    for (index_t vertex = 0; vertex < graph.n; ++vertex)
      for (offset_t at = graph.start[vertex]; at < graph.start[vertex + 1]; ++at)
        if (graph.neighbour[at] < vertex) edges.emplace_back(base + vertex, base + graph.neighbour[at]);
  };
  add(one, 0);
  add(two, one.n);
  for (index_t at = 0; at < edges_between; ++at) edges.emplace_back(one.n - edges_between + at, one.n + at);
  return graph_of(from_edges(one.n + two.n, edges));
}

// Cut by distances alone, the second mesh makes the flops of the whole half as many again.
TEST(Dissection, notices_where_a_stencil_ends_and_another_mesh_begins) {
  const Graph stencil = graph_of(cube(20)), other = graph_of_problem("poisson3d27", 14);
  const auto flops_of = [](const Graph& graph) {
    return fill_count(graph, order_graph(graph, OrderingMethod::nd).order).flops;
  };
  EXPECT_LT(flops_of(joined(stencil, other, 100)), 1.33 * (flops_of(stencil) + flops_of(other)));
}

TEST(Dissection, of_a_complete_graph_does_not_cut_it) {
  const Graph graph = graph_of(clique(700));
  EXPECT_EQ(fill_count(graph, order_graph(graph, OrderingMethod::nd).order).entries, 700 * 701 / 2);
}

}  // namespace
}  // namespace palmette
