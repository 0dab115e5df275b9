// One file in the cache folder.
#include "cli/this_machine.hpp"

#include <filesystem>
#include <fstream>

#include "cli/measure_machine.hpp"
#include "cli/options.hpp"

namespace palmette::cli {
namespace {

/// Empty if no cache folder is known.
std::string this_machine_path() {
  const std::string folder = cache_folder();
  return folder.empty() ? folder : folder + "/machine-4.json";
}

MachineFile this_machine() {
  const std::string path = this_machine_path();
  std::error_code ignored;
  if (!path.empty() && std::filesystem::exists(path, ignored)) return read_machine(path);
  MachineFile file = measured_machine({});
  keep_this_machine(file);
  return file;
}

}  // namespace

MachineFile machine_by_name(const std::string& text) {
  return text == "this" ? this_machine() : known_machine("--machine", text, {"this"});
}

void keep_this_machine(const MachineFile& file) {
  const std::string path = this_machine_path();
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string beside = path + ".new";
  std::ofstream(beside) << machine_json(file).dump(2) << "\n";
  std::filesystem::rename(beside, path, ignored);
}

}  // namespace palmette::cli
