// Solver::update_factor: solutions of the changed matrix, its plan, what follows it, and what it refuses.
#include <gtest/gtest.h>

#include <filesystem>

#include "systems.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

/// n × k: column c has its entries in the rows {3 c, 3 c + 1} + first, neighbours in the grid.
template <class T>
SparseMatrix<T> neighbours(index_t n, index_t k, index_t first = 0) {
  Triplets<T> entries{n, k, {}, {}, {}};
  for (index_t c = 0; c < k; ++c)
    for (const index_t row : {first + 3 * c, first + 3 * c + 1}) {
      entries.row.push_back(row);
      entries.column.push_back(c);
      if constexpr (is_complex_v<T>)
        entries.value.push_back(T(real_t<T>(0.5 + c), real_t<T>(0.25)));
      else
        entries.value.push_back(T(0.5 + c));
    }
  return from_triplets(entries);
}

SolverOptions llt_options() {
  SolverOptions options = quiet_options();
  options.kind = FactorKind::llt;
  return options;
}

/// max|b − A·x| in double of the matrix that is given.
template <class T>
double residual_of(const SparseMatrix<T>& matrix, const DenseMatrix<T>& b, const DenseMatrix<T>& x) {
  DenseMatrix<T> r = b;
  multiply_add<T>(matrix, Operation::plain, T(-1), x.view(), r.view());
  double worst = 0;
  for (const T& value : r.values) worst = std::max(worst, double(std::abs(value)));
  return worst;
}

/// Row and column of A ± W·Wᴴ, in a dense sum.
template <class T>
void expect_changed(const SparseMatrix<T>& before, const SparseMatrix<T>& w, double sign,
                    const SparseMatrix<T>& after) {
  const DenseMatrix<T> a = to_dense(before), dense_w = to_dense(w), found = to_dense(after);
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t j = 0; j < a.cols; ++j) {
      T sum = a.view()(i, j);
      for (index_t k = 0; k < w.cols(); ++k)
        sum += real_t<T>(sign) * dense_w.view()(i, k) * conjugate(dense_w.view()(j, k));
      EXPECT_LE(std::abs(found.view()(i, j) - sum), 100 * unit_roundoff<T>) << i << ", " << j;
      EXPECT_EQ(found.view()(i, j), conjugate(found.view()(j, i)));
    }
}

template <class T>
class FactorUpdate : public ::testing::Test {};
TYPED_TEST_SUITE(FactorUpdate, TestedScalars);

TYPED_TEST(FactorUpdate, makes_it_the_solver_of_the_changed_matrix) {
  using T = TypeParam;
  const auto matrix = generated<T>("poisson2d5", 12);
  auto solver = Solver<T>::create(matrix, llt_options()).value();
  const SparseMatrix<T> w = neighbours<T>(144, 3);
  const FactorUpdateReport done = solver.update_factor(w).value();
  EXPECT_EQ(done.rank, 3);
  EXPECT_GT(done.supernodes, 0);
  EXPECT_GT(done.flops, 0);
  expect_changed(*matrix, w, 1, *solver.matrix());
  const DenseMatrix<T> b = some_right_hand_sides<T>(144, 2);
  DenseMatrix<T> x(144, 2);
  SolveRequest raw;
  raw.max_refine_steps = 0;
  const Report report = solver.solve(b.view(), x.view(), raw).value();
  EXPECT_TRUE(report.verify->verified) << report.verify->backward_error;
  EXPECT_LT(residual_of(*solver.matrix(), b, x), 1e4 * unit_roundoff<T>);
  EXPECT_NE(report.notes.back().find("updated by 3 columns"), std::string::npos);
  EXPECT_NEAR(solver.slogdet().second,
              Solver<T>::create(solver.matrix(), llt_options()).value().slogdet().second,
              1e4 * unit_roundoff<T>);
  ASSERT_TRUE(solver.update_factor(w, UpdateSign::subtract).ok());
  expect_changed(*matrix, SparseMatrix<T>{{144, 0, {0}, {}}, {}}, 1, *solver.matrix());
  ASSERT_TRUE(solver.solve(b.view(), x.view(), raw).ok());
  EXPECT_LT(residual_of(*matrix, b, x), 1e4 * unit_roundoff<T>);
}

TEST(factor_update, that_would_overflow_in_the_matrix_is_refused) {
  const auto matrix = generated<double>("poisson2d5", 12);
  auto solver = Solver<double>::create(matrix, llt_options()).value();
  const auto factor = solver.factor();
  // The factor grows as w, the matrix as its square.
  const auto failed = solver.update_factor(from_triplets(Triplets<double>{144, 1, {3}, {0}, {1e200}}));
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().kind, FailureKind::not_finite);
  EXPECT_EQ(solver.factor(), factor);
  EXPECT_EQ(solver.matrix()->values, matrix->values);
}

