// Hopcroft and Karp's matching: a breadth-first search for levels, then a depth-first search for disjoint
// paths along them, without recursion.
#include "palmette/order/cardinality.hpp"

namespace palmette::order_detail {
namespace {

class LevelSearch {
 public:
  LevelSearch(const EdgeList& edges, RowsAndColumns& matching)
      : edges_(edges), matching_(matching), level_(edges.cols),
        current_(edges.cols) {}

  /// Number the columns by their distance from an unmatched one. @returns true if an unmatched row was
  /// reached
  bool number_levels() {
    std::vector<index_t> queue;
    for (index_t column = 0; column < edges_.cols; ++column) {
      current_[column] = edges_.start[column];
      level_[column] = matching_.row_of_column[column] < 0 ? 0 : unreached;
      if (level_[column] == 0) queue.push_back(column);
    }
    index_t last_level = edges_.cols;  // the level that reached an unmatched row; deeper levels are not
                                       // needed
    for (std::size_t at = 0; at < queue.size() && level_[queue[at]] <= last_level; ++at) {
      const index_t column = queue[at];
      for (offset_t edge = edges_.start[column]; edge < edges_.start[column + 1]; ++edge) {
        const index_t owner = matching_.column_of_row[edges_.row[edge]];
        if (owner < 0) {
          last_level = level_[column];
        } else if (level_[owner] == unreached) {
          level_[owner] = level_[column] + 1;
          queue.push_back(owner);
        }
      }
    }
    return last_level < edges_.cols;
  }

  /// Follow levels upwards from an unmatched column to an unmatched row; flip the path. Each edge is tried
  /// once in a phase.
  bool augment_from(index_t root) {
    path_.assign(1, root);
    while (!path_.empty()) {
      const index_t column = path_.back();
      if (current_[column] == edges_.start[column + 1]) {
        level_[column] = unreached;
        path_.pop_back();
        if (!path_.empty()) ++current_[path_.back()];
        continue;
      }
      const index_t owner = matching_.column_of_row[edges_.row[current_[column]]];
      if (owner < 0) {
        flip();
        return true;
      }
      if (level_[owner] == level_[column] + 1) path_.push_back(owner);
      else ++current_[column];
    }
    return false;
  }

 private:
  void flip() {
    for (const index_t column : path_) {
      const index_t row = edges_.row[current_[column]];
      matching_.row_of_column[column] = row;
      matching_.column_of_row[row] = column;
      level_[column] = unreached;  // a column lies on at most one path of a phase
    }
  }

  static constexpr index_t unreached = -2;  // differs from every level and every level + 1
  const EdgeList& edges_;
  RowsAndColumns& matching_;
  std::vector<index_t> level_;     // length cols
  std::vector<offset_t> current_;  // length cols: the edge being tried
  std::vector<index_t> path_;
};

}  // namespace

index_t extend_to_largest_cardinality(const EdgeList& edges, RowsAndColumns& matching) {
  LevelSearch search(edges, matching);
  index_t size = 0;
  for (const index_t row : matching.row_of_column) size += row >= 0;
  while (size < edges.cols && search.number_levels())
    for (index_t column = 0; column < edges.cols; ++column)
      if (matching.row_of_column[column] < 0) size += search.augment_from(column);
  return size;
}

}  // namespace palmette::order_detail
