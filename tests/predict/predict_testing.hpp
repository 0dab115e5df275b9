// What tests of predictions and of simulated solves share: a cluster and matrices for which times can be
// computed by hand.
#pragma once

#include <algorithm>
#include <utility>

#include "palmette/predict/predict.hpp"

namespace palmette::testing {

constexpr double microsecond = 1e-6;

/// A rank reads one entry in a microsecond; a message takes 5 µs and 1 µs for each entry (8 bytes); nothing
/// else costs anything.
inline Cluster simple_cluster() {
  Cluster cluster;
  cluster.name = "simple";
  cluster.memory_gbs = {{1, 8e-3}};
  cluster.kernel_gflops = {{1, 1e9}};
  const Link link{5, 8e-3, 0, 0};
  cluster.links = node_links(1, link, link);
  return cluster;
}

/// Messages occupy both of their ranks for so long.
inline void set_message_overheads(Cluster& cluster, double us) {
  for (LinkLevel& level : cluster.links) level.link.send_overhead_us = level.link.receive_overhead_us = us;
}

/// n on the diagonal, −1 where two are joined.
/// @param is_joined  of a row and a smaller column
template <class Joined>
SparseMatrix<double> joined_matrix(index_t n, Joined&& is_joined) {
  Triplets<double> entries{n, n, {}, {}, {}};
  for (index_t column = 0; column < n; ++column)
    for (index_t row = 0; row < n; ++row)
      if (row == column || is_joined(std::max(row, column), std::min(row, column)))
        entries.row.push_back(row), entries.column.push_back(column),
            entries.value.push_back(row == column ? n : -1);
  return from_triplets(entries, Symmetry::symmetric);
}
inline SparseMatrix<double> chain_matrix(index_t n) {
  return joined_matrix(n, [](index_t row, index_t column) { return row == column + 1; });
}
inline SparseMatrix<double> star_matrix(index_t n) {
  return joined_matrix(n, [n](index_t row, index_t) { return row == n - 1; });
}
inline SparseMatrix<double> dense_matrix(index_t n) {
  return joined_matrix(n, [](index_t, index_t) { return true; });
}
inline SparseMatrix<double> grid_matrix(index_t side) {
  GenerateOptions options;
  options.problem = "poisson2d9";
  options.n = side;
  return generate(options);
}

inline Ordering natural_order(index_t n) {
  Ordering natural;
  natural.row = natural.column = Permutation::identity(n);
  return natural;
}
inline Ordering nested_dissection(const SparseMatrix<double>& matrix) {
  OrderOptions how;
  how.method = OrderingMethod::nd;
  return order(matrix, how).value();
}

/// Supernodes of one column, so that each entry below the diagonal is a block.
inline AnalyzeOptions single_columns() {
  AnalyzeOptions single;
  single.max_width = 1;
  single.relax = false;
  return single;
}

}  // namespace palmette::testing
