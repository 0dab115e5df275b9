// Solves for single entries: those of whole solutions, by every engine, for every kind of factor, and what
// is visited.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "palmette/solver/entry_check.hpp"
#include "palmette/solver/solver.hpp"
#include "tests/scalars.hpp"
#include "tests/solver/sparse_systems.hpp"

namespace palmette {
namespace {

using testing::dense_of;
using testing::generated;
using testing::some_rows;
using testing::sparse_columns;

struct Case {
  const char* problem;
  index_t n;
  FactorKind kind;
};
constexpr Case all_cases[] = {{"poisson3d7", 10, FactorKind::llt},
                              {"poisson2d9", 30, FactorKind::llt},
                              {"kkt3d", 7, FactorKind::ldlt},
                              {"convection_diffusion2d", 24, FactorKind::lu}};

template <class T>
Solver<T> solver_of(const Case& one, SolverOptions options = {}) {
  options.measure = false;
  options.kind = one.kind;
  // By supernodes, which the bits of single entries are those of, however thin the factor is.
  if (options.method == SolveMethod::automatic) options.method = SolveMethod::serial;
  auto made = Solver<T>::create(testing::with_imaginary_entries(generated<T>(one.problem, one.n)), options);
  EXPECT_TRUE(static_cast<bool>(made));
  return std::move(made).value();
}

/// Largest difference from the unrefined whole solution, which must be none.
template <class T>
void expect_entries_of_whole_solutions(Solver<T>& solver, Operation operation, const SparseMatrix<T>& b,
                                       std::span<const index_t> wanted) {
  EntryRequest request;
  request.operation = operation;
  const auto solved = solver.solve_entries(b, wanted, request);
  ASSERT_TRUE(static_cast<bool>(solved));
  const EntryReport& report = solved.value().report;
  EXPECT_TRUE(report.verified) << report.backward_error;
  EXPECT_FALSE(report.solved_whole);
  DenseMatrix<T> x = dense_of(b);
  SolveRequest whole;
  whole.operation = operation;
  whole.max_refine_steps = 0;
  ASSERT_TRUE(static_cast<bool>(solver.solve(std::as_const(x).view(), x.view(), whole)));
  for (index_t j = 0; j < b.cols(); ++j)
    for (std::size_t k = 0; k < wanted.size(); ++k)
      ASSERT_EQ(solved.value().x.view()(static_cast<index_t>(k), j), x.view()(wanted[k], j))
          << "row " << wanted[k] << " column " << j;
}

template <class T>
class EntrySolve : public ::testing::Test {};
TYPED_TEST_SUITE(EntrySolve, TestedScalars);

TYPED_TEST(EntrySolve, gives_the_entries_of_whole_solutions_for_every_kind_and_operation) {
  for (const Case& one : all_cases) {
    SCOPED_TRACE(one.problem);
    Solver<TypeParam> solver = solver_of<TypeParam>(one);
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint})
      for (const index_t columns : {1, 2, 5}) {
        const auto b = sparse_columns<TypeParam>(solver.size(), columns, 2, 7);
        expect_entries_of_whole_solutions(solver, operation, b, some_rows(solver.size(), 4, 3));
      }
  }
}

// More right-hand sides than one block, in an order of branches that is not theirs.
TEST(entry_solve, many_columns_keep_their_places) {
  Solver<double> solver = solver_of<double>(all_cases[1]);
  const auto b = sparse_columns<double>(solver.size(), 150, 1, 5);
  std::vector<index_t> all(solver.size());
  std::iota(all.begin(), all.end(), 0);
  expect_entries_of_whole_solutions<double>(solver, Operation::plain, b, some_rows(solver.size(), 9, 1));
  const auto solved = solver.solve_entries(b, all);
  DenseMatrix<double> x = dense_of(b);
  ASSERT_TRUE(static_cast<bool>(solver.solve(std::as_const(x).view(), x.view())));
  for (index_t j = 0; j < b.cols(); ++j)
    for (index_t i = 0; i < solver.size(); ++i)
      ASSERT_NEAR(solved.value().x.view()(i, j), x.view()(i, j), 1e-12);
}

TEST(entry_solve, has_the_same_entries_by_every_engine_and_number_of_threads) {
  for (const Case& one : all_cases)
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine))
      for (const int threads : {1, 2, 3}) {
        SolverOptions options;
        options.method = method.method;
        options.threads = threads;
        options.analyze.max_width = 8;  // more tasks
        Solver<double> solver = solver_of<double>(one, options);
        const auto b = sparse_columns<double>(solver.size(), 4, 3, 11);
        SCOPED_TRACE(method.name);
        expect_entries_of_whole_solutions<double>(solver, Operation::plain, b,
                                                  some_rows(solver.size(), 5, 2));
      }
}

