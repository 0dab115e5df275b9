// palmette measure --device: what its bus and its dense operations give, and those of a core of this host.
#pragma once

#include <string>

#include "cli/output.hpp"

namespace palmette::cli {

/// Measures, prints, and keeps the figures for factorizations with this device.
int measure_device(const std::string& address, const OutputOptions& output);

}  // namespace palmette::cli
