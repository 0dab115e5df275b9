// Which ranks take part in which row and column, and which rank adds up what.
#include "palmette/tasks/solve_exchange.hpp"

#include <algorithm>

#include "palmette/tasks/exchange_reductions.hpp"

namespace palmette {

struct ExchangePlan::State {
  State(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees)
      : known(symbolic, placement, trees), lists(rank_lists(known)), urgency(urgencies(known)) {}
  ExchangeStructure known;
  RankLists lists;
  std::vector<Urgency> urgency;  // by supernode
  class Builder;
};

/// Builds the plan of one rank.
class ExchangePlan::State::Builder {
 public:
  Builder(const State& all, index_t rank)
      : symbolic_(all.known.symbolic()),
        known_(all.known),
        urgency_(all.urgency),
        owned_(owned_blocks(symbolic_, all.known.placement(), rank)),
        segments_(all.lists.segments[rank]),
        wholes_(all.lists.wholes[rank]),
        tops_(all.lists.tops[rank]) {
    plan_.rank = rank;
    plan_.num_units = known_.num_units();
  }

  SolveExchange build() {
    list_own();
    for (const index_t s : tops_) add_top(s);
    link();
    for (TopSupernode& top : plan_.tops) {
      top.column_portions = add_portions(top.below.size(), top, true);
      top.row_portions = add_portions(top.left.size(), top, false);
    }
    return std::move(plan_);
  }

 private:
  void list_own() {
    std::size_t next_whole = 0;
    const auto add_wholes_up_to = [&](index_t unit) {
      for (; next_whole < wholes_.size() && wholes_[next_whole] <= unit; ++next_whole)
        add_whole(wholes_[next_whole]);
    };
    for (const index_t number : segments_) {
      const BoundarySegment& one = known_.segment(number);
      add_wholes_up_to(one.unit);
      add_own(one);
    }
    add_wholes_up_to(known_.num_units());
  }

  void add_whole(index_t unit) {
    const std::span<const index_t> rows = known_.boundary(unit);
    WholeUnit whole;
    whole.unit = unit;
    whole.last_supernode = known_.begin(unit + 1) - 1;
    whole.boundary.begin = static_cast<index_t>(plan_.boundary.size());
    plan_.boundary.insert(plan_.boundary.end(), rows.begin(), rows.end());
    whole.boundary.end = static_cast<index_t>(plan_.boundary.size());
    whole.contributions.begin = whole.contributions.end = static_cast<index_t>(plan_.own.size());
    whole.urgency = urgency_[whole.last_supernode];
    whole.work = sweep_work(symbolic_, known_.begin(unit), known_.begin(unit + 1));
    plan_.wholes.push_back(whole);
  }

  void add_own(const BoundarySegment& one) {
    const bool whole = known_.is_whole(one.unit);
    OwnContribution own;
    own.own = one.first;
    own.row_supernode = one.row_supernode;
    own.count = one.count;
    if (whole) {
      own.column = static_cast<index_t>(plan_.wholes.size()) - 1;
      ++plan_.wholes.back().contributions.end;
    } else {
      own.column = owned_.panel_number(known_.begin(one.unit));
      const std::span<const OwnBlock> blocks = owned_.blocks_of_panel(own.column);
      const auto found = std::lower_bound(blocks.begin(), blocks.end(), one.block,
                                          [](const OwnBlock& a, offset_t b) { return a.block < b; });
      own.own = owned_.own_ptr[own.column] + (found - blocks.begin());
      own.backward_at = plan_.backward_rows;
      plan_.backward_rows += symbolic_.width(known_.begin(one.unit));
    }
    own.forward_at = plan_.forward_rows;
    plan_.forward_rows += one.count;
    plan_.own.push_back(own);
    plan_.own_is_whole.push_back(whole ? 1 : 0);
  }

  /// The rank's own contributions have the same numbers as its segments.
  const OwnContribution& own_of_segment(index_t segment) const {
    return plan_.own[std::lower_bound(segments_.begin(), segments_.end(), segment) - segments_.begin()];
  }

