// The thread team. A run is published in one word, which says whether it is open, for how many threads, and
// how many have joined. Workers that wake up in time join; then the caller closes the run and waits only for
// those that joined.
#include "palmette/base/thread_team.hpp"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "palmette/base/arithmetic_mode.hpp"
#include "palmette/base/fork.hpp"
#include "palmette/base/processors.hpp"
#include "palmette/base/waiting.hpp"

namespace palmette {
namespace {

/// Runs often follow each other closely: a worker checks this many times for the next run before it sleeps.
constexpr int looks_for_a_run = 2000;

/// How often this thread lost its processor to another.
long lost_processors() {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

std::int64_t processor_nanoseconds() {
  timespec time{};
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0
             ? time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec
             : 0;
}

/// Whether a thread was disturbed during its part of a run.
class Disturbance {
 public:
  bool seen() const { return lost_processors() != lost_ || WakeTime::late_wakes() != late_; }

 private:
  long lost_ = lost_processors();
  std::uint32_t late_ = WakeTime::late_wakes();
};

}  // namespace

/// The workers of one process, and their current run.
class ThreadTeam::Crew {
 public:
  explicit Crew(int wanted)
      : size_(wanted), born_(fork_generation()), errors_(wanted) {
    workers_.reserve(wanted - 1);
    try {
      for (int thread = 1; thread < wanted; ++thread)
        workers_.emplace_back([this, thread] { worker_loop(thread); });
    } catch (...) {
      // The system refuses more threads: continue with the existing ones.
      size_ = static_cast<int>(workers_.size()) + 1;
    }
  }

