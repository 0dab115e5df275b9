// A + U·Vᵀ over ranks on the distributed factor of A: residuals in the dense sum, the same bits for any
// number of ranks and either input, and what all ranks refuse.
#include <gtest/gtest.h>

#include <mutex>

#include "rank_systems.hpp"
#include "tests/scalars.hpp"
#include "updates.hpp"

namespace palmette {
namespace {

using namespace testing;

/// x of op(A + U·Vᵀ)·x = b, put together from the rows of all ranks, and the report of the last.
template <class T>
struct UpdatedAnswer {
  DenseMatrix<T> x;
  UpdateReport report;
};

template <class T>
struct UpdatedProblem {
  Shared<T> matrix;
  DenseMatrix<T> u, v, b;

  UpdatedProblem(Shared<T> given, index_t rank, index_t num_rhs)
      : matrix(std::move(given)),
        u(some_right_hand_sides<T>(matrix->rows(), rank)),
        v(u),
        b(some_right_hand_sides<T>(matrix->rows(), num_rhs)) {
    for (T& value : v.values) value = value * value + T(1);
  }
};

template <class T>
UpdatedAnswer<T> answer_over_ranks(const UpdatedProblem<T>& problem, const RankSolverOptions& options,
                                   index_t ranks, bool by_rows, Operation operation = Operation::plain) {
  UpdatedAnswer<T> answer{DenseMatrix<T>(problem.b.rows, problem.b.cols), {}};
  std::mutex mutex;
  run_ranks(ranks, 11, [&](Transport& transport) {
    const OwnRows<T> own = uneven_rows_of(*problem.matrix, transport);
    auto solver = by_rows ? RankSolver<T>::create_from_rows(own.block(), options, transport).value()
                          : RankSolver<T>::create(problem.matrix, options, transport).value();
    const auto part = [&](const DenseMatrix<T>& whole) {
      return rows_of(whole, solver.first_row(), solver.num_rows());
    };
    auto updated = by_rows ? solver.update_rows(part(problem.u).view(), part(problem.v).view()).value()
                           : solver.update(columns_of(problem.u), columns_of(problem.v)).value();
    EXPECT_EQ(updated.num_rows(), solver.num_rows());
    DenseMatrix<T> x = part(problem.b);
    const UpdateReport report = updated.solve_rows(std::as_const(x).view(), x.view(), operation);
    const std::lock_guard lock(mutex);
    for (index_t column = 0; column < x.cols; ++column)
      std::copy_n(x.view().column(column), x.rows, answer.x.view().column(column) + solver.first_row());
    answer.report = report;
  });
  return answer;
}

template <class T>
DenseMatrix<T> column(const DenseMatrix<T>& all, index_t k) {
  DenseMatrix<T> one(all.rows, 1);
  std::copy_n(all.view().column(k), all.rows, one.values.begin());
  return one;
}

template <class T>
void expect_solved(const UpdatedProblem<T>& problem, Operation operation, const UpdatedAnswer<T>& answer) {
  EXPECT_TRUE(answer.report.verified) << answer.report.backward_error;
  double size = 0;
  for (const T& value : answer.x.values) size = std::max(size, double(std::abs(value)));
  for (index_t k = 0; k < answer.x.cols; ++k)
    EXPECT_LT(residual_of_updated(*problem.matrix, problem.u, problem.v, operation, column(problem.b, k),
                                  column(answer.x, k)),
              1e4 * unit_roundoff<T> * (1 + size));
}

template <class T>
class UpdatedRanks : public ::testing::Test {};
TYPED_TEST_SUITE(UpdatedRanks, TestedScalars);

TYPED_TEST(UpdatedRanks, solve_with_the_distributed_factor_of_every_kind) {
  using T = TypeParam;
  for (const auto& [name, n, kind] :
       {std::tuple("poisson2d5", 8, FactorKind::llt), std::tuple("kkt3d", 3, FactorKind::ldlt),
        std::tuple("convection_diffusion2d", 8, FactorKind::lu)}) {
    SCOPED_TRACE(name);
    const UpdatedProblem<T> problem(generated<T>(name, n), 3, 2);
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
      const bool by_rows = operation != Operation::plain;
      expect_solved(problem, operation, answer_over_ranks(problem, busy_ranks(kind), 3, by_rows, operation));
    }
  }
}

TEST(updated_ranks, have_the_same_bits_for_any_number_of_ranks_and_either_input) {
  const UpdatedProblem<double> problem(generated<double>("convection_diffusion2d", 11), 4, 1);
  std::optional<std::vector<double>> first;
  for (const index_t ranks : {1, 2, 3, 4, 7})
    for (const bool by_rows : {false, true}) {
      RankSolverOptions options = busy_ranks(FactorKind::lu);
      if (ranks == 7) options.grid = {1, 7};
      if (ranks == 3) options.map = PlacementMap::block_cyclic;
      const UpdatedAnswer<double> answer = answer_over_ranks(problem, options, ranks, by_rows);
      EXPECT_TRUE(answer.report.verified);
      EXPECT_GT(answer.report.flops, 0);
      EXPECT_GT(answer.report.memory_bytes, 0);
      if (!first) first = answer.x.values;
      EXPECT_TRUE(have_same_bits(*first, answer.x.values)) << ranks << " ranks, rows " << by_rows;
    }
}

TEST(updated_ranks, are_as_right_as_one_machine) {
  const UpdatedProblem<double> problem(generated<double>("poisson2d5", 13), 5, 3);
  auto alone = Solver<double>::create(problem.matrix, quiet_options()).value();
  const auto updated = alone.update(columns_of(problem.u), columns_of(problem.v)).value();
  DenseMatrix<double> x(problem.b.rows, problem.b.cols);
  const UpdateReport expected = updated.solve(problem.b.view(), x.view());
  const UpdatedAnswer<double> answer = answer_over_ranks(problem, busy_ranks(FactorKind::llt), 4, true);
  EXPECT_LE(answer.report.backward_error, 10 * expected.backward_error + 1e-15);
  EXPECT_EQ(answer.report.bound, expected.bound);
  EXPECT_EQ(answer.report.rank, 5);
  for (std::size_t k = 0; k < x.values.size(); ++k) EXPECT_NEAR(answer.x.values[k], x.values[k], 1e-10);
}

TEST(updated_ranks, work_over_layers_with_more_ranks_than_rows_and_no_columns) {
  RankSolverOptions options = busy_ranks(FactorKind::lu);
  options.layers = 3;
  for (const auto method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d}) {
    options.layered_method = method;
    const UpdatedProblem<double> problem(generated<double>("convection_diffusion2d", 9), 2, 1);
    expect_solved(problem, Operation::plain, answer_over_ranks(problem, options, 3, true));
  }
  options.layers = 1;
  const UpdatedProblem<double> small(matrix_of<double>({{4, 1}, {2, 3}}), 1, 1);
  expect_solved(small, Operation::plain, answer_over_ranks(small, options, 7, true));
  const UpdatedProblem<double> none(generated<double>("poisson2d5", 5), 0, 1);
  expect_solved(none, Operation::plain, answer_over_ranks(none, options, 2, false));
}

