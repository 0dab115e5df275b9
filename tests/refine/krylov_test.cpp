// GMRES after plain refinement: what it reaches with a factorization with lost pivots, and how it ends when
// it cannot converge.
#include <gtest/gtest.h>

#include <limits>

#include "palmette/refine/krylov.hpp"
#include "tests/refine/dense_reference.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

template <class T>
class krylov_all : public ::testing::Test {};
TYPED_TEST_SUITE(krylov_all, TestedScalars);

/// A with `count` diagonal entries changed by `size`: a factorization of it is one of A with perturbed
/// pivots.
template <class T>
SparseMatrix<T> perturbed(const SparseMatrix<T>& matrix, index_t count, double size) {
  SparseMatrix<T> result = matrix;
  for (index_t which = 0; which < count; ++which) {
    const index_t column = which * 3 % matrix.cols();
    for (offset_t entry = result.pattern.column_ptr[column]; entry < result.pattern.column_ptr[column + 1];
         ++entry)
      if (result.pattern.row_index[entry] == column) result.values[entry] += T(static_cast<real_t<T>>(size));
  }
  return result;
}

TYPED_TEST(krylov_all, perturbed_pivots_stall_without_it_and_are_verified_with_it) {
  using T = TypeParam;
  for (const Operation operation : all_operations) {
    const auto matrix = random_matrix<T>(40, 4, 2.0, 11);
    const auto apply = inverse_of<T>(perturbed(matrix, 4, 30.0));
    const auto b = random_dense<T>(40, 3, 2);
    DenseMatrix<T> x(40, 3);
    RefineOptions options;
    options.krylov = false;
    const Verification plain = refine<T>(matrix, operation, apply, b.view(), x.view(), options);
    EXPECT_FALSE(plain.verified);
    EXPECT_TRUE(plain.stalled);
    options.krylov = true;
    x = DenseMatrix<T>(40, 3);
    const Verification better = refine<T>(matrix, operation, apply, b.view(), x.view(), options);
    EXPECT_TRUE(better.verified) << better.backward_error;
    EXPECT_FALSE(better.stalled);
    // Rank 4: five iterations a cycle in exact arithmetic, and at most a second cycle for the last digits.
    EXPECT_LE(better.refine_steps, options.max_steps + 14);
    EXPECT_GT(better.refine_steps, 4);
  }
}

TYPED_TEST(krylov_all, rank_of_the_perturbation_plus_one_iterations_suffice) {
  using T = TypeParam;
  const auto matrix = random_matrix<T>(50, 3, 4.0, 21);
  for (const index_t rank : {1, 3, 6}) {
    const auto apply = inverse_of<T>(perturbed(matrix, rank, 20.0));
    const auto b = random_dense<T>(50, 1, 3);
    KrylovOptions options;
    options.tolerance = 20 * unit_roundoff<T>;
    const auto found = flexible_gmres_cycle<T>({matrix, Operation::plain, apply}, b.values, options);
    EXPECT_LE(found.iterations, rank + 2);
    EXPECT_GE(found.iterations, rank + 1);
    EXPECT_LT(forward_error(matrix, Operation::plain, b.values.data(), found.correction.data()),
              1000 * unit_roundoff<T>);
  }
}

TYPED_TEST(krylov_all, exact_inverse_needs_one_iteration) {
  using T = TypeParam;
  const auto matrix = random_matrix<T>(20, 3, 4.0, 5);
  const auto apply = inverse_of<T>(matrix);
  const auto b = random_dense<T>(20, 1, 3);
  const auto found = flexible_gmres_cycle<T>({matrix, Operation::adjoint, apply}, b.values, KrylovOptions{});
  EXPECT_EQ(found.iterations, 1);
  EXPECT_LT(forward_error(matrix, Operation::adjoint, b.values.data(), found.correction.data()),
            100 * unit_roundoff<T>);
}

