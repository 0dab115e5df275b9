// The simulation: warps as the events of their columns. Loads and puts of counters share links by their
// number; pages of managed memory go round among the devices that touch or poll them.
#include "palmette/predict/column_model.hpp"

#include <algorithm>
#include <numeric>

#include "palmette/predict/column_pages.hpp"
#include "palmette/simulate/simulate.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette {
namespace {

enum class Step : char {
  launch,  ///< task `b` of device `a`
  seen,    ///< column `a` has seen that source `b` has added all
  ready,   ///< column `a` has what its row loses
  update,  ///< column `a` has its solution
  done,    ///< column `a` has made its additions
  page     ///< page `a` has come
};
struct Event {
  Step step;
  int a = 0, b = 0;
};

/// Which device has a column and its row.
struct ColumnOwners {
  index_t columns_of_task;
  int devices;
  int operator()(index_t row) const { return row / columns_of_task % devices; }
};

/// The links between devices: loads that poll share them by their number, and puts follow each other.
class SharedLinks {
 public:
  SharedLinks(const ColumnMachine& machine, int devices)
      : machine_(machine),
        devices_(devices),
        pollers_(static_cast<std::size_t>(devices) * devices),
        free_(pollers_.size()) {}

  void add_poller(int d, int e, int count) {
    pollers(d, e) += count;
    pollers(d, d) += count;  // of the device, through whichever link
  }

  /// A load from e by d and its answer, while others load too.
  double remote_seconds(int d, int e) {
    const double links = machine_.links[d * machine_.devices + e];
    const double alone = links > 0 ? machine_.remote_us : machine_.host_us;
    const double rate = links > 0 ? links * machine_.loads_per_us : machine_.host_loads_per_us;
    const bool has_switch = machine_.links_of_device > 0;
    return 1e-6 * std::max(alone, (has_switch ? pollers(d, d) : pollers(d, e)) / rate);
  }

  /// When a put that is made now arrives.
  double put_arrival(int d, int to, offset_t bytes, double now) {
    const double links = machine_.links[d * machine_.devices + to];
    const double rate = links > 0 ? links * machine_.loads_per_us : machine_.host_loads_per_us;
    double& free = free_[d * devices_ + to];
    // A load and its answer take 64 bytes of a link; a put takes its own, or as much as a load.
    free = std::max(free, now) + 1e-6 * std::max(1.0, static_cast<double>(bytes) / 64) / rate;
    return free + 1e-6 * (links > 0 ? machine_.remote_us : machine_.host_us);
  }

 private:
  double& pollers(int d, int e) { return pollers_[d * devices_ + e]; }

  const ColumnMachine& machine_;
  int devices_;
  std::vector<double> pollers_, free_;
};

/// Sums and counters in managed memory, whose pages go round. Plans what waits for them.
class ManagedSums {
 public:
  ManagedSums(const ColumnCase& given, const ColumnMachine& machine, const ColumnOwners& owner,
              EventLoop<Event>& loop)
      : columns_(given.strict),
        machine_(machine),
        owner_(owner),
        loop_(loop),
        shared_(given.sharing == SumSharing::unified ? static_cast<std::size_t>(columns_.cols) : 0),
        waiting_for_(shared_.size()),
        has_shared_(columns_.cols),
        pages_(static_cast<index_t>(shared_.size()), given.num_rhs, owner.devices, machine.page_bytes) {}

  void add_source(index_t row, int additions) {
    shared_[row] += additions;
    has_shared_[row] = true;
  }
  bool has(index_t row) const { return has_shared_[row]; }
  std::vector<offset_t> moves() const { return pages_.moves(); }

