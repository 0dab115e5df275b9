// Products and triangular solves against the definition, for every scalar type and shapes from empty to
// beyond every threshold.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "tests/blocks/dense_testing.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;
using blas::Transpose;

template <class T>
class Products : public ::testing::Test {};
TYPED_TEST_SUITE(Products, TestedScalars);

/// Bound on the error of an inner product of `inner` entries of modulus ≤ √2: (inner + 2)·2u·2·inner would be
/// the worst case; errors add up like a random walk, so a quarter of it is generous.
template <class T>
double product_bound(index_t inner) {
  return 4.0 * (inner + 4) * unit_roundoff<T> * 2.0;
}

TYPED_TEST(Products, gemm_matches_the_definition_for_every_operation) {
  using T = TypeParam;
  for (const Transpose op_a : {Transpose::no, Transpose::transpose, Transpose::adjoint})
    for (const Transpose op_b : {Transpose::no, Transpose::transpose, Transpose::adjoint}) {
      const index_t m = 13, n = 7, k = 11;
      const auto a = op_a == Transpose::no ? random_dense<T>(m, k, 1) : random_dense<T>(k, m, 1);
      const auto b = op_b == Transpose::no ? random_dense<T>(k, n, 2) : random_dense<T>(n, k, 2);
      DenseMatrix<T> c(m, n);
      // beta = 0 overwrites
      std::fill(c.values.begin(), c.values.end(), std::numeric_limits<real_t<T>>::quiet_NaN());
      blas::gemm<T>(op_a, op_b, T(1), a.view(), b.view(), T(0), c.view());
      const auto expected = naive_product<T>(op_a, op_b, a.view(), b.view());
      EXPECT_LE(largest_difference<T>(c.view(), expected.view()), product_bound<T>(k));
    }
}

TYPED_TEST(Products, gemm_with_inner_size_zero_scales_only) {
  using T = TypeParam;
  DenseMatrix<T> a(3, 0), b(0, 2), c = random_dense<T>(3, 2, 5);
  const DenseMatrix<T> before = c;
  blas::gemm<T>(Transpose::no, Transpose::no, T(1), a.view(), b.view(), T(2), c.view());
  EXPECT_EQ(c.view()(2, 1), T(2) * before.view()(2, 1));
  blas::gemm<T>(Transpose::no, Transpose::no, T(1), a.view(), b.view(), T(0), c.view());
  EXPECT_EQ(largest<T>(c.view()), 0.0);
}

TYPED_TEST(Products, syrk_touches_the_lower_triangle_only) {
  using T = TypeParam;
  const index_t n = 9, k = 5;
  const auto a = random_dense<T>(n, k, 3);
  for (const bool hermitian : {false, true}) {
    DenseMatrix<T> c(n, n);
    blas::syrk_lower<T>(hermitian, T(1), a.view(), T(0), c.view());
    const auto expected = naive_product<T>(
        Transpose::no, hermitian ? Transpose::adjoint : Transpose::transpose, a.view(), a.view());
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) {
        const T wanted = i >= j ? expected.view()(i, j) : T(0);
        EXPECT_LE(std::abs(c.view()(i, j) - wanted), product_bound<T>(k));
      }
  }
}

/// Ascending places in [0, size): runs and gaps of both kinds.
std::vector<index_t> some_places(index_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<index_t> place(count);
  for (index_t i = 0, at = 0; i < count; ++i, ++at) place[i] = at += generator() % 8 == 0 ? 3 : 0;
  return place;
}

