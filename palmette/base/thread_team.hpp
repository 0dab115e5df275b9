// A team of threads that lives as long as its owner and runs one function at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "palmette/base/hand_overs.hpp"

namespace palmette {

/// Up to `size` threads: the caller is thread 0; size − 1 workers start at the first use and sleep between
/// runs.
///
/// In every run the workers round as the caller does, and keep subnormal numbers or not as it does.
/// An exception of a thread is rethrown in the caller after all threads have returned; if several throw, that
/// of the lowest thread number. After a fork, the team of the child starts its own workers.
class ThreadTeam {
 public:
  /// Which threads to call: as many as HandOvers recommends at the moment, or all.
  enum class Called { worth_calling, all };

  /// @param size  number of threads, ≥ 1; 0 means one for each processor that this process may use
  /// @param hand_overs  recommends how many threads to call; must outlive the team
  explicit ThreadTeam(int size, HandOvers& hand_overs = hand_overs_of_process());
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Number of threads; less than requested if the system refused to start more.
  int size() const;

  /// Threads that `share` would call now: fewer than size() while hand-overs are slow.
  int threads_now() const;

  /// Call work(thread) on thread 0, the caller, and on those other threads that start before thread 0
  /// returns: on busy processors threads start late, and the caller does not wait for them. So work must
  /// distribute tasks dynamically, and thread 0 does all tasks that no other thread takes. If another thread
  /// is using the team, the caller works alone.
  /// @param called  `all` for long work in many pieces: the state at the first instant must not decide how
  ///   many threads work, and a suspended thread delays only its own piece, so that no thread is paused
  ///   because of such a run
  /// @returns how many threads were called
  int share(const std::function<void(int thread)>& work, Called called = Called::worth_calling);

  /// Call work(part) once for each part in [0, parts), on any thread.
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

  /// Start the workers if they are not running. @returns size(), which does not change after that
  int muster();

  /// Call work(thread) once for each thread in [0, muster()), on its own thread, all at the same time, so
  /// that they may wait for each other. One run at a time: a second caller waits.
  void run(const std::function<void(int thread)>& work);

 private:
  class Crew;
  Crew& crew();

  const int wanted_;
  HandOvers& hand_overs_;
  std::atomic<Crew*> crew_{nullptr};
};

/// Enough that little waiting remains if one thread starts late or is interrupted.
inline constexpr int ranges_of_a_thread = 8;

/// Call use(first, end) once for each of the ranges that make up [0, count), `for_each_thread` of them for
/// each thread of a team, on any thread. @param team  null or of one thread: one range, on the caller's
/// @returns how many threads were called
template <class Use>
int over_ranges(ThreadTeam* team, std::int64_t count, const Use& use,
                int for_each_thread = ranges_of_a_thread) {
  if (team == nullptr || team->size() == 1) return use(std::int64_t{0}, count), 1;
  const int ranges = for_each_thread * team->size();
  return team->share_parts(ranges,
                           [&](int nth) { use(count * nth / ranges, count * (nth + 1) / ranges); });
}

/// The same until holds(first, end) returns false for a range; the ranges after it may be left out.
/// @returns whether none did
template <class Holds>
bool all_ranges(ThreadTeam* team, std::int64_t count, const Holds& holds) {
  std::atomic<bool> all{true};
  over_ranges(team, count, [&](std::int64_t first, std::int64_t end) {
    if (all.load(std::memory_order_relaxed) && !holds(first, end))
      all.store(false, std::memory_order_relaxed);
  });
  return all;
}

}  // namespace palmette
