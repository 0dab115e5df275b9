// Reads the process's memory figures from the kernel.
#include "palmette/base/timing.hpp"

#include <fstream>
#include <string>

namespace palmette {
namespace {

/// The value in bytes of a "Name:   123 kB" line of the process's status file; 0 if absent.
std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == name) {
      std::int64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}

}  // namespace

std::int64_t peak_memory_bytes() { return status_bytes("VmHWM:"); }
std::int64_t resident_memory_bytes() { return status_bytes("VmRSS:"); }

}  // namespace palmette
