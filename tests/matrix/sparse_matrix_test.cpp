// Construction, transposition, permutation, symmetry, checks, products and norms of sparse matrices, in all
// four scalars.
#include <limits>
#include <random>

#include "tests/matrix/expect_matrix.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using testing_matrix::dense_rows;
using Complex = std::complex<double>;

template <class T>
class sparse_matrix : public ::testing::Test {};
TYPED_TEST_SUITE(sparse_matrix, TestedScalars);

/// [1 0 4; 2 3 0], entries given out of order.
template <class T>
Triplets<T> small_triplets() {
  return {2, 3, {1, 0, 1, 0}, {1, 2, 0, 0}, {T(3), T(4), T(2), T(1)}};
}

/// Small whole numbers as values: sums and products are exact in every scalar.
template <class T>
SparseMatrix<T> random_matrix(index_t rows, index_t cols, int entries, unsigned seed) {
  std::mt19937 random(seed);
  Triplets<T> triplets{rows, cols, {}, {}, {}};
  for (int entry = 0; entry < entries && rows > 0 && cols > 0; ++entry) {
    triplets.row.push_back(static_cast<index_t>(random() % static_cast<unsigned>(rows)));
    triplets.column.push_back(static_cast<index_t>(random() % static_cast<unsigned>(cols)));
    const auto real = static_cast<real_t<T>>(static_cast<int>(random() % 9) - 4);
    if constexpr (is_complex_v<T>)
      triplets.value.push_back({real, static_cast<real_t<T>>(static_cast<int>(random() % 9) - 4)});
    else triplets.value.push_back(real);
  }
  return from_triplets(triplets);
}

TYPED_TEST(sparse_matrix, triplets_in_any_order_become_sorted_columns) {
  using T = TypeParam;
  const SparseMatrix<T> matrix = from_triplets(small_triplets<T>());
  EXPECT_EQ(matrix.pattern.column_ptr, (std::vector<offset_t>{0, 2, 3, 4}));
  EXPECT_EQ(matrix.pattern.row_index, (std::vector<index_t>{0, 1, 1, 0}));
  EXPECT_EQ(matrix.values, (std::vector<T>{T(1), T(2), T(3), T(4)}));
  EXPECT_NO_THROW(check_matrix(matrix));
}

TYPED_TEST(sparse_matrix, duplicates_are_summed_and_zeros_kept) {
  using T = TypeParam;
  const Triplets<T> triplets{2, 2, {1, 0, 1, 1, 0}, {1, 0, 1, 0, 0}, {T(2), T(1), T(-2), T(0), T(5)}};
  const SparseMatrix<T> matrix = from_triplets(triplets);
  EXPECT_EQ(matrix.pattern.column_ptr, (std::vector<offset_t>{0, 2, 3}));
  EXPECT_EQ(matrix.pattern.row_index, (std::vector<index_t>{0, 1, 1}));
  EXPECT_EQ(matrix.values, (std::vector<T>{T(6), T(0), T(0)}));  // 1 + 5, the given 0, 2 − 2
}

TEST(sparse_matrix_order, duplicates_are_summed_in_the_order_given) {
  // (1e16 + 1) − 1e16 = 0 by rounding to even, (1e16 − 1e16) + 1 = 1: the order shows.
  const auto sum = [](std::vector<double> values) {
    Triplets<double> triplets{
        3, 1, {1, 2, 1, 0, 1}, {0, 0, 0, 0, 0}, {values[0], 7, values[1], 8, values[2]}};
    return from_triplets(triplets).values[1];
  };
  EXPECT_EQ(sum({1e16, 1, -1e16}), 0.0);
  EXPECT_EQ(sum({1e16, -1e16, 1}), 1.0);
}

