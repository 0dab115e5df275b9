// Factorizing again: the bits of a fresh solver whatever came before, and what a refused matrix leaves.
#include <gtest/gtest.h>

#include <limits>

#include "tests/solver/systems.hpp"

namespace palmette {
namespace {

using testing::generated;
using testing::have_same_bits;
using testing::quiet_options;
using testing::Shared;
using testing::some_right_hand_sides;

template <class T>
class Refactor : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Refactor, Scalars);

/// Every entry changed by a factor near one that is the same for its mirror image, so that symmetry stays,
/// and the diagonal by another.
template <class T>
SparseMatrix<T> with_values(const SparseMatrix<T>& matrix, int number, bool large_below = false) {
  SparseMatrix<T> changed = matrix;
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = matrix.pattern.row_index[entry];
      const int what = ((row + column) * 7 + row * column + 13 * number) % 11;
      changed.values[entry] *= real_t<T>(row == column ? 1.0 + what / 8.0 : 1.0 - what / 32.0);
      // other rows become pivots
      if (large_below && number % 2 == 1 && (row + 1 == column || column + 1 == row))
        changed.values[entry] *= real_t<T>(8);
    }
  return changed;
}

template <class T>
std::vector<T> solution(Solver<T>& solver, index_t columns) {
  const DenseMatrix<T> b = some_right_hand_sides<T>(solver.size(), columns);
  DenseMatrix<T> x(solver.size(), columns);
  EXPECT_TRUE(solver.solve(b.view(), x.view()).ok());
  return x.values;
}

template <class T>
SolverOptions options_for(FactorKind kind, int threads) {
  SolverOptions options = quiet_options(threads);
  options.kind = kind;
  options.ordering = OrderingMethod::amd;  // given explicitly, so that supernodes factor
  return options;
}

struct Problem {
  const char* name;
  index_t n;
  FactorKind kind;
};

constexpr Problem problems[] = {{"poisson2d9", 40, FactorKind::llt},
                                {"poisson2d9", 40, FactorKind::ldlt},
                                {"kkt3d", 6, FactorKind::ldlt},
                                {"convection_diffusion3d", 8, FactorKind::lu}};

TYPED_TEST(Refactor, has_the_bits_of_a_solver_that_comes_to_the_matrix_first) {
  using T = TypeParam;
  for (const Problem& problem : problems) {
    const Shared<T> first = generated<T>(problem.name, problem.n);
    const bool pivots_move = problem.kind != FactorKind::llt;
    for (const int threads : {1, 2, 3, 4}) {
      const SolverOptions options = options_for<T>(problem.kind, threads);
      Solver<T> again = Solver<T>::create(first, options).value();
      for (int number = 1; number <= 5; ++number) {
        const auto next =
            std::make_shared<const SparseMatrix<T>>(with_values(*first, number, pivots_move));
        // the order and scaling of the first matrix, which a fresh solver reaches from it as well
        Solver<T> fresh = Solver<T>::create(first, options).value();
        ASSERT_TRUE(fresh.refactor(next).ok());
        if (number % 2 == 0) {
          ASSERT_TRUE(again.refactor(next).ok());
        } else {
          ASSERT_TRUE(again.refactor_values(next->values).ok());
        }
        EXPECT_TRUE(have_same_bits(again.matrix()->values, next->values));
        EXPECT_EQ(again.matrix()->symmetry, fresh.matrix()->symmetry);
        for (const index_t columns : {1, 5})
          EXPECT_TRUE(have_same_bits(solution(again, columns), solution(fresh, columns)))
              << problem.name << " " << name_of(problem.kind) << ", " << threads << " threads, number "
              << number << ", " << columns << " right-hand sides";
      }
    }
  }
}

TYPED_TEST(Refactor, gives_the_bits_of_a_first_factorization_with_the_same_order) {
  using T = TypeParam;
  const Shared<T> first = generated<T>("poisson2d9", 30);
  SolverOptions options = options_for<T>(FactorKind::llt, 2);  // LLᵀ is not scaled
  Solver<T> again = Solver<T>::create(first, options).value();
  for (int number = 1; number <= 4; ++number) {
    const auto next = std::make_shared<const SparseMatrix<T>>(with_values(*first, number));
    ASSERT_TRUE(again.refactor(next).ok());
    Solver<T> fresh = Solver<T>::create(next, options).value();
    EXPECT_TRUE(have_same_bits(solution(again, 3), solution(fresh, 3))) << number;
    EXPECT_EQ(again.slogdet(), fresh.slogdet());
  }
}

