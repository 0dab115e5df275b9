// Reads the process's memory figures from the kernel.
#include "palmette/base/timing.hpp"

#include <atomic>
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

/// A figure with the time at which it was read.
class RecentFigure {
 public:
  explicit RecentFigure(std::int64_t (*read)()) : read_(read) {}
  std::int64_t value() {
    using std::chrono::steady_clock;
    const std::int64_t now = steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
    if (now - read_at_.load(std::memory_order_acquire) < 100) return value_.load(std::memory_order_relaxed);
    value_.store(read_(), std::memory_order_relaxed);
    read_at_.store(now, std::memory_order_release);
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::int64_t (*read_)();
  std::atomic<std::int64_t> read_at_{-1000000}, value_{0};
};

}  // namespace

std::int64_t peak_memory_bytes() { return status_bytes("VmHWM:"); }
std::int64_t resident_memory_bytes() { return status_bytes("VmRSS:"); }

std::int64_t recent_peak_memory_bytes() {
  static RecentFigure figure(peak_memory_bytes);
  return figure.value();
}
std::int64_t recent_resident_memory_bytes() {
  static RecentFigure figure(resident_memory_bytes);
  return figure.value();
}

}  // namespace palmette
