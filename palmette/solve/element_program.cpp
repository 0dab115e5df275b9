// Flattens exchanges: the tasks of each element, in one order for all.
#include "palmette/solve/element_program.hpp"

#include <algorithm>

#include "palmette/solve/element_drafts.hpp"
#include "palmette/solve/element_sums.hpp"

namespace palmette::solve_detail {
namespace {

using device::ElementTaskKind;

/// Behind all other tasks of a forward sweep, layers add up what they share: sums go up, level after level of
/// the layers, and come down again. Each meeting waits for the one before it.
class MeetingTasks {
 public:
  MeetingTasks(const SweepOfElement& sweep, ElementMessages& messages, TaskDrafts& drafts)
      : sweep_(sweep), messages_(messages), drafts_(drafts) {}

  /// Layers that meet at each level have met before. @param triangle_task  by top: gives what is added up
  void add(const std::vector<int>& triangle_task) {
    const ElementWorld& world = sweep_.world;
    if (world.levels != nullptr) return;
    const std::vector<LayerMeeting>& meetings = world.meetings[sweep_.rank];
    for (const LayerMeeting& one : meetings)
      meet(one, {one.receives_up, world.most_depth - one.depth}, triangle_task);
    for (std::size_t k = meetings.size(); k-- > 0;)
      meet(meetings[k], {!meetings[k].receives_up, world.most_depth + 1 + meetings[k].depth}, triangle_task);
  }

 private:
  struct Direction {
    bool receives;
    int level;
  };
  void meet(const LayerMeeting& one, Direction direction, const std::vector<int>& triangle_task) {
    HostProgram& program = sweep_.program();
    const RankGroups& structure = *sweep_.element.structure;
    device::ElementMeeting meeting{};
    meeting.list = static_cast<long long>(program.place.size());
    meeting.rows = static_cast<int>(one.rows);
    meeting.send = -1;
    std::vector<int> waits, signals;
    for (const index_t top : one.tops) {
      const index_t first = structure.sweep->column_begin(structure.group_of_top[top]);
      for (index_t k = 0; k < sweep_.width(top); ++k) program.place.push_back(first + k);
      if (before_ < 0) waits.push_back(triangle_task[top]);
    }
    if (before_ >= 0) waits.push_back(before_);
    if (direction.receives) {
      meeting.at = one.here.at;
      meeting.adds = one.receives_up ? 1 : 0;
      signals.push_back(one.here.signal);
    } else {
      meeting.at = sweep_.local_row(sweep_.store.new_outgoing(one.rows));
      meeting.send = messages_.send_to_layer(one, one.there, one.rows);
    }
    program.meeting.push_back(meeting);
    before_ = drafts_.add(ElementTaskKind::meet, static_cast<int>(program.meeting.size()) - 1,
                          {-infinity, direction.level, direction.receives ? 1 : 0, 0, 0}, std::move(waits),
                          std::move(signals));
  }

  const SweepOfElement& sweep_;
  ElementMessages& messages_;
  TaskDrafts& drafts_;
  int before_ = -1;  // the meeting before; −1: none
};

/// The tasks of the supernodes above the subtrees, and of the blocks below their diagonal blocks.
class TopTasks {
 public:
  /// @param panel_of  by contribution of blocks that are not whole: numbers in HostElement::blocks
  TopTasks(const SweepOfElement& sweep, const std::vector<int>& panel_of, ElementReductions& reductions,
           TaskDrafts& drafts)
      : sweep_(sweep),
        ex_(sweep.exchange()),
        forward_(sweep.forward),
        panel_of_(panel_of),
        reductions_(reductions),
        drafts_(drafts),
        producers_(ex_.tops.size()),
        value_(ex_.tops.size(), -1),
        triangle_(ex_.tops.size(), -1) {}