TYPED_TEST(Products, placed_products_arrive_at_their_places_and_nowhere_else) {
  using T = TypeParam;
  for (const index_t m : {0, 1, 2, 7, 8, 15, 24, 47, 48, 100, 257})
    for (const index_t n : {1, 2, 3, 4, 6, 8, 9, 21})
      for (const index_t k : {0, 1, 3, 8, 130, 192, 193}) {
        const std::vector<index_t> row = some_places(m, 1), column = some_places(n, 2);
        const auto a = random_dense<T>(m, k, 3), b = random_dense<T>(n, k, 4);
        const auto before = random_dense<T>(3 * m + 5, 3 * n + 5, 5);
        std::vector<T> spare(m * n);
        for (const bool adjoint : {false, true}) {
          const auto product = naive_product<T>(
              Transpose::no, adjoint ? Transpose::adjoint : Transpose::transpose, a.view(), b.view());
          auto panel = before, wanted = before;
          for (index_t j = 0; j < n; ++j)
            for (index_t i = 0; i < m; ++i) wanted.view()(row[i], column[j]) -= product.view()(i, j);
          subtract_placed<T>(
              {adjoint, a.view(), b.view(), {row.data(), column.data()}, {b.view(), a.view()}, spare.data()},
              panel.view());
          ASSERT_LE(largest_difference<T>(panel.view(), wanted.view()), product_bound<T>(k))
              << m << " " << n << " " << k;
          if (k == 0) { ASSERT_EQ(panel.values, before.values); }
        }
      }
}

TYPED_TEST(Products, placed_products_have_the_same_bits_in_any_rows) {
  using T = TypeParam;
  // With narrow registers the shape decides whether BLAS computes a larger product, and other rows make
  // another shape.
  const index_t m = 101, n = 13, k = lanes::register_bytes >= 32 ? 40 : 4;
  const std::vector<index_t> row = some_places(m, 1), column = some_places(n, 2);
  const auto a = random_dense<T>(m, k, 3), b = random_dense<T>(n, k, 4),
             before = random_dense<T>(3 * m, 3 * n, 5);
  auto whole = before, pieces = before;
  std::vector<T> spare(m * n);
  subtract_placed<T>({true, a.view(), b.view(), {row.data(), column.data()}, {}, spare.data()}, whole.view());
  for (index_t first = 0; first < m; first += 9) {
    const DenseView<const T> rows{a.values.data() + first, std::min<index_t>(9, m - first), k, m};
    subtract_placed<T>({true, rows, b.view(), {row.data() + first, column.data()}, {}, spare.data()},
                       pieces.view());
  }
  EXPECT_EQ(whole.values, pieces.values);
}

TYPED_TEST(Products, a_symmetric_placed_product_has_the_bits_of_the_whole_one_from_its_diagonal_down) {
  using T = TypeParam;
  // With narrow registers the shape decides whether BLAS computes a product.
  const index_t k = lanes::register_bytes >= 32 ? 40 : 4;
  for (const index_t n : {1, 7, 8, 9, 24, 33, 61})
    for (const index_t shift : {0, 1, 8, 23, 30}) {
      const index_t m = 2 * n + 3;
      const std::vector<index_t> row = some_places(m, 1), column = some_places(n, 2);
      const auto a = random_dense<T>(m, k, 3), b = random_dense<T>(n, k, 4),
                 before = random_dense<T>(4 * m, 4 * n, 5);
      auto whole = before, lower = before;
      std::vector<T> spare(m * n);
      PlacedProduct<T> product{true, a.view(), b.view(), {row.data(), column.data()}, {}, spare.data()};
      subtract_placed<T>(product, whole.view());
      product.shift = shift;
      subtract_placed<T>(product, lower.view());
      for (index_t j = 0; j < n; ++j)
        for (index_t i = std::max(0, j - shift); i < m; ++i)
          ASSERT_EQ(lower.view()(row[i], column[j]), whole.view()(row[i], column[j])) << n << " " << shift;
    }
}

