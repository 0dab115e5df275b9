// Threads that wait in a sweep help with the panels of others: a full matrix is one chain of wide panels, so
// that all threads but one wait all the time.
#include <gtest/gtest.h>

#include <complex>

#include "palmette/solver/solver.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

template <class T>
class HelpedSweeps : public ::testing::Test {};
TYPED_TEST_SUITE(HelpedSweeps, TestedScalars);

/// Every entry is stored; positive definite, or not symmetric. Panels of 128 columns and 700 rows are shared.
template <class T>
std::shared_ptr<const SparseMatrix<T>> full_matrix(bool symmetric) {
  constexpr index_t n = 700;
  Triplets<T> entries{n, n, {}, {}, {}};
  for (index_t column = 0; column < n; ++column)
    for (index_t row = 0; row < n; ++row) {
      const index_t low = std::min(row, column), high = std::max(row, column);
      const int value = symmetric ? (low * 31 + high * 17) % 23 - 11 : (row * 13 + column * 29) % 23 - 11;
      entries.row.push_back(row), entries.column.push_back(column);
      entries.value.push_back(row == column ? T(20 * n) : T(value));
    }
  return std::make_shared<const SparseMatrix<T>>(from_triplets(entries));
}

template <class T>
void expect_bits_of_one_thread(const std::shared_ptr<const SparseMatrix<T>>& matrix, FactorKind kind) {
  SolverOptions options;
  options.kind = kind;
  options.threads = 3;
  options.method = SolveMethod::sync_free;
  options.measure = false;
  Solver<T> solver = Solver<T>::create(matrix, options).value();
  const index_t n = matrix->rows();
  std::vector<T> b(n);
  for (index_t row = 0; row < n; ++row) b[row] = T(row % 7 - 3);
  const auto solve = [&](int threads) {
    std::vector<T> x(n);
    SolveRequest request;
    request.threads = threads;
    request.max_refine_steps = 0;
    const Report report = solver.solve({b.data(), n, 1, n}, {x.data(), n, 1, n}, request).value();
    EXPECT_LE(report.verify->backward_error, 50 * unit_roundoff<T>);
    return x;
  };
  const std::vector<T> alone = solve(1);
  for (int repeat = 0; repeat < 12; ++repeat) EXPECT_EQ(solve(2 + repeat % 2), alone);
}

TYPED_TEST(HelpedSweeps, have_the_bits_of_one_thread) {
  const auto symmetric = full_matrix<TypeParam>(true);
  expect_bits_of_one_thread<TypeParam>(symmetric, FactorKind::llt);
  expect_bits_of_one_thread<TypeParam>(symmetric, FactorKind::ldlt);
  expect_bits_of_one_thread<TypeParam>(full_matrix<TypeParam>(false), FactorKind::lu);
}

}  // namespace
}  // namespace palmette
