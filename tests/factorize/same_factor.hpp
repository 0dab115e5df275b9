// Two factors of the same matrix, compared bit by bit.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "palmette/factorize/factorize.hpp"

namespace palmette::testing {

template <class T>
void expect_same_panels(const PanelArray<T>& a, const PanelArray<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  if (a.size() == 0) return;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0);
}

template <class T>
void expect_same_factor(const Factor<T>& a, const Factor<T>& b) {
  expect_same_panels(a.lower, b.lower);
  expect_same_panels(a.upper, b.upper);
  EXPECT_EQ(a.d, b.d);
  EXPECT_EQ(a.d_below, b.d_below);
  EXPECT_EQ(a.place, b.place);
  EXPECT_EQ(a.pivots.perturbed_columns, b.pivots.perturbed_columns);
  EXPECT_EQ(a.pivots.log_abs_determinant, b.pivots.log_abs_determinant);
  EXPECT_EQ(a.pivots.determinant_sign, b.pivots.determinant_sign);
  EXPECT_EQ(a.pivots.inertia.negative, b.pivots.inertia.negative);
}

}  // namespace palmette::testing
