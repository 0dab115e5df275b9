// Inside `solve`: what a host knows about the sweeps of its device when hosts carry the messages: which tasks
// can run, what is to be sent after them, and where what arrives belongs.
#pragma once

#include <string>
#include <vector>

#include "palmette/solve/element_program.hpp"

namespace palmette::solve_detail {

/// Rows of this element's store that go to another element when a task has run.
struct RowsToSend {
  long long from = 0;
  int rows = 0;
  int element = 0;
  int signal = 0;  ///< of the other element
};

/// What comes from another element.
struct RowsToCome {
  bool forward = true;
  int task = -1;  ///< that waits for them; −1: this signal is not used
  long long at = 0;
  int source = 0;
  int rows = 0;
  std::vector<RowsToSend> relays;  ///< to whom they are passed on; `from` is not used
};

std::vector<RowsToSend> sends_of_value(const HostProgram& program, const device::ElementValue& value);

/// One sweep of an element, as its host sees it.
class SweepTasks {
 public:
  explicit SweepTasks(const HostProgram& program);

  /// No task has run, no rows have come.
  void begin();
  void rows_came(int task) { need_less(task); }
  /// All tasks that can run now, or when those before them in the result have: each is given once.
  /// @returns empty if all wait for rows of other elements
  const std::vector<int>& take();
  bool over() const { return left_ == 0; }
  const std::vector<RowsToSend>& sends_of(int task) const { return sends_[task]; }
  int num_tasks() const { return static_cast<int>(sends_.size()); }

 private:
  void need_less(int task) {
    if (--needs_[task] == 0) ready_.push_back(task);
  }

  std::vector<int> needs_at_start_, needs_;  // by task: tasks and signals that it waits for
  std::vector<int> dependent_ptr_, dependent_;
  std::vector<int> place_;                   // by task: in the order of the program
  std::vector<std::vector<RowsToSend>> sends_;
  std::vector<int> ready_, taken_;
  int left_ = 0;
};

/// Both sweeps of an element.
class DeviceSchedule {
 public:
  /// @param all  of which this is one; not kept
  DeviceSchedule(const HostElements& all, int element);

  SweepTasks& sweep(bool forward) { return forward ? forward_ : backward_; }
  const SweepTasks& sweep(bool forward) const { return forward ? forward_ : backward_; }
  const RowsToCome& coming(int signal) const { return coming_[signal]; }
  bool knows(std::int64_t signal) const {
    return signal >= 0 && signal < static_cast<std::int64_t>(coming_.size()) && coming_[signal].task >= 0;
  }
  /// Who is to send the rows that the first waiting task of a sweep lacks.
  /// @param has_come  by signal
  std::string waiting_for(bool forward, const std::vector<char>& has_come) const;
  /// "a sum from device 2"
  std::string words_of(int signal) const {
    return meaning_[signal] + " from device " + std::to_string(coming_[signal].source);
  }
  /// What a kernel that gave up has waited for.
  std::string words_of(const device::ElementStatus& status) const {
    return status.signal != 0 ? words_of(status.signal - 1)
                              : "its own task " + std::to_string(status.task - 1);
  }
  int num_signals() const { return static_cast<int>(coming_.size()); }
  /// Of each message of a solve: what this element sends, once for all that get it, and what it gets.
  std::vector<int> rows_of_messages() const;

 private:
  void list_coming(const HostProgram& program, bool forward);
  void list_sends(const HostProgram& program, int source, int element);

  SweepTasks forward_, backward_;
  std::vector<RowsToCome> coming_;   // by signal
  std::vector<std::string> meaning_;  // by signal
};

}  // namespace palmette::solve_detail
