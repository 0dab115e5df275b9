// The machine that the command runs on, beside those of files: what `palmette measure` found, kept for the
// next run.
#pragma once

#include <string>

#include "cli/machine_file.hpp"

namespace palmette::cli {

/// @param text  a name, the path of a file, or "this": what `palmette measure` found for this machine,
///   measured now if it never was
/// @throws UsageError if it is neither; IoError with file, field and remedy
MachineFile machine_by_name(const std::string& text);

/// Write it where "this" finds it; what fails is no error.
void keep_this_machine(const MachineFile& file);

}  // namespace palmette::cli
