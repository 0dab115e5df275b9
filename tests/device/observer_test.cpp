// What an observer sees of kernels: every access to device memory, by whom, whose memory, in which scope.
#include <gtest/gtest.h>

#include <vector>

#include "palmette/device/device.hpp"

namespace palmette::emulate {
namespace {

struct Seen {
  std::vector<Observed> all;
  int count(Observed::What what, Scope scope) const {
    int found = 0;
    for (const Observed& one : all) found += one.what == what && one.scope == scope;
    return found;
  }
};

TEST(observer, sees_stores_loads_and_releases_with_their_threads) {
  if (!emulator_is_available()) GTEST_SKIP();
  reset_memory(2);
  double* const values = allocate_array<double>(64);
  Signal* const signal = allocate_array<Signal>(1);
  Seen seen;
  Options options;
  options.devices = 2;
  options.observe = [&](const Observed& one) { seen.all.push_back(one); };
  const Launch producer{0, 1, 32, 0, [&] {
                          store(values + thread(), 1.5, Order::relaxed, Scope::device);
                          put_signal_block(values + 32, values, 32 * 8, signal, Signal{1}, 1);
                          if (thread() == 0) quiet();
                        }};
  const Launch consumer{1, 1, 32, 0, [&] {
                          Signal* const mine = on_device(signal, 1);
                          if (thread() == 0) wait_signal(mine, Signal{1});
                        }};
  EXPECT_TRUE(run({producer, consumer}, options).ok());
  EXPECT_EQ(seen.count(Observed::store, Scope::device), 32);
  EXPECT_EQ(seen.count(Observed::release, Scope::system), 1) << "the put";
  int remote_bytes = 0;
  for (const Observed& one : seen.all)
    if (one.what == Observed::store && one.owner != one.device) {
      EXPECT_EQ(one.device, 0);
      EXPECT_EQ(one.owner, 1);
      remote_bytes += one.bytes;
    }
  EXPECT_EQ(remote_bytes, 32 * 8 + 8);
}

}  // namespace
}  // namespace palmette::emulate
