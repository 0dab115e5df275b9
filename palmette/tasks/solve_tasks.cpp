// Joins the graphs of all ranks: one numbering for all tasks, and an edge for each message.
#include "palmette/tasks/solve_tasks.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace palmette {
namespace {

/// Tasks are numbered in ascending order of this. Forward, supernodes are ascending; in each, sums come from
/// the leaves of its tree of ranks to the root, then relays from the root to the leaves, then products.
/// Backward, supernodes are descending.
struct TaskPlace {
  int stage = 0;              // subtrees forward, supernodes forward, supernodes backward, subtrees backward
  index_t supernode = 0;      // backward: negative
  int part = 0;               // sum, relay, product
  index_t depth = 0, rank = 0;  // in the tree of ranks; negative where the largest is first
  index_t task = 0;           // of the rank
  bool operator<(const TaskPlace& other) const { return all() < other.all(); }
  std::tuple<int, index_t, int, index_t, index_t, index_t> all() const {
    return {stage, supernode, part, depth, rank, task};
  }
};

/// The graphs of the ranks of one layer, side by side.
class LayerGraphs {
 public:
  LayerGraphs(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
        const LayerSystem* system) {
    const ExchangePlan structure(symbolic, placement, trees);
    for (index_t rank = 0; rank < placement.num_ranks(); ++rank) {
      const SolveExchange exchange = structure.exchange(rank);
      const RankGraph& graph = graphs.emplace_back(rank_graph(exchange, symbolic, system));
      std::vector<FactorWork>& of_rank = work.emplace_back();
      for (index_t task = 0; task < static_cast<index_t>(graph.tasks.size()); ++task)
        of_rank.push_back(work_of(exchange, graph, task));
    }
  }

  /// All tasks in the order of their numbers, without exchanges of layers.
  std::vector<TaskPlace> places() const {
    std::vector<TaskPlace> result;
    for (std::size_t rank = 0; rank < graphs.size(); ++rank)
      for (index_t task = 0; task < graphs[rank].first_meeting; ++task)
        result.push_back(place_of(static_cast<index_t>(rank), task));
    std::sort(result.begin(), result.end());
    return result;
  }

  std::vector<RankGraph> graphs;
  std::vector<std::vector<FactorWork>> work;  // by rank and task

 private:
  TaskPlace place_of(index_t rank, index_t task) const {
    const LocalTask& one = graphs[rank].tasks[task];
    const index_t s = one.supernode;
    const auto from_leaves = [&](int stage, index_t number, int part, SolveMessage tree) {
      return TaskPlace{stage, number, part, -depth(tree, s, rank), rank, task};
    };
    const auto from_root = [&](int stage, index_t number, int part, SolveMessage tree) {
      return TaskPlace{stage, number, part, depth(tree, s, rank), -rank, task};
    };
    switch (one.part) {
      case SolvePart::row_sum: return from_leaves(1, s, 0, SolveMessage::row_sum);
      case SolvePart::forward_relay: return from_root(1, s, 1, SolveMessage::column_sum);
      case SolvePart::column_product: return from_leaves(1, s, 2, SolveMessage::column_sum);
      case SolvePart::column_sum: return from_leaves(2, -s, 0, SolveMessage::column_sum);
      case SolvePart::backward_relay: return from_root(2, -s, 1, SolveMessage::row_sum);
      case SolvePart::row_product: return from_leaves(2, -s, 2, SolveMessage::row_sum);
      case SolvePart::whole_backward: return {3, 0, 0, 0, rank, task};
      default: return {0, 0, 0, 0, rank, task};
    }
  }

  /// Of a rank in the tree up which the sums of this kind travel.
  index_t depth(SolveMessage tree, index_t supernode, index_t rank) const {
    index_t result = 0;
    while (true) {
      const RankGraph& graph = graphs[rank];
      const index_t sum = graph.receiver_of(tree, supernode);
      const ArrayPart sent = graph.tasks[sum].messages;
      if (sent.size() == 0 || graph.messages[sent.begin].kind != tree) return result;
      rank = graph.messages[sent.begin].rank;
      ++result;
    }
  }
};

class Joiner {
 public:
  SolveGraph joined(std::vector<LayerGraphs> layers, const std::vector<LayerSystem>* systems) {
    layers_ = std::move(layers);
    systems_ = systems;
    result_.num_ranks = 0;
    for (const LayerGraphs& layer : layers_) {
      first_rank_.push_back(result_.num_ranks);
      result_.num_ranks += static_cast<index_t>(layer.graphs.size());
    }
    number_tasks();
    add_edges();
    return with_sorted_edges(std::move(result_));
  }

