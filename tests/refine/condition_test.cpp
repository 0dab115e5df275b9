// Estimates of condition and forward error, against the exact figures of small dense matrices.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "palmette/refine/one_norm.hpp"
#include "tests/refine/dense_reference.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

template <class T>
class condition_all : public ::testing::Test {};
TYPED_TEST_SUITE(condition_all, TestedScalars);

/// ‖A⁻¹‖₁ from the inverse in 113 bits.
template <class T>
double exact_inverse_norm(const SparseMatrix<T>& matrix) {
  const index_t n = matrix.rows();
  DenseLu<exact_t<T>> lu(n, dense<exact_t<T>>(matrix, Operation::plain));
  double largest = 0;
  for (index_t column = 0; column < n; ++column) {
    std::vector<exact_t<T>> unit(n, exact_t<T>{});
    unit[column] = cast<exact_t<T>>(T(1));
    lu.solve(unit.data());
    double sum = 0;
    for (const auto& value : unit) sum += size_of(value);
    largest = std::max(largest, sum);
  }
  return largest;
}

TYPED_TEST(condition_all, estimate_is_a_lower_bound_and_nearly_always_within_a_factor_of_three) {
  using T = TypeParam;
  int far = 0, total = 0;
  for (const index_t n : {1, 2, 4, 5, 8, 17, 40})
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const auto matrix = random_matrix<T>(n, 3, seed % 4 * 1.0, 1000 * n + seed);
      const double exact = norm_one(matrix) * exact_inverse_norm(matrix);
      // the inverse itself would have few correct digits
      if (!(exact < 0.1 / unit_roundoff<T> / n)) continue;
      const double estimate = estimate_condition_1norm<T>(matrix, inverse_of<T>(matrix));
      // The inverse is applied with a relative error of about the condition times u.
      const double slack = 1 + 10 * n * exact * unit_roundoff<T>;
      EXPECT_LE(estimate, exact * slack) << n << " " << seed;
      EXPECT_GE(estimate, exact / 10 / slack) << n << " " << seed;
      if (n <= 4) {
        EXPECT_GE(estimate * slack, exact * (1 - 1e-5)) << "exact for n = " << n;
      }
      far += estimate * slack < exact / 3 ? 1 : 0;
      ++total;
    }
  EXPECT_GT(total, 200);
  EXPECT_LE(far, total / 100);
}

TYPED_TEST(condition_all, diagonal_matrix_has_the_quotient_of_its_ends) {
  using T = TypeParam;
  // diag(1, 2, …, 32): ‖A‖ = 32, ‖A⁻¹‖ = 1.
  SparseMatrix<T> matrix;
  matrix.pattern.rows = matrix.pattern.cols = 32;
  for (index_t column = 0; column < 32; ++column) {
    matrix.pattern.row_index.push_back(column);
    matrix.pattern.column_ptr.push_back(column + 1);
    matrix.values.push_back(T(static_cast<real_t<T>>(column + 1)));
  }
  EXPECT_NEAR(estimate_condition_1norm<T>(matrix, inverse_of<T>(matrix)), 32, 1e-4);
}

TYPED_TEST(condition_all, same_estimate_every_time) {
  using T = TypeParam;
  const auto matrix = random_matrix<T>(60, 4, 2.0, 5);
  const auto apply = inverse_of<T>(matrix);
  EXPECT_EQ(estimate_condition_1norm<T>(matrix, apply), estimate_condition_1norm<T>(matrix, apply));
}

TYPED_TEST(condition_all, few_applications_suffice) {
  using T = TypeParam;
  const auto matrix = random_matrix<T>(60, 4, 2.0, 5);
  int calls = 0;
  estimate_condition_1norm<T>(matrix, inverse_of<T>(matrix, &calls));
  EXPECT_LE(calls, 10);
  EXPECT_GE(calls, 2);
}

TYPED_TEST(condition_all, empty_matrix_has_none_and_a_useless_inverse_gives_infinity) {
  using T = TypeParam;
  const ApplyInverse<T> not_finite = [](Operation, DenseView<T> v) {
    for (index_t column = 0; column < v.cols; ++column)
      v(v.rows - 1, column) = T(std::numeric_limits<real_t<T>>::quiet_NaN());
  };
  EXPECT_EQ(estimate_condition_1norm<T>(SparseMatrix<T>{}, not_finite), 0);
  for (const index_t n : {1, 3, 5, 30})
    EXPECT_EQ(estimate_condition_1norm<T>(random_matrix<T>(n, 2, 3.0, 1), not_finite), infinity) << n;
  const ApplyInverse<T> adjoint_not_finite = [&](Operation operation, DenseView<T> v) {
    if (operation == Operation::adjoint) not_finite(operation, v);
  };
  EXPECT_EQ(estimate_condition_1norm<T>(random_matrix<T>(30, 2, 3.0, 1), adjoint_not_finite), infinity);
  EXPECT_THROW(estimate_condition_1norm<T>(from_dense<T>(1, 2, {T(1), T(2)}), not_finite), DimensionError);
}

