// Rows, parts, sums and messages are appended to flat lists, in the order in which the tasks are made.
#include "palmette/solve/element_sums.hpp"

#include <algorithm>

namespace palmette::solve_detail {

int ElementMessages::send(index_t to, int signal, offset_t at, offset_t rows) {
  std::vector<device::ElementSend>& all = sweep_.program().send;
  all.push_back({static_cast<int>(sweep_.world.first_element + to), signal, at});
  ++traffic_.messages;
  traffic_.rows += rows;
  return static_cast<int>(all.size()) - 1;
}

int ElementMessages::send_to_layer(const LayerMeeting& meeting, const MeetingPlace& place, offset_t rows) {
  ++traffic_.meeting_messages;
  traffic_.meeting_rows += rows;
  return send(meeting.partner - sweep_.world.first_element, place.signal, place.at, rows);
}

ElementRows::ElementRows(const SweepOfElement& sweep) : sweep_(sweep) {
  const SolveExchange& exchange = sweep.exchange();
  for (const TopSupernode& top : exchange.tops) {
    const index_t number = sweep.forward ? top.row_sum : top.column_sum;
    if (number == -1) continue;
    const ArrayPart incoming = exchange.reductions[number].incoming;
    for (index_t k = incoming.begin; k < incoming.end; ++k)
      if (exchange.incoming[k].rows > 0) incoming_.push_back({exchange.incoming[k].at, k});
  }
  std::sort(incoming_.begin(), incoming_.end());
}

offset_t ElementRows::row_of(offset_t at) const {
  auto after = std::upper_bound(incoming_.begin(), incoming_.end(), std::pair(at, INT32_MAX));
  if (after != incoming_.begin()) {
    const auto& [begin, number] = *std::prev(after);
    if (at < begin + sweep_.exchange().incoming[number].rows)
      return sweep_.store.incoming(number) + at - begin;
  }
  return sweep_.local_row(sweep_.store.contribution(at, sweep_.forward));
}

void ElementRows::add_part(const StoredPart& part) {
  HostProgram& program = sweep_.program();
  device::ElementPart one{row_of(part.at), -1, part.rows.start, part.rows.count};
  if (part.rows.list != -1) {
    one.list = static_cast<long long>(program.place.size());
    const index_t* const places = sweep_.exchange().places.data() + part.rows.list;
    program.place.insert(program.place.end(), places, places + part.rows.count);
  }
  program.part.push_back(one);
}

void ElementValues::write() {
  for (std::size_t top = 0; top < sweep_.exchange().tops.size(); ++top)
    write_one(static_cast<index_t>(top));
}

void ElementValues::write_one(index_t top) {
  HostProgram& program = sweep_.program();
  const TopSupernode& one = sweep_.exchange().tops[top];
  const RankGroups& structure = *sweep_.element.structure;
  device::ElementValue value{};
  value.supernode = -1;
  if (one.owns_diagonal) value.supernode = structure.sweep->supernode_begin(structure.group_of_top[top]);
  value.width = sweep_.width(top);
  value.at = sweep_.store.value(one, sweep_.forward);
  value.send_begin = static_cast<int>(program.send.size());
  send(top, value.width);
  value.send_end = static_cast<int>(program.send.size());
  value.copy_begin = static_cast<int>(program.copy.size());
  if (!sweep_.forward) copy_for_subtrees(top);
  value.copy_end = static_cast<int>(program.copy.size());
  program.value.push_back(value);
}

void ElementValues::send(index_t top, index_t width) {
  const ElementWorld& world = sweep_.world;
  const SolveExchange& exchange = sweep_.exchange();
  const TopSupernode& one = exchange.tops[top];
  for (const index_t child : exchange.of(exchange.ranks, sweep_.forward ? one.column_children
                                                                        : one.row_children)) {
    const SolveExchange& other = world.exchange[child];
    const index_t number = other.top_of(one.supernode);
    messages_.send(child, world.signal_of_value(child, number, sweep_.forward),
                   world.store[child].value(other.tops[number], sweep_.forward), width);
  }
  for (const TopMeeting& meeting : sweep_.meetings_of_top(top))
    if (!sweep_.forward && meeting.meeting->receives_up)
      messages_.send_to_layer(*meeting.meeting, meeting.value_there, width);
}

/// Rows of x that the subtrees of this element read behind their own columns.
void ElementValues::copy_for_subtrees(index_t top) {
  const SolveExchange& exchange = sweep_.exchange();
  const index_t first = sweep_.world.symbolic.supernode_begin[exchange.tops[top].supernode];
  std::vector<std::pair<int, int>> copies;
  for (const index_t number : exchange.left_of(exchange.tops[top])) {
    if (exchange.own_is_whole[number] == 0) continue;
    const OwnContribution& own = exchange.own[number];
    const WholeUnit& whole = exchange.wholes[own.column];
    for (index_t k = 0; k < own.count; ++k) {
      const index_t row = exchange.boundary_of(whole)[own.own + k];
      copies.emplace_back(row - first, outside_row(row));
    }
  }
  std::sort(copies.begin(), copies.end());
  copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
  for (const auto& [from, to] : copies) sweep_.program().copy.push_back({from, to});
}

int ElementValues::outside_row(index_t row) {
  if (outside_.empty()) {
    outside_ = sweep_.exchange().boundary;
    std::sort(outside_.begin(), outside_.end());
    outside_.erase(std::unique(outside_.begin(), outside_.end()), outside_.end());
  }
  const auto found = std::lower_bound(outside_.begin(), outside_.end(), row);
  return static_cast<int>(sweep_.element.structure->row.size() + (found - outside_.begin()));
}

int ElementReductions::add(index_t top, index_t number) {
  HostProgram& program = sweep_.program();
  const SolveExchange& exchange = sweep_.exchange();
  const Reduction& reduction = exchange.reductions[number];
  device::ElementReduction one{};
  one.value = top;
  one.send = -1;
  one.sum_begin = static_cast<int>(program.sum.size());
  for (const MadeSum& sum : exchange.of(exchange.sums, reduction.sums)) {
    const int begin = rows_.num_parts();
    for (const StoredPart& part : exchange.of(exchange.parts, sum.parts)) rows_.add_part(part);
    program.sum.push_back({rows_.row_of(sum.at), sum.rows, begin, rows_.num_parts()});
  }
  one.sum_end = static_cast<int>(program.sum.size());
  one.part_begin = rows_.num_parts();
  for (const StoredPart& part : exchange.of(exchange.parts, reduction.result)) rows_.add_part(part);
  if (sweep_.forward && reduction.parent == -1) add_sums_of_layers(top);
  one.part_end = rows_.num_parts();
  if (reduction.parent != -1) send_sum(reduction, one);
  else if (sweep_.forward && sweep_.is_elsewhere(top)) send_whole_sum(top, one);
  program.reduction.push_back(one);
  return static_cast<int>(program.reduction.size()) - 1;
}

std::vector<int> ElementReductions::signals(index_t top, index_t number) const {
  const Reduction& reduction = sweep_.exchange().reductions[number];
  std::vector<int> found;
  for (index_t k = reduction.incoming.begin; k < reduction.incoming.end; ++k)
    found.push_back(sweep_.world.signal_of_incoming(sweep_.rank, k));
  if (sweep_.forward && reduction.parent == -1)
    for (const TopMeeting& one : sweep_.meetings_of_top(top))
      if (one.meeting->receives_up) found.push_back(one.here.signal);
  return found;
}

void ElementReductions::send_sum(const Reduction& reduction, device::ElementReduction& one) {
  const ElementWorld& world = sweep_.world;
  const SolveExchange& parent = world.exchange[reduction.parent];
  const TopSupernode& top = parent.tops[parent.top_of(reduction.supernode)];
  const ArrayPart incoming = parent.reductions[sweep_.forward ? top.row_sum : top.column_sum].incoming;
  index_t k = incoming.begin;
  while (parent.incoming[k].rank != sweep_.rank) ++k;
  one.rows = static_cast<int>(reduction.outgoing_rows);
  one.outgoing = sweep_.local_row(sweep_.store.new_outgoing(reduction.outgoing_rows));
  one.send = messages_.send(reduction.parent, world.signal_of_incoming(reduction.parent, k),
                            world.store[reduction.parent].incoming(k), reduction.outgoing_rows);
}

/// What other layers add to a supernode, behind what this one adds.
void ElementReductions::add_sums_of_layers(index_t top) {
  for (const TopMeeting& one : sweep_.meetings_of_top(top))
    if (one.meeting->receives_up)
      sweep_.program().part.push_back({one.here.at, -1, 0, static_cast<int>(sweep_.width(top))});
}

/// The parts of a root, added up, to the layer that sweeps the supernode, or on the way there.
void ElementReductions::send_whole_sum(index_t top, device::ElementReduction& one) {
  HostProgram& program = sweep_.program();
  one.rows = static_cast<int>(sweep_.width(top));
  one.outgoing = sweep_.local_row(sweep_.store.new_outgoing(one.rows));
  program.sum.push_back({one.outgoing, one.rows, one.part_begin, one.part_end});
  one.sum_end = static_cast<int>(program.sum.size());
  one.part_begin = one.part_end;  // the message is there already
  const TopMeeting up = sweep_.meetings_of_top(top).back();
  one.send = messages_.send_to_layer(*up.meeting, up.there, one.rows);
}

}  // namespace palmette::solve_detail
