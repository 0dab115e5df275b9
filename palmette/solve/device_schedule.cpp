// Counts what tasks wait for, and finds out from the programs of all elements what comes from whom.
#include "palmette/solve/device_schedule.hpp"

#include <algorithm>

namespace palmette::solve_detail {
namespace {

using device::ElementTask, device::ElementTaskKind;

RowsToSend rows_to(const device::ElementSend& send, long long from, int rows) {
  return {from, rows, send.element, send.signal};
}

/// Values that only pass through are sent on when they come.
std::vector<RowsToSend> sends_after(const HostProgram& program, const ElementTask& task) {
  if (task.kind == ElementTaskKind::reduce) {
    const device::ElementReduction& one = program.reduction[task.number];
    if (one.send >= 0) return {rows_to(program.send[one.send], one.outgoing, one.rows)};
    return sends_of_value(program, program.value[one.value]);
  }
  if (task.kind != ElementTaskKind::meet) return {};
  const device::ElementMeeting& one = program.meeting[task.number];
  if (one.send < 0) return {};
  return {rows_to(program.send[one.send], one.at, one.rows)};
}

std::string meaning_of(const ElementTask& task, bool forward) {
  if (task.kind == ElementTaskKind::meet) return "the rows that it shares with another layer";
  if (task.kind == ElementTaskKind::arrive) return forward ? "rows of y" : "rows of x";
  return "a sum";
}

}  // namespace

std::vector<RowsToSend> sends_of_value(const HostProgram& program, const device::ElementValue& value) {
  std::vector<RowsToSend> sends;
  for (int k = value.send_begin; k < value.send_end; ++k)
    sends.push_back(rows_to(program.send[k], value.at, value.width));
  return sends;
}

SweepTasks::SweepTasks(const HostProgram& program)
    : dependent_ptr_(program.task.size() + 1, 0), place_(program.task.size()) {
  for (const ElementTask& task : program.task) {
    needs_at_start_.push_back(task.wait_end - task.wait_begin + task.signal_end - task.signal_begin);
    sends_.push_back(sends_after(program, task));
  }
  for (const int before : program.wait) ++dependent_ptr_[before + 1];
  for (std::size_t k = 1; k < dependent_ptr_.size(); ++k) dependent_ptr_[k] += dependent_ptr_[k - 1];
  std::vector<int> next(dependent_ptr_.begin(), dependent_ptr_.end() - 1);
  dependent_.resize(program.wait.size());
  for (std::size_t number = 0; number < program.task.size(); ++number)
    for (int k = program.task[number].wait_begin; k < program.task[number].wait_end; ++k)
      dependent_[next[program.wait[k]]++] = static_cast<int>(number);
  for (std::size_t k = 0; k < program.order.size(); ++k) place_[program.order[k]] = static_cast<int>(k);
}

void SweepTasks::begin() {
  needs_ = needs_at_start_;
  left_ = static_cast<int>(needs_.size());
  ready_.clear();
  for (std::size_t task = 0; task < needs_.size(); ++task)
    if (needs_[task] == 0) ready_.push_back(static_cast<int>(task));
}

const std::vector<int>& SweepTasks::take() {
  taken_.clear();
  while (!ready_.empty()) {
    const int task = ready_.back();
    ready_.pop_back();
    taken_.push_back(task);
    for (int k = dependent_ptr_[task]; k < dependent_ptr_[task + 1]; ++k) need_less(dependent_[k]);
  }
  left_ -= static_cast<int>(taken_.size());
  std::sort(taken_.begin(), taken_.end(), [&](int left, int right) { return place_[left] < place_[right]; });
  return taken_;
}

DeviceSchedule::DeviceSchedule(const HostElements& all, int element)
    : forward_(all.element[element].forward),
      backward_(all.element[element].backward),
      coming_(static_cast<std::size_t>(all.element[element].num_signals)),
      meaning_(coming_.size()) {
  for (const bool forward : {true, false}) {
    const HostElement& own = all.element[element];
    list_coming(forward ? own.forward : own.backward, forward);
    for (std::size_t other = 0; other < all.element.size(); ++other) {
      const HostElement& from = all.element[other];
      list_sends(forward ? from.forward : from.backward, static_cast<int>(other), element);
    }
  }
}

void DeviceSchedule::list_sends(const HostProgram& program, int source, int element) {
  for (const device::ElementSend& send : program.send) {
    if (send.element != element) continue;
    coming_[send.signal].at = send.at;
    coming_[send.signal].source = source;
  }
  const auto list = [&](const std::vector<RowsToSend>& sends) {
    for (const RowsToSend& rows : sends)
      if (rows.element == element) coming_[rows.signal].rows = rows.rows;
  };
  for (const ElementTask& task : program.task)
    list(task.kind == ElementTaskKind::arrive ? sends_of_value(program, program.value[task.number])
                                              : sends_after(program, task));
}

std::vector<int> DeviceSchedule::rows_of_messages() const {
  std::vector<int> rows;
  for (const SweepTasks* sweep : {&forward_, &backward_})
    for (int task = 0; task < sweep->num_tasks(); ++task)
      if (!sweep->sends_of(task).empty()) rows.push_back(sweep->sends_of(task).front().rows);
  for (const RowsToCome& one : coming_)
    if (one.task >= 0) rows.push_back(one.rows);
  return rows;
}

void DeviceSchedule::list_coming(const HostProgram& program, bool forward) {
  for (std::size_t number = 0; number < program.task.size(); ++number) {
    const ElementTask& task = program.task[number];
    for (int k = task.signal_begin; k < task.signal_end; ++k) {
      RowsToCome& one = coming_[program.signal[k]];
      one.forward = forward;
      one.task = static_cast<int>(number);
      if (task.kind == ElementTaskKind::arrive)
        one.relays = sends_of_value(program, program.value[task.number]);
      meaning_[program.signal[k]] = meaning_of(task, forward);
    }
  }
}

std::string DeviceSchedule::waiting_for(bool forward, const std::vector<char>& has_come) const {
  std::string text;
  int missing = 0;
  constexpr int most_named = 3;
  for (std::size_t signal = 0; signal < coming_.size(); ++signal) {
    const RowsToCome& one = coming_[signal];
    if (one.task < 0 || one.forward != forward || has_come[signal] != 0) continue;
    if (++missing > most_named) continue;
    text += (text.empty() ? "" : ", ") + meaning_[signal] + " from the device of rank " +
            std::to_string(one.source);
  }
  if (missing > most_named) text += " and " + std::to_string(missing - most_named) + " messages more";
  return (text.empty() ? "its device" : text) + " in the " + (forward ? "forward" : "backward") + " sweep";
}

}  // namespace palmette::solve_detail