TYPED_TEST(sparse_matrix, empty_sizes_are_ordinary) {
  using T = TypeParam;
  for (const auto& [rows, cols] : {std::pair<index_t, index_t>{0, 0}, {0, 3}, {3, 0}}) {
    const SparseMatrix<T> matrix = from_triplets(Triplets<T>{rows, cols, {}, {}, {}});
    EXPECT_EQ(matrix.nnz(), 0);
    EXPECT_NO_THROW(check_matrix(matrix));
    EXPECT_EQ(transpose(matrix).rows(), cols);
    EXPECT_EQ(norm_infinity(matrix), 0.0);
    EXPECT_EQ(norm_one(matrix), 0.0);
    EXPECT_EQ(detect_symmetry(matrix) == Symmetry::general, rows != cols);
    EXPECT_EQ(permute(matrix, Permutation::identity(rows), Permutation::identity(cols)).cols(), cols);
  }
}

TYPED_TEST(sparse_matrix, misuse_of_triplets_names_the_entry) {
  using T = TypeParam;
  Triplets<T> triplets = small_triplets<T>();
  triplets.row[2] = 2;
  try {
    from_triplets(triplets);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "row index 2 in entry 3 is outside 0 … 1");
  }
  triplets.row[2] = -1;
  EXPECT_THROW(from_triplets(triplets), UsageError);
  triplets.row[2] = 0;
  triplets.column[3] = 3;
  EXPECT_THROW(from_triplets(triplets), UsageError);
  triplets.column.pop_back();
  EXPECT_THROW(from_triplets(triplets), DimensionError);
  EXPECT_THROW(from_triplets(Triplets<T>{-1, 2, {}, {}, {}}), DimensionError);
}

TYPED_TEST(sparse_matrix, compressed_columns_are_sorted_and_summed) {
  using T = TypeParam;
  const std::vector<offset_t> pointers = {0, 3, 3, 5};
  const std::vector<index_t> rows = {2, 0, 2, 1, 0};
  const std::vector<T> values = {T(1), T(2), T(4), T(5), T(6)};
  const auto matrix = from_compressed_columns<T>(3, 3, pointers, rows, values);
  EXPECT_EQ(matrix.pattern.column_ptr, (std::vector<offset_t>{0, 2, 2, 4}));
  EXPECT_EQ(matrix.pattern.row_index, (std::vector<index_t>{0, 2, 0, 1}));
  EXPECT_EQ(matrix.values, (std::vector<T>{T(2), T(5), T(6), T(5)}));
}

TYPED_TEST(sparse_matrix, misuse_of_compressed_columns_is_refused) {
  using T = TypeParam;
  const std::vector<index_t> rows = {0, 1};
  const std::vector<T> values = {T(1), T(2)};
  const auto make = [&](std::vector<offset_t> pointers, std::vector<index_t> row_index) {
    return from_compressed_columns<T>(2, 2, pointers, row_index, values);
  };
  EXPECT_NO_THROW(make({0, 1, 2}, rows));
  EXPECT_THROW(make({0, 2}, rows), DimensionError);
  EXPECT_THROW(make({1, 1, 2}, rows), UsageError);
  EXPECT_THROW(make({0, 2, 1}, rows), UsageError);
  EXPECT_THROW(make({0, 1, 3}, rows), DimensionError);
  EXPECT_THROW(make({0, 1, 2}, {0, 2}), UsageError);
  EXPECT_THROW(make({0, 1, 2}, {-1, 0}), UsageError);
}

TYPED_TEST(sparse_matrix, transposing_moves_every_entry_and_twice_changes_nothing) {
  using T = TypeParam;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const SparseMatrix<T> matrix = random_matrix<T>(7, 5, 12, seed);
    const SparseMatrix<T> transposed = transpose(matrix);
    EXPECT_NO_THROW(check_matrix(transposed));
    const auto rows = dense_rows(matrix);
    const auto columns = dense_rows(transposed);
    for (index_t row = 0; row < 7; ++row)
      for (index_t column = 0; column < 5; ++column) EXPECT_EQ(rows[row][column], columns[column][row]);
    testing_matrix::expect_same_bits(transpose(transposed), matrix);
    EXPECT_EQ(transpose(matrix.pattern).row_index, transposed.pattern.row_index);
  }
}

