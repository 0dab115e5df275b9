// L and U extracted from a factor: (L·U)(i, j) = A(row[i], column[j]), with scalings and pivoting undone
// exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

#include "tests/scalars.hpp"
#include "tests/solver/systems.hpp"

namespace palmette {
namespace {

using testing::to_dense;

template <class T>
std::shared_ptr<const SparseMatrix<T>> matrix_of(
    index_t n, const std::vector<std::tuple<index_t, index_t, T>>& entries) {
  Triplets<T> triplets{n, n, {}, {}, {}};
  for (const auto& [row, column, value] : entries) {
    triplets.row.push_back(row);
    triplets.column.push_back(column);
    triplets.value.push_back(value);
  }
  return std::make_shared<const SparseMatrix<T>>(from_triplets(triplets));
}

template <class T>
ExtractedLu<T> extracted(std::shared_ptr<const SparseMatrix<T>> matrix, FactorKind kind = FactorKind::lu) {
  SolverOptions options;
  options.kind = kind;
  options.measure = false;
  return extract_lu(*Solver<T>::create(std::move(matrix), options).value().factor());
}

/// The error of elimination is at most n·u·(|L||U|) in each entry ([Higham 2002], theorem 9.3).
template <class T>
void expect_product_is_the_permuted_matrix(const SparseMatrix<T>& matrix, const ExtractedLu<T>& factors) {
  const index_t n = matrix.rows();
  DenseMatrix<T> lower = to_dense(factors.lower), upper = to_dense(factors.upper);
  DenseMatrix<T> wanted = to_dense(permute(matrix, factors.row, factors.column));
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      T product(0);
      double sizes = 0;
      for (index_t k = 0; k < n; ++k) {
        product += lower.view()(i, k) * upper.view()(k, j);
        sizes += std::abs(lower.view()(i, k)) * std::abs(upper.view()(k, j));
      }
      EXPECT_LE(std::abs(product - wanted.view()(i, j)), 4 * n * unit_roundoff<T> * sizes)
          << "entry " << i << ", " << j;
      if (i == j) { EXPECT_EQ(lower.view()(i, j), T(1)); }
      if (i < j) { EXPECT_EQ(lower.view()(i, j), T(0)); }
      if (i > j) { EXPECT_EQ(upper.view()(i, j), T(0)); }
    }
}

template <class T>
std::shared_ptr<const SparseMatrix<T>> badly_scaled(index_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1), exponent(-5, 5);
  std::vector<double> size(2 * n);
  for (double& s : size) s = std::pow(10, exponent(random));
  std::vector<std::tuple<index_t, index_t, T>> entries;
  for (index_t j = 0; j < n; ++j) {
    entries.emplace_back((j + 3) % n, j, static_cast<T>(size[(j + 3) % n] * size[n + j] * 2));
    for (int extra = 0; extra < 3; ++extra) {
      const auto row = static_cast<index_t>(random() % static_cast<unsigned>(n));
      entries.emplace_back(row, j, static_cast<T>(value(random) * size[row] * size[n + j]));
    }
  }
  return matrix_of<T>(n, entries);
}

template <class T>
class Extract : public ::testing::Test {};
TYPED_TEST_SUITE(Extract, TestedScalars);

TYPED_TEST(Extract, lower_times_upper_is_the_matrix_without_its_scalings) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto matrix = badly_scaled<TypeParam>(static_cast<index_t>(7 * seed), seed);
    expect_product_is_the_permuted_matrix(*matrix, extracted(matrix));
  }
}

TYPED_TEST(Extract, wide_supernodes_pivot_inside_and_below) {
  // Dense, hence a chain of supernodes of at most 128 columns: 150 columns make two, the second above the
  // first in the tree.
  const index_t n = 150;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<std::tuple<index_t, index_t, TypeParam>> entries;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) entries.emplace_back(i, j, static_cast<TypeParam>(value(random)));
  const auto matrix = matrix_of<TypeParam>(n, entries);
  expect_product_is_the_permuted_matrix(*matrix, extracted(matrix));
}

TYPED_TEST(Extract, exact_zeros_of_relaxed_supernodes_are_left_out) {
  // diag(2, 4) with an entry at (1, 0): L holds its diagonal and 1 / 2, U the diagonal alone.
  const auto matrix =
      matrix_of<TypeParam>(2, {{0, 0, TypeParam(2)}, {1, 0, TypeParam(1)}, {1, 1, TypeParam(4)}});
  const auto factors = extracted(matrix);
  EXPECT_EQ(factors.lower.nnz() + factors.upper.nnz(), 5);
  expect_product_is_the_permuted_matrix(*matrix, factors);
}

TYPED_TEST(Extract, the_empty_matrix_has_empty_factors) {
  const auto factors = extracted(matrix_of<TypeParam>(0, {}));
  EXPECT_EQ(factors.lower.rows(), 0);
  EXPECT_EQ(factors.upper.rows(), 0);
}

TYPED_TEST(Extract, a_factor_of_another_kind_is_refused) {
  EXPECT_THROW(extracted(matrix_of<TypeParam>(1, {{0, 0, TypeParam(2)}}), FactorKind::llt), UsageError);
}

}  // namespace
}  // namespace palmette
