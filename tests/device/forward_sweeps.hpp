// Trials of the forward sweeps of the room device in the emulator.
#pragma once

#include <bit>
#include <functional>
#include <utility>

#include "palmette/device/device.hpp"
#include "tests/device/problems.hpp"

namespace palmette::sweeps {
using namespace palmette::device;
using namespace palmette::emulate;

inline Options options_of(int seed, int resident_blocks) {
  Options options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.resident_blocks = resident_blocks;
  return options;
}

struct Trial {
  Report report;
  double error;
  std::uint64_t bits;
};

inline Trial judge(Report report, const std::vector<long double>& want, const std::vector<double>& x) {
  std::uint64_t hash = 1469598103934665603u;
  for (const double value : x) hash = (hash ^ to_bits(value)) * 1099511628211u;
  return {std::move(report), worst(want, x), hash};
}

// One device.

/// A problem in device memory, ready for one forward sweep with one right-hand side.
struct OnDevice {
  TriangleSweep<double> sweep{};
  LaunchShape shape;
};

/// For each row of [own columns; rows below] of each supernode: the rows below of children that it is.
inline std::vector<std::vector<int>> sources_of(const Problem& p, const std::vector<long long>& below) {
  std::vector<std::vector<int>> sources(static_cast<std::size_t>(p.n() + below.back()));
  for (int s = 0; s < p.count(); ++s) {
    if (p.below[s].empty()) continue;
    const int up = p.parent[s];
    const auto& rows = p.below[up];
    for (std::size_t k = 0; k < p.below[s].size(); ++k) {
      const int row = p.below[s][k];
      const auto place = std::lower_bound(rows.begin(), rows.end(), row) - rows.begin();
      const auto own = row < p.begin[up + 1] ? row - p.begin[up] : p.width(up) + place;
      sources[p.begin[up] + below[up] + own].push_back(static_cast<int>(below[s]) + static_cast<int>(k));
    }
  }
  return sources;
}

inline Tree upload_tree(const Problem& p) {
  const std::vector<int> owner = p.owners();
  const TaskList tasks = tasks_of(p);
  std::vector<long long> below{0};
  std::vector<int> row, source_ptr{0}, source, child_task_ptr{0}, child_task, target_ptr{0}, target;
  for (int s = 0; s < p.count(); ++s) {
    std::set<int> targets;
    for (const int k : p.below[s]) {
      row.push_back(k);
      targets.insert(owner[k]);
    }
    below.push_back(static_cast<long long>(row.size()));
    for (const int child : p.children[s])
      for (int task = tasks.ptr[child]; task < tasks.ptr[child + 1]; ++task) child_task.push_back(task);
    child_task_ptr.push_back(static_cast<int>(child_task.size()));
    target.insert(target.end(), targets.begin(), targets.end());
    target_ptr.push_back(static_cast<int>(target.size()));
  }
  for (const std::vector<int>& of_row : sources_of(p, below)) {
    source.insert(source.end(), of_row.begin(), of_row.end());
    source_ptr.push_back(static_cast<int>(source.size()));
  }
  return {p.count(),
          tasks.ptr.back(),
          upload(p.begin),
          upload(p.parent),
          upload(below),
          upload(row),
          upload(source_ptr),
          upload(source),
          upload(child_task_ptr),
          upload(child_task),
          upload(target_ptr),
          upload(target),
          upload(tasks.ptr),
          upload(tasks.supernode)};
}

template <class T>
PanelLayout layout_of(const Problem& p, int s) {
  return panel_layout<T>(p.width(s), p.panel_rows(s), parts_of(p, s), p.is_small(s) ? 1 : warps_of_block);
}

inline Panels<double> upload_panels(const Problem& p) {
  std::vector<double> values;
  std::vector<long long> offset;
  std::vector<unsigned char> log_height;
  for (int s = 0; s < p.count(); ++s) {
    const PanelLayout layout = layout_of<double>(p, s);
    offset.push_back(static_cast<long long>(values.size()));
    constexpr long long aligned = panel_alignment<double>;
    const long long end = offset.back() + layout.entries();
    values.resize(static_cast<std::size_t>((end + aligned - 1) / aligned * aligned));
    pack_panel(layout, [&](int row, int column) { return p.entry(s, row, column); },
               values.data() + offset.back());
    log_height.push_back(static_cast<unsigned char>(std::countr_zero(static_cast<unsigned>(layout.height))));
  }
  const std::vector<unsigned char> form(p.count());
  return {upload(values), upload(offset), upload(form), upload(log_height), nullptr};
}

inline OnDevice load_device(const Problem& p, const std::vector<double>& b, LaunchShape shape) {
  OnDevice d;
  int rows_below = 0, widest = 0;
  for (int s = 0; s < p.count(); ++s) {
    rows_below += static_cast<int>(p.below[s].size());
    widest = std::max(widest, p.width(s));
  }
  d.sweep.tree = upload_tree(p);
  d.sweep.panels = upload_panels(p);
  SweepVectors<double>& at = d.sweep.at;
  at.in = upload(b);
  at.x = allocate_array<double>(p.n());
  at.update = allocate_array<double>(rows_below);
  at.sum = allocate_array<double>(p.n());
  at.missing = upload(num_sources(p));
  at.done = allocate_array<int>(d.sweep.tree.num_tasks);
  at.order = upload(tasks_of(p).forward);
  at.ticket = allocate_array<int>(2);
  at.num_small = tasks_of(p).num_small;
  at.sweep = at.stride = at.tile = 1;
  at.widest = widest;
  d.shape = shape;
  d.shape.shared_bytes = std::max(shared_bytes_of_sweep<double>(widest, 1), shared_bytes_of_small<double, 1>);
  return d;
}

/// Makes the launch of a trial: of the kernel as g++ compiled it, unless a test says otherwise.
using FaultLauncher = std::function<Launch(Fault, const TriangleSweep<double>&, LaunchShape)>;

inline Trial try_tree(const Problem& p, Fault fault, const Options& options, const LaunchShape& shape,
                      const FaultLauncher& launch_tree = tree_forward_with) {
  reset_memory(1);
  const auto b = right_hand_side(p.n());
  const OnDevice d = load_device(p, b, shape);
  Report report = run({launch_tree(fault, d.sweep, d.shape)}, options);
  return judge(std::move(report), reference(p, b), {d.sweep.at.x, d.sweep.at.x + p.n()});
}

inline Trial try_columns(const Problem& p, const Options& options, const LaunchShape& shape) {
  reset_memory(1);
  const auto b = right_hand_side(p.n());
  const OnDevice d = load_device(p, b, shape);
  const KernelCall call{Kernel::columns_forward, ScalarType::float64, 1, &d.sweep};
  Report report = run({emulated_launch(call, d.shape)}, options);
  return judge(std::move(report), reference(p, b), {d.sweep.at.x, d.sweep.at.x + p.n()});
}

// Several devices.

/// An array of one device alone. @returns its address there
template <class T>
const T* upload_there(const std::vector<T>& values, int device) {
  return on_device(upload(values, device), device);
}

inline Report run_on(int devices, const std::vector<Launch>& launches, Options options) {
  options.devices = devices;
  return run(launches, options);
}

/// Columns are dealt out in tasks of so many.
struct TaskDeal {
  int pes, columns;
  int pe_of(int column) const { return column / columns % pes; }
};

/// What element q holds. @param remaining  entries of each row that element q adds
inline ElementColumns<double> element_columns(const SparseTriangle& triangle, TaskDeal deal, int q,
                                              int* remaining) {
  std::vector<int> column, row;
  std::vector<long long> ptr{0};
  std::vector<double> value, diagonal;
  std::vector<unsigned> sources(triangle.n());
  for (int c = 0; c < triangle.n(); ++c) {
    for (const auto& [r, entry] : triangle.below[c]) sources[r] |= 1u << deal.pe_of(c);
    if (deal.pe_of(c) != q) continue;
    column.push_back(c);
    for (const auto& [r, entry] : triangle.below[c]) {
      row.push_back(r);
      value.push_back(entry);
      ++remaining[r];
    }
    ptr.push_back(static_cast<long long>(row.size()));
    diagonal.push_back(SparseTriangle::diagonal);
  }
  const auto put = [q](const auto& array) { return upload_there(array, q); };
  std::vector<unsigned> first_slot, next(deal.pes);
  for (int r = 0; r < triangle.n(); ++r) {
    const int owner = deal.pe_of(r);
    first_slot.push_back(next[owner]);
    next[owner] += static_cast<unsigned>(std::popcount(sources[r] & ~(1u << owner)));
  }
  return {triangle.n(), deal.columns,  static_cast<int>(column.size()), put(column), put(ptr), put(row),
          put(value),   put(diagonal), put(sources),                    put(first_slot)};
}

/// What launches the columns of one element; columns_with, or what nvcc made of its kernel.
using ColumnLauncher = std::function<Launch(Fault, Sharing, const ColumnSweep<double>&, LaunchShape)>;

/// What the elements of one trial share.
struct SharedColumns {
  SharedColumns(int n, int pes, int rhs)
      : sum(allocate_array<double>(n * rhs)),
        slot(allocate_array<double>(pes * n * rhs)),
        x(allocate_array<double>(n * rhs)),
        remaining(allocate_array<int>(n)),
        ticket(allocate_array<int>(1)),
        arrived(allocate_array<std::uint64_t>(pes * n)),
        status(allocate_array<ElementStatus>(1)),
        managed_sum(static_cast<double*>(allocate_managed(8 * n * rhs))),
        managed_remaining(static_cast<int*>(allocate_managed(4 * n))) {
    for (int q = 0; q < pes; ++q) {
      sums.push_back(on_device(sum, q));
      counters.push_back(on_device(remaining, q));
      slots.push_back(on_device(slot, q));
      flags.push_back(on_device(arrived, q));
    }
  }

