// Launches in the emulator of kernels with planted faults, which show that the emulator finds them. Only
// tests and benchmarks need them, and their many instances take long to compile.
#pragma once

#include "palmette/device/element_sweep.hpp"
#include "palmette/device/launches.hpp"
#include "palmette/device/region_exchange.hpp"
#include "palmette/device/triangle_elements.hpp"

namespace palmette::device {

/// The forward sweep by the tree with a planted fault.
emulate::Launch tree_forward_with(Fault fault, const TriangleSweep<double>& sweep, LaunchShape shape);
/// The sweep over rows, with or without warps_in_step.
emulate::Launch rows_with(Fault fault, const RowSweep<double>& sweep, const LaunchShape& shape);
/// The forward sweep of an element with a planted fault.
emulate::Launch element_forward_with(Fault fault, Link link, const ElementSweep<double>& sweep,
                                     const LaunchShape& shape);
/// One element's solve with a plain triangle over several devices.
emulate::Launch columns_with(Fault fault, Sharing sharing, const ColumnSweep<double>& sweep,
                             const LaunchShape& shape);
/// One element's share of a trial of regions with a planted fault.
emulate::Launch region_trial_with(ExchangeFault fault, const RegionTrial& trial, const LaunchShape& shape);

}  // namespace palmette::device
