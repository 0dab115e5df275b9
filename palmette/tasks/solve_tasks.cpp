// Turns every rank's exchange into tasks, and its messages into edges.
#include "palmette/tasks/solve_tasks.hpp"

#include <algorithm>
#include <numeric>

namespace palmette {
namespace {

/// A portion of a rank's blocks in one column or row.
struct Product {
  FactorWork work;
  double urgency = 0;
  std::vector<index_t> supernodes;  // that add up the rows
  std::vector<index_t> wholes;      // numbers of own subtrees that touch the row
  index_t task = -1;
};

/// The part of one rank in one supernode above the subtrees.
struct Share {
  index_t supernode = 0;
  index_t rank = 0;
  bool owns_diagonal = false;
  Urgency urgency;
  FactorWork diagonal;
  bool in_row = false, in_column = false;            // of the trees
  index_t row_parent = -1, column_parent = -1;       // ranks
  offset_t row_message = 0, column_message = 0;      // rows sent upwards
  std::vector<Product> below, left;                  // of the diagonal
  index_t row_sum = -1, forward_value = -1, column_sum = -1, backward_value = -1;  // tasks
};

struct Whole {
  index_t unit = 0;
  index_t rank = 0;
  Urgency urgency;
  FactorWork work;
  std::vector<index_t> rows;  // supernodes in which the rank takes part
  index_t forward = -1, backward = -1;
};

class Builder {
 public:
  Builder(const SymbolicFactor& symbolic, const Placement& placement)
      : symbolic_(symbolic), placement_(placement) {
    result_.num_ranks = placement.num_ranks();
  }

  void add_rank(const SolveExchange& exchange) {
    const auto first_whole = static_cast<index_t>(wholes_.size());
    for (const WholeUnit& one : exchange.wholes) {
      Whole& whole = wholes_.emplace_back();
      whole.unit = one.unit;
      whole.rank = exchange.rank;
      whole.urgency = one.urgency;
      whole.work = one.work;
      for (const OwnContribution& own : exchange.contributions_of(one))
        whole.rows.push_back(own.row_supernode);
    }
    const OwnedBlocks owned = owned_blocks(symbolic_, placement_, exchange.rank);
    for (const TopSupernode& top : exchange.tops) add_share(exchange, owned, top, first_whole);
  }

  SolveGraph build() {
    std::sort(shares_.begin(), shares_.end(), before);
    number_forward();
    number_backward();
    for (Share& share : shares_) add_edges(share);
    for (const Whole& whole : wholes_) {
      edge(whole.forward, whole.backward);
      for (const index_t row : whole.rows) edge(whole.forward, at(row, whole.rank).row_sum);
    }
    return with_sorted_edges(std::move(result_));
  }

 private:
  static bool before(const Share& a, const Share& b) {
    return a.supernode != b.supernode ? a.supernode < b.supernode : a.rank < b.rank;
  }

  void add_share(const SolveExchange& exchange, const OwnedBlocks& owned, const TopSupernode& top,
                 index_t first_whole) {
    Share share;
    share.supernode = top.supernode;
    share.rank = exchange.rank;
    share.owns_diagonal = top.owns_diagonal;
    share.urgency = top.urgency;
    share.diagonal = top.diagonal;
    share.in_row = top.row_sum != -1;
    share.in_column = top.column_sum != -1;
    const auto reduction = [&](index_t number) -> const Reduction& {
      return exchange.reductions[number];
    };
    if (share.in_row)
      share.row_parent = reduction(top.row_sum).parent,
      share.row_message = reduction(top.row_sum).outgoing_rows;
    if (share.in_column)
      share.column_parent = reduction(top.column_sum).parent,
      share.column_message = reduction(top.column_sum).outgoing_rows;
    for (const Portion& portion : exchange.of(exchange.portions, top.column_portions)) {
      Product& product = share.below.emplace_back(product_of(portion));
      for (index_t k = portion.begin; k < portion.end; ++k)
        product.supernodes.push_back(exchange.own[top.below.begin + k].row_supernode);
    }
    for (const Portion& portion : exchange.of(exchange.portions, top.row_portions)) {
      Product& product = share.left.emplace_back(product_of(portion));
      for (index_t k = portion.begin; k < portion.end; ++k) {
        const index_t number = exchange.left_of(top)[k];
        const OwnContribution& own = exchange.own[number];
        if (exchange.own_is_whole[number] != 0)
          product.wholes.push_back(first_whole + own.column);
        else product.supernodes.push_back(owned.panel[own.column]);
      }
    }
    shares_.push_back(std::move(share));
  }

  Share& at(index_t supernode, index_t rank) {
    Share key;
    key.supernode = supernode;
    key.rank = rank;
    return *std::lower_bound(shares_.begin(), shares_.end(), key, before);
  }

  index_t add(SolvePart part, index_t rank, index_t number, const FactorWork& work = {}, double urgency = 0) {
    SolveTask task{work};
    task.part = part;
    task.rank = rank;
    task.number = number;
    task.urgency = urgency;
    result_.tasks.push_back(task);
    return result_.num_tasks() - 1;
  }
  void edge(index_t from, index_t to, offset_t rows = 0) { result_.edges.push_back({from, to, rows}); }

