// Flattens exchanges: tasks in one order for all elements, rows of the store, and where messages go.
#include "palmette/solve/element_layers.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace palmette::solve_detail {
namespace {

using device::ElementTaskKind;

/// Tasks are taken in ascending order of this: every task waits only for smaller ones, of any element.
struct OrderKey {
  double urgency = 0;  ///< descending
  index_t supernode = 0;
  int phase = 0;
  int number = 0;
  int level = 0;  ///< comes first
  bool operator<(const OrderKey& other) const {
    return std::tuple(level, -urgency, supernode, phase, number) <
           std::tuple(other.level, -other.urgency, other.supernode, other.phase, other.number);
  }
};

/// One sweep of one element.
class ProgramBuilder {
 public:
  ProgramBuilder(const ElementWorld& world, index_t rank, HostElement& element, StoreRows& store,
                 bool forward)
      : world_(world),
        ex_(world.exchange[rank]),
        rank_(rank),
        element_(element),
        store_(store),
        forward_(forward),
        program_(forward ? element.forward : element.backward),
        producers_(ex_.tops.size()),
        value_task_(ex_.tops.size(), -1),
        triangle_task_(ex_.tops.size(), -1) {}

  void run() {
    map_incoming();
    values();
    if (forward_) {
      for (std::size_t w = 0; w < ex_.wholes.size(); ++w) subtree_forward(w);
      for (std::size_t t = 0; t < ex_.tops.size(); ++t) top_forward(static_cast<index_t>(t));
      meet_layers();
    } else {
      for (std::size_t t = ex_.tops.size(); t-- > 0;) top_backward(static_cast<index_t>(t));
      for (std::size_t w = 0; w < ex_.wholes.size(); ++w) subtree_backward(w);
    }
    write_tasks();
    write_orders();
  }

  ElementTraffic traffic() const { return traffic_; }

 private:
  struct Draft {
    device::ElementTask task;
    OrderKey key;
    std::vector<int> waits, signals;
  };

  const SymbolicFactor& local() const { return element_.structure->sweep->symbolic(); }
  index_t width(index_t top) const { return world_.symbolic.width(ex_.tops[top].supernode); }
  const Urgency& urgency(index_t top) const { return ex_.tops[top].urgency; }

  int add_task(ElementTaskKind kind, int number, const OrderKey& key, std::vector<int> waits,
               std::vector<int> signals = {}) {
    drafts_.push_back({{kind, number, 0, 0, 0, 0, 0, 0}, key, std::move(waits), std::move(signals)});
    return static_cast<int>(drafts_.size()) - 1;
  }
  OrderKey key_of_top(index_t top, int phase, int number = 0) const {
    const TopSupernode& one = ex_.tops[top];
    OrderKey key{forward_ ? one.urgency.forward : one.urgency.backward, one.supernode, phase, number,
                 level_of(one.supernode)};
    if (world_.levels != nullptr && world_.levels->is_replicated(one.supernode))
      key.urgency = 0, key.supernode = world_.levels->supernode[one.supernode];  // one order of all layers
    if (!forward_) key.supernode = -key.supernode;
    return key;
  }
  /// Layers that meet at each level sweep level after level of the cut.
  int level_of(index_t supernode) const {
    if (world_.levels == nullptr) return 0;
    return forward_ ? -world_.level_of(supernode) : world_.level_of(supernode);
  }

  offset_t local_row(offset_t at) const { return world_.shared_rows + at; }

  // ---- rows of the store ----

  /// What comes from others lies in shared memory, not where the exchange says.
  void map_incoming() {
    for (const TopSupernode& top : ex_.tops) {
      const index_t number = forward_ ? top.row_sum : top.column_sum;
      if (number == -1) continue;
      const ArrayPart incoming = ex_.reductions[number].incoming;
      for (index_t k = incoming.begin; k < incoming.end; ++k)
        if (ex_.incoming[k].rows > 0) incoming_.push_back({ex_.incoming[k].at, k});
    }
    std::sort(incoming_.begin(), incoming_.end());
  }
  offset_t row_of(offset_t at) const {
    auto after = std::upper_bound(incoming_.begin(), incoming_.end(), std::pair(at, INT32_MAX));
    if (after != incoming_.begin()) {
      const auto& [begin, number] = *std::prev(after);
      if (at < begin + ex_.incoming[number].rows) return store_.incoming(number) + at - begin;
    }
    return local_row(store_.contribution(at, forward_));
  }

