// Dense factorizations of one block, judged by the product of their factors.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/blocks/dense_testing.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;
using blas::Transpose;

template <class T>
class DenseFactor : public ::testing::Test {};
TYPED_TEST_SUITE(DenseFactor, TestedScalars);

const std::vector<index_t> widths = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 24, 25, 31, 64, 97, 128};

/// Backward error ‖A − product‖_max / (growth·‖A‖_max) is bounded by c·w·u for each of the three; c = 10 is
/// generous.
template <class T>
double backward_bound(index_t w) {
  return 10.0 * (w + 1) * unit_roundoff<T>;
}

template <class T>
DenseMatrix<T> unit_lower(DenseView<const T> block) {
  DenseMatrix<T> l(block.rows, block.cols);
  for (index_t j = 0; j < block.cols; ++j) {
    l.view()(j, j) = T(1);
    for (index_t i = j + 1; i < block.rows; ++i) l.view()(i, j) = block(i, j);
  }
  return l;
}

template <class T>
struct Ldlt {
  DenseMatrix<T> block;
  std::vector<T> d, d_below;
  std::vector<index_t> place;
  BlockPivots pivots;

  Ldlt(bool hermitian, real_t<T> tiny, const DenseMatrix<T>& a)
      : block(a), d(static_cast<std::size_t>(a.cols)), d_below(d.size()), place(d.size()) {
    pivots = factor_ldlt<T>(hermitian, tiny, block.view(), {d, d_below}, place);
  }
  /// ‖P·A·Pᵀ − L·D·Lᵀ‖_max / ‖A‖_max
  double backward_error(bool hermitian, const DenseMatrix<T>& a) const {
    const index_t w = a.cols;
    const DenseMatrix<T> l = unit_lower<T>(block.view());
    DenseMatrix<T> ld(w, w), permuted(w, w);
    multiply_by_pairs<T>({hermitian, d, d_below}, l.view(), ld.view());
    for (index_t j = 0; j < w; ++j)
      for (index_t i = 0; i < w; ++i) permuted.view()(i, j) = a.view()(place[i], place[j]);
    const auto product = naive_product<T>(
        Transpose::no, hermitian ? Transpose::adjoint : Transpose::transpose, ld.view(), l.view());
    return largest_difference<T>(product.view(), permuted.view()) / std::max(largest<T>(a.view()), 1e-300);
  }
};

TYPED_TEST(DenseFactor, llt_multiplies_back_and_never_reads_the_upper_triangle) {
  using T = TypeParam;
  for (const index_t w : widths) {
    const auto b = random_dense<T>(w, w, 3);
    auto a = naive_product<T>(Transpose::no, Transpose::adjoint, b.view(), b.view());
    for (index_t k = 0; k < w; ++k) a.view()(k, k) += T(1);
    auto block = a;
    for (index_t j = 0; j < w; ++j)
      for (index_t i = 0; i < j; ++i) block.view()(i, j) = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    ASSERT_EQ(factor_llt<T>(block.view()), -1);
    DenseMatrix<T> l(w, w);
    for (index_t j = 0; j < w; ++j)
      for (index_t i = 0; i < w; ++i) {
        if (i >= j) l.view()(i, j) = block.view()(i, j);
      }
    const auto back = naive_product<T>(Transpose::no, Transpose::adjoint, l.view(), l.view());
    EXPECT_LE(largest_difference<T>(back.view(), a.view()),
              backward_bound<T>(w) * std::max(1.0, largest<T>(a.view())))
        << w;
  }
}

TYPED_TEST(DenseFactor, llt_names_the_first_column_whose_pivot_is_not_positive) {
  using T = TypeParam;
  for (const index_t w : {1, 7, 24, 40, 128})
    for (const index_t bad : {index_t(0), w / 2, w - 1})
      for (const real_t<T> pivot : {real_t<T>(0), real_t<T>(-1), std::numeric_limits<real_t<T>>::quiet_NaN(),
                                    std::numeric_limits<real_t<T>>::infinity()}) {
        DenseMatrix<T> a(w, w);
        for (index_t k = 0; k < w; ++k) a.view()(k, k) = T(4);
        a.view()(bad, bad) = T(pivot);
        EXPECT_EQ(factor_llt<T>(a.view()), bad) << w << " " << pivot;
      }
}

