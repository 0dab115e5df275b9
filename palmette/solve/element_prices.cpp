// Virtual time for the programs of kernels on several devices: tickets, waits, messages.
#include "palmette/solve/element_prices.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "palmette/simulate/simulate.hpp"
#include "palmette/solve/device_schedule.hpp"
#include "palmette/solve/element_program.hpp"

namespace palmette::solve_detail {

namespace {

using device::ElementTask, device::ElementTaskKind;

constexpr index_t threads_of_block = 256;

/// What the tasks of one element's sweep read.
class TaskWorks {
 public:
  TaskWorks(const HostElement& element, const HostProgram& program, const ElementsCase& given)
      : element_(element),
        program_(program),
        given_(given),
        tree_(block_tasks(element.structure->sweep->symbolic())) {}

  TaskWork of(const ElementTask& task) const {
    switch (task.kind) {
      case ElementTaskKind::tree:
        return tree_work(tree_.supernode_of[task.number]);
      case ElementTaskKind::triangle:
        return triangle_work(program_.value[task.number].width);
      case ElementTaskKind::blocks:
        return blocks_work(task);
      case ElementTaskKind::add_up:
        return vector_work(rows_of_sums(task.begin, task.end));
      case ElementTaskKind::arrive:
        return vector_work(program_.value[task.number].width);
      case ElementTaskKind::meet:
        return vector_work(program_.meeting[task.number].rows);
      case ElementTaskKind::reduce:
        return reduce_work(program_.reduction[task.number]);
    }
    return {};
  }
  /// Of the factor.
  double entries_of(const ElementTask& task) const {
    const bool reads = task.kind == ElementTaskKind::tree || task.kind == ElementTaskKind::triangle ||
                       task.kind == ElementTaskKind::blocks;
    return reads ? of(task).bytes / given_.scalar_bytes : 0;
  }

 private:
  TaskWork tree_work(index_t s) const {
    FactorWork one = sweep_work(element_.structure->sweep->symbolic(), s, s + 1);
    one.entries /= tree_.parts(s);
    return one.with_rhs(given_.scalar_bytes, 2, given_.num_rhs);
  }
  TaskWork triangle_work(int width) const {
    FactorWork one;
    one.entries = width * (width + 1) / 2.0;
    one.panels = 1;
    one.columns = width;
    return one.with_rhs(given_.scalar_bytes, 2, given_.num_rhs);
  }
  TaskWork blocks_work(const ElementTask& task) const {
    FactorWork one;
    for (int k = task.begin; k < task.end; ++k) {
      const BlockOfElement& block = element_.blocks[program_.block[k].panel];
      one.entries += static_cast<double>(block.count) * given_.symbolic.width(block.supernode);
      one.rows += block.count;
      ++one.panels;
    }
    return one.with_rhs(given_.scalar_bytes, 2, given_.num_rhs);
  }
  double rows_of_sums(int begin, int end) const {
    double rows = 0;
    for (int s = begin; s < end; ++s) {
      rows += program_.sum[s].rows;
      rows += rows_of_parts(program_.sum[s].begin, program_.sum[s].end);
    }
    return rows;
  }
  double rows_of_parts(int begin, int end) const {
    double rows = 0;
    for (int p = begin; p < end; ++p) rows += program_.part[p].count;
    return rows;
  }
  TaskWork reduce_work(const device::ElementReduction& one) const {
    const double rows = one.send >= 0 ? one.rows : program_.value[one.value].width;
    return vector_work(rows + rows_of_sums(one.sum_begin, one.sum_end) +
                       rows_of_parts(one.part_begin, one.part_end));
  }
  /// Rows of vectors, read and written.
  TaskWork vector_work(double rows) const {
    TaskWork work;
    work.bytes = 2 * rows * given_.num_rhs * given_.scalar_bytes;
    work.rows = rows;
    work.num_rhs = given_.num_rhs;
    return work;
  }