TEST(condition, badly_scaled_matrices_have_the_condition_of_the_scaled_one) {
  const auto matrix = random_matrix<double>(30, 3, 2.0, 5);
  const double expected = estimate_condition_1norm<double>(matrix, inverse_of<double>(matrix));
  for (const int exponent : {-1000, -600, 600, 1000}) {
    auto scaled = matrix;
    for (double& value : scaled.values) value = std::ldexp(value, exponent);
    EXPECT_NEAR(estimate_condition_1norm<double>(scaled, inverse_of<double>(scaled)) / expected, 1, 1e-12)
        << exponent;
  }
}

TEST(one_norm, matrix_made_to_defeat_the_single_start_vector_is_estimated) {
  // B = I + θ·C with C·e = 0 (columns of the constant start cancel): [Higham 1988], a sum of ones sees only
  // I.
  const index_t n = 20;
  const double theta = 1e6;
  const auto multiply = [&](DenseView<double> v, bool transposed) {
    for (index_t column = 0; column < v.cols; ++column) {
      std::vector<double> old(v.column(column), v.column(column) + n);
      // C_ij = +1 on the diagonal, −1 right of it, cyclic.
      for (index_t row = 0; row < n; ++row)
        v(row, column) = old[row] + theta * (old[row] - old[transposed ? (row + n - 1) % n : (row + 1) % n]);
    }
  };
  LinearMap<double> map;
  map.size = n;
  map.forward = [&](DenseView<double> v) { multiply(v, false); };
  map.adjoint = [&](DenseView<double> v) { multiply(v, true); };
  // Each column sums to 1 + 2θ.
  EXPECT_NEAR(estimate_one_norm(map), 1 + 2 * theta, 1e-6 * theta);
}

TYPED_TEST(condition_all, forward_error_bound_is_above_the_error_and_not_far_above) {
  using T = TypeParam;
  for (const Operation operation : all_operations)
    for (const index_t n : {1, 3, 6, 20, 40})
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const auto matrix = random_matrix<T>(n, 3, 3.0, 100 * n + seed);
        const double condition = norm_one(matrix) * exact_inverse_norm(matrix);
        if (condition > 1e-2 / unit_roundoff<T>) continue;
        const auto apply = inverse_of<T>(matrix);
        const auto b = random_dense<T>(n, 2, seed);
        DenseMatrix<T> x = b;
        apply(operation, x.view());
        double error = 0;
        for (index_t column = 0; column < 2; ++column)
          error = std::max(
              error, forward_error(matrix, operation, b.view().column(column), x.view().column(column)));
        const double bound = estimate_forward_error<T>(matrix, operation, apply, b.view(), x.view());
        EXPECT_GE(bound, error * (1 - 10 * n * condition * unit_roundoff<T>)) << n << " " << seed;
        EXPECT_LE(bound, 1e3 * error + 1e-2 * unit_roundoff<T>)
            << n << " " << seed << " condition " << condition;
      }
}

TYPED_TEST(condition_all, forward_error_bound_shows_an_ill_conditioned_system) {
  using T = TypeParam;
  const index_t n = std::is_same_v<real_t<T>, double> ? 8 : 4;
  const auto matrix = hilbert<T>(n);
  const auto apply = inverse_of<T>(matrix);
  const auto b = random_dense<T>(n, 1, 3);
  DenseMatrix<T> x = b;
  apply(Operation::plain, x.view());
  const double error = forward_error(matrix, Operation::plain, b.values.data(), x.values.data());
  const double bound = estimate_forward_error<T>(matrix, Operation::plain, apply, b.view(), x.view());
  EXPECT_GE(bound, error);
  EXPECT_GT(bound, 100 * unit_roundoff<T>);
  EXPECT_LT(bound, 1e5 * error);
}

