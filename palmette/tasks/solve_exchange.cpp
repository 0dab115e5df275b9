// Which ranks take part in which row and column, and which rank adds up what.
#include "palmette/tasks/solve_exchange.hpp"

#include <algorithm>

#include "palmette/tasks/sum_tree.hpp"

namespace palmette {
namespace {

/// Rows of one unit in one supernode above it.
struct Segment {
  index_t unit;
  index_t row_supernode;
  index_t first;     // in the unit's boundary
  index_t count;
  offset_t block;    // number in symbolic.blocks; −1 if the unit is whole
};

/// What does not depend on a rank: boundaries of units, and who contributes to which row.
class Structure {
 public:
  Structure(const SymbolicFactor& symbolic, const Placement& placement, TreeShape shape)
      : symbolic_(symbolic),
        placement_(placement),
        shape_(shape),
        unit_of_(symbolic.num_supernodes()),
        in_row_(unit_of_.size()) {
    const TreePartition& units = placement.units;
    for (index_t unit = 0; unit < units.num_groups(); ++unit) {
      for (index_t s = begin(unit); s < begin(unit + 1); ++s) unit_of_[s] = unit;
      segment_ptr_.push_back(static_cast<offset_t>(segments_.size()));
      if (is_whole(unit)) add_whole(unit);
      else add_panel(unit);
    }
    segment_ptr_.push_back(static_cast<offset_t>(segments_.size()));
    for (std::size_t at = 0; at < segments_.size(); ++at)
      in_row_[segments_[at].row_supernode].push_back(static_cast<index_t>(at));
  }

  index_t begin(index_t unit) const { return placement_.units.group_begin[unit]; }
  index_t num_units() const { return placement_.units.num_groups(); }
  bool is_whole(index_t unit) const { return placement_.is_whole[unit] != 0; }
  bool is_top(index_t s) const { return !is_whole(unit_of_[s]); }
  const Segment& segment(index_t at) const { return segments_[at]; }
  std::span<const Segment> segments_of(index_t unit) const {
    const auto at = static_cast<std::size_t>(unit);
    return {segments_.data() + segment_ptr_[at],
            static_cast<std::size_t>(segment_ptr_[at + 1] - segment_ptr_[at])};
  }
  index_t unit_of(index_t s) const { return unit_of_[s]; }
  index_t first_segment(index_t unit) const {
    return static_cast<index_t>(segment_ptr_[unit]);
  }
  const std::vector<index_t>& in_row(index_t s) const { return in_row_[s]; }
  /// Rows below a unit, outside it.
  std::span<const index_t> boundary(index_t unit) const {
    if (!is_whole(unit)) return symbolic_.rows_below(begin(unit));
    const auto& range = whole_boundary_[unit];
    return {rows_.data() + range.first, static_cast<std::size_t>(range.second)};
  }
  std::span<const index_t> rows(const Segment& one) const {
    return boundary(one.unit).subspan(one.first,
                                      one.count);
  }
  index_t owner(const Segment& one) const { return placement_.owner(one.row_supernode, begin(one.unit)); }

  CommunicationTree row_tree(index_t s) const {
    std::vector<index_t> ranks;
    for (const index_t at : in_row(s)) ranks.push_back(owner(segment(at)));
    return communication_tree(shape_, placement_.owner(s, s), std::move(ranks));
  }
  CommunicationTree column_tree(index_t s) const {
    std::vector<index_t> ranks;
    for (const Segment& one : segments_of(unit_of_[s])) ranks.push_back(owner(one));
    return communication_tree(shape_, placement_.owner(s, s), std::move(ranks));
  }
  SumTree row_sums(index_t s) const {
    std::vector<index_t> parent;
    const std::vector<index_t>& who = in_row(s);  // by unit, ascending
    // −1 if the unit does not contribute.
    const auto position = [&](index_t unit) {
      const auto found = std::lower_bound(who.begin(), who.end(), unit,
                                          [&](index_t at, index_t u) { return segment(at).unit < u; });
      return found == who.end() || segment(*found).unit != unit ? -1
                                                                : static_cast<index_t>(found - who.begin());
    };
    // In a layer's structure, the unit above need not contribute: then the next contributing one is taken, or
    // none.
    for (const index_t at : who) {
      index_t above = placement_.units.parent[segment(at).unit], place = -1;
      while (above != -1 && above < unit_of_[s] && (place = position(above)) == -1)
        above = placement_.units.parent[above];
      parent.push_back(place);
    }
    return sum_along_forest(parent);
  }
  SumTree column_sums(index_t s) const {
    std::vector<index_t> row_blocks;
    for (const Segment& one : segments_of(unit_of_[s]))
      row_blocks.push_back(placement_.number_of(one.row_supernode));
    return sum_by_classes(row_blocks);
  }

