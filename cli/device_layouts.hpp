// palmette predict and simulate-cluster with --gpus: solves over several devices, by the programs of their
// kernels.
#pragma once

#include <string>

#include "cli/prediction_options.hpp"
#include "cli/structure.hpp"

namespace palmette::cli {

/// --gpus was given, and --method is auto or a method of several devices; methods of ranks are those of the
/// hosts of devices.
bool goes_by_kernels(const PlacementOptions& options);

struct DeviceLayoutsCommand {
  std::string word;  ///< the subcommand
  std::string rows;  ///< the field of the document that holds them
  MatrixOptions matrix;
  StructureOptions structure;
  PlacementOptions placement;
  OutputOptions output;
};

/// A row for each number of devices and of layers: the grid given, one column, or what is predicted to be the
/// fastest. @returns the exit code
/// @throws UsageError if an option is for ranks, or the method cannot have these layers
int run_device_layouts(const DeviceLayoutsCommand& command);

}  // namespace palmette::cli
