// Groups of right-hand sides are swept on their own: the bits of one do not depend on the others.
#include <gtest/gtest.h>

#include "tests/device/random_sweeps.hpp"
#include "tests/seeds.hpp"

namespace palmette::sweeps {
namespace {

/// The columns [first, first + count) of rows of `stride`.
std::vector<double> columns_of(const std::vector<double>& rows, int stride, int first, int count) {
  std::vector<double> cut;
  for (auto at = static_cast<std::size_t>(first); at < rows.size(); at += static_cast<std::size_t>(stride))
    cut.insert(cut.end(), rows.begin() + at, rows.begin() + at + count);
  return cut;
}

/// x after a sweep with these right-hand sides, for so many at a time.
std::vector<double> swept(const Problem& p, Kernel kernel, const std::vector<double>& rhs, int stride,
                          int seed) {
  reset_memory(1);
  const int at_once = stride == 1 ? 1 : rhs_of_lane;
  TriangleSweep<double> all = random_sweep<double>(p, stride);
  all.at.in = upload(rhs);
  LaunchShape shape{7, 64, shared_bytes_of_sweep<double>(all.at.widest, at_once)};
  shape.shared_bytes = std::max(shape.shared_bytes, shared_bytes_of_small<double, rhs_of_lane>);
  for (const TriangleSweep<double>& sweep : launches_of(p, kernel, all)) {
    const KernelCall call{kernel, ScalarType::float64, at_once, &sweep};
    const Report report = run({emulated_launch(call, shape)}, options_of(seed, 3));
    EXPECT_TRUE(report.ok()) << report.errors.front();
  }
  return {all.at.x, all.at.x + static_cast<std::size_t>(p.n()) * stride};
}

class Groups : public ::testing::TestWithParam<Kernel> {};

TEST_P(Groups, have_the_bits_that_they_have_alone) {
  constexpr int groups = 3, stride = groups * rhs_of_lane;
  for (int seed = 1; seed <= testing::num_seeds(6); ++seed) {
    const int most_columns = seed % 2 != 0 ? 10 : 0;  // of tasks of warps
    const Problem p = with_small(make_problem(24, 12, 6, static_cast<unsigned>(seed)), most_columns);
    const auto rhs = random_values<double>(static_cast<std::size_t>(p.n()) * stride, 11);
    const std::vector<double> together = swept(p, GetParam(), rhs, stride, seed);
    for (int group = 0; group < groups; ++group) {
      const int first = group * rhs_of_lane;
      EXPECT_EQ(columns_of(together, stride, first, rhs_of_lane),
                swept(p, GetParam(), columns_of(rhs, stride, first, rhs_of_lane), rhs_of_lane, seed + 1))
          << "seed " << seed << ", group " << group;
    }
    EXPECT_EQ(columns_of(together, stride, 5, 1),
              swept(p, GetParam(), columns_of(rhs, stride, 5, 1), 1, seed))
        << "seed " << seed;
  }
}

// Forward, synchronization-free sweeps add in the order in which blocks come.
INSTANTIATE_TEST_SUITE_P(Sweeps, Groups,
                         ::testing::Values(Kernel::tree_forward, Kernel::tree_backward, Kernel::level_forward,
                                           Kernel::level_backward, Kernel::columns_backward));

}  // namespace
}  // namespace palmette::sweeps