 private:
  void add_panel(index_t unit) {
    whole_boundary_.push_back({0, 0});
    const index_t s = begin(unit);
    offset_t number = symbolic_.block_ptr[s];
    for (const Block& block : symbolic_.blocks_of(s))
      segments_.push_back({unit, block.row_supernode, block.first, block.count, number++});
  }
  void add_whole(index_t unit) {
    std::vector<index_t> all;
    for (index_t s = begin(unit); s < begin(unit + 1); ++s)
      if (symbolic_.parent[s] == -1 || symbolic_.parent[s] >= begin(unit + 1))
        all.insert(all.end(), symbolic_.rows_below(s).begin(), symbolic_.rows_below(s).end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    whole_boundary_.push_back({static_cast<offset_t>(rows_.size()), static_cast<offset_t>(all.size())});
    rows_.insert(rows_.end(), all.begin(), all.end());
    for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
      const index_t row = symbolic_.supernode_of[all[first]];
      while (end < all.size() && symbolic_.supernode_of[all[end]] == row) ++end;
      segments_.push_back({unit, row, static_cast<index_t>(first), static_cast<index_t>(end - first), -1});
    }
  }

  const SymbolicFactor& symbolic_;
  const Placement& placement_;
  TreeShape shape_;
  std::vector<index_t> unit_of_;
  std::vector<Segment> segments_;
  std::vector<offset_t> segment_ptr_;
  std::vector<std::vector<index_t>> in_row_;
  std::vector<std::pair<offset_t, offset_t>> whole_boundary_;
  std::vector<index_t> rows_;
};

/// What each position of a tree holds and sends, from the leaves up.
struct Flow {
  std::vector<std::vector<index_t>> own;       // by position: leaves, ascending
  std::vector<PartialSums> sums;
};

template <class OwnerOf>
Flow flow(const SumTree& tree, const CommunicationTree& ranks, OwnerOf&& owner_of) {
  Flow result;
  result.own.resize(ranks.size());
  result.sums.resize(result.own.size());
  for (index_t node = 0; node < tree.size(); ++node)
    if (const index_t leaf = tree.contributor[node]; leaf != -1)
      result.own[ranks.position_of(owner_of(leaf))].push_back(node);
  for (index_t position = ranks.size() - 1; position >= 0; --position) {
    std::vector<index_t> have = result.own[position];
    for (index_t child = ranks.first_child(position); child < ranks.end_child(position); ++child) {
      const auto& come = result.sums[child].outgoing;
      have.insert(have.end(), come.begin(), come.end());
    }
    result.sums[position] = partial_sums(tree, have);
  }
  return result;
}

/// The units and supernodes in which each rank takes part, ascending.
struct RankLists {
  std::vector<std::vector<index_t>> segments;  // by rank
  std::vector<std::vector<index_t>> wholes;    // by rank: units
  std::vector<std::vector<index_t>> tops;      // by rank: supernodes
};

RankLists rank_lists(const SymbolicFactor& symbolic, const Placement& placement, const Structure& known) {
  const auto ranks = static_cast<std::size_t>(placement.num_ranks());
  RankLists lists{std::vector<std::vector<index_t>>(ranks), std::vector<std::vector<index_t>>(ranks),
                  std::vector<std::vector<index_t>>(ranks)};
  for (index_t unit = 0; unit < known.num_units(); ++unit) {
    if (known.is_whole(unit))
      lists.wholes[placement.owner(known.begin(unit), known.begin(unit))].push_back(
          unit);
    index_t at = known.first_segment(unit);
    for (const Segment& one : known.segments_of(unit))
      lists.segments[known.owner(one)].push_back(at++);
  }
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    if (!known.is_top(s)) continue;
    for (const CommunicationTree& tree : {known.row_tree(s), known.column_tree(s)})
      for (const index_t rank : tree.ranks) {
        std::vector<index_t>& mine = lists.tops[rank];
        if (mine.empty() || mine.back() != s) mine.push_back(s);
      }
  }
  return lists;
}

std::vector<Urgency> urgencies(const SymbolicFactor& symbolic, const Structure& known) {
  const std::vector<double> entries = sweep_entries(symbolic);
  const auto supernodes = static_cast<std::size_t>(symbolic.num_supernodes());
  std::vector<double> down(supernodes);  // on the longest path; a whole subtree is swept as one
  for (index_t unit = 0; unit < known.num_units(); ++unit) {
    const auto begin = static_cast<std::size_t>(known.begin(unit)),
               end = static_cast<std::size_t>(known.begin(unit + 1));
    for (std::size_t s = begin; s < end; ++s) down[end - 1] += entries[s];
    const index_t parent = symbolic.parent[static_cast<index_t>(end) - 1];
    if (parent != -1)
      down[parent] =
          std::max(down[parent], down[end - 1]);
  }
  std::vector<Urgency> result(supernodes);
  for (std::size_t s = supernodes; s-- > 0;) {
    const index_t parent = symbolic.parent[static_cast<index_t>(s)];
    result[s] = {entries[s] + (parent == -1 ? 0 : result[parent].forward),
                 -1 / (1 + down[s])};
  }
  return result;
}

}  // namespace

