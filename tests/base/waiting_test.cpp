// Barriers and doorbells: no thread continues too early, and none sleeps for ever.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

TEST(barrier, no_member_passes_before_all_have_arrived) {
  ThreadTeam team(3);
  Barrier barrier(3);
  std::atomic<int> arrived = 0;
  std::atomic<bool> early = false;
  team.run([&](int) {
    for (int round = 1; round <= 200; ++round) {
      ++arrived;
      barrier.wait();
      if (arrived.load() < 3 * round) early = true;
      barrier.wait();
    }
  });
  EXPECT_FALSE(early.load());
}

TEST(doorbell, wakes_all_who_wait_whether_they_spin_or_sleep) {
  Doorbell bell;
  std::atomic<int> turn = 0;
  constexpr int count = 4, rounds = 400;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < count; ++thread)
    threads.emplace_back([&, thread] {
      for (int mine = thread; mine < count * rounds; mine += count) {
        bell.wait([&] { return turn.load(std::memory_order_acquire) == mine; });
        // Every eighth turn is long enough for the others to fall asleep.
        if (mine % 8 == 0)
          for (int look = 0; look < 2 * looks_before_sleep; ++look) processor_pause();
        turn.store(mine + 1, std::memory_order_release);
        bell.ring();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turn.load(), count * rounds);
}

}  // namespace
}  // namespace palmette
