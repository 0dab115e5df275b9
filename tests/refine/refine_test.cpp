// Refinement: when it acts, what it reaches, what it does not change.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "tests/refine/dense_reference.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

template <class T>
class refine_all : public ::testing::Test {};
TYPED_TEST_SUITE(refine_all, TestedScalars);

/// A system with the inverse in precision W; x starts at zero.
template <class T, class W = T>
struct System {
  SparseMatrix<T> matrix;
  Operation operation = Operation::plain;
  DenseMatrix<T> b, x;
  int calls = 0;
  ApplyInverse<T> apply;

  System(SparseMatrix<T> a, index_t cols, std::uint64_t seed = 1)
      : matrix(std::move(a)), b(random_dense<T>(matrix.rows(), cols, seed)), x(matrix.rows(), cols),
        apply(inverse_of<W>(matrix, &calls)) {}
  void solve() {
    x = b;
    apply(operation, x.view());
    calls = 0;
  }
  Verification refine(const RefineOptions& options = {}) {
    return palmette::refine<T>(matrix, operation, apply, b.view(), x.view(), options);
  }
  double worst_forward_error() const {
    double worst = 0;
    for (index_t column = 0; column < b.cols; ++column)
      worst =
          std::max(worst, forward_error(matrix, operation, b.view().column(column), x.view().column(column)));
    return worst;
  }
};

TYPED_TEST(refine_all, good_answer_is_verified_without_a_step) {
  using T = TypeParam;
  for (const Operation operation : all_operations) {
    System<T> system(random_matrix<T>(30, 4, 4.0, 2), 3);
    system.operation = operation;
    system.solve();
    const auto before = system.x.values;
    const Verification result = system.refine();
    EXPECT_TRUE(result.verified);
    EXPECT_FALSE(result.stalled);
    EXPECT_EQ(result.refine_steps, 0);
    EXPECT_EQ(system.calls, 0);
    EXPECT_EQ(system.x.values, before);
    EXPECT_FALSE(result.condition_1norm.has_value());
  }
}

TYPED_TEST(refine_all, zero_start_is_solved_in_one_step_of_all_columns_together) {
  using T = TypeParam;
  for (const Operation operation : all_operations) {
    System<T> system(random_matrix<T>(30, 4, 4.0, 3), 5);
    system.operation = operation;
    const Verification result = system.refine();
    EXPECT_TRUE(result.verified);
    EXPECT_EQ(result.refine_steps, 1);
    EXPECT_EQ(system.calls, 1);
  }
}

TYPED_TEST(refine_all, figures_are_those_of_verify) {
  using T = TypeParam;
  System<T> system(random_matrix<T>(30, 4, 4.0, 4), 3);
  const Verification refined = system.refine();
  const Verification verified = verify<T>(system.matrix, system.operation, system.b.view(), system.x.view());
  EXPECT_EQ(refined.backward_error, verified.backward_error);
  EXPECT_EQ(refined.componentwise_backward_error, verified.componentwise_backward_error);
  EXPECT_EQ(refined.bound, verified.bound);
}

TYPED_TEST(refine_all, extended_residuals_make_the_forward_error_as_small_as_the_precision) {
  using T = TypeParam;
  // Condition 5e5 (n = 5) in float, 1.6e13 (n = 10) in double: elimination alone loses that many digits.
  const index_t n = std::is_same_v<real_t<T>, double> ? 10 : 5;
  for (const Operation operation : all_operations) {
    System<T> system(hilbert<T>(n), 2);
    system.operation = operation;
    system.solve();
    const double before = system.worst_forward_error();
    EXPECT_GT(before, 50 * unit_roundoff<T>) << "too easy";
    RefineOptions options;
    options.only_if_needed = false;
    const Verification result = system.refine(options);
    EXPECT_TRUE(result.verified);
    EXPECT_GT(result.refine_steps, 0);
    EXPECT_LE(system.worst_forward_error(), 2 * unit_roundoff<T>);
    EXPECT_LE(result.backward_error, unit_roundoff<T>);
  }
}

