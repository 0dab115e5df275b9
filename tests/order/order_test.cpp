// The door of `order`: what an Ordering promises for each kind of pivoting, for every scalar type.
#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "palmette/order/order.hpp"
#include "tests/order/small_graphs.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace order_test;

template <class T>
class OrderOfScalar : public testing::Test {};
TYPED_TEST_SUITE(OrderOfScalar, TestedScalars);

template <class T>
T scalar(double re, double im) {
  if constexpr (is_complex_v<T>) return T(static_cast<real_t<T>>(re), static_cast<real_t<T>>(im));
  else return static_cast<T>(re + im);
}

/// Random entries over 2⁻²⁰ … 2²⁰ with a hidden transversal, so that the matrix is structurally nonsingular.
template <class T>
SparseMatrix<T> random_matrix(index_t n, std::uint64_t seed, bool symmetric) {
  Dice dice(seed);
  const std::vector<index_t> hidden = dice.permutation(n).new_to_old();
  Triplets<T> triplets{n, n, {}, {}, {}};
  const auto add = [&](index_t row, index_t column) {
    const T value = scalar<T>(std::ldexp(0.5 + dice.uniform(), dice.below(41) - 20),
                              std::ldexp(dice.uniform(), dice.below(20) - 20));
    for (int copy = 0; copy < (symmetric && row != column ? 2 : 1); ++copy) {
      triplets.row.push_back(copy == 0 ? row : column);
      triplets.column.push_back(copy == 0 ? column : row);
      triplets.value.push_back(value);
    }
  };
  for (index_t i = 0; i < n; ++i) add(i, hidden[i]);
  for (index_t entry = 0; entry < 3 * n; ++entry) {
    const index_t row = dice.below(n), column = dice.below(n);
    if (!symmetric || row != column) add(row, column);
  }
  return from_triplets(triplets, symmetric ? Symmetry::symmetric : Symmetry::general);
}

/// |entry| after scaling, in double.
template <class T>
double scaled_modulus(const SparseMatrix<T>& matrix, const Ordering& ordering, index_t row, index_t column,
                      offset_t entry) {
  return std::abs(std::complex<double>(matrix.values[entry])) *
         (ordering.row_scale[row] * ordering.column_scale[column]);
}

bool is_power_of_two(double value) {
  int exponent;
  return value > 0 && std::frexp(value, &exponent) == 0.5;
}

/// Rounding both exponents to whole powers moves an entry by at most a factor of 2: matched entries, which
/// were 1, end in [1/2, 2] and all others, which were at most 1, at most at 2 (1e-5 for the fixed-point
/// logarithms).
template <class T>
void expect_unsymmetric_promises(const SparseMatrix<T>& matrix, const Ordering& ordering) {
  const index_t n = matrix.cols();
  std::vector<char> on_diagonal(n, 0);
  for (index_t column = 0; column < n; ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = matrix.pattern.row_index[entry];
      const double modulus = scaled_modulus(matrix, ordering, row, column, entry);
      EXPECT_LE(modulus, 2 * (1 + 1e-5));
      if (ordering.row.old_to_new()[row] != ordering.column.old_to_new()[column] ||
          matrix.values[entry] == T{})
        continue;
      on_diagonal[column] = 1;
      EXPECT_GE(modulus, 0.5 * (1 - 1e-5));
    }
  EXPECT_EQ(std::count(on_diagonal.begin(), on_diagonal.end(), 1), n);
  for (const double scale : ordering.row_scale) EXPECT_TRUE(is_power_of_two(scale));
  for (const double scale : ordering.column_scale) EXPECT_TRUE(is_power_of_two(scale));
}

TYPED_TEST(OrderOfScalar, matched_entries_are_on_the_diagonal_and_near_one) {
  for (const OrderingMethod method : available_methods())
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const SparseMatrix<TypeParam> matrix = random_matrix<TypeParam>(200, seed, false);
      OrderOptions options;
      options.method = method;
      options.pivot_need = PivotNeed::unsymmetric;
      const Ordering ordering = order(matrix, options).value();
      EXPECT_TRUE(ordering.matched);
      EXPECT_TRUE(ordering.paired_with_next.empty());
      ASSERT_EQ(ordering.row_scale.size(), 200u);
      expect_unsymmetric_promises(matrix, ordering);
    }
}