  device::ElementPart part_of(const StoredPart& part) {
    device::ElementPart one{row_of(part.at), -1, part.rows.start, part.rows.count};
    if (part.rows.list != -1) {
      one.list = static_cast<long long>(program_.place.size());
      const index_t* const places = ex_.places.data() + part.rows.list;
      program_.place.insert(program_.place.end(), places, places + part.rows.count);
    }
    return one;
  }
  int num_parts() const { return static_cast<int>(program_.part.size()); }

  // ---- values and reductions ----

  void values() {
    for (std::size_t t = 0; t < ex_.tops.size(); ++t) {
      const TopSupernode& top = ex_.tops[t];
      device::ElementValue value{};
      value.supernode = -1;
      if (top.owns_diagonal)
        value.supernode = element_.structure->sweep->supernode_begin(element_.structure->group_of_top[t]);
      value.width = width(static_cast<index_t>(t));
      value.at = store_.value(top, forward_);
      value.send_begin = static_cast<int>(program_.send.size());
      for (const index_t child : ex_.of(ex_.ranks, forward_ ? top.column_children : top.row_children)) {
        const SolveExchange& other = world_.exchange[child];
        const index_t number = other.top_of(top.supernode);
        send(child, world_.signal_of_value(child, number, forward_),
             world_.store[child].value(other.tops[number], forward_), value.width);
      }
      for (const TopMeeting& one : world_.meetings_of_top(rank_, static_cast<index_t>(t)))
        if (!forward_ && one.meeting->receives_up) send_to_layer(*one.meeting, one.value_there, value.width);
      value.send_end = static_cast<int>(program_.send.size());
      value.copy_begin = static_cast<int>(program_.copy.size());
      if (!forward_) copies_for_subtrees(static_cast<index_t>(t));
      value.copy_end = static_cast<int>(program_.copy.size());
      program_.value.push_back(value);
    }
  }

  void send(index_t to, int signal, offset_t at, offset_t rows) {
    program_.send.push_back({static_cast<int>(world_.first_element + to), signal, at});
    ++traffic_.messages;
    traffic_.rows += rows;
  }

  /// Rows of x that the subtrees of this element read behind their own columns.
  void copies_for_subtrees(index_t t) {
    const index_t first = world_.symbolic.supernode_begin[ex_.tops[t].supernode];
    std::vector<std::pair<int, int>> copies;
    for (const index_t number : ex_.left_of(ex_.tops[t])) {
      if (ex_.own_is_whole[number] == 0) continue;
      const OwnContribution& own = ex_.own[number];
      const WholeUnit& whole = ex_.wholes[own.column];
      for (index_t k = 0; k < own.count; ++k) {
        const index_t row = ex_.boundary_of(whole)[own.own + k];
        copies.emplace_back(row - first, outside_row(row));
      }
    }
    std::sort(copies.begin(), copies.end());
    copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
    for (const auto& [from, to] : copies) program_.copy.push_back({from, to});
  }
  int outside_row(index_t row) {
    if (outside_.empty()) {
      outside_ = ex_.boundary;
      std::sort(outside_.begin(), outside_.end());
      outside_.erase(std::unique(outside_.begin(), outside_.end()), outside_.end());
    }
    const auto found = std::lower_bound(outside_.begin(), outside_.end(), row);
    return static_cast<int>(element_.structure->row.size() + (found - outside_.begin()));
  }

