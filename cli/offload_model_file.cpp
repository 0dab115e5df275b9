// Two files for each device in the cache folder: the device and a core of its host.
#include "cli/offload_model_file.hpp"

#include <filesystem>
#include <fstream>

#include "cli/options.hpp"

namespace palmette::cli {
namespace {

/// Empty if no cache folder is known.
std::string kept_path(const DeviceInfo& device, const char* what) {
  const std::string folder = cache_folder();
  if (folder.empty()) return folder;
  return folder + "/offload-1-" + device.kind + "-" + std::to_string(device.index) + "-" + what + ".json";
}

void write_kept(const std::string& path, const MachineFile& file) {
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream(path + ".new") << machine_json(file).dump(2) << "\n";
  std::filesystem::rename(path + ".new", path, ignored);
}

}  // namespace

std::optional<OffloadModel> kept_offload_model(const Device& device) {
  const std::string there = kept_path(device.info(), "device"), here = kept_path(device.info(), "host");
  std::error_code ignored;
  if (there.empty() || !std::filesystem::exists(there, ignored) || !std::filesystem::exists(here, ignored))
    return std::nullopt;
  const MachineFile file = read_machine(there);
  // Figures of another device that had this number are of no use.
  if (file.cluster.name != device.info().name) return std::nullopt;
  OffloadModel model = offload_model(read_machine(here).cluster, file.cluster);
  model.source = "what 'palmette measure --device " + device.info().address() + "' measured here";
  return model;
}

void keep_device(const DeviceInfo& device, const MachineFile& file, const MachineFile& host) {
  write_kept(kept_path(device, "device"), file);
  write_kept(kept_path(device, "host"), host);
}

}  // namespace palmette::cli