  void add_top(index_t s) {
    TopSupernode top;
    top.supernode = s;
    top.urgency = urgency_[s];
    top.value_at = plan_.value_rows;
    plan_.value_rows += symbolic_.width(s);
    reductions_.add_row(top, [&](index_t segment) { return own_of_segment(segment).forward_at; });
    reductions_.add_column(top, [&](index_t segment) { return own_of_segment(segment).backward_at; });
    const double width = symbolic_.width(s);
    if (top.owns_diagonal) top.diagonal = {width * (width + 1) / 2, 1, 0, width};
    plan_.tops.push_back(top);
  }

  /// Links contributions to their row and column, and these to their contributions.
  void link() {
    std::vector<std::vector<index_t>> left(plan_.tops.size());
    for (std::size_t at = 0; at < plan_.own.size(); ++at) {
      OwnContribution& own = plan_.own[at];
      const auto number = static_cast<index_t>(at);
      own.row_top = plan_.top_of(own.row_supernode);
      left[own.row_top].push_back(number);
      if (plan_.own_is_whole[at] != 0) continue;
      own.column_top = plan_.top_of(owned_.panel[own.column]);
      ArrayPart& below = plan_.tops[own.column_top].below;
      if (below.size() == 0) below.begin = number;
      below.end = number + 1;
    }
    for (std::size_t top = 0; top < left.size(); ++top) {
      std::reverse(left[top].begin(), left[top].end());
      std::stable_sort(left[top].begin(), left[top].end(),
                       [&](index_t a, index_t b) { return urgency_of_column(a) > urgency_of_column(b); });
      ArrayPart& part = plan_.tops[top].left;
      part.begin = static_cast<index_t>(plan_.left.size());
      plan_.left.insert(plan_.left.end(), left[top].begin(), left[top].end());
      part.end = static_cast<index_t>(plan_.left.size());
    }
  }

  double entries_of(index_t at) const {
    if (plan_.own_is_whole[at] != 0) return 0;
    const OwnContribution& own = plan_.own[at];
    return double(own.count) * symbolic_.width(owned_.panel[own.column]);
  }

  /// Subtrees are last.
  double urgency_of_column(index_t at) const {
    const index_t column = plan_.own[at].column_top;
    return column == -1 ? -2 : plan_.tops[column].urgency.backward;
  }

  /// The first block alone, unless all blocks together are little work; then as many as fill a portion.
  ArrayPart add_portions(index_t count, const TopSupernode& top, bool forward) {
    const auto block = [&](index_t k) {
      return forward ? top.below.begin + k : plan_.left[top.left.begin + k];
    };
    const double usual = portion_entries();
    double all = 0;
    for (index_t k = 0; k < count; ++k) all += entries_of(block(k));
    ArrayPart part;
    part.begin = static_cast<index_t>(plan_.portions.size());
    for (index_t begin = 0; begin < count; begin = plan_.portions.back().end) {
      const OwnContribution& first = plan_.own[block(begin)];
      const index_t waits = forward ? first.row_top : first.column_top;
      const Urgency& urgency = begin == 0 || waits == -1 ? top.urgency : plan_.tops[waits].urgency;
      Portion portion;
      portion.begin = portion.end = begin;
      portion.urgency = forward ? urgency.forward : urgency.backward;
      const double enough = begin == 0 && all >= usual ? 1 : usual;
      while (portion.end < count && portion.work.entries < enough)
        add_block(block(portion.end++), portion.work);
      plan_.portions.push_back(portion);
    }
    part.end = static_cast<index_t>(plan_.portions.size());
    return part;
  }

  void add_block(index_t at, FactorWork& work) const {
    if (plan_.own_is_whole[at] != 0) return;
    work.entries += entries_of(at);
    work.rows += plan_.own[at].count;
    ++work.panels;
  }

  /// Some microseconds for one right-hand side; ranks with much work have longer portions, since each portion
  /// costs bookkeeping and interrupts the reading of memory.
  double portion_entries() const { return std::max(8192.0, static_cast<double>(owned_.entries()) / 256); }

