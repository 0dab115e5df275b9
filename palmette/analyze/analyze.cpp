// The path from a pattern to the SymbolicFactor.
#include "palmette/analyze/analyze.hpp"

#include <algorithm>
#include <numeric>

#include "palmette/analyze/block_structure.hpp"
#include "palmette/analyze/elimination_tree.hpp"
#include "palmette/analyze/supernodes.hpp"

namespace palmette {
namespace {

/// Everything that is known before supernodes are formed, in the final numbering, a postorder.
struct PostorderedTree {
  Permutation order;  // from the Ordering's numbering
  std::vector<index_t> parent;
  std::vector<index_t> count;
  std::vector<char> paired;
};

template <class Value>
std::vector<Value> renumber_values(const std::vector<Value>& values, const Permutation& order) {
  std::vector<Value> result(values.size());
  for (std::size_t column = 0; column < values.size(); ++column)
    result[column] = values[order.new_to_old()[column]];
  return result;
}

std::vector<index_t> renumber_tree(const std::vector<index_t>& parent, const Permutation& order) {
  std::vector<index_t> result = renumber_values(parent, order);
  for (index_t& above : result)
    if (above != -1) above = order.old_to_new()[above];
  return result;
}

/// Computes a postorder twice: first to count the columns, then with each vertex's fullest child last, since
/// only the last child can share a supernode with its parent. The first vertex of a pair must always come
/// last.
PostorderedTree postordered_tree(const EliminationGraph& graph, const std::vector<char>& paired) {
  const index_t n = graph.size();
  const std::vector<index_t> parent = elimination_tree(graph);
  const std::vector<index_t> count = column_counts(graph, parent, postorder(parent, {}));
  std::vector<index_t> rank = count;
  if (!paired.empty())
    for (index_t column = 0; column < n; ++column)
      if (paired[column] && parent[column] == column + 1) rank[column] = n;
  PostorderedTree tree{Permutation(postorder(parent, rank)), {}, {}, {}};
  tree.parent = renumber_tree(parent, tree.order);
  tree.count = renumber_values(count, tree.order);
  tree.paired = renumber_values(paired, tree.order);
  return tree;
}

void check_sizes(const SparsityPattern& pattern, const Ordering& ordering) {
  if (pattern.rows != pattern.cols)
    throw DimensionError("a factorization needs a square matrix; this one is " +
                         std::to_string(pattern.rows) + " × " + std::to_string(pattern.cols));
  if (ordering.row.size() != pattern.rows || ordering.column.size() != pattern.cols)
    throw DimensionError("the ordering has " + std::to_string(ordering.column.size()) +
                         " columns, the matrix " + std::to_string(pattern.cols));
}

void check_options(const AnalyzeOptions& options) {
  if (options.max_width < 1)
    throw UsageError("max_width is " + std::to_string(options.max_width) +
                     "; supernodes have at least one column");
  if (options.columns_last < 0)
    throw UsageError("columns_last is " + std::to_string(options.columns_last) + "; it is at least 0");
  if (!(options.relax_zero_fraction >= 0 && options.relax_zero_fraction <= 1))
    throw UsageError("relax_zero_fraction is " + std::to_string(options.relax_zero_fraction) +
                     "; it lies between 0 and 1");
}

SymbolicFactor structure_of(const EliminationGraph& graph, PostorderedTree tree, const Ordering& ordering,
                            const AnalyzeOptions& options) {
  SymbolicFactor symbolic;
  symbolic.n = graph.size();
  symbolic.column = ordering.column.then(tree.order);
  symbolic.row = ordering.row.new_to_old() == ordering.column.new_to_old() ? symbolic.column
                                                                           : ordering.row.then(tree.order);
  const ColumnTree columns{tree.parent, tree.count, tree.paired};
  const std::vector<index_t> unsplit = find_supernodes(columns, options);
  symbolic.supernode_begin = split_supernodes(unsplit, columns, options.max_width);
  fill_block_structure({graph, tree.order, tree.parent, tree.count}, unsplit, symbolic);
  symbolic.column_parent = std::move(tree.parent);
  symbolic.column_count = std::move(tree.count);
  count_entries(symbolic);
  return symbolic;
}

}  // namespace

std::string_view name_of(FactorKind kind) {
  switch (kind) {
    case FactorKind::llt: return "llt";
    case FactorKind::ldlt: return "ldlt";
    case FactorKind::lu: return "lu";
  }
  return "?";
}

SymbolicFactor analyze(const SparsityPattern& pattern, const Ordering& ordering,
                       const AnalyzeOptions& options, ThreadTeam* team) {
  check_sizes(pattern, ordering);
  check_options(options);
  const EliminationGraph graph(
      symmetric_graph(pattern, ordering.row, ordering.column, options.symmetric_pattern), ordering.column,
      team);
  return structure_of(graph, postordered_tree(graph, ordering.paired_with_next), ordering, options);
}

std::optional<SymbolicFactor> analyze_triangle(const SparsityPattern& lower, const AnalyzeOptions& options) {
  Ordering natural;
  natural.row = Permutation::identity(lower.rows);
  natural.column = Permutation::identity(lower.cols);
  check_sizes(lower, natural);
  check_options(options);
  offset_t entries = lower.cols;  // every diagonal entry counts as present
  for (index_t column = 0; column < lower.cols; ++column)
    for (const index_t row : lower.column(column)) {
      if (row < column)
        throw UsageError("entry (" + std::to_string(row + 1) + ", " + std::to_string(column + 1) +
                         ") lies above the diagonal of a lower triangle");
      if (row > column) ++entries;
    }
  const EliminationGraph graph(symmetric_graph(lower, natural.row, natural.column, false), natural.column,
                               nullptr);
  PostorderedTree tree = postordered_tree(graph, {});
  // Elimination adds entries exactly when the pattern is not closed under it.
  if (std::accumulate(tree.count.begin(), tree.count.end(), offset_t{0}) != entries) return std::nullopt;
  return structure_of(graph, std::move(tree), natural, options);
}

double factorization_flops(const SymbolicFactor& symbolic, FactorKind kind) {
  double flops = 0;
  for (const index_t count : symbolic.column_count) {
    const double c = count;
    if (kind == FactorKind::llt) flops += c * c;
    else if (kind == FactorKind::ldlt) flops += c * c + c;
    else flops += 2 * (c - 1) * (c - 1) + (c - 1);
  }
  return flops;
}

offset_t factor_entries(const SymbolicFactor& symbolic, FactorKind kind) {
  return kind == FactorKind::lu ? 2 * symbolic.nnz_factor - symbolic.n : symbolic.nnz_factor;
}

offset_t SymbolicFactor::memory_bytes() const {
  const auto bytes = [](const auto& array) { return static_cast<offset_t>(array.size() * sizeof(array[0])); };
  return 4 * n * static_cast<offset_t>(sizeof(index_t)) + bytes(column_parent) + bytes(column_count) +
         bytes(supernode_begin) + bytes(supernode_of) + bytes(parent) + bytes(first_descendant) +
         bytes(row_ptr) + bytes(row_index) + bytes(block_ptr) + bytes(blocks) + bytes(updater_ptr) +
         bytes(updaters) + bytes(panel_offset);
}

}  // namespace palmette
