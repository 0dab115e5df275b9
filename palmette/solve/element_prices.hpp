// Part of the door of `solve`: what a solve over several devices costs, from the programs that their kernels
// execute.
#pragma once

#include <memory>

#include "palmette/solve/plan_options.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette {

struct ElementsCase {
  const SymbolicFactor& symbolic;
  WorldOptions of_world;  ///< grid, layers, trees, subtrees
  index_t num_rhs = 1;    ///< solved together
  int scalar_bytes = 8;
  /// As [Ding et al. 2020]: a kernel of one block waits for values and passes them on, by a thread for each
  /// message; another one has the other blocks.
  bool waits_apart = false;
};

/// Counted from the programs, except for the seconds, which are simulated, and the polls, which follow from
/// them.
struct ElementsPrice {
  double seconds = 0;  ///< of one solve: b to the devices' order, both sweeps, x back
  double forward_seconds = 0, backward_seconds = 0;
  offset_t tasks = 0;  ///< of both sweeps
  offset_t messages = 0;
  offset_t message_bytes = 0;
  offset_t panel_bytes = 0;  ///< of the factor that kernels read, both sweeps
  /// of the factor that one device reads in the forward sweep: the most of all devices, its part of L
  offset_t most_panel_bytes = 0;
  offset_t polls = 0;        ///< looks of blocks of threads at flags that are not yet set
};

/// Elements, which are the ranks of the cluster, take their tasks as their kernels do: each of a device's
/// workers is a resident block, which takes the next ticket of the program, waits until all that the task
/// names is there, and runs it; messages take the links of the cluster. Both kernels start on all devices
/// together.
/// @param cluster  a machine whose ranks are devices; workers: resident blocks of one
/// @throws UsageError if the grid has no devices, or for two kernels and less than two workers
/// @cost   as the programs of all elements; O(tasks · log tasks)
ElementsPrice price_elements(const ElementsCase& given, const Cluster& cluster);

}  // namespace palmette