  void add_forward(index_t t) {
    const TopSupernode& top = ex_.tops[t];
    int found = -1;
    if (top.row_sum != -1) {
      const int task = reduce(t, top.row_sum, 0, -1);
      if (ex_.reductions[top.row_sum].parent == -1) found = task;
    }
    if (arrives(t)) found = arrive(t, 1);
    value_[t] = found;
    if (top.owns_diagonal && !sweep_.is_elsewhere(t))
      triangle_[t] = drafts_.add(ElementTaskKind::triangle, t, key_of_top(t, 3), {found});
    for (index_t p = top.column_portions.begin; p < top.column_portions.end; ++p) {
      const int begin = static_cast<int>(sweep_.program().block.size());
      std::vector<index_t> rows;
      for (index_t k = ex_.portions[p].begin; k < ex_.portions[p].end; ++k) {
        const index_t number = top.below.begin + k;
        add_block(number, t);
        rows.push_back(ex_.own[number].row_top);
      }
      add_blocks_task(t, 2, p, begin, rows);
    }
  }

  void add_backward(index_t t) {
    const TopSupernode& top = ex_.tops[t];
    int found = -1, before = -1;
    const bool is_elsewhere = sweep_.is_elsewhere(t);
    if (top.owns_diagonal && !is_elsewhere)
      before = drafts_.add(ElementTaskKind::triangle, t, key_of_top(t, 0), {});
    if (top.column_sum != -1 && !is_elsewhere) {
      const int task = reduce(t, top.column_sum, 1, before);
      if (ex_.reductions[top.column_sum].parent == -1) found = task;
    }
    if (arrives(t)) found = arrive(t, 2);
    value_[t] = found;
    for (index_t p = top.row_portions.begin; p < top.row_portions.end; ++p) {
      const int begin = static_cast<int>(sweep_.program().block.size());
      std::vector<index_t> columns;
      for (index_t k = ex_.portions[p].begin; k < ex_.portions[p].end; ++k) {
        const index_t number = ex_.left_of(top)[k];
        if (ex_.own_is_whole[number] != 0) continue;
        add_block(number, t);
        columns.push_back(ex_.own[number].column_top);
      }
      if (!columns.empty()) add_blocks_task(t, 3, p, begin, columns);
    }
  }

  /// A task adds to the sum of a supernode.
  void add_producer(index_t consumer, int task) {
    if (producers_[consumer].empty() || producers_[consumer].back() != task)
      producers_[consumer].push_back(task);
  }
  /// The task after which the value of a supernode is here.
  int value(index_t top) const { return value_[top]; }
  /// By top: its product with the diagonal block, or −1.
  const std::vector<int>& triangles() const { return triangle_; }

 private:
  OrderKey key_of_top(index_t top, int phase, int number = 0) const {
    const ElementWorld& world = sweep_.world;
    const TopSupernode& one = ex_.tops[top];
    OrderKey key{forward_ ? one.urgency.forward : one.urgency.backward, one.supernode, phase, number,
                 sweep_.level_of(one.supernode)};
    if (world.levels != nullptr && world.levels->is_replicated(one.supernode))
      key.urgency = 0, key.supernode = world.levels->supernode[one.supernode];  // one order of all layers
    if (!forward_) key.supernode = -key.supernode;
    return key;
  }

  /// @param before  a task that the root waits for too, or −1
  int reduce(index_t t, index_t number, int phase, int before) {
    std::vector<int> waits = producers_[t];
    if (before >= 0) waits.push_back(before);
    return drafts_.add(ElementTaskKind::reduce, reductions_.add(t, number), key_of_top(t, phase),
                       std::move(waits), reductions_.signals(t, number));
  }
  int arrive(index_t t, int phase) {
    return drafts_.add(ElementTaskKind::arrive, t, key_of_top(t, phase), {},
                       {sweep_.world.signal_of_value(sweep_.rank, t, forward_)});
  }
  bool arrives(index_t t) const { return sweep_.world.arrives[forward_ ? 0 : 1][sweep_.rank][t] != 0; }