TYPED_TEST(FactorUpdate, renews_the_panels_of_the_plan_that_have_changed) {
  using T = TypeParam;
  // narrow supernodes are packed, wide ones inverted
  for (const index_t width : {16, 128}) {
    SolverOptions options = llt_options();
    options.analyze.max_width = width;
    auto solver = Solver<T>::create(generated<T>("poisson3d7", 7), options).value();
    ASSERT_TRUE(solver.update_factor(neighbours<T>(343, 2, 140)).ok());
    const SolvePlan<T> anew = plan_solve<T>(solver.factor());
    const DenseMatrix<T> b = some_right_hand_sides<T>(343, 1);
    DenseMatrix<T> x(343, 1), y(343, 1);
    for (const Operation operation : {Operation::plain, Operation::adjoint}) {
      solver.solve_part(FactorPart::lower, operation, b.view(), x.view());
      anew.solve_part(FactorPart::lower, operation, b.view(), y.view());
      EXPECT_TRUE(have_same_bits(x.values, y.values));
    }
  }
}

TEST(factor_update, is_followed_by_new_values_of_the_new_pattern) {
  const auto matrix = generated<double>("poisson2d5", 12);
  auto solver = Solver<double>::create(matrix, llt_options()).value();
  // The factor has places below the diagonal that the matrix has not: take one.
  const auto symbolic = solver.symbolic();
  Triplets<double> entries{144, 1, {}, {}, {}};
  for (index_t s = 0; entries.row.empty(); ++s) {
    const index_t first = symbolic->row.new_to_old()[symbolic->supernode_begin[s]];
    for (const index_t row : symbolic->rows_below(s)) {
      const index_t user = symbolic->row.new_to_old()[row];
      const auto rows = matrix->pattern.column(first);
      if (!entries.row.empty() || std::binary_search(rows.begin(), rows.end(), user)) continue;
      entries.row = {first, user};
      entries.column = {0, 0};
      entries.value = {1, -1};
    }
  }
  ASSERT_TRUE(solver.update_factor(from_triplets(entries)).ok());
  EXPECT_EQ(solver.matrix()->nnz(), matrix->nnz() + 2);
  EXPECT_EQ(solver.report().matrix.nnz, matrix->nnz() + 2);
  EXPECT_THROW((void)solver.refactor(matrix), UsageError);
  std::vector<double> doubled = solver.matrix()->values;
  for (double& value : doubled) value *= 2;
  ASSERT_TRUE(solver.refactor_values(doubled).ok());
  const DenseMatrix<double> b = some_right_hand_sides<double>(144, 1);
  DenseMatrix<double> x(144, 1);
  const Report report = solver.solve(b.view(), x.view()).value();
  EXPECT_TRUE(report.verify->verified);
  EXPECT_TRUE(report.notes.empty());
  ASSERT_TRUE(
      solver.update_factor(from_triplets(entries)).ok());  // in the memory of the factor before the last
  EXPECT_TRUE(solver.solve(b.view(), x.view()).value().verify->verified);
}

TEST(factor_update, of_a_factor_by_columns_and_of_a_saved_one) {
  const std::string path = (std::filesystem::temp_directory_path() / "palmette_factor_update.fac").string();
  const DenseMatrix<double> b = some_right_hand_sides<double>(9, 1);
  DenseMatrix<double> x(9, 1), y(9, 1);
  auto thin = Solver<double>::create(generated<double>("poisson2d5", 3), quiet_options()).value();
  ASSERT_EQ(thin.report().analyze->supernodes, 0);
  const SparseMatrix<double> w = neighbours<double>(9, 1, 3);
  ASSERT_TRUE(thin.update_factor(w).ok());
  EXPECT_TRUE(thin.solve(b.view(), x.view()).value().verify->verified);
  thin.save(path);
  LoadOptions options;
  options.measure = false;
  auto kept = Solver<double>::load(path, options);
  ASSERT_TRUE(thin.update_factor(w).ok());
  ASSERT_TRUE(kept.update_factor(w).ok());
  (void)thin.solve(b.view(), x.view());
  (void)kept.solve(b.view(), y.view());
  EXPECT_TRUE(have_same_bits(x.values, y.values));
  std::filesystem::remove(path);
}

TEST(factor_update, that_fails_leaves_the_solver_as_it_was) {
  const auto matrix = generated<double>("poisson2d5", 12);
  auto solver = Solver<double>::create(matrix, llt_options()).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(144, 1);
  DenseMatrix<double> before(144, 1), after(144, 1);
  (void)solver.solve(b.view(), before.view());
  const auto factor = solver.factor();
  const auto failed = solver.update_factor(neighbours<double>(144, 5), UpdateSign::subtract);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().kind, FailureKind::not_positive_definite);
  EXPECT_EQ(solver.factor(), factor);
  EXPECT_EQ(solver.matrix()->values, matrix->values);
  (void)solver.solve(b.view(), after.view());
  EXPECT_TRUE(have_same_bits(before.values, after.values));
}

TEST(factor_update, is_refused_for_other_kinds_and_in_mixed_precision) {
  const SparseMatrix<double> w = neighbours<double>(144, 1);
  SolverOptions options = quiet_options();
  options.kind = FactorKind::lu;
  auto lu = Solver<double>::create(generated<double>("poisson2d5", 12), options).value();
  EXPECT_THROW((void)lu.update_factor(w), UsageError);
  options = llt_options();
  options.mixed_precision = true;
  auto mixed = Solver<double>::create(generated<double>("poisson2d5", 12), options).value();
  EXPECT_THROW((void)mixed.update_factor(w), UsageError);
  auto solver = Solver<double>::create(generated<double>("poisson2d5", 11), llt_options()).value();
  EXPECT_THROW((void)solver.update_factor(w), DimensionError);
}

}  // namespace
}  // namespace palmette