  int add_reduction(index_t t, index_t number) {
    const Reduction& reduction = ex_.reductions[number];
    device::ElementReduction one{};
    one.value = t;
    one.send = -1;
    one.sum_begin = static_cast<int>(program_.sum.size());
    for (const MadeSum& sum : ex_.of(ex_.sums, reduction.sums)) {
      const int begin = num_parts();
      for (const StoredPart& part : ex_.of(ex_.parts, sum.parts)) program_.part.push_back(part_of(part));
      program_.sum.push_back({row_of(sum.at), sum.rows, begin, num_parts()});
    }
    one.sum_end = static_cast<int>(program_.sum.size());
    one.part_begin = num_parts();
    for (const StoredPart& part : ex_.of(ex_.parts, reduction.result)) program_.part.push_back(part_of(part));
    if (forward_ && reduction.parent == -1) add_sums_of_layers(t);
    one.part_end = num_parts();
    if (reduction.parent != -1) send_sum(reduction, one);
    else if (forward_ && world_.is_elsewhere(rank_, t)) send_whole_sum(t, one);
    program_.reduction.push_back(one);
    return static_cast<int>(program_.reduction.size()) - 1;
  }

  void send_sum(const Reduction& reduction, device::ElementReduction& one) {
    const SolveExchange& parent = world_.exchange[reduction.parent];
    const TopSupernode& top = parent.tops[parent.top_of(reduction.supernode)];
    const ArrayPart incoming = parent.reductions[forward_ ? top.row_sum : top.column_sum].incoming;
    index_t k = incoming.begin;
    while (parent.incoming[k].rank != rank_) ++k;
    one.send = static_cast<int>(program_.send.size());
    one.rows = static_cast<int>(reduction.outgoing_rows);
    one.outgoing = local_row(store_.new_outgoing(reduction.outgoing_rows));
    send(reduction.parent, world_.signal_of_incoming(reduction.parent, k),
         world_.store[reduction.parent].incoming(k), reduction.outgoing_rows);
  }

  /// What other layers add to a supernode, behind what this one adds.
  void add_sums_of_layers(index_t t) {
    for (const TopMeeting& one : world_.meetings_of_top(rank_, t))
      if (one.meeting->receives_up)
        program_.part.push_back({one.here.at, -1, 0, static_cast<int>(width(t))});
  }
  /// The parts of a root, added up, to the layer that sweeps the supernode, or on the way there.
  void send_whole_sum(index_t t, device::ElementReduction& one) {
    one.rows = static_cast<int>(width(t));
    one.outgoing = local_row(store_.new_outgoing(one.rows));
    program_.sum.push_back({one.outgoing, one.rows, one.part_begin, one.part_end});
    one.sum_end = static_cast<int>(program_.sum.size());
    one.part_begin = one.part_end;  // the message is there already
    one.send = static_cast<int>(program_.send.size());
    const TopMeeting up = world_.meetings_of_top(rank_, t).back();
    send_to_layer(*up.meeting, up.there, one.rows);
  }

  /// @param before  a task that the root waits for too, or −1
  int reduce(index_t t, index_t number, int phase, int before) {
    std::vector<int> waits = producers_[t], signals;
    if (before >= 0) waits.push_back(before);
    const ArrayPart incoming = ex_.reductions[number].incoming;
    for (index_t k = incoming.begin; k < incoming.end; ++k)
      signals.push_back(world_.signal_of_incoming(rank_, k));
    if (forward_ && ex_.reductions[number].parent == -1)
      for (const TopMeeting& one : world_.meetings_of_top(rank_, t))
        if (one.meeting->receives_up) signals.push_back(one.here.signal);
    return add_task(ElementTaskKind::reduce, add_reduction(t, number), key_of_top(t, phase), std::move(waits),
                    std::move(signals));
  }
  int arrive(index_t t, int phase) {
    return add_task(ElementTaskKind::arrive, t, key_of_top(t, phase), {},
                    {world_.signal_of_value(rank_, t, forward_)});
  }
  bool arrives(index_t t) const { return world_.arrives[forward_ ? 0 : 1][rank_][t] != 0; }