/// `columns` right-hand sides with one entry each, all in the same row.
SparseMatrix<double> columns_of_row(index_t n, index_t row, index_t columns) {
  Triplets<double> entries{n, columns, std::vector<index_t>(columns, row), std::vector<index_t>(columns),
                           std::vector<double>(columns, 1.0)};
  std::iota(entries.column.begin(), entries.column.end(), 0);
  return from_triplets(entries);
}

// What an earlier solve left in the workspace must not be taken for zeros, by right-hand sides that are kept
// apart and by those that lie side by side.
TEST(entry_solve, does_not_read_what_earlier_solves_left) {
  SolverOptions options;
  options.analyze.max_width = 4;  // chains of groups, whose boundaries lie in one place
  for (const index_t columns : {3, 9}) {
    Solver<double> solver = solver_of<double>(all_cases[1], options);
    const index_t n = solver.size();
    for (int turn = 0; turn < 20; ++turn) {
      DenseMatrix<double> x(n, columns);
      std::fill(x.values.begin(), x.values.end(), 1e30);
      ASSERT_TRUE(static_cast<bool>(solver.solve(std::as_const(x).view(), x.view())));
      const auto seed = static_cast<std::uint64_t>(turn);
      for (const auto& b : {sparse_columns<double>(n, columns, 1, seed),
                            columns_of_row(n, some_rows(n, 1, seed)[0], columns)})
        expect_entries_of_whole_solutions<double>(solver, Operation::plain, b, some_rows(n, 2, seed));
    }
  }
}

TEST(entry_solve, reads_the_path_to_the_root_and_not_the_factor) {
  Solver<double> solver = solver_of<double>({"poisson2d5", 150, FactorKind::llt});
  const index_t n = solver.size();
  SparseMatrix<double> b = from_triplets(Triplets<double>{n, 1, {n / 3}, {0}, {1.0}});
  EntryRequest unchecked;
  unchecked.check = false;
  const auto one = solver.solve_entries(b, std::vector<index_t>{n / 3}, unchecked);
  EXPECT_LT(one.value().report.bytes, 0.2 * one.value().report.whole_bytes);
  EXPECT_GT(one.value().report.bytes, 0);
  EXPECT_FALSE(one.value().report.verified);
  std::vector<index_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  const auto every = solver.solve_entries(b, all, unchecked);
  EXPECT_GT(every.value().report.bytes, 0.45 * every.value().report.whole_bytes);
  const auto none = solver.solve_entries(b, {}, unchecked);
  EXPECT_EQ(none.value().x.values.size(), 0u);
}

// 2·x0 + 3·x2 = 7 in a matrix whose row is not its column.
TEST(entry_solve, the_error_of_an_equation_is_what_it_lacks) {
  const auto a = testing::matrix_of<double>({{2, 0, 3}, {1, 5, 0}, {0, 0, 4}});
  TransposeOnDemand<double> transposed;
  const auto equations = EquationRows<double>::of(*a, Symmetry::general, Operation::plain, transposed);
  const std::vector<index_t> rows{0}, b_row{0, 1};
  const std::vector<double> b_value{7, 100};
  const std::vector<index_t> unknown = unknowns_of(equations.columns.pattern, rows);
  EXPECT_EQ(unknown, (std::vector<index_t>{0, 2}));
  const std::vector<double> right{2, 1}, wrong{2, 1.5}, broken{2, std::nan("")};
  EXPECT_EQ(error_of_equations<double>(equations, rows, {b_row, b_value, unknown, right.data()}), 0);
  EXPECT_DOUBLE_EQ(error_of_equations<double>(equations, rows, {b_row, b_value, unknown, wrong.data()}),
                   1.5 / (5 * 2 + 7));
  EXPECT_TRUE(std::isinf(
      error_of_equations<double>(equations, rows, {b_row, b_value, unknown, broken.data()})));
}

