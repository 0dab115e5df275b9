// palmette predict --offload: which dense operations of a factorization a device would get. Nothing runs.
#pragma once

#include <string>
#include <vector>

#include "cli/machine_file.hpp"
#include "palmette/factorize/factorize.hpp"

namespace palmette::cli {

struct OffloadCase {
  const SymbolicFactor& symbolic;
  FactorKind kind = FactorKind::llt;
  ScalarType scalar = ScalarType::float64;
  const MachineFile& host;  ///< products of one of its cores
};

/// A table for each device.
std::string offload_table(const std::vector<MachineFile>& devices, const OffloadCase& given);
nlohmann::ordered_json offload_json(const std::vector<MachineFile>& devices, const OffloadCase& given);

}  // namespace palmette::cli
