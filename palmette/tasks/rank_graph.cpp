// One rank's tasks of a solve: the only place that says which task waits for which.
#include "palmette/tasks/rank_graph.hpp"

#include <algorithm>
#include <limits>

namespace palmette {
namespace {

/// Lists the tasks, part by part, as their numbers decide between equally urgent ones.
class TaskMaker {
 public:
  /// @param graph  knows the steps of layers
  TaskMaker(const SolveExchange& exchange, RankGraph& graph) : exchange_(exchange), graph_(graph) {
    for (const TopSupernode& top : exchange.tops) graph.supernode_of_top.push_back(top.supernode);
    graph.receiver.resize(exchange.tops.size(), {-1, -1, -1, -1});
    graph.first_column_product.resize(exchange.tops.size());
    graph.first_row_product.resize(exchange.tops.size());
  }

  void add_all() {
    add_wholes(SolvePart::whole_forward);
    for_tops([&](index_t t, const TopSupernode& top) {
      if (top.row_sum != -1) add_sum(SolvePart::row_sum, SolveMessage::row_sum, t, top.urgency.forward);
    });
    for_tops([&](index_t t, const TopSupernode& top) {
      if (relays(top, top.column_sum)) add_relay(SolvePart::forward_relay, SolveMessage::forward_value, t);
    });
    for_tops([&](index_t t, const TopSupernode& top) {
      graph_.first_column_product[t] = add_products(SolvePart::column_product, t, top.column_portions);
    });
    for_tops([&](index_t t, const TopSupernode& top) {
      if (top.column_sum != -1)
        add_sum(SolvePart::column_sum, SolveMessage::column_sum, t, top.urgency.backward);
    });
    for_tops([&](index_t t, const TopSupernode& top) {
      if (relays(top, top.row_sum)) add_relay(SolvePart::backward_relay, SolveMessage::backward_value, t);
    });
    for_tops([&](index_t t, const TopSupernode& top) {
      graph_.first_row_product[t] = add_products(SolvePart::row_product, t, top.row_portions);
    });
    graph_.first_whole_backward = graph_.num_tasks();
    add_wholes(SolvePart::whole_backward);
    add_meetings();
  }

 private:
  void receive(SolveMessage kind, index_t t, index_t task) {
    graph_.receiver[t][static_cast<int>(kind)] = task;
  }
  index_t add(SolvePart part, index_t number, index_t supernode, double urgency = 0) {
    LocalTask task;
    task.part = part;
    task.number = number;
    task.supernode = supernode;
    task.urgency = urgency;
    graph_.tasks.push_back(task);
    return graph_.num_tasks() - 1;
  }
  template <class Visit>
  void for_tops(Visit&& visit) {
    for (index_t t = 0; t < static_cast<index_t>(exchange_.tops.size()); ++t) visit(t, exchange_.tops[t]);
  }
  /// The value comes from the rank of the diagonal block to all others in the tree.
  static bool relays(const TopSupernode& top, index_t reduction) {
    return reduction != -1 && !top.owns_diagonal;
  }
  void add_wholes(SolvePart part) {
    for (std::size_t at = 0; at < exchange_.wholes.size(); ++at) {
      const WholeUnit& whole = exchange_.wholes[at];
      add(part, static_cast<index_t>(at), whole.last_supernode,
          is_forward(part) ? whole.urgency.forward : whole.urgency.backward);
    }
  }
  void add_sum(SolvePart part, SolveMessage kind, index_t t, double urgency) {
    receive(kind, t, add(part, t, exchange_.tops[t].supernode, urgency));
  }
  void add_relay(SolvePart part, SolveMessage kind, index_t t) {
    receive(kind, t, add(part, t, exchange_.tops[t].supernode));
  }
  index_t add_products(SolvePart part, index_t t, ArrayPart portions) {
    const index_t first = graph_.num_tasks();
    for (index_t p = portions.begin; p < portions.end; ++p)
      graph_.tasks[add(part, t, exchange_.tops[t].supernode, exchange_.portions[p].urgency)].portion = p;
    return first;
  }
  void add_meetings() {
    graph_.first_meeting = graph_.num_tasks();
    for (std::size_t step = 0; step < graph_.steps.size(); ++step)
      for (int direction = 0; direction < 2; ++direction)
        add(SolvePart::layers_meet, static_cast<index_t>(step), graph_.steps[step].supernodes.front(),
            infinity);
  }

  const SolveExchange& exchange_;
  RankGraph& graph_;
};

/// Says which task waits for which, and what each sends.
class EdgeMaker {
 public:
  /// Finds when layers meet, on which tasks and edges depend.
  EdgeMaker(const SolveExchange& exchange, const SymbolicFactor& symbolic, const LayerSystem* layer,
            RankGraph& graph)
      : exchange_(exchange), symbolic_(symbolic), layer_(layer), graph_(graph),
        awaits_layers_(exchange.tops.size(), 0) {
    graph.is_given.resize(exchange.tops.size(), 0);
    if (layer != nullptr) find_meetings();
  }

