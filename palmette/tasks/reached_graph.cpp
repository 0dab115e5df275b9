// Marks the tasks that run; then counts what each of them waits for.
#include "palmette/tasks/reached_graph.hpp"

#include <algorithm>

namespace palmette {
namespace {

class Pruning {
 public:
  Pruning(const SolveExchange& exchange, const RankGraph& graph, const TreePartition& units,
          const SolveReach& reach)
      : exchange_(exchange), graph_(graph), units_(units), reach_(reach) {
    left_.num_waits.assign(graph.tasks.size(), -1);
    left_.message_rows.resize(graph.messages.size());
  }

  ReachedGraph build() {
    for (std::size_t at = 0; at < exchange_.wholes.size(); ++at) visit_whole(static_cast<index_t>(at));
    for (index_t t = 0; t < static_cast<index_t>(exchange_.tops.size()); ++t) {
      const index_t s = exchange_.tops[t].supernode;
      if (reach_.forward(s)) visit_forward(t);
      if (reach_.backward(s)) visit_backward(t);
    }
    for (index_t task = graph_.first_meeting; task < graph_.num_tasks(); ++task) run(task);
    for (const index_t task : left_.tasks) {
      for (const index_t to : graph_.next_of(task))
        if (left_.num_waits[to] >= 0) ++left_.num_waits[to];
      count_messages(task);
    }
    return std::move(left_);
  }

 private:
  void run(index_t task) {
    left_.num_waits[task] = 0;
    left_.tasks.push_back(task);
  }
  void run(index_t first, index_t count) {
    for (index_t k = 0; k < count; ++k) run(first + k);
  }

  void visit_whole(index_t whole) {
    const index_t unit = exchange_.wholes[whole].unit;
    if (reach_.forward_group(unit)) run(whole);
    if (reach_.backward_group(unit)) run(graph_.first_whole_backward + whole);
  }

  void visit_forward(index_t t) {
    const TopSupernode& top = exchange_.tops[t];
    if (top.row_sum != -1 && (top.owns_diagonal || shares_row(top, true)))
      run(graph_.receiver_at(t, SolveMessage::row_sum));
    if (top.column_sum == -1) return;
    if (!top.owns_diagonal) run(graph_.receiver_at(t, SolveMessage::forward_value));
    run(graph_.first_column_product[t], top.column_portions.size());
  }

  void visit_backward(index_t t) {
    const TopSupernode& top = exchange_.tops[t];
    if (top.column_sum != -1) run(graph_.receiver_at(t, SolveMessage::column_sum));
    if (top.row_sum == -1 || !(top.owns_diagonal || shares_row(top, false))) return;
    if (!top.owns_diagonal) run(graph_.receiver_at(t, SolveMessage::backward_value));
    for (index_t k = 0; k < top.row_portions.size(); ++k) {
      const Portion& portion = exchange_.portions[top.row_portions.begin + k];
      const auto blocks = exchange_.left_of(top).subspan(
          portion.begin, static_cast<std::size_t>(portion.end - portion.begin));
      if (std::any_of(blocks.begin(), blocks.end(), [&](index_t own) { return is_visited(own, false); }))
        run(graph_.first_row_product[t] + k);
    }
  }

  bool is_visited_unit(index_t unit, bool forward) const {
    return forward ? reach_.forward_group(unit) : reach_.backward_group(unit);
  }
  bool is_visited(index_t own, bool forward) const {
    return is_visited_unit(exchange_.unit_of(own, units_), forward);
  }
  /// Whether columns that this rank or a rank below it in the row's tree has in the row are visited.
  bool shares_row(const TopSupernode& top, bool forward) const {
    const auto left = exchange_.left_of(top);
    if (std::any_of(left.begin(), left.end(), [&](index_t own) { return is_visited(own, forward); }))
      return true;
    const auto incoming = incoming_of(top.row_sum);
    return std::any_of(incoming.begin(), incoming.end(),
                       [&](const IncomingSum& one) { return shares(one, forward); });
  }
  bool shares(const IncomingSum& child, bool forward) const {
    const auto parts = exchange_.of(exchange_.parts, child.parts);
    return std::any_of(parts.begin(), parts.end(),
                       [&](const StoredPart& part) { return is_visited_unit(part.unit, forward); });
  }
  std::span<const IncomingSum> incoming_of(index_t reduction) const {
    return exchange_.of(exchange_.incoming, exchange_.reductions[reduction].incoming);
  }

  /// Those that the task waits for, and those that it sends.
  void count_messages(index_t task) {
    const LocalTask& one = graph_.tasks[task];
    index_t& waits = left_.num_waits[task];
    if (graph_.is_meeting(task)) {
      if (graph_.receives(task)) ++waits;
      return send_all(one.messages);
    }
    if (is_relay(one.part)) ++waits;
    if (one.part == SolvePart::row_sum) {
      const Reduction& reduction = exchange_.reductions[exchange_.tops[one.number].row_sum];
      for (const IncomingSum& child : incoming_of(exchange_.tops[one.number].row_sum))
        if (shares(child, true)) ++waits;
      if (reduction.parent == -1) return send_all(one.messages);
      return send(one.messages.begin, reached_rows(exchange_, reduction.result, reach_));
    }
    if (one.part == SolvePart::column_sum) {
      const Reduction& reduction = exchange_.reductions[exchange_.tops[one.number].column_sum];
      waits += reduction.incoming.size();
      if (reduction.parent != -1) return send_all(one.messages);
    }
    if (one.part == SolvePart::column_sum || one.part == SolvePart::backward_relay)
      return send_along_row(one);
    send_all(one.messages);
  }
  void send(index_t message, offset_t rows) {
    left_.message_rows[message] = rows;
    left_.num_messages += rows > 0 ? 1 : 0;
    left_.sent_rows += rows;
  }
  void send_all(ArrayPart messages) {
    for (index_t k = messages.begin; k < messages.end; ++k) send(k, graph_.messages[k].rows);
  }
  /// Backward, the children in the row's tree are those whose sums come forward.
  void send_along_row(const LocalTask& task) {
    const index_t row_sum = exchange_.tops[task.number].row_sum;
    for (index_t k = 0; k < task.messages.size(); ++k) {
      const index_t message = task.messages.begin + k;
      send(message, shares(incoming_of(row_sum)[k], false) ? graph_.messages[message].rows : 0);
    }
  }

  const SolveExchange& exchange_;
  const RankGraph& graph_;
  const TreePartition& units_;
  const SolveReach& reach_;
  ReachedGraph left_;
};

}  // namespace

ReachedGraph reached_graph(const SolveExchange& exchange, const RankGraph& graph, const TreePartition& units,
                           const SolveReach& reach) {
  return Pruning(exchange, graph, units, reach).build();
}

offset_t reached_rows(const SolveExchange& exchange, ArrayPart parts, const SolveReach& reach) {
  offset_t rows = 0;
  for (const StoredPart& part : exchange.of(exchange.parts, parts))
    if (is_reached(part, reach)) rows += part.rows.count;
  return rows;
}

}  // namespace palmette
