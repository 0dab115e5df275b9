// Inside `tasks`: one rank's shares of reductions, appended to its exchange.
#pragma once

#include "palmette/tasks/exchange_structure.hpp"

namespace palmette {

class ReductionBuilder {
 public:
  ReductionBuilder(const ExchangeStructure& known, SolveExchange& exchange)
      : known_(known), exchange_(exchange) {}

  /// Contributions to the rows of a supernode: appends a Reduction and the ranks of the children, if this
  /// rank takes part.
  /// @param stored_at  first row in the store of a segment of this rank
  template <class StoredAt>
  void add_row(TopSupernode& top, StoredAt&& stored_at);
  /// Contributions to its columns.
  template <class StoredAt>
  void add_column(TopSupernode& top, StoredAt&& stored_at);

 private:
  /// One reduction from the view of this rank.
  struct Shared {
    index_t supernode;
    const SumTree& tree;
    const CommunicationTree& ranks;
    SumFlow flows;
    index_t position;
    std::vector<offset_t> at;  // by node of the tree: first row in the store, −1: not here
    bool of_row;

    /// Of the contributors to a node, that which gives it its rows is an ancestor of the others.
    index_t unit_of(const ExchangeStructure& known, index_t node) const {
      if (!of_row) return -1;
      return known.segment(known.in_row(supernode)[tree.shape[node]]).unit;
    }
  };

  template <class RowsOf>
  index_t add(Shared& shared, offset_t& store, RowsOf&& rows_of);
  template <class RowsOf>
  void add_incoming(Shared& shared, offset_t& store, Reduction& result, RowsOf&& rows_of);
  template <class RowsOf>
  void add_sums(Shared& shared, offset_t& store, Reduction& result, RowsOf&& rows_of);
  template <class RowsOf>
  void add_result(const Shared& shared, Reduction& result, RowsOf&& rows_of);
  ArrayPart add_children(const CommunicationTree& ranks, index_t position);
  /// The positions of the rows of one list in another list that contains them all.
  PartRows places_of(std::span<const index_t> rows, std::span<const index_t> among);
  /// The rows of a supernode itself; valid until the next call.
  std::span<const index_t> rows_of_supernode(index_t s);

