// Reads the stored figures, or measures and stores them.
#include <algorithm>

#include "palmette/machine/bandwidth.hpp"
#include "palmette/machine/describe.hpp"
#include "palmette/machine/remember.hpp"

namespace palmette {
namespace {

void check(const MeasureOptions& options) {
  if (options.threads < 1)
    throw UsageError("cannot measure with " + std::to_string(options.threads) +
                     " threads; ask for 1 or more");
  if (options.array_bytes < 0)
    throw UsageError("cannot measure with arrays of " + std::to_string(options.array_bytes) +
                     " bytes; give a size, or 0 for a fitting one");
}

}  // namespace

Machine measure_machine(const MeasureOptions& options) {
  check(options);
  Machine machine;
  machine.processor = processor_name();
  machine.threads = options.threads;
  machine.last_level_cache_bytes = last_level_cache_bytes();
  const offset_t array_bytes =
      options.array_bytes > 0 ? options.array_bytes
                              : fitting_array_bytes(machine.last_level_cache_bytes, memory_limit_bytes());
  std::filesystem::path file;
  std::optional<Machine> known;
  if (!options.cache_folder.empty()) {
    file = remembered_file(options.cache_folder, machine, array_bytes);
    known = recall_machine(file, machine, array_bytes);
    if (known && known->stream_bandwidth_gbs >= options.faster_than_gbs) return *known;
  }
  ThreadTeam team(options.threads);
  machine.threads = team.size();
  const Bandwidth bandwidth = measure_bandwidth(team, array_bytes);
  machine.read_bandwidth_gbs = bandwidth.read_gbs;
  machine.stream_bandwidth_gbs = bandwidth.stream_gbs;
  if (known) {
    machine.read_bandwidth_gbs = std::max(machine.read_bandwidth_gbs, known->read_bandwidth_gbs);
    machine.stream_bandwidth_gbs = std::max(machine.stream_bandwidth_gbs, known->stream_bandwidth_gbs);
  }
  // Fewer threads than requested, since the system refused more: valid now, but not to be stored.
  if (!file.empty() && machine.threads == options.threads) remember_machine(file, machine, array_bytes);
  return machine;
}

}  // namespace palmette
