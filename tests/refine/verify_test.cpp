// The figures of `verify` for given answers, derived by hand, and the cases in which figures must not be
// trusted.
#include <gtest/gtest.h>

#include <limits>

#include "tests/refine/dense_reference.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

template <class T>
class verify_all : public ::testing::Test {};
TYPED_TEST_SUITE(verify_all, TestedScalars);

template <class T>
DenseView<const T> view_of(const std::vector<T>& values, index_t rows, index_t cols) {
  return {values.data(), rows, cols, rows};
}

TYPED_TEST(verify_all, backward_errors_are_those_of_the_formulas) {
  using T = TypeParam;
  // A = (2 1; 0 4), x = (1, 1), b = (4, 4): r = (1, 0). Normwise 1/(4·1 + 4) = 1/8; componentwise 1/(3 + 4) =
  // 1/7.
  const auto matrix = from_dense<T>(2, 2, {T(2), T(1), T(0), T(4)});
  const std::vector<T> x = {T(1), T(1)}, b = {T(4), T(4)};
  const Verification plain = verify<T>(matrix, Operation::plain, view_of(b, 2, 1), view_of(x, 2, 1));
  EXPECT_DOUBLE_EQ(plain.backward_error, 1.0 / 8);
  EXPECT_DOUBLE_EQ(plain.componentwise_backward_error, 1.0 / 7);
  EXPECT_FALSE(plain.verified);
  EXPECT_EQ(plain.refine_steps, 0);
  // Aᵀ = (2 0; 1 4): r = (2, −1). Normwise 2/(5 + 4); componentwise max(2/(2 + 4), 1/(5 + 4)) = 1/3.
  const Verification transposed = verify<T>(matrix, Operation::transpose, view_of(b, 2, 1), view_of(x, 2, 1));
  EXPECT_DOUBLE_EQ(transposed.backward_error, 2.0 / 9);
  EXPECT_DOUBLE_EQ(transposed.componentwise_backward_error, 1.0 / 3);
}

TYPED_TEST(verify_all, adjoint_conjugates_and_transpose_does_not) {
  using T = TypeParam;
  if constexpr (is_complex_v<T>) {
    // A = i: Aᴴx = b holds for x = i, b = 1; Aᵀx = −1 then, so r = 2 and 2/(1 + 1) = 1.
    const auto matrix = from_dense<T>(1, 1, {T(0, 1)});
    const std::vector<T> x = {T(0, 1)}, b = {T(1)};
    EXPECT_EQ(verify<T>(matrix, Operation::adjoint, view_of(b, 1, 1), view_of(x, 1, 1)).backward_error, 0);
    EXPECT_DOUBLE_EQ(
        verify<T>(matrix, Operation::transpose, view_of(b, 1, 1), view_of(x, 1, 1)).backward_error, 1);
  }
}

TYPED_TEST(verify_all, worst_column_counts) {
  using T = TypeParam;
  // A = 2: columns x = 1, 1, 1 and b = 2, 6, 2: r = 0, 4, 0; 4/(2 + 6) = 1/2.
  const auto matrix = from_dense<T>(1, 1, {T(2)});
  const std::vector<T> x = {T(1), T(1), T(1)}, b = {T(2), T(6), T(2)};
  const Verification result = verify<T>(matrix, Operation::plain, view_of(b, 1, 3), view_of(x, 1, 3));
  EXPECT_DOUBLE_EQ(result.backward_error, 0.5);
  EXPECT_DOUBLE_EQ(result.componentwise_backward_error, 0.5);
}

TYPED_TEST(verify_all, empty_system_and_no_right_hand_side_are_verified) {
  using T = TypeParam;
  const std::vector<T> none;
  for (const index_t cols : {0, 3}) {
    const Verification empty =
        verify<T>(SparseMatrix<T>{}, Operation::plain, view_of(none, 0, cols), view_of(none, 0, cols));
    EXPECT_EQ(empty.backward_error, 0);
    EXPECT_TRUE(empty.verified);
  }
  const auto matrix = random_matrix<T>(5, 2, 3.0, 1);
  EXPECT_TRUE(verify<T>(matrix, Operation::adjoint, view_of(none, 5, 0), view_of(none, 5, 0)).verified);
}

TYPED_TEST(verify_all, zero_b_is_solved_by_zero_and_by_nothing_else) {
  using T = TypeParam;
  const auto matrix = from_dense<T>(2, 2, {T(2), T(0), T(0), T(4)});
  const std::vector<T> zero(2), other = {T(1), T(0)};
  const Verification solved = verify<T>(matrix, Operation::plain, view_of(zero, 2, 1), view_of(zero, 2, 1));
  EXPECT_EQ(solved.backward_error, 0);
  EXPECT_EQ(solved.componentwise_backward_error, 0) << "0/0 counts as 0";
  EXPECT_TRUE(solved.verified);
  // r = (−2, 0): 2/(4·1 + 0) and 2/(2 + 0).
  const Verification wrong = verify<T>(matrix, Operation::plain, view_of(zero, 2, 1), view_of(other, 2, 1));
  EXPECT_DOUBLE_EQ(wrong.backward_error, 0.5);
  EXPECT_DOUBLE_EQ(wrong.componentwise_backward_error, 1);
}

TYPED_TEST(verify_all, zero_matrix_solves_zero_only) {
  using T = TypeParam;
  SparseMatrix<T> matrix;
  matrix.pattern.rows = matrix.pattern.cols = 1;
  matrix.pattern.column_ptr = {0, 0};
  const std::vector<T> one = {T(1)}, zero = {T(0)};
  EXPECT_EQ(verify<T>(matrix, Operation::plain, view_of(zero, 1, 1), view_of(one, 1, 1)).backward_error, 0);
  EXPECT_EQ(verify<T>(matrix, Operation::plain, view_of(one, 1, 1), view_of(one, 1, 1)).backward_error, 1);
}

