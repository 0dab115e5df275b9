// Small matrices and helpers that the tests of `order` share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "palmette/base/base.hpp"
#include "palmette/order/graph.hpp"
#include "palmette/order/order.hpp"

namespace palmette::order_test {

inline order_detail::Graph graph_of(const SparseMatrix<double>& matrix) {
  return order_detail::adjacency(matrix.pattern, {}, false);
}

/// Of a problem of generate().
inline order_detail::Graph graph_of_problem(const std::string& problem, index_t n) {
  GenerateOptions generator;
  generator.problem = problem;
  generator.n = n;
  return graph_of(generate(generator));
}

using Edges = std::vector<std::pair<index_t, index_t>>;

struct NamedMatrix {
  std::string name;
  SparseMatrix<double> matrix;
};

/// Symmetric n × n with 4 on the diagonal and −1 for each edge.
inline SparseMatrix<double> from_edges(index_t n, const Edges& edges) {
  Triplets<double> triplets{n, n, {}, {}, {}};
  const auto add = [&](index_t row, index_t column, double value) {
    triplets.row.push_back(row);
    triplets.column.push_back(column);
    triplets.value.push_back(value);
  };
  for (index_t i = 0; i < n; ++i) add(i, i, 4);
  for (const auto& [a, b] : edges) {
    add(a, b, -1);
    add(b, a, -1);
  }
  return from_triplets(triplets, Symmetry::symmetric);
}

inline SparseMatrix<double> path(index_t n) {
  Edges edges;
  for (index_t i = 0; i + 1 < n; ++i) edges.emplace_back(i, i + 1);
  return from_edges(n, edges);
}

inline SparseMatrix<double> star(index_t n) {
  Edges edges;
  for (index_t i = 1; i < n; ++i) edges.emplace_back(0, i);
  return from_edges(n, edges);
}

inline SparseMatrix<double> clique(index_t n) {
  Edges edges;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < i; ++j) edges.emplace_back(i, j);
  return from_edges(n, edges);
}

/// side × side grid, 5-point, where each point has `unknowns` fully coupled unknowns, numbered point by
/// point.
inline SparseMatrix<double> grid(index_t side, index_t unknowns = 1) {
  Edges edges;
  const auto couple = [&](index_t p, index_t q) {
    for (index_t a = 0; a < unknowns; ++a)
      for (index_t b = 0; b < unknowns; ++b)
        if (p != q || a < b) edges.emplace_back(p * unknowns + a, q * unknowns + b);
  };
  for (index_t y = 0; y < side; ++y)
    for (index_t x = 0; x < side; ++x) {
      const index_t point = y * side + x;
      couple(point, point);
      if (x + 1 < side) couple(point, point + 1);
      if (y + 1 < side) couple(point, point + side);
    }
  return from_edges(side * side * unknowns, edges);
}

/// `layers` grids of side × side, one above the other, 7-point; 5-point if there is one.
inline Edges slab_edges(index_t side, index_t layers) {
  Edges edges;
  for (index_t z = 0; z < layers; ++z)
    for (index_t y = 0; y < side; ++y)
      for (index_t x = 0; x < side; ++x) {
        const index_t point = (z * side + y) * side + x;
        if (x + 1 < side) edges.emplace_back(point, point + 1);
        if (y + 1 < side) edges.emplace_back(point, point + side);
        if (z + 1 < layers) edges.emplace_back(point, point + side * side);
      }
  return edges;
}
inline SparseMatrix<double> slab(index_t side, index_t layers) {
  return from_edges(side * side * layers, slab_edges(side, layers));
}

/// A grid with one more vertex that is joined to all of its points.
inline SparseMatrix<double> grid_with_dense_row(index_t side) {
  Edges edges = slab_edges(side, 1);
  const index_t points = side * side;
  for (index_t point = 0; point < points; ++point) edges.emplace_back(point, points);
  return from_edges(points + 1, edges);
}

inline std::vector<NamedMatrix> tricky_matrices() {
  Edges islands;  // 30 triangles, 10 lone vertices
  for (index_t t = 0; t < 30; ++t) {
    islands.emplace_back(3 * t, 3 * t + 1);
    islands.emplace_back(3 * t + 1, 3 * t + 2);
    islands.emplace_back(3 * t, 3 * t + 2);
  }
  return {{"empty", from_edges(0, {})},
          {"one", from_edges(1, {})},
          {"two without edge", from_edges(2, {})},
          {"two with edge", from_edges(2, {{0, 1}})},
          {"three of a path", path(3)},
          {"diagonal", from_edges(500, {})},
          {"path", path(300)},
          {"star", star(300)},
          {"clique", clique(60)},
          {"disconnected", from_edges(100, islands)},
          {"grid", grid(20)},
          {"grid with three unknowns a point", grid(15, 3)},
          {"grid with a dense row", grid_with_dense_row(40)},
          {"bipartite", [] {
             Edges edges;
             for (index_t i = 0; i < 40; ++i)
               for (index_t j = 40; j < 80; ++j) edges.emplace_back(i, j);
             return from_edges(80, edges);
           }()}};
}

inline std::vector<OrderingMethod> available_methods() {
  std::vector<OrderingMethod> methods;
  for (const OrderingMethodInfo& info : ordering_method_list())
    if (info.available && info.method != OrderingMethod::user) methods.push_back(info.method);
  return methods;
}

/// A generator of reproducible numbers.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : stream_(seed) {}
  std::uint64_t next() { return stream_.next(); }
  index_t below(index_t bound) { return static_cast<index_t>(next() % static_cast<std::uint64_t>(bound)); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  Permutation permutation(index_t n) {
    std::vector<index_t> order(n);
    for (index_t i = 0; i < n; ++i) order[i] = i;
    for (index_t i = n - 1; i > 0; --i) std::swap(order[i], order[below(i + 1)]);
    return Permutation(order);
  }

 private:
  SplitMix64 stream_;
};

/// A matrix from the rows of a dense array; zeros are not stored.
template <class T = double>
SparseMatrix<T> from_dense(const std::vector<std::vector<T>>& rows, Symmetry symmetry = Symmetry::general) {
  Triplets<T> triplets;
  triplets.rows = triplets.cols = static_cast<index_t>(rows.size());
  for (index_t i = 0; i < triplets.rows; ++i)
    for (index_t j = 0; j < triplets.cols; ++j)
      if (rows[i][j] != T{}) {
        triplets.row.push_back(i);
        triplets.column.push_back(j);
        triplets.value.push_back(rows[i][j]);
      }
  return from_triplets(triplets, symmetry);
}

inline std::string matrix_path(const std::string& file) {
  return std::string(PALMETTE_MATRICES_FOLDER) + "/" + file;
}

}  // namespace palmette::order_test
