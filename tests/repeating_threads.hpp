// Threads that do the same again and again beside a test.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace palmette::testing {

/// Calls each(thread) over and over on threads [0, count) as long as this lives.
class RepeatingThreads {
 public:
  RepeatingThreads(int count, const std::function<void(int thread)>& each) {
    for (int thread = 0; thread < count; ++thread)
      threads_.emplace_back([this, each, thread] {
        while (!stopping_.load(std::memory_order_relaxed)) each(thread);
      });
  }
  ~RepeatingThreads() {
    stopping_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  RepeatingThreads(const RepeatingThreads&) = delete;
  RepeatingThreads& operator=(const RepeatingThreads&) = delete;

 private:
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

}  // namespace palmette::testing