TYPED_TEST(Products, rows_of_a_register_arrive_at_any_distance_with_the_same_bits) {
  using T = TypeParam;
  const index_t n = 9, k = 4;
  for (const index_t m : {1, 5, 8, 16, 31, 48})
    for (const index_t gap : {1, 2, 3, 9, 40})
      for (const index_t every : {1, 2, 5, 7}) {
        std::vector<index_t> row(m), side_by_side(m), column(n);
        for (index_t i = 0, at = 2; i < m; ++i, at += i % every == 0 ? gap : 1) row[i] = at;
        std::iota(side_by_side.begin(), side_by_side.end(), 0);
        std::iota(column.begin(), column.end(), 0);
        const auto a = random_dense<T>(m, k, 3), b = random_dense<T>(n, k, 4),
                   dense = random_dense<T>(m, n, 5);
        const index_t rows = row.back() + 1;
        auto panel = random_dense<T>(rows, n, 6), plain = dense;
        auto wanted = panel;
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i < m; ++i) panel.view()(row[i], j) = dense.view()(i, j);
        std::vector<T> spare(m * n);
        subtract_placed<T>({true, a.view(), b.view(), {row.data(), column.data()}, {}, spare.data()},
                           panel.view());
        subtract_placed<T>({true, a.view(), b.view(), {side_by_side.data(), column.data()}, {}, spare.data()},
                           plain.view());
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i < m; ++i) wanted.view()(row[i], j) = plain.view()(i, j);
        ASSERT_EQ(panel.values, wanted.values) << m << " " << gap << " " << every;
      }
}

TYPED_TEST(Products, panel_kernels_match_the_definition_for_every_shape) {
  using T = TypeParam;
  for (const index_t m : {0, 1, 2, 3, 5, 7, 8, 13, 16, 31, 64, 257})
    for (const index_t w : {0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 33})
      for (const index_t num_rhs : {0, 1, 2, 3, 4, 7, 11, 50}) {
        const auto a = random_dense<T>(m, w, 7);
        const auto x = random_dense<T>(w, num_rhs, 8), y = random_dense<T>(m, num_rhs, 9);
        DenseMatrix<T> out = random_dense<T>(m, num_rhs, 10);
        panel_multiply<T>(a.view(), x.view(), out.view());
        const auto plain = naive_product<T>(Transpose::no, Transpose::no, a.view(), x.view());
        ASSERT_LE(largest_difference<T>(out.view(), plain.view()), product_bound<T>(w))
            << m << " " << w << " " << num_rhs;
        for (const bool adjoint : {false, true}) {
          const auto wanted = naive_product<T>(adjoint ? Transpose::adjoint : Transpose::transpose,
                                               Transpose::no, a.view(), y.view());
          DenseMatrix<T> product = random_dense<T>(w, num_rhs, 11), minuend = random_dense<T>(w, num_rhs, 12);
          DenseMatrix<T> difference = minuend;
          panel_multiply_transposed<T>(adjoint, a.view(), y.view(), product.view());
          panel_multiply_transposed_subtract<T>(adjoint, a.view(), y.view(), difference.view());
          for (std::size_t entry = 0; entry < minuend.values.size(); ++entry)
            minuend.values[entry] -= wanted.values[entry];
          ASSERT_LE(largest_difference<T>(product.view(), wanted.view()), product_bound<T>(m))
              << m << " " << w;
          ASSERT_LE(largest_difference<T>(difference.view(), minuend.view()), product_bound<T>(m))
              << m << " " << w;
        }
      }
}

TYPED_TEST(Products, panel_kernels_give_the_same_bits_wherever_the_panel_lies) {
  using T = TypeParam;
  const index_t m = 45, w = 11;
  const auto a = random_dense<T>(m, w, 20);
  const auto x = random_dense<T>(w, 3, 21);
  DenseMatrix<T> reference(m, 3);
  panel_multiply<T>(a.view(), x.view(), reference.view());
  for (index_t shift = 1; shift < 9; ++shift) {
    DenseMatrix<T> room(m + shift, w), out(m + shift, 3);
    const DenseView<T> moved{room.values.data() + shift, m, w, m + shift};
    for (index_t j = 0; j < w; ++j)
      for (index_t i = 0; i < m; ++i) moved(i, j) = a.view()(i, j);
    const DenseView<T> result{out.values.data() + shift, m, 3, m + shift};
    panel_multiply<T>(moved, x.view(), result);
    EXPECT_EQ(largest_difference<T>(result, reference.view()), 0.0);
  }
}

