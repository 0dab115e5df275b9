// Outcome holds a product or a failure, never both.
#include <gtest/gtest.h>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

TEST(outcome, value_of_a_failure_throws_with_the_failure_inside) {
  NumericalFailure failure;
  failure.kind = FailureKind::not_positive_definite;
  failure.row = 16;
  failure.message = "pivot 17 is not positive";
  const Outcome<int> outcome(failure);
  EXPECT_FALSE(outcome.ok());
  try {
    (void)outcome.value();
    FAIL() << "no exception";
  } catch (const NumericalError& error) {
    EXPECT_EQ(error.failure().row, 16);
    EXPECT_STREQ(error.what(), "pivot 17 is not positive");
  }
}

TEST(outcome, holds_its_product) {
  Outcome<std::string> outcome(std::string("factor"));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.value(), "factor");
}

TEST(outcome, of_a_step_without_a_product_says_whether_it_succeeded) {
  const Outcome<void> done;
  EXPECT_TRUE(done.ok());
  EXPECT_NO_THROW(done.value());
  NumericalFailure failure;
  failure.column = 3;
  const Outcome<void> failed(failure);
  EXPECT_FALSE(failed);
  EXPECT_EQ(failed.failure().column, 3);
  EXPECT_THROW(failed.value(), NumericalError);
}

TEST(scalars, finite_tells_nan_and_infinity_in_either_part) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(is_finite(std::complex<double>(1e308, -1e308)));
  EXPECT_FALSE(is_finite(std::complex<double>(0, infinity)));
  EXPECT_FALSE(is_finite(std::numeric_limits<float>::quiet_NaN()));
}

}  // namespace
}  // namespace palmette
