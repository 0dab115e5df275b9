// Wall-clock seconds and the peak memory of this process.
#pragma once

#include <chrono>
#include <cstdint>

namespace palmette {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Largest resident set of this process so far, in bytes; 0 if unknown.
std::int64_t peak_memory_bytes();
/// Resident set of this process now, in bytes; 0 if unknown.
std::int64_t resident_memory_bytes();
/// The same two figures, read at most ten times a second, because a read takes ten microseconds, more than
/// the solution of a small system. Thread-safe.
std::int64_t recent_peak_memory_bytes();
std::int64_t recent_resident_memory_bytes();

}  // namespace palmette