TYPED_TEST(OrderOfScalar, indefinite_scaling_is_symmetric_and_pairs_are_adjacent) {
  for (const OrderingMethod method : available_methods()) {
    const SparseMatrix<TypeParam> matrix = random_matrix<TypeParam>(200, 9, true);
    OrderOptions options;
    options.method = method;
    options.pivot_need = PivotNeed::indefinite;
    const Ordering ordering = order(matrix, options).value();
    EXPECT_TRUE(ordering.matched);
    EXPECT_EQ(ordering.row.new_to_old(), ordering.column.new_to_old());
    ASSERT_EQ(ordering.row_scale.size(), 200u);
    EXPECT_EQ(ordering.row_scale, ordering.column_scale);
    ASSERT_EQ(ordering.paired_with_next.size(), 200u);
    EXPECT_EQ(ordering.paired_with_next.back(), 0);
    for (index_t column = 0; column < 200; ++column) {
      double largest = 0;
      for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
           ++entry)
        largest = std::max(largest,
                           scaled_modulus(matrix, ordering, matrix.pattern.row_index[entry], column, entry));
      EXPECT_LE(largest, 2 * (1 + 1e-5));
      EXPECT_GE(largest, 0.5 * (1 - 1e-5));  // the matched entry
    }
    for (index_t place = 0; place + 1 < 200; ++place)
      EXPECT_FALSE(ordering.paired_with_next[place] && ordering.paired_with_next[place + 1]);
  }
}

TYPED_TEST(OrderOfScalar, equilibrated_rows_and_columns_have_their_largest_entry_near_one) {
  const SparseMatrix<TypeParam> matrix = random_matrix<TypeParam>(150, 21, false);
  Ordering ordering;
  equilibrate(matrix, ordering.row_scale, ordering.column_scale);
  std::vector<double> row_largest(150, 0), column_largest(150, 0);
  for (index_t column = 0; column < 150; ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = matrix.pattern.row_index[entry];
      const double modulus = scaled_modulus(matrix, ordering, row, column, entry);
      row_largest[row] = std::max(row_largest[row], modulus);
      column_largest[column] = std::max(column_largest[column], modulus);
    }
  // The iteration ends within 2^±¼ and one halving more, rounding moves by at most 2: between 2^−1.25 = 0.42
  // and 2^1.25.
  for (index_t i = 0; i < 150; ++i) {
    EXPECT_GE(row_largest[i], 0.42);
    EXPECT_LE(row_largest[i], 2.38);
    EXPECT_GE(column_largest[i], 0.42);
    EXPECT_LE(column_largest[i], 2.38);
    EXPECT_TRUE(is_power_of_two(ordering.row_scale[i]) && is_power_of_two(ordering.column_scale[i]));
  }
}

TYPED_TEST(OrderOfScalar, scaling_of_the_widest_values_stays_finite) {
  using Real = real_t<TypeParam>;
  const TypeParam tiny = std::numeric_limits<Real>::denorm_min(), huge = std::numeric_limits<Real>::max();
  const TypeParam one = 1, small = std::numeric_limits<Real>::min();
  const SparseMatrix<TypeParam> matrix = from_dense<TypeParam>({{tiny, huge, 0, 0, 0},
                                                                {huge, tiny, small, 0, 0},
                                                                {0, one, tiny, 0, 0},
                                                                {0, 0, 0, tiny, 0},
                                                                {0, 0, 0, 0, huge}});
  for (const PivotNeed need : {PivotNeed::unsymmetric, PivotNeed::indefinite})
    for (const bool matching : {true, false}) {
      OrderOptions options;
      options.pivot_need = need;
      options.matching = matching;
      const Ordering ordering = order(matrix, options).value();
      for (index_t column = 0; column < 5; ++column)
        for (offset_t entry = matrix.pattern.column_ptr[column];
             entry < matrix.pattern.column_ptr[column + 1]; ++entry) {
          const double factor =
              ordering.row_scale[matrix.pattern.row_index[entry]] * ordering.column_scale[column];
          EXPECT_TRUE(std::isfinite(static_cast<Real>(factor)) && static_cast<Real>(factor) > 0);
          EXPECT_TRUE(is_finite(matrix.values[entry] * TypeParam(static_cast<Real>(factor))));
        }
    }
}

TEST(Order, tiny_matrices_have_an_ordering_for_every_need) {
  for (const PivotNeed need : {PivotNeed::none, PivotNeed::indefinite, PivotNeed::unsymmetric})
    for (const OrderingMethod method : available_methods())
      for (const NamedMatrix& named : tricky_matrices()) {
        OrderOptions options;
        options.pivot_need = need;
        options.method = method;
        EXPECT_TRUE(order(named.matrix, options).ok()) << named.name;
      }
}

