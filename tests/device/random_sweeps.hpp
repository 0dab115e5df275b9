// Sweeps of every kernel and scalar type on random values, to compare the bits of two builds of a kernel. No
// system is solved: any values that stay finite will do.
#pragma once

#include <cstring>

#include "palmette/device/kernel_call.hpp"
#include "palmette/device/numbers.cuh"
#include "tests/device/forward_sweeps.hpp"

namespace palmette::sweeps {

/// Real and imaginary parts within [−1/8, 1/8], multiples of 1/8000.
template <class T>
T random_value(std::mt19937& random) {
  using Real = real_of<T>;
  Real parts[sizeof(T) / sizeof(Real)];
  for (Real& part : parts) part = static_cast<Real>(thousandths(random) / 8);
  T value;
  std::memcpy(&value, parts, sizeof value);
  return value;
}
template <class T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = random_value<T>(random);
  return values;
}

/// Bytes of what a sweep leaves in x, and all reports.
struct Outcome {
  std::vector<unsigned char> bytes;
  std::vector<std::string> errors;
};
template <class T>
Outcome outcome_of(const T* x, std::size_t count, const Report& report) {
  Outcome outcome{std::vector<unsigned char>(count * sizeof(T)), report.errors};
  std::memcpy(outcome.bytes.data(), x, outcome.bytes.size());
  return outcome;
}

/// Every third panel is guarded, every second one permuted (its rows reversed).
template <class T>
Panels<T> random_panels(const Problem& p) {
  std::vector<T> values;
  std::vector<long long> offset;
  std::vector<unsigned char> form, log_height;
  std::vector<int> place;
  std::mt19937 random(3);
  for (int s = 0; s < p.count(); ++s) {
    const PanelLayout layout = layout_of<T>(p, s);
    offset.push_back(static_cast<long long>(values.size()));
    constexpr long long aligned = panel_alignment<T>;
    const long long entries = (layout.entries() + aligned - 1) / aligned * aligned;
    for (long long k = 0; k < entries; ++k) values.push_back(random_value<T>(random));
    form.push_back(static_cast<unsigned char>((s % 3 == 1 ? guarded : 0) | (s % 2 == 1 ? permuted : 0)));
    log_height.push_back(static_cast<unsigned char>(std::countr_zero(static_cast<unsigned>(layout.height))));
    for (int row = p.width(s) - 1; row >= 0; --row) place.push_back(row);
  }
  return {upload(values), upload(offset), upload(form), upload(log_height), upload(place)};
}

/// @param num_rhs  1 or a multiple of rhs_of_lane
template <class T>
TriangleSweep<T> random_sweep(const Problem& p, int num_rhs) {
  std::size_t rows_below = 0;
  TriangleSweep<T> sweep{};
  for (int s = 0; s < p.count(); ++s) {
    rows_below += p.below[s].size();
    sweep.at.widest = std::max(sweep.at.widest, p.width(s));
  }
  const std::size_t n = static_cast<std::size_t>(p.n()), rhs = static_cast<std::size_t>(num_rhs);
  sweep.tree = upload_tree(p);
  sweep.panels = random_panels<T>(p);
  std::vector<T> below(n);  // blocks of two rows do not cross supernodes
  for (int s = 0; s < p.count(); ++s)
    if (p.width(s) >= 2) below[p.begin[s]] = random_values<T>(n, 6)[s];
  sweep.diagonal = {upload(random_values<T>(n, 5)), upload(below), true};
  sweep.at.in = upload(random_values<T>(n * rhs, 4));
  sweep.at.x = upload(random_values<T>(n * rhs, 7));
  sweep.at.update = allocate_array<T>(rows_below * rhs);
  sweep.at.sum = allocate_array<T>(n * rhs);
  const std::size_t groups = num_rhs == 1 ? 1 : rhs / rhs_of_lane;
  std::vector<int> missing;
  for (const int count : num_sources(p)) missing.insert(missing.end(), groups, count);
  sweep.at.missing = upload(missing);
  sweep.at.done = allocate_array<int>(static_cast<std::size_t>(sweep.tree.num_tasks) * groups);
  sweep.at.ticket = allocate_array<int>(2);
  sweep.at.num_small = tasks_of(p).num_small;
  sweep.at.sweep = 1;
  sweep.at.stride = sweep.at.tile = num_rhs;
  sweep.at.end = sweep.tree.num_tasks;
  sweep.at.adjoint = true;
  return sweep;
}

/// Level after level, from the leaves or to them; other sweeps in one launch.
template <class T>
std::vector<TriangleSweep<T>> launches_of(const Problem& p, Kernel kernel, TriangleSweep<T> all) {
  const TaskList tasks = tasks_of(p);
  const bool backward = kernel == Kernel::tree_backward || kernel == Kernel::columns_backward;
  all.at.order = upload(backward ? tasks.backward : tasks.forward);
  if (kernel != Kernel::level_forward && kernel != Kernel::level_backward) return {all};
  all.at.order = upload(tasks.by_level);
  std::vector<TriangleSweep<T>> sweeps;
  const std::vector<int>& begin = tasks.level_begin;
  for (std::size_t level = 0; level + 1 < begin.size(); ++level) {
    sweeps.push_back(all);
    sweeps.back().at.first = begin[level];
    sweeps.back().at.end = begin[level + 1];
  }
  if (kernel == Kernel::level_backward) std::reverse(sweeps.begin(), sweeps.end());
  return sweeps;
}

/// The columns of the triangle as rows.
template <class T>
RowSweep<T> random_rows(const SparseTriangle& triangle, int num_rhs) {
  const std::size_t n = static_cast<std::size_t>(triangle.n());
  std::vector<std::vector<int>> rows(n);
  for (int c = 0; c < triangle.n(); ++c)
    for (const auto& [row, value] : triangle.below[c]) rows[row].push_back(c);
  std::vector<long long> ptr{0};
  std::vector<int> column;
  for (const auto& row : rows) {
    column.insert(column.end(), row.begin(), row.end());
    ptr.push_back(static_cast<long long>(column.size()));
  }
  std::vector<T> diagonal = random_values<T>(n, 8);
  for (T& entry : diagonal) {  // away from zero
    real_of<T> real = 1.5;
    std::memcpy(&entry, &real, sizeof real);
  }
  const std::vector<T> values = random_values<T>(column.size(), 7);
  const RowSlices<T> slices =
      cut_into_slices<T>({triangle.n(), ptr.data(), column.data(), values.data(), false});
  return {slices.num_slices(),
          upload(slices.begin),
          upload(slices.first),
          upload(slices.row),
          upload(slices.column),
          upload(slices.value),
          upload(diagonal),
          upload(random_values<T>(n * static_cast<std::size_t>(num_rhs), 9)),
          allocate_array<int>(n),
          allocate_array<int>(1),
          1,
          num_rhs};
}

/// @param x  if given, the solution
inline Report try_rows(const SparseTriangle& triangle, Fault fault, const Options& options,
                       const LaunchShape& shape, std::vector<double>* x = nullptr) {
  reset_memory(1);
  const RowSweep<double> sweep = random_rows<double>(triangle, 1);
  Report report = run({rows_with(fault, sweep, shape)}, options);
  if (x != nullptr) x->assign(sweep.x, sweep.x + triangle.n());
  return report;
}

}  // namespace palmette::sweeps
