// ColumnFactor against the matrix: residuals of every operation, blocks, pivoting, refusal, new values.
#include <gtest/gtest.h>

#include <cmath>

#include "palmette/columns/columns.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

/// A number in [−1, 1), with an imaginary part if the scalar is complex.
template <class T>
class Values {
 public:
  explicit Values(std::uint64_t seed) : state_(seed) {}
  double real() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return double(state_ >> 11) / double(1ULL << 52) - 1;
  }
  index_t below(index_t n) { return std::min(n - 1, index_t((real() + 1) / 2 * n)); }
  T next() {
    const auto re = real_t<T>(real());
    if constexpr (is_complex_v<T>) return T(re, real_t<T>(real()));
    else return re;
  }

 private:
  std::uint64_t state_;
};

/// Random entries; the diagonal is omitted where the matrix stays regular without it (a cyclic shift replaces
/// it).
template <class T>
SparseMatrix<T> scattered(index_t n, bool with_diagonal, std::uint64_t seed) {
  Values<T> values(seed);
  Triplets<T> entries{n, n, {}, {}, {}};
  const auto add = [&](index_t row, index_t column, T value) {
    entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(value);
  };
  for (index_t j = 0; j < n; ++j) {
    add(with_diagonal ? j : (j + 1) % n, j, values.next() + T(2));
    for (int k = 0; k < 3; ++k) {
      const index_t i = values.below(n);
      if (with_diagonal || i != j) add(i, j, values.next());
    }
  }
  return from_triplets(entries);
}

template <class T>
SparseMatrix<T> grid(index_t side) {
  Triplets<T> entries{side * side, side * side, {}, {}, {}};
  const auto add = [&](index_t row, index_t column, T value) {
    entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(value);
  };
  T off = T(-1);
  if constexpr (is_complex_v<T>) off = T(real_t<T>(-0.6), real_t<T>(0.8));
  for (index_t k = 0; k < side * side; ++k) {
    add(k, k, T(4.5));
    if (k % side != 0) add(k, k - 1, off), add(k - 1, k, conjugate(off));
    if (k >= side) add(k, k - side, off), add(k - side, k, conjugate(off));
  }
  return from_triplets(entries);
}

template <class T>
std::shared_ptr<const ColumnFactor<T>> factored(const SparseMatrix<T>& matrix, FactorKind kind) {
  std::optional<BlockOrdering> order = order_blocks(matrix.pattern, kind == FactorKind::llt);
  if (!order) return nullptr;
  return ColumnFactor<T>::create(matrix, std::make_shared<const BlockOrdering>(*std::move(order)), kind);
}

/// Largest |b − op(A)·x|_i over the columns, divided by n·u·(‖A‖∞‖x‖∞ + ‖b‖∞) of a bound: stable elimination
/// leaves less than 1 for these matrices, a wrong entry far more.
template <class T>
double residual(const SparseMatrix<T>& matrix, const ColumnFactor<T>& factor, Operation operation,
                index_t num_rhs) {
  const index_t n = matrix.rows();
  Values<T> values(17);
  DenseMatrix<T> b(n, num_rhs), x(n, num_rhs);
  for (T& value : b.values) value = values.next();
  factor.solve(operation, std::as_const(b).view(), x.view());
  double size_x = 0, size_b = 0, worst = 0;
  for (const T& value : x.values) size_x = std::max(size_x, double(std::abs(value)));
  for (const T& value : b.values) size_b = std::max(size_b, double(std::abs(value)));
  multiply_add(matrix, operation, T(-1), std::as_const(x).view(), b.view());
  for (const T& value : b.values) worst = std::max(worst, double(std::abs(value)));
  return worst == 0 ? 0
                    : worst / (10 * n * unit_roundoff<T> *
                               (std::max(norm_one(matrix), norm_infinity(matrix)) * size_x + size_b));
}

template <class T>
class EveryScalar : public ::testing::Test {};
TYPED_TEST_SUITE(EveryScalar, TestedScalars);