TYPED_TEST(verify_all, what_is_not_finite_is_infinitely_wrong) {
  using T = TypeParam;
  using Real = real_t<T>;
  const auto matrix = from_dense<T>(2, 2, {T(2), T(0), T(0), T(4)});
  for (const double bad : {not_a_number, infinity, -infinity})
    for (const index_t place : {0, 1})
      for (const int where : {0, 1, 2}) {
        auto spoilt = matrix;
        std::vector<T> x = {T(1), T(1)}, b = {T(2), T(4)};
        (where == 0 ? x : where == 1 ? b : spoilt.values)[place] = T(static_cast<Real>(bad));
        const Verification result = verify<T>(spoilt, Operation::plain, view_of(b, 2, 1), view_of(x, 2, 1));
        EXPECT_EQ(result.backward_error, infinity) << bad << " at " << place << " of " << where;
        EXPECT_EQ(result.componentwise_backward_error, infinity);
        EXPECT_FALSE(result.verified);
      }
}

TYPED_TEST(verify_all, not_a_number_in_one_column_is_not_hidden_by_the_others) {
  using T = TypeParam;
  const auto matrix = from_dense<T>(1, 1, {T(2)});
  for (const index_t bad : {0, 1, 2}) {
    std::vector<T> x = {T(1), T(1), T(1)}, b = {T(2), T(2), T(2)};
    x[bad] = T(static_cast<real_t<T>>(not_a_number));
    EXPECT_EQ(verify<T>(matrix, Operation::plain, view_of(b, 1, 3), view_of(x, 1, 3)).backward_error,
              infinity);
  }
}

TYPED_TEST(verify_all, bound_of_the_caller_replaces_that_of_the_precision) {
  using T = TypeParam;
  const auto matrix = from_dense<T>(1, 1, {T(1)});
  const std::vector<T> x = {T(1)}, b = {T(3)};  // 2/(1 + 3) = 1/2
  EXPECT_TRUE(verify<T>(matrix, Operation::plain, view_of(b, 1, 1), view_of(x, 1, 1), 0.5).verified);
  const Verification strict = verify<T>(matrix, Operation::plain, view_of(b, 1, 1), view_of(x, 1, 1), 0.49);
  EXPECT_FALSE(strict.verified);
  EXPECT_EQ(strict.bound, 0.49);
  EXPECT_EQ(verify<T>(matrix, Operation::plain, view_of(b, 1, 1), view_of(x, 1, 1)).bound,
            90 * unit_roundoff<T>);
}

TYPED_TEST(verify_all, rectangular_matrices_are_verified_and_wrong_sizes_refused) {
  using T = TypeParam;
  // (1 2 3)·(1 1 1)ᵀ = 6, and its transpose: (1 2 3)ᵀ·2 = (2 4 6).
  const auto matrix = from_dense<T>(1, 3, {T(1), T(2), T(3)});
  const std::vector<T> ones = {T(1), T(1), T(1)}, six = {T(6)}, two = {T(2)}, image = {T(2), T(4), T(6)};
  EXPECT_EQ(verify<T>(matrix, Operation::plain, view_of(six, 1, 1), view_of(ones, 3, 1)).backward_error, 0);
  EXPECT_EQ(verify<T>(matrix, Operation::transpose, view_of(image, 3, 1), view_of(two, 1, 1)).backward_error,
            0);
  EXPECT_THROW(verify<T>(matrix, Operation::plain, view_of(ones, 3, 1), view_of(ones, 3, 1)), DimensionError);
  EXPECT_THROW(verify<T>(matrix, Operation::plain, view_of(six, 1, 1), view_of(ones, 1, 3)), DimensionError);
}

TEST(verify, bound_is_just_under_1e_14_in_double) {
  EXPECT_LE(verification_bound(unit_roundoff<double>), 1e-14);
  EXPECT_GT(verification_bound(unit_roundoff<double>), 0.99e-14);
}

TEST(verify, message_of_a_wrong_size_names_the_sizes) {
  const auto matrix = from_dense<double>(2, 2, {1, 0, 0, 1});
  const std::vector<double> values(6);
  try {
    verify<double>(matrix, Operation::plain, view_of(values, 3, 2), view_of(values, 2, 2));
    FAIL() << "no exception";
  } catch (const DimensionError& error) {
    EXPECT_NE(std::string(error.what()).find("3 × 2"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("b needs 2 rows"), std::string::npos) << error.what();
  }
}

TEST(verify, row_of_denormal_numbers_is_forgiven_what_x_cannot_store) {
  // Row 1: 3·x = b with b = 2⁻¹⁰⁷⁴: no double x is nearer than 0, and |r| / (|b|) would be 1.
  const auto matrix = from_dense<double>(2, 2, {1, 0, 0, 3});
  const std::vector<double> b = {1, std::ldexp(1.0, -1074)}, x = {1, 0};
  const Verification result = verify<double>(matrix, Operation::plain, view_of(b, 2, 1), view_of(x, 2, 1));
  EXPECT_LT(result.componentwise_backward_error, 1e-15);
}

TEST(verify, leading_dimensions_larger_than_the_rows_are_respected) {
  const auto matrix = from_dense<double>(2, 2, {2, 0, 0, 4});
  const std::vector<double> b = {2, 4, not_a_number, 4, 8, not_a_number}, x = {1, 1, 7, 7, 2, 2, 7, 7};
  const Verification result =
      verify<double>(matrix, Operation::plain, {b.data(), 2, 2, 3}, {x.data(), 2, 2, 4});
  EXPECT_EQ(result.backward_error, 0);
}

}  // namespace
}  // namespace palmette
