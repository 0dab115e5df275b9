// Problems for the forward sweeps of the room device, on the host, with their solutions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace palmette::sweeps {

/// Supernodes of a lower triangular factor; a panel holds [B⁻¹; C·B⁻¹], (w + r) × w, column-major.
struct Problem {
  std::vector<int> begin{0}, parent;
  std::vector<std::vector<int>> below, children;
  std::vector<std::vector<double>> panel;
  std::vector<char> small;  // by supernode: a task of a warp; empty: none

  int n() const { return begin.back(); }
  int count() const { return static_cast<int>(below.size()); }
  int width(int s) const { return begin[s + 1] - begin[s]; }
  int panel_rows(int s) const { return width(s) + static_cast<int>(below[s].size()); }
  bool is_small(int s) const { return !small.empty() && small[s] != 0; }
  double entry(int s, int row, int column) const {
    return panel[s][static_cast<std::size_t>(column) * panel_rows(s) + row];
  }
  /// By column: its supernode.
  std::vector<int> owners() const {
    std::vector<int> owner;
    for (int s = 0; s + 1 < static_cast<int>(begin.size()); ++s) owner.insert(owner.end(), width(s), s);
    return owner;
  }
};

/// In [−1, 1], a multiple of 1/1000.
inline double thousandths(std::mt19937& random) { return (static_cast<int>(random() % 2001) - 1000) * 1e-3; }

/// A random elimination tree of supernodes whose structure is closed under elimination.
inline Problem make_problem(int supernodes, int max_width, int extra_rows, unsigned seed, int reach = 8) {
  std::mt19937 random(seed);
  Problem p;
  for (int s = 0; s < supernodes; ++s)
    p.begin.push_back(p.begin.back() + 1 + static_cast<int>(random() % max_width));
  const std::vector<int> owner = p.owners();
  p.below.resize(supernodes), p.children.resize(supernodes), p.parent.assign(supernodes, -1);
  std::vector<std::set<int>> rows(supernodes);
  for (int s = 0; s < supernodes; ++s) {
    if (s + 1 < supernodes) {
      const int near = std::min(
          supernodes - 1, s + 1 + static_cast<int>(random() % (1 + std::min(reach, supernodes - s - 1))));
      rows[s].insert(p.begin[near]);
      for (int k = 0; k < extra_rows; ++k)
        rows[s].insert(p.begin[near] + static_cast<int>(random() % (p.n() - p.begin[near])));
    }
    p.below[s].assign(rows[s].begin(), rows[s].end());
    if (!p.below[s].empty()) {
      const int up = owner[p.below[s].front()];
      p.parent[s] = up;
      p.children[up].push_back(s);
      rows[up].insert(rows[s].lower_bound(p.begin[up + 1]), rows[s].end());
    }
    const int m = p.panel_rows(s);
    std::vector<double>& values = p.panel.emplace_back();
    for (int c = 0; c < p.width(s); ++c)
      for (int i = 0; i < m; ++i)
        values.push_back(i < c ? 0 : i == c ? 1.0 : thousandths(random) / (m + 4));
  }
  return p;
}

/// Up to three tasks share a supernode.
struct TaskList {
  std::vector<int> ptr{0}, supernode;
  std::vector<int> forward, backward, by_level, level_begin{0};
  int num_small = 0;
};

inline int parts_of(const Problem& p, int s) { return p.is_small(s) ? 1 : 1 + s % 3; }

/// The same problem, where warps take the supernodes of at most so many columns that have none wider below.
inline Problem with_small(Problem p, int most_columns) {
  p.small.assign(p.count(), 1);
  for (int s = 0; s < p.count(); ++s) {
    if (p.width(s) > most_columns) p.small[s] = 0;
    if (p.small[s] == 0 && p.parent[s] >= 0) p.small[p.parent[s]] = 0;
  }
  return p;
}

