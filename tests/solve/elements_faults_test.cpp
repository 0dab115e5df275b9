// Solves over several devices with planted faults, and by the code that nvcc makes of the kernels.
#include <gtest/gtest.h>

#include "palmette/device/device.hpp"
#include "palmette/solve/elements_core.hpp"
#include "tests/device/compiled_kernels.hpp"
#include "tests/device/ptxas_log.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"
#include "tests/solve/reference.hpp"

namespace palmette {
namespace {

using device::Fault;
using device::Link;
using reference::Wish;

EmulatedDeviceOptions watched(int seed) {
  EmulatedDeviceOptions options;
  options.blocks = 1 + seed % 3;
  options.emulator = {};
  options.emulator.seed = static_cast<std::uint64_t>(seed);
  options.emulator.resident_blocks = 1 + seed % 2;
  return options;
}

PlanOptions on(std::shared_ptr<DeviceWorld> world, Link link, ProcessGrid grid) {
  PlanOptions options;
  options.world = std::move(world);
  options.of_world.grid = grid;
  options.of_world.subtrees.max_entries = 60;
  options.of_world.by_network = link == Link::network;
  return options;
}

/// The forward sweep has the fault.
Launcher with(Fault fault, Link link) {
  return [=](const device::KernelCall& call, const device::LaunchShape& shape) {
    if (call.kernel != device::Kernel::element_forward && call.kernel != device::Kernel::network_forward)
      return device::emulated_launch(call, shape);
    return device::element_forward_with(
        fault, link, *static_cast<const device::ElementSweep<double>*>(call.argument), shape);
  };
}

class PlantedInElements : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
    factor_ = reference::naive_factor(reference::make_problem<double>(wish_), wish_);
    b_ = reference::random_dense<double>(factor_->size(), 1, 5);
    judge_ = reference::solved(plan_solve(factor_, on(make_emulated_world(1), Link::peers, {1, 1})),
                               Operation::plain, b_);
  }

  /// What the emulator reports, or that the answer is wrong.
  std::string outcome(Fault fault, Link link, int seed) const {
    return outcome(fault, link, seed, watched(seed));
  }
  std::string outcome(Fault fault, Link link, int seed, const EmulatedDeviceOptions& options) const {
    const auto plan = plan_solve(factor_, on(make_emulated_world(4, options, with(fault, link)), link,
                                             seed % 2 ? ProcessGrid{2, 2} : ProcessGrid{4, 1}));
    try {
      return reference::same_bits(judge_, reference::solved(plan, Operation::plain, b_)) ? "right" : "wrong";
    } catch (const DeviceError& error) {
      return error.what();
    }
  }
  void expect_in_every_seed(Fault fault, Link link, const std::string& words) const {
    for (int seed = 1; seed <= testing::num_seeds(25); ++seed)
      EXPECT_NE(outcome(fault, link, seed).find(words), std::string::npos)
          << "seed " << seed << ": " << outcome(fault, link, seed);
  }

  Wish wish_{FactorKind::llt, false, 5, 11};
  std::shared_ptr<const Factor<double>> factor_;
  DenseMatrix<double> b_{0, 0}, judge_{0, 0};
};

TEST_F(PlantedInElements, without_a_fault_answers_are_right) {
  expect_in_every_seed(Fault::none, Link::peers, "right");
  expect_in_every_seed(Fault::none, Link::network, "right");
}
TEST_F(PlantedInElements, signals_of_the_scope_of_one_device_are_a_race) {
  expect_in_every_seed(Fault::narrow_scope, Link::peers, "race");
}
TEST_F(PlantedInElements, signals_without_release_are_a_race) {
  expect_in_every_seed(Fault::relaxed_flag, Link::peers, "race");
}
TEST_F(PlantedInElements, signals_before_all_rows_are_stored_are_a_race) {
  expect_in_every_seed(Fault::missing_barrier, Link::peers, "race");
}
TEST_F(PlantedInElements, messages_read_without_acquire_are_a_race) {
  expect_in_every_seed(Fault::no_acquire, Link::peers, "race");
  expect_in_every_seed(Fault::no_acquire, Link::network, "race");
}
/// As a network may bring the signal before the rows.
TEST_F(PlantedInElements, signals_of_the_network_without_its_wait_are_a_race_and_give_wrong_answers) {
  expect_in_every_seed(Fault::no_network_wait, Link::network, "race");
  int wrong = 0;
  for (int seed = 1; seed <= testing::num_seeds(25); ++seed) {
    EmulatedDeviceOptions options = watched(seed);
    options.emulator.find_races = false;
    wrong += outcome(Fault::no_network_wait, Link::network, seed, options) == "wrong";
    EXPECT_EQ(outcome(Fault::none, Link::network, seed, options), "right") << "seed " << seed;
  }
  EXPECT_GT(wrong, 0);
}
TEST_F(PlantedInElements, sources_of_puts_overwritten_before_quiet_are_reported) {
  expect_in_every_seed(Fault::early_reuse, Link::network, "before quiet");
}
TEST_F(PlantedInElements, messages_of_the_wrong_size_give_wrong_answers) {
  expect_in_every_seed(Fault::short_message, Link::peers, "wrong");
  expect_in_every_seed(Fault::short_message, Link::network, "wrong");
}

