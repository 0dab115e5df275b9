// Processors and memory that this process may use, and processors that are busy.
#pragma once

#include <string>

#include "palmette/base/scalars.hpp"

namespace palmette {

/// Number of processors that this process may run on: by its affinity mask or, if that is less, by the quota
/// of its control group, rounded up; ≥ 1.
int available_processors();

/// Memory that this process may use: the machine's or, if that is less, the limit of its control group
/// (version 2).
offset_t memory_limit_bytes();

/// The number in a file of the form of a control group's memory.max; the largest number if there is none, as
/// in "max".
offset_t bytes_of_limit(const std::string& file);

/// Number of processors that other threads of this machine use at this moment, as far as the kernel reports;
/// 0 if this process may not use all processors, since the others may run elsewhere.
int busy_processors();

}  // namespace palmette
