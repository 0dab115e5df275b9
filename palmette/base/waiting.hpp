// Waiting for other threads: a short spin, then sleep until woken.
#pragma once

#include <atomic>
#include <cstdint>

namespace palmette {

/// Checks before a waiting thread goes to sleep: tens of microseconds, about the cost of waking it.
inline constexpr int looks_before_sleep = 1000;

/// One step of a spin: tells the processor that this thread waits.
inline void processor_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Nanoseconds of a monotonic clock.
std::int64_t clock_nanoseconds();

/// Time at which threads were woken. Each thread counts how often it was woken late, as happens if its
/// processor is busy with something else.
class WakeTime {
 public:
  void ringing() { rung_at_.store(clock_nanoseconds(), std::memory_order_relaxed); }
  void woken() const;
  /// Late wakes of the calling thread so far.
  static std::uint32_t late_wakes();
  /// A wake that takes longer than this is late.
  static constexpr std::int64_t patience_ns = 300'000;

 private:
  std::atomic<std::int64_t> rung_at_{0};
};

/// Threads wait here for a condition that other threads make true.
class Doorbell {
 public:
  /// Returns once ready() is true. Calls ready() at every check and after every ring.
  template <class Ready>
  void wait(const Ready& ready) {
    for (int look = 0; look < looks_before_sleep; ++look) {
      if (ready()) return;
      processor_pause();
    }
    const Sleeper sleeper(sleepers_);
    for (;;) {
      const std::uint32_t heard = rings_.load(std::memory_order_acquire);
      if (ready()) return;
      rings_.wait(heard, std::memory_order_acquire);
      time_.woken();
    }
  }

  /// Call this after making a condition true that others may wait for. A single atomic operation if no thread
  /// sleeps.
  void ring() {
    // A sleeper increments the count before its last check. So either it is seen here, or it sees the new
    // condition.
    if (sleepers_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
    time_.ringing();
    rings_.fetch_add(1, std::memory_order_acq_rel);
    rings_.notify_all();
  }

 private:
  struct Sleeper {
    explicit Sleeper(std::atomic<int>& sleepers) : count(sleepers) {
      count.fetch_add(1, std::memory_order_acq_rel);
    }
    ~Sleeper() { count.fetch_sub(1, std::memory_order_relaxed); }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    std::atomic<int>& count;
  };

  std::atomic<int> sleepers_{0};
  std::atomic<std::uint32_t> rings_{0};
  WakeTime time_;
};

/// All threads wait here until the last one arrives; reusable.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}
  void wait();

 private:
  int threads_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint32_t> phase_{0};
  Doorbell bell_;
};

}  // namespace palmette
