// The thread team: every member runs once, exceptions reach the caller, teams can be reused.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

TEST(thread_team, runs_each_member_exactly_once) {
  for (int size : {1, 2, 3, 8}) {
    ThreadTeam team(size);
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(team.size()));
    for (int repeat = 0; repeat < 50; ++repeat) team.run([&](int member) { ++calls[member]; });
    for (const auto& count : calls) EXPECT_EQ(count.load(), 50);
  }
}

TEST(thread_team, exception_of_the_lowest_member_reaches_the_caller_and_the_team_lives_on) {
  ThreadTeam team(4);
  const auto fail = [](int member) {
    if (member >= 2) throw std::runtime_error(std::to_string(member));
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

TEST(spin_barrier, no_member_passes_before_all_have_arrived) {
  ThreadTeam team(3);
  SpinBarrier barrier(3);
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

}  // namespace
}  // namespace palmette
