// Figures of a device that `palmette measure --device` keeps for the factorizations that use it.
#pragma once

#include <optional>
#include <string>

#include "cli/machine_file.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette::cli {

/// The model of a device beside this machine, by what was measured here; empty if nothing was.
std::optional<OffloadModel> kept_offload_model(const Device& device);

/// Keep a device's machine file where kept_offload_model finds it. @param host  products of one core
void keep_device(const DeviceInfo& device, const MachineFile& file, const MachineFile& host);

}  // namespace palmette::cli