  const HostElement& element_;
  const HostProgram& program_;
  const ElementsCase& given_;
  BlockTasks tree_;
};

/// One sweep of all elements.
class PricedSweep {
 public:
  PricedSweep(const HostElements& all, bool forward, const ElementsCase& given, const Cluster& cluster)
      : given_(given), cluster_(cluster), links_(cluster, static_cast<index_t>(all.element.size())) {
    for (std::size_t e = 0; e < all.element.size(); ++e)
      elements_.emplace_back(all.element[e], forward ? all.element[e].forward : all.element[e].backward,
                             given);
  }

  offset_t most_panel_bytes() const {
    offset_t most = 0;
    for (const OneElement& one : elements_) most = std::max(most, one.panel_bytes);
    return most;
  }

  /// @returns when the last kernel has ended
  double run(double now, ElementsPrice& price) {
    price_ = &price;
    end_ = now;
    for (std::size_t e = 0; e < elements_.size(); ++e)
      free_workers(now, static_cast<int>(e));
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      if (event.kind == EventKind::free)
        take_ticket(event.element, event.number);
      else if (event.kind == EventKind::arrives)
        came(event.element, event.number);
      else
        finish(event.element, event.number);
    }
    return end_;
  }

 private:
  enum class EventKind { arrives, ends, free };
  struct Event {
    double time;
    EventKind kind;
    int element, number;                        // number: of a task; free: of a kernel
    bool operator<(const Event& other) const {  // the earliest is the top; of equals what came first in kind
      if (time != other.time) return time > other.time;
      if (kind != other.kind) return kind > other.kind;
      return element != other.element ? element > other.element : number > other.number;
    }
  };
  struct OneElement {
    OneElement(const HostElement& element, const HostProgram& given_program, const ElementsCase& given)
        : program(given_program),
          works(element, given_program, given),
          tasks(given_program),
          order{given.waits_apart ? &given_program.order_of_solves : &given_program.order,
                &given_program.order_of_waits} {
      for (const ElementTask& task : program.task)
        needs.push_back(task.wait_end - task.wait_begin + task.signal_end - task.signal_begin);
      waits_since.assign(program.task.size(), -1);
      dependents.resize(program.task.size());
      for (std::size_t t = 0; t < program.task.size(); ++t) {
        const ElementTask& task = program.task[t];
        for (int k = task.wait_begin; k < task.wait_end; ++k)
          dependents[program.wait[k]].push_back(static_cast<int>(t));
        for (int k = task.signal_begin; k < task.signal_end; ++k) {
          if (program.signal[k] >= static_cast<int>(task_of_signal.size()))
            task_of_signal.resize(program.signal[k] + 1, -1);
          task_of_signal[program.signal[k]] = static_cast<int>(t);
        }
      }
    }
    const HostProgram& program;
    TaskWorks works;
    SweepTasks tasks;
    std::vector<int> needs;
    std::vector<double> waits_since;  // by task: a block holds its ticket; −1: none does
    std::vector<std::vector<int>> dependents;
    std::vector<int> task_of_signal;
    const std::vector<int>* order[2];  // of each kernel's tasks; the second is there only if waits_apart
    std::size_t next[2] = {};          // tickets
    index_t busy = 0;
    offset_t panel_bytes = 0;  // of the tasks that have begun
  };

