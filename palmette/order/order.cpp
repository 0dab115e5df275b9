// Combines matching, scaling, pairing and the fill-reducing order.
#include "palmette/order/order.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "palmette/order/choose.hpp"
#include "palmette/order/edge_list.hpp"
#include "palmette/order/matching.hpp"
#include "palmette/order/pairs.hpp"

namespace palmette {
namespace {

using namespace order_detail;

/// The parts of a matrix that an ordering uses; `edges` is called if the sizes of entries matter.
struct Subject {
  const SparsityPattern& pattern;
  Symmetry symmetry;
  std::function<EdgeList()> edges;
  int scaling_limit;

  bool symmetric() const { return symmetry != Symmetry::general; }
};

void require_arguments(const SparsityPattern& pattern, const OrderOptions& options) {
  if (pattern.rows != pattern.cols)
    throw DimensionError("only a square matrix can be ordered; this one has " + std::to_string(pattern.rows) +
                         " rows and " + std::to_string(pattern.cols) + " columns");
  if (options.method == OrderingMethod::user && options.user.size() != pattern.cols)
    throw DimensionError("the permutation given has " + std::to_string(options.user.size()) +
                         " indices, but the matrix has " + std::to_string(pattern.cols) +
                         " columns; give one index for each column");
}

std::vector<index_t> unmatched(const std::vector<index_t>& partner) {
  std::vector<index_t> indices;
  for (index_t index = 0; index < static_cast<index_t>(partner.size()); ++index)
    if (partner[index] < 0) indices.push_back(index);
  return indices;
}

NumericalFailure structural_failure(const Matching& matching) {
  NumericalFailure failure;
  failure.kind = FailureKind::structurally_singular;
  failure.rows = unmatched(matching.column_of_row);
  failure.columns = unmatched(matching.row_of_column);
  failure.row = failure.rows.front();
  failure.column = failure.columns.front();
  const std::size_t n = matching.row_of_column.size();
  failure.message =
      "the matrix is structurally singular: whatever its nonzero values, its rank is at most " +
      std::to_string(matching.size) + " of " + std::to_string(n) + "; row " +
      std::to_string(failure.row + 1) + " and column " + std::to_string(failure.column + 1) +
      (failure.rows.size() > 1 ? " (and " + std::to_string(failure.rows.size() - 1) + " more of each)" : "") +
      " cannot be given a nonzero pivot; remove or constrain these unknowns, or add the entries that are "
      "missing";
  return failure;
}

/// The fill-reducing order of the graph, or the order that the caller gave.
FillOrder fill_order(const Graph& graph, const OrderOptions& options) {
  if (options.method == OrderingMethod::user) return {OrderingMethod::user, options.user.new_to_old()};
  return order_graph(graph, options.method, options.threads);
}

bool keeps_given_order(OrderingMethod method) {
  return method == OrderingMethod::user || method == OrderingMethod::natural;
}

/// PivotNeed::none, and the other needs without matching: rows are ordered as columns.
Ordering symmetric_ordering(const Subject& matrix, const OrderOptions& options) {
  Graph graph{matrix.pattern.cols, {}, {}, {}};
  if (!keeps_given_order(options.method)) graph = adjacency(matrix.pattern, {}, matrix.symmetric());
  FillOrder fill = fill_order(graph, options);
  Ordering ordering;
  ordering.method = fill.method;
  ordering.column = Permutation(std::move(fill.order));
  ordering.row = ordering.column;
  if (options.pivot_need == PivotNeed::none || !options.scaling) return ordering;
  const ScalingExponents scaling = equilibrating_exponents(matrix.edges());
  ordering.row_scale = powers_of_two(scaling.row, matrix.scaling_limit);
  ordering.column_scale = powers_of_two(scaling.column, matrix.scaling_limit);
  if (options.pivot_need == PivotNeed::indefinite) ordering.column_scale = ordering.row_scale;
  return ordering;
}

/// The places at which the two members of a pair are adjacent in the order.
std::vector<char> adjacent_pairs(const Groups& groups, const std::vector<index_t>& order) {
  const std::vector<index_t> group_of = groups.group_of();
  std::vector<char> paired(order.size(), 0);
  for (std::size_t place = 0; place + 1 < order.size(); ++place)
    paired[place] = group_of[order[place]] == group_of[order[place + 1]];
  return paired;
}

/// Order whole pairs, so that their members stay together; an order given by the caller stays unchanged.
FillOrder order_of_pairs(const SparsityPattern& pattern, bool symmetric, const Groups& pairs,
                         const OrderOptions& options) {
  if (keeps_given_order(options.method)) return fill_order(Graph{pattern.cols, {}, {}, {}}, options);
  const Graph graph = adjacency(pattern, {}, symmetric);
  if (pairs.count() == graph.n) return fill_order(graph, options);
  FillOrder fill = fill_order(quotient(graph, pairs, false), options);
  fill.order = pairs.expand(fill.order);
  return fill;
}

/// For a symmetric matrix, the mean of a row's and its column's exponent scales as well as the two exponents,
/// because the transposed matching has the same product; and it keeps the matrix symmetric ([Duff and Pralet
/// 2005], §2).
std::vector<exponent_t> symmetric_exponents(const ScalingExponents& scaling) {
  std::vector<exponent_t> mean(scaling.row.size());
  for (std::size_t at = 0; at < mean.size(); ++at) mean[at] = (scaling.row[at] + scaling.column[at]) / 2;
  return mean;
}

Outcome<Ordering> indefinite_ordering(const Subject& matrix, const OrderOptions& options) {
  const EdgeList edges = matrix.edges();
  const Matching matching = maximum_product_matching(edges);
  if (matching.size < matrix.pattern.cols) return structural_failure(matching);
  const std::vector<exponent_t> exponents = symmetric_exponents(matching.scaling);
  const Groups pairs = pivot_groups(matching, scaled_diagonal(edges, exponents));
  FillOrder fill = order_of_pairs(matrix.pattern, matrix.symmetric(), pairs, options);
  Ordering ordering;
  ordering.matched = true;
  ordering.method = fill.method;
  ordering.paired_with_next = adjacent_pairs(pairs, fill.order);
  ordering.column = Permutation(std::move(fill.order));
  ordering.row = ordering.column;
  if (options.scaling) ordering.row_scale = powers_of_two(exponents, matrix.scaling_limit);
  ordering.column_scale = ordering.row_scale;
  return ordering;
}

Outcome<Ordering> unsymmetric_ordering(const Subject& matrix, const OrderOptions& options) {
  const EdgeList edges = matrix.edges();
  Matching matching = maximum_product_matching(edges);
  if (matching.size < matrix.pattern.cols) return structural_failure(matching);
  Graph graph{matrix.pattern.cols, {}, {}, {}};
  if (!keeps_given_order(options.method)) graph = adjacency(matrix.pattern, matching.column_of_row, false);
  FillOrder fill = fill_order(graph, options);
  std::vector<index_t> row_order(fill.order.size());
  for (std::size_t place = 0; place < row_order.size(); ++place)
    row_order[place] = matching.row_of_column[fill.order[place]];
  Ordering ordering;
  ordering.matched = true;
  ordering.method = fill.method;
  ordering.column = Permutation(std::move(fill.order));
  ordering.row = Permutation(std::move(row_order));
  if (!options.scaling) return ordering;
  const int limit = matrix.scaling_limit;
  balance(edges, matching, limit, matching.scaling);
  ordering.row_scale = powers_of_two(matching.scaling.row, limit);
  ordering.column_scale = powers_of_two(matching.scaling.column, limit);
  return ordering;
}

Outcome<Ordering> order_subject(const Subject& matrix, const OrderOptions& options) {
  const Stopwatch watch;
  require_arguments(matrix.pattern, options);
  const auto timed = [&](Outcome<Ordering> outcome) {
    if (outcome.ok()) outcome.value().seconds = watch.seconds();
    return outcome;
  };
  if (options.pivot_need == PivotNeed::none || !options.matching)
    return timed(symmetric_ordering(matrix, options));
  if (options.pivot_need == PivotNeed::indefinite) return timed(indefinite_ordering(matrix, options));
  return timed(unsymmetric_ordering(matrix, options));
}

}  // namespace

template <class T>
Outcome<Ordering> order(const SparseMatrix<T>& matrix, const OrderOptions& options) {
  return order_subject(
      {matrix.pattern, matrix.symmetry, [&] { return edge_list(matrix); }, largest_scaling_exponent<T>},
      options);
}

template <class T>
Outcome<Ordering> order_by_sizes(const SparsityPattern& pattern, Symmetry symmetry,
                                 std::span<const entry_size_t> sizes, const OrderOptions& options) {
  const auto edges = [&] {
    if (sizes.size() != static_cast<std::size_t>(pattern.nnz()))
      throw DimensionError("there are " + std::to_string(sizes.size()) + " sizes for " +
                           std::to_string(pattern.nnz()) + " entries");
    return edge_list(pattern, sizes);
  };
  return order_subject({pattern, symmetry, edges, largest_scaling_exponent<T>}, options);
}

#define PALMETTE_INSTANTIATE(T)                                                  \
  template Outcome<Ordering> order(const SparseMatrix<T>&, const OrderOptions&); \
  template Outcome<Ordering> order_by_sizes<T>(const SparsityPattern&, Symmetry, \
                                               std::span<const entry_size_t>, const OrderOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
