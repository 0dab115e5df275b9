// Residuals are accurate to twice the working precision, and stay in range.
#include <gtest/gtest.h>

#include "palmette/refine/residual.hpp"
#include "tests/refine/dense_reference.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

template <class T>
class residual : public ::testing::Test {};
TYPED_TEST_SUITE(residual, TestedScalars);

TEST(compensated, sum_keeps_what_an_ordinary_sum_loses) {
  // (1 + 2⁻³⁰)² − 1 − 2⁻²⁹ = 2⁻⁶⁰ exactly; in one double the square rounds to 1 + 2⁻²⁹.
  const double near_one = 1 + std::ldexp(1.0, -30);
  ProductSum<double> sum(-1.0);
  sum.add_product(near_one, near_one);
  sum.add_product(-std::ldexp(1.0, -29), 1.0);
  EXPECT_EQ(sum.value(), std::ldexp(1.0, -60));
}

TEST(compensated, many_products_that_cancel_leave_the_exact_rest) {
  // Pairs +p and −p of products with 106 bits, in a mixed order; only the number 2⁻⁷⁰ remains.
  Numbers numbers(3);
  std::vector<double> left, right;
  for (int pair = 0; pair < 500; ++pair) {
    left.push_back(numbers.next());
    right.push_back(numbers.next());
  }
  ProductSum<double> sum(std::ldexp(1.0, -70));
  for (std::size_t place = 0; place < left.size(); ++place) sum.add_product(left[place], right[place]);
  for (std::size_t place = 0; place < left.size(); ++place) sum.add_product(-left[place], right[place]);
  EXPECT_NEAR(sum.value(), std::ldexp(1.0, -70), 1e-28);
}

TYPED_TEST(residual, agrees_with_113_bits_to_twice_the_working_precision) {
  using T = TypeParam;
  using W = exact_t<T>;
  const double twice = std::is_same_v<real_t<T>, double> ? 1e-30 : 1e-15;
  for (const Operation operation : all_operations)
    for (const index_t n : {1, 2, 7, 40}) {
      const auto matrix = random_matrix<T>(n, 6, 3.0, 5 + n);
      const auto x = random_dense<T>(n, 1, n);
      // b = op(A)x rounded: the residual is all cancellation.
      DenseMatrix<T> b(n, 1);
      multiply_add<T>(matrix, operation, T(1), x.view(), b.view());
      Residual<T> computed(matrix, operation);
      const ColumnError error = computed.evaluate(b.values.data(), x.values.data());
      EXPECT_EQ(error.shift, 0);
      const auto entries = dense<W>(matrix, operation);
      double residual_norm = 0, norm = 0, x_norm = 0, b_norm = 0, componentwise = 0;
      for (index_t row = 0; row < n; ++row) {
        W exact = cast<W>(b.values[row]);
        double row_sum = 0, magnitude = size_of(b.values[row]);
        for (index_t column = 0; column < n; ++column) {
          const W entry = entries[row + static_cast<std::size_t>(column) * n];
          exact = exact - entry * cast<W>(x.values[column]);
          row_sum += size_of(entry);
          magnitude += size_of(entry) * size_of(x.values[column]);
        }
        EXPECT_NEAR(computed.modulus_of(row), size_of(exact), twice * magnitude + 1e-15 * size_of(exact));
        EXPECT_NEAR(computed.magnitude(row), magnitude, 1e-14 * magnitude);
        residual_norm = std::max(residual_norm, size_of(exact));
        componentwise = std::max(componentwise, size_of(exact) / magnitude);
        norm = std::max(norm, row_sum);
        x_norm = std::max(x_norm, size_of(x.values[row]));
        b_norm = std::max(b_norm, size_of(b.values[row]));
      }
      EXPECT_NEAR(error.backward, residual_norm / (norm * x_norm + b_norm), 1e-3 * unit_roundoff<T>);
      EXPECT_NEAR(error.componentwise, componentwise, 1e-3 * unit_roundoff<T>);
    }
}

TYPED_TEST(residual, scaled_residual_times_its_power_is_the_residual) {
  using T = TypeParam;
  // b − 2x = (10 − 6, −6 − 2)·2⁻⁵⁰ = (4, −8)·2⁻⁵⁰: norm 2⁻⁴⁷, so in [½, 1) after the division by 2⁻⁴⁶.
  const auto tiny = static_cast<real_t<T>>(std::ldexp(1.0, -50));
  const auto matrix = from_dense<T>(2, 2, {T(2), T(0), T(0), T(2)});
  const std::vector<T> b = {T(10 * tiny), T(-6 * tiny)}, x = {T(3 * tiny), T(1 * tiny)};
  Residual<T> computed(matrix, Operation::plain);
  computed.evaluate(b.data(), x.data());
  std::vector<T> to(2);
  EXPECT_EQ(computed.write_scaled(to.data()), -46);
  EXPECT_EQ(to[0], T(real_t<T>(0.25)));
  EXPECT_EQ(to[1], T(real_t<T>(-0.5)));
}

