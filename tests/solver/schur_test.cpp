// Schur complements against elimination by hand, solves through them, and what is refused.
#include <gtest/gtest.h>

#include <cstring>

#include "complements.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

template <class T>
SchurSolver<T> schur_of(const Shared<T>& matrix, std::vector<index_t> boundary, FactorKind kind,
                        int threads = 2) {
  SchurOptions options;
  options.kind = kind;
  options.threads = threads;
  return SchurSolver<T>::create(matrix, std::move(boundary), options).value();
}

template <class T>
class SchurComplement : public ::testing::Test {};
TYPED_TEST_SUITE(SchurComplement, TestedScalars);

TYPED_TEST(SchurComplement, is_that_of_elimination_and_solves_the_whole_for_every_kind) {
  using T = TypeParam;
  for (const auto& [problem, n, kind] :
       {std::tuple("poisson2d5", 9, FactorKind::llt), std::tuple("poisson2d5", 9, FactorKind::ldlt),
        std::tuple("convection_diffusion2d", 9, FactorKind::lu)}) {
    SCOPED_TRACE(std::string(name_of(kind)));
    const auto matrix = generated<T>(problem, n);
    const std::vector<index_t> boundary{40, 3, 77, 5, 41};
    const auto solver = schur_of(matrix, boundary, kind);
    EXPECT_TRUE(solver.report().verified) << solver.report().backward_error;
    EXPECT_EQ(solver.report().kind, kind);
    const DenseMatrix<T> expected = eliminated(*matrix, boundary);
    for (index_t j = 0; j < 5; ++j)
      for (index_t i = 0; i < 5; ++i)
        EXPECT_LT(std::abs(solver.complement()(i, j) - expected.view()(i, j)), entry_tolerance<T>())
            << i << j;
    const DenseMatrix<T> b = some_right_hand_sides<T>(solver.size(), 3);
    DenseMatrix<T> g(5, 3), x(solver.size(), 3);
    solver.condense(b.view(), g.view());
    const DenseMatrix<T> part = solved_densely<T>(solver.complement(), g);
    const Verification found = solver.expand(b.view(), part.view(), x.view());
    EXPECT_LT(found.backward_error, 1e3 * unit_roundoff<T>);
    for (index_t i = 0; i < 5; ++i) EXPECT_EQ(x.view()(boundary[i], 1), part.view()(i, 1));
  }
}

TYPED_TEST(SchurComplement, of_an_indefinite_interior_with_pairs_and_scalings) {
  using T = TypeParam;
  const auto matrix = generated<T>("kkt3d", 4);
  std::vector<index_t> boundary;
  for (index_t i = 7; i < 192; i += 23) boundary.push_back(i);
  const auto solver = schur_of(matrix, boundary, FactorKind::ldlt);
  EXPECT_TRUE(solver.report().verified) << solver.report().backward_error;
  const DenseMatrix<T> b = some_right_hand_sides<T>(192, 1);
  DenseMatrix<T> x(192, 1);
  const Verification inside = solver.solve_interior(b.view(), x.view());
  EXPECT_TRUE(inside.verified);
  for (const index_t unknown : boundary) EXPECT_EQ(x.values[unknown], T(0));
}

TEST(schur_complement, has_the_same_bits_for_any_number_of_threads_and_wide_boundaries) {
  const auto matrix = generated<double>("poisson3d7", 14);
  std::vector<index_t> boundary;
  for (index_t i = 0; i < 300; ++i) boundary.push_back(i * 9);
  const auto alone = schur_of(matrix, boundary, FactorKind::llt, 1);
  EXPECT_TRUE(alone.report().verified);
  for (const int threads : {2, 4}) {
    const auto team = schur_of(matrix, boundary, FactorKind::llt, threads);
    EXPECT_EQ(std::memcmp(team.complement().data, alone.complement().data, 300 * 300 * sizeof(double)), 0);
  }
  // Symmetric to the last bit, and its report says what it cost.
  for (index_t i = 0; i < 300; i += 7) EXPECT_EQ(alone.complement()(i, 3), alone.complement()(3, i));
  EXPECT_GT(alone.report().flops, 0);
  EXPECT_GT(alone.report().memory_bytes_predicted, alone.report().memory_bytes);
}