  void add_block(index_t number, index_t t) {
    const SymbolicFactor& symbolic = sweep_.world.symbolic;
    HostProgram& program = sweep_.program();
    const OwnContribution& own = ex_.own[number];
    device::ElementBlock block{};
    block.panel = panel_of_[number];
    block.value = t;
    block.out = sweep_.local_row(
        sweep_.store.contribution(forward_ ? own.forward_at : own.backward_at, forward_));
    if (!forward_) {
      const BlockOfElement& of = sweep_.element.blocks[block.panel];
      const index_t first = symbolic.supernode_begin[own.row_supernode];
      block.in = static_cast<long long>(program.place.size());
      for (const index_t row : symbolic.rows_below(of.supernode).subspan(of.first, of.count))
        program.place.push_back(static_cast<int>(sweep_.store.value(ex_.tops[t], false) + row - first));
    }
    program.block.push_back(block);
  }
  void add_blocks_task(index_t t, int phase, int portion, int begin, const std::vector<index_t>& consumers) {
    const int task = drafts_.add(ElementTaskKind::blocks, 0, key_of_top(t, phase, portion), {value_[t]});
    drafts_.set_range(task, begin, static_cast<int>(sweep_.program().block.size()));
    for (const index_t consumer : consumers) add_producer(consumer, task);
  }

  const SweepOfElement& sweep_;
  const SolveExchange& ex_;
  bool forward_;
  const std::vector<int>& panel_of_;
  ElementReductions& reductions_;
  TaskDrafts& drafts_;
  std::vector<std::vector<int>> producers_;  // by top: tasks whose products its sum adds
  std::vector<int> value_, triangle_;        // by top
};

/// The tasks of whole subtrees, and of what they add to the supernodes above them.
class SubtreeTasks {
 public:
  SubtreeTasks(const SweepOfElement& sweep, const ElementRows& rows, TopTasks& tops, TaskDrafts& drafts)
      : sweep_(sweep), ex_(sweep.exchange()), rows_(rows), tops_(tops), drafts_(drafts) {}

  void add_forward(std::size_t w) {
    const WholeUnit& whole = ex_.wholes[w];
    const auto [begin, end] = supernodes_of(w);
    std::vector<std::vector<int>> waits(end - begin);
    std::vector<int> roots;
    for (index_t s = begin; s < end; ++s) {
      const OrderKey key{whole.urgency.forward, sweep_.element.supernode[s], 0, 0,
                         sweep_.level_of(whole.last_supernode)};
      const std::vector<int> tasks = add_tree_tasks(s, key, waits[s - begin]);
      const index_t parent = local().parent[s];
      std::vector<int>& next = parent >= 0 ? waits[parent - begin] : roots;
      next.insert(next.end(), tasks.begin(), tasks.end());
    }
    if (whole.contributions.size() == 0) return;
    const OrderKey key{whole.urgency.forward, sweep_.element.supernode[end - 1], 1, 0,
                       sweep_.level_of(whole.last_supernode)};
    const int task = drafts_.add(ElementTaskKind::add_up, 0, key, roots);
    const int first_sum = static_cast<int>(sweep_.program().sum.size());
    for (const OwnContribution& own : ex_.contributions_of(whole)) {
      add_boundary_sum(whole, own, begin, end);
      tops_.add_producer(own.row_top, task);
    }
    drafts_.set_range(task, first_sum, static_cast<int>(sweep_.program().sum.size()));
  }

  void add_backward(std::size_t w) {
    const WholeUnit& whole = ex_.wholes[w];
    const auto [begin, end] = supernodes_of(w);
    std::vector<int> above;
    for (const OwnContribution& own : ex_.contributions_of(whole)) above.push_back(tops_.value(own.row_top));
    std::vector<std::vector<int>> tasks(end - begin);
    for (index_t s = end; s-- > begin;) {
      const index_t parent = local().parent[s];
      const OrderKey key{whole.urgency.backward, -sweep_.element.supernode[s], 0, 0,
                         sweep_.level_of(whole.last_supernode)};
      tasks[s - begin] = add_tree_tasks(s, key, parent >= 0 ? tasks[parent - begin] : above);
    }
  }

