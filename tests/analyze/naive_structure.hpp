// The reference for the symbolic analysis: elimination of a boolean dense matrix, entry by entry.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "palmette/analyze/analyze.hpp"

namespace palmette::testing {

/// Pattern of L of the permuted B + Bᵀ, diagonal included: filled[i][j] for i ≥ j.
inline std::vector<std::vector<char>> naive_fill(const SparsityPattern& pattern, const Permutation& row,
                                                 const Permutation& column) {
  const index_t n = pattern.rows;
  std::vector<std::vector<char>> filled(n,
                                        std::vector<char>(n, 0));
  for (index_t old_column = 0; old_column < n; ++old_column)
    for (const index_t old_row : pattern.column(old_column)) {
      const index_t i = row.old_to_new()[old_row], j = column.old_to_new()[old_column];
      filled[i][j] = filled[j][i] = 1;
    }
  for (index_t k = 0; k < n; ++k) {
    filled[k][k] = 1;
    for (index_t i = k + 1; i < n; ++i)
      for (index_t j = k + 1; j < n; ++j)
        if (filled[i][k] && filled[j][k]) filled[i][j] = 1;
  }
  return filled;
}

/// The rows below each supernode as the union of its columns' entries and of its children's rows: the plain
/// version, for supernodes that were not split.
inline std::vector<std::set<index_t>> united_rows(const SparsityPattern& pattern,
                                                  const SymbolicFactor& symbolic) {
  std::vector<std::set<index_t>> rows(symbolic.num_supernodes());
  const auto add = [&](index_t s, index_t row) {
    if (row >= symbolic.supernode_begin[s + 1]) rows[s].insert(row);
  };
  for (index_t old_column = 0; old_column < pattern.cols; ++old_column)
    for (const index_t old_row : pattern.column(old_column)) {
      const index_t i = symbolic.row.old_to_new()[old_row], j = symbolic.column.old_to_new()[old_column];
      add(symbolic.supernode_of[std::min(i, j)], std::max(i, j));
    }
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    if (symbolic.parent[s] != -1)
      for (const index_t row : rows[s]) add(symbolic.parent[s], row);
  return rows;
}

/// A random square pattern with about `degree` off-diagonal entries per column, from a small generator of our
/// own.
class RandomPatterns {
 public:
  explicit RandomPatterns(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return state_ >> 33;
  }
  SparsityPattern pattern(index_t n, double degree, bool with_diagonal) {
    Triplets<double> entries{n, n, {}, {}, {}};
    const auto add = [&](index_t i, index_t j) {
      entries.row.push_back(i);
      entries.column.push_back(j);
      entries.value.push_back(1);
    };
    for (index_t entry = 0; n > 0 && entry < static_cast<index_t>(n * degree); ++entry)
      add(static_cast<index_t>(next() % std::uint64_t(n)), static_cast<index_t>(next() % std::uint64_t(n)));
    for (index_t i = 0; i < n && with_diagonal; ++i) add(i, i);
    return from_triplets(entries).pattern;
  }
  Permutation permutation(index_t n) {
    std::vector<index_t> order(n);
    for (index_t i = 0; i < n; ++i) order[i] = i;
    for (index_t i = n - 1; i > 0; --i) std::swap(order[i], order[next() % std::uint64_t(i + 1)]);
    return Permutation(order);
  }

 private:
  std::uint64_t state_;
};

}  // namespace palmette::testing
