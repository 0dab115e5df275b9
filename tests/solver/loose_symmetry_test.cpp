// A matrix that is symmetric up to rounding is factored as symmetric, reported as such, and verified against
// the matrix as given.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/scalars.hpp"
#include "tests/solver/systems.hpp"

namespace palmette {
namespace {

using testing::generated;
using testing::matrix_of;
using testing::quiet_options;
using testing::Shared;
using testing::some_right_hand_sides;

template <class T>
class LooseSymmetryOf : public ::testing::Test {};
TYPED_TEST_SUITE(LooseSymmetryOf, TestedScalars);

/// Every second entry below the diagonal moved by `ulps` units in its last place. Complex matrices become
/// Hermitian first: D·A·Dᴴ with phases.
template <class T>
Shared<T> disturbed(const std::string& problem, index_t n, double ulps) {
  SparseMatrix<T> matrix = *generated<T>(problem, n);
  matrix.symmetry = Symmetry::general;
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry) {
      const index_t i = matrix.pattern.row_index[entry];
      T& value = matrix.values[entry];
      if constexpr (is_complex_v<T>) {
        const double angle = 0.3 * (std::max(i, j) % 7 - std::min(i, j) % 5);
        if (i != j)
          value *= T(real_t<T>(std::cos(angle)), real_t<T>(i > j ? std::sin(angle) : -std::sin(angle)));
      }
      if (i > j && (i + j) % 2 == 1) value *= real_t<T>(1 + 2 * ulps * unit_roundoff<T>);
    }
  return std::make_shared<const SparseMatrix<T>>(std::move(matrix));
}

template <class T>
Symmetry expected_symmetry() {
  return is_complex_v<T> ? Symmetry::hermitian : Symmetry::symmetric;
}

bool says_so(const Report& report) {
  for (const std::string& note : report.notes)
    if (note.find("up to rounding") != std::string::npos) return true;
  return false;
}

TYPED_TEST(LooseSymmetryOf, detection_measures_the_asymmetry_and_stops_at_the_tolerance) {
  using T = TypeParam;
  const auto matrix = disturbed<T>("poisson2d5", 9, 1);
  const LooseSymmetry found = detect_symmetry(*matrix, 8 * unit_roundoff<T>);
  EXPECT_EQ(found.symmetry, expected_symmetry<T>());
  EXPECT_GT(found.asymmetry, 0.5 * unit_roundoff<T>);
  EXPECT_LE(found.asymmetry, 4 * unit_roundoff<T>);
  EXPECT_EQ(detect_symmetry(*matrix), Symmetry::general) << "without a tolerance the answer is exact";
  EXPECT_EQ(detect_symmetry(*matrix, 0.25 * unit_roundoff<T>).symmetry, Symmetry::general);
  EXPECT_EQ(detect_symmetry(*disturbed<T>("poisson2d5", 9, 0), 8 * unit_roundoff<T>).asymmetry, 0);
}

TYPED_TEST(LooseSymmetryOf, symmetric_part_is_exactly_symmetric_and_near_the_matrix) {
  using T = TypeParam;
  const auto matrix = disturbed<T>("poisson2d5", 9, 1);
  const SparseMatrix<T> part = symmetric_part(*matrix, expected_symmetry<T>());
  EXPECT_EQ(detect_symmetry(part), expected_symmetry<T>());
  for (offset_t entry = 0; entry < part.nnz(); ++entry)
    EXPECT_LE(std::abs(part.values[entry] - matrix->values[entry]),
              4 * unit_roundoff<T> * std::abs(part.values[entry]));
}

TYPED_TEST(LooseSymmetryOf,
           matrices_symmetric_up_to_rounding_get_symmetric_kinds_and_are_verified_as_they_are) {
  using T = TypeParam;
  for (const auto& [problem, n, kind] :
       std::vector<std::tuple<std::string, index_t, FactorKind>>{{"poisson2d5", 9, FactorKind::llt},
                                                                 {"poisson3d7", 12, FactorKind::llt},
                                                                 {"kkt3d", 4, FactorKind::ldlt}}) {
    const auto matrix = disturbed<T>(problem, n, 1);
    auto solver = Solver<T>::create(matrix, quiet_options()).value();
    EXPECT_EQ(solver.report().factorize->kind, kind) << problem;
    EXPECT_EQ(solver.report().matrix.symmetry, expected_symmetry<T>());
    EXPECT_TRUE(says_so(solver.report()));
    EXPECT_EQ(solver.matrix()->values, matrix->values) << "the matrix itself is kept";
    const DenseMatrix<T> b = some_right_hand_sides<T>(matrix->cols(), 3);
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
      DenseMatrix<T> x(matrix->cols(), 3);
      SolveRequest request;
      request.operation = operation;
      const Report report = solver.solve(b.view(), x.view(), request).value();
      EXPECT_TRUE(report.verify->verified) << problem << " " << name_of(operation);
      EXPECT_TRUE(says_so(report));
      EXPECT_LE(verify<T>(*matrix, operation, b.view(), std::as_const(x).view()).backward_error,
                20 * unit_roundoff<T>);
    }
  }
}