TYPED_TEST(DenseFactor, inverse_of_a_triangle_times_the_triangle_is_the_identity) {
  using T = TypeParam;
  for (const index_t w : widths)
    for (const bool lower : {false, true})
      for (const bool unit : {false, true}) {
        auto a = random_dense<T>(w, w, 4);
        for (T& value : a.values) value *= real_t<T>(1.0 / (w + 1));
        for (index_t k = 0; k < w; ++k) a.view()(k, k) = unit ? T(55) : T(2) + a.view()(k, k);
        auto inverse = a;
        ASSERT_EQ(invert_triangle<T>(lower, unit, inverse.view()), -1);
        DenseMatrix<T> left(w, w), right(w, w), identity(w, w);
        for (index_t j = 0; j < w; ++j) {
          identity.view()(j, j) = T(1);
          for (index_t i = 0; i < w; ++i) {
            const bool strictly_inside = lower ? i > j : i < j;
            if (i == j) {
              left.view()(i, j) = unit ? T(1) : a.view()(i, j);
              right.view()(i, j) = unit ? T(1) : inverse.view()(i, j);
              if (unit) { ASSERT_EQ(inverse.view()(i, j), T(55)); }
            } else if (strictly_inside) {
              left.view()(i, j) = a.view()(i, j);
              right.view()(i, j) = inverse.view()(i, j);
            } else {
              ASSERT_EQ(inverse.view()(i, j), a.view()(i, j)) << "the other triangle was touched";
            }
          }
        }
        const auto product = naive_product<T>(Transpose::no, Transpose::no, left.view(), right.view());
        EXPECT_LE(largest_difference<T>(product.view(), identity.view()), backward_bound<T>(w))
            << w << lower << unit;
      }
}

TEST(dense_factor, inverting_names_the_first_zero_of_the_diagonal) {
  DenseMatrix<double> a(3, 3);
  a.view()(0, 0) = 1;
  EXPECT_EQ(invert_triangle<double>(true, false, a.view()), 1);
  EXPECT_EQ(invert_triangle<double>(true, true, a.view()), -1);
}

TYPED_TEST(DenseFactor, ldlt_multiplies_back_for_symmetric_and_hermitian_blocks) {
  using T = TypeParam;
  for (const index_t w : widths)
    for (const bool hermitian : {false, true})
      for (unsigned seed = 1; seed <= 6; ++seed) {
        const auto a = random_symmetric<T>(hermitian, w, seed);
        const Ldlt<T> factor(hermitian, real_t<T>(0), a);
        EXPECT_LE(factor.backward_error(hermitian, a), backward_bound<T>(w))
            << w << " " << hermitian << " " << seed;
        EXPECT_TRUE(factor.pivots.perturbed.empty());
        EXPECT_LE(largest<T>(unit_lower<T>(factor.block.view()).view()), 4.0) << "rook pivoting bounds L";
        std::vector<index_t> sorted = factor.place;
        std::sort(sorted.begin(), sorted.end());
        for (index_t k = 0; k < w; ++k) ASSERT_EQ(sorted[k], k);
      }
}

TYPED_TEST(DenseFactor, ldlt_of_blocks_with_zero_diagonals_needs_no_replacement) {
  using T = TypeParam;
  // The saddle-point block [[0, B], [Bᵀ, 0]] has a zero diagonal; random B makes it nonsingular.
  for (const index_t half : {1, 3, 16, 50}) {
    DenseMatrix<T> a(2 * half, 2 * half);
    const auto b = random_dense<T>(half, half, 9);
    for (index_t j = 0; j < half; ++j)
      for (index_t i = 0; i < half; ++i) {
        a.view()(half + i, j) = b.view()(i, j);
        a.view()(j, half + i) = b.view()(i, j);
      }
    const Ldlt<T> factor(false, real_t<T>(10 * unit_roundoff<T>), a);
    EXPECT_LE(factor.backward_error(false, a), backward_bound<T>(2 * half)) << half;
    EXPECT_TRUE(factor.pivots.perturbed.empty()) << half;
  }
}

TEST(dense_factor, exchange_matrix_is_one_exact_two_by_two_pivot) {
  DenseMatrix<double> a(2, 2);
  a.view()(0, 1) = a.view()(1, 0) = 1;
  const Ldlt<double> factor(false, 1e-10, a);
  EXPECT_EQ(factor.d, (std::vector<double>{0, 0}));
  EXPECT_EQ(factor.d_below, (std::vector<double>{1, 0}));
  EXPECT_EQ(factor.place, (std::vector<index_t>{0, 1}));
  EXPECT_EQ(factor.pivots.smallest_modulus, 1.0);  // eigenvalues ±1
  EXPECT_EQ(factor.pivots.largest_modulus, 1.0);
}