TEST(schur_complement, may_be_singular_and_the_boundary_empty_or_everything) {
  // A path with free ends: S on both ends is [1 −1; −1 1] / 3 for three edges.
  const auto path = matrix_of<double>({{1, -1, 0, 0}, {-1, 2, -1, 0}, {0, -1, 2, -1}, {0, 0, -1, 1}});
  const auto ends = schur_of(path, {0, 3}, FactorKind::llt);
  EXPECT_TRUE(ends.report().verified);
  EXPECT_NEAR(ends.complement()(0, 0), 1.0 / 3, 1e-15);
  EXPECT_NEAR(ends.complement()(0, 1), -1.0 / 3, 1e-15);
  const auto all = schur_of(path, {3, 2, 1, 0}, FactorKind::ldlt);
  EXPECT_EQ(all.complement()(1, 2), -1);
  EXPECT_EQ(all.complement()(0, 0), 1);
  const auto none = schur_of(matrix_of<double>({{2, 1}, {1, 3}}), {}, FactorKind::lu);
  const DenseMatrix<double> b = some_right_hand_sides<double>(2, 1);
  DenseMatrix<double> x(2, 1), nothing(0, 1);
  EXPECT_TRUE(none.expand(b.view(), nothing.view(), x.view()).verified);
}

TEST(schur_complement, of_a_singular_interior_is_not_verified_or_refused) {
  // The interior {1, 2} is [1 −1; −1 1].
  const auto matrix = matrix_of<double>({{3, -1, 0}, {-1, 1, -1}, {0, -1, 1}});
  SchurOptions options;
  const auto made = SchurSolver<double>::create(matrix, {0}, options);
  if (made)
    EXPECT_FALSE(made.value().report().verified);
  else
    EXPECT_EQ(made.failure().kind, FailureKind::numerically_singular);
  // The interior {0, 2} is zero.
  const auto zero = matrix_of<double>({{0, 1, 0}, {1, 1, 1}, {0, 1, 0}});
  EXPECT_FALSE(SchurSolver<double>::create(zero, {1}, options).ok());
}

TEST(schur_complement, refuses_unknowns_that_do_not_exist_or_come_twice) {
  const auto matrix = generated<double>("poisson2d5", 3);
  EXPECT_THROW((void)SchurSolver<double>::create(matrix, {9}), UsageError);
  EXPECT_THROW((void)SchurSolver<double>::create(matrix, {-1}), UsageError);
  EXPECT_THROW((void)SchurSolver<double>::create(matrix, {2, 2}), UsageError);
  const auto solver = schur_of(matrix, {2, 4}, FactorKind::llt);
  const DenseMatrix<double> b = some_right_hand_sides<double>(9, 1);
  DenseMatrix<double> wrong(3, 1), x(9, 1);
  EXPECT_THROW(solver.condense(b.view(), wrong.view()), DimensionError);
  EXPECT_THROW((void)solver.expand(b.view(), wrong.view(), x.view()), DimensionError);
}

// Entries that are not eliminated say nothing about which pivots are tiny.
TEST(schur, of_a_huge_entry_between_unknowns_that_stay_replaces_no_pivot) {
  const auto matrix = matrix_of<double>({{2, -1, -1, 0}, {-1, 2, 0, -1}, {-1, 0, 1e16, 0}, {0, -1, 0, 3}});
  for (const FactorKind kind : {FactorKind::ldlt, FactorKind::lu}) {
    const auto schur = schur_of<double>(matrix, {2, 3}, kind);
    EXPECT_NEAR(schur.complement()(1, 1), 3 - 2.0 / 3, 1e-14) << name_of(kind);
    EXPECT_NEAR(schur.complement()(0, 1), -1.0 / 3, 1e-14) << name_of(kind);
  }
}

}  // namespace
}  // namespace palmette
