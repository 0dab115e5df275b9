// When threads are paused, and when they are called again. The test provides the clock.
#include <gtest/gtest.h>

#include <unistd.h>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

constexpr std::int64_t ms = 1'000'000;

/// A run of 4 ms for which the caller had a processor for 1 ms.
RunFigures bad_run(int disturbed = 1) { return {2, disturbed, 4 * ms, 1 * ms}; }
RunFigures good_run() { return {2, 0, 1 * ms, 1 * ms}; }

TEST(hand_overs, all_members_are_called_at_first) {
  const HandOvers hand_overs;
  for (int size : {1, 2, 8}) EXPECT_EQ(hand_overs.threads(size, 5 * ms), size);
}

TEST(hand_overs, a_slow_run_withholds_as_many_members_as_were_disturbed) {
  for (int disturbed : {1, 3, 7, 9}) {
    HandOvers hand_overs;
    hand_overs.ran(bad_run(disturbed), 10 * ms);
    EXPECT_EQ(hand_overs.threads(8, 11 * ms), std::max(1, 8 - disturbed));
    EXPECT_EQ(hand_overs.threads(2, 11 * ms), 1);
  }
}

TEST(hand_overs, the_pause_is_in_proportion_to_what_was_lost_and_then_all_are_called_again) {
  HandOvers hand_overs;
  hand_overs.ran(bad_run(), 10 * ms);
  const std::int64_t pause = HandOvers::least_pause_factor * 3 * ms;
  EXPECT_EQ(hand_overs.threads(2, 10 * ms + pause - 1), 1);
  EXPECT_EQ(hand_overs.threads(2, 10 * ms + pause), 2);
}

TEST(hand_overs, each_bad_trial_doubles_the_pause_up_to_two_seconds) {
  HandOvers hand_overs;
  std::int64_t now = 0, pause = HandOvers::least_pause_factor * 3 * ms;
  for (int trial = 0; trial < 12; ++trial) {
    hand_overs.ran(bad_run(), now);
    EXPECT_EQ(hand_overs.threads(2, now + pause - 1), 1);
    now += pause;
    EXPECT_EQ(hand_overs.threads(2, now), 2);
    pause = std::min(2 * pause, HandOvers::longest_pause_ns);
  }
}

TEST(hand_overs, as_much_good_time_as_the_pause_was_long_forgets_it) {
  HandOvers hand_overs;
  const std::int64_t pause = HandOvers::least_pause_factor * 3 * ms;
  hand_overs.ran(bad_run(), 0);
  hand_overs.ran(bad_run(), pause);
  for (std::int64_t spent = 0; spent <= 2 * pause + ms; spent += ms)
    hand_overs.ran(good_run(), 4 * pause + spent);
  while (hand_overs.threads(2, 8 * pause) == 2) hand_overs.ran(bad_run(), 8 * pause);
  EXPECT_EQ(hand_overs.threads(2, 9 * pause - 1), 1);
  EXPECT_EQ(hand_overs.threads(2, 9 * pause), 2);
}

// Threads that are twice as fast are worth calling if they lose 4 ms now and then.
TEST(hand_overs, losses_that_undisturbed_runs_outweigh_withhold_nobody) {
  HandOvers hand_overs;
  for (int second = 0; second < 30; ++second) {
    for (int run = 0; run < 100; ++run) hand_overs.ran(good_run(), 1000 * second * ms);
    hand_overs.ran(bad_run(), 1000 * second * ms);
    EXPECT_EQ(hand_overs.threads(2, 1000 * second * ms + 1), 2) << second;
  }
}

// A host may stop a virtual processor for tens of milliseconds, once a second or so.
TEST(hand_overs, one_long_stop_withholds_nobody) {
  HandOvers hand_overs;
  for (int second = 0; second < 30; ++second) {
    for (int run = 0; run < 100; ++run) hand_overs.ran(good_run(), 1000 * second * ms);
    hand_overs.ran({2, 1, 60 * ms, 15 * ms}, 1000 * second * ms);
    EXPECT_EQ(hand_overs.threads(2, 1000 * second * ms + 1), 2) << second;
  }
}