/// In the first sweep one element does nothing, and another is given no patience and waits for ever: where a
/// third gives up, the run fails before anyone has asked who gave up. The next solve begins anew.
TEST_F(PlantedInElements, a_run_that_fails_leaves_nothing_for_the_next_solve) {
  int deadlocks = 0;
  for (int idle = 0; idle < 4; ++idle)
    for (int endless = 0; endless < 4; ++endless) {
      const Launcher first_fails = [idle, endless, launches = std::make_shared<int>(0)](
                                       const device::KernelCall& call, const device::LaunchShape& shape) {
        const int number = (*launches)++;
        auto sweep = *static_cast<const device::ElementSweep<double>*>(call.argument);
        if (number == endless) sweep.watch = {nullptr, 0};
        device::KernelCall changed = call;
        changed.argument = &sweep;
        emulate::Launch launch = device::emulated_launch(changed, shape);
        if (number == idle) launch.kernel = [] {};
        return launch;
      };
      EmulatedDeviceOptions options = watched(1);
      options.emulator.last_looks = 200;
      PlanOptions planned = on(make_emulated_world(4, options, first_fails), Link::peers, {4, 1});
      planned.of_world.most_polls = 20;
      const auto plan = plan_solve(factor_, planned);
      try {
        (void)reference::solved(plan, Operation::plain, b_);
      } catch (const DeviceError& error) {
        deadlocks += std::string(error.what()).find("deadlock") != std::string::npos;
      }
      EXPECT_TRUE(reference::same_bits(judge_, reference::solved(plan, Operation::plain, b_)))
          << idle << ", " << endless;
    }
  EXPECT_GT(deadlocks, 0);
}

/// What nvcc made of the kernels, interpreted.
template <class T>
class CompiledElements : public ::testing::Test {};
TYPED_TEST_SUITE(CompiledElements, TestedScalars);

bool puts(const device::KernelCall& call) {
  return call.kernel == device::Kernel::network_forward || call.kernel == device::Kernel::network_backward;
}

std::string compiled_name(const device::KernelCall& call) {
  static const char* const scalars[] = {"float", "double", "Complex<float>", "Complex<double>"};
  const bool forward =
      call.kernel == device::Kernel::element_forward || call.kernel == device::Kernel::network_forward;
  return (puts(call) ? "network_" : "element_") +
         std::string(forward ? "forward_kernel<" : "backward_kernel<") +
         scalars[static_cast<int>(call.scalar)] + ", " + std::to_string(call.rhs_at_once) +
         (forward ? ", (Fault)0>" : ">");
}

template <class T>
Launcher compiled(int architecture) {
  return [=](const device::KernelCall& call, const device::LaunchShape& shape) {
    const emulate::Launch native = device::emulated_launch(call, shape);
    const auto& argument = *static_cast<const device::ElementSweep<T>*>(call.argument);
    const auto& module = sweeps::compiled_module(puts(call) ? "network_elements" : "elements", architecture);
    return emulate::launch(module, compiled_name(call), emulate::ptx_arguments(argument),
                           {0, native.blocks, native.threads, native.shared_bytes});
  };
}

TYPED_TEST(CompiledElements, have_the_bits_of_the_build_by_gcc_and_raise_no_report) {
  PALMETTE_NEEDS_NVCC();
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    const Wish wish{kind, false, 5, 11};
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    for (const index_t num_rhs : {1, 3}) {
      const auto b = reference::random_dense<TypeParam>(factor->size(), num_rhs, 5);
      const auto alone = plan_solve(factor, on(make_emulated_world(1), Link::peers, {1, 1}));
      const auto judge = reference::solved(alone, Operation::plain, b);
      for (const int architecture : {80, 90})
        for (const Link link : {Link::peers, Link::network}) {
          const auto world = make_emulated_world(4, watched(architecture), compiled<TypeParam>(architecture));
          const auto plan = plan_solve(factor, on(world, link, {2, 2}));
          EXPECT_TRUE(reference::same_bits(judge, reference::solved(plan, Operation::plain, b)))
              << name_of(kind) << ", " << num_rhs << " right-hand sides, sm_" << architecture
              << (link == Link::network ? ", network" : ", peers");
        }
    }
  }
}