  /// Column i waits until others have made all additions here.
  void wait(index_t i, double now) {
    const int d = owner_(i), page = pages_.page_of_counter(i);
    waiting_for_[i] = 1;
    pages_.poll(page, d, 1);
    if (shared_[i] == 0) pages_.satisfy(page, d, i);
    touch(page, d, now);
  }
  /// Column i makes its additions to the sums of other devices' rows, whose pages must come first.
  void update(index_t i, double now) {
    const int d = owner_(i);
    pages_.begin(i, ColumnPages::Phase::sums);
    int last = -1;
    for (const index_t row : columns_.column(i)) {
      if (owner_(row) == d) continue;
      const int first = std::max(last + 1, pages_.first_page_of_sums(row));  // rows ascend
      last = pages_.last_page_of_sums(row);
      for (int page = first; page <= last; ++page) want(i, page, d, now);
    }
    if (pages_.waits(i) == 0) touch_counters(i, now);
  }
  void arrive(int page, double now) {
    const int d = pages_.end_move(page);
    serve(page, d, now);
    const int next = pages_.next_device(page);
    if (next >= 0 && pages_.start_move(page, next))
      loop_.plan(now + 1e-6 * machine_.page_us, {Step::page, page});
  }

 private:
  /// Behind the sums, the counters.
  void touch_counters(index_t i, double now) {
    const int d = owner_(i);
    pages_.begin(i, ColumnPages::Phase::counters);
    int last = -1;
    for (const index_t row : columns_.column(i)) {
      if (owner_(row) == d) continue;
      const int page = pages_.page_of_counter(row);
      if (page != last && !want(i, page, d, now)) count_down(i, page);
      last = page;
    }
    if (pages_.waits(i) == 0) loop_.plan(now, {Step::done, i});
  }
  /// @returns whether the column waits for the page
  bool want(index_t i, int page, int d, double now) {
    if (pages_.is_at(page, d)) return false;
    pages_.want(page, d, i);
    touch(page, d, now);
    return true;
  }
  void count_down(index_t i, int page) {
    for (const index_t row : columns_.column(i))
      if (owner_(row) != owner_(i) && pages_.page_of_counter(row) == page && --shared_[row] == 0 &&
          waiting_for_[row] == 1)
        pages_.satisfy(page, owner_(row), row);
  }
  void touch(int page, int d, double now) {
    if (pages_.is_at(page, d)) return serve(page, d, now);
    if (pages_.start_move(page, d)) loop_.plan(now + 1e-6 * machine_.page_us, {Step::page, page});
  }
  /// What waits on this device for the page goes on.
  void serve(int page, int d, double now) {
    for (const int i : pages_.take_wanted(page, d)) {
      const ColumnPages::Phase phase = pages_.phase(i);
      if (phase == ColumnPages::Phase::counters) count_down(i, page);
      if (pages_.come(i) > 0) continue;
      switch (phase) {
        case ColumnPages::Phase::sums: touch_counters(i, now); break;
        case ColumnPages::Phase::counters: loop_.plan(now, {Step::done, i}); break;
        case ColumnPages::Phase::reading: read_shared(i, now); break;
      }
    }
    for (const int i : pages_.take_satisfied(page, d)) {
      pages_.poll(page, d, -1);
      waiting_for_[i] = 2;
      pages_.begin(i, ColumnPages::Phase::reading);
      for (int sums = pages_.first_page_of_sums(i); sums <= pages_.last_page_of_sums(i); ++sums)
        want(i, sums, d, now);
      if (pages_.waits(i) == 0) read_shared(i, now);
    }
  }
  void read_shared(index_t i, double now) {
    loop_.plan(now + 1e-6 * machine_.local_us, {Step::ready, i});
  }

  const SparsityPattern& columns_;
  const ColumnMachine& machine_;
  const ColumnOwners owner_;
  EventLoop<Event>& loop_;
  std::vector<int> shared_;        // additions by others that are still to come
  std::vector<char> waiting_for_;  // 1: a warp polls the counter, 2: it has seen zero
  std::vector<bool> has_shared_;
  ColumnPages pages_;
};

/// The columns of each device, whose kernels the host starts task after task.
class DeviceTasks {
 public:
  DeviceTasks(const ColumnMachine& machine, const ColumnOwners& owner, EventLoop<Event>& loop)
      : machine_(machine),
        columns_of_task_(owner.columns_of_task),
        loop_(loop),
        own_(owner.devices),
        launched_(owner.devices),
        ended_(owner.devices) {}