struct SolveStructure::State {
  State(const SymbolicFactor& of, const Placement& on, TreeShape trees)
      : symbolic(of),
        placement(on),
        known(of, on, trees),
        lists(rank_lists(of, on, known)),
        urgency(urgencies(of, known)) {}
  const SymbolicFactor& symbolic;
  const Placement& placement;
  Structure known;
  RankLists lists;
  std::vector<Urgency> urgency;  // by supernode
  class Builder;
};

/// Builds the plan of one rank.
class SolveStructure::State::Builder {
 public:
  Builder(const State& all, index_t rank)
      : symbolic_(all.symbolic),
        placement_(all.placement),
        known_(all.known),
        urgency_(all.urgency),
        owned_(owned_blocks(all.symbolic, all.placement, rank)),
        segments_(all.lists.segments[rank]),
        wholes_(all.lists.wholes[rank]),
        tops_(all.lists.tops[rank]) {
    plan_.rank = rank;
    plan_.num_units = known_.num_units();
  }

  SolveExchange build() {
    list_own();
    for (const index_t s : tops_) add_top(s);
    for (std::size_t at = 0; at < plan_.own.size(); ++at) link(static_cast<index_t>(at));
    for (TopSupernode& top : plan_.tops) {
      std::reverse(top.in_row.begin(), top.in_row.end());
      std::stable_sort(top.in_row.begin(), top.in_row.end(),
                       [&](index_t a, index_t b) { return urgency_of_column(a) > urgency_of_column(b); });
      top.column_portions = portions_of(top.in_column, top, true);
      top.row_portions = portions_of(top.in_row, top, false);
    }
    return std::move(plan_);
  }

