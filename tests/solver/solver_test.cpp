// The hall: the ladder of kinds, verified answers, failures with their places, refactorization, mixed
// precision.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

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
Report solved(Solver<T>& solver, index_t num_rhs, const SolveRequest& request = {}) {
  const DenseMatrix<T> b = some_right_hand_sides<T>(solver.size(), num_rhs);
  DenseMatrix<T> x(solver.size(), num_rhs);
  return solver.solve(b.view(), x.view(), request).value();
}

template <class T>
class EveryScalar : public ::testing::Test {};
TYPED_TEST_SUITE(EveryScalar, TestedScalars);

TYPED_TEST(EveryScalar, each_kind_solves_verified_in_each_operation) {
  using T = TypeParam;
  const std::vector<std::pair<std::string, FactorKind>> cases = {{"poisson2d5", FactorKind::llt},
                                                                 {"kkt3d", FactorKind::ldlt},
                                                                 {"random_unsymmetric", FactorKind::lu}};
  for (const auto& [problem, kind] : cases) {
    const auto matrix = generated<T>(problem, problem == "kkt3d" ? 4 : problem == "poisson2d5" ? 20 : 200);
    auto made = Solver<T>::create(matrix, quiet_options());
    ASSERT_TRUE(made.ok()) << problem << ": " << made.failure().message;
    Solver<T> solver = std::move(made).value();
    EXPECT_EQ(solver.report().factorize->kind, kind) << problem;
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint})
      for (const index_t num_rhs : {0, 1, 3, 50}) {
        SolveRequest request;
        request.operation = operation;
        const Report report = solved(solver, num_rhs, request);
        EXPECT_TRUE(report.verify->verified) << problem << " " << name_of(operation) << " " << num_rhs;
        EXPECT_EQ(report.solve->num_rhs, num_rhs);
      }
  }
}

TEST(solver, indefinite_matrix_with_positive_diagonal_falls_from_llt_to_ldlt_and_says_so) {
  // Eigenvalues of [1 2; 2 1] are 3 and −1.
  auto solver = Solver<double>::create(matrix_of<double>({{1, 2}, {2, 1}}), quiet_options()).value();
  EXPECT_EQ(solver.report().factorize->kind, FactorKind::ldlt);
  EXPECT_EQ(solver.inertia().positive, 1);
  EXPECT_EQ(solver.inertia().negative, 1);
  ASSERT_FALSE(solver.report().notes.empty());
  EXPECT_NE(solver.report().notes.back().find("LDL'"), std::string::npos);
  // det = 1 − 4 = −3
  EXPECT_EQ(solver.slogdet().first, std::complex<double>(-1));
  EXPECT_NEAR(solver.slogdet().second, std::log(3.0), 1e-14);
}

TEST(solver, llt_that_was_demanded_fails_with_row_and_column) {
  SolverOptions options = quiet_options();
  options.kind = FactorKind::llt;
  const auto made = Solver<double>::create(matrix_of<double>({{1, 2}, {2, 1}}), options);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().kind, FailureKind::not_positive_definite);
  EXPECT_GE(made.failure().column, 0);
  EXPECT_EQ(made.failure().row, made.failure().column);
}

TEST(solver, kinds_that_do_not_fit_the_matrix_are_refused_with_the_one_that_does) {
  const auto unsymmetric = matrix_of<double>({{1, 2}, {0, 1}});
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt}) {
    SolverOptions options = quiet_options();
    options.kind = kind;
    try {
      (void)Solver<double>::create(unsymmetric, options).ok();
      FAIL() << "accepted";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("use kind lu"), std::string::npos) << error.what();
    }
  }
  using C = std::complex<double>;
  SolverOptions options = quiet_options();
  options.kind = FactorKind::llt;
  const auto complex_symmetric = matrix_of<C>({{C(2, 1), C(1, 1)}, {C(1, 1), C(3, 0)}});
  EXPECT_THROW((void)Solver<C>::create(complex_symmetric, options).ok(), UsageError);
}

