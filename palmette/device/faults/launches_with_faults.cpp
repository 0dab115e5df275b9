// Compiled with -fsanitize=thread, as launches.cpp is.
#include "palmette/device/instrumented.hpp"

#include "palmette/device/faults/launches_with_faults.hpp"

#include "palmette/device/element_sweep.cuh"
#include "palmette/device/region_exchange.cuh"
#include "palmette/device/sweep_kernels.cuh"
#include "palmette/device/triangle_elements.cuh"

namespace palmette::device {
namespace {

using Closure = std::function<void()>;

template <Fault f>
Closure tree_with(const TriangleSweep<double>& sweep) {
  return [=] { tree_forward_kernel<double, 1, f>(sweep); };
}

template <Fault f>
Closure element_with(Link link, const ElementSweep<double>& sweep) {
  if (link == Link::network) return [=] { network_forward_kernel<double, 1, f>(sweep); };
  return [=] { element_forward_kernel<double, 1, f>(sweep); };
}

template <Fault f, int K>
Closure columns_closure(Sharing sharing, const ColumnSweep<double>& sweep) {
  switch (sharing) {
    case Sharing::unified: return [=] { over_columns<double, K>(sweep, UnifiedSums<double, f>{sweep}); };
    case Sharing::zero_copy: return [=] { over_columns<double, K>(sweep, ZeroCopySums<double, f>(sweep)); };
    case Sharing::pushed:
      return [=] { over_columns<double, K>(sweep, PushedSums<double, Sharing::pushed, f>{sweep}); };
    case Sharing::put:
      return [=] { put_columns<double, K, f>(sweep); };
  }
  return {};
}

template <Fault f>
Closure columns_closure_of(Sharing sharing, const ColumnSweep<double>& sweep) {
  return sweep.at.num_rhs == 1 ? columns_closure<f, 1>(sharing, sweep)
                               : columns_closure<f, rhs_of_lane>(sharing, sweep);
}

template <ExchangeFault f>
Closure region_with(const RegionTrial& trial) {
  return [=] { region_trial_kernel<f>(trial); };
}

}  // namespace

emulate::Launch tree_forward_with(Fault fault, const TriangleSweep<double>& sweep, LaunchShape shape) {
  if (fault == Fault::no_tickets) shape.blocks = sweep.tree.num_tasks;
  const auto with = [&](Closure kernel) { return launch_of(0, shape, std::move(kernel)); };
  switch (fault) {
    case Fault::relaxed_flag: return with(tree_with<Fault::relaxed_flag>(sweep));
    case Fault::narrow_scope: return with(tree_with<Fault::narrow_scope>(sweep));
    case Fault::no_tickets: return with(tree_with<Fault::no_tickets>(sweep));
    case Fault::divergent_shuffle: return with(tree_with<Fault::divergent_shuffle>(sweep));
    case Fault::missing_barrier: return with(tree_with<Fault::missing_barrier>(sweep));
    case Fault::no_acquire: return with(tree_with<Fault::no_acquire>(sweep));
    case Fault::store_outside: return with(tree_with<Fault::store_outside>(sweep));
    case Fault::unequal_barriers: return with(tree_with<Fault::unequal_barriers>(sweep));
    case Fault::early_reuse:    // of kernels over several devices
    case Fault::wrong_size:     // the same
    case Fault::warps_in_step:  // of the kernel for rows
    case Fault::short_message:  // of elements
    case Fault::no_network_wait:  // the same
    case Fault::no_quiet:         // of columns
    case Fault::none: return with(tree_with<Fault::none>(sweep));
  }
  return {};
}

emulate::Launch element_forward_with(Fault fault, Link link, const ElementSweep<double>& sweep,
                                     const LaunchShape& shape) {
  const auto with = [&](Closure kernel) { return launch_of(0, shape, std::move(kernel)); };
  switch (fault) {
    case Fault::relaxed_flag: return with(element_with<Fault::relaxed_flag>(link, sweep));
    case Fault::narrow_scope: return with(element_with<Fault::narrow_scope>(link, sweep));
    case Fault::missing_barrier: return with(element_with<Fault::missing_barrier>(link, sweep));
    case Fault::no_acquire: return with(element_with<Fault::no_acquire>(link, sweep));
    case Fault::early_reuse: return with(element_with<Fault::early_reuse>(link, sweep));
    case Fault::short_message: return with(element_with<Fault::short_message>(link, sweep));
    case Fault::no_network_wait: return with(element_with<Fault::no_network_wait>(link, sweep));
    default: return with(element_with<Fault::none>(link, sweep));
  }
}

emulate::Launch rows_with(Fault fault, const RowSweep<double>& sweep, const LaunchShape& shape) {
  if (fault == Fault::warps_in_step)
    return launch_of(0, shape, [=] { take_rows<double, 1, Fault::warps_in_step>(sweep); });
  return launch_of(0, shape, [=] { take_rows<double, 1, Fault::none>(sweep); });
}

emulate::Launch columns_with(Fault fault, Sharing sharing, const ColumnSweep<double>& sweep,
                             const LaunchShape& shape) {
  const auto with = [&](Closure kernel) { return launch_of(sweep.element, shape, std::move(kernel)); };
  switch (fault) {
    case Fault::narrow_scope: return with(columns_closure_of<Fault::narrow_scope>(sharing, sweep));
    case Fault::no_acquire: return with(columns_closure_of<Fault::no_acquire>(sharing, sweep));
    case Fault::relaxed_flag: return with(columns_closure_of<Fault::relaxed_flag>(sharing, sweep));
    case Fault::wrong_size: return with(columns_closure_of<Fault::wrong_size>(sharing, sweep));
    case Fault::no_network_wait: return with(columns_closure_of<Fault::no_network_wait>(sharing, sweep));
    case Fault::early_reuse: return with(columns_closure_of<Fault::early_reuse>(sharing, sweep));
    case Fault::no_quiet: return with(columns_closure_of<Fault::no_quiet>(sharing, sweep));
    default: return with(columns_closure_of<Fault::none>(sharing, sweep));
  }
}

emulate::Launch region_trial_with(ExchangeFault fault, const RegionTrial& trial, const LaunchShape& shape) {
  const auto with = [&](Closure kernel) { return launch_of(trial.exchange.rank, shape, std::move(kernel)); };
  switch (fault) {
    case ExchangeFault::unfenced_count:
      return with(region_with<ExchangeFault::unfenced_count>(trial));
    case ExchangeFault::narrow_count:
      return with(region_with<ExchangeFault::narrow_count>(trial));
    case ExchangeFault::unfenced_hand_over:
      return with(region_with<ExchangeFault::unfenced_hand_over>(trial));
    case ExchangeFault::unfenced_take:
      return with(region_with<ExchangeFault::unfenced_take>(trial));
    case ExchangeFault::read_again:
      return with(region_with<ExchangeFault::read_again>(trial));
    case ExchangeFault::epoch_unchecked:
      return with(region_with<ExchangeFault::epoch_unchecked>(trial));
    case ExchangeFault::none:
      return with(region_with<ExchangeFault::none>(trial));
  }
  return {};
}

}  // namespace palmette::device