TYPED_TEST(sparse_matrix, permuting_moves_rows_and_columns) {
  using T = TypeParam;
  const SparseMatrix<T> matrix = random_matrix<T>(4, 3, 9, 5);
  const Permutation row({2, 0, 3, 1});
  const Permutation column({1, 2, 0});
  const SparseMatrix<T> moved = permute(matrix, row, column);
  EXPECT_NO_THROW(check_matrix(moved));
  const auto before = dense_rows(matrix);
  const auto after = dense_rows(moved);
  for (index_t i = 0; i < 4; ++i)
    for (index_t j = 0; j < 3; ++j)
      EXPECT_EQ(after[i][j], before[row.new_to_old()[i]][column.new_to_old()[j]]);
  EXPECT_THROW(permute(matrix, column, column), DimensionError);
}

TYPED_TEST(sparse_matrix, only_equal_permutations_keep_the_symmetry) {
  using T = TypeParam;
  const Triplets<T> triplets{3, 3, {0, 1, 1, 0, 2}, {0, 1, 0, 1, 2}, {T(1), T(2), T(3), T(3), T(4)}};
  const SparseMatrix<T> matrix = from_triplets(triplets, Symmetry::symmetric);
  const Permutation turn({1, 2, 0});
  const SparseMatrix<T> moved = permute(matrix, turn, turn);
  EXPECT_EQ(moved.symmetry, Symmetry::symmetric);
  EXPECT_NE(detect_symmetry(moved), Symmetry::general);
  EXPECT_EQ(permute(matrix, turn, Permutation::identity(3)).symmetry, Symmetry::general);
}

TEST(convert, precision_and_field_change_the_pattern_does_not) {
  const SparseMatrix<double> matrix = random_matrix<double>(5, 5, 12, 3);
  const auto single = convert<float>(matrix);
  EXPECT_EQ(single.pattern.row_index, matrix.pattern.row_index);
  testing_matrix::expect_same_bits(convert<double>(single), matrix);  // small whole numbers survive
  const auto complex = convert<std::complex<float>>(matrix);
  for (std::size_t entry = 0; entry < matrix.values.size(); ++entry)
    EXPECT_EQ(complex.values[entry], std::complex<float>(static_cast<float>(matrix.values[entry]), 0.0f));
  EXPECT_EQ(convert<Complex>(complex).values.size(), matrix.values.size());
}

TEST(convert, real_symmetric_becomes_hermitian) {
  const Triplets<double> triplets{2, 2, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 2, 2, 3}};
  EXPECT_EQ(convert<Complex>(from_triplets(triplets, Symmetry::symmetric)).symmetry, Symmetry::hermitian);
  EXPECT_EQ(convert<float>(from_triplets(triplets, Symmetry::symmetric)).symmetry, Symmetry::symmetric);
}

template <class T>
Symmetry symmetry_of(T a01, T a10, T diagonal) {
  return detect_symmetry(from_triplets(Triplets<T>{2, 2, {0, 1, 0}, {1, 0, 0}, {a01, a10, diagonal}}));
}

TEST(detect_symmetry, kinds_are_told_apart) {
  const Complex i(0, 1);
  EXPECT_EQ(symmetry_of<double>(2, 2, 5), Symmetry::symmetric);
  EXPECT_EQ(symmetry_of<double>(2, -2, 0), Symmetry::skew);
  EXPECT_EQ(symmetry_of<double>(2, -2, 5), Symmetry::general);
  EXPECT_EQ(symmetry_of<double>(2, 2 + 1e-15, 5), Symmetry::general);
  EXPECT_EQ(symmetry_of<Complex>(i, i, i), Symmetry::symmetric);
  EXPECT_EQ(symmetry_of<Complex>(i, -i, 5), Symmetry::hermitian);
  EXPECT_EQ(symmetry_of<Complex>(i, -i, i), Symmetry::general);
  EXPECT_EQ(symmetry_of<Complex>(2, 2, 5), Symmetry::hermitian);  // real-valued: the stronger promise
  EXPECT_EQ(symmetry_of<Complex>(1.0 + i, -1.0 - i, 0), Symmetry::skew);
}