/// In layers, what the kernels do behind the forward sweep too: one right-hand side by the code for one
/// architecture, three by that for the other.
TYPED_TEST(CompiledElements, have_the_bits_of_the_build_by_gcc_in_layers) {
  PALMETTE_NEEDS_NVCC();
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const auto layered = [](std::shared_ptr<DeviceWorld> world, ProcessGrid grid, index_t layers) {
    PlanOptions options = on(std::move(world), Link::peers, grid);
    options.of_world.layers = layers;
    return options;
  };
  struct Trial {
    FactorKind kind;
    ProcessGrid grid;
    index_t layers;
    index_t num_rhs;
    int architecture;
  };
  for (const Trial& trial :
       {Trial{FactorKind::llt, {2, 1}, 2, 1, 80}, Trial{FactorKind::lu, {1, 2}, 2, 3, 90},
        Trial{FactorKind::ldlt, {1, 1}, 3, 3, 80}}) {
    const Wish wish{trial.kind, false, 5, 11};
    const auto factor = reference::naive_factor(reference::make_problem<TypeParam>(wish), wish);
    const auto b = reference::random_dense<TypeParam>(factor->size(), trial.num_rhs, 5);
    const auto count = static_cast<int>(trial.grid.num_ranks() * trial.layers);
    const auto judge = reference::solved(
        plan_solve(factor,
                   layered(make_emulated_world(static_cast<int>(trial.layers)), {1, 1}, trial.layers)),
        Operation::plain, b);
    const auto world = make_emulated_world(count, watched(3), compiled<TypeParam>(trial.architecture));
    const auto plan = plan_solve(factor, layered(world, trial.grid, trial.layers));
    EXPECT_TRUE(reference::same_bits(judge, reference::solved(plan, Operation::plain, b)))
        << name_of(trial.kind) << ", " << trial.layers << " layers, sm_" << trial.architecture;
  }
}

/// Kernels look for a signal themselves, and let NVSHMEM wait behind it before they acquire what came.
TEST(CompiledElementKernels, wait_by_nvshmem_behind_the_signals_of_a_network) {
  PALMETTE_NEEDS_NVCC();
  for (const int architecture : {80, 90}) {
    const emulate::PtxModule& module = sweeps::compiled_module("network_elements", architecture);
    const std::string text = sweeps::compiled_text("network_elements", architecture, "ptx");
    EXPECT_EQ(module.kernel_names().size(), 2U * 4 * 2);
    for (const std::string& name : module.kernel_names()) {
      const std::size_t begin = text.find(".entry " + module.symbol(name) + "(");
      const std::size_t end = text.find("\n}", begin);
      ASSERT_NE(end, std::string::npos) << name;
      std::size_t at = begin;
      for (const char* const next :
           {"ld.relaxed.sys.b64", "nvshmem_signal_wait_until,", "ld.acquire.sys.b64"}) {
        at = text.find(next, at);
        EXPECT_LT(at, end) << name << " has no " << next;
      }
    }
  }
}

TEST(CompiledElementKernels, stay_within_their_registers_and_spill_nothing) {
  PALMETTE_NEEDS_NVCC();
  constexpr int most_registers = 128;  // two blocks of 256 threads on a multiprocessor
  for (const int architecture : {80, 90}) {
    const emulate::PtxModule& module = sweeps::compiled_module("elements", architecture);
    const std::string log = sweeps::compiled_text("elements", architecture, "log");
    for (const device::Kernel kernel : {device::Kernel::element_forward, device::Kernel::element_backward})
      for (const ScalarType scalar :
           {ScalarType::float32, ScalarType::float64, ScalarType::complex64, ScalarType::complex128})
        for (const int at_once : {1, device::rhs_of_lane}) {
          const std::string name = compiled_name({kernel, scalar, at_once, nullptr});
          const sweeps::PtxasFigures figures = sweeps::ptxas_figures(log, module.symbol(name));
          EXPECT_EQ(figures.bytes_spilled, 0) << name;
          EXPECT_GT(figures.registers, 0) << name;
          EXPECT_LE(figures.registers, most_registers) << name;
        }
  }
}

}  // namespace
}  // namespace palmette
