// Inside `solve`: what one element's sweep reads, adds up and sends, as its program lists it.
#pragma once

#include <utility>
#include <vector>

#include "palmette/solve/element_layers.hpp"

namespace palmette::solve_detail {

/// One sweep of one element: what its program is made from, and the program.
struct SweepOfElement {
  const ElementWorld& world;
  index_t rank;
  HostElement& element;
  StoreRows& store;
  bool forward;

  const SolveExchange& exchange() const { return world.exchange[rank]; }
  HostProgram& program() const { return forward ? element.forward : element.backward; }
  index_t width(index_t top) const { return world.symbolic.width(exchange().tops[top].supernode); }
  std::vector<TopMeeting> meetings_of_top(index_t top) const { return world.meetings_of_top(rank, top); }
  bool is_elsewhere(index_t top) const { return world.is_elsewhere(rank, top); }
  /// Layers that meet at each level sweep level after level of the cut.
  int level_of(index_t supernode) const {
    if (world.levels == nullptr) return 0;
    return forward ? -world.level_of(supernode) : world.level_of(supernode);
  }
  /// Local rows lie behind the shared ones of all elements.
  offset_t local_row(offset_t at) const { return world.shared_rows + at; }
};

/// The messages of the sweep, counted.
class ElementMessages {
 public:
  explicit ElementMessages(const SweepOfElement& sweep) : sweep_(sweep) {}

  /// @returns the number of the message
  int send(index_t to, int signal, offset_t at, offset_t rows);
  int send_to_layer(const LayerMeeting& meeting, const MeetingPlace& place, offset_t rows);
  const ElementTraffic& traffic() const { return traffic_; }

 private:
  const SweepOfElement& sweep_;
  ElementTraffic traffic_;
};

/// Where the rows of an exchange lie in the element's store: what comes from others lies in shared memory,
/// not where the exchange says.
class ElementRows {
 public:
  explicit ElementRows(const SweepOfElement& sweep);

  offset_t row_of(offset_t at) const;
  void add_part(const StoredPart& part);
  int num_parts() const { return static_cast<int>(sweep_.program().part.size()); }

 private:
  const SweepOfElement& sweep_;
  std::vector<std::pair<offset_t, index_t>> incoming_;  // by row of the exchange: number
};

/// Values of the supernodes above the subtrees: to whom each goes, and where the element's own subtrees read
/// it.
class ElementValues {
 public:
  ElementValues(const SweepOfElement& sweep, ElementMessages& messages)
      : sweep_(sweep), messages_(messages) {}

  void write();

 private:
  void write_one(index_t top);
  void send(index_t top, index_t width);
  void copy_for_subtrees(index_t top);
  int outside_row(index_t row);

  const SweepOfElement& sweep_;
  ElementMessages& messages_;
  std::vector<index_t> outside_;  // rows that subtrees read behind their own, ascending; found when needed
};

/// What the element adds up for each supernode above the subtrees, and to whom it passes that on.
class ElementReductions {
 public:
  ElementReductions(const SweepOfElement& sweep, ElementMessages& messages, ElementRows& rows)
      : sweep_(sweep), messages_(messages), rows_(rows) {}

  /// @param number  of the reduction in the exchange
  /// @returns its number in the program
  int add(index_t top, index_t number);
  /// The signals for which it waits.
  std::vector<int> signals(index_t top, index_t number) const;

 private:
  void send_sum(const Reduction& reduction, device::ElementReduction& one);
  void add_sums_of_layers(index_t top);
  void send_whole_sum(index_t top, device::ElementReduction& one);

  const SweepOfElement& sweep_;
  ElementMessages& messages_;
  ElementRows& rows_;
};

}  // namespace palmette::solve_detail