  const SymbolicFactor& symbolic_;
  const ExchangeStructure& known_;
  const std::vector<Urgency>& urgency_;
  OwnedBlocks owned_;
  const std::vector<index_t>& segments_;
  const std::vector<index_t>& wholes_;
  const std::vector<index_t>& tops_;
  SolveExchange plan_;
  ReductionBuilder reductions_{known_, plan_};
};

FactorWork sweep_work(const SymbolicFactor& symbolic, index_t begin, index_t end) {
  FactorWork work;
  for (index_t s = begin; s < end; ++s) {
    const double width = symbolic.width(s), below = symbolic.num_rows_below(s);
    work.entries += width * (width + 1) / 2 + width * below;
    work.rows += below;
    work.columns += width;
  }
  work.panels = end - begin;
  return work;
}

offset_t SolveExchange::memory_bytes() const {
  const auto bytes_of = [](const auto&... arrays) {
    return (static_cast<offset_t>(arrays.size() * sizeof(arrays[0])) + ...);
  };
  return bytes_of(wholes, tops, own, own_is_whole, left, portions, reductions, incoming, sums, parts, ranks,
                  boundary, places);
}

SolveExchange solve_exchange(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                             index_t rank) {
  return ExchangePlan(symbolic, placement, trees).exchange(rank);
}

ExchangePlan::ExchangePlan(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees)
    : state_(std::make_unique<const State>(symbolic, placement, trees)) {}
ExchangePlan::~ExchangePlan() = default;

SolveExchange ExchangePlan::exchange(index_t rank) const {
  if (rank < 0 || rank >= state_->known.placement().num_ranks())
    throw UsageError("rank " + std::to_string(rank) + " does not exist: the placement has " +
                     std::to_string(state_->known.placement().num_ranks()) + " ranks, from 0");
  return State::Builder(*state_, rank).build();
}

Traffic predicted_solve_traffic(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                                offset_t row_bytes, const SolveReach* reach) {
  const ExchangeStructure known(symbolic, placement, trees);
  std::vector<TrafficEntry> entries;
  const auto send = [&](index_t source, index_t destination, offset_t rows) {
    if (rows > 0) entries.push_back({source, destination, 1, rows * row_bytes});
  };
  // Partial sums go up the tree; the supernode's own rows go down. `rows_of` is a part of a sum,
  // `asks_for` says whether its contributor needs the supernode's rows.
  const auto add = [&](index_t s, const SumTree& tree, const CommunicationTree& ranks, const SumFlow& flows,
                       auto&& rows_of, auto&& asks_for) {
    for (index_t position = 1; position < ranks.size(); ++position) {
      offset_t rows = 0;
      bool is_asked_for = false;
      for (const index_t node : flows.sums[position].outgoing) {
        rows += rows_of(tree.shape[node]);
        is_asked_for = is_asked_for || asks_for(tree.shape[node]);
      }
      const index_t rank = ranks.ranks[position], above = ranks.ranks[ranks.parent(position)];
      send(rank, above, rows);
      send(above, rank, is_asked_for ? symbolic.width(s) : 0);
    }
  };
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    if (!known.is_top(s)) continue;
    const CommunicationTree rows = known.row_tree(s), columns = known.column_tree(s);
    const auto segment_in_row = [&](index_t leaf) {
      return known.segment(known.in_row(s)[leaf]);
    };
    const SumTree row_sums = known.row_sums(s), column_sums = known.column_sums(s);
    const index_t first = known.first_segment(known.unit_of(s));
    add(
        s, row_sums, rows,
        sum_flow(row_sums, rows, [&](index_t leaf) { return known.owner(segment_in_row(leaf)); }),
        [&](index_t leaf) {
          const BoundarySegment& one = segment_in_row(leaf);
          return offset_t{reach == nullptr || reach->forward_group(one.unit) ? one.count : 0};
        },
        [&](index_t leaf) { return reach == nullptr || reach->backward_group(segment_in_row(leaf).unit); });
    add(
        s, column_sums, columns,
        sum_flow(column_sums, columns,
                 [&](index_t leaf) { return known.owner(known.segment(first + leaf)); }),
        [&](index_t) { return offset_t{reach == nullptr || reach->backward(s) ? symbolic.width(s) : 0}; },
        [&](index_t) { return reach == nullptr || reach->forward(s); });
  }
  return make_traffic(placement.num_ranks(), std::move(entries));
}

}  // namespace palmette