TEST(Order, without_matching_rows_go_as_columns) {
  const SparseMatrix<double> matrix = random_matrix<double>(100, 3, false);
  OrderOptions options;
  options.pivot_need = PivotNeed::unsymmetric;
  options.matching = false;
  const Ordering ordering = order(matrix, options).value();
  EXPECT_FALSE(ordering.matched);
  EXPECT_EQ(ordering.row.new_to_old(), ordering.column.new_to_old());
  std::vector<double> row_scale, column_scale;
  equilibrate(matrix, row_scale, column_scale);
  EXPECT_EQ(ordering.row_scale, row_scale);
  EXPECT_EQ(ordering.column_scale, column_scale);
}

TEST(Order, without_scaling_there_are_no_factors) {
  for (const bool matching : {true, false})
    for (const PivotNeed need : {PivotNeed::indefinite, PivotNeed::unsymmetric}) {
      OrderOptions options;
      options.pivot_need = need;
      options.matching = matching;
      options.scaling = false;
      const Ordering ordering = order(random_matrix<double>(60, 3, true), options).value();
      EXPECT_TRUE(ordering.row_scale.empty() && ordering.column_scale.empty());
      EXPECT_EQ(ordering.matched, matching);
    }
}

TEST(Order, user_permutation_is_obeyed_for_every_need) {
  const SparseMatrix<double> matrix = random_matrix<double>(80, 5, true);
  for (const PivotNeed need : {PivotNeed::none, PivotNeed::indefinite, PivotNeed::unsymmetric}) {
    OrderOptions options;
    options.method = OrderingMethod::user;
    options.user = Dice(6).permutation(80);
    options.pivot_need = need;
    const Ordering ordering = order(matrix, options).value();
    EXPECT_EQ(ordering.method, OrderingMethod::user);
    EXPECT_EQ(ordering.column.new_to_old(), options.user.new_to_old());
  }
}

TEST(Order, user_permutation_of_another_length_is_refused_with_both_sizes) {
  OrderOptions options;
  options.method = OrderingMethod::user;
  options.user = Permutation::identity(3);
  try {
    (void)order(path(7), options);
    FAIL();
  } catch (const DimensionError& error) {
    EXPECT_NE(std::string(error.what()).find(" 3 "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(" 7 "), std::string::npos) << error.what();
  }
}

TEST(Order, rectangular_matrix_is_refused_with_both_sizes) {
  const Triplets<double> triplets{4, 9, {0}, {0}, {1.0}};
  try {
    (void)order(from_triplets(triplets));
    FAIL();
  } catch (const DimensionError& error) {
    EXPECT_NE(std::string(error.what()).find("4 rows"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("9 columns"), std::string::npos) << error.what();
  }
}

TEST(Order, empty_row_and_column_are_reported_with_their_numbers) {
  // Row 2 and column 3 (counted from 1) are empty.
  const SparseMatrix<double> matrix =
      from_dense<double>({{1, 2, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 4}, {3, 0, 0, 1}});
  OrderOptions options;
  options.pivot_need = PivotNeed::unsymmetric;
  const Outcome<Ordering> outcome = order(matrix, options);
  ASSERT_FALSE(outcome.ok());
  const NumericalFailure& failure = outcome.failure();
  EXPECT_EQ(failure.kind, FailureKind::structurally_singular);
  EXPECT_EQ(failure.rows, (std::vector<index_t>{1}));
  EXPECT_EQ(failure.columns, (std::vector<index_t>{2}));
  EXPECT_EQ(failure.row, 1);
  EXPECT_EQ(failure.column, 2);
  EXPECT_NE(failure.message.find("3 of 4"), std::string::npos) << failure.message;
  EXPECT_NE(failure.message.find("row 2 and column 3"), std::string::npos) << failure.message;
}

TEST(Order, three_columns_in_two_rows_are_singular) {
  // Columns 1 to 3 have entries in rows 1 and 2 only, so one of them is left over, and one of rows 3, 4 too.
  const SparseMatrix<double> matrix =
      from_dense<double>({{1, 2, 1, 0}, {1, 3, 2, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}});
  OrderOptions options;
  options.pivot_need = PivotNeed::unsymmetric;
  const Outcome<Ordering> outcome = order(matrix, options);
  ASSERT_FALSE(outcome.ok());
  ASSERT_EQ(outcome.failure().columns.size(), 1u);
  EXPECT_LE(outcome.failure().columns[0], 2);
  ASSERT_EQ(outcome.failure().rows.size(), 1u);
  EXPECT_GE(outcome.failure().rows[0], 2);
}

TEST(Order, stored_zero_is_no_pivot) {
  const Triplets<double> triplets{2, 2, {0, 1, 1}, {0, 1, 0}, {1.0, 0.0, 3.0}};
  for (const PivotNeed need : {PivotNeed::indefinite, PivotNeed::unsymmetric}) {
    OrderOptions options;
    options.pivot_need = need;
    const Outcome<Ordering> outcome = order(from_triplets(triplets), options);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.failure().columns, (std::vector<index_t>{1}));
  }
}

TEST(Order, singular_symmetric_matrix_names_rows_and_columns) {
  // Arrow without diagonal, except for the tip: unknowns 2 and 3 both depend on unknown 1 alone.
  const SparseMatrix<double> matrix =
      from_dense<double>({{1, 1, 1}, {1, 0, 0}, {1, 0, 0}}, Symmetry::symmetric);
  OrderOptions options;
  options.pivot_need = PivotNeed::indefinite;
  const Outcome<Ordering> outcome = order(matrix, options);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().rows.size(), 1u);
  EXPECT_EQ(outcome.failure().columns.size(), 1u);
  EXPECT_NE(outcome.failure().message.find("2 of 3"), std::string::npos) << outcome.failure().message;
}