  void free_workers(double now, int e) {
    const index_t solve = cluster_.workers - (given_.waits_apart ? 1 : 0);
    const index_t wait = given_.waits_apart ? threads_of_block : 0;
    for (index_t worker = 0; worker < solve; ++worker) events_.push({now, EventKind::free, e, 0});
    for (index_t worker = 0; worker < wait; ++worker) events_.push({now, EventKind::free, e, 1});
  }
  void take_ticket(int e, int kernel) {
    OneElement& one = elements_[e];
    if (one.next[kernel] == one.order[kernel]->size()) return;
    const int task = (*one.order[kernel])[one.next[kernel]++];
    if (one.needs[task] == 0) return begin(e, task, now_);
    one.waits_since[task] = now_;
  }
  void came(int e, int task) {
    OneElement& one = elements_[e];
    if (--one.needs[task] == 0 && one.waits_since[task] >= 0) begin(e, task, one.waits_since[task]);
  }
  void begin(int e, int task, double since) {
    OneElement& one = elements_[e];
    ++one.busy;
    const ElementTask& what = one.program.task[task];
    const TaskWork work = one.works.of(what);
    const offset_t panel_bytes = std::llround(one.works.entries_of(what) * given_.scalar_bytes);
    price_->panel_bytes += panel_bytes;
    one.panel_bytes += panel_bytes;
    ++price_->tasks;
    const double look = std::max(cluster_.overheads_of_ranks().task_us, 0.1) * 1e-6;
    price_->polls += static_cast<offset_t>(std::ceil((now_ - since) / look));
    double seconds = cluster_.worker_seconds(work, rate_at(cluster_.memory_gbs, 1), one.busy);
    for (const RowsToSend& rows : sends_of(one, task))
      seconds += cluster_.link(e, rows.element).send_overhead_us * 1e-6;
    events_.push({now_ + seconds, EventKind::ends, e, task});
  }
  /// What the kernel sends after a task, values that pass through among it.
  std::vector<RowsToSend> sends_of(const OneElement& one, int task) const {
    const ElementTask& what = one.program.task[task];
    if (what.kind == ElementTaskKind::arrive)
      return sends_of_value(one.program, one.program.value[what.number]);
    return one.tasks.sends_of(task);
  }
  void finish(int e, int task) {
    OneElement& one = elements_[e];
    --one.busy;
    end_ = std::max(end_, now_);
    for (const RowsToSend& rows : sends_of(one, task)) {
      const auto bytes = static_cast<std::size_t>(rows.rows) * given_.num_rhs * given_.scalar_bytes;
      ++price_->messages;
      price_->message_bytes += static_cast<offset_t>(bytes);
      const OneElement& to = elements_[rows.element];
      events_.push({links_.arrival(e, rows.element, bytes, now_), EventKind::arrives, rows.element,
                    to.task_of_signal[rows.signal]});
    }
    for (const int after : one.dependents[task]) came(e, after);
    take_ticket(e, given_.waits_apart && one.program.task[task].kind == ElementTaskKind::arrive);
  }

  const ElementsCase& given_;
  const Cluster& cluster_;
  Interconnect links_;
  std::vector<OneElement> elements_;
  std::priority_queue<Event> events_;
  ElementsPrice* price_ = nullptr;
  double now_ = 0, end_ = 0;
};

}  // namespace
}  // namespace palmette::solve_detail

namespace palmette {

ElementsPrice price_elements(const ElementsCase& given, const Cluster& cluster) {
  check(cluster);
  if (given.waits_apart && cluster.workers < 2)
    throw UsageError("two kernels of a device need two resident blocks; " + cluster.name + " has " +
                     std::to_string(cluster.workers));
  const solve_detail::HostElements all =
      solve_detail::programs_of_world(given.symbolic, given.of_world, given.scalar_bytes);
  ElementsPrice price;
  const double launch = cluster.launch_us * (given.waits_apart ? 2e-6 : 1e-6);  // of a sweep
  const double rate = rate_at(cluster.memory_gbs, 1) * 1e9;
  const double vector_bytes = 2.0 * given.symbolic.n * given.num_rhs * given.scalar_bytes;
  const double move =
      cluster.launch_us * 1e-6 + vector_bytes / static_cast<double>(all.element.size()) / rate;
  const double begun = move + launch;
  solve_detail::PricedSweep forward(all, true, given, cluster);
  const double middle = forward.run(begun, price);
  price.most_panel_bytes = forward.most_panel_bytes();
  const double end = solve_detail::PricedSweep(all, false, given, cluster).run(middle + launch, price);
  price.forward_seconds = middle - move;
  price.backward_seconds = end - middle;
  price.seconds = end + move;
  return price;
}

}  // namespace palmette