TYPED_TEST(DenseFactor, ldlt_replaces_tiny_pivots_with_their_own_sign) {
  using T = TypeParam;
  const real_t<T> tiny = real_t<T>(1e-3);
  DenseMatrix<T> a(4, 4);
  a.view()(0, 0) = T(1);
  a.view()(1, 1) = T(real_t<T>(-1e-5));
  a.view()(3, 3) = T(real_t<T>(1e-5));
  const Ldlt<T> factor(false, tiny, a);
  ASSERT_EQ(factor.pivots.perturbed, (std::vector<index_t>{1, 2, 3}));
  EXPECT_NEAR(std::real(factor.d[1]), -tiny, 1e-9);
  EXPECT_EQ(factor.d[2], T(tiny));  // zero counts as positive
  EXPECT_NEAR(std::real(factor.d[3]), tiny, 1e-9);
  EXPECT_EQ(factor.pivots.smallest_modulus, 0.0);
}

TYPED_TEST(DenseFactor, ldlt_of_the_zero_block_replaces_every_pivot) {
  using T = TypeParam;
  const index_t w = 33;
  const Ldlt<T> factor(true, real_t<T>(0.5), DenseMatrix<T>(w, w));
  EXPECT_EQ(static_cast<index_t>(factor.pivots.perturbed.size()), w);
  for (const T& pivot : factor.d) EXPECT_EQ(pivot, T(real_t<T>(0.5)));
}

TEST(dense_factor, ldlt_keeps_the_phase_of_a_complex_symmetric_pivot) {
  using T = std::complex<double>;
  DenseMatrix<T> a(1, 1);
  a.view()(0, 0) = T(0, -1e-8);
  const Ldlt<T> factor(false, 1e-2, a);
  EXPECT_NEAR(std::abs(factor.d[0] - T(0, -1e-2)), 0, 1e-17);
}

TYPED_TEST(DenseFactor, lu_multiplies_back_and_bounds_l_by_one) {
  using T = TypeParam;
  for (const index_t w : widths) {
    const auto a = random_dense<T>(w, w, 12);
    auto block = a;
    std::vector<index_t> place(w);
    const BlockPivots pivots = factor_lu<T>(real_t<T>(0), block.view(), place);
    EXPECT_TRUE(pivots.perturbed.empty());
    const DenseMatrix<T> l = unit_lower<T>(block.view());
    // pivots are chosen by |re| + |im|: √2
    EXPECT_LE(largest<T>(l.view()), is_complex_v<T> ? 1.5 : 1.0 + 1e-6);
    DenseMatrix<T> u(w, w), permuted(w, w);
    for (index_t j = 0; j < w; ++j)
      for (index_t i = 0; i < w; ++i) {
        if (i <= j) u.view()(i, j) = block.view()(i, j);
        permuted.view()(i, j) = a.view()(place[i], j);
      }
    const auto product = naive_product<T>(Transpose::no, Transpose::no, l.view(), u.view());
    EXPECT_LE(largest_difference<T>(product.view(), permuted.view()), backward_bound<T>(w)) << w;
  }
}

TYPED_TEST(DenseFactor, lu_replaces_tiny_pivots_and_records_them) {
  using T = TypeParam;
  // Column 1 is twice column 0: after one step the second pivot is exactly zero.
  DenseMatrix<T> a(3, 3);
  const double rows[3][3] = {{4, 8, 1}, {2, 4, 3}, {1, 2, 1}};
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = 0; j < 3; ++j) a.view()(i, j) = T(real_t<T>(rows[i][j]));
  std::vector<index_t> place(3);
  const BlockPivots pivots = factor_lu<T>(real_t<T>(0.25), a.view(), place);
  EXPECT_EQ(pivots.perturbed, (std::vector<index_t>{1}));
  EXPECT_EQ(a.view()(1, 1), T(real_t<T>(0.25)));
  EXPECT_EQ(pivots.smallest_modulus, 0.0);
  EXPECT_EQ(pivots.largest_modulus, 4.0);
}

TEST(dense_factor, nan_in_a_block_ends_every_factorization) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const index_t w : {1, 2, 9, 40}) {
    auto a = random_symmetric<double>(false, w, 2);
    a.view()(w - 1, 0) = nan;
    const Ldlt<double> ldlt(false, 1e-8, a);
    EXPECT_FALSE(std::all_of(ldlt.d.begin(), ldlt.d.end(), [](double pivot) { return is_finite(pivot); }))
        << w;
    std::vector<index_t> place(w);
    auto block = a;
    (void)factor_lu<double>(1e-8, block.view(), place);
    EXPECT_GE(factor_llt<double>(a.view()), 0);
  }
}

TEST(factor, memory_counts_panels_pivots_and_scalings) {
  Factor<double> factor;
  EXPECT_EQ(factor.size(), 0);
  factor.lower = PanelArray<double>(10);
  factor.d.resize(3);
  factor.place.resize(3);
  factor.row_scale.resize(3);
  EXPECT_EQ(factor.memory_bytes(), 80 + 24 + 12 + 24);
}

}  // namespace
}  // namespace palmette