TEST(hand_overs, long_stops_one_after_another_are_noticed_and_the_pause_is_that_of_a_short_one) {
  HandOvers hand_overs;
  for (int run = 0; run < 10'000; ++run) hand_overs.ran(good_run(), 0);
  int runs = 0;
  for (; runs < 100 && hand_overs.threads(2, 1) == 2; ++runs) hand_overs.ran({2, 1, 60 * ms, 15 * ms}, 0);
  EXPECT_LE(runs, 4);
  const std::int64_t pause = HandOvers::least_pause_factor * HandOvers::most_counted_loss_ns;
  EXPECT_EQ(hand_overs.threads(2, pause - 1), 1);
  EXPECT_EQ(hand_overs.threads(2, pause), 2);
}

TEST(hand_overs, processors_that_become_busy_are_noticed_after_a_seventh_of_the_remembered_time) {
  HandOvers hand_overs;
  for (int run = 0; run < 10'000; ++run) hand_overs.ran(good_run(), 0);
  int lost_ms = 0;
  for (; hand_overs.threads(2, 1) == 2; lost_ms += 3) hand_overs.ran(bad_run(), 0);
  EXPECT_LE(lost_ms, HandOvers::most_credit_ns / 6 / ms);
  EXPECT_GE(lost_ms, HandOvers::most_credit_ns / 8 / ms);
}

TEST(hand_overs, waiting_without_disturbance_is_the_works_own_and_withholds_nobody) {
  HandOvers hand_overs;
  hand_overs.ran({2, 0, 4 * ms, 1 * ms}, 0);
  EXPECT_EQ(hand_overs.threads(2, 1), 2);
}

TEST(hand_overs, disturbance_without_waiting_withholds_nobody) {
  HandOvers hand_overs;
  hand_overs.ran({2, 1, 10 * ms, 9 * ms}, 0);
  EXPECT_EQ(hand_overs.threads(2, 1), 2);
}

TEST(hand_overs, long_runs_are_not_judged) {
  HandOvers hand_overs;
  hand_overs.ran({2, 1, HandOvers::longest_judged_ns + 1, 1 * ms}, 0);
  EXPECT_EQ(hand_overs.threads(2, 1), 2);
}

TEST(hand_overs, a_forecast_withholds_members_for_a_while) {
  HandOvers hand_overs;
  hand_overs.expect_busy(0, 0);
  EXPECT_EQ(hand_overs.threads(4, 0), 4);
  hand_overs.expect_busy(1, 0);
  EXPECT_EQ(hand_overs.threads(4, 1), 3);
  EXPECT_EQ(hand_overs.threads(4, 1000 * ms), 4);
}

TEST(hand_overs, whoever_wants_all_members_gets_them) {
  HandOvers hand_overs;
  hand_overs.call_all();
  hand_overs.ran(bad_run(), 0);
  EXPECT_EQ(hand_overs.threads(2, 1), 2);
}

TEST(hand_overs, a_team_calls_as_many_as_they_say) {
  HandOvers hand_overs;
  ThreadTeam team(3, hand_overs);
  team.muster();
  hand_overs.expect_busy(2, clock_nanoseconds() + 3600'000 * ms);  // an hour ahead
  EXPECT_EQ(team.threads_now(), 1);
  int done = 0;
  EXPECT_EQ(team.share([&](int) { ++done; }), 1);
  EXPECT_EQ(done, 1);
  hand_overs.expect_busy(1, clock_nanoseconds() + 3600'000 * ms);
  EXPECT_EQ(team.share([&](int thread) { EXPECT_LT(thread, 2); }), 2);
}

TEST(processors, there_is_at_least_one_and_no_more_than_the_mask_allows) {
  EXPECT_GE(available_processors(), 1);
  EXPECT_GE(busy_processors(), 0);
}

TEST(processors, a_process_may_use_no_more_memory_than_there_is_and_no_less_than_it_holds) {
  EXPECT_LE(memory_limit_bytes(), offset_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE));
  EXPECT_GE(memory_limit_bytes(), resident_memory_bytes());
}

}  // namespace
}  // namespace palmette