TYPED_TEST(refine_all, only_if_needed_does_less) {
  using T = TypeParam;
  System<T> lazy(hilbert<T>(5), 1), eager(hilbert<T>(5), 1);
  lazy.solve();
  eager.solve();
  RefineOptions options;
  EXPECT_EQ(lazy.refine(options).refine_steps, 0);
  options.only_if_needed = false;
  EXPECT_GT(eager.refine(options).refine_steps, 0);
}

TEST(refine, inverse_in_float_is_refined_to_double) {
  for (const Operation operation : all_operations)
    for (const std::uint64_t seed : {1, 2, 3}) {
      System<double, float> system(random_matrix<double>(60, 5, 3.0, seed), 3, seed);
      system.operation = operation;
      RefineOptions options;
      options.max_steps = 30;
      options.krylov = false;
      const Verification result = system.refine(options);
      EXPECT_TRUE(result.verified) << result.backward_error;
      EXPECT_GE(result.refine_steps, 2) << "one solve in float cannot be enough";
      EXPECT_LE(result.refine_steps, 10);
      EXPECT_FALSE(result.stalled);
    }
}

TEST(refine, complex_inverse_in_single_precision_is_refined_to_double) {
  using T = std::complex<double>;
  System<T, std::complex<float>> system(random_matrix<T>(60, 5, 3.0, 8), 3);
  system.operation = Operation::adjoint;
  RefineOptions options;
  options.max_steps = 30;
  const Verification result = system.refine(options);
  EXPECT_TRUE(result.verified);
  EXPECT_GE(result.refine_steps, 2);
}

TEST(refine, float_inverse_sees_residuals_of_its_own_range) {
  // b of 1e-200 and residuals of 1e-210 are all zero in float; scaled to norm one they are not.
  System<double, float> system(random_matrix<double>(20, 3, 3.0, 5), 1);
  for (double& value : system.b.values) value *= 1e-200;
  RefineOptions options;
  options.max_steps = 30;
  EXPECT_TRUE(system.refine(options).verified);
  for (double& value : system.b.values) value = value * 1e200 * 1e250;
  std::fill(system.x.values.begin(), system.x.values.end(), 0.0);
  EXPECT_TRUE(system.refine(options).verified);
}

TEST(refine, too_ill_conditioned_for_float_stalls_and_says_so) {
  // Condition 1.6e13: an inverse in float has no correct digit, and 10 unknowns leave GMRES nothing to work
  // with either when it is switched off.
  System<double, float> system(hilbert<double>(10), 1);
  RefineOptions options;
  options.max_steps = 30;
  options.krylov = false;
  const Verification result = system.refine(options);
  EXPECT_FALSE(result.verified);
  EXPECT_TRUE(result.stalled);
  EXPECT_GT(result.backward_error, result.bound);
}

TYPED_TEST(refine_all, each_column_gets_the_bits_that_it_gets_alone) {
  using T = TypeParam;
  RefineOptions options;
  options.only_if_needed = false;
  System<T> together(hilbert<T>(6), 4);
  together.solve();
  // One column is zero, one is already solved: the places of the others among the corrections shift.
  for (index_t row = 0; row < 6; ++row) together.b.view()(row, 1) = together.x.view()(row, 1) = T{};
  const DenseMatrix<T> start = together.x;
  together.refine(options);
  for (index_t column = 0; column < 4; ++column) {
    DenseMatrix<T> alone(6, 1);
    std::copy_n(start.view().column(column), 6, alone.values.begin());
    refine<T>(together.matrix, Operation::plain, together.apply, together.b.view().columns(column, 1),
              alone.view(), options);
    for (index_t row = 0; row < 6; ++row) EXPECT_EQ(alone.values[row], together.x.view()(row, column));
  }
}

TYPED_TEST(refine_all, no_steps_allowed_means_verification_only) {
  using T = TypeParam;
  System<T> system(random_matrix<T>(10, 3, 4.0, 6), 2);
  RefineOptions options;
  options.max_steps = 0;
  const Verification result = system.refine(options);
  EXPECT_EQ(system.calls, 0);
  EXPECT_EQ(result.backward_error, 1) << "x = 0: r = b";
  EXPECT_FALSE(result.verified);
  EXPECT_FALSE(result.stalled) << "nothing was tried";
}

