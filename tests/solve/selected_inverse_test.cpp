// The selected inverse against dense inverses: every kind and scalar, scalings and pivoting included.
#include <gtest/gtest.h>

#include <cstring>

#include "palmette/solve/solve.hpp"
#include "tests/scalars.hpp"
#include "tests/solve/device_plans.hpp"

namespace palmette {
namespace {

using reference::Wish;

template <class T>
class selected_inverse : public ::testing::Test {};
TYPED_TEST_SUITE(selected_inverse, TestedScalars);

template <class T>
DenseMatrix<T> dense_inverse(const std::shared_ptr<const Factor<T>>& factor) {
  DenseMatrix<T> units(factor->size(), factor->size());
  for (index_t k = 0; k < factor->size(); ++k) units.view()(k, k) = T(1);
  return reference::solved(plan_solve(factor), Operation::plain, units);
}

/// Largest error of the entries on the pattern, by the largest entry; counts them.
template <class T>
double worst_error(const SelectedInverse<T>& inverse, const DenseMatrix<T>& dense, index_t& found) {
  double worst = 0, size = 0;
  for (index_t j = 0; j < dense.cols; ++j)
    for (index_t i = 0; i < dense.rows; ++i) {
      size = std::max(size, double(std::abs(dense.view()(i, j))));
      const std::optional<T> entry = inverse.entry(i, j);
      if (!entry) continue;
      worst = std::max(worst, double(std::abs(*entry - dense.view()(i, j))));
      ++found;
    }
  return worst / size;
}

template <class T>
std::shared_ptr<const Factor<T>> factor_of(const Wish& wish, const AnalyzeOptions& options = {}) {
  return reference::naive_factor(reference::make_problem<T>(wish), wish, options);
}

template <class T>
bool same_bits(const PanelArray<T>& left, const PanelArray<T>& right) {
  if (left.bytes() != right.bytes()) return false;
  return left.bytes() == 0 || std::memcmp(left.data(), right.data(), left.bytes()) == 0;
}

TYPED_TEST(selected_inverse, has_the_entries_of_the_inverse) {
  AnalyzeOptions narrow;  // several panels for one separator
  narrow.max_width = 5;
  for (const AnalyzeOptions& options : {AnalyzeOptions(), narrow})
    for (const Wish& wish : reference::all_wishes<TypeParam>()) {
      SCOPED_TRACE(reference::words(wish));
      const auto factor = factor_of<TypeParam>(wish, options);
      const SelectedInverse<TypeParam> inverse = select_inverse(*factor);
      index_t found = 0;
      EXPECT_LT(worst_error(inverse, dense_inverse(factor), found), 200 * unit_roundoff<TypeParam>);
      EXPECT_GT(found, factor->size());
      EXPECT_LT(found, factor->size() * factor->size());
      EXPECT_GT(inverse.flops, 0);
      EXPECT_EQ(inverse.memory_bytes(),
                selected_inverse_bytes(*factor->symbolic, wish.kind, sizeof(TypeParam)));
    }
}

TYPED_TEST(selected_inverse, as_a_matrix_has_all_entries_on_the_pattern) {
  for (const Wish& wish : reference::all_wishes<TypeParam>()) {
    SCOPED_TRACE(reference::words(wish));
    const auto factor = factor_of<TypeParam>(wish);
    const SelectedInverse<TypeParam> inverse = select_inverse(*factor);
    const SparseMatrix<TypeParam> matrix = inverse.matrix();
    offset_t found = 0, entries = 0;
    for (index_t j = 0; j < factor->size(); ++j)
      for (index_t i = 0; i < factor->size(); ++i) found += inverse.entry(i, j).has_value();
    for (index_t j = 0; j < factor->size(); ++j)
      for (offset_t k = matrix.pattern.column_ptr[j]; k < matrix.pattern.column_ptr[j + 1]; ++k, ++entries)
        EXPECT_EQ(matrix.values[k], inverse.entry(matrix.pattern.row_index[k], j));
    EXPECT_EQ(entries, found);
  }
}

TYPED_TEST(selected_inverse, has_the_same_bits_for_any_number_of_threads) {
  for (const Wish& wish : reference::all_wishes<TypeParam>()) {
    SCOPED_TRACE(reference::words(wish));
    const auto factor = factor_of<TypeParam>(wish);
    const SelectedInverse<TypeParam> alone = select_inverse(*factor);
    for (int threads = 1; threads <= 5; ++threads) {
      ThreadTeam team(threads);
      const SelectedInverse<TypeParam> shared = select_inverse(*factor, &team);
      EXPECT_TRUE(same_bits(shared.lower, alone.lower));
      EXPECT_TRUE(same_bits(shared.upper, alone.upper));
    }
  }
}

/// The same matrix with all zeros among its entries, so that panels have many rows below.
template <class T>
reference::Problem<T> with_all_entries(reference::Problem<T> problem) {
  const index_t n = problem.dense.rows;
  std::vector<offset_t> ptr = {0};
  std::vector<index_t> rows;
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < n; ++i) rows.push_back(i);
    ptr.push_back(static_cast<offset_t>(rows.size()));
  }
  problem.matrix = from_compressed_columns<T>(n, n, ptr, rows, problem.dense.values);
  return problem;
}

// Panels of usual width, and of more columns than our own products take.
TYPED_TEST(selected_inverse, has_the_same_bits_where_threads_share_supernodes) {
  using T = TypeParam;
  for (Wish wish : reference::all_wishes<T>()) {
    wish.side = 24;  // 600 unknowns
    const auto problem = with_all_entries(reference::make_problem<T>(wish));
    for (const index_t width : {128, 300}) {
      SCOPED_TRACE(reference::words(wish) + ", panels of " + std::to_string(width));
      AnalyzeOptions options;
      options.max_width = width;
      const auto factor = reference::naive_factor(problem, wish, options);
      ASSERT_GE(factor->symbolic->num_rows_below(0), 256) << "threads share no supernode";
      const SelectedInverse<T> alone = select_inverse(*factor);
      index_t found = 0;
      EXPECT_LE(worst_error(alone, dense_inverse(factor), found), 1000 * unit_roundoff<T>);
      EXPECT_EQ(found, factor->size() * factor->size());
      for (const int threads : {2, 3, 5}) {
        ThreadTeam team(threads);
        const SelectedInverse<T> shared = select_inverse(*factor, &team);
        EXPECT_TRUE(same_bits(shared.lower, alone.lower)) << threads;
        EXPECT_TRUE(same_bits(shared.upper, alone.upper)) << threads;
      }
    }
  }
}

TEST(SelectedInverse, of_nothing_is_empty) {
  const SelectedInverse<double> inverse = select_inverse(Factor<double>());
  EXPECT_EQ(inverse.size(), 0);
  EXPECT_EQ(inverse.matrix().cols(), 0);
}

}  // namespace
}  // namespace palmette
