// Tasks with lists of their own become one list of tasks and one of each kind of what they wait for.
#include "palmette/solve/element_drafts.hpp"

#include <algorithm>
#include <numeric>

namespace palmette::solve_detail {

int TaskDrafts::add(device::ElementTaskKind kind, int number, const OrderKey& key, std::vector<int> waits,
                    std::vector<int> signals) {
  drafts_.push_back({{kind, number, 0, 0, 0, 0, 0, 0}, key, std::move(waits), std::move(signals)});
  return static_cast<int>(drafts_.size()) - 1;
}

void TaskDrafts::set_range(int task, int begin, int end) {
  drafts_[task].task.begin = begin;
  drafts_[task].task.end = end;
}

void TaskDrafts::write(HostProgram& program) const {
  for (const Draft& draft : drafts_) {
    device::ElementTask task = draft.task;
    task.wait_begin = static_cast<int>(program.wait.size());
    program.wait.insert(program.wait.end(), draft.waits.begin(), draft.waits.end());
    task.wait_end = static_cast<int>(program.wait.size());
    task.signal_begin = static_cast<int>(program.signal.size());
    program.signal.insert(program.signal.end(), draft.signals.begin(), draft.signals.end());
    task.signal_end = static_cast<int>(program.signal.size());
    program.task.push_back(task);
  }
  write_orders(program);
}

void TaskDrafts::write_orders(HostProgram& program) const {
  program.order.resize(drafts_.size());
  std::iota(program.order.begin(), program.order.end(), 0);
  std::sort(program.order.begin(), program.order.end(),
            [&](int left, int right) { return drafts_[left].key < drafts_[right].key; });
  for (const int task : program.order) {
    const bool waits = program.task[task].kind == device::ElementTaskKind::arrive;
    (waits ? program.order_of_waits : program.order_of_solves).push_back(task);
  }
}

}  // namespace palmette::solve_detail
