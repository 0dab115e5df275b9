// The kernel of regions as nvcc compiled it: every word arrives, and a missing fence is found there too. The
// build by g++ is tested by the room `transfer`, which gives both their memory.
#include "palmette/transfer/transfer.hpp"

#include "tests/device/compiled_kernels.hpp"
#include "tests/device/ptxas_log.hpp"
#include "tests/seeds.hpp"

namespace palmette::sweeps {
namespace {

using device::ExchangeFault;

std::string name_of(ExchangeFault fault) {
  return "region_trial_kernel<(ExchangeFault)" + std::to_string(static_cast<int>(fault)) + ">";
}

/// What the emulator reports of two devices, or whether the words are right.
std::string outcome(ExchangeFault fault, int architecture, transfer::Mechanism mechanism, int seed) {
  EmulatedDeviceOptions options;
  options.blocks = 8;
  options.emulator = {};
  options.emulator.seed = static_cast<std::uint64_t>(seed);
  options.emulator.resident_blocks = 8;
  const Launcher launcher = [&](const device::KernelCall& call, const device::LaunchShape& shape) {
    const auto& trial = *static_cast<const device::RegionTrial*>(call.argument);
    return emulate::launch(
        compiled_module("vectors", architecture), name_of(fault), emulate::ptx_arguments(trial),
        {trial.exchange.rank, shape.blocks, shape.threads, static_cast<std::size_t>(shape.shared_bytes)});
  };
  transfer::DeviceTrial trial;
  trial.writes = {{0, 192}, {192, 384}};
  trial.bytes = 384;
  trial.epochs = 3;
  trial.runs_ahead = seed % 2 == 0;
  trial.writing_blocks = 2;
  try {
    const auto world = make_emulated_world(2, options, launcher);
    const auto result = transfer::run_device_trial(*world, trial, {mechanism, 256, 1});
    return result.wrong_words == 0 && result.chunks == 12 ? "right" : "wrong";
  } catch (const DeviceError& error) {
    return error.what();
  }
}

class CompiledRegions : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Architectures, CompiledRegions, ::testing::Values(80, 90));

TEST_P(CompiledRegions, deliver_every_word_by_every_mechanism) {
  PALMETTE_NEEDS_NVCC();
  for (const transfer::Mechanism mechanism : transfer::mechanisms)
    for (int seed = 1; seed <= testing::num_seeds(4); ++seed)
      EXPECT_EQ(outcome(ExchangeFault::none, GetParam(), mechanism, seed), "right")
          << transfer::name_of(mechanism) << ", seed " << seed;
}

TEST_P(CompiledRegions, without_a_fence_before_the_count_are_a_race) {
  PALMETTE_NEEDS_NVCC();
  for (const transfer::Mechanism mechanism : transfer::mechanisms)
    EXPECT_NE(outcome(ExchangeFault::unfenced_count, GetParam(), mechanism, 1).find("race"),
              std::string::npos)
        << transfer::name_of(mechanism);
}

TEST_P(CompiledRegions, take_at_most_64_registers_and_spill_nothing) {
  PALMETTE_NEEDS_NVCC();
  const std::string log = compiled_text("vectors", GetParam(), "log");
  const PtxasFigures figures =
      ptxas_figures(log, compiled_module("vectors", GetParam()).symbol(name_of(ExchangeFault::none)));
  EXPECT_EQ(figures.bytes_spilled, 0);
  EXPECT_GT(figures.registers, 0);
  EXPECT_LE(figures.registers, 64);
}

}  // namespace
}  // namespace palmette::sweeps