TYPED_TEST(EveryScalar, every_operation_solves_with_any_number_of_right_hand_sides) {
  using T = TypeParam;
  for (const index_t n : {1, 2, 5, 16, 17, 60, 150})
    for (const bool with_diagonal : {true, false}) {
      if (n < 3 && !with_diagonal) continue;
      const SparseMatrix<T> matrix = scattered<T>(n, with_diagonal, 5);
      const auto factor = factored(matrix, FactorKind::lu);
      ASSERT_TRUE(factor) << n << with_diagonal;
      for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint})
        for (const index_t num_rhs : {0, 1, 3, 8, 17})
          EXPECT_LT(residual(matrix, *factor, operation, num_rhs), 1) << n;
    }
  for (const index_t side : {1, 2, 4, 9}) {
    const SparseMatrix<T> matrix = grid<T>(side);
    const auto factor = factored(matrix, FactorKind::llt);
    ASSERT_TRUE(factor) << side;
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint})
      for (const index_t num_rhs : {1, 3, 9})
        EXPECT_LT(residual(matrix, *factor, operation, num_rhs), 1) << side;
  }
}

/// The bits of x = op(A)⁻¹·b, in b's memory, for k right-hand sides. Up to eight, the caller works alone.
template <class T>
std::vector<T> solution_in_place(const ColumnFactor<T>& factor, Operation operation, index_t num_rhs,
                                 ThreadTeam* team) {
  Values<T> values(23);
  DenseMatrix<T> b(factor.size(), num_rhs);
  for (T& value : b.values) value = values.next();
  const int called = factor.solve(operation, std::as_const(b).view(), b.view(), team);
  EXPECT_EQ(called, team != nullptr && num_rhs > 8 ? team->size() : 1) << num_rhs;
  return {b.values.begin(), b.values.end()};
}

TYPED_TEST(EveryScalar, teams_give_the_bits_of_one_thread) {
  using T = TypeParam;
  const auto lu = factored(scattered<T>(2000, true, 3), FactorKind::lu);
  const auto llt = factored(grid<T>(50), FactorKind::llt);
  for (const int threads : {1, 2, 3, 7}) {
    ThreadTeam team(threads);
    for (const auto& factor : {lu, llt}) {
      ASSERT_TRUE(factor);
      for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint})
        for (const index_t num_rhs : {1, 8, 9, 50})
          EXPECT_EQ(solution_in_place(*factor, operation, num_rhs, &team),
                    solution_in_place<T>(*factor, operation, num_rhs, nullptr))
              << threads << " threads, " << num_rhs << " right-hand sides";
    }
  }
}

TYPED_TEST(EveryScalar, new_values_give_what_a_new_factorization_gives) {
  using T = TypeParam;
  SparseMatrix<T> matrix = scattered<T>(80, false, 5);
  const auto first = factored(matrix, FactorKind::lu);
  for (T& value : matrix.values) value *= real_t<T>(1.25);
  const auto again = first->refactor(matrix);
  ASSERT_TRUE(again);
  EXPECT_LT(residual(matrix, *again, Operation::plain, 3), 1);
  EXPECT_NEAR(again->pivots().log_abs_determinant, first->pivots().log_abs_determinant + 80 * std::log(1.25),
              1e-3);
  SparseMatrix<T> symmetric = grid<T>(6);
  const auto llt = factored(symmetric, FactorKind::llt);
  for (T& value : symmetric.values) value *= real_t<T>(2);
  EXPECT_LT(residual(symmetric, *llt->refactor(symmetric), Operation::plain, 1), 1);
}

