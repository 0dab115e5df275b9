// Part of the door of `transfer`: whether tasks that exchange chunks can wait for each other forever.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette::transfer {

/// Tasks, and what each of them reads. A task that reads a value of another processor reads its whole chunk,
/// which travels when all its writers are done.
struct ChunkGraph {
  struct Task {
    index_t processor = 0;
    index_t chunk = -1;          ///< that it writes some of; −1: nothing travels
    std::vector<index_t> reads;  ///< tasks
  };
  std::vector<Task> tasks;
  /// By processor: true if it runs its tasks in ascending order and waits within a task until what the task
  /// reads has come, as a block of threads does; false if it puts off tasks that cannot run yet. Empty: all
  /// put off.
  std::vector<char> waits;
};

/// The tasks and chunks of a cycle, each waiting for the next one; empty if every order of the run ends.
/// @throws UsageError if the graph names a task that it does not have
/// @cost  linear in tasks and reads
std::vector<std::string> find_deadlock(const ChunkGraph& graph);

/// @throws UsageError with the cycle, and what to do
void check_no_deadlock(const ChunkGraph& graph);

}  // namespace palmette::transfer