  ~Crew() {
    stopping_.store(true, std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int size() const { return size_; }
  bool belongs_here() const { return born_ == fork_generation(); }

  bool try_occupy() { return occupied_.exchange(1, std::memory_order_acquire) == 0; }
  void occupy() {
    while (!try_occupy()) occupied_.wait(1, std::memory_order_relaxed);
  }
  void leave() {
    occupied_.store(0, std::memory_order_release);
    occupied_.notify_one();
  }

  /// Call this while holding the crew. @param all  whether to wait until every thread has joined
  RunFigures call(const std::function<void(int)>& work, int threads, bool all) {
    RunFigures figures{threads, 0, -clock_nanoseconds(), -processor_nanoseconds()};
    const Disturbance disturbance;
    publish(work, threads);
    run_thread(0);
    if (all) done_.wait([&] { return left_.load(std::memory_order_acquire) == threads - 1; });
    const std::uint32_t joined = run_.fetch_and(~open, std::memory_order_acq_rel) & count_mask;
    done_.wait([&] { return left_.load(std::memory_order_acquire) == static_cast<int>(joined); });
    figures.disturbed = disturbed_.load(std::memory_order_relaxed) + (disturbance.seen() ? 1 : 0);
    figures.wall_ns += clock_nanoseconds();
    figures.caller_ns += processor_nanoseconds();
    return figures;
  }

  /// Return and clear the exception of the lowest thread that threw.
  std::exception_ptr take_error() {
    std::exception_ptr first;
    if (!failed_.exchange(false, std::memory_order_relaxed)) return first;
    for (std::exception_ptr& error : errors_) {
      if (error && !first) first = error;
      error = nullptr;
    }
    return first;
  }

 private:
  // The word of a run: open or not, for how many threads, how many workers have joined.
  static constexpr std::uint32_t open = 1u << 31, threads_shift = 16, count_mask = 0xffff;

  void publish(const std::function<void(int)>& work, int threads) {
    work_ = &work;
    mode_ = ArithmeticMode::of_this_thread();
    number_ = calls_.load(std::memory_order_relaxed) + 1;
    left_.store(0, std::memory_order_relaxed);
    disturbed_.store(0, std::memory_order_relaxed);
    called_at_ns_.store(clock_nanoseconds(), std::memory_order_relaxed);
    run_.store(open | static_cast<std::uint32_t>(threads) << threads_shift, std::memory_order_release);
    calls_.store(number_, std::memory_order_release);
    calls_.notify_all();
  }

  bool join(int thread) {
    std::uint32_t run = run_.load(std::memory_order_acquire);
    while ((run & open) != 0 && static_cast<std::uint32_t>(thread) < (run & ~open) >> threads_shift)
      if (run_.compare_exchange_weak(run, run + 1, std::memory_order_acq_rel, std::memory_order_acquire))
        return true;
    return false;
  }

  void run_thread(int thread) {
    mode_.set();
    try {
      (*work_)(thread);
    } catch (...) {
      errors_[thread] = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  /// A worker may have joined a run before its number was called: then older numbers are still to come.
  static bool is_after(std::uint32_t call, std::uint32_t seen) {
    return static_cast<std::int32_t>(call - seen) > 0;
  }
  bool called_since(std::uint32_t seen) const {
    return is_after(calls_.load(std::memory_order_acquire), seen);
  }
  std::uint32_t wait_for_call(std::uint32_t seen) const {
    std::uint32_t call = calls_.load(std::memory_order_acquire);
    for (; !is_after(call, seen); call = calls_.load(std::memory_order_acquire))
      calls_.wait(call, std::memory_order_acquire);
    return call;
  }

  void worker_loop(int thread) {
    std::uint32_t seen = 0;
    // A worker that is too late sleeps at once, so as to take no processor time from those that work.
    bool came_late = false;
    for (;;) {
      for (int look = 0; !came_late && look < looks_for_a_run && !called_since(seen); ++look)
        processor_pause();
      seen = wait_for_call(seen);
      if (stopping_.load(std::memory_order_relaxed)) return;
      came_late = !join(thread);
      if (came_late) continue;
      // The run that was joined may be a later one than the run that woke this thread; it lasts until this
      // thread leaves.
      seen = number_;
      const bool late =
          clock_nanoseconds() - called_at_ns_.load(std::memory_order_relaxed) > WakeTime::patience_ns;
      const Disturbance disturbance;
      run_thread(thread);
      if (late || disturbance.seen()) disturbed_.fetch_add(1, std::memory_order_relaxed);
      left_.fetch_add(1, std::memory_order_acq_rel);
      done_.ring();
    }
  }

  int size_;
  const std::uint32_t born_;
  std::atomic<std::uint32_t> occupied_{0};
  std::atomic<bool> stopping_{false}, failed_{false};
  std::atomic<std::uint32_t> calls_{0}, run_{0};
  std::atomic<int> left_{0}, disturbed_{0};
  std::atomic<std::int64_t> called_at_ns_{0};
  // of the open run:
  const std::function<void(int)>* work_ = nullptr;
  ArithmeticMode mode_ = ArithmeticMode::of_this_thread();
  std::uint32_t number_ = 0;
  Doorbell done_;
  std::vector<std::exception_ptr> errors_;  // length size
  std::vector<std::thread> workers_;        // length size − 1
};

ThreadTeam::ThreadTeam(int size, HandOvers& hand_overs)
    : wanted_(size > 0 ? size : available_processors()), hand_overs_(hand_overs) {}

ThreadTeam::~ThreadTeam() {
  Crew* const crew = crew_.load(std::memory_order_acquire);
  // What another process created is left alone: its threads do not exist here, so it cannot wait for them.
  if (crew != nullptr && crew->belongs_here()) delete crew;
}

ThreadTeam::Crew& ThreadTeam::crew() {
  Crew* known = crew_.load(std::memory_order_acquire);
  if (known != nullptr && known->belongs_here()) return *known;
  if (known == nullptr)
    hand_overs_.expect_busy(busy_processors() + wanted_ - available_processors(), clock_nanoseconds());
  Crew* const made = new Crew(wanted_);
  if (crew_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return *made;
  delete made;  // another thread was first
  return *known;
}

int ThreadTeam::size() const {
  const Crew* const crew = crew_.load(std::memory_order_acquire);
  return crew != nullptr ? crew->size() : wanted_;
}

int ThreadTeam::threads_now() const {
  const int threads = size();
  return threads > 1 ? hand_overs_.threads(threads, clock_nanoseconds()) : 1;
}

int ThreadTeam::muster() { return wanted_ > 1 ? crew().size() : 1; }

int ThreadTeam::share(const std::function<void(int)>& work, Called called) {
  const auto alone = [&] {
    work(0);
    return 1;
  };
  const auto count = [&] { return called == Called::all ? size() : threads_now(); };
  if (count() == 1) return alone();
  Crew& crew = this->crew();
  const int threads = count();
  if (threads == 1 || !crew.try_occupy()) return alone();
  RunFigures figures = crew.call(work, threads, false);
  figures.in_pieces = called == Called::all;  // only such work is worth all threads at any time
  const std::exception_ptr error = crew.take_error();
  crew.leave();
  hand_overs_.ran(figures, clock_nanoseconds());
  if (error) std::rethrow_exception(error);
  return threads;
}

void ThreadTeam::run(const std::function<void(int)>& work) {
  if (muster() == 1) return work(0);
  Crew& crew = this->crew();
  crew.occupy();
  const RunFigures figures = crew.call(work, crew.size(), true);
  const std::exception_ptr error = crew.take_error();
  crew.leave();
  hand_overs_.ran(figures, clock_nanoseconds());
  if (error) std::rethrow_exception(error);
}

}  // namespace palmette