  // ---- supernodes above the subtrees ----

  void top_forward(index_t t) {
    const TopSupernode& top = ex_.tops[t];
    int found = -1;
    if (top.row_sum != -1) {
      const int task = reduce(t, top.row_sum, 0, -1);
      if (ex_.reductions[top.row_sum].parent == -1) found = task;
    }
    if (arrives(t)) found = arrive(t, 1);
    value_task_[t] = found;
    if (top.owns_diagonal && !world_.is_elsewhere(rank_, t))
      triangle_task_[t] = add_task(ElementTaskKind::triangle, t, key_of_top(t, 3), {found});
    for (index_t p = top.column_portions.begin; p < top.column_portions.end; ++p) {
      const int begin = static_cast<int>(program_.block.size());
      std::vector<index_t> rows;
      for (index_t k = ex_.portions[p].begin; k < ex_.portions[p].end; ++k) {
        const index_t number = top.below.begin + k;
        add_block(number, t);
        rows.push_back(ex_.own[number].row_top);
      }
      add_blocks_task(t, 2, p, begin, rows);
    }
  }

  void top_backward(index_t t) {
    const TopSupernode& top = ex_.tops[t];
    int found = -1, before = -1;
    const bool is_elsewhere = world_.is_elsewhere(rank_, t);
    if (top.owns_diagonal && !is_elsewhere)
      before = add_task(ElementTaskKind::triangle, t, key_of_top(t, 0), {});
    if (top.column_sum != -1 && !is_elsewhere) {
      const int task = reduce(t, top.column_sum, 1, before);
      if (ex_.reductions[top.column_sum].parent == -1) found = task;
    }
    if (arrives(t)) found = arrive(t, 2);
    value_task_[t] = found;
    for (index_t p = top.row_portions.begin; p < top.row_portions.end; ++p) {
      const int begin = static_cast<int>(program_.block.size());
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

  void add_block(index_t number, index_t t) {
    const OwnContribution& own = ex_.own[number];
    device::ElementBlock block{};
    block.panel = panel_of_[number];
    block.value = t;
    block.out = local_row(store_.contribution(forward_ ? own.forward_at : own.backward_at, forward_));
    if (!forward_) {
      const BlockOfElement& of = element_.blocks[block.panel];
      const index_t first = world_.symbolic.supernode_begin[own.row_supernode];
      block.in = static_cast<long long>(program_.place.size());
      for (const index_t row : world_.symbolic.rows_below(of.supernode).subspan(of.first, of.count))
        program_.place.push_back(static_cast<int>(store_.value(ex_.tops[t], false) + row - first));
    }
    program_.block.push_back(block);
  }
  void add_blocks_task(index_t t, int phase, int portion, int begin, const std::vector<index_t>& consumers) {
    const int task = add_task(ElementTaskKind::blocks, 0, key_of_top(t, phase, portion), {value_task_[t]});
    drafts_[task].task.begin = begin;
    drafts_[task].task.end = static_cast<int>(program_.block.size());
    for (const index_t consumer : consumers) add_producer(consumer, task);
  }
  void add_producer(index_t consumer, int task) {
    if (producers_[consumer].empty() || producers_[consumer].back() != task)
      producers_[consumer].push_back(task);
  }

  // ---- subtrees ----

  struct Range {
    index_t begin, end;
  };
  Range supernodes_of(std::size_t whole) const {
    const SweepGroups& sweep = *element_.structure->sweep;
    const index_t group = element_.structure->group_of_whole[whole];
    return {sweep.supernode_begin(group), sweep.supernode_end(group)};
  }

  /// All tasks of the tree that belong to a supernode. @returns their numbers
  std::vector<int> add_tree_tasks(index_t s, const OrderKey& key, const std::vector<int>& waits) {
    std::vector<int> tasks;
    for (index_t k = tree_tasks_.task_ptr[s]; k < tree_tasks_.task_ptr[s + 1]; ++k)
      tasks.push_back(
          add_task(ElementTaskKind::tree, k, {key.urgency, key.supernode, key.phase, k, key.level}, waits));
    return tasks;
  }

  void subtree_forward(std::size_t w) {
    const WholeUnit& whole = ex_.wholes[w];
    const auto [begin, end] = supernodes_of(w);
    std::vector<std::vector<int>> waits(end - begin);
    std::vector<int> roots;
    for (index_t s = begin; s < end; ++s) {
      const OrderKey key{whole.urgency.forward, element_.supernode[s], 0, 0, level_of(whole.last_supernode)};
      const std::vector<int> tasks = add_tree_tasks(s, key, waits[s - begin]);
      const index_t parent = local().parent[s];
      std::vector<int>& next = parent >= 0 ? waits[parent - begin] : roots;
      next.insert(next.end(), tasks.begin(), tasks.end());
    }
    if (whole.contributions.size() == 0) return;
    const int task = add_task(ElementTaskKind::add_up, 0,
                              {whole.urgency.forward, element_.supernode[end - 1], 1, 0,
                               level_of(whole.last_supernode)},
                              roots);
    drafts_[task].task.begin = static_cast<int>(program_.sum.size());
    for (const OwnContribution& own : ex_.contributions_of(whole)) {
      add_boundary_sum(whole, own, begin, end);
      add_producer(own.row_top, task);
    }
    drafts_[task].task.end = static_cast<int>(program_.sum.size());
  }

  /// What the roots of a subtree subtract from the rows of one supernode above it, root after root.
  void add_boundary_sum(const WholeUnit& whole, const OwnContribution& own, index_t begin, index_t end) {
    const auto boundary = ex_.boundary_of(whole).subspan(own.own, own.count);
    const int first = num_parts();
    for (index_t s = begin; s < end; ++s) {
      if (local().parent[s] >= 0) continue;
      const auto rows = world_.symbolic.rows_below(element_.supernode[s]);
      const auto from = std::lower_bound(rows.begin(), rows.end(), boundary.front());
      const auto to = std::upper_bound(rows.begin(), rows.end(), boundary.back());
      if (from == to) continue;
      program_.part.push_back({local_row(store_.updates() + local().row_ptr[s] + (from - rows.begin())),
                               static_cast<long long>(program_.place.size()), 0,
                               static_cast<int>(to - from)});
      for (auto row = from; row != to; ++row)
        program_.place.push_back(
            static_cast<int>(std::lower_bound(boundary.begin(), boundary.end(), *row) - boundary.begin()));
    }
    program_.sum.push_back(
        {local_row(store_.contribution(own.forward_at, true)), own.count, first, num_parts()});
  }

  void subtree_backward(std::size_t w) {
    const WholeUnit& whole = ex_.wholes[w];
    const auto [begin, end] = supernodes_of(w);
    std::vector<int> above;
    for (const OwnContribution& own : ex_.contributions_of(whole)) above.push_back(value_task_[own.row_top]);
    std::vector<std::vector<int>> tasks(end - begin);
    for (index_t s = end; s-- > begin;) {
      const index_t parent = local().parent[s];
      const OrderKey key{whole.urgency.backward, -element_.supernode[s], 0, 0,
                         level_of(whole.last_supernode)};
      tasks[s - begin] = add_tree_tasks(s, key, parent >= 0 ? tasks[parent - begin] : above);
    }
  }

  // ---- layers ----

  /// Behind all other tasks: sums go up, level after level of the layers, and come down again.
  void meet_layers() {
    if (world_.levels != nullptr) return;
    const std::vector<LayerMeeting>& meetings = world_.meetings[rank_];
    int before = -1;
    for (const LayerMeeting& one : meetings)
      before = meet(one, {one.receives_up, world_.most_depth - one.depth}, before);
    for (std::size_t k = meetings.size(); k-- > 0;)
      before =
          meet(meetings[k], {!meetings[k].receives_up, world_.most_depth + 1 + meetings[k].depth}, before);
  }

  struct Direction {
    bool receives;
    int level;
  };
  int meet(const LayerMeeting& one, Direction direction, int before) {
    device::ElementMeeting meeting{};
    meeting.list = static_cast<long long>(program_.place.size());
    meeting.rows = static_cast<int>(one.rows);
    meeting.send = -1;
    std::vector<int> waits, signals;
    for (const index_t top : one.tops) {
      const index_t first = element_.structure->sweep->column_begin(element_.structure->group_of_top[top]);
      for (index_t k = 0; k < width(top); ++k) program_.place.push_back(first + k);
      if (before < 0) waits.push_back(triangle_task_[top]);
    }
    if (before >= 0) waits.push_back(before);
    if (direction.receives) {
      meeting.at = one.here.at;
      meeting.adds = one.receives_up ? 1 : 0;
      signals.push_back(one.here.signal);
    } else {
      meeting.at = local_row(store_.new_outgoing(one.rows));
      meeting.send = static_cast<int>(program_.send.size());
      send_to_layer(one, one.there, one.rows);
    }
    program_.meeting.push_back(meeting);
    return add_task(ElementTaskKind::meet, static_cast<int>(program_.meeting.size()) - 1,
                    {-infinity, direction.level, direction.receives ? 1 : 0, 0, 0},
                    std::move(waits), std::move(signals));
  }
  void send_to_layer(const LayerMeeting& one, const MeetingPlace& place, offset_t rows) {
    send(one.partner - world_.first_element, place.signal, place.at, rows);
    ++traffic_.meeting_messages;
    traffic_.meeting_rows += rows;
  }

  // ---- writing ----

  void write_tasks() {
    for (const Draft& draft : drafts_) {
      device::ElementTask task = draft.task;
      task.wait_begin = static_cast<int>(program_.wait.size());
      program_.wait.insert(program_.wait.end(), draft.waits.begin(), draft.waits.end());
      task.wait_end = static_cast<int>(program_.wait.size());
      task.signal_begin = static_cast<int>(program_.signal.size());
      program_.signal.insert(program_.signal.end(), draft.signals.begin(), draft.signals.end());
      task.signal_end = static_cast<int>(program_.signal.size());
      program_.task.push_back(task);
    }
  }
  void write_orders() {
    program_.order.resize(drafts_.size());
    std::iota(program_.order.begin(), program_.order.end(), 0);
    std::sort(program_.order.begin(), program_.order.end(),
              [&](int left, int right) { return drafts_[left].key < drafts_[right].key; });
    for (const int task : program_.order) {
      const bool waits = program_.task[task].kind == ElementTaskKind::arrive;
      (waits ? program_.order_of_waits : program_.order_of_solves).push_back(task);
    }
  }

 public:
  /// Of blocks that are not whole: their numbers in HostElement::blocks. Before run.
  void set_panels(const std::vector<int>& panel_of) { panel_of_ = panel_of; }

 private:
  const ElementWorld& world_;
  const SolveExchange& ex_;
  index_t rank_;
  HostElement& element_;
  StoreRows& store_;
  bool forward_;
  HostProgram& program_;
  BlockTasks tree_tasks_ = block_tasks(local());
  std::vector<Draft> drafts_;
  std::vector<std::vector<int>> producers_;  // by top: tasks whose products its sum adds
  std::vector<int> value_task_;              // by top: the task after which its value is here
  std::vector<int> triangle_task_;           // by top: its product with the diagonal block, or −1
  std::vector<std::pair<offset_t, index_t>> incoming_;
  std::vector<index_t> outside_;
  std::vector<int> panel_of_;
  ElementTraffic traffic_;
};

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
      ProgramBuilder builder(world, rank, element, world.store[rank], forward);
      builder.set_panels(panel_of);
      builder.run();
      all.traffic.messages += builder.traffic().messages;
      all.traffic.rows += builder.traffic().rows;
      all.traffic.meeting_messages += builder.traffic().meeting_messages;
      all.traffic.meeting_rows += builder.traffic().meeting_rows;
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
