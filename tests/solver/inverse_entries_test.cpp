// Entries of the inverse through the hall: on and off the pattern of the factor, checked, by every number of
// threads.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "palmette/solver/solver.hpp"

namespace palmette {
namespace {

std::shared_ptr<const SparseMatrix<double>> generated(const char* problem, index_t n) {
  GenerateOptions what;
  what.problem = problem;
  what.n = n;
  return std::make_shared<const SparseMatrix<double>>(generate(what));
}

Solver<double> solver_of(const char* problem, index_t n) {
  SolverOptions options;
  options.measure = false;
  return Solver<double>::create(generated(problem, n), options).value();
}

/// Column of A⁻¹.
std::vector<double> solved_column(Solver<double>& solver, index_t column) {
  DenseMatrix<double> z(solver.size(), 1);
  z.view()(column, 0) = 1;
  EXPECT_TRUE(static_cast<bool>(solver.solve(std::as_const(z).view(), z.view())));
  return z.values;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

TEST(inverse_entries, agree_with_solves_for_every_kind_of_problem) {
  for (const auto& [problem, n] : {std::pair("poisson3d7", 12), std::pair("kkt3d", 8),
                                   std::pair("convection_diffusion2d", 30), std::pair("elasticity3d", 6)}) {
    SCOPED_TRACE(problem);
    Solver<double> solver = solver_of(problem, n);
    const auto diagonal = inverse_diagonal(solver);
    ASSERT_TRUE(static_cast<bool>(diagonal));
    EXPECT_TRUE(diagonal.value().report.verified);
    EXPECT_EQ(diagonal.value().report.checked_columns, 3);
    for (const index_t column : {0, solver.size() / 2, solver.size() - 1}) {
      const std::vector<double> z = solved_column(solver, column);
      EXPECT_NEAR(diagonal.value().values[column], z[column], 1e-9 * largest(z)) << column;
    }
  }
}

TEST(inverse_entries, off_the_pattern_are_solved_for) {
  Solver<double> solver = solver_of("poisson2d5", 12);
  const index_t n = solver.size();
  std::vector<index_t> rows, columns;
  for (index_t i = 0; i < n; i += 7)
    for (index_t j = 0; j < n; j += 11) rows.push_back(i), columns.push_back(j);
  rows.push_back(rows.front()), columns.push_back(columns.front());
  const auto entries = inverse_entries<double>(solver, rows, columns);
  ASSERT_TRUE(static_cast<bool>(entries));
  EXPECT_GT(entries.value().report.solved_columns, 0);
  EXPECT_TRUE(entries.value().report.verified);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::vector<double> z = solved_column(solver, columns[k]);
    EXPECT_NEAR(entries.value().values[k], z[rows[k]], 1e-12 * largest(z));
  }
}

// Supernodes with many rows below have several tasks.
TEST(inverse_entries, have_the_same_bits_for_any_number_of_threads) {
  const Solver<double> solver = solver_of("poisson3d27", 14);
  const auto factor = solver.factor();
  index_t shared = 0;
  for (index_t s = 0; s < factor->symbolic->num_supernodes(); ++s)
    shared += factor->symbolic->num_rows_below(s) >= 256 && factor->symbolic->width(s) > 64;
  EXPECT_GT(shared, 0);
  const SelectedInverse<double> alone = select_inverse(*factor);
  for (int threads = 2; threads <= 4; ++threads) {
    ThreadTeam team(threads);
    const SelectedInverse<double> by_team = select_inverse(*factor, &team);
    EXPECT_EQ(std::memcmp(by_team.lower.data(), alone.lower.data(), alone.lower.bytes()), 0) << threads;
  }
}

TEST(inverse_entries, of_a_singular_matrix_fail_as_its_solves_do) {
  GenerateOptions what;
  what.problem = "poisson2d5";
  what.n = 8;
  SparseMatrix<double> matrix = generate(what);
  // Rows sum to zero: the constant vector is in the null space.
  for (index_t j = 0; j < matrix.cols(); ++j) {
    double sum = 0;
    offset_t diagonal = -1;
    for (offset_t k = matrix.pattern.column_ptr[j]; k < matrix.pattern.column_ptr[j + 1]; ++k)
      if (matrix.pattern.row_index[k] == j)
        diagonal = k;
      else
        sum += matrix.values[k];
    matrix.values[diagonal] = -sum;
  }
  SolverOptions options;
  options.measure = false;
  auto solver = Solver<double>::create(std::make_shared<const SparseMatrix<double>>(matrix), options);
  if (!solver) return;  // refused when it was factored
  EXPECT_FALSE(static_cast<bool>(inverse_diagonal(solver.value())));
}

TEST(inverse_entries, outside_the_matrix_are_refused) {
  Solver<double> solver = solver_of("poisson2d5", 4);
  const std::vector<index_t> inside{0, 1}, outside{0, 16}, one{0};
  EXPECT_THROW(inverse_entries<double>(solver, inside, outside), UsageError);
  EXPECT_THROW(inverse_entries<double>(solver, inside, one), DimensionError);
}

TEST(inverse_entries, by_columns_are_those_of_supernodes) {
  Solver<double> solver = solver_of("circuit", 400);
  const auto diagonal = inverse_diagonal(solver);
  ASSERT_TRUE(static_cast<bool>(diagonal));
  EXPECT_TRUE(diagonal.value().report.verified) << diagonal.value().report.difference;
}

}  // namespace
}  // namespace palmette
