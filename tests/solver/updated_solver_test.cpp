// A + U·Vᵀ on the factor of A: residuals in the dense sum, operations, and what is refused.
#include <gtest/gtest.h>

#include "systems.hpp"
#include "tests/scalars.hpp"
#include "updates.hpp"

namespace palmette {
namespace {

using namespace testing;

template <class T>
class UpdatedSystem : public ::testing::Test {};
TYPED_TEST_SUITE(UpdatedSystem, TestedScalars);

TYPED_TEST(UpdatedSystem, is_solved_with_the_kept_factor_of_every_kind) {
  using T = TypeParam;
  for (const auto& [problem, n, kind] :
       {std::tuple("poisson2d5", 8, FactorKind::llt), std::tuple("kkt3d", 3, FactorKind::ldlt),
        std::tuple("convection_diffusion2d", 8, FactorKind::lu)}) {
    SCOPED_TRACE(problem);
    const auto matrix = generated<T>(problem, n);
    SolverOptions options = quiet_options();
    options.kind = kind;
    auto solver = Solver<T>::create(matrix, options).value();
    const DenseMatrix<T> u = some_right_hand_sides<T>(solver.size(), 3);
    DenseMatrix<T> v = u;
    for (T& value : v.values) value = value * value + T(1);
    const auto updated = solver.update(columns_of(u), columns_of(v)).value();
    EXPECT_EQ(updated.report().rank, 3);
    EXPECT_GT(updated.report().flops, 0);
    DenseMatrix<T> b = some_right_hand_sides<T>(solver.size(), 1), x(solver.size(), 1);
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
      const UpdateReport report = updated.solve(b.view(), x.view(), operation);
      EXPECT_TRUE(report.verified) << report.backward_error;
      double size = 0;
      for (const T& value : x.values) size = std::max(size, double(std::abs(value)));
      EXPECT_LT(residual_of_updated(*matrix, u, v, operation, b, x), 1e4 * unit_roundoff<T> * (1 + size));
    }
  }
}

TEST(updated_system, that_is_singular_is_refused_with_one_clear_error) {
  // I − e₀·e₀ᵀ
  auto solver = Solver<double>::create(matrix_of<double>({{1, 0}, {0, 1}}), quiet_options()).value();
  DenseMatrix<double> u(2, 1), v(2, 1);
  u.values = {1, 0};
  v.values = {-1, 0};
  const auto updated = solver.update(columns_of(u), columns_of(v));
  ASSERT_FALSE(updated.ok());
  EXPECT_EQ(updated.failure().kind, FailureKind::numerically_singular);
  EXPECT_NE(updated.failure().message.find("capacitance matrix of order 1"), std::string::npos);
}

TEST(updated_system, survives_its_solver_and_new_values) {
  const auto matrix = generated<double>("poisson2d5", 6);
  const DenseMatrix<double> u = some_right_hand_sides<double>(36, 1),
                            b = some_right_hand_sides<double>(36, 1);
  DenseMatrix<double> before(36, 1), after(36, 1);
  std::optional<UpdatedSolver<double>> updated;
  {
    auto solver = Solver<double>::create(matrix, quiet_options()).value();
    updated = solver.update(columns_of(u), columns_of(u)).value();
    (void)updated->solve(b.view(), before.view());
    SparseMatrix<double> doubled = *matrix;
    for (double& value : doubled.values) value *= 2;
    ASSERT_TRUE(solver.refactor(std::make_shared<const SparseMatrix<double>>(doubled)).ok());
  }
  (void)updated->solve(b.view(), after.view());
  EXPECT_EQ(before.values, after.values);
}

TEST(updated_system, of_a_singular_matrix_may_be_regular) {
  // diag(1, 1e-13) is nearly singular; with 1 added to its last entry it is not.
  auto solver = Solver<double>::create(matrix_of<double>({{1, 1}, {1, 1 + 1e-13}}), quiet_options()).value();
  DenseMatrix<double> u(2, 1), x(2, 1);
  u.values = {0, 1};
  const auto updated = solver.update(columns_of(u), columns_of(u));
  if (!updated) return;
  const DenseMatrix<double> b = some_right_hand_sides<double>(2, 1);
  EXPECT_TRUE(updated.value().solve(b.view(), x.view()).verified);
}

TEST(updated_system, refuses_wrong_sizes_and_values_that_are_not_finite) {
  auto solver = Solver<double>::create(generated<double>("poisson2d5", 3), quiet_options()).value();
  const DenseMatrix<double> one = some_right_hand_sides<double>(9, 1),
                            two = some_right_hand_sides<double>(9, 2),
                            low = some_right_hand_sides<double>(8, 1);
  DenseMatrix<double> bad = one;
  bad.values[4] = infinity;
  EXPECT_THROW((void)solver.update(columns_of(one), columns_of(two)), DimensionError);
  EXPECT_THROW((void)solver.update(columns_of(low), columns_of(low)), DimensionError);
  EXPECT_THROW((void)solver.update(columns_of(one), columns_of(bad)), UsageError);
  SolverOptions mixed = quiet_options();
  mixed.mixed_precision = true;
  auto low_precision = Solver<double>::create(generated<double>("poisson2d5", 3), mixed).value();
  EXPECT_THROW((void)low_precision.update(columns_of(one), columns_of(one)), UsageError);
}

}  // namespace
}  // namespace palmette