TYPED_TEST(LooseSymmetryOf, more_than_rounding_is_not_symmetric) {
  using T = TypeParam;
  const auto matrix = disturbed<T>("poisson2d5", 9, 40);
  const auto solver = Solver<T>::create(matrix, quiet_options()).value();
  EXPECT_EQ(solver.report().factorize->kind, FactorKind::lu);
  EXPECT_EQ(solver.report().matrix.symmetry, Symmetry::general);
  EXPECT_FALSE(says_so(solver.report()));
  SolverOptions demanded = quiet_options();
  demanded.kind = FactorKind::llt;
  EXPECT_THROW((void)Solver<T>::create(matrix, demanded).ok(), UsageError);
}

TYPED_TEST(LooseSymmetryOf, refactor_takes_values_that_are_symmetric_up_to_rounding) {
  using T = TypeParam;
  for (const auto& [problem, n] : {std::pair<std::string, index_t>{"poisson2d5", 9}, {"poisson3d7", 12}}) {
    const auto exact = disturbed<T>(problem, n, 0), loose = disturbed<T>(problem, n, 1);
    auto solver = Solver<T>::create(exact, quiet_options()).value();
    EXPECT_FALSE(says_so(solver.report()));
    ASSERT_TRUE(solver.refactor(loose).ok());
    EXPECT_TRUE(says_so(solver.report()));
    const DenseMatrix<T> b = some_right_hand_sides<T>(exact->cols(), 1);
    DenseMatrix<T> x(exact->cols(), 1);
    EXPECT_TRUE(solver.solve(b.view(), x.view()).value().verify->verified);
    EXPECT_LE(verify<T>(*loose, Operation::plain, b.view(), std::as_const(x).view()).backward_error,
              20 * unit_roundoff<T>);
    EXPECT_THROW((void)solver.refactor(disturbed<T>(problem, n, 40)).ok(), UsageError);
    ASSERT_TRUE(solver.refactor(exact).ok());
    EXPECT_FALSE(says_so(solver.report()));
  }
}

TEST(loose_symmetry, an_entry_without_partner_rules_symmetry_out_however_small) {
  const auto matrix = matrix_of<double>({{4, 1e-300, 0}, {0, 4, 1}, {0, 1, 4}});
  EXPECT_EQ(detect_symmetry(*matrix, 8 * unit_roundoff<double>).symmetry, Symmetry::general);
  const auto zero_partner = from_triplets<double>({2, 2, {0, 0, 1, 1}, {0, 1, 0, 1}, {4, 1e-300, 0, 4}});
  EXPECT_EQ(detect_symmetry(zero_partner, 8 * unit_roundoff<double>).symmetry, Symmetry::general);
}

TEST(loose_symmetry, a_wanted_lu_factors_the_matrix_itself) {
  SolverOptions options = quiet_options();
  options.kind = FactorKind::lu;
  const auto solver = Solver<double>::create(disturbed<double>("poisson2d5", 9, 1), options).value();
  EXPECT_EQ(solver.report().factorize->kind, FactorKind::lu);
  EXPECT_FALSE(says_so(solver.report()));
}

TEST(loose_symmetry, a_diagonal_that_is_real_up_to_rounding_still_gives_llt) {
  using C = std::complex<double>;
  const double u = unit_roundoff<double>;
  const auto matrix = matrix_of<C>({{C(4, u), C(1, 1)}, {C(1, -1), C(5, 0)}});
  const auto solver = Solver<C>::create(matrix, quiet_options()).value();
  EXPECT_EQ(solver.report().factorize->kind, FactorKind::llt);
  EXPECT_EQ(choose_kind(*matrix), FactorKind::llt);
}

}  // namespace
}  // namespace palmette
