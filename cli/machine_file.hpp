// Files that describe machines: JSON, every number with its source; those in data/machines are part of the
// programs. Benchmarks and the comparison with SMPI read them too (palmette_machine_files), so nothing here
// needs the rest of the command.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "palmette/machine/machine.hpp"

namespace palmette::cli {

/// A description, and where its numbers come from: "network.latency_us" → the source's words.
struct MachineFile {
  Cluster cluster;
  std::map<std::string, std::string> sources;
};

/// Names of the descriptions that are part of the programs.
std::vector<std::string> machine_names();

/// @param text    one of these names, or the path of a file
/// @param option  the name of the option, for messages
/// @param also    further words that the caller accepts, for messages
/// @throws UsageError if it is neither; IoError with file, field and remedy
MachineFile known_machine(std::string_view option, const std::string& text,
                          std::vector<std::string> also = {});

/// @throws IoError with file, field and remedy
MachineFile read_machine(const std::string& path);

/// @param name  its name in messages
MachineFile parse_machine(const std::string& text, const std::string& name);

/// The document that parse_machine reads.
nlohmann::ordered_json machine_json(const MachineFile& file);

}  // namespace palmette::cli
