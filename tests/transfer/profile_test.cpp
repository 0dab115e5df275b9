// The profiler finds what an exhaustive sweep finds, within 10 %, with fewer trials; files keep it.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/transfer/fabrics.hpp"

namespace palmette::transfer {
namespace {

using testing_transfer::crossbar;

// Simulated time, so the same in every run.
TEST(Profile, of_simulated_programs_is_within_10_percent_of_the_sweep) {
  ApplicationOptions small;
  small.devices = 4;
  small.scale = 1.0 / 32;
  ProfileSpace space;
  space.mechanisms = {Mechanism::by_writer, Mechanism::polling, Mechanism::launched};
  for (const Application application : {Application::jacobi, Application::als, Application::transpose}) {
    const char* const name = name_of(application);
    const StoreTrace trace = run_application(application, small).trace;
    const Measure measure = simulated_measure(trace, crossbar(), {});
    const ProfiledChoice profile = profile_choices(space, measure), sweep = sweep_choices(space, measure);
    EXPECT_LE(profile.seconds, 1.10 * sweep.seconds) << name;
    EXPECT_LT(profile.trials, sweep.trials / 2) << name;
    RecordProperty(name, std::to_string(profile.seconds / sweep.seconds));
  }
}

// A valley at 256 KB and 4 agents, away from the first trials.
TEST(Profile, goes_downhill_to_a_choice_that_it_does_not_try_first) {
  const Measure valley = [](const TransferChoice& choice) {
    const double chunk = std::abs(std::log2(static_cast<double>(choice.chunk_bytes)) - 18);
    const double agents = std::abs(std::log2(static_cast<double>(choice.agents)) - 2);
    return 1 + chunk + agents + (choice.mechanism == Mechanism::launched ? 0 : 1);
  };
  EXPECT_EQ(profile_choices({}, valley).choice, (TransferChoice{Mechanism::launched, 256 << 10, 4}));
}

TEST(Profile, of_threads_is_measured) {
  const ThreadTrial trial{256 << 10, 2, 1, 1};
  ProfileSpace space;
  space.most_chunk_bytes = 64 << 10;
  space.most_agents = 2;
  const ProfiledChoice best = profile_choices(space, thread_measure(trial));
  EXPECT_GT(best.seconds, 0);
  EXPECT_GE(best.trials, 8);
}

TEST(ProfileFile, keeps_every_value) {
  const std::vector<TransferProfile> written{
      {"four devices", "simulated", 1 << 20, {{Mechanism::by_writer, 4096, 1}, 1.25e-5, 7}},
      {"threads", "measured", 8 << 20, {{Mechanism::packed, 1 << 20, 4}, 0.1, 42}}};
  std::stringstream file;
  write_profiles(file, written);
  const std::vector<TransferProfile> read = read_profiles(file, "profile.json");
  ASSERT_EQ(read.size(), 2u);
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(read[k].machine, written[k].machine);
    EXPECT_EQ(read[k].kind, written[k].kind);
    EXPECT_EQ(read[k].region_bytes, written[k].region_bytes);
    EXPECT_EQ(read[k].best.choice, written[k].best.choice);
    EXPECT_EQ(read[k].best.seconds, written[k].best.seconds);
    EXPECT_EQ(read[k].best.trials, written[k].best.trials);
  }
}

TEST(ProfileFile, with_a_wrong_value_is_refused_with_its_line) {
  std::stringstream file;
  write_profiles(file,
                 std::vector<TransferProfile>{{"m", "measured", 8, {{Mechanism::polling, 4096, 1}, 1, 1}}});
  std::string text = file.str();
  text.replace(text.find("polling"), 7, "rolling");
  std::stringstream damaged(text);
  try {
    read_profiles(damaged, "profile.json");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_EQ(error.line(), 2);
    EXPECT_NE(std::string(error.what()).find("mechanism"), std::string::npos);
  }
}

}  // namespace
}  // namespace palmette::transfer
