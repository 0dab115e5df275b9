// The machine that the command runs on, in addition to those of files: the result of `palmette measure`, kept
// for the next run.
#pragma once

#include <string>

#include "cli/machine_file.hpp"

namespace palmette::cli {

/// @param text  a name, the path of a file, or "this": the result of `palmette measure` for this machine,
///   measured now if there is none
/// @throws UsageError if it is neither; IoError with file, field and remedy
MachineFile machine_by_name(const std::string& text);

/// Write it where "this" finds it; a failure is not an error.
void keep_this_machine(const MachineFile& file);

}  // namespace palmette::cli