TEST(Order, no_pivot_need_reads_no_values) {
  SparseMatrix<double> matrix = path(50);
  matrix.values.clear();
  EXPECT_TRUE(order(matrix).ok());
}

TEST(Order, values_that_are_not_finite_do_not_hang) {
  SparseMatrix<double> matrix = grid(10);
  for (std::size_t entry = 0; entry < matrix.values.size(); entry += 3)
    matrix.values[entry] = entry % 2 == 0 ? std::nan("") : HUGE_VAL;
  for (const PivotNeed need : {PivotNeed::indefinite, PivotNeed::unsymmetric})
    for (const bool matching : {true, false}) {
      OrderOptions options;
      options.pivot_need = need;
      options.matching = matching;
      EXPECT_TRUE(order(matrix, options).ok());
    }
}

TEST(Order, saddle_point_pairs_each_multiplier) {
  // [0 B; Bᵀ 0] with B = I: unknown k is matched with unknown k + 20, and each pair stays together.
  Edges edges;
  for (index_t k = 0; k < 20; ++k) edges.emplace_back(k, k + 20);
  SparseMatrix<double> matrix = from_edges(40, edges);
  for (double& value : matrix.values)
    if (value > 0) value = 0;
  for (const OrderingMethod method : {OrderingMethod::amd, OrderingMethod::automatic}) {
    OrderOptions options;
    options.pivot_need = PivotNeed::indefinite;
    options.method = method;
    const Ordering ordering = order(matrix, options).value();
    for (index_t place = 0; place < 40; place += 2) {
      EXPECT_EQ(ordering.paired_with_next[place], 1);
      EXPECT_EQ(ordering.paired_with_next[place + 1], 0);
      EXPECT_EQ(std::abs(ordering.column.new_to_old()[place] - ordering.column.new_to_old()[place + 1]), 20);
    }
  }
}

TEST(Order, large_diagonal_makes_no_pairs) {
  OrderOptions options;
  options.pivot_need = PivotNeed::indefinite;
  const Ordering ordering = order(grid(12), options).value();
  EXPECT_EQ(std::count(ordering.paired_with_next.begin(), ordering.paired_with_next.end(), 1), 0);
}

TEST(Order, natural_order_is_left_as_it_is_even_with_pairs) {
  Edges edges;
  for (index_t k = 0; k < 5; ++k) edges.emplace_back(k, k + 5);
  SparseMatrix<double> matrix = from_edges(10, edges);
  for (double& value : matrix.values)
    if (value > 0) value = 0;
  OrderOptions options;
  options.pivot_need = PivotNeed::indefinite;
  options.method = OrderingMethod::natural;
  const Ordering ordering = order(matrix, options).value();
  EXPECT_TRUE(ordering.column.is_identity());
  EXPECT_EQ(std::count(ordering.paired_with_next.begin(), ordering.paired_with_next.end(), 1), 0);
}