TYPED_TEST(Products, row_products_match_the_definition_on_both_sides_of_the_threshold) {
  using T = TypeParam;
  for (const index_t m : {0, 1, 3, 8, 17, 100, 300})
    for (const index_t n : {0, 1, 2, 3, 5, 8, 33})
      for (const index_t k : {0, 1, 4, 5, 9, 40})
        for (const bool adjoint : {false, true}) {
          const auto a = random_dense<T>(m, k, 31), b = random_dense<T>(n, k, 32);
          auto product = random_dense<T>(m, n, 33), minuend = random_dense<T>(m, n, 34), difference = minuend;
          multiply_rows<T>(adjoint, a.view(), b.view(), product.view());
          subtract_rows<T>(adjoint, a.view(), b.view(), difference.view());
          const auto wanted = naive_product<T>(
              Transpose::no, adjoint ? Transpose::adjoint : Transpose::transpose, a.view(), b.view());
          for (std::size_t entry = 0; entry < minuend.values.size(); ++entry)
            minuend.values[entry] -= wanted.values[entry];
          ASSERT_LE(largest_difference<T>(product.view(), wanted.view()), product_bound<T>(k))
              << m << " " << n << " " << k;
          ASSERT_LE(largest_difference<T>(difference.view(), minuend.view()), product_bound<T>(k))
              << m << " " << n;
        }
}

TYPED_TEST(Products, plain_products_match_the_definition) {
  using T = TypeParam;
  for (const index_t m : {0, 1, 7, 24, 100})
    for (const index_t n : {0, 1, 3, 8, 33})
      for (const index_t k : {0, 1, 5, 40, 200}) {
        const auto a = random_dense<T>(m, k, 61), b = random_dense<T>(k, n, 62);
        auto product = random_dense<T>(m, n, 63), minuend = random_dense<T>(m, n, 64), difference = minuend;
        multiply_plain<T>(a.view(), b.view(), product.view());
        subtract_plain<T>(a.view(), b.view(), difference.view());
        const auto wanted = naive_product<T>(Transpose::no, Transpose::no, a.view(), b.view());
        for (std::size_t entry = 0; entry < minuend.values.size(); ++entry)
          minuend.values[entry] -= wanted.values[entry];
        ASSERT_LE(largest_difference<T>(product.view(), wanted.view()), product_bound<T>(k))
            << m << " " << n << " " << k;
        ASSERT_LE(largest_difference<T>(difference.view(), minuend.view()), product_bound<T>(k))
            << m << " " << n;
      }
}

TYPED_TEST(Products, products_with_a_transposed_left_factor_match_the_definition) {
  using T = TypeParam;
  const index_t beyond = 5;  // rows of all three arrays behind those in use
  for (const index_t m : {0, 1, 7, 13, 24, 25, 41, 100})
    for (const index_t n : {0, 1, 3, 8, 33})
      for (const index_t k : {0, 1, 5, 16, 40, 193, 400})
        for (const bool adjoint : {false, true}) {
          const auto a = random_dense<T>(k + beyond, m, 65), b = random_dense<T>(k + beyond, n, 66);
          const auto before = random_dense<T>(m + beyond, n, 67);
          auto c = before;
          const DenseView<const T> left{a.values.data(), k, m, k + beyond};
          const DenseView<const T> right{b.values.data(), k, n, k + beyond};
          subtract_transposed<T>(adjoint, left, right, {c.values.data(), m, n, m + beyond});
          const Transpose op = adjoint ? Transpose::adjoint : Transpose::transpose;
          const auto wanted = naive_product<T>(op, Transpose::no, left, right);
          for (index_t j = 0; j < n; ++j)
            for (index_t i = 0; i < m + beyond; ++i) {
              const T difference = c.view()(i, j) - before.view()(i, j);
              if (i >= m) ASSERT_EQ(difference, T(0)) << m << " " << n << " " << k;
              else
                ASSERT_LE(std::abs(difference + wanted.view()(i, j)), product_bound<T>(k))
                    << m << " " << n << " " << k;
            }
        }
}

