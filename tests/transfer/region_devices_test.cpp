// Regions between emulated devices: every word arrives once, for its epoch, whatever the emulator draws; each
// planted fault is found.
#include <gtest/gtest.h>

#include "palmette/device/device.hpp"
#include "palmette/transfer/transfer.hpp"
#include "tests/seeds.hpp"
#include "tests/transfer/refusals.hpp"

namespace palmette::transfer {
namespace {

using device::ExchangeFault;

/// Stores become visible late, races are looked for, threads switch at every atomic access.
EmulatedDeviceOptions watched(int seed) {
  EmulatedDeviceOptions options;
  options.blocks = 8;
  options.emulator = {};
  options.emulator.seed = static_cast<std::uint64_t>(seed);
  options.emulator.resident_blocks = 8;
  return options;
}

/// Four tasks of 24 words in chunks of 40: chunks have one to three writers, and the last one is short.
DeviceTrial trial_of(int seed) {
  DeviceTrial trial;
  for (std::int64_t task = 0; task < 4; ++task) trial.writes.push_back({192 * task, 192 * (task + 1)});
  trial.bytes = 768;
  trial.epochs = 3;
  trial.runs_ahead = seed % 2 == 1;
  trial.writing_blocks = 1 + seed % 3;
  trial.reading_blocks = 1 + seed % 2;
  trial.threads = 32 << (seed % 2);
  return trial;
}

constexpr int chunks_of_trial = 3;
constexpr int fault_seeds = 6;

class DeviceMechanisms : public ::testing::TestWithParam<Mechanism> {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
  TransferChoice choice(int seed) const { return {GetParam(), 320, 1 + seed % 3}; }
  /// What the emulator reports, or that words are wrong.
  std::string outcome(ExchangeFault fault, int seed) const {
    const Launcher launcher = [fault](const device::KernelCall& call, const device::LaunchShape& shape) {
      return device::region_trial_with(fault, *static_cast<const device::RegionTrial*>(call.argument), shape);
    };
    try {
      const auto world = make_emulated_world(2 + seed % 2, watched(seed), launcher);
      return run_device_trial(*world, trial_of(seed), choice(seed)).wrong_words == 0 ? "right" : "wrong";
    } catch (const DeviceError& error) {
      return error.what();
    }
  }
  /// In how many of the first seeds the outcome is not "right"; with words, in how many it has them.
  int found(ExchangeFault fault, const std::string& words = "") const {
    int count = 0;
    for (int seed = 1; seed <= fault_seeds; ++seed) {
      const std::string what = outcome(fault, seed);
      count += words.empty() ? what != "right" : what.find(words) != std::string::npos;
    }
    return count;
  }
};
INSTANTIATE_TEST_SUITE_P(All, DeviceMechanisms, ::testing::ValuesIn(mechanisms),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST_P(DeviceMechanisms, deliver_every_word_of_every_epoch_in_every_seed) {
  for (int seed = 1; seed <= testing::num_seeds(10); ++seed) {
    const int devices = 2 + seed % 2;
    const auto world = make_emulated_world(devices, watched(seed));
    const DeviceTrial trial = trial_of(seed);
    const DeviceTrialResult result = run_device_trial(*world, trial, choice(seed));
    ASSERT_EQ(result.wrong_words, 0) << "seed " << seed;
    ASSERT_EQ(result.chunks, trial.epochs * chunks_of_trial * devices * (devices - 1)) << "seed " << seed;
    if (GetParam() == Mechanism::packed)
      ASSERT_LE(result.packets, result.chunks);
    else
      ASSERT_EQ(result.packets, result.chunks);
  }
}

TEST_P(DeviceMechanisms, without_a_fence_before_the_count_are_a_race_in_every_seed) {
  EXPECT_EQ(found(ExchangeFault::unfenced_count, "race"), fault_seeds);
}

TEST_P(DeviceMechanisms, that_store_without_room_are_found) {
  EXPECT_GT(found(ExchangeFault::epoch_unchecked), 0);
}

TEST_P(DeviceMechanisms, whose_last_writer_does_not_acquire_what_others_wrote_are_a_race) {
  EXPECT_GT(found(ExchangeFault::unfenced_take, "race"), fault_seeds / 2);
}

class OneDeviceMechanism : public DeviceMechanisms {};
INSTANTIATE_TEST_SUITE_P(Polling, OneDeviceMechanism, ::testing::Values(Mechanism::polling),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST_P(OneDeviceMechanism, that_counts_for_its_own_device_alone_is_a_race) {
  EXPECT_EQ(found(ExchangeFault::narrow_count, "race"), fault_seeds);
}

TEST_P(OneDeviceMechanism, that_hands_over_without_release_is_a_race) {
  EXPECT_EQ(found(ExchangeFault::unfenced_hand_over, "race"), fault_seeds);
}

TEST(RegionOnDevices, whose_counter_is_looked_at_again_is_found) {
  if (!emulate::emulator_is_available()) GTEST_SKIP();
  // Both blocks of a chunk may find the counter at zero: its words come twice. About one seed of a hundred.
  int count = 0;
  for (int seed = 1; seed <= 400 && count == 0; ++seed) {
    const Launcher launcher = [](const device::KernelCall& call, const device::LaunchShape& shape) {
      return device::region_trial_with(ExchangeFault::read_again,
                                       *static_cast<const device::RegionTrial*>(call.argument), shape);
    };
    DeviceTrial trial = trial_of(seed);
    trial.writing_blocks = 3;
    try {
      const auto world = make_emulated_world(2, watched(seed), launcher);
      const DeviceTrialResult result = run_device_trial(*world, trial, {Mechanism::by_writer, 768, 1});
      count += result.wrong_words > 0 || result.chunks != 2 * trial.epochs;
    } catch (const DeviceError&) {
      ++count;
    }
  }
  EXPECT_GT(count, 0);
}

TEST(RegionOnDevices, packs_chunks_that_are_ready_together) {
  if (!emulate::emulator_is_available()) GTEST_SKIP();
  DeviceTrial trial = trial_of(0);
  trial.epochs = 1;
  trial.writes = {{0, 768}};  // one task completes all chunks
  const auto world = make_emulated_world(2, watched(1));
  const DeviceTrialResult result = run_device_trial(*world, trial, {Mechanism::packed, 64, 1});
  EXPECT_EQ(result.chunks, 24);
  EXPECT_LT(result.packets, 24);
}

std::string refusal_of(const TransferChoice& choice) {
  return testing_transfer::refusal<UsageError>(
      [&] { run_device_trial(*make_emulated_world(2, watched(1)), trial_of(0), choice); });
}

TEST(RegionOnDevices, refuses_bytes_that_are_no_words_and_blocks_that_do_not_fit) {
  if (!emulate::emulator_is_available()) GTEST_SKIP();
  EXPECT_NE(refusal_of({Mechanism::polling, 100, 1}).find("100"), std::string::npos);
  EXPECT_NE(refusal_of({Mechanism::polling, 64, 9}).find("11 blocks"), std::string::npos);
}

// The profiler takes devices as it takes threads and simulated programs.
TEST(RegionOnDevices, can_be_profiled) {
  if (!emulate::emulator_is_available()) GTEST_SKIP();
  ProfileSpace space;
  space.least_chunk_bytes = 128;
  space.most_chunk_bytes = 512;
  space.most_agents = 2;
  DeviceTrial trial = trial_of(2);
  trial.writing_blocks = 1;
  const ProfiledChoice best = profile_choices(space, device_measure(make_emulated_world(2), trial));
  EXPECT_GT(best.seconds, 0);
  EXPECT_GE(best.trials, 8);
}

}  // namespace
}  // namespace palmette::transfer
