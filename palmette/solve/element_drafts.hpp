// Inside `solve`: the tasks of one element's sweep while its program is made.
#pragma once

#include <tuple>
#include <vector>

#include "palmette/solve/element_program.hpp"

namespace palmette::solve_detail {

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

/// The tasks in the order in which they were added, each with its key and with what it waits for.
class TaskDrafts {
 public:
  /// @param waits    tasks of this element
  /// @param signals  that come from others
  /// @returns its number
  int add(device::ElementTaskKind kind, int number, const OrderKey& key, std::vector<int> waits,
          std::vector<int> signals = {});
  /// What a task works on, where that is known only after it was added.
  void set_range(int task, int begin, int end);
  /// Tasks, what they wait for, and the orders in which they are taken.
  void write(HostProgram& program) const;

 private:
  struct Draft {
    device::ElementTask task;
    OrderKey key;
    std::vector<int> waits, signals;
  };
  void write_orders(HostProgram& program) const;

  std::vector<Draft> drafts_;
};

}  // namespace palmette::solve_detail
