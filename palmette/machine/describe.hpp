// Inside `machine`: what the system reports about its processor.
#pragma once

#include <filesystem>
#include <string>

#include "palmette/base/base.hpp"

namespace palmette {

/// The model name in a file of the form of /proc/cpuinfo; "unknown" if there is none.
std::string processor_name(const std::filesystem::path& file = "/proc/cpuinfo");

/// Size of the cache of the highest level that holds data, from a folder of the form of sysfs' cpu0/cache; 0
/// if unknown.
offset_t last_level_cache_bytes(const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace palmette