void expect_singular(const Shared<double>& matrix) {
  auto made = Solver<double>::create(matrix, quiet_options());
  NumericalFailure failure;
  if (made) {
    Solver<double> solver = std::move(made).value();
    const DenseMatrix<double> b = some_right_hand_sides<double>(solver.size(), 1);
    DenseMatrix<double> x(solver.size(), 1);
    const auto answer = solver.solve(b.view(), x.view());
    ASSERT_FALSE(answer.ok()) << "a singular matrix was solved";
    failure = answer.failure();
  } else {
    failure = made.failure();
  }
  EXPECT_TRUE(failure.kind == FailureKind::numerically_singular ||
              failure.kind == FailureKind::structurally_singular);
  EXPECT_GE(failure.row, 0);
  EXPECT_GE(failure.column, 0);
  EXPECT_FALSE(failure.message.empty());
}

TEST(solver, singular_matrices_fail_with_row_and_column) {
  expect_singular(matrix_of<double>({{1, 1}, {1, 1}}));
  expect_singular(matrix_of<double>({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}));
  expect_singular(matrix_of<double>({{1, 0}, {1, 0}}));
  expect_singular(matrix_of<double>({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}));
  // The Laplacian of a path: every row sums to zero.
  expect_singular(matrix_of<double>({{1, -1, 0, 0}, {-1, 2, -1, 0}, {0, -1, 2, -1}, {0, 0, -1, 1}}));
}

TEST(solver, regular_matrices_near_singular_ones_are_solved) {
  // Distance about 1e-10 from [1 1; 1 1]: ill-conditioned, not singular to working precision.
  auto near = Solver<double>::create(matrix_of<double>({{1, 1}, {1, 1 + 1e-10}}), quiet_options()).value();
  EXPECT_TRUE(solved(near, 1).verify->verified);
  // Bad scaling alone is not singularity.
  auto scaled =
      Solver<double>::create(matrix_of<double>({{1e-100, 0}, {1e60, 1e100}}), quiet_options()).value();
  EXPECT_TRUE(solved(scaled, 1).verify->verified);
  // A zero diagonal with 2 × 2 pivots, and one that needs a row exchange.
  auto swapped = Solver<double>::create(matrix_of<double>({{0, 1}, {1, 0}}), quiet_options()).value();
  EXPECT_TRUE(solved(swapped, 1).verify->verified);
  auto turned =
      Solver<double>::create(matrix_of<double>({{0, 2, 0}, {0, 0, 3}, {4, 0, 0}}), quiet_options()).value();
  EXPECT_TRUE(solved(turned, 1).verify->verified);
  EXPECT_NEAR(turned.slogdet().second, std::log(24.0), 1e-13);
  EXPECT_EQ(turned.slogdet().first, std::complex<double>(1));  // a cyclic exchange of three rows is even
}

TEST(solver, empty_and_single_systems_are_solved) {
  auto none = Solver<double>::create(std::make_shared<const SparseMatrix<double>>(), quiet_options()).value();
  EXPECT_EQ(none.size(), 0);
  EXPECT_TRUE(solved(none, 1).verify->verified);
  auto one = Solver<double>::create(matrix_of<double>({{-4}}), quiet_options()).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(1, 2);
  DenseMatrix<double> x(1, 2);
  EXPECT_TRUE(one.solve(b.view(), x.view()).value().verify->verified);
  EXPECT_EQ(x.values[1], b.values[1] / -4);
}