  void add_column(int d, index_t j) { own_[d].push_back(j); }
  index_t column(int d, offset_t number) const { return own_[d][number]; }

  void plan_launches() {
    for (int d = 0; d < static_cast<int>(own_.size()); ++d) {
      const index_t at_once = machine_.one_after_another ? std::min<index_t>(1, num_tasks(d)) : num_tasks(d);
      for (index_t task = 0; task < at_once; ++task)
        loop_.plan(started(task), {Step::launch, d, static_cast<int>(task)});
    }
  }
  void launch(int d, int task) { launched_[d] = task + 1; }
  /// Columns of tasks that were launched.
  offset_t num_launched(int d) const {
    return std::min<offset_t>(static_cast<offset_t>(own_[d].size()),
                              offset_t{launched_[d]} * columns_of_task_);
  }
  /// The last column of a kernel lets the next one begin.
  void end_column(int d, double now) {
    const int task = launched_[d];
    if (++ended_[d] < num_launched(d)) return;
    if (task < num_tasks(d))
      loop_.plan(std::max(started(task), now + 1e-6 * machine_.gap_us), {Step::launch, d, task});
  }

 private:
  index_t num_tasks(int d) const {
    const auto count = static_cast<offset_t>(own_[d].size());
    return static_cast<index_t>((count + columns_of_task_ - 1) / columns_of_task_);
  }
  /// The host has started a device's kernel of this number.
  double started(index_t task) const { return 1e-6 * machine_.launch_us * (task + 1); }

  const ColumnMachine& machine_;
  index_t columns_of_task_;
  EventLoop<Event>& loop_;
  std::vector<std::vector<index_t>> own_;
  std::vector<int> launched_;    // tasks
  std::vector<offset_t> ended_;  // columns
};

/// The columns of all devices, from event to event.
class Run {
 public:
  Run(const ColumnCase& given, const ColumnMachine& machine)
      : case_(given),
        machine_(machine),
        columns_(given.strict),
        n_(columns_.cols),
        devices_(given.devices),
        owner_{ColumnDeal::of(n_, devices_, given.tasks_per_device).columns_of_task, devices_},
        remaining_(static_cast<std::size_t>(n_) * devices_),
        missing_(n_),
        taken_at_(n_, -1),
        next_(devices_),
        free_(devices_, machine.warps),
        pipe_(devices_),
        tasks_(machine, owner_, loop_),
        links_(machine, devices_),
        managed_(given, machine, owner_, loop_) {
    count_entries();
  }

  ColumnSimulation simulate() {
    tasks_.plan_launches();
    loop_.run([this](double now, Event event) { handle(now, event); });
    result_.page_moves = managed_.moves();
    result_.messages += result_.polls;
    result_.bytes += 4 * result_.polls;
    return result_;
  }

 private:
  int owner(index_t row) const { return owner_(row); }
  int& remaining(int device, index_t row) { return remaining_[slot(device, row)]; }
  std::size_t slot(int e, index_t row) const {
    return static_cast<std::size_t>(row) * devices_ + static_cast<std::size_t>(e);
  }
  /// Of a row, for all right-hand sides.
  offset_t bytes_of_sums() const { return offset_t{8} * case_.num_rhs; }
  /// Additions for an entry over those with one right-hand side: to its sums and to one counter.
  double additions() const { return (case_.num_rhs + 1.0) / 2; }

