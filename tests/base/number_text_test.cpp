// Numbers in sentences keep the digits that a reader needs.
#include <gtest/gtest.h>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

TEST(number_text, has_two_digits_and_an_exponent) {
  EXPECT_EQ(scientific(3.71e-16), "3.7e-16");
  EXPECT_EQ(scientific(0), "0.0e+00");
}

TEST(number_text, of_seconds_has_no_digits_that_say_nothing) {
  EXPECT_EQ(text_of_seconds(0.25), "0.25 s");
  EXPECT_EQ(text_of_seconds(2.00037), "2 s");
  EXPECT_EQ(text_of_seconds(10), "10 s");
  EXPECT_EQ(text_of_seconds(3600), "3600 s");
}

}  // namespace
}  // namespace palmette
