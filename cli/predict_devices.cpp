// A row for each device.
#include "cli/predict_devices.hpp"

#include <sstream>

#include <fmt/format.h>

#include "cli/text.hpp"

namespace palmette::cli {

using Json = nlohmann::ordered_json;

std::vector<MachineFile> read_devices(const std::string& option, const std::string& names) {
  std::vector<MachineFile> devices;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');)
    devices.push_back(known_machine(option, name, {}));
  if (devices.empty()) throw UsageError(option + ": give the name of a machine file, such as h100");
  return devices;
}

std::string device_table(const std::vector<MachineFile>& devices, const DeviceCase& given) {
  TextTable table({"device", "time", "forward", "at least", "memory alone", "path alone", "of that latency"});
  index_t path = 0;
  double bytes = 0;
  for (const MachineFile& device : devices) {
    const DevicePrediction one = predict_on_device(given, device.cluster);
    table.add({device.cluster.name, format_seconds(one.seconds), format_seconds(one.forward_seconds),
               format_seconds(one.bound_seconds()), format_seconds(one.roofline_seconds),
               format_seconds(one.path_seconds), format_seconds(one.latency_seconds)});
    path = one.path_supernodes;
    bytes = one.bytes;
  }
  return table.text({0}) +
         fmt::format("\n  Predicted, not measured; b and x lie on the device. The sweeps read\n"
                     "  {} of the factor; {} on the longest path.\n",
                     format_bytes(bytes), plural(path, "supernode"));
}

Json device_json(const std::vector<MachineFile>& devices, const DeviceCase& given) {
  Json rows = Json::array();
  for (const MachineFile& device : devices) {
    const DevicePrediction one = predict_on_device(given, device.cluster);
    rows.push_back({{"device", device.cluster.name},
                    {"measured", false},
                    {"seconds", one.seconds},
                    {"forward_seconds", one.forward_seconds},
                    {"bound_seconds", one.bound_seconds()},
                    {"bytes", one.bytes},
                    {"vector_bytes", one.vector_bytes},
                    {"roofline_seconds", one.roofline_seconds},
                    {"path_seconds", one.path_seconds},
                    {"latency_seconds", one.latency_seconds},
                    {"path_supernodes", one.path_supernodes}});
  }
  return rows;
}

}  // namespace palmette::cli
