// The partition of columns into supernodes: fundamental, then relaxed, then split.
#pragma once

#include <vector>

#include "palmette/analyze/analyze.hpp"

namespace palmette {

/// The input of the partition; the numbering is a postorder.
struct ColumnTree {
  const std::vector<index_t>& parent;  // length n
  const std::vector<index_t>& count;   // length n
  const std::vector<char>& paired;     // length n or empty: columns k and k + 1 must share a supernode
  bool stays_with_next(index_t column) const { return !paired.empty() && paired[column] != 0; }
};

/// First columns of the supernodes, relaxed as the options say, plus n at the end. Every supernode is a path
/// in the tree.
std::vector<index_t> find_supernodes(const ColumnTree& tree, const AnalyzeOptions& options);

/// Cut supernodes wider than max_width into pieces of nearly equal width, never between paired columns.
std::vector<index_t> split_supernodes(const std::vector<index_t>& begin, const ColumnTree& tree,
                                      index_t max_width);

}  // namespace palmette