  void add_all() {
    for (index_t task = 0; task < graph_.num_tasks(); ++task) add_edges(task);
    for (const index_t to : graph_.next) ++graph_.tasks[to].num_waits;
    count_messages();
  }

 private:
  void find_meetings() {
    graph_.steps = layer_steps(*layer_, exchange_.rank);
    if (graph_.steps.empty()) return;
    const bool once = layer_->method == LayeredMethod::one_sync_3d;
    // With one synchronization, all that is shared waits for the sums over layers; in the baseline, what
    // other layers sweep waits for its solution.
    const LayerStep& last = graph_.steps.back();
    if (once) mark(graph_.steps.front(), awaits_layers_);
    else if (!last.receives_up) mark(last, awaits_layers_), mark(last, graph_.is_given);
  }
  void mark(const LayerStep& step, std::vector<char>& marks) {
    for (const index_t s : step.supernodes) marks[exchange_.top_of(s)] = 1;
  }

  void edge(index_t to) { graph_.next.push_back(to); }
  void edges(index_t first, index_t count) {
    for (index_t k = 0; k < count; ++k) edge(first + k);
  }
  void send(SolveMessage kind, index_t rank, offset_t rows) { graph_.messages.push_back({kind, rank, rows}); }
  index_t row_sum(index_t top) { return graph_.receiver[top][static_cast<int>(SolveMessage::row_sum)]; }
  index_t column_sum(index_t top) { return graph_.receiver[top][static_cast<int>(SolveMessage::column_sum)]; }

  void add_edges(index_t task) {
    LocalTask& one = graph_.tasks[task];
    one.next.begin = static_cast<index_t>(graph_.next.size());
    one.messages.begin = static_cast<index_t>(graph_.messages.size());
    switch (one.part) {
      case SolvePart::whole_forward: after_whole(one.number); break;
      case SolvePart::row_sum: after_row_sum(one.number); break;
      case SolvePart::forward_relay: forward_value_is_there(one.number); break;
      case SolvePart::column_product: after_column_product(one); break;
      case SolvePart::column_sum: after_column_sum(one.number); break;
      case SolvePart::backward_relay: backward_value_is_there(one.number); break;
      case SolvePart::row_product: after_row_product(one); break;
      case SolvePart::whole_backward: break;
      case SolvePart::layers_meet: after_meeting(task, one.number); break;
    }
    one.next.end = static_cast<index_t>(graph_.next.size());
    one.messages.end = static_cast<index_t>(graph_.messages.size());
  }

  void after_whole(index_t number) {
    for (const OwnContribution& own : exchange_.contributions_of(exchange_.wholes[number]))
      edge(row_sum(own.row_top));
    edge(graph_.first_whole_backward + number);
  }

  void after_row_sum(index_t t) {
    const TopSupernode& top = exchange_.tops[t];
    const Reduction& reduction = exchange_.reductions[top.row_sum];
    if (reduction.parent != -1)
      return send(SolveMessage::row_sum, reduction.parent, reduction.outgoing_rows);
    if (graph_.is_given[t] == 0) forward_value_is_there(t);
    if (awaits_layers_[t] == 0) edge(column_sum(t));
    for (std::size_t step = 0; step < graph_.steps.size(); ++step)
      if (waits_for_rows(step) && has(step, top.supernode))
        edge(graph_.meeting_up(static_cast<index_t>(step)));
  }
  void forward_value_is_there(index_t t) {
    const TopSupernode& top = exchange_.tops[t];
    for (const index_t child : exchange_.of(exchange_.ranks, top.column_children))
      send(SolveMessage::forward_value, child, symbolic_.width(top.supernode));
    edges(graph_.first_column_product[t], top.column_portions.size());
  }
  void after_column_product(const LocalTask& one) {
    const Portion& portion = exchange_.portions[one.portion];
    const index_t first = exchange_.tops[one.number].below.begin;
    for (index_t k = portion.begin; k < portion.end; ++k) edge(row_sum(exchange_.own[first + k].row_top));
  }

  void after_column_sum(index_t t) {
    const TopSupernode& top = exchange_.tops[t];
    const Reduction& reduction = exchange_.reductions[top.column_sum];
    if (reduction.parent != -1)
      return send(SolveMessage::column_sum, reduction.parent, reduction.outgoing_rows);
    backward_value_is_there(t);
    for (std::size_t step = 0; step < graph_.steps.size(); ++step)
      if (!once() && graph_.steps[step].receives_up && has(step, top.supernode))
        edge(graph_.meeting_down(static_cast<index_t>(step)));
  }
  void backward_value_is_there(index_t t) {
    const TopSupernode& top = exchange_.tops[t];
    for (const index_t child : exchange_.of(exchange_.ranks, top.row_children))
      send(SolveMessage::backward_value, child, symbolic_.width(top.supernode));
    edges(graph_.first_row_product[t], top.row_portions.size());
  }
  void after_row_product(const LocalTask& one) {
    const Portion& portion = exchange_.portions[one.portion];
    const auto left = exchange_.left_of(exchange_.tops[one.number]);
    for (index_t k = portion.begin; k < portion.end; ++k) {
      const OwnContribution& own = exchange_.own[left[k]];
      const bool whole = exchange_.own_is_whole[left[k]] != 0;
      edge(whole ? graph_.first_whole_backward + own.column : column_sum(own.column_top));
    }
  }