 private:
  const SymbolicFactor& local() const { return sweep_.element.structure->sweep->symbolic(); }
  struct Range {
    index_t begin, end;
  };
  Range supernodes_of(std::size_t whole) const {
    const SweepGroups& sweep = *sweep_.element.structure->sweep;
    const index_t group = sweep_.element.structure->group_of_whole[whole];
    return {sweep.supernode_begin(group), sweep.supernode_end(group)};
  }

  /// All tasks of the tree that belong to a supernode. @returns their numbers
  std::vector<int> add_tree_tasks(index_t s, const OrderKey& key, const std::vector<int>& waits) {
    std::vector<int> tasks;
    for (index_t k = tree_tasks_.task_ptr[s]; k < tree_tasks_.task_ptr[s + 1]; ++k)
      tasks.push_back(drafts_.add(ElementTaskKind::tree, k,
                                  {key.urgency, key.supernode, key.phase, k, key.level}, waits));
    return tasks;
  }

  /// What the roots of a subtree subtract from the rows of one supernode above it, root after root.
  void add_boundary_sum(const WholeUnit& whole, const OwnContribution& own, index_t begin, index_t end) {
    HostProgram& program = sweep_.program();
    const auto boundary = ex_.boundary_of(whole).subspan(own.own, own.count);
    const int first = rows_.num_parts();
    for (index_t s = begin; s < end; ++s) {
      if (local().parent[s] >= 0) continue;
      const auto rows = sweep_.world.symbolic.rows_below(sweep_.element.supernode[s]);
      const auto from = std::lower_bound(rows.begin(), rows.end(), boundary.front());
      const auto to = std::upper_bound(rows.begin(), rows.end(), boundary.back());
      if (from == to) continue;
      const offset_t at = sweep_.store.updates() + local().row_ptr[s] + (from - rows.begin());
      program.part.push_back({sweep_.local_row(at), static_cast<long long>(program.place.size()), 0,
                              static_cast<int>(to - from)});
      for (auto row = from; row != to; ++row)
        program.place.push_back(
            static_cast<int>(std::lower_bound(boundary.begin(), boundary.end(), *row) - boundary.begin()));
    }
    const offset_t at = sweep_.store.contribution(own.forward_at, true);
    program.sum.push_back({sweep_.local_row(at), own.count, first, rows_.num_parts()});
  }