  /// The ranks' parts in one supernode, from the leaves of its tree to the root.
  template <class Parent, class Takes>
  std::vector<Share*> from_leaves(std::size_t first, std::size_t end, Parent&& parent, Takes&& takes) {
    std::vector<std::pair<index_t, Share*>> by_depth;
    for (std::size_t place = first; place < end; ++place) {
      if (!takes(shares_[place])) continue;
      index_t depth = 0;
      for (index_t up = parent(shares_[place]); up != -1; up = parent(at(shares_[place].supernode, up)))
        ++depth;
      by_depth.push_back({-depth, &shares_[place]});
    }
    std::stable_sort(by_depth.begin(), by_depth.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Share*> result;
    for (const auto& [depth, share] : by_depth) result.push_back(share);
    return result;
  }
  std::vector<Share*> row_tree(std::size_t first, std::size_t end) {
    return from_leaves(
        first, end, [](const Share& one) { return one.row_parent; },
        [](const Share& one) { return one.in_row; });
  }
  std::vector<Share*> column_tree(std::size_t first, std::size_t end) {
    return from_leaves(
        first, end, [](const Share& one) { return one.column_parent; },
        [](const Share& one) { return one.in_column; });
  }

  void number_forward() {
    for (Whole& whole : wholes_) {
      const index_t last = unit_begin(whole.unit + 1) - 1;
      whole.forward =
          add(SolvePart::whole_forward, whole.rank, last, whole.work, whole.urgency.forward);
    }
    for (std::size_t first = 0, end = 0; first < shares_.size(); first = end) {
      while (end < shares_.size() && shares_[end].supernode == shares_[first].supernode) ++end;
      const index_t s = shares_[first].supernode;
      for (Share* one : row_tree(first, end))
        one->row_sum = add(SolvePart::row_sum, one->rank, s, one->diagonal, one->urgency.forward);
      const std::vector<Share*> members = column_tree(first, end);
      for (auto next = members.rbegin(); next != members.rend(); ++next)
        (*next)->forward_value =
            (*next)->owns_diagonal ? (*next)->row_sum : add(SolvePart::forward_relay, (*next)->rank, s);
      for (Share* one : members)
        for (Product& product : one->below)
          product.task = add(SolvePart::column_product, one->rank, s, product.work, product.urgency);
    }
  }

  void number_backward() {
    for (std::size_t end = shares_.size(), first = end; end > 0; end = first) {
      while (first > 0 && shares_[first - 1].supernode == shares_[end - 1].supernode) --first;
      const index_t s = shares_[first].supernode;
      for (Share* one : column_tree(first, end))
        one->column_sum =
            add(SolvePart::column_sum, one->rank, s, one->diagonal, one->urgency.backward);
      const std::vector<Share*> members = row_tree(first, end);
      for (auto next = members.rbegin(); next != members.rend(); ++next)
        (*next)->backward_value =
            (*next)->owns_diagonal ? (*next)->column_sum : add(SolvePart::backward_relay, (*next)->rank, s);
      for (Share* one : members)
        for (Product& product : one->left)
          product.task = add(SolvePart::row_product, one->rank, s, product.work, product.urgency);
    }
    for (Whole& whole : wholes_) {
      const index_t last = unit_begin(whole.unit + 1) - 1;
      whole.backward =
          add(SolvePart::whole_backward, whole.rank, last, whole.work, whole.urgency.backward);
    }
  }

  static Product product_of(const Portion& portion) {
    Product product;
    product.work = portion.work;
    product.urgency = portion.urgency;
    return product;
  }
  index_t unit_begin(index_t unit) const {
    return placement_.units.group_begin[unit];
  }

  void add_edges(const Share& share) {
    const offset_t width = symbolic_.width(share.supernode);
    if (share.in_row && share.row_parent != -1) {
      const Share& above = at(share.supernode, share.row_parent);
      edge(share.row_sum, above.row_sum, share.row_message);
      edge(above.backward_value, share.backward_value, width);
    }
    if (share.in_column && share.column_parent != -1) {
      const Share& above = at(share.supernode, share.column_parent);
      edge(share.column_sum, above.column_sum, share.column_message);
      edge(above.forward_value, share.forward_value, width);
    }
    if (share.owns_diagonal) edge(share.row_sum, share.column_sum);
    for (const Product& product : share.below) {
      edge(share.forward_value, product.task);
      for (const index_t row : product.supernodes) edge(product.task, at(row, share.rank).row_sum);
    }
    for (const Product& product : share.left) {
      edge(share.backward_value, product.task);
      for (const index_t column : product.supernodes) edge(product.task, at(column, share.rank).column_sum);
      for (const index_t whole : product.wholes)
        edge(product.task, wholes_[whole].backward);
    }
  }

  const SymbolicFactor& symbolic_;
  const Placement& placement_;
  SolveGraph result_;
  std::vector<Share> shares_;
  std::vector<Whole> wholes_;
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
  Builder builder(symbolic, placement);
  const ExchangePlan structure(symbolic, placement, trees);
  for (index_t rank = 0; rank < placement.num_ranks(); ++rank) builder.add_rank(structure.exchange(rank));
  return builder.build();
}

}  // namespace palmette