 private:
  void number_tasks() {
    numbers_.resize(result_.num_ranks);
    for (std::size_t z = 0; z < layers_.size(); ++z)
      for (std::size_t rank = 0; rank < layers_[z].graphs.size(); ++rank)
        numbers_[first_rank_[z] + rank].resize(layers_[z].graphs[rank].tasks.size());
    for (std::size_t z = 0; z < layers_.size(); ++z)
      for (const TaskPlace& one : layers_[z].places()) add(z, one.rank < 0 ? -one.rank : one.rank, one.task);
    for (std::size_t z = 0; z < layers_.size(); ++z)
      for (std::size_t rank = 0; rank < layers_[z].graphs.size(); ++rank) {
        const RankGraph& graph = layers_[z].graphs[rank];
        for (auto task = graph.first_meeting; task < static_cast<index_t>(graph.tasks.size()); ++task)
          add(z, static_cast<index_t>(rank), task);
      }
  }
  void add(std::size_t z, index_t rank, index_t task) {
    const LocalTask& one = layers_[z].graphs[rank].tasks[task];
    SolveTask made{layers_[z].work[rank][task]};
    made.part = one.part;
    made.rank = first_rank_[z] + rank;
    made.number = systems_ == nullptr ? one.supernode : (*systems_)[z].supernode[one.supernode];
    made.urgency = one.urgency;
    numbers_[made.rank][task] = result_.num_tasks();
    result_.tasks.push_back(made);
  }

  void add_edges() {
    for (std::size_t z = 0; z < layers_.size(); ++z)
      for (std::size_t rank = 0; rank < layers_[z].graphs.size(); ++rank)
        for (std::size_t task = 0; task < layers_[z].graphs[rank].tasks.size(); ++task)
          add_edges_of(z, layers_[z].graphs[rank], static_cast<index_t>(rank), static_cast<index_t>(task));
  }
  void add_edges_of(std::size_t z, const RankGraph& graph, index_t rank, index_t task) {
    const LocalTask& one = graph.tasks[task];
    const std::vector<index_t>& numbers = numbers_[first_rank_[z] + rank];
    for (index_t k = one.next.begin; k < one.next.end; ++k)
      result_.edges.push_back({numbers[task], numbers[graph.next[k]], 0});
    for (index_t k = one.messages.begin; k < one.messages.end; ++k)
      result_.edges.push_back(
          {numbers[task], receiver(z, graph, one, graph.messages[k]), graph.messages[k].rows});
  }
  index_t receiver(std::size_t z, const RankGraph& graph, const LocalTask& sender,
                   const LocalMessage& message) const {
    if (static_cast<int>(message.kind) < num_messages_within) {
      const RankGraph& other = layers_[z].graphs[message.rank];
      return numbers_[first_rank_[z] + message.rank][other.receiver_of(message.kind, sender.supernode)];
    }
    const auto above = std::upper_bound(first_rank_.begin(), first_rank_.end(), message.rank);
    const std::size_t layer = above - first_rank_.begin() - 1;
    const RankGraph& other = layers_[layer].graphs[message.rank - first_rank_[layer]];
    index_t step = 0;
    while (other.steps[step].node != graph.steps[sender.number].node) ++step;
    return numbers_[message.rank][message.kind == SolveMessage::layer_up ? other.meeting_up(step)
                                                                         : other.meeting_down(step)];
  }

  std::vector<LayerGraphs> layers_;
  const std::vector<LayerSystem>* systems_ = nullptr;
  SolveGraph result_;
  std::vector<index_t> first_rank_;             // by layer
  std::vector<std::vector<index_t>> numbers_;   // by rank and its task
};

/// The same tasks, numbered so that every edge goes to a larger number.
SolveGraph in_order(SolveGraph given) {
  const std::size_t count = given.tasks.size();
  std::vector<index_t> waits(count), order, place(count);
  for (const SolveEdge& one : given.edges) ++waits[one.to];
  for (std::size_t task = 0; task < count; ++task)
    if (waits[task] == 0) order.push_back(static_cast<index_t>(task));
  for (std::size_t at = 0; at < order.size(); ++at) {
    place[order[at]] = static_cast<index_t>(at);
    for (const SolveEdge& one : given.out(order[at]))
      if (--waits[one.to] == 0) order.push_back(one.to);
  }
  std::vector<SolveTask> tasks(count);
  for (std::size_t at = 0; at < order.size(); ++at) tasks[at] = given.tasks[order[at]];
  given.tasks = std::move(tasks);
  for (SolveEdge& one : given.edges) one.from = place[one.from], one.to = place[one.to];
  return with_sorted_edges(std::move(given));
}

}  // namespace

SolveGraph with_sorted_edges(SolveGraph tasks) {
  std::sort(tasks.edges.begin(), tasks.edges.end(), [](const SolveEdge& a, const SolveEdge& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  tasks.out_ptr.assign(tasks.tasks.size() + 1, 0);
  for (const SolveEdge& one : tasks.edges) ++tasks.out_ptr[one.from + 1];
  std::partial_sum(tasks.out_ptr.begin(), tasks.out_ptr.end(), tasks.out_ptr.begin());
  return tasks;
}

SolveGraph solve_tasks(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees) {
  std::vector<LayerGraphs> layers;
  layers.emplace_back(symbolic, placement, trees, nullptr);
  return Joiner().joined(std::move(layers), nullptr);
}

SolveGraph layered_solve_tasks(const std::vector<LayerSystem>& systems, TreeShape trees) {
  if (systems.empty()) throw UsageError("the tasks of no layers; there must be at least 1");
  std::vector<LayerGraphs> layers;
  for (const LayerSystem& system : systems)
    layers.emplace_back(*system.symbolic, *system.placement, trees, &system);
  return in_order(Joiner().joined(std::move(layers), &systems));
}

}  // namespace palmette