TEST(detect_symmetry, a_missing_partner_or_a_rectangle_is_general) {
  EXPECT_EQ(detect_symmetry(from_triplets(Triplets<double>{2, 2, {0}, {1}, {0}})), Symmetry::general);
  EXPECT_EQ(detect_symmetry(from_triplets(Triplets<double>{2, 3, {0}, {0}, {1}})), Symmetry::general);
  EXPECT_EQ(detect_symmetry(from_triplets(Triplets<double>{3, 3, {0, 2}, {2, 1}, {1, 1}})),
            Symmetry::general);
}

template <class T>
void put(Triplets<T>& triplets, index_t row, index_t column, T value) {
  triplets.row.push_back(row);
  triplets.column.push_back(column);
  triplets.value.push_back(value);
}

/// The same answer from pairs that are known, by one thread and by several.
template <class T>
void expect_same_from_mirrored(const SparseMatrix<T>& matrix, double tolerance) {
  const LooseSymmetry expected = detect_symmetry(matrix, tolerance);
  const std::optional<MirroredEntries> mirrored = mirrored_entries(matrix.pattern);
  ASSERT_TRUE(mirrored.has_value());
  for (const int threads : {0, 1, 2, 3}) {
    std::optional<ThreadTeam> team;
    if (threads > 0) team.emplace(threads);
    const LooseSymmetry found = detect_symmetry(matrix, *mirrored, tolerance, team ? &*team : nullptr);
    EXPECT_EQ(found.symmetry, expected.symmetry) << threads << " threads";
    EXPECT_EQ(found.asymmetry, expected.asymmetry) << threads << " threads";
  }
}

TYPED_TEST(sparse_matrix, known_mirror_images_give_the_symmetry_that_a_walk_finds) {
  using T = TypeParam;
  constexpr double tolerance = 8 * unit_roundoff<T>;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const index_t n = seed % 7 == 6 ? 300 : 1 + static_cast<index_t>(seed % 7) * 5;
    const SparseMatrix<T> half = random_matrix<T>(n, n, 3 * n, seed);
    for (const int kind : {0, 1, 2}) {  // symmetric, Hermitian, skew
      Triplets<T> both{n, n, {}, {}, {}};
      for (index_t column = 0; column < n; ++column)
        for (offset_t entry = half.pattern.column_ptr[column]; entry < half.pattern.column_ptr[column + 1];
             ++entry) {
          const index_t row = half.pattern.row_index[entry];
          T value = half.values[entry] + T(real_t<T>(7));
          if constexpr (is_complex_v<T>) value += T(0, static_cast<real_t<T>>(row % 3 + 1));
          put(both, row, column, value);
          put(both, column, row, kind == 0 ? value : kind == 1 ? conjugate(value) : -value);
        }
      SparseMatrix<T> matrix = from_triplets(both);
      expect_same_from_mirrored(matrix, 0);
      expect_same_from_mirrored(matrix, tolerance);
      EXPECT_NE(detect_symmetry(matrix), Symmetry::general);
      for (const std::size_t place : {std::size_t{0}, matrix.values.size() / 2, matrix.values.size() - 1}) {
        SparseMatrix<T> nearly = matrix, far = matrix;
        nearly.values[place] *= real_t<T>(1 + 4 * unit_roundoff<T>);
        far.values[place] *= real_t<T>(2);
        expect_same_from_mirrored(nearly, tolerance);
        expect_same_from_mirrored(nearly, 0);
        expect_same_from_mirrored(far, tolerance);
      }
    }
  }
}