TEST(solver, misuse_names_what_is_wrong) {
  EXPECT_THROW((void)Solver<double>::create(matrix_of<double>({{1, 2}}), quiet_options()).ok(),
               DimensionError);
  EXPECT_THROW((void)Solver<double>::create(matrix_of<double>({{1, NAN}, {0, 1}}), quiet_options()).ok(),
               UsageError);
  EXPECT_THROW((void)Solver<double>::create(matrix_of<double>({{1}}), quiet_options(-1)).ok(), UsageError);
  SolverOptions mixed = quiet_options();
  mixed.mixed_precision = true;
  EXPECT_THROW((void)Solver<float>::create(matrix_of<float>({{1}}), mixed).ok(), UsageError);
  auto solver = Solver<double>::create(matrix_of<double>({{1, 0}, {0, 1}}), quiet_options()).value();
  DenseMatrix<double> b(3, 1), x(3, 1);
  EXPECT_THROW((void)solver.solve(std::as_const(b).view(), x.view()).ok(), DimensionError);
  DenseMatrix<double> nan(2, 1), y(2, 1);
  nan.values[1] = NAN;
  try {
    (void)solver.solve(std::as_const(nan).view(), y.view()).ok();
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("row 2, column 1"), std::string::npos) << error.what();
  }
}

TEST(solver, solution_may_lie_in_the_memory_of_the_right_hand_side) {
  const auto matrix = generated<double>("poisson2d5", 12);
  auto solver = Solver<double>::create(matrix, quiet_options()).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(144, 3);
  DenseMatrix<double> apart(144, 3), in_place = b;
  EXPECT_TRUE(solver.solve(b.view(), apart.view()).value().verify->verified);
  EXPECT_TRUE(solver.solve(std::as_const(in_place).view(), in_place.view()).value().verify->verified);
  EXPECT_EQ(apart.values, in_place.values);
}

TEST(solver, bits_of_the_answer_do_not_depend_on_threads_or_method) {
  const auto matrix = generated<double>("poisson3d7", 14);
  const DenseMatrix<double> b = some_right_hand_sides<double>(matrix->rows(), 2);
  std::vector<double> first;
  for (const int threads : {1, 2, 3, 5, 8})
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine)) {
      SolverOptions options = quiet_options(threads);
      options.method = method.method;
      auto solver = Solver<double>::create(matrix, options).value();
      DenseMatrix<double> x(matrix->rows(), 2);
      const Report report = solver.solve(b.view(), x.view()).value();
      EXPECT_EQ(report.solve->method, method.method);
      if (first.empty()) first = x.values;
      EXPECT_EQ(x.values, first) << method.name << ", " << threads << " threads";
    }
}

TEST(solver, refactor_solves_the_new_values_and_refuses_another_pattern) {
  const auto first = matrix_of<double>({{4, 1, 0}, {1, 5, 2}, {0, 2, 6}});
  auto solver = Solver<double>::create(first, quiet_options()).value();
  auto second = std::make_shared<SparseMatrix<double>>(*first);
  for (double& value : second->values) value *= -3;  // no longer definite: the kind must stay, so this fails
  const auto failed = solver.refactor(second);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().kind, FailureKind::not_positive_definite);
  EXPECT_TRUE(solved(solver, 1).verify->verified) << "the former factor is lost";
  for (double& value : second->values) value *= -1;
  ASSERT_TRUE(solver.refactor(second).ok());
  const DenseMatrix<double> b = some_right_hand_sides<double>(3, 1);
  DenseMatrix<double> x(3, 1);
  EXPECT_TRUE(solver.solve(b.view(), x.view()).value().verify->verified);
  EXPECT_LE(verify<double>(*second, Operation::plain, b.view(), std::as_const(x).view()).backward_error,
            1e-15);
  EXPECT_THROW((void)solver.refactor(matrix_of<double>({{4, 1, 1}, {1, 5, 2}, {1, 2, 6}})).ok(), UsageError);
}