TEST(updated_ranks, are_a_verified_failure_where_the_change_makes_the_matrix_singular) {
  // I − e₀·e₀ᵀ
  const auto identity = matrix_of<double>({{1, 0}, {0, 1}});
  DenseMatrix<double> u(2, 1), v(2, 1);
  u.values = {1, 0};
  v.values = {-1, 0};
  std::vector<std::string> said(3);
  ThreadWorld world(3);
  world.run([&](Transport& transport) {
    auto solver = RankSolver<double>::create(identity, busy_ranks(FactorKind::llt), transport).value();
    const auto updated = solver.update(columns_of(u), columns_of(v));
    ASSERT_FALSE(updated.ok());
    EXPECT_EQ(updated.failure().kind, FailureKind::numerically_singular);
    said[transport.rank()] = updated.failure().message;
  });
  EXPECT_NE(said[0].find("capacitance matrix of order 1"), std::string::npos);
  EXPECT_EQ(said, std::vector<std::string>(3, said[0]));
}

TEST(updated_ranks, survive_their_solver_and_new_values) {
  const UpdatedProblem<double> problem(generated<double>("poisson2d5", 6), 1, 1);
  ThreadWorld world(3);
  world.run([&](Transport& transport) {
    DenseMatrix<double> before(36, 1), after(36, 1);
    std::optional<UpdatedRankSolver<double>> updated;
    {
      auto solver =
          RankSolver<double>::create(problem.matrix, busy_ranks(FactorKind::llt), transport).value();
      updated = solver.update(columns_of(problem.u), columns_of(problem.v)).value();
      (void)updated->solve(problem.b.view(), before.view());
      SparseMatrix<double> doubled = *problem.matrix;
      for (double& value : doubled.values) value *= 2;
      ASSERT_TRUE(solver.refactor(std::make_shared<const SparseMatrix<double>>(doubled)).ok());
    }
    (void)updated->solve(problem.b.view(), after.view());
    EXPECT_EQ(before.values, after.values);
  });
}

TEST(updated_ranks, refuse_wrong_sizes_and_values_on_all_ranks) {
  const auto matrix = generated<double>("poisson2d5", 3);
  const DenseMatrix<double> one = some_right_hand_sides<double>(9, 1),
                            two = some_right_hand_sides<double>(9, 2),
                            low = some_right_hand_sides<double>(8, 1);
  DenseMatrix<double> bad = one;
  bad.values[4] = infinity;
  const auto said = [&](const DenseMatrix<double>& u, const DenseMatrix<double>& v, index_t wrong_rank) {
    return said_by_all<UsageError>(3, [&](Transport& transport) {
      auto solver = RankSolver<double>::create(matrix, busy_ranks(FactorKind::llt), transport).value();
      const bool wrong = wrong_rank < 0 || transport.rank() == wrong_rank;
      (void)solver.update_rows((wrong ? u : one).view(), (wrong ? v : one).view());
    });
  };
  EXPECT_EQ(said(one, one, -1), "");
  EXPECT_NE(said(one, two, 1).find("rank 1: U is 9 x 1 and V is 9 x 2"), std::string::npos);
  EXPECT_NE(said(low, low, 2).find("rank 2: U is 8 x 1"), std::string::npos);
  EXPECT_NE(said(two, two, 0).find("rank 1: U has 1 columns, but on another rank 2"), std::string::npos);
  EXPECT_NE(said(one, bad, -1).find("rank 0: "), std::string::npos);
}

}  // namespace
}  // namespace palmette