TEST(mirrored_entries, are_paired_across_the_diagonal) {
  // [1 2 .; 3 . 4; . 5 6], by columns: 1 3 | 2 5 | 4 6
  const SparseMatrix<double> matrix =
      from_triplets(Triplets<double>{3, 3, {0, 0, 1, 1, 2, 2}, {0, 1, 0, 2, 1, 2}, {1, 2, 3, 4, 5, 6}});
  const std::optional<MirroredEntries> mirrored = mirrored_entries(matrix.pattern);
  ASSERT_TRUE(mirrored.has_value());
  std::vector<offset_t> flat;
  for (const auto& [entry, mirror] : mirrored->pairs) {
    flat.push_back(entry);
    flat.push_back(mirror);
  }
  EXPECT_EQ(flat, (std::vector<offset_t>{0, 0, 1, 2, 3, 4, 5, 5}));
}

/// Pairs are compared some hundreds at a time: equal ones show that a matrix is not skew, others that it is
/// not symmetric, in whichever order they come.
TEST(mirrored_entries, far_from_each_other_decide_together) {
  constexpr index_t pairs = 1000;
  for (const bool symmetric_first : {true, false})
    for (const double size : {0.0, 1.0}) {  // of the symmetric pairs
      Triplets<double> triplets{2 * pairs, 2 * pairs, {}, {}, {}};
      for (index_t pair = 0; pair < pairs; ++pair) {
        const bool symmetric = (pair < pairs / 2) == symmetric_first;
        put(triplets, 2 * pair + 1, 2 * pair, symmetric ? size : 1.0);
        put(triplets, 2 * pair, 2 * pair + 1, symmetric ? size : -1.0);
      }
      const SparseMatrix<double> matrix = from_triplets(triplets);
      expect_same_from_mirrored(matrix, 0);
      EXPECT_EQ(detect_symmetry(matrix), size == 0 ? Symmetry::skew : Symmetry::general);
    }
}

TEST(mirrored_entries, do_not_exist_without_a_symmetric_pattern) {
  EXPECT_FALSE(mirrored_entries(from_triplets(Triplets<double>{2, 2, {0}, {1}, {0}}).pattern));
  EXPECT_FALSE(mirrored_entries(from_triplets(Triplets<double>{2, 2, {1}, {0}, {0}}).pattern));
  EXPECT_FALSE(mirrored_entries(from_triplets(Triplets<double>{2, 3, {0}, {0}, {1}}).pattern));
}

TEST(has_symmetric_pattern, looks_at_places_only) {
  EXPECT_TRUE(has_symmetric_pattern(from_triplets(Triplets<double>{2, 2, {0, 1}, {1, 0}, {1, 5}}).pattern));
  EXPECT_FALSE(has_symmetric_pattern(from_triplets(Triplets<double>{2, 2, {0, 0}, {1, 0}, {1, 5}}).pattern));
  EXPECT_FALSE(has_symmetric_pattern(from_triplets(Triplets<double>{2, 2, {1, 0}, {0, 0}, {1, 5}}).pattern));
}