TYPED_TEST(residual, norm_of_the_operator_is_that_of_its_rows) {
  using T = TypeParam;
  // Row sums 6 and 4; column sums 5 and 5 … of |1 −5; 4 0|: rows 6, 4; columns 5, 5.
  const auto matrix = from_dense<T>(2, 2, {T(1), T(-5), T(4), T(0)});
  EXPECT_EQ(operator_norm(matrix, Operation::plain).value(), 6);
  EXPECT_EQ(operator_norm(matrix, Operation::transpose).value(), 5);
  EXPECT_EQ(operator_norm(matrix, Operation::adjoint).value(), 5);
  EXPECT_EQ(operator_norm(SparseMatrix<T>{}, Operation::plain).value(), 0);
}

TEST(residual_range, norm_of_entries_near_the_largest_double_does_not_overflow) {
  // A row of four entries 1.5·2¹⁰²³: the sum 1.5·2¹⁰²⁵ is no double, its mantissa and exponent are.
  const double large = 1.5 * std::ldexp(1.0, 1023);
  const auto matrix = from_dense<double>(1, 4, {large, large, -large, large});
  const ScaledNorm norm = operator_norm(matrix, Operation::plain);
  EXPECT_EQ(norm.mantissa, 0.75);
  EXPECT_EQ(norm.exponent, 1026);
}

TEST(residual_range, backward_error_does_not_depend_on_the_scale_of_the_system) {
  // A·2^a and x·2^c with b·2^(a+c): the same system in other units, from 2⁻¹⁰⁰⁰ to 2¹⁰⁰⁰.
  const auto matrix = random_matrix<double>(20, 4, 3.0, 9);
  const auto x = random_dense<double>(20, 1, 4);
  const auto b = random_dense<double>(20, 1, 5);
  Residual<double> ordinary(matrix, Operation::plain);
  const ColumnError expected = ordinary.evaluate(b.values.data(), x.values.data());
  for (const int of_matrix : {-990, -500, 0, 500, 990})
    for (const int of_x : {-990, -500, 0, 500, 990}) {
      if (std::abs(of_matrix + of_x) > 1000) continue;  // b could not be stored
      auto scaled = matrix;
      auto scaled_x = x;
      auto scaled_b = b;
      for (double& value : scaled.values) value = std::ldexp(value, of_matrix);
      for (double& value : scaled_x.values) value = std::ldexp(value, of_x);
      for (double& value : scaled_b.values) value = std::ldexp(value, of_matrix + of_x);
      Residual<double> computed(scaled, Operation::plain);
      const ColumnError error = computed.evaluate(scaled_b.values.data(), scaled_x.values.data());
      EXPECT_DOUBLE_EQ(error.backward, expected.backward) << of_matrix << " " << of_x;
      if (of_matrix + of_x > -900) {
        EXPECT_DOUBLE_EQ(error.componentwise, expected.componentwise) << of_matrix << " " << of_x;
      }
    }
}

TEST(residual_range, huge_products_beside_a_small_right_hand_side_are_measured) {
  // 1e300·1e300 − 1: the product is no double, and the error of x is all of it: |Ax| / (|A||x| + |b|) = 1.
  const auto matrix = from_dense<double>(1, 1, {1e300});
  const double b = 1, x = 1e300;
  Residual<double> computed(matrix, Operation::plain);
  const ColumnError error = computed.evaluate(&b, &x);
  EXPECT_DOUBLE_EQ(error.backward, 1);
  EXPECT_DOUBLE_EQ(error.componentwise, 1);
}

TEST(residual_range, complex_numbers_whose_modulus_is_no_double_are_measured) {
  using T = std::complex<double>;
  const T x(1.7e308, 1.7e308);
  const auto matrix = from_dense<T>(1, 1, {T(1)});
  const T wrong = x * 0.5;
  Residual<T> computed(matrix, Operation::plain);
  EXPECT_EQ(computed.evaluate(&x, &x).backward, 0);
  // |x/2| / (|x| + |x/2|) = 1/3.
  EXPECT_DOUBLE_EQ(computed.evaluate(&wrong, &x).backward, 1.0 / 3);
}

}  // namespace
}  // namespace palmette