TEST(refine, limit_of_steps_is_kept) {
  System<double, float> system(random_matrix<double>(40, 5, 3.0, 7), 1);
  RefineOptions options;
  options.max_steps = 1;
  const Verification result = system.refine(options);
  EXPECT_EQ(result.refine_steps, 1);
  EXPECT_FALSE(result.verified) << "one step in float does not reach double";
  EXPECT_FALSE(result.stalled) << "it still helped";
}

TYPED_TEST(refine_all, empty_systems_and_no_columns_are_done_at_once) {
  using T = TypeParam;
  const ApplyInverse<T> never = [](Operation, DenseView<T>) { throw std::logic_error("called"); };
  EXPECT_TRUE(
      refine<T>(SparseMatrix<T>{}, Operation::plain, never, {nullptr, 0, 3, 0}, {nullptr, 0, 3, 0}).verified);
  const auto matrix = random_matrix<T>(4, 2, 3.0, 1);
  EXPECT_TRUE(refine<T>(matrix, Operation::plain, never, {nullptr, 4, 0, 4}, {nullptr, 4, 0, 4}).verified);
}

TYPED_TEST(refine_all, zero_right_hand_side_is_left_at_zero) {
  using T = TypeParam;
  System<T> system(random_matrix<T>(5, 2, 3.0, 1), 1);
  std::fill(system.b.values.begin(), system.b.values.end(), T{});
  RefineOptions options;
  options.only_if_needed = false;
  const Verification result = system.refine(options);
  EXPECT_EQ(result.backward_error, 0);
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(system.calls, 0);
}

TYPED_TEST(refine_all, zero_right_hand_side_with_a_wrong_x_is_brought_to_zero) {
  using T = TypeParam;
  System<T> system(random_matrix<T>(5, 2, 3.0, 1), 1);
  std::fill(system.b.values.begin(), system.b.values.end(), T{});
  std::fill(system.x.values.begin(), system.x.values.end(), T(1));
  RefineOptions options;
  options.max_steps = 100;
  const Verification result = system.refine(options);
  // Whatever remains of x is either zero or wrong relative to itself, and this is reported.
  const Verification check = verify<T>(system.matrix, system.operation, system.b.view(), system.x.view());
  EXPECT_EQ(result.backward_error, check.backward_error);
  for (const T& value : system.x.values) EXPECT_LT(std::abs(value), 1e-5);
}

TYPED_TEST(refine_all, not_a_number_in_x_or_b_is_reported_and_left_alone) {
  using T = TypeParam;
  for (const bool in_x : {true, false})
    for (const double bad : {not_a_number, infinity}) {
      System<T> system(random_matrix<T>(6, 2, 3.0, 2), 3);
      (in_x ? system.x : system.b).view()(4, 1) = T(static_cast<real_t<T>>(bad));
      const Verification result = system.refine();
      EXPECT_EQ(result.backward_error, infinity);
      EXPECT_EQ(result.componentwise_backward_error, infinity);
      EXPECT_FALSE(result.verified);
      // The other columns are solved all the same.
      for (const index_t column : {0, 2})
        EXPECT_TRUE(verify<T>(system.matrix, system.operation, system.b.view().columns(column, 1),
                              system.x.view().columns(column, 1)).verified);
    }
}

/// Inverses that make x worse.
template <class T>
std::vector<ApplyInverse<T>> bad_inverses() {
  const auto each = [](auto change) {
    return ApplyInverse<T>([change](Operation, DenseView<T> v) {
      for (index_t column = 0; column < v.cols; ++column)
        for (index_t row = 0; row < v.rows; ++row) v(row, column) = change(row, v(row, column));
    });
  };
  using Real = real_t<T>;
  return {
      each([](index_t, T) { return T{}; }),
      each([](index_t, T) { return T(std::numeric_limits<Real>::quiet_NaN()); }),
      each([](index_t, T) { return T(std::numeric_limits<Real>::infinity()); }),
      each([](index_t row, T value) { return row == 0 ? T(std::numeric_limits<Real>::quiet_NaN()) : value; }),
      each([](index_t, T) { return T(std::numeric_limits<Real>::max()); }),
      each([](index_t, T) { return T(std::numeric_limits<Real>::denorm_min()); }),
      each([](index_t, T value) { return T(Real(-1000)) * value; }),
      each([](index_t row, T) { return T(static_cast<Real>(row % 3)); })};
}

