// A chunk is a node between its writers and its readers: it waits for all writers, and readers wait for it. A
// processor that waits within a task adds that each task waits for the one before it. The run ends in every
// order if and only if this graph has no cycle.
#include "palmette/transfer/chunk_graph.hpp"

#include <algorithm>

namespace palmette::transfer {
namespace {

using Waits = std::vector<std::vector<index_t>>;  ///< by node: tasks, then chunks

index_t num_chunks(const ChunkGraph& graph) {
  index_t chunks = 0;
  for (const ChunkGraph::Task& task : graph.tasks) chunks = std::max(chunks, task.chunk + 1);
  return chunks;
}

void add_reads(const ChunkGraph& graph, index_t number, Waits& waits) {
  const index_t tasks = static_cast<index_t>(graph.tasks.size());
  const ChunkGraph::Task& task = graph.tasks[number];
  for (const index_t read : task.reads) {
    if (read < 0 || read >= tasks)
      throw UsageError("task " + std::to_string(number) + " reads task " + std::to_string(read) + " of " +
                       std::to_string(tasks) + "; give tasks 0 to " + std::to_string(tasks - 1));
    const ChunkGraph::Task& writer = graph.tasks[read];
    const bool travels = writer.processor != task.processor && writer.chunk >= 0;
    waits[number].push_back(travels ? tasks + writer.chunk : read);
  }
}

Waits who_waits_for_whom(const ChunkGraph& graph) {
  const index_t tasks = static_cast<index_t>(graph.tasks.size());
  Waits waits(tasks + num_chunks(graph));
  std::vector<index_t> last;  // by processor
  for (index_t number = 0; number < tasks; ++number) {
    const ChunkGraph::Task& task = graph.tasks[number];
    if (task.processor < 0)
      throw UsageError("task " + std::to_string(number) + " has processor " + std::to_string(task.processor) +
                       "; give processors from 0");
    add_reads(graph, number, waits);
    if (task.chunk >= 0) waits[tasks + task.chunk].push_back(number);
    const std::size_t processor = task.processor;
    if (processor >= last.size()) last.resize(processor + 1, -1);
    if (processor < graph.waits.size() && graph.waits[processor] && last[processor] >= 0)
      waits[number].push_back(last[processor]);
    last[processor] = number;
  }
  return waits;
}

/// Depth first, without recursion: a path that meets itself is a cycle.
std::vector<index_t> find_cycle(const Waits& waits) {
  enum Colour : char { unseen, on_path, finished };
  std::vector<Colour> colour(waits.size(), unseen);
  std::vector<std::size_t> next(waits.size());
  std::vector<index_t> path;
  for (std::size_t root = 0; root < waits.size(); ++root) {
    if (colour[root] != unseen) continue;
    path.push_back(static_cast<index_t>(root));
    colour[root] = on_path;
    while (!path.empty()) {
      const index_t node = path.back();
      if (next[node] == waits[node].size()) {
        colour[node] = finished;
        path.pop_back();
        continue;
      }
      const index_t other = waits[node][next[node]++];
      if (colour[other] == on_path) return {std::find(path.begin(), path.end(), other), path.end()};
      if (colour[other] == finished) continue;
      colour[other] = on_path;
      path.push_back(other);
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> find_deadlock(const ChunkGraph& graph) {
  const index_t tasks = static_cast<index_t>(graph.tasks.size());
  std::vector<std::string> names;
  for (const index_t node : find_cycle(who_waits_for_whom(graph))) {
    if (node >= tasks) {
      names.push_back("chunk " + std::to_string(node - tasks));
      continue;
    }
    names.push_back("task " + std::to_string(node) + " of processor " +
                    std::to_string(graph.tasks[node].processor));
  }
  return names;
}

void check_no_deadlock(const ChunkGraph& graph) {
  const std::vector<std::string> cycle = find_deadlock(graph);
  if (cycle.empty()) return;
  std::string text = "these chunks deadlock: " + cycle.front();
  for (std::size_t k = 1; k < cycle.size(); ++k) text += " waits for " + cycle[k] + ", which";
  throw UsageError(text + " waits for " + cycle.front() +
                   "; cut smaller chunks, or let processors put off tasks that cannot run yet");
}

}  // namespace palmette::transfer
