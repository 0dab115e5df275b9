// The scalar types that typed tests try.
#pragma once

#include <gtest/gtest.h>

#include <complex>

namespace palmette {

/// All four; under sanitizers one real and one complex type, one of each precision, since these builds take
/// the most time of ./check. Its long mode tries all four there too.
#ifdef PALMETTE_TEST_TWO_SCALARS
using TestedScalars = ::testing::Types<float, std::complex<double>>;
#else
using TestedScalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
#endif

}  // namespace palmette
