// Maximum-product matching: a cheap dual-feasible start, then one shortest augmenting path for each unmatched
// column.
#include "palmette/order/matching.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "palmette/order/cardinality.hpp"
#include "palmette/order/index_heap.hpp"

namespace palmette::order_detail {
namespace {

constexpr exponent_t infinite = std::numeric_limits<exponent_t>::max();
// edges that searches may scan before prices are improved ÷ edges
constexpr offset_t cheap_passes = 40;
// edges that one stage of an auction may scan ÷ edges
constexpr offset_t bidding_passes = 40;
constexpr exponent_t coarsest_increment = 8 * one_power, finest_increment = one_power / 1024;
constexpr exponent_t lone_row_raise = 64 * one_power;    // raise by a column with a single row: any value is
                                                         // right

/// Throughout: cost(edge) − row_dual − column_dual ≥ 0 for every edge, = 0 for matched ones (complementary
/// slackness), so a perfect matching is one of least cost.
class Matcher {
 public:
  explicit Matcher(const EdgeList& edges);
  Matching match();

 private:
  exponent_t cost(offset_t edge, index_t column) const { return column_log_[column] - edges_.log[edge]; }
  exponent_t reduced(offset_t edge, index_t column) const {
    return cost(edge, column) - row_dual_[edges_.row[edge]] - column_dual_[column];
  }
  void start_duals();
  void tighten_column_duals();
  void match_greedily();
  void match_in_two_steps(index_t column);
  void join(index_t column, offset_t edge);
  index_t matchable(RowsAndColumns& largest) const;
  index_t bid(index_t column, exponent_t increment);
  void reprice();
  void augment_all();
  void augment_from(index_t root);
  void scan(index_t column, exponent_t distance);
  index_t nearest_unfinished_row(exponent_t distance);
  void finish(index_t root);
  void forget_search();