  void count_entries() {
    for (index_t j = 0; j < n_; ++j) {
      tasks_.add_column(owner(j), j);
      for (const index_t row : columns_.column(j)) ++remaining(owner(j), row);
    }
    for (index_t row = 0; row < n_; ++row)
      for (int e = 0; e < devices_; ++e) {
        if (remaining(e, row) == 0) continue;
        const bool is_own = e == owner(row);
        (is_own ? result_.local_additions : result_.other_additions) += remaining(e, row);
        result_.sums += is_own ? 0 : 1;
        is_source_[slot(e, row)] = true;
        if (case_.sharing != SumSharing::unified || is_own) {
          ++missing_[row];
        } else {
          managed_.add_source(row, remaining(e, row));
        }
      }
    if (case_.sharing == SumSharing::unified) return;
    result_.bytes = bytes_of_sums() * result_.sums;
    result_.messages = result_.sums * (case_.sharing == SumSharing::zero_copy ? case_.num_rhs : 1);
  }

  void handle(double now, Event event) {
    result_.seconds = now;
    switch (event.step) {
      case Step::launch:
        tasks_.launch(event.a, event.b);
        return take(event.a, now);
      case Step::seen: return see(event.a, event.b, now);
      case Step::ready: return solve(event.a, now);
      case Step::update:
        if (case_.sharing == SumSharing::unified) return add_managed(event.a, now);
        return add_all(event.a, now);
      case Step::done:
        ++free_[owner(event.a)];
        if (machine_.one_after_another) tasks_.end_column(owner(event.a), now);
        return take(owner(event.a), now);
      case Step::page: return managed_.arrive(event.a, now);
    }
  }

  /// Free warps take the next columns of launched tasks.
  void take(int d, double now) {
    const offset_t end = tasks_.num_launched(d);
    for (; free_[d] > 0 && next_[d] < end; ++next_[d], --free_[d]) begin(tasks_.column(d, next_[d]), now);
  }

  void begin(index_t i, double now) {
    const int d = owner(i);
    taken_at_[i] = now;
    if (missing_[i] == 0) return wait_for_shared(i, now);
    if (case_.sharing == SumSharing::unified) {
      if (remaining(d, i) == 0) plan_seen(i, d, now);
      return;
    }
    for (int e = 0; e < devices_; ++e) {
      if (!is_source_[slot(e, i)]) continue;
      if (e != d && case_.sharing == SumSharing::zero_copy) links_.add_poller(d, e, 1);
      if (complete_at_[slot(e, i)] >= 0) plan_seen(i, e, std::max(now, complete_at_[slot(e, i)]));
    }
  }

  void plan_seen(index_t i, int e, double now) {
    const int d = owner(i);
    const bool is_polled = case_.sharing == SumSharing::zero_copy && e != d;
    const double seconds = is_polled ? links_.remote_seconds(d, e) : 1e-6 * machine_.local_us;
    loop_.plan(now + seconds, {Step::seen, i, e});
  }

  void see(index_t i, int e, double now) {
    const int d = owner(i);
    if (case_.sharing == SumSharing::zero_copy && e != d) {
      const double each = links_.remote_seconds(d, e);
      result_.polls += std::max<offset_t>(1, static_cast<offset_t>((now - taken_at_[i]) / each));
      links_.add_poller(d, e, -1);
      read_seconds_[i] = std::max(read_seconds_[i], each);
    }
    if (--missing_[i] == 0) wait_for_shared(i, now);
  }

  /// All additions that are not in managed memory have been seen.
  void wait_for_shared(index_t i, double now) {
    if (managed_.has(i)) return managed_.wait(i, now);
    loop_.plan(now + case_.num_rhs * read_seconds_[i], {Step::ready, i});  // one after the other
  }

  void solve(index_t i, double now) {
    result_.waiting_seconds += now - taken_at_[i];
    const offset_t passes = (offset_t{case_.num_rhs} + machine_.rhs_at_once - 1) / machine_.rhs_at_once;
    loop_.plan(now + 1e-6 * machine_.column_us * passes, {Step::update, i});
  }

  /// When a warp has made additions for `entries` entries.
  double end_of_additions(int d, std::size_t entries, double now) {
    const double rounds = additions() * static_cast<double>((entries + 31) / 32);
    pipe_[d] = std::max(pipe_[d], now) +
               1e-9 * machine_.entry_ns * additions() * static_cast<double>(entries);
    return std::max(now + 1e-6 * machine_.round_us * rounds, pipe_[d]);
  }