TYPED_TEST(sparse_matrix, check_names_row_and_column_of_a_value_that_is_not_finite) {
  using T = TypeParam;
  SparseMatrix<T> matrix = from_triplets(small_triplets<T>());
  matrix.values[2] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
  const auto message = [&] {
    try {
      check_matrix(matrix);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_EQ(message(), "the entry in row 2, column 2 is not a number (NaN); a matrix needs finite values");
  matrix.values[2] = T(-std::numeric_limits<real_t<T>>::infinity());
  EXPECT_EQ(message(), "the entry in row 2, column 2 is infinite; a matrix needs finite values");
}

TYPED_TEST(sparse_matrix, check_finds_every_malformation_of_the_pattern) {
  using T = TypeParam;
  const SparseMatrix<T> good = from_triplets(small_triplets<T>());
  const auto broken = [&](auto&& damage) {
    SparseMatrix<T> matrix = good;
    damage(matrix);
    EXPECT_THROW(check_matrix(matrix), UsageError);
  };
  broken([](auto& matrix) { matrix.pattern.row_index[0] = 2; });
  broken([](auto& matrix) { matrix.pattern.row_index[0] = -1; });
  broken([](auto& matrix) { std::swap(matrix.pattern.row_index[0], matrix.pattern.row_index[1]); });
  broken([](auto& matrix) { matrix.pattern.row_index[0] = 1; });  // twice in column 1
  broken([](auto& matrix) { matrix.pattern.column_ptr[1] = 4; });
  broken([](auto& matrix) { matrix.pattern.column_ptr[0] = 1; });
  broken([](auto& matrix) { matrix.pattern.column_ptr.pop_back(); });
  broken([](auto& matrix) { matrix.values.pop_back(); });
  broken([](auto& matrix) { matrix.pattern.row_index.push_back(0); });
  broken([](auto& matrix) { matrix.pattern.cols = -1; });
}

TYPED_TEST(sparse_matrix, products_match_the_dense_definition) {
  using T = TypeParam;
  for (unsigned seed = 0; seed < 10; ++seed) {
    const SparseMatrix<T> matrix = random_matrix<T>(6, 4, 11, seed);
    const auto dense = dense_rows(matrix);
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
      const bool plain = operation == Operation::plain;
      DenseMatrix<T> x(plain ? 4 : 6, 2), y(plain ? 6 : 4, 2);
      for (std::size_t place = 0; place < x.values.size(); ++place)
        x.values[place] = T(static_cast<real_t<T>>(place) - 3);
      for (std::size_t place = 0; place < y.values.size(); ++place)
        y.values[place] = T(static_cast<real_t<T>>(place));
      DenseMatrix<T> expected = y;
      for (index_t column = 0; column < 2; ++column)
        for (index_t i = 0; i < y.rows; ++i)
          for (index_t k = 0; k < x.rows; ++k) {
            const T entry = plain                             ? dense[i][k]
                            : operation == Operation::adjoint ? conjugate(dense[k][i])
                                                              : dense[k][i];
            expected.view()(i, column) += T(2) * entry * x.view()(k, column);
          }
      multiply_add<T>(matrix, operation, T(2), std::as_const(x).view(), y.view());
      EXPECT_EQ(y.values, expected.values) << name_of(operation);  // whole numbers: exact
    }
  }
}

TYPED_TEST(sparse_matrix, products_of_sizes_that_do_not_fit_are_refused) {
  using T = TypeParam;
  const SparseMatrix<T> matrix = from_triplets(small_triplets<T>());
  DenseMatrix<T> two(2, 1), three(3, 1), wide(2, 2);
  EXPECT_THROW(multiply_add<T>(matrix, Operation::plain, T(1), std::as_const(two).view(), two.view()),
               DimensionError);
  EXPECT_THROW(multiply_add<T>(matrix, Operation::plain, T(1), std::as_const(three).view(), wide.view()),
               DimensionError);
  EXPECT_THROW(multiply_add<T>(matrix, Operation::transpose, T(1), std::as_const(three).view(), two.view()),
               DimensionError);
  EXPECT_NO_THROW(multiply_add<T>(matrix, Operation::adjoint, T(1), std::as_const(two).view(), three.view()));
}

TYPED_TEST(sparse_matrix, norms_are_largest_row_and_column_sums) {
  using T = TypeParam;
  // [1 0 −4; 2 3 0]: row sums 5 and 5; make it [1 0 −4; 2 −7 0]: 5 and 9; column sums 3, 7, 4.
  const Triplets<T> triplets{2, 3, {0, 0, 1, 1}, {0, 2, 0, 1}, {T(1), T(-4), T(2), T(-7)}};
  EXPECT_EQ(norm_infinity(from_triplets(triplets)), 9.0);
  EXPECT_EQ(norm_one(from_triplets(triplets)), 7.0);
}

TEST(norms, complex_moduli_are_used) {
  const Triplets<Complex> triplets{1, 2, {0, 0}, {0, 1}, {{3, 4}, {0, 2}}};
  EXPECT_EQ(norm_infinity(from_triplets(triplets)), 7.0);
  EXPECT_EQ(norm_one(from_triplets(triplets)), 5.0);
}

}  // namespace
}  // namespace palmette
