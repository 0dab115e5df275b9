// Block triangular form: a matching, its strongly connected components, and AMD within them.
#include <algorithm>
#include <numeric>

#include "palmette/order/cardinality.hpp"
#include "palmette/order/fill_methods.hpp"
#include "palmette/order/order.hpp"

namespace palmette {
namespace {

using namespace order_detail;

/// Below this size, an order by degrees is as good as AMD's and takes a tenth of its time.
constexpr index_t fewest_for_amd = 17;
/// Blocks up to this size need no order.
constexpr index_t trivial_block = 2;

bool has_full_diagonal(const SparsityPattern& pattern) {
  for (index_t column = 0; column < pattern.cols; ++column) {
    const auto rows = pattern.column(column);
    const auto place = rows.size() < 16 ? std::find(rows.begin(), rows.end(), column)
                                        : std::lower_bound(rows.begin(), rows.end(), column);
    if (place == rows.end() || *place != column) return false;
  }
  return true;
}

/// The diagonal entries that exist, extended to a perfect matching; empty if there is none.
std::vector<index_t> matched_rows(const SparsityPattern& pattern, bool full_diagonal) {
  std::vector<index_t> rows(pattern.cols);
  std::iota(rows.begin(), rows.end(), 0);
  if (full_diagonal) return rows;
  RowsAndColumns matching{std::vector<index_t>(rows.size(), -1), std::vector<index_t>(rows.size(), -1)};
  const auto join = [&](index_t row, index_t column) {
    matching.row_of_column[column] = row;
    matching.column_of_row[row] = column;
  };
  for (index_t column = 0; column < pattern.cols; ++column)
    for (const index_t row : pattern.column(column))
      if (row == column) join(row, column);
  for (index_t column = 0; column < pattern.cols; ++column)
    for (const index_t row : pattern.column(column))
      if (matching.row_of_column[column] < 0 && matching.column_of_row[row] < 0) join(row, column);
  const EdgeList edges{pattern.rows, pattern.cols, pattern.column_ptr, pattern.row_index, {}};
  if (extend_to_largest_cardinality(edges, matching) < pattern.cols) return {};
  return std::move(matching.row_of_column);
}

/// The search of [Tarjan 1972], without recursion. Vertex j is column j with its matched row; it leads to the
/// columns whose rows occur in column j. A component is completed after all components that it leads to,
/// which is the order of an upper triangular form.
class Components {
 public:
  Components(const SparsityPattern& pattern, const std::vector<index_t>& column_of_row)
      : pattern_(pattern),
        column_of_row_(column_of_row),
        reached_(column_of_row.size(), 0),
        lowest_(column_of_row.size()),
        next_(pattern.column_ptr.begin(), pattern.column_ptr.end() - 1) {
    column.reserve(column_of_row.size());
    for (index_t root = 0; root < pattern.cols; ++root)
      if (reached_[root] == 0) search(root);
  }

  std::vector<index_t> column;       ///< the column at each place
  std::vector<index_t> block_begin = {0};

 private:
  void enter(index_t vertex) {
    reached_[vertex] = lowest_[vertex] = ++count_;
    path_.push_back(vertex);
    open_.push_back(vertex);
  }
  void search(index_t root) {
    enter(root);
    while (!path_.empty()) {
      const index_t vertex = path_.back();
      if (next_[vertex] < pattern_.column_ptr[vertex + 1]) {
        const index_t other = column_of_row_[pattern_.row_index[next_[vertex]++]];
        if (reached_[other] == 0) enter(other);
        else lowest_[vertex] = std::min(lowest_[vertex], reached_[other]);
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) lowest_[path_.back()] = std::min(lowest_[path_.back()], lowest_[vertex]);
      if (lowest_[vertex] == reached_[vertex]) close(vertex);
    }
  }
  void close(index_t vertex) {
    for (index_t member = -1; member != vertex;) {
      member = open_.back();
      open_.pop_back();
      reached_[member] = completed;
      column.push_back(member);
    }
    std::sort(column.begin() + block_begin.back(), column.end());
    block_begin.push_back(static_cast<index_t>(column.size()));
  }