// An adjoint's rows are conjugated columns, and a Hermitian matrix's own rows too.
TEST(entry_solve, equations_of_adjoints_are_conjugated) {
  using Complex = std::complex<double>;
  const auto a = testing::matrix_of<Complex>({{Complex(0, 1)}});
  TransposeOnDemand<Complex> transposed;
  const std::vector<index_t> row{0};
  const std::vector<Complex> b{1}, x{Complex(0, 1)};  // conj(i)·i = 1
  for (const auto& [symmetry, operation] :
       {std::pair(Symmetry::general, Operation::adjoint), std::pair(Symmetry::hermitian, Operation::plain)}) {
    const auto equations = EquationRows<Complex>::of(*a, symmetry, operation, transposed);
    EXPECT_EQ(error_of_equations<Complex>(equations, row, {row, b, row, x.data()}), 0);
  }
}

// Factors in single precision are too far from A.
TEST(entry_solve, mixed_precision_is_solved_whole) {
  SolverOptions options;
  options.mixed_precision = true;
  Solver<double> mixed = solver_of<double>(all_cases[0], options);
  const auto b = sparse_columns<double>(mixed.size(), 2, 3, 1);
  const auto wanted = some_rows(mixed.size(), 5, 1);
  const auto solved = mixed.solve_entries(b, wanted);
  ASSERT_TRUE(static_cast<bool>(solved));
  EXPECT_TRUE(solved.value().report.solved_whole);
  EXPECT_TRUE(solved.value().report.verified);
  ASSERT_EQ(solved.value().report.notes.size(), 1u);
  DenseMatrix<double> x = dense_of(b);
  ASSERT_TRUE(static_cast<bool>(mixed.solve(std::as_const(x).view(), x.view())));
  for (std::size_t k = 0; k < wanted.size(); ++k)
    EXPECT_NEAR(solved.value().x.view()(static_cast<index_t>(k), 1), x.view()(wanted[k], 1), 1e-12);
}

TEST(entry_solve, follows_new_values) {
  Solver<double> solver = solver_of<double>(all_cases[3]);
  const auto b = sparse_columns<double>(solver.size(), 3, 2, 4);
  const auto wanted = some_rows(solver.size(), 4, 8);
  expect_entries_of_whole_solutions<double>(solver, Operation::plain, b, wanted);
  std::vector<double> values = solver.matrix()->values;
  for (std::size_t k = 0; k < values.size(); ++k) values[k] *= 1 + 0.01 * static_cast<double>(k % 7);
  ASSERT_TRUE(static_cast<bool>(solver.refactor_values(values)));
  expect_entries_of_whole_solutions<double>(solver, Operation::plain, b, wanted);
}

TEST(entry_solve, refuses_what_does_not_fit) {
  Solver<double> solver = solver_of<double>(all_cases[0]);
  const index_t n = solver.size();
  const auto b = sparse_columns<double>(n, 2, 3, 1);
  EXPECT_THROW((void)solver.solve_entries(b, std::vector<index_t>{n}), UsageError);
  EXPECT_THROW((void)solver.solve_entries(b, std::vector<index_t>{-1}), UsageError);
  EXPECT_THROW((void)solver.solve_entries(sparse_columns<double>(n + 1, 2, 3, 1), {}), DimensionError);
  SparseMatrix<double> bad = b;
  bad.values[0] = std::nan("");
  EXPECT_THROW((void)solver.solve_entries(bad, std::vector<index_t>{0}), UsageError);
}

// A plan of own factors has no branches that it knows of.
TEST(entry_solve, of_own_factors_are_rows_of_whole_solves) {
  const auto lower = std::make_shared<const SparseMatrix<double>>(
      from_triplets(Triplets<double>{3, 3, {0, 1, 2, 1, 2}, {0, 1, 2, 0, 1}, {2, 2, 2, 1, 1}}));
  const auto plan = plan_triangle(*lower);
  const auto b = from_triplets(Triplets<double>{3, 1, {0}, {0}, {8.0}});
  DenseMatrix<double> x(1, 1);
  const std::vector<index_t> wanted{2}, columns{0};
  const EntryTrace trace = plan.value().solve_entries(Operation::plain, b, {columns, wanted}, x.view());
  EXPECT_EQ(x.values[0], 1.0);
  EXPECT_EQ(trace.bytes, trace.whole_bytes);
}

TEST(entry_solve, of_an_empty_matrix_is_empty) {
  SolverOptions options;
  options.measure = false;
  auto solver = Solver<double>::create(std::make_shared<const SparseMatrix<double>>(), options);
  const auto solved = solver.value().solve_entries(SparseMatrix<double>{}, {});
  EXPECT_EQ(solved.value().x.values.size(), 0u);
}

}  // namespace
}  // namespace palmette