TYPED_TEST(EveryScalar, matrices_with_few_zeros_are_factored_as_dense_ones) {
  using T = TypeParam;
  for (const index_t n : {4, 9, 33, 100}) {
    Values<T> values(3);
    Triplets<T> entries{n, n, {}, {}, {}};
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) {
        if ((i + 2 * j) % 7 == 0) continue;
        entries.row.push_back(i), entries.column.push_back(j), entries.value.push_back(values.next());
      }
    const SparseMatrix<T> matrix = from_triplets(entries);
    const auto factor = factored(matrix, FactorKind::lu);
    ASSERT_TRUE(factor && factor->structure().order->dense) << n;
    EXPECT_EQ(factor->entries(), offset_t{n} * n);
    SparseMatrix<T> hermitian = grid<T>(2);
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint})
      for (const index_t num_rhs : {1, 3, 17}) {
        // inverses of random matrices are large
        EXPECT_LT(residual(matrix, *factor, operation, num_rhs), 100) << n;
        EXPECT_LT(residual(hermitian, *factored(hermitian, FactorKind::llt), operation, num_rhs), 1);
      }
    EXPECT_LT(residual(matrix, *factor->refactor(matrix), Operation::plain, 1), 100);
  }
  EXPECT_TRUE(factored(grid<T>(2), FactorKind::llt)->structure().order->dense);
}

TEST(order_blocks, trees_are_ordered_from_their_leaves_and_do_not_fill_in) {
  // A star whose centre comes first, and a path: n − 1 edges each.
  for (const bool star : {true, false}) {
    Triplets<double> entries{50, 50, {}, {}, {}};
    const auto add = [&](index_t i, index_t j, double value) {
      entries.row.push_back(i), entries.column.push_back(j), entries.value.push_back(value);
    };
    for (index_t i = 0; i < 50; ++i) {
      add(i, i, i == 0 ? 100 : 4);
      if (i > 0) add(i, star ? 0 : i - 1, 1), add(star ? 0 : i - 1, i, 2);
    }
    EXPECT_EQ(factored(from_triplets(entries), FactorKind::lu)->entries(), 50 + 2 * 49) << star;
  }
}

SparseMatrix<double> of_rows(const std::vector<std::vector<double>>& rows) {
  Triplets<double> entries{index_t(rows.size()), index_t(rows.size()), {}, {}, {}};
  for (index_t i = 0; i < entries.rows; ++i)
    for (index_t j = 0; j < entries.cols; ++j)
      if (rows[i][j] != 0)
        entries.row.push_back(i), entries.column.push_back(j), entries.value.push_back(rows[i][j]);
  return from_triplets(entries);
}

TEST(order_blocks, a_permuted_triangle_is_all_blocks_of_one) {
  // Columns in the order 3, 1, 2 and rows in the order 2, 3, 1 make it upper triangular.
  const SparseMatrix<double> matrix = of_rows({{0, 0, 1}, {5, 6, 7}, {2, 0, 3}});
  const BlockOrdering order = order_blocks(matrix.pattern, false).value();
  EXPECT_EQ(order.num_blocks(), 3);
  for (index_t place = 0; place < 3; ++place)
    for (const index_t row : matrix.pattern.column(order.column[place]))
      EXPECT_LE(std::find(order.row.begin(), order.row.end(), row) - order.row.begin(), place);
}

TEST(order_blocks, blocks_are_the_strongly_connected_components) {
  // 1 ⇄ 2, 3 ⇄ 4, the first pair depends on the second, 5 and 6 are single.
  const SparseMatrix<double> matrix = of_rows({{1, 2, 0, 3, 0, 0},
                                               {2, 1, 0, 0, 0, 0},
                                               {0, 0, 1, 2, 0, 0},
                                               {0, 0, 2, 1, 0, 0},
                                               {0, 0, 0, 0, 1, 0},
                                               {0, 0, 0, 0, 0, 1}});
  const BlockOrdering order = order_blocks(matrix.pattern, false).value();
  EXPECT_EQ(order.block_begin, (std::vector<index_t>{0, 2, 4, 5, 6}));
  EXPECT_LT(order.column[0], 2);
  EXPECT_GE(order.column[2], 2);
}