TYPED_TEST(Refactor, that_fails_leaves_the_solver_with_its_factor_and_its_matrix) {
  using T = TypeParam;
  const Shared<T> first = generated<T>("poisson2d9", 20);
  for (const int threads : {1, 3}) {
    Solver<T> solver = Solver<T>::create(first, options_for<T>(FactorKind::llt, threads)).value();
    SparseMatrix<T> indefinite = *first, unsymmetric = *first, infinite = *first;
    for (T& value : indefinite.values) value = -value;
    unsymmetric.values[1] *= real_t<T>(2);
    unsymmetric.symmetry = Symmetry::general;
    infinite.values[5] = std::numeric_limits<real_t<T>>::infinity();
    const auto good = std::make_shared<const SparseMatrix<T>>(with_values(*first, 3));
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(solver.refactor(good).ok());
      const std::vector<T> before = solution(solver, 2);
      EXPECT_FALSE(solver.refactor(std::make_shared<const SparseMatrix<T>>(indefinite)).ok());
      EXPECT_THROW((void)solver.refactor(std::make_shared<const SparseMatrix<T>>(unsymmetric)), UsageError);
      EXPECT_THROW((void)solver.refactor(std::make_shared<const SparseMatrix<T>>(infinite)), UsageError);
      EXPECT_THROW((void)solver.refactor_values(infinite.values), UsageError);
      EXPECT_THROW((void)solver.refactor(nullptr), UsageError);
      EXPECT_TRUE(have_same_bits(solver.matrix()->values, good->values));
      EXPECT_TRUE(have_same_bits(solution(solver, 2), before));
    }
  }
}

TEST(refactor, predicts_the_memory_of_two_factors_and_plans) {
  // large enough that its panels are not in memory that earlier tests have freed
  const Shared<double> first = generated<double>("poisson3d7", 28);
  Solver<double> solver = Solver<double>::create(first, options_for<double>(FactorKind::llt, 2)).value();
  const Report before = solver.report();
  ASSERT_TRUE(solver.refactor(first).ok());
  const Report again = solver.report();
  EXPECT_GE(again.analyze->memory_bytes_predicted,
            before.analyze->memory_bytes_predicted + before.factorize->memory_bytes / 2);
  for (int repeat = 0; repeat < 3; ++repeat) {
    ASSERT_TRUE(solver.refactor(first).ok());
    EXPECT_EQ(solver.report().analyze->memory_bytes_predicted, again.analyze->memory_bytes_predicted);
  }
#if !defined(PALMETTE_THREAD_SANITIZER) && !defined(PALMETTE_ADDRESS_SANITIZER)
  // a sanitizer holds memory of its own
  EXPECT_LT(resident_memory_bytes(), 1.1 * static_cast<double>(again.analyze->memory_bytes_predicted));
#endif
}

TEST(refactor, a_promise_of_symmetry_that_does_not_hold_is_refused) {
  const Shared<double> first = generated<double>("poisson2d9", 20);
  ASSERT_NE(first->symmetry, Symmetry::general);
  Solver<double> solver = Solver<double>::create(first, options_for<double>(FactorKind::llt, 2)).value();
  for (const bool is_shared : {false, true}) {
    auto broken = std::make_shared<SparseMatrix<double>>(*first);
    broken->values[1] *= 2;
    const std::shared_ptr<const SparseMatrix<double>> kept = is_shared ? broken : nullptr;
    EXPECT_THROW((void)solver.refactor(std::move(broken)), UsageError);
  }
  EXPECT_TRUE(have_same_bits(solver.matrix()->values, first->values));
}

TEST(refactor, a_matrix_that_the_solver_showed_keeps_its_values) {
  const Shared<double> first = generated<double>("poisson2d9", 20);
  Solver<double> solver = Solver<double>::create(first, options_for<double>(FactorKind::llt, 2)).value();
  std::vector<Shared<double>> shown;
  for (int number = 1; number <= 4; ++number) {
    ASSERT_TRUE(solver.refactor_values(with_values(*first, number).values).ok());
    shown.push_back(solver.matrix());
  }
  for (int number = 1; number <= 4; ++number)
    EXPECT_TRUE(have_same_bits(shown[number - 1]->values, with_values(*first, number).values)) << number;
}

TEST(refactor, after_an_update_of_the_factor_takes_the_pattern_of_the_changed_matrix) {
  const Shared<double> first = generated<double>("poisson2d9", 20);
  Solver<double> solver = Solver<double>::create(first, options_for<double>(FactorKind::llt, 2)).value();
  ASSERT_TRUE(solver.refactor_values(with_values(*first, 1).values).ok());
  ASSERT_TRUE(solver.refactor_values(with_values(*first, 2).values).ok());
  Triplets<double> entry{first->rows(), 1, {3}, {0}, {0.5}};
  ASSERT_TRUE(solver.update_factor(from_triplets(entry)).ok());
  for (int number = 1; number <= 3; ++number) {
    const SparseMatrix<double> next = with_values(*solver.matrix(), number);
    ASSERT_TRUE(solver.refactor_values(next.values).ok());
    EXPECT_TRUE(solver.solve(some_right_hand_sides<double>(solver.size(), 1).view(),
                             DenseMatrix<double>(solver.size(), 1).view()).value().verify->verified);
  }
}

}  // namespace
}  // namespace palmette
