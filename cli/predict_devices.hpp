// palmette predict --device: solves on GPUs, by their machine files.
#pragma once

#include <string>
#include <vector>

#include "cli/machine_file.hpp"
#include "palmette/predict/predict.hpp"

namespace palmette::cli {

/// "a100,mine.json": the machine files of devices. @throws UsageError; IoError
std::vector<MachineFile> read_devices(const std::string& option, const std::string& names);

/// A solve on each of them, as a table that says that nothing was measured.
std::string device_table(const std::vector<MachineFile>& devices, const DeviceCase& given);
nlohmann::ordered_json device_json(const std::vector<MachineFile>& devices, const DeviceCase& given);

}  // namespace palmette::cli
