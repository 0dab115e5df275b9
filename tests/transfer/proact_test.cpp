// The shape of figure 2.6: chunks of PROACT on a kernel that computes as long as a copy of its output takes.
#include <gtest/gtest.h>

#include <algorithm>

#include "palmette/transfer/transfer.hpp"

namespace palmette::transfer {
namespace {

constexpr std::uint64_t region_bytes = 1 << 20;

/// One device stores 1 MB, 8 bytes a thread, for another.
StoreTrace micro(double work_bytes) {
  StoreTrace trace{"micro", 2, region_bytes, std::vector<TracedPhase>(1)};
  trace.phases[0].kernels.resize(2);
  TracedKernel& kernel = trace.phases[0].kernels[0];
  kernel.work_bytes = work_bytes;
  kernel.copies = {{0, region_bytes, only(1)}};
  for (std::uint64_t at = 0; at < region_bytes; at += 8) {
    Access one;
    one.address = at;
    one.value = at + 1;
    one.thread = static_cast<std::uint32_t>(at / 8);
    one.bytes = 8;
    one.to = only(1);
    kernel.accesses.push_back(one);
  }
  return trace;
}

class FigureTwoSix : public ::testing::Test {
 protected:
  /// Speed over copies.
  double speed(std::int64_t chunk_bytes) const {
    ReplayOptions with = options_;
    with.paradigm = Paradigm::proact;
    with.proact.chunk_bytes = chunk_bytes;
    return copies_ / simulate_transfers(trace_, fabric_, with).seconds;
  }
  const Fabric fabric_{"pcie", "", 32, 1, 8, 65536, {24, 4, 4096, 0}, Topology::crossbar, 0, 0};
  const ReplayOptions options_ = [] {
    ReplayOptions options;
    options.paradigm = Paradigm::copies;
    options.device.launch_us = 0;
    return options;
  }();
  const StoreTrace trace_ = micro(static_cast<double>(region_bytes) / 32 * options_.device.work_gbs);
  const double copies_ = simulate_transfers(trace_, fabric_, options_).seconds;
};

TEST_F(FigureTwoSix, has_three_regions_and_never_passes_twice_the_speed_of_copies) {
  std::vector<double> speeds;  // of chunks of 1, 16, 64 and 1024 KB
  for (const std::int64_t chunk : {1 << 10, 16 << 10, 64 << 10, 1 << 20}) speeds.push_back(speed(chunk));
  const double best = std::max(speeds[1], speeds[2]);
  EXPECT_LE(best, 2);
  EXPECT_GE(best, 1.5) << "published peaks are 1.5 to 1.9";
  EXPECT_LT(speeds[0], 0.95 * best) << "starts of transfers bound small chunks";
  EXPECT_LT(speeds[3], 0.95 * best) << "the last chunk bounds large ones";
}

// Tracking alone costs a tenth: without it a chunk in the middle hides nearly everything.
TEST_F(FigureTwoSix, hides_three_quarters_of_the_transfer_beside_its_tracking) {
  ReplayOptions with = options_;
  with.paradigm = Paradigm::proact;
  with.proact.chunk_bytes = 32 << 10;
  const TransferResult proact = simulate_transfers(trace_, fabric_, with);
  EXPECT_LE(with.proact.tracking, 0.15) << "published: 10 to 15 %";
  const double left = proact.seconds - proact.compute_seconds * (1 + with.proact.tracking);
  EXPECT_GE(left, 0);
  EXPECT_LE(left, 0.25 * (copies_ - proact.compute_seconds));
}

}  // namespace
}  // namespace palmette::transfer