  // ---- layers ----

  bool once() const { return layer_->method == LayeredMethod::one_sync_3d; }
  bool has(std::size_t step, index_t supernode) const {
    const std::vector<index_t>& all = graph_.steps[step].supernodes;
    return std::binary_search(all.begin(), all.end(), supernode);
  }
  /// With one synchronization everything that is shared is swept forward before the first step; in the
  /// baseline, rows are sent up when their sums are complete.
  bool waits_for_rows(std::size_t step) const { return once() ? step == 0 : !graph_.steps[step].receives_up; }

  void after_meeting(index_t task, index_t number) {
    const LayerStep& step = graph_.steps[number];
    const auto last = static_cast<index_t>(graph_.steps.size()) - 1;
    const bool up = graph_.is_up(task);
    if (!graph_.receives(task))
      send(up ? SolveMessage::layer_up : SolveMessage::layer_down, step.partner, step.rows);
    if (up && number < last) edge(graph_.meeting_up(number + 1));
    if (up && number == last && once() && step.receives_up) edge(graph_.meeting_down(number));
    if (!up && number > 0) edge(graph_.meeting_down(number - 1));
    // What arrives from below is a contribution to a row; what comes down is a solution.
    const bool gives_rows = !once() && up && step.receives_up;
    const bool gives_solution = !up && (once() ? number == 0 : !step.receives_up);
    for (const index_t s : step.supernodes) {
      if (gives_rows) edge(row_sum(exchange_.top_of(s)));
      if (gives_solution) edge(column_sum(exchange_.top_of(s)));
    }
  }

  void count_messages() {
    for (LocalTask& task : graph_.tasks) {
      const TopSupernode* top = task.part == SolvePart::row_sum || task.part == SolvePart::column_sum
                                    ? &exchange_.tops[task.number]
                                    : nullptr;
      if (top != nullptr)
        task.num_waits +=
            exchange_.reductions[task.part == SolvePart::row_sum ? top->row_sum : top->column_sum]
                .incoming.size();
      else if (is_relay(task.part)) ++task.num_waits;
    }
    for (index_t task = graph_.first_meeting; task < graph_.num_tasks(); ++task)
      if (graph_.receives(task)) ++graph_.tasks[task].num_waits;
  }

  const SolveExchange& exchange_;
  const SymbolicFactor& symbolic_;
  const LayerSystem* layer_;
  RankGraph& graph_;
  std::vector<char> awaits_layers_;  // by top: its part of the backward sweep begins after a meeting
};

}  // namespace

std::string_view name_of(SolvePart part) {
  switch (part) {
    case SolvePart::whole_forward: return "whole_forward";
    case SolvePart::row_sum: return "row_sum";
    case SolvePart::forward_relay: return "forward_relay";
    case SolvePart::column_product: return "column_product";
    case SolvePart::column_sum: return "column_sum";
    case SolvePart::backward_relay: return "backward_relay";
    case SolvePart::row_product: return "row_product";
    case SolvePart::whole_backward: return "whole_backward";
    case SolvePart::layers_meet: return "layers_meet";
  }
  return "";
}

index_t RankGraph::receiver_of(SolveMessage kind, index_t supernode) const {
  const auto top = std::lower_bound(supernode_of_top.begin(), supernode_of_top.end(), supernode);
  return receiver[top - supernode_of_top.begin()][static_cast<int>(kind)];
}

offset_t RankGraph::memory_bytes() const {
  const auto bytes_of = [](const auto&... arrays) {
    return (static_cast<offset_t>(arrays.size() * sizeof(arrays[0])) + ...);
  };
  return bytes_of(tasks, next, messages, receiver, supernode_of_top, is_given, first_column_product,
                  first_row_product);
}

RankGraph rank_graph(const SolveExchange& exchange, const SymbolicFactor& symbolic,
                     const LayerSystem* layer) {
  RankGraph graph;
  EdgeMaker edges(exchange, symbolic, layer, graph);
  TaskMaker(exchange, graph).add_all();
  edges.add_all();
  return graph;
}

FactorWork work_of(const SolveExchange& exchange, const RankGraph& graph, index_t task) {
  const LocalTask& one = graph.tasks[task];
  switch (one.part) {
    case SolvePart::whole_forward:
    case SolvePart::whole_backward: return exchange.wholes[one.number].work;
    case SolvePart::column_product:
    case SolvePart::row_product: return exchange.portions[one.portion].work;
    // The triangle of a supernode that another layer sweeps is not read.
    case SolvePart::row_sum:
    case SolvePart::column_sum:
      return graph.is_given[one.number] != 0 ? FactorWork{} : exchange.tops[one.number].diagonal;
    case SolvePart::layers_meet: return {2.0 * static_cast<double>(graph.steps[one.number].rows), 0, 0, 0};
    case SolvePart::forward_relay:
    case SolvePart::backward_relay: return {};
  }
  return {};
}

}  // namespace palmette
