// Part of the door of `tasks`: how blocks of GPU threads share the supernodes of a sweep.
#pragma once

#include <vector>

#include "palmette/analyze/analyze.hpp"

namespace palmette {

/// A supernode is small if it and all its descendants have at most so many columns, and rows of the panel.
inline constexpr index_t small_width = 16;
inline constexpr index_t small_rows = 64;

/// Supernodes with large panels are shared among several tasks. Depends on the structure alone.
struct BlockTasks {
  std::vector<index_t> task_ptr = {0};  ///< length num_supernodes + 1: first task of a supernode
  std::vector<index_t> supernode_of;    ///< length num_tasks
  /// Tasks as blocks take them, those with the costliest path ahead of them first: forward to a root,
  /// backward to a leaf. Each comes after those that it waits for.
  /// Small supernodes, which a warp takes, are the first of forward and the last of backward.
  std::vector<index_t> forward, backward;
  index_t num_small = 0;
  std::vector<char> is_small;           ///< by supernode
  std::vector<index_t> by_level;        ///< by height of the supernode above the leaves
  std::vector<index_t> level_begin;     ///< number of levels + 1, in by_level

  index_t num_tasks() const { return static_cast<index_t>(supernode_of.size()); }
  index_t parts(index_t s) const { return task_ptr[s + 1] - task_ptr[s]; }
};

/// @cost  O(supernodes · log)
BlockTasks block_tasks(const SymbolicFactor& symbolic);

}  // namespace palmette
