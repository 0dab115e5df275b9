// Figures of a device that `palmette measure --device` keeps for the factorizations that use it.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "palmette/solver/solver.hpp"

namespace palmette::cli {

nlohmann::ordered_json offload_model_json(const OffloadModel& model, const DeviceInfo& device);

/// What was measured here for this device; empty if nothing was, or if the file cannot be used.
std::optional<OffloadModel> kept_offload_model(const DeviceInfo& device);

/// Keep the figures where kept_offload_model finds them; a failure is not an error.
void keep_offload_model(const OffloadModel& model, const DeviceInfo& device);

}  // namespace palmette::cli