TEST(solver, mixed_precision_reaches_the_double_bound_or_says_that_it_cannot) {
  SolverOptions options = quiet_options();
  options.mixed_precision = true;
  for (const char* problem : {"poisson2d9", "convection_diffusion2d", "indefinite2d"}) {
    auto solver = Solver<double>::create(generated<double>(problem, 25), options).value();
    const Report report = solved(solver, 2);
    EXPECT_EQ(report.factorize->scalar, ScalarType::float32);
    EXPECT_TRUE(report.verify->verified) << problem;
    EXPECT_LE(report.verify->backward_error, 1e-14) << problem;
    EXPECT_GE(report.verify->refine_steps, 1) << problem;
    EXPECT_THROW(solver.factor(), UsageError);
  }
  // Range beyond float: the scaling must bring 1e±60 inside.
  auto wide = Solver<double>::create(matrix_of<double>({{1e60, 0}, {1, 1e-60}}), options).value();
  EXPECT_TRUE(solved(wide, 1).verify->verified);
}

TEST(solver, mixed_precision_that_stalls_is_not_passed_off_as_solved) {
  // Hilbert's matrix of order 12 has condition 1.7e16: single precision does not resolve its small
  // eigenvalues, and one step of refinement gains nothing.
  std::vector<std::vector<double>> rows(12, std::vector<double>(12));
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) rows[i][j] = 1.0 / (i + j + 1);
  const auto hilbert = matrix_of<double>(rows);
  SolverOptions options = quiet_options();
  options.mixed_precision = true;
  options.kind = FactorKind::lu;
  auto solver = Solver<double>::create(hilbert, options).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(12, 1);
  DenseMatrix<double> x(12, 1);
  SolveRequest request;
  request.max_refine_steps = 0;
  const auto answer = solver.solve(b.view(), x.view(), request);
  if (!answer.ok()) {
    EXPECT_EQ(answer.failure().kind, FailureKind::numerically_singular);
    return;
  }
  EXPECT_FALSE(answer.value().verify->verified);
  EXPECT_GT(verify<double>(*hilbert, Operation::plain, b.view(), std::as_const(x).view()).backward_error,
            1e-14);
  EXPECT_NE(answer.value().notes.front().find("NOT VERIFIED"), std::string::npos);
}

TEST(solver, refinement_off_leaves_the_first_answer_and_counts_no_steps) {
  auto solver = Solver<double>::create(generated<double>("poisson2d5", 15), quiet_options()).value();
  SolveRequest request;
  request.max_refine_steps = 0;
  EXPECT_EQ(solved(solver, 1, request).verify->refine_steps, 0);
  request.max_refine_steps = 3;
  request.condition = true;
  const Report report = solved(solver, 1, request);
  EXPECT_LE(report.verify->refine_steps, 3);
  EXPECT_GT(*report.verify->condition_1norm, 1);
  EXPECT_GT(*report.verify->forward_error_bound, 0);
}

TEST(solver, user_ordering_is_used_and_a_wrong_size_is_refused) {
  SolverOptions options = quiet_options();
  options.ordering = OrderingMethod::user;
  options.user_ordering = Permutation({2, 0, 1});
  const auto matrix = matrix_of<double>({{4, 1, 0}, {1, 5, 2}, {0, 2, 6}});
  auto solver = Solver<double>::create(matrix, options).value();
  EXPECT_EQ(solver.report().order->method, OrderingMethod::user);
  EXPECT_TRUE(solved(solver, 1).verify->verified);
  options.user_ordering = Permutation({1, 0});
  EXPECT_THROW((void)Solver<double>::create(matrix, options).ok(), DimensionError);
}

