// A team of threads that lives as long as its owner and runs one function at a time, once on each member.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace palmette {

/// `size` threads: the caller is member 0, size − 1 workers sleep between runs.
///
/// One run at a time: a second caller waits for the first. A member's exception ends up in the caller of run, after all
/// members have returned; where several throw, the one with the lowest member number wins.
class ThreadTeam {
 public:
  /// @param size  number of members, ≥ 1; 0 means one for each processor this process may run on
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }

  /// Call work(member) once for each member in [0, size), on its own thread; returns when all have returned.
  void run(const std::function<void(int member)>& work);

  /// Processors this process may run on (its affinity mask), ≥ 1.
  static int available_processors();

 private:
  void worker_loop(int member);
  void run_member(int member);

  int size_;
  std::mutex one_run_;
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<int> running_{0};
  std::atomic<bool> stopping_{false};
  const std::function<void(int)>* work_ = nullptr;
  std::vector<std::exception_ptr> errors_;  // length size
  std::vector<std::thread> workers_;        // length size − 1
};

/// All members wait here until the last has come. Spins briefly, then yields; reusable.
class SpinBarrier {
 public:
  explicit SpinBarrier(int members) : members_(members) {}
  void wait();

 private:
  int members_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint32_t> phase_{0};
};

/// One step of a polite spin loop: a few dozen pauses, then the processor is offered to others.
class SpinWait {
 public:
  void pause();

 private:
  int turns_ = 0;
};

}  // namespace palmette
