// The counters of waiting threads, and the places where they wait.
#include "palmette/base/waiting.hpp"

#include <chrono>

namespace palmette {
namespace {

thread_local std::uint32_t late_wakes_of_this_thread = 0;

}  // namespace

std::int64_t clock_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void WakeTime::woken() const {
  if (clock_nanoseconds() - rung_at_.load(std::memory_order_relaxed) > patience_ns)
    ++late_wakes_of_this_thread;
}

std::uint32_t WakeTime::late_wakes() { return late_wakes_of_this_thread; }

void Barrier::wait() {
  const std::uint32_t phase = phase_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    bell_.ring();
    return;
  }
  bell_.wait([&] { return phase_.load(std::memory_order_acquire) != phase; });
}

}  // namespace palmette