 private:
  void list_own() {
    std::size_t next_whole = 0;
    const auto add_wholes_up_to = [&](index_t unit) {
      for (; next_whole < wholes_.size() && wholes_[next_whole] <= unit; ++next_whole) {
        const index_t whole = wholes_[next_whole];
        const std::span<const index_t> boundary = known_.boundary(whole);
        plan_.wholes.push_back({whole,
                                {boundary.begin(), boundary.end()},
                                {},
                                urgency_[static_cast<std::size_t>(known_.begin(whole + 1)) - 1]});
      }
    };
    for (const index_t number : segments_) {
      const Segment& one = known_.segment(number);
      add_wholes_up_to(one.unit);
      add_own(one);
    }
    add_wholes_up_to(known_.num_units());
  }

  void add_own(const Segment& one) {
    const bool whole = known_.is_whole(one.unit);
    OwnContribution own;
    own.own = one.first;
    own.row_supernode = one.row_supernode;
    own.count = one.count;
    if (whole) {
      own.column = static_cast<index_t>(plan_.wholes.size()) - 1;
      plan_.wholes.back().contributions.push_back(static_cast<index_t>(plan_.own.size()));
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
    return plan_.own[std::lower_bound(segments_.begin(), segments_.end(), segment) -
                                              segments_.begin()];
  }

  void add_top(index_t s) {
    const CommunicationTree rows = known_.row_tree(s), columns = known_.column_tree(s);
    const index_t in_rows = rows.position_of(plan_.rank), in_columns = columns.position_of(plan_.rank);
    TopSupernode top;
    top.supernode = s;
    top.urgency = urgency_[s];
    top.owns_diagonal = rows.ranks[0] == plan_.rank;
    top.value_at = plan_.value_rows;
    plan_.value_rows += symbolic_.width(s);
    if (in_rows != -1) {
      const std::vector<index_t>& who = known_.in_row(s);
      const SumTree tree = known_.row_sums(s);
      const Flow flows = flow(tree, rows, [&](index_t leaf) {
        return known_.owner(known_.segment(who[leaf]));
      });
      const auto rows_of = [&](index_t leaf) {
        return known_.rows(known_.segment(who[leaf]));
      };
      const auto stored_at = [&](index_t leaf) {
        return own_of_segment(who[leaf]).forward_at;
      };
      top.row_sum = add_reduction({s, tree, rows, flows, in_rows}, plan_.forward_rows, stored_at, rows_of);
      for (index_t child = rows.first_child(in_rows); child < rows.end_child(in_rows); ++child)
        top.row_children.push_back(rows.ranks[child]);
    }
    if (in_columns != -1) {
      const index_t unit = known_.unit_of(s);
      const SumTree tree = known_.column_sums(s);
      const index_t first = known_.first_segment(unit);
      const Flow flows =
          flow(tree, columns, [&](index_t leaf) { return known_.owner(known_.segment(first + leaf)); });
      own_columns_.resize(symbolic_.width(s));
      for (std::size_t k = 0; k < own_columns_.size(); ++k)
        own_columns_[k] = symbolic_.supernode_begin[s] + static_cast<index_t>(k);
      const auto rows_of = [&](index_t) { return std::span<const index_t>(own_columns_); };
      const auto stored_at = [&](index_t leaf) { return own_of_segment(first + leaf).backward_at; };
      top.column_sum =
          add_reduction({s, tree, columns, flows, in_columns}, plan_.backward_rows, stored_at, rows_of);
      for (index_t child = columns.first_child(in_columns); child < columns.end_child(in_columns); ++child)
        top.column_children.push_back(columns.ranks[child]);
    }
    plan_.tops.push_back(std::move(top));
  }

  struct Shared {
    index_t supernode;
    const SumTree& tree;
    const CommunicationTree& ranks;
    const Flow& flows;
    index_t position;
  };

  template <class StoredAt, class RowsOf>
  index_t add_reduction(const Shared& shared, offset_t& store, StoredAt&& stored_at, RowsOf&& rows_of) {
    const SumTree& tree = shared.tree;
    Reduction result;
    result.supernode = shared.supernode;
    const index_t above = shared.ranks.parent(shared.position);
    result.parent = above == -1 ? -1 : shared.ranks.ranks[above];
    std::vector<offset_t> at(tree.size(), -1);
    const auto shape_rows = [&](index_t node) { return rows_of(tree.shape[node]); };
    for (const index_t leaf : shared.flows.own[shared.position])
      at[leaf] = stored_at(tree.contributor[leaf]);
    result.num_waits =
        static_cast<index_t>(shared.flows.own[shared.position].size());
    for (index_t child = shared.ranks.first_child(shared.position);
         child < shared.ranks.end_child(shared.position); ++child) {
      Reduction::Incoming come{shared.ranks.ranks[child], store, 0};
      for (const index_t node : shared.flows.sums[child].outgoing) {
        at[node] = store;
        store += static_cast<offset_t>(shape_rows(node).size());
      }
      come.rows = static_cast<index_t>(store - come.at);
      result.incoming.push_back(come);
      ++result.num_waits;
    }
    const PartialSums& mine = shared.flows.sums[shared.position];
    for (const index_t node : mine.made) {
      MadeSum sum{store, static_cast<index_t>(shape_rows(node).size()), {}};
      for (index_t child = tree.child_ptr[node];
           child < tree.child_ptr[static_cast<std::size_t>(node) + 1]; ++child) {
        const index_t part = tree.child[child];
        sum.parts.push_back(
            {at[static_cast<std::size_t>(part)], places_of(shape_rows(part), shape_rows(node))});
      }
      at[node] = store;
      store += sum.rows;
      result.sums.push_back(std::move(sum));
    }
    std::vector<index_t> own_rows(symbolic_.width(shared.supernode));
    for (std::size_t k = 0; k < own_rows.size(); ++k)
      own_rows[k] = symbolic_.supernode_begin[shared.supernode] + static_cast<index_t>(k);
    for (const index_t node : mine.outgoing) {
      result.result.push_back({at[node], places_of(shape_rows(node), own_rows)});
      result.outgoing_rows += result.result.back().rows.count;
    }
    plan_.reductions.push_back(std::move(result));
    return static_cast<index_t>(plan_.reductions.size()) - 1;
  }

  /// The positions of the rows of one list in another list that contains them all.
  PartRows places_of(std::span<const index_t> rows, std::span<const index_t> among) {
    PartRows result{-1, 0, static_cast<index_t>(rows.size())};
    if (rows.empty()) return result;
    const auto place = [&](index_t row) {
      return static_cast<index_t>(std::lower_bound(among.begin(), among.end(), row) - among.begin());
    };
    result.start = place(rows.front());
    if (place(rows.back()) - result.start + 1 == result.count) return result;
    result.list = static_cast<offset_t>(plan_.places.size());
    for (const index_t row : rows) plan_.places.push_back(place(row));
    return result;
  }

  void link(index_t at) {
    OwnContribution& own = plan_.own[at];
    own.row_top = plan_.top_of(own.row_supernode);
    plan_.tops[own.row_top].in_row.push_back(at);
    if (plan_.own_is_whole[at] != 0) return;
    own.column_top = plan_.top_of(owned_.panel[own.column]);
    plan_.tops[own.column_top].in_column.push_back(at);
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
  std::vector<Portion> portions_of(const std::vector<index_t>& blocks, const TopSupernode& top,
                                   bool forward) const {
    const double usual = portion_entries();
    double all = 0;
    for (const index_t at : blocks) all += entries_of(at);
    std::vector<Portion> result;
    const auto count = static_cast<index_t>(blocks.size());
    for (index_t begin = 0; begin < count; begin = result.back().end) {
      const OwnContribution& first =
          plan_.own[blocks[begin]];
      const index_t waits = forward ? first.row_top : first.column_top;
      Portion portion;
      portion.begin = portion.end = begin;
      const Urgency& urgency =
          begin == 0 || waits == -1 ? top.urgency : plan_.tops[waits].urgency;
      portion.urgency = forward ? urgency.forward : urgency.backward;
      const double enough = begin == 0 && all >= usual ? 1 : usual;
      while (portion.end < count && portion.entries < enough) {
        const index_t at = blocks[portion.end++];
        if (plan_.own_is_whole[at] != 0) continue;
        portion.entries += entries_of(at);
        portion.rows += plan_.own[at].count;
        ++portion.blocks;
      }
      result.push_back(portion);
    }
    return result;
  }

  /// Some microseconds for one right-hand side; ranks with much work have longer portions, since each portion
  /// costs bookkeeping and interrupts the reading of memory.
  double portion_entries() const { return std::max(8192.0, static_cast<double>(owned_.entries()) / 256); }

  const SymbolicFactor& symbolic_;
  const Placement& placement_;
  const Structure& known_;
  const std::vector<Urgency>& urgency_;
  OwnedBlocks owned_;
  const std::vector<index_t>& segments_;
  const std::vector<index_t>& wholes_;
  const std::vector<index_t>& tops_;
  SolveExchange plan_;
  std::vector<index_t> own_columns_;
};

namespace {

template <class Entry>
offset_t bytes_of(const std::vector<Entry>& entries) {
  return static_cast<offset_t>(entries.size() * sizeof(Entry));
}

}  // namespace

offset_t SolveExchange::memory_bytes() const {
  offset_t bytes =
      bytes_of(tops) + bytes_of(own) + bytes_of(own_is_whole) + bytes_of(reductions) + bytes_of(places);
  for (const WholeUnit& one : wholes) bytes += bytes_of(one.boundary) + bytes_of(one.contributions);
  for (const TopSupernode& one : tops)
    bytes += bytes_of(one.row_children) + bytes_of(one.column_children) + bytes_of(one.in_column) +
             bytes_of(one.in_row) + bytes_of(one.column_portions) + bytes_of(one.row_portions);
  for (const Reduction& one : reductions) {
    bytes += bytes_of(one.incoming) + bytes_of(one.sums) + bytes_of(one.result);
    for (const MadeSum& sum : one.sums) bytes += bytes_of(sum.parts);
  }
  return bytes;
}

SolveExchange solve_exchange(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                             index_t rank) {
  return SolveStructure(symbolic, placement, trees).exchange(rank);
}

SolveStructure::SolveStructure(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees)
    : state_(std::make_unique<const State>(symbolic, placement, trees)) {}
SolveStructure::~SolveStructure() = default;

SolveExchange SolveStructure::exchange(index_t rank) const {
  if (rank < 0 || rank >= state_->placement.num_ranks())
    throw UsageError("rank " + std::to_string(rank) + " does not exist: the placement has " +
                     std::to_string(state_->placement.num_ranks()) + " ranks, from 0");
  return State::Builder(*state_, rank).build();
}

Traffic predicted_solve_traffic(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                                offset_t row_bytes) {
  const Structure known(symbolic, placement, trees);
  std::vector<TrafficEntry> entries;
  // Partial sums go up the tree; the supernode's own rows go down.
  const auto add = [&](index_t s, const SumTree& tree, const CommunicationTree& ranks, const Flow& flows,
                       auto&& rows_of) {
    for (index_t position = 1; position < ranks.size(); ++position) {
      offset_t rows = 0;
      for (const index_t node : flows.sums[position].outgoing)
        rows += rows_of(tree.shape[node]);
      const index_t rank = ranks.ranks[position],
                    above = ranks.ranks[ranks.parent(position)];
      entries.push_back({rank, above, 1, rows * row_bytes});
      entries.push_back({above, rank, 1, symbolic.width(s) * row_bytes});
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
    add(s, row_sums, rows,
        flow(row_sums, rows, [&](index_t leaf) { return known.owner(segment_in_row(leaf)); }),
        [&](index_t leaf) { return offset_t{segment_in_row(leaf).count}; });
    add(s, column_sums, columns,
        flow(column_sums, columns, [&](index_t leaf) { return known.owner(known.segment(first + leaf)); }),
        [&](index_t) { return offset_t{symbolic.width(s)}; });
  }
  return make_traffic(placement.num_ranks(), std::move(entries));
}

}  // namespace palmette