TYPED_TEST(Products, an_entry_of_a_transposed_product_has_the_same_bits_in_every_shape) {
  using T = TypeParam;
  if (lanes::register_bytes < 32) GTEST_SKIP() << "BLAS, which chooses its own order, computes such products";
  const index_t k = 300, m = 61, n = 19;
  const auto a = random_dense<T>(k, m, 68), b = random_dense<T>(k, n, 69);
  DenseMatrix<T> whole(m, n);
  subtract_transposed<T>(false, a.view(), b.view(), whole.view());
  for (const index_t first : {1, 6, 23, 40})
    for (const index_t count : {1, 5, 20}) {
      DenseMatrix<T> some(count, 3);
      subtract_transposed<T>(false, a.view().columns(first, count), b.view().columns(7, 3), some.view());
      for (index_t j = 0; j < 3; ++j)
        for (index_t i = 0; i < count; ++i)
          ASSERT_EQ(some.view()(i, j), whole.view()(first + i, 7 + j)) << first << " " << count;
    }
}

TYPED_TEST(Products, subtracting_a_lower_trapezoid_gives_its_lower_part) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair(1, 1), {9, 5}, {70, 70}, {100, 40}})
    for (const bool adjoint : {false, true}) {
      const auto a = random_dense<T>(m, 13, 71);
      const DenseView<const T> first{a.values.data(), n, 13, m};
      auto c = random_dense<T>(m, n, 72);
      const auto before = c;
      subtract_lower<T>(adjoint, a.view(), c.view());
      const auto product = naive_product<T>(
          Transpose::no, adjoint ? Transpose::adjoint : Transpose::transpose, a.view(), first);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = j; i < m; ++i)
          ASSERT_LE(std::abs(c.view()(i, j) - (before.view()(i, j) - product.view()(i, j))),
                    product_bound<T>(13));
    }
}

/// A triangle that is far from singular, with entries on its other side that nothing may read.
template <class T>
struct RandomTriangle {
  RandomTriangle(index_t w, blas::Triangle triangle, blas::Diagonal diagonal)
      : stored(random_dense<T>(w, w, 41)), dense(w, w) {
    for (T& value : stored.values) value *= real_t<T>(0.5 / (w + 1));
    for (index_t k = 0; k < w; ++k) stored.view()(k, k) += T(2);
    for (index_t j = 0; j < w; ++j)
      for (index_t i = 0; i < w; ++i) {
        const bool inside = triangle == blas::Triangle::lower ? i > j : i < j;
        dense.view()(i, j) = i == j ? (diagonal == blas::Diagonal::unit ? T(1) : stored.view()(i, i))
                                    : inside ? stored.view()(i, j) : T(0);
      }
  }
  DenseMatrix<T> stored;
  DenseMatrix<T> dense;  ///< with all entries written out
};
template <class Use>
void over_divisions(Use&& use) {
  for (const auto triangle : {blas::Triangle::lower, blas::Triangle::upper})
    for (const auto op : {Transpose::no, Transpose::transpose, Transpose::adjoint})
      for (const auto diagonal : {blas::Diagonal::stored, blas::Diagonal::unit})
        use(PanelDivision{triangle, op, diagonal});
}