  const EdgeList& edges_;
  const index_t n_;
  std::vector<exponent_t> column_log_;        // length n: log of the column's largest modulus
  std::vector<exponent_t> row_dual_, column_dual_;
  std::vector<index_t> row_of_column_, column_of_row_;
  std::vector<offset_t> edge_of_column_;      // the matched edge
  std::vector<offset_t> next_free_;           // position at which the search for a free row in a column
                                              // stopped
  // One search; rows not in touched_ have distance infinite.
  std::vector<exponent_t> distance_;          // length n, by row
  // length n, by row: its distance is final and its column scanned
  std::vector<char> finished_;
  std::vector<offset_t> arriving_edge_;       // length n, by row
  std::vector<index_t> arriving_column_;      // length n, by row
  std::vector<index_t> touched_, tree_;       // rows met; rows finished
  // rows at the current distance, to be scanned before those in the heap
  std::vector<index_t> ready_;
  IndexHeap heap_;
  exponent_t shortest_ = infinite;            // length of the shortest path to a free row found so far
  index_t end_row_ = -1;
  offset_t scanned_ = 0;                      // edges scanned by all searches so far
};

Matcher::Matcher(const EdgeList& edges)
    : edges_(edges),
      n_(edges.cols),
      column_log_(edges.cols, 0),
      row_dual_(edges.rows, 0),
      column_dual_(edges.cols, 0),
      row_of_column_(edges.cols, -1),
      column_of_row_(edges.rows, -1),
      edge_of_column_(edges.cols, -1),
      next_free_(edges.start.begin(), edges.start.end() - 1),
      distance_(edges.rows, infinite),
      finished_(edges.rows, 0),
      arriving_edge_(edges.rows, -1),
      arriving_column_(edges.rows, -1),
      heap_(distance_) {}

/// Row duals: the row's smallest cost. Column duals: the smallest remaining cost.
void Matcher::start_duals() {
  for (index_t column = 0; column < n_; ++column)
    if (edges_.start[column] < edges_.start[column + 1])
      column_log_[column] = *std::max_element(edges_.log.begin() + edges_.start[column],
                                              edges_.log.begin() + edges_.start[column + 1]);
  std::fill(row_dual_.begin(), row_dual_.end(), infinite);
  for (index_t column = 0; column < n_; ++column)
    for (offset_t edge = edges_.start[column]; edge < edges_.start[column + 1]; ++edge)
      row_dual_[edges_.row[edge]] = std::min(row_dual_[edges_.row[edge]], cost(edge, column));
  for (exponent_t& dual : row_dual_)
    if (dual == infinite) dual = 0;
  tighten_column_duals();
}

/// The largest column duals that the row duals allow.
void Matcher::tighten_column_duals() {
  for (index_t column = 0; column < n_; ++column) {
    exponent_t smallest = infinite;
    for (offset_t edge = edges_.start[column]; edge < edges_.start[column + 1]; ++edge)
      smallest = std::min(smallest, cost(edge, column) - row_dual_[edges_.row[edge]]);
    column_dual_[column] = smallest == infinite ? 0 : smallest;
  }
}

void Matcher::join(index_t column, offset_t edge) {
  row_of_column_[column] = edges_.row[edge];
  column_of_row_[edges_.row[edge]] = column;
  edge_of_column_[column] = edge;
}

/// The diagonal first, so that a matrix with large diagonal keeps it; then any free row at no cost; then a
/// free row by moving one column.
void Matcher::match_greedily() {
  for (index_t column = 0; column < n_; ++column)
    for (offset_t edge = edges_.start[column]; edge < edges_.start[column + 1]; ++edge)
      if (edges_.row[edge] == column && row_of_column_[column] < 0 && column_of_row_[column] < 0 &&
          reduced(edge, column) == 0)
        join(column, edge);
  for (index_t column = 0; column < n_; ++column) {
    if (row_of_column_[column] >= 0) continue;
    for (offset_t edge = edges_.start[column]; edge < edges_.start[column + 1]; ++edge)
      if (column_of_row_[edges_.row[edge]] < 0 && reduced(edge, column) == 0) {
        join(column, edge);
        break;
      }
  }
  for (index_t column = 0; column < n_; ++column)
    if (row_of_column_[column] < 0) match_in_two_steps(column);
}

/// Give `column` a row whose owner can move to a free row at no cost. Each column is searched only once,
/// because a row never becomes free again.
void Matcher::match_in_two_steps(index_t column) {
  for (offset_t edge = edges_.start[column]; edge < edges_.start[column + 1]; ++edge) {
    if (reduced(edge, column) != 0) continue;
    const index_t owner = column_of_row_[edges_.row[edge]];
    for (offset_t& other = next_free_[owner]; other < edges_.start[owner + 1]; ++other)
      if (column_of_row_[edges_.row[other]] < 0 && reduced(other, owner) == 0) {
        join(owner, other);
        join(column, edge);
        return;
      }
  }
}

/// An unmatched column takes its cheapest row, from another column if necessary, and raises the row's price
/// (lowers its dual) to the level of the second cheapest, plus `increment`. @returns the column that lost its
/// row, −1 if there is none
index_t Matcher::bid(index_t column, exponent_t increment) {
  exponent_t cheapest = infinite, second = infinite;
  offset_t best = -1;
  for (offset_t edge = edges_.start[column]; edge < edges_.start[column + 1]; ++edge) {
    const exponent_t price = cost(edge, column) - row_dual_[edges_.row[edge]];
    if (price < cheapest) {
      second = cheapest;
      cheapest = price;
      best = edge;
    } else if (price < second) {
      second = price;
    }
  }
  const index_t row = edges_.row[best], owner = column_of_row_[row];
  row_dual_[row] -= increment + (second == infinite ? lone_row_raise : second - cheapest);
  if (owner >= 0) row_of_column_[owner] = -1;
  join(column, best);
  return owner;
}

/// Better row duals by an auction: every column bids for rows until each has one, first with coarse
/// increments, then with finer ones. They make the distances to free rows short, and with them the searches.
/// A stage whose bidding takes too long is cut off: the searches are correct with any row duals, only longer
/// with some.
/// @source [Bertsekas 1988]: auction with scaled increments
void Matcher::reprice() {
  for (exponent_t increment = coarsest_increment; increment >= finest_increment; increment /= 8) {
    std::fill(row_of_column_.begin(), row_of_column_.end(), -1);
    std::fill(column_of_row_.begin(), column_of_row_.end(), -1);
    offset_t budget = bidding_passes * (edges_.start.back() + n_);
    for (index_t first = 0; first < n_ && budget > 0; ++first)
      for (index_t column = first; column >= 0 && budget > 0; column = bid(column, increment))
        budget -= edges_.start[column + 1] - edges_.start[column] + 1;
  }
  tighten_column_duals();
  for (index_t column = 0; column < n_; ++column) {
    const index_t row = row_of_column_[column];
    if (row < 0 || reduced(edge_of_column_[column], column) == 0) continue;
    row_of_column_[column] = column_of_row_[row] = -1;
  }
  std::copy(edges_.start.begin(), edges_.start.end() - 1, next_free_.begin());
  match_greedily();
}

/// Lower the distances of the rows of a column at `distance`; remember the nearest free row.
void Matcher::scan(index_t column, exponent_t distance) {
  scanned_ += edges_.start[column + 1] - edges_.start[column] + 1;
  for (offset_t edge = edges_.start[column]; edge < edges_.start[column + 1]; ++edge) {
    const index_t row = edges_.row[edge];
    if (finished_[row]) continue;
    const exponent_t reach = distance + reduced(edge, column);
    if (reach >= shortest_ || reach >= distance_[row]) continue;
    if (distance_[row] == infinite) touched_.push_back(row);
    distance_[row] = reach;
    arriving_edge_[row] = edge;
    arriving_column_[row] = column;
    if (column_of_row_[row] < 0) {
      shortest_ = reach;
      end_row_ = row;
      if (reach == distance) return;
    } else if (heap_.holds(row)) {
      heap_.lowered(row);
    } else if (reach == distance) {
      ready_.push_back(row);
    } else {
      heap_.insert(row);
    }
  }
}

/// The row to scan next, or −1 if none is nearer than the free row found.
index_t Matcher::nearest_unfinished_row(exponent_t distance) {
  if (shortest_ <= distance) return -1;
  if (!ready_.empty()) {
    const index_t row = ready_.back();
    ready_.pop_back();
    return row;
  }
  if (heap_.empty() || distance_[heap_.top()] >= shortest_) return -1;
  return heap_.pop();
}

/// Dijkstra's algorithm from an unmatched column along alternating paths; then the matching is flipped along
/// the path.
void Matcher::augment_from(index_t root) {
  index_t column = root;
  exponent_t distance = 0;
  for (;;) {
    scan(column, distance);
    const index_t row = nearest_unfinished_row(distance);
    if (row < 0) break;
    finished_[row] = 1;
    tree_.push_back(row);
    distance = distance_[row];
    column = column_of_row_[row];
  }
  finish(root);
  forget_search();
}

/// Change the duals of the tree so that the path costs nothing, then flip it. There is a path, since a
/// perfect matching exists.
void Matcher::finish(index_t root) {
  for (const index_t row : tree_) row_dual_[row] += distance_[row] - shortest_;
  for (index_t row = end_row_, column = -1; column != root;) {
    column = arriving_column_[row];
    const index_t left_row = row_of_column_[column];
    join(column, arriving_edge_[row]);
    row = left_row;
  }
  const auto settle = [&](index_t row) {
    const index_t column = column_of_row_[row];
    column_dual_[column] = cost(edge_of_column_[column], column) - row_dual_[row];
  };
  for (const index_t row : tree_) settle(row);
  settle(end_row_);
}

void Matcher::forget_search() {
  for (const index_t row : touched_) {
    distance_[row] = infinite;
    finished_[row] = 0;
  }
  touched_.clear();
  tree_.clear();
  ready_.clear();
  heap_.clear();
  shortest_ = infinite;
  end_row_ = -1;
}

/// The structural rank, computed from a copy of the current matching.
index_t Matcher::matchable(RowsAndColumns& largest) const {
  largest = {row_of_column_, column_of_row_};
  return extend_to_largest_cardinality(edges_, largest);
}

/// One search for each unmatched column. If the searches turn out long, the prices are improved once.
void Matcher::augment_all() {
  bool mended = false;
  for (index_t column = 0; column < n_; ++column) {
    if (row_of_column_[column] < 0) augment_from(column);
    if (mended || scanned_ <= cheap_passes * (edges_.start.back() + n_)) continue;
    mended = true;
    reprice();
    column = -1;  // from the first column again
  }
}

Matching Matcher::match() {
  start_duals();
  match_greedily();
  RowsAndColumns largest;
  Matching matching;
  matching.size = matchable(largest);
  if (matching.size < n_) {  // no product to maximize
    matching.row_of_column = std::move(largest.row_of_column);
    matching.column_of_row = std::move(largest.column_of_row);
    return matching;
  }
  augment_all();
  for (index_t column = 0; column < n_; ++column) column_dual_[column] -= column_log_[column];
  matching.row_of_column = std::move(row_of_column_);
  matching.column_of_row = std::move(column_of_row_);
  matching.scaling = {std::move(row_dual_), std::move(column_dual_)};
  return matching;
}

index_t find_root(std::vector<index_t>& parent, index_t node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

/// The component of each column (as a representative column); a row is in the component of its matched
/// column.
std::vector<index_t> components(const EdgeList& edges, const Matching& matching) {
  std::vector<index_t> parent(edges.cols);
  std::iota(parent.begin(), parent.end(), 0);
  for (index_t column = 0; column < edges.cols; ++column)
    for (offset_t edge = edges.start[column]; edge < edges.start[column + 1]; ++edge)
      parent[find_root(parent, matching.column_of_row[edges.row[edge]])] = find_root(parent, column);
  for (index_t column = 0; column < edges.cols; ++column) parent[column] = find_root(parent, column);
  return parent;
}

bool within(const std::vector<exponent_t>& exponents, exponent_t bound) {
  return std::all_of(exponents.begin(), exponents.end(),
                     [&](exponent_t exponent) { return std::abs(exponent) <= bound; });
}

}  // namespace

Matching maximum_product_matching(const EdgeList& edges) { return Matcher(edges).match(); }

void balance(const EdgeList& edges, const Matching& matching, int limit, ScalingExponents& scaling) {
  const exponent_t bound = limit * one_power;
  if (within(scaling.row, bound) && within(scaling.column, bound)) return;
  const std::vector<index_t> component = components(edges, matching);
  // Adding s to the rows and −s to the columns moves all of {row} ∪ {−column} by s: centre their range on 0.
  std::vector<exponent_t> low(component.size(), infinite), high(component.size(), -infinite);
  for (index_t column = 0; column < edges.cols; ++column) {
    const index_t home = component[column];
    const exponent_t of_row = scaling.row[matching.row_of_column[column]],
                     of_column = -scaling.column[column];
    low[home] = std::min({low[home], of_row, of_column});
    high[home] = std::max({high[home], of_row, of_column});
  }
  for (index_t column = 0; column < edges.cols; ++column) {
    const index_t home = component[column];
    const exponent_t shift = -(low[home] + (high[home] - low[home]) / 2);
    scaling.row[matching.row_of_column[column]] += shift;
    scaling.column[column] -= shift;
  }
}

}  // namespace palmette::order_detail
