// Kernels on the emulator leave traces that can be replayed.
#include <gtest/gtest.h>

#include "palmette/device/device.hpp"
#include "palmette/transfer/transfer.hpp"

namespace palmette::transfer {
namespace {

using emulate::Observed;
using emulate::Order;
using emulate::Scope;

// 64 threads of device 0 store 8 bytes each into device 1; then a fence of system scope, or one each.
StoreTrace traced_kernel(bool fences_each) {
  emulate::reset_memory(2);
  double* const values = emulate::allocate_array<double>(64);
  TraceRecorder recorder("kernel", 2, 64);
  emulate::Options options;
  options.devices = 2;
  options.observe = [&](const Observed& seen) {
    const TraceThread who{seen.device, seen.block, seen.thread};
    if (seen.what == Observed::store) recorder.store(who, seen.owner, seen.offset, seen.bytes);
    if (seen.what == Observed::load) recorder.load(who, seen.offset, seen.bytes);
    if (seen.what == Observed::release) recorder.release(who, static_cast<AccessScope>(seen.scope));
  };
  const emulate::Launch kernel{0, 1, 64, 0, [&] {
                                 emulate::store(emulate::on_device(values, 1) + emulate::thread(), 2.5,
                                                Order::relaxed, Scope::system);
                                 if (fences_each) emulate::fence(Scope::system);
                               }};
  EXPECT_TRUE(emulate::run({kernel}, options).ok());
  return recorder.take();
}

TEST(emulator_trace, a_fence_after_each_store_defeats_packing) {
  if (!emulate::emulator_is_available()) GTEST_SKIP();
  const Fabric fabric{"pcie", "", 32, 1, 8, 65536, {24, 4, 4096, 0}, Topology::crossbar, 0, 0};
  ReplayOptions options;
  options.paradigm = Paradigm::finepack;
  const StoreTrace plain = traced_kernel(false), fenced = traced_kernel(true);
  EXPECT_EQ(plain.num_accesses(), 64);
  EXPECT_EQ(fenced.num_accesses(), 128);
  const TransferResult packed = simulate_transfers(plain, fabric, options);
  const TransferResult released = simulate_transfers(fenced, fabric, options);
  EXPECT_EQ(packed.packets, 1);
  EXPECT_EQ(released.packets, 2) << "each warp releases what it stored";
  EXPECT_EQ(packed.different_bytes + released.different_bytes, 0);
  EXPECT_GT(released.wire_bytes, packed.wire_bytes);
}

}  // namespace
}  // namespace palmette::transfer