  const SweepOfElement& sweep_;
  const SolveExchange& ex_;
  const ElementRows& rows_;
  TopTasks& tops_;
  TaskDrafts& drafts_;
  BlockTasks tree_tasks_ = block_tasks(local());
};

/// Fills the program of one sweep. @returns what it sends
ElementTraffic write_program(const SweepOfElement& sweep, const std::vector<int>& panel_of) {
  const SolveExchange& exchange = sweep.exchange();
  ElementMessages messages(sweep);
  ElementRows rows(sweep);
  ElementReductions reductions(sweep, messages, rows);
  TaskDrafts drafts;
  TopTasks tops(sweep, panel_of, reductions, drafts);
  SubtreeTasks subtrees(sweep, rows, tops, drafts);
  const auto num_tops = static_cast<index_t>(exchange.tops.size());
  ElementValues(sweep, messages).write();
  if (sweep.forward) {
    for (std::size_t w = 0; w < exchange.wholes.size(); ++w) subtrees.add_forward(w);
    for (index_t t = 0; t < num_tops; ++t) tops.add_forward(t);
    MeetingTasks(sweep, messages, drafts).add(tops.triangles());
  } else {
    for (index_t t = num_tops; t-- > 0;) tops.add_backward(t);
    for (std::size_t w = 0; w < exchange.wholes.size(); ++w) subtrees.add_backward(w);
  }
  drafts.write(sweep.program());
  return messages.traffic();
}

void find_arrivals(ElementWorld& world) {
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (const SolveExchange& one : world.exchange) world.arrives[sweep].emplace_back(one.tops.size(), 0);
    for (const SolveExchange& one : world.exchange)
      for (const TopSupernode& top : one.tops)
        for (const index_t child : one.of(one.ranks, sweep == 0 ? top.column_children : top.row_children))
          world.arrives[sweep][child][world.exchange[child].top_of(top.supernode)] = 1;
  }
}

/// @returns by contribution: its number in `blocks`; −1 for those of whole subtrees
std::vector<int> list_blocks(const ElementWorld& world, const SolveExchange& exchange, HostElement& element) {
  std::vector<int> panel_of(exchange.own.size(), -1);
  for (std::size_t k = 0; k < exchange.own.size(); ++k) {
    if (exchange.own_is_whole[k] != 0) continue;
    const OwnContribution& own = exchange.own[k];
    panel_of[k] = static_cast<int>(element.blocks.size());
    const OwnBlock& where = element.owned->own[own.own];
    element.blocks.push_back({element.owned->panel[own.column], world.symbolic.blocks[where.block].first,
                              own.count, own.column, where.first_row});
  }
  return panel_of;
}

}  // namespace

ElementWorld make_element_world(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                                int entry_bytes, std::vector<HostElement>& elements) {
  ElementWorld world{symbolic, {}, {}, 0, {}, 0, {}, 0, nullptr};
  const ExchangePlan structure(symbolic, placement, trees);
  const index_t count = placement.num_ranks();
  world.exchange.reserve(count);
  world.meetings.resize(count);
  for (index_t rank = 0; rank < count; ++rank) {
    world.exchange.push_back(structure.exchange(rank));
    HostElement element;
    element.owned = std::make_unique<const OwnedBlocks>(owned_blocks(symbolic, placement, rank));
    element.structure = std::make_unique<const RankGroups>(symbolic, placement, *element.owned,
                                                           world.exchange.back(), entry_bytes);
    for (const index_t panel : element.structure->panel)
      element.supernode.push_back(element.owned->panel[panel]);
    element.row = element.structure->row;
    world.store.emplace_back(world.exchange.back(), *element.structure);
    world.shared_rows = std::max(world.shared_rows, world.store.back().shared());
    elements.push_back(std::move(element));
  }
  find_arrivals(world);
  return world;
}

void write_programs(ElementWorld& world, HostElements& all) {
  all.shared_rows = std::max(all.shared_rows, world.shared_rows);
  for (index_t rank = 0; rank < static_cast<index_t>(world.exchange.size()); ++rank) {
    HostElement& element = all.element[world.first_element + rank];
    const std::vector<int> panel_of = list_blocks(world, world.exchange[rank], element);
    for (const bool forward : {true, false}) {
      const SweepOfElement sweep{world, rank, element, world.store[rank], forward};
      const ElementTraffic traffic = write_program(sweep, panel_of);
      all.traffic.messages += traffic.messages;
      all.traffic.rows += traffic.rows;
      all.traffic.meeting_messages += traffic.meeting_messages;
      all.traffic.meeting_rows += traffic.meeting_rows;
    }
    element.local_rows = world.store[rank].local();
    element.update_at = world.store[rank].updates();
    element.num_signals = world.num_signals(rank);
    all.num_signals = std::max(all.num_signals, element.num_signals);
  }
}

HostElements element_programs(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                              int entry_bytes) {
  HostElements result;
  ElementWorld world = make_element_world(symbolic, placement, trees, entry_bytes, result.element);
  write_programs(world, result);
  return result;
}

}  // namespace palmette::solve_detail
