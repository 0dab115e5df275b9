// The thread team: which threads are called, which the caller waits for, and that exceptions reach the
// caller.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <limits>
#include <thread>

#include "palmette/base/base.hpp"
#include "tests/repeating_threads.hpp"

namespace palmette {
namespace {

struct AllCalled : HandOvers {
  AllCalled() { call_all(); }
};

TEST(thread_team, run_calls_each_member_exactly_once) {
  for (int size = 1; size <= 8; ++size) {
    ThreadTeam team(size);
    std::vector<std::atomic<int>> calls(team.muster());
    for (int repeat = 0; repeat < 50; ++repeat) team.run([&](int thread) { ++calls[thread]; });
    for (const auto& count : calls) EXPECT_EQ(count.load(), 50);
  }
}

// The caller may lose its processor while it publishes a run, which a worker that is awake has joined and
// left by then: it must not join again.
TEST(thread_team, no_member_joins_a_run_twice_on_busy_processors) {
  AllCalled all;
  ThreadTeam team(6, all);
  const testing::RepeatingThreads busy(1, [](int) {});  // takes a processor away
  for (int repeat = 0; repeat < 20000; ++repeat) {
    std::atomic<int> calls[6] = {};
    team.share([&](int thread) {
      ++calls[thread];
      // A short run, so that workers are awake when the next one is published.
      for (int look = 0; thread == 0 && look < 1000 && calls[5].load() == 0; ++look) processor_pause();
    });
    for (const auto& count : calls) ASSERT_LE(count.load(), 1) << "in run " << repeat;
  }
}

TEST(thread_team, shared_parts_are_done_once_each_whoever_comes) {
  AllCalled all;
  for (int size = 1; size <= 8; ++size) {
    ThreadTeam team(size, all);
    std::vector<std::atomic<int>> calls(37);
    for (int repeat = 0; repeat < 200; ++repeat) team.share_parts(37, [&](int part) { ++calls[part]; });
    for (const auto& count : calls) EXPECT_EQ(count.load(), 200);
  }
}

TEST(thread_team, share_calls_no_member_twice_and_always_the_caller) {
  AllCalled all;
  for (int size = 1; size <= 8; ++size) {
    ThreadTeam team(size, all);
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::vector<std::atomic<int>> calls(size);
      const auto caller = std::this_thread::get_id();
      EXPECT_EQ(team.share([&](int thread) {
        ++calls[thread];
        EXPECT_EQ(thread == 0, std::this_thread::get_id() == caller);
      }), size);
      EXPECT_EQ(calls[0].load(), 1);
      for (const auto& count : calls) EXPECT_LE(count.load(), 1);
    }
  }
}

// Both workers of the team are busy in an earlier run by another thread: they cannot join anything else.
TEST(thread_team, a_member_that_has_not_come_is_not_waited_for) {
  AllCalled all;
  ThreadTeam team(2, all);
  std::atomic<bool> go_on{false}, inside{false};
  std::thread other([&] {
    team.share([&](int thread) {
      if (thread == 0) inside.wait(false);
      inside = true;
      inside.notify_all();
      go_on.wait(false);
    });
  });
  inside.wait(false);
  int done = 0;
  // would hang if it waited for the worker, or for the other caller
  EXPECT_EQ(team.share([&](int) { ++done; }), 1);
  EXPECT_EQ(done, 1);
  go_on = true;
  go_on.notify_all();
  other.join();
  EXPECT_EQ(team.share([](int) {}), 2);
}

TEST(thread_team, long_work_calls_all_members_though_they_are_withheld) {
  HandOvers hand_overs;
  ThreadTeam team(3, hand_overs);
  ASSERT_EQ(team.muster(), 3);
  hand_overs.expect_busy(2, std::numeric_limits<std::int64_t>::max() / 2);
  ASSERT_EQ(team.threads_now(), 1);
  std::atomic<int> come{0};
  EXPECT_EQ(team.share([&](int) { ++come; }), 1);
  EXPECT_EQ(come, 1);
  come = 0;
  EXPECT_EQ(team.share([&](int) {
    ++come;
    while (come < 3) std::this_thread::yield();
  }, ThreadTeam::Called::all), 3);
  EXPECT_EQ(come, 3);
}

/// As long as it lives, this thread and those that it starts share one processor.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_{};
};

void spin(std::int64_t milliseconds) {
  const std::int64_t end = clock_nanoseconds() + milliseconds * 1'000'000;
  while (clock_nanoseconds() < end) processor_pause();
}