TEST(OpenMatrices, directed_graph_of_structural_rank_18_is_refused) {
  if (!std::filesystem::exists(matrix_path("Ragusa16.mtx")))
    GTEST_SKIP() << "no " << matrix_path("Ragusa16.mtx");
  const AnyMatrix any = read_matrix(matrix_path("Ragusa16.mtx")).matrix;
  OrderOptions options;
  options.pivot_need = PivotNeed::unsymmetric;
  const Outcome<Ordering> outcome = order(std::get<SparseMatrix<double>>(any), options);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().rows.size(), 6u);
  EXPECT_EQ(outcome.failure().columns.size(), 6u);
  EXPECT_NE(outcome.failure().message.find("18 of 24"), std::string::npos) << outcome.failure().message;
}

TEST(OpenMatrices, real_unsymmetric_matrices_keep_the_promises) {
  for (const std::string file :
       {"west0479.rb", "arc130.rua", "fs_183_6.rua", "memplus.mtx.gz", "case9241pegase_J.mtx.gz"}) {
    if (!std::filesystem::exists(matrix_path(file))) GTEST_SKIP() << "no " << matrix_path(file);
    const AnyMatrix any = read_matrix(matrix_path(file)).matrix;
    OrderOptions options;
    options.pivot_need = PivotNeed::unsymmetric;
    const auto& matrix = std::get<SparseMatrix<double>>(any);
    expect_unsymmetric_promises(matrix, order(matrix, options).value());
  }
}

TEST(Order, sizes_of_entries_are_all_that_it_needs_of_values) {
  // Entries of both signs over many powers of two, one of them a stored zero.
  Triplets<double> entries{40, 40, {}, {}, {}};
  for (index_t i = 0; i < 40; ++i)
    for (const index_t j : {i, (i * 7 + 3) % 40, (i * 11 + 5) % 40}) {
      entries.row.push_back(i);
      entries.column.push_back(j);
      entries.value.push_back(
          i == 9 && j == 9 ? 0 : std::ldexp(1.0 + i / 40.0, (i * j) % 90 - 40) * (j % 2 == 0 ? 1 : -1));
    }
  const SparseMatrix<double> matrix = from_triplets(entries);
  std::vector<entry_size_t> sizes;
  for (const double value : matrix.values) sizes.push_back(entry_size(value));
  for (const PivotNeed need : {PivotNeed::none, PivotNeed::unsymmetric})
    for (const bool matching : {true, false}) {
      OrderOptions options;
      options.pivot_need = need;
      options.matching = matching;
      const Ordering expected = order(matrix, options).value();
      const Ordering found = order_by_sizes<double>(matrix.pattern, matrix.symmetry, sizes, options).value();
      EXPECT_EQ(found.row.new_to_old(), expected.row.new_to_old());
      EXPECT_EQ(found.column.new_to_old(), expected.column.new_to_old());
      EXPECT_EQ(found.row_scale, expected.row_scale);
      EXPECT_EQ(found.column_scale, expected.column_scale);
    }
  OrderOptions options;
  EXPECT_TRUE(order_by_sizes<double>(matrix.pattern, matrix.symmetry, {}, options).ok());
  options.pivot_need = PivotNeed::unsymmetric;
  EXPECT_THROW((void)order_by_sizes<double>(matrix.pattern, matrix.symmetry, {}, options), DimensionError);
}

TEST(MethodList, names_round_trip_and_unknown_ones_list_all) {
  for (const OrderingMethodInfo& info : ordering_method_list())
    EXPECT_EQ(ordering_method(name_of(info.method)), info.method);
  EXPECT_EQ(ordering_method_list().size(), 7u);
  EXPECT_EQ(ordering_method("automatic"), OrderingMethod::automatic);
  try {
    ordering_method("best");
    FAIL();
  } catch (const UsageError& error) {
    for (const OrderingMethodInfo& info : ordering_method_list())
      EXPECT_NE(std::string(error.what()).find(name_of(info.method)), std::string::npos) << error.what();
  }
}

TEST(MethodList, method_absent_from_the_build_is_refused_with_the_remedy) {
  for (const OrderingMethodInfo& info : ordering_method_list()) {
    if (info.available) continue;
    OrderOptions options;
    options.method = info.method;
    try {
      (void)order(path(5), options);
      FAIL();
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("install lib"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace palmette
