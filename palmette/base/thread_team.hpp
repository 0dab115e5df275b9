// A team of threads that lives as long as its owner and runs one function at a time.
#pragma once

#include <atomic>
#include <functional>

#include "palmette/base/hand_overs.hpp"

namespace palmette {

/// Up to `size` threads: the caller is thread 0, size − 1 workers are started when they are first called, and
/// sleep between runs.
///
/// A thread's exception ends up in the caller, after all threads have returned; where several throw, the one
/// with the lowest thread number wins. In a process that has forked, the child's team starts workers of its
/// own.
class ThreadTeam {
 public:
  /// Whom to call: those that hand-overs make worth while at the moment, or everybody.
  enum class Called { worth_calling, all };

  /// @param size        number of threads, ≥ 1; 0 means one for each processor that this process may use
  /// @param hand_overs  says how many threads are worth calling; outlives the team
  explicit ThreadTeam(int size, HandOvers& hand_overs = hand_overs_of_process());
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Fewer than asked for, once the workers are started, where the system refuses more threads.
  int size() const;

  /// Threads that `share` would call now: fewer than size() while hand-overs are slow.
  int threads_now() const;

  /// Call work(thread) for thread 0, the caller, and for those others that come before thread 0 has returned:
  /// they come late where processors are busy, and nobody waits for one that has not come. So work shares out
  /// what there is to do, and thread 0 does what nobody else has taken. A team that another thread has called
  /// is not waited for either: the caller works alone.
  /// @param called  `all` for long work of many pieces: which threads come must not be settled by what the
  ///   first instant is like, and one that stands still delays only its own piece
  /// @returns how many threads were called
  int share(const std::function<void(int thread)>& work, Called called = Called::worth_calling);

  /// Call work(part) once for each part in [0, parts), by whoever comes.
  template <class Work>
  int share_parts(int parts, const Work& work) {
    std::atomic<int> next{0};
    const auto take = [&](int) {
      for (int part = next.fetch_add(1, std::memory_order_relaxed); part < parts;
           part = next.fetch_add(1, std::memory_order_relaxed))
        work(part);
    };
    return share(std::ref(take));
  }

  /// Start the workers, where that has not been done; @returns size(), which stays from now on.
  int muster();

  /// Call work(thread) once for each thread in [0, muster()), on its own thread, all at the same time: they
  /// may wait for each other. One run at a time: a second caller waits for the first.
  void run(const std::function<void(int thread)>& work);

 private:
  class Crew;
  Crew& crew();

  const int wanted_;
  HandOvers& hand_overs_;
  std::atomic<Crew*> crew_{nullptr};
};

}  // namespace palmette