TEST(order_blocks, a_structurally_singular_matrix_has_none) {
  EXPECT_FALSE(order_blocks(of_rows({{1, 1, 1}, {1, 0, 0}, {1, 0, 0}}).pattern, false).has_value());
  EXPECT_THROW(order_blocks(SparsityPattern{1, 2, {0, 0, 0}, {}}, false), DimensionError);
  EXPECT_EQ(order_blocks(SparsityPattern{}, false).value().num_blocks(), 0);
}

TEST(order_blocks, entries_above_the_blocks_never_fill_in) {
  // 20 blocks of 2 × 2 with 4 entries of L and U, each depending on the three after it: 4 entries for each of
  // 17·3 + 2 + 1 pairs.
  std::vector<std::vector<double>> rows(40, std::vector<double>(40, 0));
  for (int i = 0; i < 40; ++i)
    for (int j = i / 2 * 2; j < std::min(40, i / 2 * 2 + 8); ++j) rows[i][j] = i == j ? 10 : 1;
  const auto factor = factored(of_rows(rows), FactorKind::lu);
  EXPECT_EQ(factor->structure().order->num_blocks(), 20);
  EXPECT_EQ(factor->entries(), 20 * 4 + 4 * 54);
}

TEST(columns, determinant_and_inertia_are_those_of_the_matrix) {
  const auto factor = factored(of_rows({{0, 2, 0}, {0, 0, 3}, {4, 0, 0}}), FactorKind::lu);
  EXPECT_NEAR(factor->pivots().log_abs_determinant, std::log(24.0), 1e-14);
  EXPECT_EQ(factor->pivots().determinant_sign, std::complex<double>(1));
  const auto exchanged = factored(of_rows({{0, 2}, {3, 0}}), FactorKind::lu);
  EXPECT_EQ(exchanged->pivots().determinant_sign, std::complex<double>(-1));
  // I + J of order 4: eigenvalues 1, 1, 1 and 5. Its factor is dense.
  const auto dense =
      factored(of_rows({{2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}}), FactorKind::lu);
  EXPECT_NEAR(dense->pivots().log_abs_determinant, std::log(5.0), 1e-14);
  EXPECT_EQ(dense->pivots().determinant_sign, std::complex<double>(1));
  const auto llt = factored(of_rows({{4, 1}, {1, 4}}), FactorKind::llt);
  EXPECT_NEAR(llt->pivots().log_abs_determinant, std::log(15.0), 1e-14);
  EXPECT_EQ(llt->pivots().inertia.positive, 2);
}

TEST(columns, a_determinant_beyond_the_range_of_doubles_has_its_logarithm) {
  // 10^120 · 10^250 overflows; LLᵀ is not scaled.
  const auto factor = factored(of_rows({{1e120, 0}, {0, 1e250}}), FactorKind::llt);
  EXPECT_NEAR(factor->pivots().log_abs_determinant, 370 * std::log(10.0), 1e-10);
}

TEST(columns, doubtful_pivots_are_refused) {
  EXPECT_FALSE(factored(of_rows({{1, 1}, {1, 1}}), FactorKind::lu));
  EXPECT_FALSE(factored(of_rows({{1, 2}, {2, 1}}), FactorKind::llt));
  SparseMatrix<double> stored_zero = of_rows({{1, 2}, {3, 4}});
  stored_zero.values[2] = stored_zero.values[3] = 0;
  EXPECT_FALSE(factored(stored_zero, FactorKind::lu));
  EXPECT_THROW(factored(of_rows({{1}}), FactorKind::ldlt), UsageError);
}

TEST(columns, refactor_refuses_pivots_that_have_become_small) {
  SparseMatrix<double> matrix = of_rows({{1, 1}, {1, 3}});
  const auto factor = factored(matrix, FactorKind::lu);
  const index_t column = factor->structure().order->column[0], row = factor->structure().row[0];
  for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
       ++entry)
    if (matrix.pattern.row_index[entry] == row) matrix.values[entry] = 1e-6;
  EXPECT_FALSE(factor->refactor(matrix));
}

}  // namespace
}  // namespace palmette
