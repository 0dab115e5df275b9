// Files that describe interconnects: JSON, every number with its source; those in data/interconnects are part
// of the programs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/transfer/transfer.hpp"

namespace palmette::cli {

/// A description, and where its numbers come from: "packet.header_bytes" → the source's words.
struct InterconnectFile {
  transfer::Fabric fabric;
  std::map<std::string, std::string> sources;
};

/// Names of the descriptions that are part of the programs.
std::vector<std::string> interconnect_names();

/// @param text    one of these names, or the path of a file
/// @param option  the name of the option, for messages
/// @throws UsageError if it is neither; IoError with file, field and remedy
InterconnectFile known_interconnect(std::string_view option, const std::string& text);

/// @param name  its name in messages
InterconnectFile parse_interconnect(const std::string& text, const std::string& name);

}  // namespace palmette::cli
