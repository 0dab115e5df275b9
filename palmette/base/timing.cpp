// Reads the process's memory figures from the kernel.
#include "palmette/base/timing.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>
#endif

namespace palmette {
namespace {

/// The value in bytes of a "Name:   123 kB" line of the process's status file; 0 if absent. Allocates
/// nothing, since it is called in the middle of solves that allocate nothing.
std::int64_t status_bytes(const char* name) {
  char text[8192];
  std::size_t size = 0;
#ifdef __linux__
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  for (ssize_t got = 1; got > 0 && size + 1 < sizeof text;
       size += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
    got = ::read(file, text + size, sizeof text - 1 - size);
  ::close(file);
#endif
  text[size] = '\0';
  const char* const line = std::strstr(text, name);
  return line == nullptr ? 0 : std::strtoll(line + std::strlen(name), nullptr, 10) * 1024;
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