  const ExchangeStructure& known_;
  SolveExchange& exchange_;
  std::vector<index_t> own_rows_;
};

template <class StoredAt>
void ReductionBuilder::add_row(TopSupernode& top, StoredAt&& stored_at) {
  const CommunicationTree ranks = known_.row_tree(top.supernode);
  const index_t position = ranks.position_of(exchange_.rank);
  top.owns_diagonal = ranks.ranks[0] == exchange_.rank;
  if (position == -1) return;
  const std::vector<index_t>& who = known_.in_row(top.supernode);
  const SumTree tree = known_.row_sums(top.supernode);
  const auto segment = [&](index_t leaf) -> const BoundarySegment& { return known_.segment(who[leaf]); };
  Shared shared{
      top.supernode, tree,
      ranks,         sum_flow(tree, ranks, [&](index_t leaf) { return known_.owner(segment(leaf)); }),
      position,      std::vector<offset_t>(tree.size(), -1),
      true};
  for (const index_t leaf : shared.flows.own[position])
    shared.at[leaf] = stored_at(who[tree.contributor[leaf]]);
  top.row_sum =
      add(shared, exchange_.forward_rows, [&](index_t leaf) { return known_.rows(segment(leaf)); });
  top.row_children = add_children(ranks, position);
}

template <class StoredAt>
void ReductionBuilder::add_column(TopSupernode& top, StoredAt&& stored_at) {
  const CommunicationTree ranks = known_.column_tree(top.supernode);
  const index_t position = ranks.position_of(exchange_.rank);
  if (position == -1) return;
  const SumTree tree = known_.column_sums(top.supernode);
  const index_t first = known_.first_segment(known_.unit_of(top.supernode));
  Shared shared{
      top.supernode,
      tree,
      ranks,
      sum_flow(tree, ranks, [&](index_t leaf) { return known_.owner(known_.segment(first + leaf)); }),
      position,
      std::vector<offset_t>(tree.size(), -1),
      false};
  for (const index_t leaf : shared.flows.own[position])
    shared.at[leaf] = stored_at(first + tree.contributor[leaf]);
  const std::span<const index_t> rows = rows_of_supernode(top.supernode);
  top.column_sum = add(shared, exchange_.backward_rows, [&](index_t) { return rows; });
  top.column_children = add_children(ranks, position);
}

template <class RowsOf>
index_t ReductionBuilder::add(Shared& shared, offset_t& store, RowsOf&& rows_of) {
  Reduction result;
  result.supernode = shared.supernode;
  const index_t above = shared.ranks.parent(shared.position);
  result.parent = above == -1 ? -1 : shared.ranks.ranks[above];
  const auto rows_of_node = [&](index_t node) { return rows_of(shared.tree.shape[node]); };
  add_incoming(shared, store, result, rows_of_node);
  add_sums(shared, store, result, rows_of_node);
  add_result(shared, result, rows_of_node);
  exchange_.reductions.push_back(result);
  return static_cast<index_t>(exchange_.reductions.size()) - 1;
}

template <class RowsOf>
void ReductionBuilder::add_incoming(Shared& shared, offset_t& store, Reduction& result, RowsOf&& rows_of) {
  result.incoming.begin = static_cast<index_t>(exchange_.incoming.size());
  for (index_t child = shared.ranks.first_child(shared.position);
       child < shared.ranks.end_child(shared.position); ++child) {
    IncomingSum come{shared.ranks.ranks[child], store, 0, {}};
    come.parts.begin = static_cast<index_t>(exchange_.parts.size());
    for (const index_t node : shared.flows.sums[child].outgoing) {
      const auto rows = static_cast<index_t>(rows_of(node).size());
      if (shared.of_row) exchange_.parts.push_back({store, {-1, 0, rows}, shared.unit_of(known_, node)});
      shared.at[node] = store;
      store += rows;
    }
    come.parts.end = static_cast<index_t>(exchange_.parts.size());
    come.rows = static_cast<index_t>(store - come.at);
    exchange_.incoming.push_back(come);
  }
  result.incoming.end = static_cast<index_t>(exchange_.incoming.size());
}

template <class RowsOf>
void ReductionBuilder::add_sums(Shared& shared, offset_t& store, Reduction& result, RowsOf&& rows_of) {
  const SumTree& tree = shared.tree;
  result.sums.begin = static_cast<index_t>(exchange_.sums.size());
  for (const index_t node : shared.flows.sums[shared.position].made) {
    MadeSum sum{store, static_cast<index_t>(rows_of(node).size()), {}};
    sum.parts.begin = static_cast<index_t>(exchange_.parts.size());
    for (index_t child = tree.child_ptr[node]; child < tree.child_ptr[node + 1]; ++child) {
      const index_t part = tree.child[child];
      exchange_.parts.push_back(
          {shared.at[part], places_of(rows_of(part), rows_of(node)), shared.unit_of(known_, part)});
    }
    sum.parts.end = static_cast<index_t>(exchange_.parts.size());
    shared.at[node] = store;
    store += sum.rows;
    exchange_.sums.push_back(sum);
  }
  result.sums.end = static_cast<index_t>(exchange_.sums.size());
}

template <class RowsOf>
void ReductionBuilder::add_result(const Shared& shared, Reduction& result, RowsOf&& rows_of) {
  result.result.begin = static_cast<index_t>(exchange_.parts.size());
  for (const index_t node : shared.flows.sums[shared.position].outgoing) {
    const auto rows = rows_of(node);
    exchange_.parts.push_back({shared.at[node], places_of(rows, rows_of_supernode(shared.supernode)),
                               shared.unit_of(known_, node)});
    result.outgoing_rows += static_cast<offset_t>(rows.size());
  }
  result.result.end = static_cast<index_t>(exchange_.parts.size());
}

}  // namespace palmette
