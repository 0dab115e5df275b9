// Inside `solve`: what the programs of several devices are built from, and what layers of devices exchange.
#pragma once

#include <memory>
#include <vector>

#include "palmette/solve/element_program.hpp"

namespace palmette::solve_detail {

/// Where the rows of one element's store lie. Shared: values forward, values backward, what other elements
/// send; local: the contributions of both sweeps, updates of subtrees, outgoing messages.
class StoreRows {
 public:
  StoreRows(const SolveExchange& exchange, const RankGroups& structure) : exchange_(exchange) {
    offset_t at = 2 * exchange.value_rows;
    for (const IncomingSum& one : exchange.incoming) {
      incoming_.push_back(at);
      at += one.rows;
    }
    shared_ = at;
    updates_ = exchange.forward_rows + exchange.backward_rows;
    local_ = updates_ + static_cast<offset_t>(structure.sweep->symbolic().row_index.size());
  }

  offset_t shared() const { return shared_; }
  offset_t local() const { return local_; }
  offset_t incoming(std::size_t number) const { return incoming_[number]; }
  offset_t value(const TopSupernode& top, bool forward) const {
    return top.value_at + (forward ? 0 : exchange_.value_rows);
  }
  /// Local rows are counted from 0.
  offset_t contribution(offset_t at, bool forward) const {
    return at + (forward ? 0 : exchange_.forward_rows);
  }
  offset_t updates() const { return updates_; }
  offset_t new_outgoing(offset_t rows) {
    const offset_t at = local_;
    local_ += rows;
    return at;
  }
  offset_t new_shared(offset_t rows) {
    const offset_t at = shared_;
    shared_ += rows;
    return at;
  }

 private:
  const SolveExchange& exchange_;
  std::vector<offset_t> incoming_;
  offset_t shared_ = 0, updates_ = 0, local_ = 0;
};

/// Where rows from another layer arrive.
struct MeetingPlace {
  offset_t at = 0;  ///< first row of the shared store
  int signal = 0;
};

/// An element adds up, with one of another layer, the rows of y that both hold: the second sends its rows up
/// and gets the sums back. In layers that meet at each level, what the second one's columns add to each
/// supernode goes up as soon as it is known, and x of each supernode comes down.
struct LayerMeeting {
  index_t partner = 0;  ///< element of all layers
  bool receives_up = false;
  int depth = 0;  ///< of the node of the layers, from the root
  std::vector<index_t> tops;  ///< ascending
  offset_t rows = 0;
  MeetingPlace here, there;
  /// By top, in layers that meet at each level: first of its rows, whose signal is `here.signal` and its
  /// number; and where the partner waits for its x.
  std::vector<offset_t> first_row;
  std::vector<MeetingPlace> values_there;

  int num_signals() const { return first_row.empty() ? 1 : static_cast<int>(tops.size()); }
};

/// One supernode in a meeting at a level.
struct TopMeeting {
  const LayerMeeting* meeting;
  MeetingPlace here, there;  ///< of what goes up
  MeetingPlace value_there;
};

/// What the elements of one layer are built from. Elements are numbered within the layer.
struct ElementWorld {
  const SymbolicFactor& symbolic;
  std::vector<SolveExchange> exchange;
  std::vector<StoreRows> store;
  offset_t shared_rows = 0;
  std::vector<std::vector<char>> arrives[2];  // by element and top: a value comes from another element
  index_t first_element = 0;                  // of the layer, among all layers
  std::vector<std::vector<LayerMeeting>> meetings;  // by element: deepest first; empty in one layer
  int most_depth = 0;                               // of all meetings of all layers
  const LayerSystem* levels = nullptr;  // this layer's, if layers meet at each level of the cut

  int signal_of_value(index_t rank, index_t top, bool forward) const {
    return static_cast<int>(top + (forward ? 0 : static_cast<index_t>(exchange[rank].tops.size())));
  }
  int signal_of_incoming(index_t rank, std::size_t number) const {
    return static_cast<int>(2 * exchange[rank].tops.size() + number);
  }
  int signal_of_meeting(index_t rank, std::size_t number) const {
    int signal = signal_of_incoming(rank, exchange[rank].incoming.size());
    for (std::size_t k = 0; k < number; ++k) signal += meetings[rank][k].num_signals();
    return signal;
  }
  int num_signals(index_t rank) const { return signal_of_meeting(rank, meetings[rank].size()); }

  /// In which meetings at levels an element holds a supernode; empty if layers meet once, or in one layer.
  std::vector<TopMeeting> meetings_of_top(index_t rank, index_t top) const;
  /// Another layer sweeps this supernode, whose diagonal block the element holds.
  bool is_elsewhere(index_t rank, index_t top) const {
    const TopSupernode& one = exchange[rank].tops[top];
    return levels != nullptr && one.owns_diagonal && !levels->leads(one.supernode);
  }
  /// From the root of the cut, of the node that holds a supernode of a layer that meets at each level.
  int level_of(index_t supernode) const;
};

/// @param elements  those of this layer are added, without their programs
ElementWorld make_element_world(const SymbolicFactor& symbolic, const Placement& placement, TreeShape trees,
                                int entry_bytes, std::vector<HostElement>& elements);

/// Fills the programs of a layer and adds what they send.
void write_programs(ElementWorld& world, HostElements& all);

}  // namespace palmette::solve_detail
