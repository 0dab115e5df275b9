// The nodes on which [Xie et al. 2021] measured, as the column model sees them. What is not quoted is an
// estimate: nothing of it was measured by us.
#include "palmette/predict/column_model.hpp"

namespace palmette {
namespace {

/// A V100: 80 multiprocessors with at most 64 warps [NVIDIA V100 2017].
ColumnMachine v100s() {
  ColumnMachine machine;
  machine.warps = 80 * 64;
  machine.local_us = 0.7;     // estimate: an atomic through the L2 and the next poll
  machine.column_us = 1.5;    // estimate: three loads that depend on each other, from memory
  machine.round_us = 0.6;     // estimate: two atomics, the second after a fence
  machine.entry_ns = 0.5;     // estimate: two atomics in the L2, about four a nanosecond
  machine.launch_us = 5;      // estimate
  machine.page_us = 50;       // the price that the project takes for 64 KB
  machine.remote_us = 1.5;    // as in the machine file
  machine.loads_per_us = 400; // 25 GB/s a link and direction, 64 bytes for a load and its answer
  machine.host_us = 3;        // estimate: over PCIe and the processors
  machine.host_loads_per_us = 150;
  return machine;
}

/// Hybrid cube mesh [NVIDIA DGX-1 2017]: six links of each GPU, four neighbours, two of them over two links.
ColumnMachine dgx_1() {
  ColumnMachine machine = v100s();
  machine.name = "dgx-1";
  machine.devices = 8;
  machine.links = {0, 1, 1, 2, 2, 0, 0, 0,   //
                   1, 0, 2, 1, 0, 2, 0, 0,   //
                   1, 2, 0, 2, 0, 0, 1, 0,   //
                   2, 1, 2, 0, 0, 0, 0, 1,   //
                   2, 0, 0, 0, 0, 1, 1, 2,   //
                   0, 2, 0, 0, 1, 0, 2, 1,   //
                   0, 0, 1, 0, 1, 2, 0, 2,   //
                   0, 0, 0, 1, 2, 1, 2, 0};
  return machine;
}

/// Six links of each GPU to switches [NVIDIA DGX-2 2018].
ColumnMachine dgx_2() {
  ColumnMachine machine = v100s();
  machine.name = "dgx-2";
  machine.devices = 16;
  machine.remote_us = 1.7;  // as in the machine file: a switch more
  machine.links.assign(16 * 16, 6);
  machine.links_of_device = 6;
  return machine;
}

}  // namespace

ColumnMachine column_machine(std::string_view name) {
  if (name == "dgx-1") return dgx_1();
  if (name == "dgx-2") return dgx_2();
  throw UsageError("there are no links of GPUs for '" + std::string(name) + "'; choose dgx-1 or dgx-2");
}

}  // namespace palmette
