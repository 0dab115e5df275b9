// Files that describe machines: JSON, every number with its source; those in data/machines are part of the command.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "palmette/machine/machine.hpp"

namespace palmette::cli {

/// A description, and where its numbers come from: "network.latency_us" → the source's words.
struct MachineFile {
  Cluster cluster;
  std::map<std::string, std::string> sources;
};

/// Names of the descriptions that come with the command.
std::vector<std::string> machine_names();

/// @param text  a name, the path of a file, or "this": what `palmette measure` found for this machine, measured now if it never was
/// @throws UsageError if it is neither; IoError with file, field and remedy
MachineFile machine_by_name(const std::string& text);

/// @param name  what messages call it
MachineFile parse_machine(const std::string& text, const std::string& name);

/// The document that parse_machine reads.
Json machine_json(const MachineFile& file);

/// Where `palmette measure` keeps what it found for this machine; empty if no such folder is known.
std::string this_machine_path();

}  // namespace palmette::cli
