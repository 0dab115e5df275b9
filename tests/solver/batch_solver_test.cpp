// Batches: every system gets the x that it would get alone, with a backward error of its own.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "systems.hpp"

namespace palmette {
namespace {

using testing::generated;
using testing::matrix_of;
using testing::some_right_hand_sides;

/// Systems with values that differ by up to a quarter, equal in mirrored places, and right-hand sides.
template <class T>
struct Batch {
  Batch(testing::Shared<T> first, index_t systems, index_t rhs)
      : pattern(first->pattern), count(systems), num_rhs(rhs) {
    const auto nnz = static_cast<std::size_t>(pattern.nnz());
    for (index_t system = 0; system < count; ++system)
      for (index_t j = 0; j < pattern.cols; ++j)
        for (offset_t entry = pattern.column_ptr[j]; entry < pattern.column_ptr[j + 1]; ++entry) {
          const index_t i = pattern.row_index[entry];
          const int turn = (system * 7 + (i + 1) * (j + 1)) % 11;
          values.push_back(first->values[entry] * real_t<T>(i == j ? 1.25 : 1 - 0.02 * turn));
        }
    b = some_right_hand_sides<T>(pattern.cols, count * num_rhs).values;
    x.resize(b.size());
    EXPECT_EQ(values.size(), nnz * count);
  }
  BatchReport solve(const BatchSolver<T>& solver) {
    const offset_t n = pattern.cols, block = n * num_rhs;
    return solver.solve({values.data(), pattern.nnz(), 1, 0}, {b.data(), block, 1, n},
                        {x.data(), block, 1, n}, count, num_rhs);
  }
  SparseMatrix<T> matrix(index_t system) const {
    const T* const begin = values.data() + pattern.nnz() * system;
    return {pattern, std::vector<T>(begin, begin + pattern.nnz())};
  }
  /// ‖b − Ax‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞), the worst of the system's right-hand sides, by the verification of
  /// `refine`
  double backward_error(index_t system) const {
    const index_t n = pattern.cols;
    const T* const own = b.data() + offset_t{n} * num_rhs * system;
    const T* const own_x = x.data() + offset_t{n} * num_rhs * system;
    return verify<T>(matrix(system), Operation::plain, {own, n, num_rhs, n}, {own_x, n, num_rhs, n})
        .backward_error;
  }