TYPED_TEST(Products, dividing_a_panel_by_a_triangle_leaves_a_small_residual) {
  using T = TypeParam;
  for (const index_t w : {0, 1, 2, 5, 12, 13, 40, 100})
    for (const index_t m : {0, 1, 7, 30})
      over_divisions([&](const PanelDivision& how) {
        const RandomTriangle<T> a(w, how.triangle, how.diagonal);
        const auto b = random_dense<T>(m, w, 42);
        auto x = b;
        solve_panel_rows<T>(how, a.stored.view(), x.view());
        const auto back = naive_product<T>(Transpose::no, how.op, x.view(), a.dense.view());
        ASSERT_LE(largest_difference<T>(back.view(), b.view()), 40 * (w + 1) * unit_roundoff<T>)
            << w << " " << m;
      });
}

TYPED_TEST(Products, dividing_columns_by_a_triangle_leaves_a_small_residual) {
  using T = TypeParam;
  const index_t beyond = 3;
  for (const index_t w : {0, 1, 2, 5, 8, 13, 16, 17, 40, 100})
    for (const index_t n : {0, 1, 7, 9, 30, 40})
      over_divisions([&](const PanelDivision& how) {
        const RandomTriangle<T> a(w, how.triangle, how.diagonal);
        auto x = random_dense<T>(w + beyond, n, 43);
        const auto given = x;
        const DenseView<T> rows{x.values.data(), w, n, w + beyond};
        solve_panel_columns<T>(how, a.stored.view(), rows);
        const auto back = naive_product<T>(how.op, Transpose::no, a.dense.view(), rows);
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i < w + beyond; ++i)
            if (i >= w) ASSERT_EQ(x.view()(i, j), given.view()(i, j)) << w << " " << n;
            else
              ASSERT_LE(std::abs(back.view()(i, j) - given.view()(i, j)), 40 * (w + 1) * unit_roundoff<T>)
                  << w << " " << n;
      });
}

TYPED_TEST(Products, dividing_by_pairs_undoes_multiplying) {
  using T = TypeParam;
  // D = diag(2, [[0, 1], [1, 0]], −3): the middle block's inverse is itself (its conjugate transpose in the
  // Hermitian case).
  const std::vector<T> d = {T(2), T(0), T(0), T(-3)}, below = {T(0), T(1), T(0), T(0)};
  for (const bool hermitian : {false, true}) {
    const PairDiagonal<T> pairs{hermitian, d, below};
    const auto a = random_dense<T>(6, 4, 51);
    DenseMatrix<T> product(6, 4);
    multiply_by_pairs<T>(pairs, a.view(), product.view());
    EXPECT_EQ(product.view()(3, 0), T(2) * a.view()(3, 0));
    EXPECT_EQ(product.view()(3, 1), a.view()(3, 2));
    EXPECT_EQ(product.view()(3, 2), a.view()(3, 1));
    divide_by_pairs<T>(pairs, product.view());
    EXPECT_LE(largest_difference<T>(product.view(), a.view()), 8 * unit_roundoff<T>);
  }
}

TEST(blas, one_thread_is_obeyed_or_refused_but_never_crashes) {
  const bool obeyed = blas::use_one_thread();
  EXPECT_EQ(blas::use_one_thread(), obeyed);
}

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(idle_threads, are_ended_stay_ended_and_products_are_right_without_them) {
  const std::ptrdiff_t before = threads_of_this_process();
  blas::end_idle_threads();
  const std::ptrdiff_t after = threads_of_this_process();
  EXPECT_LE(after, before);
  EXPECT_TRUE(blas::use_one_thread());
  const index_t n = 200;
  const auto a = random_dense<double>(n, n, 1), b = random_dense<double>(n, n, 2);
  DenseMatrix<double> c(n, n);
  blas::gemm<double>(Transpose::no, Transpose::no, 1.0, a.view(), b.view(), 0.0, c.view());
  const auto expected = naive_product<double>(Transpose::no, Transpose::no, a.view(), b.view());
  EXPECT_LE(largest_difference<double>(c.view(), expected.view()), product_bound<double>(n));
  EXPECT_EQ(threads_of_this_process(), after);
  blas::end_idle_threads();  // a second time does nothing
  EXPECT_EQ(threads_of_this_process(), after);
}

}  // namespace
}  // namespace palmette
