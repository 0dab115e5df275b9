// The thread team: workers spin for a moment after each run, since runs often follow each other closely, then sleep.
#include "palmette/base/thread_team.hpp"

#include <sched.h>

namespace palmette {
namespace {

constexpr int spins_before_sleep = 2000;

inline void processor_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void SpinWait::pause() {
  if (++turns_ < 64) processor_pause();
  else std::this_thread::yield();
}

void SpinBarrier::wait() {
  const std::uint32_t phase = phase_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  SpinWait spin;
  while (phase_.load(std::memory_order_acquire) == phase) spin.pause();
}

int ThreadTeam::available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    const int count = CPU_COUNT(&set);
    if (count > 0) return count;
  }
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware > 0 ? static_cast<int>(hardware) : 1;
}

ThreadTeam::ThreadTeam(int size) : size_(size > 0 ? size : available_processors()), errors_(static_cast<std::size_t>(size_)) {
  workers_.reserve(static_cast<std::size_t>(size_ - 1));
  try {
    for (int member = 1; member < size_; ++member) workers_.emplace_back([this, member] { worker_loop(member); });
  } catch (...) {
    // The system refuses more threads: go on with those there are.
    size_ = static_cast<int>(workers_.size()) + 1;
  }
}

ThreadTeam::~ThreadTeam() {
  stopping_.store(true);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::run_member(int member) {
  try {
    (*work_)(member);
  } catch (...) {
    errors_[static_cast<std::size_t>(member)] = std::current_exception();
  }
}

void ThreadTeam::run(const std::function<void(int)>& work) {
  if (size_ == 1) return work(0);
  const std::lock_guard lock(one_run_);
  work_ = &work;
  running_.store(size_ - 1, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  run_member(0);
  SpinWait spin;
  while (running_.load(std::memory_order_acquire) != 0) spin.pause();
  for (std::exception_ptr& error : errors_)
    if (error) {
      const std::exception_ptr first = error;
      for (std::exception_ptr& other : errors_) other = nullptr;
      std::rethrow_exception(first);
    }
}

void ThreadTeam::worker_loop(int member) {
  std::uint32_t seen = 0;
  for (;;) {
    for (int turn = 0; turn < spins_before_sleep && generation_.load(std::memory_order_acquire) == seen; ++turn)
      processor_pause();
    generation_.wait(seen, std::memory_order_acquire);
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_.load()) return;
    run_member(member);
    running_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace palmette
