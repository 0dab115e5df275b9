// The network of emulated devices: who can join, what all ranks must agree on, and when kernels have ended.
#include <gtest/gtest.h>

#include <cstring>

#include "palmette/device/device.hpp"

namespace palmette {
namespace {

class Networks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run here";
    for (int rank = 0; rank < 2; ++rank) devices_.push_back(make_emulated_device({.index = rank}));
  }
  std::vector<std::shared_ptr<Device>> devices_;
};

/// Each run of the emulator counts the kernels in it.
Launcher counting(int& kernels, bool fails = false) {
  return [&kernels, fails](const device::KernelCall&, const device::LaunchShape& shape) {
    emulate::Launch launch;
    launch.blocks = shape.blocks;
    launch.threads = shape.threads;
    launch.kernel = [&kernels, fails] {
      if (fails && emulate::thread() == 0) emulate::block_barrier();
      if (emulate::block() == 0 && emulate::thread() == 0) ++kernels;
    };
    return launch;
  };
}

constexpr device::KernelCall no_call{device::Kernel::network_forward, ScalarType::float64, 1, nullptr};

TEST_F(Networks, kernels_run_when_the_last_rank_has_begun_its_own) {
  int kernels = 0;
  const auto networks = make_emulated_networks(devices_, {}, counting(kernels));
  for (int turn = 1; turn <= 2; ++turn) {
    networks[1]->begin(no_call, {});
    EXPECT_FALSE(networks[1]->ended());
    EXPECT_EQ(kernels, 2 * (turn - 1));
    networks[0]->begin(no_call, {});
    EXPECT_TRUE(networks[0]->ended());
    EXPECT_TRUE(networks[1]->ended());
    EXPECT_EQ(kernels, 2 * turn);
  }
  EXPECT_EQ(devices_[0]->counts().launches, 2);
}

TEST_F(Networks, a_kernel_that_fails_ends_the_wait_of_all_ranks) {
  int kernels = 0;
  const auto networks = make_emulated_networks(devices_, {}, counting(kernels, true));
  for (const auto& network : networks) network->begin(no_call, {});
  for (const auto& network : networks) EXPECT_THROW((void)network->ended(), DeviceError);
}

TEST_F(Networks, memory_is_symmetric_and_zero_and_has_one_size) {
  const auto networks = make_emulated_networks(devices_);
  for (const unsigned char value : {7, 9}) {
    std::vector<std::shared_ptr<void>> memory;
    for (const auto& network : networks) memory.push_back(network->allocate(40));
    auto* const first = static_cast<unsigned char*>(memory[0].get());
    EXPECT_EQ(memory[1].get(), emulate::on_device(first, 1));
    for (const auto& one : memory) {
      for (int k = 0; k < 40; ++k) EXPECT_EQ(static_cast<unsigned char*>(one.get())[k], 0);
      std::memset(one.get(), value, 40);
    }
    EXPECT_EQ(networks[1]->bytes_in_use(), 40);
  }
  EXPECT_EQ(networks[1]->bytes_in_use(), 0);
  EXPECT_EQ(networks[0]->allocate(0), nullptr);
  const auto mine = networks[0]->allocate(16);
  EXPECT_THROW((void)networks[1]->allocate(24), UsageError);
  EXPECT_THROW((void)networks[1]->allocate(16, networks[1]->claim(8)), UsageError);
  EXPECT_THROW((void)networks[1]->allocate(16, networks[0]->claim(16)), UsageError);
}

TEST_F(Networks, memory_counts_against_the_budget_of_each_rank) {
  devices_[1]->limit_memory(100);
  const auto networks = make_emulated_networks(devices_);
  {
    const auto here = networks[0]->allocate(60), there = networks[1]->allocate(60);
    EXPECT_EQ(devices_[0]->bytes_in_use(), 60);
    EXPECT_EQ(devices_[1]->bytes_in_use(), 60);
    EXPECT_THROW((void)devices_[1]->allocate(41), MemoryError);
    EXPECT_THROW((void)networks[1]->allocate(41), MemoryError);
  }
  for (const auto& device : devices_) EXPECT_EQ(device->bytes_in_use(), 0);
  EXPECT_EQ(networks[1]->bytes_in_use(), 0);
}