  double *sum, *slot, *x;
  int *remaining, *ticket;
  std::uint64_t* arrived;
  ElementStatus* status;
  double* managed_sum;
  int* managed_remaining;
  std::vector<const double*> sums;
  std::vector<const int*> counters;
  std::vector<double*> slots;
  std::vector<std::uint64_t*> flags;
};

/// A solve over several devices, by any of the ways in which they share sums.
struct ColumnTrial {
  const SparseTriangle& triangle;
  TaskDeal deal;
  Sharing sharing;
  Fault fault = Fault::none;
  int num_rhs = 1;
  long long most_polls = 0;  ///< 0: kernels wait for ever

  std::vector<double> own_rows(const std::vector<double>& b, int q) const {
    std::vector<double> own;
    for (int c = 0; c < triangle.n(); ++c)
      if (deal.pe_of(c) == q) own.insert(own.end(), &b[c * num_rhs], &b[c * num_rhs] + num_rhs);
    return own;
  }
  ColumnSweep<double> sweep(const SharedColumns& all, const std::vector<double>& b, int q) const {
    int* const here = on_device(all.remaining, q);
    ColumnSweep<double> made{q, deal.pes, element_columns(triangle, deal, q, here), {}, {}, nullptr};
    for (int c = 0; c < triangle.n(); ++c)
      if (sharing == Sharing::unified && deal.pe_of(c) != q)
        all.managed_remaining[c] += std::exchange(here[c], 0);
    made.at = {num_rhs,
               upload_there(own_rows(b, q), q),
               on_device(all.x, q),
               on_device(all.sum, q),
               here,
               on_device(all.ticket, q),
               all.managed_sum,
               all.managed_remaining,
               upload_there(all.sums, q),
               upload_there(all.counters, q),
               on_device(all.slot, q),
               on_device(all.arrived, q),
               1,
               upload_there(all.slots, q),
               upload_there(all.flags, q)};
    if (most_polls > 0) made.watch = {on_device(all.status, q), most_polls};
    return made;
  }
  /// Row after row, as they lie on the elements.
  std::vector<double> solution(const SharedColumns& all) const {
    std::vector<double> x;
    std::vector<int> next(deal.pes);
    for (int c = 0; c < triangle.n(); ++c) {
      const int q = deal.pe_of(c);
      const double* const row = on_device(all.x, q) + num_rhs * next[q]++;
      x.insert(x.end(), row, row + num_rhs);
    }
    return x;
  }
  std::vector<long double> expected(const std::vector<double>& b) const {
    std::vector<long double> want(b.size());
    for (int rhs = 0; rhs < num_rhs; ++rhs) {
      std::vector<double> one;
      for (int c = 0; c < triangle.n(); ++c) one.push_back(b[c * num_rhs + rhs]);
      const std::vector<long double> x = reference(triangle, one);
      for (int c = 0; c < triangle.n(); ++c) want[c * num_rhs + rhs] = x[c];
    }
    return want;
  }
};

inline Trial try_columns_of_elements(const ColumnTrial& trial, const Options& options, LaunchShape shape,
                                     const ColumnLauncher& launch_columns = columns_with) {
  reset_memory(trial.deal.pes);
  const auto b = right_hand_side(trial.triangle.n() * trial.num_rhs);
  const SharedColumns all(trial.triangle.n(), trial.deal.pes, trial.num_rhs);
  std::vector<Launch> launches;
  for (int q = 0; q < trial.deal.pes; ++q)
    launches.push_back(launch_columns(trial.fault, trial.sharing, trial.sweep(all, b, q), shape));
  Options peers = options;
  peers.peer_access = true;
  Report report = run_on(trial.deal.pes, launches, peers);
  return judge(std::move(report), trial.expected(b), trial.solution(all));
}

}  // namespace palmette::sweeps