TYPED_TEST(condition_all, forward_error_of_edge_cases) {
  using T = TypeParam;
  const auto matrix = random_matrix<T>(6, 2, 3.0, 1);
  const auto apply = inverse_of<T>(matrix);
  const auto b = random_dense<T>(6, 1, 1);
  DenseMatrix<T> zero(6, 1), x = b;
  EXPECT_EQ((estimate_forward_error<T>(matrix, Operation::plain, apply, zero.view(), zero.view())), 0);
  EXPECT_EQ((estimate_forward_error<T>(matrix, Operation::plain, apply, b.view(), zero.view())), infinity);
  EXPECT_EQ((estimate_forward_error<T>(matrix, Operation::plain, apply, DenseMatrix<T>(6, 0).view(),
                                       DenseMatrix<T>(6, 0).view())),
            0);
  EXPECT_EQ((estimate_forward_error<T>(SparseMatrix<T>{}, Operation::plain, apply,
                                       DenseMatrix<T>(0, 2).view(), DenseMatrix<T>(0, 2).view())),
            0);
  x.values[2] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
  EXPECT_EQ((estimate_forward_error<T>(matrix, Operation::plain, apply, b.view(), x.view())), infinity);
  EXPECT_THROW(
      (estimate_forward_error<T>(matrix, Operation::plain, apply, b.view(), DenseMatrix<T>(5, 1).view())),
      DimensionError);
}

TEST(condition, forward_error_bound_does_not_depend_on_the_scale) {
  const auto matrix = random_matrix<double>(20, 3, 3.0, 7);
  const auto b = random_dense<double>(20, 1, 7);
  DenseMatrix<double> x = b;
  inverse_of<double>(matrix)(Operation::plain, x.view());
  const double expected = estimate_forward_error<double>(matrix, Operation::plain, inverse_of<double>(matrix),
                                                         b.view(), x.view());
  for (const int of_matrix : {-900, -400, 400, 900})
    for (const int of_b : {-900, 0, 900}) {
      if (std::abs(of_b - of_matrix) > 950) continue;
      auto scaled = matrix;
      auto scaled_b = b;
      auto scaled_x = x;
      for (double& value : scaled.values) value = std::ldexp(value, of_matrix);
      for (double& value : scaled_b.values) value = std::ldexp(value, of_b);
      for (double& value : scaled_x.values) value = std::ldexp(value, of_b - of_matrix);
      const double bound = estimate_forward_error<double>(
          scaled, Operation::plain, inverse_of<double>(scaled), scaled_b.view(), scaled_x.view());
      EXPECT_NEAR(bound / expected, 1, 1e-12) << of_matrix << " " << of_b;
    }
}

TEST(guide, worked_example_of_the_verification_page_has_its_figures) {
  // A = (1 1; 1 1.000001), b = (2, 2.000001); derivations are on the page.
  const auto matrix = from_dense<double>(2, 2, {1, 1, 1, 1.000001});
  const auto apply = inverse_of<double>(matrix);
  DenseMatrix<double> b(2, 1), x(2, 1);
  b.values = {2, 2.000001};
  const auto figures_of = [&](std::vector<double> answer) {
    x.values = std::move(answer);
    Verification result = verify<double>(matrix, Operation::plain, b.view(), x.view());
    result.forward_error_bound =
        estimate_forward_error<double>(matrix, Operation::plain, apply, b.view(), x.view());
    return result;
  };
  EXPECT_NEAR(estimate_condition_1norm<double>(matrix, apply), 4.0e6, 0.05e6);
  EXPECT_NEAR(figures_of({2, 0}).backward_error, 1.7e-7, 0.05e-7);
  EXPECT_NEAR(*figures_of({2, 0}).forward_error_bound, 0.50, 0.005);
  EXPECT_NEAR(figures_of({1.1, 0.9}).backward_error, 2.4e-8, 0.05e-8);
  EXPECT_NEAR(*figures_of({1.1, 0.9}).forward_error_bound, 0.091, 0.0005);
  EXPECT_NEAR(figures_of({1.0000001, 0.9999999}).backward_error, 2.5e-14, 0.05e-14);
  EXPECT_FALSE(figures_of({1.0000001, 0.9999999}).verified);
  EXPECT_NEAR(*figures_of({1.0000001, 0.9999999}).forward_error_bound, 1.0e-7, 0.05e-7);
  std::vector<double> eliminated = b.values;
  apply(Operation::plain, {eliminated.data(), 2, 1, 2});
  EXPECT_TRUE(figures_of(eliminated).verified);
  EXPECT_LT(*figures_of(eliminated).forward_error_bound, 1e-16);
}

}  // namespace
}  // namespace palmette
