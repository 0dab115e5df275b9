// Every fill-reducing method on every difficult graph, merging of indistinguishable vertices, exact fill
// counts, and the rule of `automatic`.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "palmette/order/breadth_first.hpp"
#include "palmette/order/choose.hpp"
#include "palmette/order/fill_methods.hpp"
#include "palmette/order/order.hpp"
#include "tests/order/small_graphs.hpp"

namespace palmette {
namespace {

using namespace order_detail;
using namespace order_test;

/// nnz(L) and Σ count² by eliminating vertices one by one from sets of neighbours.
FillCount eliminated(const SparseMatrix<double>& matrix, const std::vector<index_t>& order) {
  std::vector<std::set<index_t>> neighbours(matrix.cols());
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (const index_t row : matrix.pattern.column(column))
      if (row != column) {
        neighbours[column].insert(row);
        neighbours[row].insert(column);
      }
  FillCount count;
  for (const index_t vertex : order) {
    const double length = static_cast<double>(neighbours[vertex].size()) + 1;
    count.entries += length;
    count.flops += length * length;
    for (const index_t a : neighbours[vertex]) {
      for (const index_t b : neighbours[vertex])
        if (a != b) neighbours[a].insert(b);
      neighbours[a].erase(vertex);
    }
  }
  return count;
}

TEST(FillOrder, every_method_permutes_every_awkward_graph) {
  for (const NamedMatrix& named : tricky_matrices())
    for (const OrderingMethod method : available_methods()) {
      OrderOptions options;
      options.method = method;
      // Permutation's constructor checks that it is one
      const Ordering ordering = order(named.matrix, options).value();
      EXPECT_EQ(ordering.column.size(), named.matrix.cols()) << named.name << ", " << name_of(method);
      EXPECT_EQ(ordering.row.new_to_old(), ordering.column.new_to_old());
      EXPECT_TRUE(ordering.row_scale.empty() && ordering.column_scale.empty());
      EXPECT_TRUE(ordering.method == method || method == OrderingMethod::automatic);
      EXPECT_NE(ordering.method, OrderingMethod::automatic);
      EXPECT_GE(ordering.seconds, 0);
    }
}

TEST(FillOrder, path_is_ordered_without_fill_by_minimum_degree) {
  // A tree has an order without fill: n diagonal entries and n − 1 edges; minimum degree takes leaves first.
  const SparseMatrix<double> matrix = path(300);
  const FillOrder fill = order_graph(graph_of(matrix), OrderingMethod::amd);
  EXPECT_EQ(fill_count(graph_of(matrix), fill.order).entries, 599);
}

TEST(FillOrder, hub_of_a_star_comes_last_for_every_method_that_reduces_fill) {
  // Only an order with the hub among the last two has no fill: 300 + 299 entries.
  for (const OrderingMethod method : available_methods()) {
    if (method == OrderingMethod::natural) continue;
    const FillOrder fill = order_graph(graph_of(star(300)), method);
    EXPECT_EQ(fill_count(graph_of(star(300)), fill.order).entries, 599) << name_of(method);
  }
}

TEST(FillOrder, dissection_of_a_grid_saves_fill) {
  // Natural order of a 40 × 40 grid fills the band: about 1600 · 40 entries.
  const Graph graph = graph_of(grid(40));
  const double natural = fill_count(graph, order_graph(graph, OrderingMethod::natural).order).entries;
  for (const OrderingMethod method : available_methods())
    if (method != OrderingMethod::natural) {
      EXPECT_LT(fill_count(graph, order_graph(graph, method).order).entries, 0.5 * natural)
          << name_of(method);
    }
}

TEST(FillOrder, row_that_meets_all_others_stays_last_and_spoils_nothing) {
  const Graph with = graph_of(grid_with_dense_row(40)), without = graph_of(grid(40));
  for (const OrderingMethod method : available_methods()) {
    if (method == OrderingMethod::natural) continue;
    // The dense row adds its own 1601 entries, and no fill if it is last; ties broken another way cost the
    // rest.
    const double entries = fill_count(with, order_graph(with, method).order).entries;
    const double grid_entries = fill_count(without, order_graph(without, method).order).entries;
    EXPECT_LE(entries, 1.25 * grid_entries + 1601) << name_of(method);
  }
}

TEST(FillOrder, same_call_gives_same_order_from_any_thread) {
  const SparseMatrix<double> matrix = grid(50);
  for (const OrderingMethod method : available_methods()) {
    OrderOptions options;
    options.method = method;
    const std::vector<index_t> first = order(matrix, options).value().column.new_to_old();
    std::vector<std::vector<index_t>> others(4);
    std::vector<std::thread> threads;
    for (std::vector<index_t>& other : others)
      threads.emplace_back([&] { other = order(matrix, options).value().column.new_to_old(); });
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<index_t>& other : others) EXPECT_EQ(other, first) << name_of(method);
    options.threads = 3;
    EXPECT_EQ(order(matrix, options).value().column.new_to_old(), first) << name_of(method);
  }
}

TEST(FillOrder, renumbering_the_matrix_keeps_the_quality) {
  const SparseMatrix<double> matrix = grid(40);
  const Permutation shuffle = Dice(7).permutation(matrix.cols());
  const Graph plain = graph_of(matrix), shuffled = graph_of(permute(matrix, shuffle, shuffle));
  for (const OrderingMethod method : available_methods()) {
    if (method == OrderingMethod::natural) continue;
    const double ratio = fill_count(shuffled, order_graph(shuffled, method).order).entries /
                         fill_count(plain, order_graph(plain, method).order).entries;
    EXPECT_LT(ratio, 1.3) << name_of(method);
    EXPECT_GT(ratio, 0.7) << name_of(method);
  }
}

TEST(FillCountTest, counts_equal_elimination_on_random_graphs) {
  Dice dice(3);
  for (int trial = 0; trial < 60; ++trial) {
    const index_t n = 1 + dice.below(40);
    Edges edges;
    for (index_t edge = dice.below(3 * n); edge > 0; --edge) {
      const index_t a = dice.below(n), b = dice.below(n);
      if (a != b) edges.emplace_back(a, b);
    }
    const SparseMatrix<double> matrix = from_edges(n, edges);
    const std::vector<index_t> order = dice.permutation(n).new_to_old();
    const FillCount expected = eliminated(matrix, order), counted = fill_count(graph_of(matrix), order);
    EXPECT_EQ(counted.entries, expected.entries);
    EXPECT_EQ(counted.flops, expected.flops);
  }
}

TEST(FillCountTest, weighted_vertices_count_like_the_unknowns_they_stand_for) {
  const Graph graph = graph_of(grid(12, 3));
  const Groups groups = indistinguishable(graph);
  ASSERT_EQ(groups.count(), 144);
  const Graph merged = quotient(graph, groups, true);
  const std::vector<index_t> order = Dice(5).permutation(144).new_to_old();
  const FillCount whole = fill_count(graph, groups.expand(order)), small = fill_count(merged, order);
  EXPECT_EQ(small.entries, whole.entries);
  EXPECT_EQ(small.flops, whole.flops);
}

TEST(FillCountTest, long_chain_needs_no_recursion) {
  const Graph graph = graph_of(path(200000));
  EXPECT_EQ(fill_count(graph, order_graph(graph, OrderingMethod::natural).order).entries, 399999);
}

TEST(Merging, unknowns_of_a_point_form_one_group) {
  const SparseMatrix<double> matrix = grid(6, 3);
  const Groups groups = indistinguishable(graph_of(matrix));
  ASSERT_EQ(groups.count(), 36);
  for (index_t group = 0; group < 36; ++group) {
    ASSERT_EQ(groups.start[group + 1] - groups.start[group], 3);
    for (index_t a = 0; a < 3; ++a) EXPECT_EQ(groups.member[groups.start[group] + a], 3 * group + a);
  }
}

TEST(Merging, is_tried_where_a_sample_of_vertices_has_twins) {
  EXPECT_EQ(sampled_twins(graph_of(grid(5, 1))), 1) << "small graphs are not sampled";
  EXPECT_EQ(sampled_twins(graph_of(grid(70, 1))), 0);
  EXPECT_EQ(sampled_twins(graph_of(grid(40, 3))), 1);
  Edges pairs;  // a path whose second half has every vertex twice: a third of the vertices could be merged
  for (index_t at = 0; at + 1 < 6000; ++at) {
    if (at < 3000) pairs.emplace_back(at, at + 1);
    else
      for (index_t other = at + 1; other < std::min(at + 4 - at % 2, 6000); ++other)
        pairs.emplace_back(at, other);
  }
  EXPECT_NEAR(sampled_twins(graph_of(from_edges(6000, pairs))), 0.5, 0.02);
  Edges points;  // a path of points: of four unknowns, the first has no twin
  constexpr index_t unknowns = 1 << 14;
  for (index_t point = 0; point < unknowns; point += 4)
    for (index_t one = point; one < point + 4; ++one)
      for (index_t other = one + 1; other < std::min(one == point ? point + 4 : point + 8, unknowns); ++other)
        if (other != point + 4) points.emplace_back(one, other);
  EXPECT_NEAR(sampled_twins(graph_of(from_edges(unknowns, points))), 0.75, 0.1);
}

TEST(Merging, groups_do_not_depend_on_the_numbering) {
  const SparseMatrix<double> matrix = grid(6, 3);
  const Permutation shuffle = Dice(11).permutation(matrix.cols());
  const Groups groups = indistinguishable(graph_of(permute(matrix, shuffle, shuffle)));
  ASSERT_EQ(groups.count(), 36);
  for (index_t group = 0; group < 36; ++group)
    for (index_t at = groups.start[group]; at < groups.start[group + 1]; ++at)
      EXPECT_EQ(shuffle.new_to_old()[groups.member[at]] / 3,
                shuffle.new_to_old()[groups.member[groups.start[group]]] / 3);
}

TEST(Merging, vertices_with_equal_neighbours_that_are_not_adjacent_stay_apart) {
  // The leaves of a star have the same neighbour, but each is its own neighbour too.
  EXPECT_EQ(indistinguishable(graph_of(star(10))).count(), 10);
  EXPECT_EQ(indistinguishable(graph_of(clique(10))).count(), 1);
}

TEST(Merging, dissection_keeps_merged_unknowns_together) {
  for (const OrderingMethod method : {OrderingMethod::metis, OrderingMethod::scotch}) {
    const std::vector<OrderingMethod> available = available_methods();
    if (std::find(available.begin(), available.end(), method) == available.end()) continue;
    const FillOrder fill = order_graph(graph_of(grid(15, 3)), method);
    for (std::size_t place = 0; place < fill.order.size(); place += 3) {
      EXPECT_EQ(fill.order[place] / 3, fill.order[place + 1] / 3);
      EXPECT_EQ(fill.order[place] / 3, fill.order[place + 2] / 3);
    }
  }
}

TEST(Adjacency, of_an_unsymmetric_matrix_is_that_of_the_sum_with_its_transpose) {
  // Entries (0,1), (2,1), (1,2), (0,0): edges 0-1 and 1-2.
  const SparseMatrix<double> matrix = from_dense<double>({{1, 1, 0}, {0, 0, 1}, {0, 1, 0}});
  const Graph graph = graph_of(matrix);
  EXPECT_EQ(graph.start, (std::vector<offset_t>{0, 1, 3, 4}));
  EXPECT_EQ(graph.neighbour, (std::vector<index_t>{1, 0, 2, 1}));
}

TEST(Adjacency, of_moved_rows_is_that_of_the_permuted_matrix) {
  Dice dice(17);
  Triplets<double> triplets{30, 30, {}, {}, {}};
  for (int entry = 0; entry < 100; ++entry) {
    triplets.row.push_back(dice.below(30));
    triplets.column.push_back(dice.below(30));
    triplets.value.push_back(1);
  }
  const SparseMatrix<double> matrix = from_triplets(triplets);
  const Permutation rows = dice.permutation(30);
  const Graph moved = adjacency(matrix.pattern, rows.old_to_new(), false);
  const Graph expected = graph_of(permute(matrix, rows, Permutation::identity(30)));
  EXPECT_EQ(moved.start, expected.start);
  EXPECT_EQ(moved.neighbour, expected.neighbour);
}

TEST(Automatic, keeps_minimum_degree_on_plane_and_small_graphs) {
  for (const index_t side : {1, 5, 40}) {
    OrderOptions options;
    const Ordering ordering = order(grid(side), options).value();
    EXPECT_EQ(ordering.method, OrderingMethod::amd) << side;
    options.method = OrderingMethod::amd;
    EXPECT_EQ(ordering.column.new_to_old(), order(grid(side), options).value().column.new_to_old());
  }
}

TEST(Automatic, bound_of_minimum_degree_is_no_less_than_the_exact_count) {
  for (const NamedMatrix& named : tricky_matrices()) {
    const Graph graph = graph_of(named.matrix);
    const AmdOrder amd = amd_order(graph);
    const double exact = fill_count(graph, amd.order).flops;
    EXPECT_GE(amd.flops_bound, exact) << named.name;
    EXPECT_LE(amd.flops_bound, 2 * exact) << named.name;
  }
}

// Ascending lists go to the library's kernel as they are; others go through the library's door, which sorts.
TEST(MinimumDegreeLibrary, order_does_not_depend_on_the_order_of_lists) {
  std::vector<Graph> graphs{graph_of_problem("thermal2d", 3000), graph_of_problem("rmat", 2000),
                            Graph{1, {0, 0}, {}, {}}};
  for (const NamedMatrix& named : tricky_matrices()) graphs.push_back(graph_of(named.matrix));
  for (const Graph& ascending : graphs) {
    Graph descending = ascending;
    for (index_t vertex = 0; vertex < descending.n; ++vertex)
      std::reverse(descending.neighbour.begin() + descending.start[vertex],
                   descending.neighbour.begin() + descending.start[vertex + 1]);
    const AmdOrder kernel = amd_order(ascending), door = amd_order(descending);
    EXPECT_EQ(kernel.order, door.order);
    EXPECT_EQ(kernel.flops_bound, door.flops_bound);
  }
}

TEST(MinimumDegreeLibrary, lists_of_one_triangle_have_the_order_of_the_graph) {
  const Graph both = graph_of_problem("thermal2d", 3000);
  Graph upper{both.n, {0}, {}, {}};
  for (index_t vertex = 0; vertex < both.n; ++vertex) {
    std::copy_if(both.neighbour.begin() + both.start[vertex], both.neighbour.begin() + both.start[vertex + 1],
                 std::back_inserter(upper.neighbour), [&](index_t other) { return other > vertex; });
    upper.start.push_back(static_cast<offset_t>(upper.neighbour.size()));
  }
  EXPECT_EQ(amd_order(upper).order, amd_order(both).order);
}

TEST(Automatic, does_not_dissect_a_graph_without_small_separators) {
  GenerateOptions generator;
  generator.problem = "rmat";
  generator.n = 20000;
  const Graph graph = graph_of(generate(generator));
  const AmdOrder amd = amd_order(graph);
  // by the flops, it would pay
  EXPECT_GT(amd.flops_bound, 1e4 * static_cast<double>(graph.n + graph.start.back()));
  EXPECT_FALSE(nested_dissection_may_pay(amd.flops_bound, graph));
}

TEST(Automatic, obeys_its_rule_on_both_sides_of_the_threshold) {
  std::vector<std::pair<std::string, index_t>> problems = {
      {"poisson2d5", 60}, {"poisson3d7", 12}, {"poisson3d7", 24}, {"elasticity3d", 8}, {"circuit", 3000}};
  bool below = false, above = false;
  for (const auto& [problem, n] : problems) {
    GenerateOptions generator;
    generator.problem = problem;
    generator.n = n;
    const SparseMatrix<double> matrix = generate(generator);
    const Graph graph = adjacency(matrix.pattern, {}, false);
    const Groups groups = indistinguishable(graph);
    const Graph merged = quotient(graph, groups, true);
    const FillCount amd = fill_count(graph, order_graph(graph, OrderingMethod::amd).order);
    const FillOrder chosen = order_graph(graph, OrderingMethod::automatic);
    const FillCount best = fill_count(graph, chosen.order);
    const bool tried = nested_dissection_may_pay(amd_order(graph).flops_bound,
                                                 groups.count() <= 0.75 * graph.n ? merged : graph);
    (tried ? above : below) = true;
    EXPECT_TRUE(tried || chosen.method == OrderingMethod::amd) << problem;
    EXPECT_TRUE(chosen.method == OrderingMethod::amd ? best.flops == amd.flops : best.flops < amd.flops)
        << problem;
  }
  EXPECT_TRUE(below);
  EXPECT_TRUE(above);
}

// AMD's order of the smaller mesh is good enough; the larger one is dissected without trying AMD.
TEST(Automatic, order_of_a_mesh_in_space_does_not_depend_on_the_threads) {
  const std::vector<std::pair<index_t, OrderingMethod>> cases{{16, OrderingMethod::amd},
                                                              {30, OrderingMethod::nd}};
  for (const auto& [n, method] : cases) {
    const Graph graph = graph_of_problem("poisson3d7", n);
    ASSERT_GE(growth_dimension(graph), 2.5);
    const FillOrder alone = order_graph(graph, OrderingMethod::automatic, 1);
    EXPECT_EQ(alone.method, method) << n;
    EXPECT_LE(fill_count(graph, alone.order).flops,
              fill_count(graph, order_graph(graph, OrderingMethod::amd).order).flops);
    for (const int threads : {2, 3}) {
      const FillOrder shared = order_graph(graph, OrderingMethod::automatic, threads);
      EXPECT_EQ(shared.method, alone.method);
      EXPECT_EQ(shared.order, alone.order);
    }
  }
}

// The first mesh is numbered at random, the second row by row.
TEST(Automatic, cuts_large_planar_meshes_whatever_the_threads) {
  for (const auto& [problem, n] : {std::pair{"thermal2d", 110000}, std::pair{"poisson2d5", 400}}) {
    const Graph graph = graph_of_problem(problem, n);
    ASSERT_EQ(is_scattered(graph), n == 110000);
    const FillOrder alone = order_graph(graph, OrderingMethod::automatic, 1);
    EXPECT_EQ(alone.method, OrderingMethod::nd);
    EXPECT_LT(fill_count(graph, alone.order).flops,
              0.95 * fill_count(graph, order_graph(graph, OrderingMethod::amd).order).flops)
        << problem;
    EXPECT_EQ(order_graph(graph, OrderingMethod::automatic, 3).order, alone.order);
  }
}

TEST(Automatic, leaves_other_large_graphs_of_low_dimension_to_amd) {
  // eight neighbours; two or three; a graph that is smaller
  for (const auto& [problem, n] :
       {std::pair{"poisson2d9", 330}, std::pair{"road", 320}, std::pair{"thermal2d", 90000}})
    EXPECT_EQ(order_graph(graph_of_problem(problem, n), OrderingMethod::automatic).method,
              OrderingMethod::amd)
        << problem;
}

}  // namespace
}  // namespace palmette