  SparsityPattern pattern;
  index_t count, num_rhs;
  std::vector<T> values, b, x;
};

BatchOptions on_threads(int threads, std::optional<FactorKind> kind = {}) {
  BatchOptions options;
  options.threads = threads;
  options.kind = kind;
  return options;
}

/// The first column is eliminated first.
BatchOptions in_natural_order() {
  BatchOptions options = on_threads(1);
  options.ordering = OrderingMethod::natural;
  return options;
}

template <class T>
void expect_solved(const char* problem, index_t n, std::optional<FactorKind> kind, FactorKind chosen) {
  SCOPED_TRACE(problem);
  const auto first = generated<T>(problem, n);
  Batch<T> batch(first, 37, 2);
  const auto solver = BatchSolver<T>::create(first, on_threads(1, kind)).value();
  const BatchReport report = batch.solve(solver);
  EXPECT_EQ(report.kind, chosen);
  EXPECT_TRUE(report.verified());
  EXPECT_EQ(report.num_alone, 0);
  for (index_t system = 0; system < batch.count; ++system) {
    EXPECT_EQ(report.state[system], BatchState::solved);
    const double error = batch.backward_error(system);
    EXPECT_LE(error, report.bound) << system;
    // complex moduli are taken up to √2 too large or too small; the residual is of working precision
    EXPECT_LE(error, 2 * report.backward_error[system] + 20 * unit_roundoff<T>) << system;
  }
}

TEST(batch_solver, solves_every_kind_and_scalar) {
  expect_solved<double>("poisson2d9", 7, {}, FactorKind::ldlt);
  expect_solved<double>("poisson2d9", 7, FactorKind::llt, FactorKind::llt);
  expect_solved<double>("convection_diffusion2d", 8, {}, FactorKind::lu);
  expect_solved<float>("convection_diffusion2d", 6, {}, FactorKind::lu);
  expect_solved<std::complex<double>>("poisson2d5", 6, FactorKind::ldlt, FactorKind::ldlt);
  expect_solved<std::complex<float>>("convection_diffusion2d", 5, FactorKind::lu, FactorKind::lu);
}

TEST(batch_solver, solves_hermitian_and_complex_symmetric_systems) {
  using C = std::complex<double>;
  // The second is symmetric, not Hermitian.
  for (const auto& rows :
       {std::vector<std::vector<C>>{{4, C(1, 2)}, {C(1, -2), 5}}, {{C(4, 1), C(1, 2)}, {C(1, 2), 5}}}) {
    const auto first = matrix_of<C>(rows);
    Batch<C> batch(first, 9, 1);
    const BatchReport report = batch.solve(BatchSolver<C>::create(first, on_threads(1)).value());
    EXPECT_EQ(report.kind, FactorKind::ldlt);
    EXPECT_TRUE(report.verified());
    EXPECT_EQ(report.num_alone, 0);
    for (index_t system = 0; system < 9; ++system) EXPECT_LE(batch.backward_error(system), report.bound);
  }
}

TEST(batch_solver, gives_a_system_the_same_bits_in_any_company_and_by_any_number_of_threads) {
  const auto first = generated<double>("convection_diffusion2d", 6);
  Batch<double> batch(first, 300, 1);
  batch.solve(BatchSolver<double>::create(first, on_threads(1)).value());
  const std::vector<double> alone = batch.x;
  for (const int threads : {2, 3, 8}) {
    batch.solve(BatchSolver<double>::create(first, on_threads(threads)).value());
    EXPECT_EQ(batch.x, alone) << threads;
  }
  // From the fourth system on, everything lies in other lanes.
  const offset_t nnz = first->nnz(), n = first->cols();
  batch.values.erase(batch.values.begin(), batch.values.begin() + 3 * nnz);
  batch.b.erase(batch.b.begin(), batch.b.begin() + 3 * n);
  batch.count -= 3;
  batch.solve(BatchSolver<double>::create(first, on_threads(1)).value());
  EXPECT_TRUE(std::equal(batch.x.begin(), batch.x.begin() + batch.count * n, alone.begin() + 3 * n));
}

TEST(batch_solver, takes_interleaved_systems_and_x_in_the_memory_of_b) {
  const auto first = generated<double>("poisson2d5", 4);
  Batch<double> batch(first, 10, 1);
  const auto solver = BatchSolver<double>::create(first, on_threads(1)).value();
  batch.solve(solver);
  const offset_t n = first->cols(), nnz = first->nnz();
  std::vector<double> values(batch.values.size()), b(batch.b.size());
  for (offset_t system = 0; system < 10; ++system) {
    for (offset_t entry = 0; entry < nnz; ++entry)
      values[entry * 10 + system] = batch.values[system * nnz + entry];
    for (offset_t row = 0; row < n; ++row) b[row * 10 + system] = batch.b[system * n + row];
  }
  EXPECT_TRUE(
      solver.solve({values.data(), 1, 10, 0}, {b.data(), 1, 10, 0}, {b.data(), 1, 10, 0}, 10).verified());
  for (offset_t system = 0; system < 10; ++system)
    for (offset_t row = 0; row < n; ++row) EXPECT_EQ(b[row * 10 + system], batch.x[system * n + row]);
}

// [a b; c d] with values that elimination in place cannot treat.
TEST(batch_solver, says_of_each_system_what_became_of_it) {
  const auto first = matrix_of<double>({{4, 1}, {2, 3}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // by columns: regular; needs an exchange; singular; not finite; zero
  const std::vector<double> values = {4, 2, 1, 3, 0, 2, 1, 3, 1, 2, 2, 4, 1, nan, 1, 1, 0, 0, 0, 0};
  const std::vector<double> b = {5, 5, 1, 5, 1, 1, 1, 1, 1, 1};  // x = (1, 1) of the first two
  std::vector<double> x(10, 7);
  BatchOptions options = in_natural_order();
  const auto solve = [&] {
    return BatchSolver<double>::create(first, options)
        .value()
        .solve({values.data(), 4, 1, 0}, {b.data(), 2, 1, 0}, {x.data(), 2, 1, 0}, 5);
  };
  BatchReport report = solve();
  EXPECT_EQ(report.state,
            (std::vector<BatchState>{BatchState::solved, BatchState::solved_alone, BatchState::singular,
                                     BatchState::not_finite, BatchState::singular}));
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(x[k], 1, 1e-14);
  for (int k = 4; k < 10; ++k) EXPECT_TRUE(std::isnan(x[k])) << k;
  EXPECT_EQ(report.num_alone, 1);
  EXPECT_EQ(report.num_failed, 3);
  EXPECT_FALSE(report.verified());
  EXPECT_EQ(report.bad_column[0], -1);
  EXPECT_GE(report.bad_column[1], 0);
  EXPECT_EQ(report.notes.back(), "3 systems were not solved, the first is system 2: singular");
  options.solve_alone = false;
  report = solve();
  EXPECT_EQ(report.state[0], BatchState::solved);
  EXPECT_EQ(report.state[1], BatchState::singular);
}

TEST(batch_solver, refuses_systems_that_are_not_definite_each_by_itself) {
  const auto first = matrix_of<double>({{4, 1}, {1, 3}});
  const std::vector<double> values = {4, 1, 1, 3, 1, 2, 2, 1, 2, 0, 0, 2};
  const std::vector<double> b = {5, 4, 3, 3, 2, 2};
  std::vector<double> x(6);
  const auto solve = [&](FactorKind kind) {
    return BatchSolver<double>::create(first, on_threads(1, kind))
        .value()
        .solve({values.data(), 4, 1, 0}, {b.data(), 2, 1, 0}, {x.data(), 2, 1, 0}, 3);
  };
  EXPECT_EQ(solve(FactorKind::llt).state,
            (std::vector<BatchState>{BatchState::solved, BatchState::not_definite, BatchState::solved}));
  EXPECT_EQ(x[0], 1);
  EXPECT_TRUE(std::isnan(x[2]));
  EXPECT_EQ(x[4], 1);
  EXPECT_TRUE(solve(FactorKind::ldlt).verified());  // indefinite, and regular
  EXPECT_NEAR(x[2], 1, 1e-14);
}

TEST(batch_solver, corrects_solutions_that_elimination_in_place_left_inaccurate) {
  // The pivot 1e-9 costs nine digits, which corrections bring back.
  const auto first = matrix_of<double>({{4, 1}, {2, 3}});
  const std::vector<double> values = {4, 2, 1, 3, 1e-9, 2, 1, 3};
  const std::vector<double> b = {5, 5, 1, 5};
  std::vector<double> x(4);
  BatchOptions options = in_natural_order();
  options.solve_alone = false;
  const BatchReport report =
      BatchSolver<double>::create(first, options)
          .value()
          .solve({values.data(), 4, 1, 0}, {b.data(), 2, 1, 0}, {x.data(), 2, 1, 0}, 2);
  EXPECT_TRUE(report.verified());
  EXPECT_EQ(report.num_refined, 1);
  EXPECT_NEAR(x[2], 1 + 1.5e-9, 1e-12);  // 2·x₁ = 5 − 3·x₂ with x₂ = 1 − 1e-9·x₁
}

TEST(batch_solver, corrects_a_system_and_leaves_the_bits_of_its_neighbours) {
  const auto first = generated<double>("convection_diffusion2d", 6);
  BatchOptions options = in_natural_order();
  options.solve_alone = false;
  const auto solver = BatchSolver<double>::create(first, options).value();
  Batch<double> plain(first, 8, 1), mixed(first, 8, 1);
  mixed.values[3 * first->nnz()] = 1e-9;  // the first pivot of system 3
  EXPECT_EQ(plain.solve(solver).num_refined, 0);
  const BatchReport report = mixed.solve(solver);
  EXPECT_EQ(report.num_refined, 1);
  EXPECT_TRUE(report.verified());
  EXPECT_LE(mixed.backward_error(3), report.backward_error[3] + 20 * unit_roundoff<double>);
  EXPECT_GT(report.backward_error[3], 0);
  const auto n = static_cast<std::size_t>(first->rows());
  for (std::size_t system = 0; system < 8; ++system)
    EXPECT_EQ(std::memcmp(&plain.x[system * n], &mixed.x[system * n], n * sizeof(double)) == 0, system != 3)
        << system;
}

TEST(batch_solver, has_empty_batches_and_refuses_what_does_not_fit) {
  const auto first = matrix_of<double>({{4, 1}, {2, 3}});
  const auto solver = BatchSolver<double>::create(first, on_threads(1)).value();
  EXPECT_TRUE(solver.solve({}, {}, {}, 0).verified());
  EXPECT_THROW(solver.solve({}, {}, {}, 1), UsageError);
  EXPECT_THROW(solver.solve({}, {}, {}, -1), UsageError);
  EXPECT_THROW(BatchSolver<double>::create(first, on_threads(1, FactorKind::ldlt)), UsageError);
  const auto none = BatchSolver<double>::create(matrix_of<double>({}), on_threads(1)).value();
  EXPECT_TRUE(none.solve({}, {}, {}, 3).verified());
}

}  // namespace
}  // namespace palmette