TYPED_TEST(krylov_all, identity_as_inverse_solves_a_cyclic_shift_in_n_iterations) {
  using T = TypeParam;
  // The shift moves e₁ through all unit vectors: GMRES makes no progress before iteration n, then breaks down
  // happily.
  const index_t n = 6;
  std::vector<T> entries(36, T{});
  for (index_t row = 0; row < n; ++row) entries[row * n + (row + n - 1) % n] = T(1);
  const auto matrix = from_dense<T>(n, n, entries);
  const ApplyInverse<T> identity = [](Operation, DenseView<T>) {};
  std::vector<T> b(6, T{});
  b[0] = T(1);
  KrylovOptions options;
  const auto found = flexible_gmres_cycle<T>({matrix, Operation::plain, identity}, b, options);
  EXPECT_EQ(found.iterations, n);
  ASSERT_EQ(found.correction.size(), 6u);
  for (index_t row = 0; row < n; ++row)
    EXPECT_NEAR(std::abs(found.correction[row] - T(row == n - 1 ? 1 : 0)), 0, 1e-6);
  options.max_iterations = 3;
  const auto cut = flexible_gmres_cycle<T>({matrix, Operation::plain, identity}, b, options);
  EXPECT_EQ(cut.iterations, 3);
  for (const T& value : cut.correction)
    EXPECT_NEAR(std::abs(value), 0, 1e-6) << "no combination of three helps";
}

TYPED_TEST(krylov_all, singular_matrix_ends_the_cycle_without_what_is_not_finite) {
  using T = TypeParam;
  // A = (1 0; 0 0), b = (1, 1): the best is d = (1, anything finite).
  const auto matrix = from_dense<T>(2, 2, {T(1), T(0), T(0), T(0)});
  const ApplyInverse<T> identity = [](Operation, DenseView<T>) {};
  const std::vector<T> b = {T(1), T(1)};
  const auto found = flexible_gmres_cycle<T>({matrix, Operation::plain, identity}, b, KrylovOptions{});
  for (const T& value : found.correction) EXPECT_TRUE(is_finite(value));
  EXPECT_LE(found.iterations, 3);
}

TYPED_TEST(krylov_all, unusable_inverses_and_residuals_give_no_correction) {
  using T = TypeParam;
  const auto matrix = random_matrix<T>(4, 1, 4.0, 5);
  const std::vector<T> b(4, T(1)), zero(4, T{});
  for (const double value :
       {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const ApplyInverse<T> bad = [value](Operation, DenseView<T> v) {
      for (index_t row = 0; row < v.rows; ++row) v(row, 0) = T(static_cast<real_t<T>>(value));
    };
    const auto found = flexible_gmres_cycle<T>({matrix, Operation::plain, bad}, b, KrylovOptions{});
    EXPECT_TRUE(found.correction.empty()) << value;
    EXPECT_EQ(found.iterations, 1);
  }
  const ApplyInverse<T> identity = [](Operation, DenseView<T>) {};
  EXPECT_EQ((flexible_gmres_cycle<T>({matrix, Operation::plain, identity}, zero, KrylovOptions{}).iterations),
            0);
}

TEST(krylov, helps_where_an_inverse_in_float_does_not_converge) {
  // Condition about 1e9 (n = 7): refinement by a float inverse diverges, GMRES around it converges.
  const auto matrix = hilbert<double>(7);
  const auto apply = inverse_of<float>(matrix);
  const auto b = random_dense<double>(7, 1, 3);
  DenseMatrix<double> x(7, 1), y(7, 1);
  RefineOptions options;
  options.max_steps = 30;
  options.krylov = false;
  EXPECT_FALSE(refine<double>(matrix, Operation::plain, apply, b.view(), x.view(), options).verified);
  options.krylov = true;
  EXPECT_TRUE(refine<double>(matrix, Operation::plain, apply, b.view(), y.view(), options).verified);
}

TEST(krylov, works_on_systems_near_the_ends_of_the_range) {
  for (const double scale : {1e-290, 1e290}) {
    auto matrix = random_matrix<double>(40, 4, 2.0, 11);
    auto other = perturbed(matrix, 4, 30.0);
    for (double& value : matrix.values) value *= scale;
    for (double& value : other.values) value *= scale;
    const auto apply = inverse_of<double>(other);
    const auto b = random_dense<double>(40, 1, 2);
    DenseMatrix<double> x(40, 1);
    EXPECT_TRUE(refine<double>(matrix, Operation::plain, apply, b.view(), x.view()).verified) << scale;
  }
}

}  // namespace
}  // namespace palmette