TEST(solver, several_threads_may_solve_at_once) {
  const auto matrix = generated<double>("poisson2d9", 30);
  auto solver = Solver<double>::create(matrix, quiet_options(2)).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(900, 1);
  DenseMatrix<double> expected(900, 1);
  ASSERT_TRUE(solver.solve(b.view(), expected.view()).ok());
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 10; ++repeat) {
        DenseMatrix<double> x(900, 1);
        if (!solver.solve(b.view(), x.view()).ok() || x.values != expected.values) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(solver, refactorization_is_not_starved_by_a_stream_of_solves) {
  const auto matrix = generated<double>("poisson2d9", 20);
  auto solver = Solver<double>::create(matrix, quiet_options(1)).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(400, 1);
  std::atomic<bool> stop = false;
  std::atomic<int> unverified = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      while (!stop) {
        DenseMatrix<double> x(400, 1);
        if (!solver.solve(b.view(), x.view()).value().verify->verified) ++unverified;
      }
    });
  auto scaled = std::make_shared<SparseMatrix<double>>(*matrix);
  for (int step = 0; step < 20; ++step) {
    for (double& value : scaled->values) value *= 1.5;
    EXPECT_TRUE(solver.refactor(std::make_shared<SparseMatrix<double>>(*scaled)).ok());
    EXPECT_EQ(solver.report().factorize->kind, FactorKind::llt);
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(unverified.load(), 0);
}

TEST(solver, threads_that_would_come_too_late_are_left_out_and_the_report_says_so) {
  auto small = Solver<double>::create(generated<double>("poisson2d5", 10), quiet_options(2)).value();
  const Report report = solved(small, 1);
  EXPECT_EQ(report.factorize->threads, 1);
  EXPECT_EQ(report.solve->threads, 1);
  auto large = Solver<double>::create(generated<double>("poisson3d7", 16), quiet_options(2)).value();
  EXPECT_EQ(large.report().factorize->threads, 2);
}

TEST(choose_kind, follows_symmetry_and_diagonal_and_names_a_kind_that_fits) {
  using C = std::complex<double>;
  EXPECT_EQ(choose_kind(*matrix_of<double>({{2, 1}, {1, 2}})), FactorKind::llt);
  EXPECT_EQ(choose_kind(*matrix_of<double>({{2, 1}, {1, -2}})), FactorKind::ldlt);
  EXPECT_EQ(choose_kind(*matrix_of<double>({{2, 1}, {0, 2}})), FactorKind::lu);
  EXPECT_EQ(choose_kind(*matrix_of<C>({{C(2), C(0, 1)}, {C(0, -1), C(2)}})), FactorKind::llt);
  EXPECT_EQ(choose_kind(*matrix_of<C>({{C(2), C(0, 1)}, {C(0, 1), C(2)}})), FactorKind::ldlt);
  EXPECT_EQ(choose_kind(*matrix_of<double>({{0, 1}, {-1, 0}})), FactorKind::lu);  // skew
  EXPECT_THROW(choose_kind(*matrix_of<C>({{C(2), C(0, 1)}, {C(0, 1), C(2)}}), FactorKind::llt), UsageError);
}

TEST(solver, symmetry_that_is_promised_and_not_kept_is_refused_with_the_entries_that_differ) {
  auto lower_only = std::make_shared<SparseMatrix<double>>(*matrix_of<double>({{2, 0}, {-1, 2}}));
  lower_only->symmetry = Symmetry::symmetric;
  auto unequal = std::make_shared<SparseMatrix<double>>(*matrix_of<double>({{2, 0.5}, {-1, 2}}));
  unequal->symmetry = Symmetry::symmetric;
  for (const auto& matrix : {lower_only, unequal}) {
    try {
      (void)Solver<double>::create(matrix, quiet_options()).ok();
      FAIL() << "accepted";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("(2, 1)"), std::string::npos) << error.what();
    }
  }
  auto good = Solver<double>::create(matrix_of<double>({{2, -1}, {-1, 2}}), quiet_options()).value();
  auto worse = std::make_shared<SparseMatrix<double>>(*matrix_of<double>({{2, 0.5}, {-1, 2}}));
  worse->symmetry = Symmetry::symmetric;
  EXPECT_THROW((void)good.refactor(worse).ok(), UsageError);
  EXPECT_TRUE(solved(good, 1).verify->verified);
}

