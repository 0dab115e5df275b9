// Supernodes: a column joins its predecessor's supernode when it is its parent and the structures nest
// without a gap; relaxation then merges a supernode with the one just below it if that stores few zeros.
#include "palmette/analyze/supernodes.hpp"

#include <algorithm>

namespace palmette {
namespace {

/// Entries of a trapezoid of `width` columns with `below` rows under its triangle.
double trapezoid(double width, double below) { return width * (width + 1) / 2 + width * below; }

/// Columns [begin, end), stored as a trapezoid, `zeros` of its entries being explicit zeros.
struct Candidate {
  index_t begin;
  index_t end;
  double zeros;
};

double rows_below(const Candidate& node, const ColumnTree& tree) { return tree.count[node.end - 1] - 1; }

double stored(const Candidate& node, const ColumnTree& tree) {
  return trapezoid(node.end - node.begin, rows_below(node, tree));
}

/// @param first_apart  column that begins a supernode in any case
std::vector<Candidate> fundamental_supernodes(const ColumnTree& tree, index_t first_apart) {
  const index_t n = static_cast<index_t>(tree.parent.size());
  std::vector<Candidate> nodes;
  for (index_t column = 0; column < n; ++column) {
    const bool joins = column > 0 && column != first_apart && tree.parent[column - 1] == column &&
                       (tree.count[column - 1] == tree.count[column] + 1 || tree.stays_with_next(column - 1));
    if (joins) {
      Candidate& node = nodes.back();
      // Only a paired column can add zeros here: the earlier columns then store rows that they do not have.
      node.zeros += (node.end - node.begin) * double(tree.count[column] + 1 - tree.count[column - 1]);
      node.end = column + 1;
    } else {
      nodes.push_back({column, column + 1, 0});
    }
  }
  return nodes;
}

bool worth_merging(double width, double zeros, double entries, const AnalyzeOptions& options) {
  if (width > options.max_width) return false;
  if (width <= 4) return true;
  if (width <= options.relax_narrow_width) return zeros <= 0.5 * entries;
  return zeros <= options.relax_zero_fraction * entries;
}

}  // namespace

std::vector<index_t> find_supernodes(const ColumnTree& tree, const AnalyzeOptions& options) {
  std::vector<Candidate> merged;
  const index_t first_apart = static_cast<index_t>(tree.parent.size()) - options.columns_last;
  for (Candidate node : fundamental_supernodes(tree, first_apart)) {
    // The node just below ends where this one begins; it is a child when its last column's parent is our
    // first.
    while (options.relax && !merged.empty() && node.begin != first_apart &&
           tree.parent[merged.back().end - 1] == node.begin) {
      const Candidate& child = merged.back();
      const Candidate both{child.begin, node.end, 0};
      const double entries = stored(both, tree);
      const double zeros = child.zeros + node.zeros + entries - stored(child, tree) - stored(node, tree);
      if (!worth_merging(both.end - both.begin, zeros, entries, options)) break;
      node = {both.begin, both.end, zeros};
      merged.pop_back();
    }
    merged.push_back(node);
  }
  std::vector<index_t> begin;
  begin.reserve(merged.size() + 1);
  for (const Candidate& node : merged) begin.push_back(node.begin);
  begin.push_back(static_cast<index_t>(tree.parent.size()));
  return begin;
}

std::vector<index_t> split_supernodes(const std::vector<index_t>& begin, const ColumnTree& tree,
                                      index_t max_width) {
  std::vector<index_t> result;
  for (std::size_t node = 0; node + 1 < begin.size(); ++node) {
    const index_t width = begin[node + 1] - begin[node];
    const index_t pieces = std::max<index_t>(1, (width + max_width - 1) / max_width);
    for (index_t piece = 0; piece < pieces; ++piece) {
      index_t first = begin[node] + static_cast<index_t>(offset_t(width) * piece / pieces);
      if (piece > 0 && tree.stays_with_next(first - 1)) --first;
      // With width 1, pairs could leave a piece empty; such a cut is dropped.
      if (result.empty() || first > result.back()) result.push_back(first);
    }
  }
  result.push_back(begin.back());
  return result;
}

}  // namespace palmette
