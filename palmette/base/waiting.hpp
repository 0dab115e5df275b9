// Waiting that is bounded: a short spin, then sleep until somebody rings.
#pragma once

#include <atomic>
#include <cstdint>

namespace palmette {

/// Looks before a waiting thread goes to sleep: some tens of microseconds, about what waking it again costs.
inline constexpr int looks_before_sleep = 1000;

/// One step of a spin: tells the processor that this thread waits.
inline void processor_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Nanoseconds of a monotonic clock.
std::int64_t clock_nanoseconds();

/// Who wakes others says when; who was woken counts the times at which that took suspiciously long, as it
/// does where its processor is busy with something else.
class WakeTime {
 public:
  void ringing() { rung_at_.store(clock_nanoseconds(), std::memory_order_relaxed); }
  void woken() const;
  /// Late wakes of the calling thread so far.
  static std::uint32_t late_wakes();
  /// Later than this is late.
  static constexpr std::int64_t patience_ns = 300'000;

 private:
  std::atomic<std::int64_t> rung_at_{0};
};

/// Threads wait here for something that other threads make true.
class Doorbell {
 public:
  /// Returns once ready() is true. It is asked at every look and after every ring.
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

  /// To be called after something was made true that others may wait for. A single atomic operation where
  /// nobody sleeps.
  void ring() {
    // A sleeper counts itself before it looks for the last time. So either it is seen here, or it sees what
    // was made true.
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

/// All threads wait here until the last has come; reusable.
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