TYPED_TEST(refine_all, useless_inverse_never_makes_the_answer_worse) {
  using T = TypeParam;
  int which = 0;
  for (const auto& apply : bad_inverses<T>()) {
    for (const bool lazily : {true, false})
      for (const bool krylov : {true, false}) {
        System<T> system(random_matrix<T>(12, 3, 3.0, 4), 2);
        system.solve();
        for (T& value : system.x.values) value *= T(real_t<T>(1.01));
        const double before =
            verify<T>(system.matrix, system.operation, system.b.view(), system.x.view()).backward_error;
        RefineOptions options;
        options.only_if_needed = lazily;
        options.krylov = krylov;
        const Verification result =
            refine<T>(system.matrix, system.operation, apply, system.b.view(), system.x.view(), options);
        EXPECT_LE(result.backward_error, before) << which;
        for (const T& value : system.x.values) EXPECT_TRUE(is_finite(value)) << which;
        EXPECT_EQ(result.stalled, !result.verified) << which;
      }
    ++which;
  }
}

TEST(refine, leading_dimensions_larger_than_the_rows_are_respected) {
  const auto matrix = random_matrix<double>(3, 2, 4.0, 1);
  const auto apply = inverse_of<double>(matrix);
  std::vector<double> b = {1, 2, 3, not_a_number, 4, 5, 6, not_a_number}, x(10, 0.0);
  x[3] = x[4] = x[8] = x[9] = 77;
  EXPECT_TRUE(
      refine<double>(matrix, Operation::plain, apply, {b.data(), 3, 2, 4}, {x.data(), 3, 2, 5}).verified);
  for (const int gap : {3, 4, 8, 9}) EXPECT_EQ(x[gap], 77);
}

TEST(refine, systems_near_the_ends_of_the_range_are_refined) {
  for (const double of_matrix : {1e-290, 1e-100, 1e100, 1e290})
    for (const double of_b : {1e-290, 1e-100, 1.0, 1e100, 1e290}) {
      if (of_b / of_matrix > 1e300 || of_b / of_matrix < 1e-300) continue;
      auto matrix = random_matrix<double>(20, 3, 4.0, 5);
      for (double& value : matrix.values) value *= of_matrix;
      System<double> system(std::move(matrix), 1);
      for (double& value : system.b.values) value *= of_b;
      RefineOptions options;
      options.only_if_needed = false;
      const Verification result = system.refine(options);
      EXPECT_TRUE(result.verified) << of_matrix << " " << of_b << ": " << result.backward_error;
      EXPECT_LE(result.backward_error, unit_roundoff<double>);
    }
}

TEST(refine, wrong_sizes_and_rectangular_matrices_are_refused) {
  const auto matrix = random_matrix<double>(3, 1, 4.0, 1);
  const auto rectangular = from_dense<double>(1, 2, {1.0, 2.0});
  const ApplyInverse<double> none = [](Operation, DenseView<double>) {};
  DenseMatrix<double> two(2, 1), three(3, 1), wide(3, 2), one(1, 1);
  EXPECT_THROW(refine<double>(matrix, Operation::plain, none, two.view(), three.view()), DimensionError);
  EXPECT_THROW(refine<double>(matrix, Operation::plain, none, three.view(), two.view()), DimensionError);
  EXPECT_THROW(refine<double>(matrix, Operation::plain, none, three.view(), wide.view()), DimensionError);
  EXPECT_THROW(refine<double>(rectangular, Operation::plain, none, one.view(), two.view()), DimensionError);
}

TEST(refine, exception_of_the_inverse_reaches_the_caller) {
  const auto matrix = random_matrix<double>(3, 1, 4.0, 1);
  const ApplyInverse<double> failing = [](Operation, DenseView<double>) { throw DeviceError("gone"); };
  const auto b = random_dense<double>(3, 1, 1);
  DenseMatrix<double> x(3, 1);
  EXPECT_THROW(refine<double>(matrix, Operation::plain, failing, b.view(), x.view()), DeviceError);
}

}  // namespace
}  // namespace palmette