inline TaskList tasks_of(const Problem& p) {
  TaskList tasks;
  std::vector<int> height(p.count());
  for (int s = 0; s < p.count(); ++s) {
    for (const int child : p.children[s]) height[s] = std::max(height[s], height[child] + 1);
    tasks.supernode.insert(tasks.supernode.end(), parts_of(p, s), s);
    tasks.ptr.push_back(static_cast<int>(tasks.supernode.size()));
  }
  const int count = tasks.ptr.back();
  for (int task = 0; task < count; ++task) tasks.forward.push_back(task);
  const auto large = std::stable_partition(tasks.forward.begin(), tasks.forward.end(),
                                           [&](int task) { return p.is_small(tasks.supernode[task]); });
  tasks.num_small = static_cast<int>(large - tasks.forward.begin());
  tasks.backward.assign(tasks.forward.rbegin(), tasks.forward.rend());
  for (int level = 0; static_cast<int>(tasks.by_level.size()) < count; ++level) {
    for (int task = 0; task < count; ++task)
      if (height[tasks.supernode[task]] == level) tasks.by_level.push_back(task);
    tasks.level_begin.push_back(static_cast<int>(tasks.by_level.size()));
  }
  return tasks;
}

/// By supernode: the tasks that add to its sums.
inline std::vector<int> num_sources(const Problem& p) {
  std::vector<int> sources(p.count());
  const std::vector<int> owner = p.owners();
  for (int s = 0; s < p.count(); ++s) {
    std::set<int> targets;
    for (const int row : p.below[s]) targets.insert(owner[row]);
    for (const int target : targets) sources[target] += parts_of(p, s);
  }
  return sources;
}

/// In extended precision: x = B⁻¹·t, rows below lose C·B⁻¹·t.
inline std::vector<long double> reference(const Problem& p, const std::vector<double>& b) {
  std::vector<long double> t(b.begin(), b.end()), x(b.size());
  for (int s = 0; s < p.count(); ++s) {
    const int w = p.width(s);
    for (int i = 0; i < p.panel_rows(s); ++i) {
      long double sum = 0;
      for (int c = 0; c < w; ++c) sum += p.entry(s, i, c) * t[p.begin[s] + c];
      if (i < w) x[p.begin[s] + i] = sum;
      else t[p.below[s][i - w]] -= sum;
    }
  }
  return x;
}

/// A random sparse lower triangle; all diagonal entries are `diagonal`.
struct SparseTriangle {
  static constexpr double diagonal = 1.5;
  std::vector<std::vector<std::pair<int, double>>> below;  // by column: row, value

  int n() const { return static_cast<int>(below.size()); }
};

inline SparseTriangle make_triangle(int n, int per_column) {
  std::mt19937 random(11);
  SparseTriangle triangle;
  triangle.below.resize(n);
  for (int c = 0; c + 1 < n; ++c) {
    std::set<int> rows;
    for (int k = 0; k < per_column; ++k)
      rows.insert(c + 1 + static_cast<int>(random() % std::min(n - c - 1, 40)));
    for (const int row : rows) triangle.below[c].push_back({row, thousandths(random) / 5});
  }
  return triangle;
}

inline std::vector<long double> reference(const SparseTriangle& triangle, const std::vector<double>& b) {
  std::vector<long double> x(b.begin(), b.end());
  for (int c = 0; c < triangle.n(); ++c) {
    x[c] /= SparseTriangle::diagonal;
    for (const auto& [row, value] : triangle.below[c]) x[row] -= value * x[c];
  }
  return x;
}

inline std::vector<double> right_hand_side(int n) {
  std::vector<double> b(n);
  std::mt19937 random(7);
  for (double& value : b) value = thousandths(random);
  return b;
}

/// Largest difference over the largest entry; enormous if an entry is not finite.
inline double worst(const std::vector<long double>& want, const std::vector<double>& got) {
  double error = 0, scale = 0;
  for (std::size_t k = 0; k < want.size(); ++k) {
    error = std::max(error, std::abs(static_cast<double>(want[k] - got[k])));
    scale = std::max(scale, std::abs(static_cast<double>(want[k])));
  }
  return std::isfinite(error) ? error / scale : 1e300;
}

}  // namespace palmette::sweeps