/// Whether one of some runs, in which two threads take each other's processor and the caller waits, makes the
/// team pause a thread.
bool disturbed_runs_pause_a_thread(ThreadTeam::Called called) {
  HandOvers hand_overs;
  ThreadTeam team(2, hand_overs);
  if (team.muster() < 2) ADD_FAILURE() << "no second thread";
  while (team.threads_now() < 2) spin(1);  // as many threads as processors were expected to be too many
  for (int repeat = 0; repeat < 30; ++repeat) {
    std::atomic<bool> come{false};
    team.share([&](int thread) {
      if (thread == 1) come = true;
      while (!come) std::this_thread::yield();
      spin(thread == 1 ? 20 : 8);
    }, called);
    if (team.threads_now() < 2) return true;
  }
  return false;
}

TEST(thread_team, long_work_pauses_nobody_though_its_caller_waits_among_disturbances) {
  const OneProcessor one;
  EXPECT_TRUE(disturbed_runs_pause_a_thread(ThreadTeam::Called::worth_calling));
  EXPECT_FALSE(disturbed_runs_pause_a_thread(ThreadTeam::Called::all));
}

TEST(thread_team, members_that_have_come_are_waited_for) {
  AllCalled all;
  ThreadTeam team(3, all);
  for (int repeat = 0; repeat < 100; ++repeat) {
    auto alive = std::make_unique<std::atomic<int>>(0);
    team.share([&](int) {
      ++*alive;
      for (int turn = 0; turn < 200; ++turn) processor_pause();
      --*alive;
    });
    EXPECT_EQ(alive->load(), 0);
  }
}

TEST(thread_team, exception_of_the_lowest_member_reaches_the_caller_and_the_team_lives_on) {
  ThreadTeam team(4);
  const auto fail = [](int thread) {
    if (thread >= 2) throw std::runtime_error(std::to_string(thread));
  };
  try {
    team.run(fail);
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "2");
  }
  std::atomic<int> calls = 0;
  team.run([&](int) { ++calls; });
  EXPECT_EQ(calls.load(), 4);
}

TEST(thread_team, exception_of_the_caller_leaves_share_after_all_others_have_returned) {
  AllCalled all;
  ThreadTeam team(4, all);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::atomic<int> inside = 0;
    EXPECT_THROW(team.share([&](int thread) {
      ++inside;
      if (thread == 0) {
        --inside;
        throw std::runtime_error("0");
      }
      --inside;
    }), std::runtime_error);
    EXPECT_EQ(inside.load(), 0);
  }
}

TEST(thread_team, callers_at_the_same_time_each_get_their_work_done) {
  AllCalled all;
  ThreadTeam team(3, all);
  std::vector<std::thread> callers;
  std::vector<std::atomic<int>> sums(4);
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int repeat = 0; repeat < 100; ++repeat) {
        if (repeat % 10 == 0) team.run([&](int) {});
        team.share_parts(10, [&](int part) { sums[caller] += part; });
      }
    });
  for (std::thread& caller : callers) caller.join();
  for (const auto& sum : sums) EXPECT_EQ(sum.load(), 4500);
}

TEST(thread_team, share_within_share_is_done_by_the_member_that_asks) {
  AllCalled all;
  ThreadTeam team(2, all);
  std::atomic<int> inner = 0;
  team.share([&](int thread) {
    if (thread == 0) {
      EXPECT_EQ(team.share_parts(5, [&](int) { ++inner; }), 1);
    }
  });
  EXPECT_EQ(inner.load(), 5);
}

#ifndef PALMETTE_THREAD_SANITIZER  // the thread sanitizer starts no threads in a forked process
TEST(thread_team, a_forked_process_starts_threads_of_its_own) {
  AllCalled all;
  ThreadTeam team(3, all);
  team.run([](int) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> calls = 0;
    for (int repeat = 0; repeat < 10; ++repeat) team.run([&](int) { ++calls; });
    const bool shared = team.share([](int) {}) == 3;
    _exit(calls.load() == 30 && shared ? 42 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
  team.run([](int) {});
}

TEST(thread_team, a_team_in_the_middle_of_a_run_can_be_used_and_ended_in_a_forked_process) {
  AllCalled all;
  auto team = std::make_unique<ThreadTeam>(2, all);
  pid_t child = -1;
  std::atomic<bool> forked{false};
  // Both threads must rest inside before the fork: a thread that still starts may hold a lock of the address
  // sanitizer's allocator, which would stay locked for ever in the child.
  std::latch inside(2);
  std::thread runs([&] {
    team->run([&](int) {
      inside.count_down();
      forked.wait(false);
    });
  });
  inside.wait();
  child = fork();
  if (child == 0) {
    std::atomic<int> calls = 0;
    team->run([&](int) { ++calls; });
    team.reset();
    _exit(calls.load() == 2 ? 42 : 1);
  }
  forked = true;
  forked.notify_all();
  runs.join();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(thread_team, a_team_of_the_parent_ends_quietly_in_a_forked_process) {
  auto team = std::make_unique<ThreadTeam>(3);
  team->run([](int) {});
  const pid_t child = fork();
  if (child == 0) {
    team.reset();
    _exit(42);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}
#endif

}  // namespace
}  // namespace palmette
