// Counts forks, and makes them wait for brief locks.
#include "palmette/base/fork.hpp"

#include <pthread.h>

#include <mutex>

namespace palmette {
namespace {

std::atomic<std::uint32_t> generation{0};

constexpr std::size_t num_locks = 16;

/// Never destroyed: threads may still work while a program ends.
std::mutex* brief_locks() {
  static auto* const locks = new std::mutex[num_locks];
  return locks;
}

extern "C" {
void palmette_before_fork() {
  for (std::size_t number = 0; number < num_locks; ++number) brief_locks()[number].lock();
}
void palmette_after_fork() {
  for (std::size_t number = num_locks; number-- > 0;) brief_locks()[number].unlock();
}
void palmette_in_forked_process() {
  generation.fetch_add(1, std::memory_order_relaxed);
  palmette_after_fork();
}
}

/// Created before the first thread: otherwise a fork during the first use of a lock would not wait for it.
[[maybe_unused]] const int listening =
    pthread_atfork(palmette_before_fork, palmette_after_fork, palmette_in_forked_process);

}  // namespace

std::uint32_t fork_generation() { return generation.load(std::memory_order_relaxed); }

BriefLock::BriefLock(const void* guarded)
    : number_(reinterpret_cast<std::uintptr_t>(guarded) / 64 % num_locks) {
  brief_locks()[number_].lock();
}

BriefLock::~BriefLock() { brief_locks()[number_].unlock(); }

bool ProcessMutex::lock() {
  const std::uint32_t mine = fork_generation() + 1;
  for (;;) {
    std::uint32_t holder = 0;
    if (holder_.compare_exchange_strong(holder, mine, std::memory_order_acquire)) return false;
    if (holder == mine) holder_.wait(mine, std::memory_order_relaxed);
    else if (holder_.compare_exchange_strong(holder, mine, std::memory_order_acquire)) return true;
  }
}

void ProcessMutex::unlock() {
  holder_.store(0, std::memory_order_release);
  holder_.notify_one();
}

}  // namespace palmette
