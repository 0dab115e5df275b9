// What the tests of plans on one device and on several share: systems, and the judgement of their solutions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/solve/reference.hpp"

namespace palmette::reference {

/// Skips where the emulator cannot run.
class OnEmulator : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
};

template <class T>
std::vector<Wish> all_wishes() {
  std::vector<Wish> wishes = {
      {FactorKind::llt, false, 8, 11}, {FactorKind::ldlt, false, 8, 12}, {FactorKind::lu, false, 8, 13}};
  if (is_complex_v<T>) wishes.push_back({FactorKind::ldlt, true, 8, 14});
  return wishes;
}

inline std::string words(const Wish& wish) {
  return std::string(name_of(wish.kind)) + (wish.hermitian ? " hermitian" : "");
}

/// By every method of a place: backward errors of at most twice those of the serial engine, or of a few
/// roundoffs.
template <class T>
void expect_as_good_as_serial(const SolvePlan<T>& plan, const SolvePlan<T>& host, SolveWhere where,
                              const DenseMatrix<T>& a, index_t num_rhs) {
  const DenseMatrix<T> b = random_dense<T>(a.rows, num_rhs, 77);
  for (const Operation operation : all_operations) {
    const auto error = [&](const DenseMatrix<T>& x) {
      return backward_error<T>(a.view(), operation, b.view(), x.view());
    };
    const double serial = error(solved(host, operation, b));
    for (const SolveMethodInfo& method : solve_method_list(where))
      EXPECT_LE(error(solved(plan, operation, b, {method.method, nullptr})),
                2 * std::max(serial, 4 * unit_roundoff<T>))
          << method.name << ", " << name_of(operation) << ", " << num_rhs << " right-hand sides";
  }
}

}  // namespace palmette::reference
