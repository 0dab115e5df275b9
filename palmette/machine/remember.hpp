// Inside `machine`: the figures of a measurement in a small text file, so that the next process need not
// measure.
#pragma once

#include <filesystem>
#include <optional>

#include "palmette/machine/machine.hpp"

namespace palmette {

/// The file for a processor, a number of threads and a size of arrays.
std::filesystem::path remembered_file(const std::filesystem::path& folder, const Machine& machine,
                                      offset_t array_bytes);

/// The rates in `file` if it is of this version, processor, thread count and array size, and complete; else
/// nothing.
std::optional<Machine> recall_machine(const std::filesystem::path& file, const Machine& machine,
                                      offset_t array_bytes);

/// Writes the file under a temporary name and renames it, so that a reader sees all of it or nothing.
/// Failures are ignored.
void remember_machine(const std::filesystem::path& file, const Machine& machine, offset_t array_bytes);

}  // namespace palmette
