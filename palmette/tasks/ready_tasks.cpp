// Counters and the ready queue. Only the queue is locked; the counters are atomic.
#include <algorithm>

#include "palmette/tasks/tasks.hpp"

namespace palmette {

ReadyTasks::ReadyTasks(const TaskGraph& graph)
    : graph_(&graph), waiting_for_(std::make_unique<std::atomic<index_t>[]>(graph.tasks.size())) {
  heap_.reserve(graph.tasks.size());
  reset();
}

void ReadyTasks::reset() {
  const std::lock_guard lock(mutex_);
  heap_.clear();
  unfinished_.store(graph_->num_tasks(), std::memory_order_relaxed);
  for (index_t task = 0; task < graph_->num_tasks(); ++task) {
    const index_t before = static_cast<index_t>(graph_->predecessors(task).size());
    waiting_for_[task].store(before, std::memory_order_relaxed);
    if (before == 0) push(task);
  }
  ready_count_.store(static_cast<index_t>(heap_.size()), std::memory_order_release);
}

bool ReadyTasks::less_urgent(index_t a, index_t b) const {
  if (graph_->priority[a] != graph_->priority[b]) return graph_->priority[a] < graph_->priority[b];
  return a > b;
}

void ReadyTasks::push(index_t task) {
  heap_.push_back(task);
  std::push_heap(heap_.begin(), heap_.end(), [this](index_t a, index_t b) { return less_urgent(a, b); });
}

index_t ReadyTasks::take() {
  // Checking before locking keeps idle threads from slowing the others down.
  if (ready_count_.load(std::memory_order_acquire) == 0) return -1;
  const std::lock_guard lock(mutex_);
  if (heap_.empty()) return -1;
  std::pop_heap(heap_.begin(), heap_.end(), [this](index_t a, index_t b) { return less_urgent(a, b); });
  const index_t task = heap_.back();
  heap_.pop_back();
  ready_count_.store(static_cast<index_t>(heap_.size()), std::memory_order_release);
  return task;
}

void ReadyTasks::finish(index_t task) {
  for (const index_t next : graph_->successors(task))
    if (waiting_for_[next].fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::lock_guard lock(mutex_);
      push(next);
      ready_count_.store(static_cast<index_t>(heap_.size()), std::memory_order_release);
    }
  unfinished_.fetch_sub(1, std::memory_order_acq_rel);
}

}  // namespace palmette
