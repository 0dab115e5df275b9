// Where subnormal numbers count as zero: inside the scope alone, and in the workers that its thread calls.
#include <gtest/gtest.h>

#include <cfenv>
#include <limits>
#include <stdexcept>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

// Volatile: the sums must be formed when the program runs.
template <class Real>
Real half(Real number) {
  volatile Real value = number;
  value = value / 2;
  return value;
}
template <class Real>
bool keeps_subnormals() {
  const Real smallest = std::numeric_limits<Real>::min();
  volatile Real subnormal = std::numeric_limits<Real>::denorm_min();
  const Real doubled = subnormal * static_cast<Real>(1 << 30);
  return half(smallest) != 0 && doubled != 0;
}
bool keeps_both() { return keeps_subnormals<float>() && keeps_subnormals<double>(); }
bool keeps_one() { return keeps_subnormals<float>() || keeps_subnormals<double>(); }
double third() {
  volatile double one = 1;
  return one / 3;
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(arithmetic_mode, subnormals_are_zero_inside_the_scope_and_numbers_again_behind_it) {
  ASSERT_TRUE(keeps_both());
  {
    const SubnormalsAsZero outer;
    EXPECT_FALSE(keeps_one());
    {
      const SubnormalsAsZero inner;
      EXPECT_FALSE(keeps_one());
    }
    EXPECT_FALSE(keeps_one());
    EXPECT_EQ(half(std::numeric_limits<float>::min() * 2), std::numeric_limits<float>::min());
  }
  EXPECT_TRUE(keeps_both());
  try {
    const SubnormalsAsZero scope;
    throw std::runtime_error("out of the scope");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(keeps_both());
}

TEST(arithmetic_mode, operands_count_as_zero_too) {
  volatile float subnormal = std::numeric_limits<float>::denorm_min() * 1000;
  const SubnormalsAsZero scope;
  EXPECT_EQ(subnormal * 1e30F, 0.0F);
}

// The caller's choice in each run: neither that of the run before nor that of the time when they started.
TEST(arithmetic_mode, workers_compute_as_the_caller_of_their_run_does) {
  ThreadTeam team(4);
  const auto kept = [&] {
    std::vector<int> kept(team.muster());
    team.run([&](int thread) { kept[thread] = keeps_both() ? 2 : keeps_one() ? 1 : 0; });
    return kept;
  };
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_EQ(kept(), std::vector<int>(team.size(), 2));
    const SubnormalsAsZero scope;
    EXPECT_EQ(kept(), std::vector<int>(team.size(), 0));
  }
}
TEST(arithmetic_mode, workers_round_as_the_caller_of_their_run_does) {
  ThreadTeam team(3);
  team.muster();
  const double nearest = third();
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST}) {
    ASSERT_EQ(std::fesetround(rounding), 0);
    const double expected = third();
    std::vector<double> found(team.size());
    {
      const SubnormalsAsZero scope;
      team.run([&](int thread) { found[thread] = third(); });
    }
    EXPECT_EQ(third(), expected) << "the scope changed how its thread rounds";
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(found, std::vector<double>(team.size(), expected));
    EXPECT_EQ(expected == nearest, rounding != FE_UPWARD);
  }
}

TEST(arithmetic_mode, flags_raised_inside_the_scope_stay_raised) {
  std::feclearexcept(FE_ALL_EXCEPT);
  {
    const SubnormalsAsZero scope;
    volatile double zero = 0;
    volatile double infinite = 1 / zero;
    EXPECT_GT(infinite, 1e308);
  }
  EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
  std::feclearexcept(FE_ALL_EXCEPT);
}

#endif

}  // namespace
}  // namespace palmette