TEST(solver, overlapping_memory_of_solution_and_right_hand_side_does_no_harm) {
  const auto matrix = generated<double>("poisson2d5", 8);
  auto solver = Solver<double>::create(matrix, quiet_options()).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(64, 2);
  DenseMatrix<double> expected(64, 2), shared(64, 3);
  ASSERT_TRUE(solver.solve(b.view(), expected.view()).ok());
  std::copy(b.values.begin(), b.values.end(), shared.values.begin());
  const DenseView<double> first = shared.view().columns(0, 2), second = shared.view().columns(1, 2);
  EXPECT_TRUE(solver.solve(first, second).value().verify->verified);
  for (index_t j = 0; j < 2; ++j)
    for (index_t i = 0; i < 64; ++i) ASSERT_EQ(second(i, j), expected.view()(i, j));
}

TEST(solver, stated_number_of_refinement_steps_is_kept_even_where_it_stalls) {
  SolverOptions options = quiet_options();
  options.kind = FactorKind::lu;
  options.tiny_pivot = 0.3;  // replaces so many pivots that refinement cannot converge
  auto made = Solver<double>::create(generated<double>("random_unsymmetric", 80), options);
  ASSERT_TRUE(made.ok());
  Solver<double> solver = std::move(made).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(80, 1);
  DenseMatrix<double> x(80, 1);
  SolveRequest request;
  request.max_refine_steps = 3;
  const auto answer = solver.solve(b.view(), x.view(), request);
  ASSERT_TRUE(answer.ok());
  EXPECT_LE(answer.value().verify->refine_steps, 3);
}

TEST(solver, a_callback_may_ask_the_solver_during_any_phase) {
  const auto matrix = generated<double>("poisson2d5", 12);
  Solver<double>* asked = nullptr;
  int answers = 0;
  SolverOptions options = quiet_options();
  options.progress = [&](std::string_view, double) {
    if (asked != nullptr && asked->report().analyze->nnz_factor > 0 && asked->size() == 144) ++answers;
  };
  auto solver = Solver<double>::create(matrix, options).value();
  asked = &solver;
  EXPECT_TRUE(solver.refactor(matrix).ok());
  EXPECT_TRUE(solved(solver, 1).verify->verified);
  EXPECT_GT(answers, 0);
}

// Blocks of 64 right-hand sides share their memory with the last block, which has one: a chain has supernodes
// of one column in groups of thousands.
TEST(solver, a_last_block_of_one_right_hand_side_fits_into_the_memory_of_the_others) {
  for (const int threads : {1, 2}) {
    const auto chain = generated<double>("bidiagonal", 200000);
    auto solver = Solver<double>::create(chain, quiet_options(threads)).value();
    for (const index_t num_rhs : {65, 129}) EXPECT_TRUE(solved(solver, num_rhs).verify->verified) << num_rhs;
  }
}

TEST(solver, absurd_options_and_absent_matrices_are_misuse) {
  const auto matrix = matrix_of<double>({{1}});
  EXPECT_THROW((void)Solver<double>::create(nullptr, quiet_options()).ok(), UsageError);
  EXPECT_THROW((void)Solver<double>::create(matrix, quiet_options(2000000000)).ok(), UsageError);
  for (const double tiny : {-1.0, 1.0, double(NAN), double(INFINITY)}) {
    SolverOptions options = quiet_options();
    options.tiny_pivot = tiny;
    EXPECT_THROW((void)Solver<double>::create(matrix, options).ok(), UsageError) << tiny;
  }
  SolverOptions options = quiet_options();
  options.analyze.max_width = 0;
  EXPECT_THROW((void)Solver<double>::create(matrix, options).ok(), UsageError);
  auto solver = Solver<double>::create(matrix, quiet_options()).value();
  double value = 1;
  EXPECT_THROW((void)solver.solve({&value, 1, -1, 1}, {&value, 1, -1, 1}).ok(), DimensionError);
}

}  // namespace
}  // namespace palmette
