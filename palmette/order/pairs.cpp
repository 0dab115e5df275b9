// Cuts the cycles of a symmetric matching into candidates for 2×2 and 1×1 pivots.
#include "palmette/order/pairs.hpp"

#include <algorithm>

namespace palmette::order_detail {
namespace {

constexpr exponent_t fair_pivot = -3483294;  // log₂(1/10) in units of 2⁻²⁰

using Cycle = std::vector<index_t>;

/// The largest log₂|a_ii·a_jj| over the pairs (first, first+1), (first+2, first+3), … of an even cycle.
exponent_t worst_product(const Cycle& cycle, std::size_t first, const std::vector<exponent_t>& diagonal) {
  exponent_t worst = 2 * no_diagonal;
  for (std::size_t at = 0; at < cycle.size(); at += 2)
    worst = std::max(worst, diagonal[cycle[(first + at) % cycle.size()]] +
                                diagonal[cycle[(first + at + 1) % cycle.size()]]);
  return worst;
}

/// Rotate the cycle so that its vertices pair up from the front; an odd cycle starts with the vertex that
/// stays single.
void turn(Cycle& cycle, const std::vector<exponent_t>& diagonal) {
  if (cycle.size() % 2 == 1) {
    const auto largest = std::max_element(cycle.begin(), cycle.end(),
                                          [&](index_t a, index_t b) { return diagonal[a] < diagonal[b]; });
    std::rotate(cycle.begin(), largest, cycle.end());
  } else if (worst_product(cycle, 1, diagonal) < worst_product(cycle, 0, diagonal)) {
    std::rotate(cycle.begin(), cycle.begin() + 1, cycle.end());
  }
}

/// partner[i] = j and partner[j] = i for the pairs of a rotated cycle that are worth keeping.
void pair_up(const Cycle& cycle, const std::vector<exponent_t>& diagonal, std::vector<index_t>& partner) {
  for (std::size_t at = cycle.size() % 2; at < cycle.size(); at += 2) {
    const index_t first = cycle[at], second = cycle[at + 1];
    if (diagonal[first] >= fair_pivot && diagonal[second] >= fair_pivot) continue;
    partner[first] = second;
    partner[second] = first;
  }
}

}  // namespace

Groups pivot_groups(const Matching& matching, const std::vector<exponent_t>& diagonal) {
  const index_t n = static_cast<index_t>(diagonal.size());
  std::vector<index_t> partner(diagonal.size(), -1);
  std::vector<char> seen(diagonal.size(), 0);
  Cycle cycle;
  for (index_t start = 0; start < n; ++start) {
    if (seen[start]) continue;
    cycle.clear();
    for (index_t vertex = start; !seen[vertex]; vertex = matching.row_of_column[vertex]) {
      seen[vertex] = 1;
      cycle.push_back(vertex);
    }
    turn(cycle, diagonal);
    pair_up(cycle, diagonal, partner);
  }
  Groups groups;
  for (index_t vertex = 0; vertex < n; ++vertex) {
    if (partner[vertex] >= 0 && partner[vertex] < vertex) continue;
    groups.member.push_back(vertex);
    if (partner[vertex] >= 0) groups.member.push_back(partner[vertex]);
    groups.start.push_back(static_cast<index_t>(groups.member.size()));
  }
  return groups;
}

std::vector<exponent_t> scaled_diagonal(const EdgeList& edges, const std::vector<exponent_t>& scaling) {
  std::vector<exponent_t> diagonal(edges.cols, no_diagonal);
  for (index_t column = 0; column < edges.cols; ++column)
    for (offset_t edge = edges.start[column]; edge < edges.start[column + 1]; ++edge)
      if (edges.row[edge] == column) diagonal[column] = edges.log[edge] + 2 * scaling[column];
  return diagonal;
}

}  // namespace palmette::order_detail