  void add_all(index_t i, double now) {
    const int d = owner(i);
    const auto rows = columns_.column(i);
    const double end = end_of_additions(d, rows.size(), now);
    for (const index_t row : rows)
      if (--remaining(d, row) == 0) complete(d, row, end);
    loop_.plan(end, {Step::done, i});
  }

  /// The same for own rows alone; others' sums are in managed memory.
  void add_managed(index_t i, double now) {
    const int d = owner(i);
    const auto rows = columns_.column(i);
    const double end = end_of_additions(d, rows.size(), now);
    for (const index_t row : rows)
      if (owner(row) == d && --remaining(d, row) == 0 && taken_at_[row] >= 0) plan_seen(row, d, end);
    managed_.update(i, now);
  }

  /// Device d has added all that it adds to this row.
  void complete(int d, index_t row, double at) {
    const int to = owner(row);
    if (case_.sharing == SumSharing::pushed && to != d) at = links_.put_arrival(d, to, bytes_of_sums(), at);
    complete_at_[slot(d, row)] = at;
    if (taken_at_[row] >= 0) plan_seen(row, d, at);
  }

  const ColumnCase& case_;
  const ColumnMachine& machine_;
  const SparsityPattern& columns_;
  index_t n_;
  int devices_;
  ColumnOwners owner_;
  std::vector<int> remaining_;  // by row and device
  std::vector<int> missing_;    // sources that a row's column has not seen
  std::vector<double> taken_at_;
  std::vector<offset_t> next_;  // column that a device takes, by number
  std::vector<int> free_;       // warps
  std::vector<double> pipe_;
  EventLoop<Event> loop_;
  DeviceTasks tasks_;
  SharedLinks links_;
  ManagedSums managed_;
  std::vector<double> read_seconds_ = std::vector<double>(n_);
  std::vector<bool> is_source_ = std::vector<bool>(remaining_.size());
  std::vector<double> complete_at_ = std::vector<double>(remaining_.size(), -1);  // by row and device
  ColumnSimulation result_;
};

void check(const ColumnCase& given, const ColumnMachine& machine) {
  if (given.devices < 1 || given.devices > machine.devices)
    throw UsageError(std::to_string(given.devices) + " devices of " + machine.name + ", which has " +
                     std::to_string(machine.devices));
  if (given.tasks_per_device < 1)
    throw UsageError(std::to_string(given.tasks_per_device) +
                     " tasks for each device; there must be at least 1");
  if (given.num_rhs < 1)
    throw UsageError(std::to_string(given.num_rhs) + " right-hand sides; there must be at least 1");
  if (machine.rhs_at_once < 1)
    throw UsageError(machine.name + " takes " + std::to_string(machine.rhs_at_once) +
                     " right-hand sides at a time; it must take at least 1");
}

/// One run behind the other.
void add(ColumnSimulation& sum, const ColumnSimulation& run) {
  sum.seconds += run.seconds;
  sum.waiting_seconds += run.waiting_seconds;
  sum.local_additions += run.local_additions;
  sum.other_additions += run.other_additions;
  sum.sums += run.sums;
  sum.polls += run.polls;
  sum.messages += run.messages;
  sum.bytes += run.bytes;
  sum.page_moves.resize(run.page_moves.size());
  for (std::size_t d = 0; d < run.page_moves.size(); ++d) sum.page_moves[d] += run.page_moves[d];
}

}  // namespace

ColumnSimulation simulate_columns(const ColumnCase& given, const ColumnMachine& machine) {
  check(given, machine);
  ColumnSimulation all;
  for (index_t first = 0; first < given.num_rhs; first += most_rhs_of_run) {
    ColumnCase part = given;
    part.num_rhs = std::min(most_rhs_of_run, given.num_rhs - first);
    add(all, Run(part, machine).simulate());
  }
  return all;
}

}  // namespace palmette