TEST_F(Networks, memory_of_a_world_counts_against_the_budget_of_each_element) {
  const auto world = open_world("emulated@100", 3);
  world->element(2)->limit_memory(90);
  {
    const SymmetricArray<char> array(*world, 70);
    for (const auto& one : world->elements()) EXPECT_EQ(one->bytes_in_use(), 70);
    EXPECT_THROW(SymmetricArray<char>(*world, 25), MemoryError);
    for (const auto& one : world->elements()) EXPECT_EQ(one->bytes_in_use(), 70);
  }
  for (const auto& one : world->elements()) EXPECT_EQ(one->bytes_in_use(), 0);
  EXPECT_EQ(world->element(0)->info().memory_bytes, 100);
  EXPECT_THROW((void)open_world("emulated@nothing", 2), UsageError);
}

TEST_F(Networks, a_kernel_before_the_last_one_has_run_is_refused) {
  int kernels = 0;
  const auto networks = make_emulated_networks(devices_, {}, counting(kernels));
  networks[1]->begin(no_call, {});
  EXPECT_THROW(networks[1]->begin(no_call, {}), DeviceError);
  EXPECT_EQ(kernels, 0);
}

TEST_F(Networks, ranks_join_by_an_id_of_this_process) {
  const NetworkId id = make_network_id(*devices_[0]), other = make_network_id(*devices_[0]);
  EXPECT_NE(id, other);
  const auto first = join_network(devices_[0], id, 0, 2);
  const auto elsewhere = join_network(devices_[1], other, 1, 2);
  const auto second = join_network(devices_[1], id, 1, 2);
  const auto memory = first->allocate(8);
  EXPECT_EQ(second->allocate(8).get(), emulate::on_device(static_cast<char*>(memory.get()), 1));
  EXPECT_NE(elsewhere->allocate(8).get(), emulate::on_device(static_cast<char*>(memory.get()), 1));
  EXPECT_THROW((void)join_network(devices_[1], id, 0, 2), UsageError);
  NetworkId foreign = id;
  foreign[0] ^= std::byte{1};
  EXPECT_THROW((void)join_network(devices_[0], foreign, 0, 2), DeviceError);
}

/// Blocks of device 0 come and go, so that memory of a block that has ended is used again while its puts are
/// still on their way; each block of device 1 waits for one of them.
TEST_F(Networks, puts_arrive_after_their_threads_have_ended_without_quiet) {
  using namespace emulate;
  constexpr int blocks = 200;
  for (int seed = 1; seed <= 20; ++seed) {
    reset_memory(2);
    const std::vector<std::int64_t> ones(blocks, 1);
    std::int64_t* const values = upload(ones);
    auto* const signals = allocate_array<Signal>(blocks);
    const auto put = [=] {
      std::int64_t* const value = values + block();
      if (thread() == 0) put_signal(value, value, 8, signals + block(), 1, 1);
    };
    const auto wait = [=] {
      if (thread() != 0) return;
      wait_signal(on_device(signals + block(), 1), 1);
      load(on_device(values + block(), 1), Order::relaxed, Scope::device);
    };
    Options options;
    options.seed = static_cast<std::uint64_t>(seed);
    options.devices = 2;
    const Report report = run({{0, blocks, 32, 0, put}, {1, blocks, 32, 0, wait}}, options);
    EXPECT_EQ(report.errors, std::vector<std::string>{"a thread ends without quiet behind what it has put"});
    EXPECT_EQ(std::vector(on_device(values, 1), on_device(values, 1) + blocks), ones);
  }
}

}  // namespace
}  // namespace palmette