  static constexpr index_t completed = std::numeric_limits<index_t>::max();
  const SparsityPattern& pattern_;
  const std::vector<index_t>& column_of_row_;
  std::vector<index_t> reached_, lowest_;  // length n: number of the visit; 0 if not visited
  std::vector<offset_t> next_;             // length n: the edge to follow next
  std::vector<index_t> path_, open_;
  index_t count_ = 0;
};

/// The entries inside diagonal blocks, with rows and columns numbered by place.
struct BlockDiagonalPattern {
  std::vector<int> start, row;
};

BlockDiagonalPattern inside_blocks(const SparsityPattern& pattern, const std::vector<index_t>& place_of_row,
                                   const BlockOrdering& found) {
  BlockDiagonalPattern inside;
  inside.start.reserve(found.column.size() + 1);
  inside.row.reserve(pattern.row_index.size());
  inside.start.push_back(0);
  for (index_t block = 0; block < found.num_blocks(); ++block) {
    const index_t first = found.block_begin[block], end = found.block_begin[block + 1];
    for (index_t place = first; place < end; ++place) {
      if (end - first > trivial_block)
        for (const index_t row : pattern.column(found.column[place]))
          if (place_of_row[row] >= first && place_of_row[row] < end) inside.row.push_back(place_of_row[row]);
      inside.start.push_back(static_cast<int>(inside.row.size()));
    }
  }
  return inside;
}

/// Arrange the places of each block in the order of `order`.
void apply_within_blocks(const std::vector<int>& order, BlockOrdering& found) {
  std::vector<index_t> block_of(order.size()), next(found.block_begin.begin(), found.block_begin.end() - 1);
  for (index_t block = 0; block < found.num_blocks(); ++block)
    std::fill(block_of.begin() + found.block_begin[block], block_of.begin() + found.block_begin[block + 1],
              block);
  std::vector<index_t> row(order.size()), column(order.size());
  for (const int place : order) {
    const index_t to = next[block_of[place]]++;
    row[to] = found.row[place];
    column[to] = found.column[place];
  }
  found.row = std::move(row);
  found.column = std::move(column);
}

/// At least half of all entries are stored, and there are few enough rows for a dense factor.
bool is_dense(const SparsityPattern& pattern) {
  constexpr index_t fewest = 4, most = 4096;
  return pattern.cols >= fewest && pattern.cols <= most &&
         2 * pattern.nnz() >= offset_t{pattern.cols} * pattern.cols;
}

/// Repeatedly takes vertices with at most one neighbour left: they cause no fill. The pattern is symmetric.
/// @returns the vertices taken; not all of them if the graph has cycles
std::vector<index_t> leaves_first(const SparsityPattern& pattern) {
  const auto n = static_cast<std::size_t>(pattern.cols);
  // If one neighbour is left, the exclusive or of the neighbours is that neighbour.
  std::vector<index_t> degree(n, 0), neighbours(n, 0), leaves;
  leaves.reserve(n);
  for (index_t column = 0; column < pattern.cols; ++column) {
    for (const index_t row : pattern.column(column))
      if (row != column) {
        ++degree[column];
        neighbours[column] ^= row;
      }
    if (degree[column] <= 1) leaves.push_back(column);
  }
  for (std::size_t at = 0; at < leaves.size(); ++at) {
    const index_t leaf = leaves[at];
    if (degree[leaf] == 0) continue;  // its neighbour was taken before it
    const index_t other = neighbours[leaf];
    neighbours[other] ^= leaf;
    if (--degree[other] == 1) leaves.push_back(other);
  }
  return leaves;
}

/// Order a forest from its leaves. @returns false if the graph is not a forest
bool order_as_forest(const SparsityPattern& pattern, BlockOrdering& found) {
  // A forest has fewer edges than vertices; each edge is stored twice, next to the diagonal entries.
  if (pattern.nnz() >= 3 * offset_t{pattern.cols}) return false;
  std::vector<index_t> leaves = leaves_first(pattern);
  if (leaves.size() < static_cast<std::size_t>(pattern.cols)) return false;
  found.entries = 2.0 * pattern.cols;
  found.flops = 4.0 * pattern.cols;
  found.row = leaves;
  found.column = std::move(leaves);
  return true;
}

/// Ascending degrees, counted as entries of row and column: for blocks so small that a better order costs
/// more than it saves.
void order_by_degree(const SparsityPattern& pattern, BlockOrdering& found) {
  const index_t n = pattern.cols;
  index_t degree[fewest_for_amd] = {}, place_of_row[fewest_for_amd];
  for (index_t place = 0; place < n; ++place) place_of_row[found.row[place]] = place;
  for (index_t place = 0; place < n; ++place)
    for (const index_t row : pattern.column(found.column[place])) {
      ++degree[place];
      ++degree[place_of_row[row]];
    }
  std::vector<int> order(n);
  for (index_t place = 0; place < n; ++place) {
    index_t at = place;
    for (; at > 0 && degree[order[at - 1]] > degree[place]; --at) order[at] = order[at - 1];
    order[at] = place;
  }
  apply_within_blocks(order, found);
  double entries = 0, flops = 0;
  for (index_t block = 0; block < found.num_blocks(); ++block) {
    const double size = found.block_begin[block + 1] - found.block_begin[block];
    entries += size * (size + 1) / 2;
    flops += size * (size + 1) * (2 * size + 1) / 6;
  }
  found.entries = entries;
  found.flops = flops;
}

void order_by_amd(const SparsityPattern& pattern, BlockOrdering& found) {
  const index_t n = pattern.cols;
  ThinOrder thin;
  if (found.num_blocks() == 1 && found.row == found.column) {
    const auto start = copied_as<int>(pattern.column_ptr);
    thin = amd_order_of_columns(n, start.data(), pattern.row_index.data());
    found.row = found.column = std::move(thin.order);
  } else {
    std::vector<index_t> place_of_row(n);
    for (index_t place = 0; place < n; ++place) place_of_row[found.row[place]] = place;
    const BlockDiagonalPattern inside = inside_blocks(pattern, place_of_row, found);
    thin = amd_order_of_columns(n, inside.start.data(), inside.row.data());
    apply_within_blocks(thin.order, found);
  }
  found.entries = thin.entries;
  found.flops = thin.flops;
}

}  // namespace

std::optional<BlockOrdering> order_blocks(const SparsityPattern& pattern, bool symmetric) {
  if (pattern.rows != pattern.cols)
    throw DimensionError("only a square matrix has a block triangular form; this one has " +
                         std::to_string(pattern.rows) + " rows and " + std::to_string(pattern.cols) +
                         " columns");
  // AMD uses 32-bit indices here.
  if (pattern.nnz() + 8.0 * pattern.cols > 1.5e9) return std::nullopt;
  const index_t n = pattern.cols;
  BlockOrdering found;
  found.dense = is_dense(pattern);
  const bool full_diagonal = !symmetric && !found.dense && n > 0 && has_full_diagonal(pattern);
  symmetric = symmetric || (full_diagonal && has_symmetric_pattern(pattern));
  if (symmetric || found.dense) {
    found.column.resize(n);
    std::iota(found.column.begin(), found.column.end(), 0);
    found.block_begin = {0, n};
    found.row = found.column;
    found.entries = 0.5 * n * (n + 1.0);
    found.flops = n * (n + 1.0) * (2.0 * n + 1) / 6;
  } else {
    const std::vector<index_t> row_of_column = matched_rows(pattern, full_diagonal);
    if (row_of_column.empty() && n > 0) return std::nullopt;
    std::vector<index_t> column_of_row(row_of_column.size());
    for (index_t column = 0; column < n; ++column) column_of_row[row_of_column[column]] = column;
    Components components(pattern, column_of_row);
    found.column = std::move(components.column);
    found.block_begin = std::move(components.block_begin);
    found.row.reserve(found.column.size());
    for (const index_t column : found.column) found.row.push_back(row_of_column[column]);
  }
  if (found.dense) return found;
  if (n < fewest_for_amd) order_by_degree(pattern, found);
  else if (!symmetric || !order_as_forest(pattern, found)) order_by_amd(pattern, found);
  return found;
}

}  // namespace palmette
