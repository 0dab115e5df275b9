// Packed panels against their definition: every scalar type, widths that fit and do not fit into registers,
// tails of chunks, contiguous and scattered rows, one right-hand side and many.
#include <gtest/gtest.h>

#include "tests/blocks/dense_testing.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

template <class T>
class PackedPanels : public ::testing::Test {};
TYPED_TEST_SUITE(PackedPanels, TestedScalars);

constexpr index_t shapes[][2] = {{1, 0},  {1, 8},   {2, 3},  {3, 17},  {5, 1},   {8, 8},
                                 {9, 24}, {13, 36}, {16, 7}, {17, 33}, {24, 16}, {31, 9},
                                 {32, 20}, {33, 16}, {40, 50}, {64, 24}};

/// One supernode packed, with its own rows and the rows below in a vector that has others between them.
template <class T>
struct Case {
  index_t width, below;
  bool square, scattered;
  DenseMatrix<T> top, bottom;
  std::vector<T> packed;
  std::vector<index_t> list;
  index_t length;

  Case(index_t w, index_t r, bool is_square, bool is_scattered)
      : width(w),
        below(r),
        square(is_square),
        scattered(is_scattered),
        top(w, w),
        bottom(r, w),
        packed(static_cast<std::size_t>(packed_entries(sizeof(T), w, r, is_square) + packed_slack)),
        length(w + 3 * r + 40) {
    DenseMatrix<T> inverse = random_dense<T>(w, w, 3);
    for (index_t column = 0; column < w; ++column) std::fill_n(inverse.view().column(column), column, T(0));
    // Rows of a longer panel, as in a factor.
    const DenseMatrix<T> panel = random_dense<T>(r + 3, w, 4);
    const DenseView<const T> c{panel.view().data + 3, r, w, r + 3};
    const auto product = naive_product<T>(blas::Transpose::no, blas::Transpose::no, c, inverse.view());
    std::vector<index_t> place;
    for (index_t k = 0; k < w; ++k) place.push_back(square ? (k + w / 2) % w : k);
    for (index_t k = 0; k < w; ++k) {
      std::copy_n(inverse.view().column(k), w, top.view().column(place[k]));
      std::copy_n(product.view().column(k), r, bottom.view().column(place[k]));
    }
    // The memory behind a panel does not belong to it, and must not affect the result even if it is NaN.
    std::fill(packed.begin(), packed.end(), T(std::numeric_limits<real_t<T>>::quiet_NaN()));
    pack_panel<T>({square, std::as_const(inverse).view(), c, square ? place.data() : nullptr},
                  packed.data());
    for (index_t k = 0; k < r; ++k) list.push_back(w + 2 + 2 * k + k % 2);
    // Places of other rows, which follow in a list that many panels share.
    for (index_t k = 0; k < packed_slack; ++k) list.push_back(k % length);
  }
  PackedPanel<T> panel() const { return {packed.data(), width, below, square}; }
  RowPlaces places() const { return {width + 3, scattered ? list.data() : nullptr, below}; }
};

/// Largest difference between `after` and the correct result of `run` for `before`, for one right-hand side.
template <class T>
double forward_error(const Case<T>& given, const std::vector<T>& before, const std::vector<T>& after) {
  std::vector<T> expected = before;
  for (index_t row = 0; row < given.width; ++row) {
    expected[row] = T(0);
    for (index_t c = 0; c < given.width; ++c) expected[row] += given.top.view()(row, c) * before[c];
  }
  for (index_t row = 0; row < given.below; ++row)
    for (index_t c = 0; c < given.width; ++c)
      expected[given.places()[row]] -= given.bottom.view()(row, c) * before[c];
  double worst = 0;
  for (std::size_t k = 0; k < expected.size(); ++k)
    worst = std::max(worst, double(std::abs(expected[k] - after[k])));
  return worst;
}
template <class T>
double backward_error(const Case<T>& given, bool adjoint, const std::vector<T>& before,
                      const std::vector<T>& after) {
  const auto op = [adjoint](const T& value) { return adjoint ? conjugate(value) : value; };
  std::vector<T> expected = before;
  for (index_t c = 0; c < given.width; ++c) {
    expected[c] = T(0);
    for (index_t row = 0; row < given.width; ++row) expected[c] += op(given.top.view()(row, c)) * before[row];
    for (index_t row = 0; row < given.below; ++row)
      expected[c] -= op(given.bottom.view()(row, c)) * before[given.places()[row]];
  }
  double worst = 0;
  for (std::size_t k = 0; k < expected.size(); ++k)
    worst = std::max(worst, double(std::abs(expected[k] - after[k])));
  return worst;
}

template <class T, class Check>
void over_cases(Check&& check) {
  for (const auto& shape : shapes)
    for (const bool square : {false, true})
      for (const bool scattered : {false, true}) {
        SCOPED_TRACE(std::to_string(shape[0]) + " columns, " + std::to_string(shape[1]) + " below" +
                     (square ? ", square" : "") + (scattered ? ", scattered" : ""));
        check(Case<T>(shape[0], shape[1], square, scattered),
              40.0 * shape[0] * (shape[0] + shape[1]) * unit_roundoff<T>);
      }
}

TYPED_TEST(PackedPanels, one_right_hand_side_is_multiplied_as_defined) {
  using T = TypeParam;
  over_cases<T>([](const Case<T>& given, double bound) {
    const std::vector<T> before = random_dense<T>(given.length, 1, 9).values;
    std::vector<T> x = before;
    packed_forward<T>(given.panel(), given.places(), x.data(), x.data());
    EXPECT_LE(forward_error(given, before, x), bound);
    for (const bool adjoint : {false, true}) {
      x = before;
      packed_backward<T>(adjoint, given.panel(), given.places(), x.data(), x.data());
      EXPECT_LE(backward_error(given, adjoint, before, x), bound);
    }
  });
}

TYPED_TEST(PackedPanels, rows_that_follow_are_not_used_and_stay_as_they_are) {
  using T = TypeParam;
  over_cases<T>([](const Case<T>& given, double bound) {
    std::vector<T> before = random_dense<T>(given.length, 1, 9).values;
    std::vector<char> used(given.length, 0);
    for (index_t row = 0; row < given.width; ++row) used[row] = 1;
    for (index_t k = 0; k < given.below; ++k) used[given.places()[k]] = 1;
    for (index_t row = 0; row < given.length; ++row)
      if (!used[row]) before[row] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    const auto untouched = [&](const std::vector<T>& x, index_t row) {
      return used[row] ? std::isfinite(std::abs(x[row])) : std::isnan(std::real(x[row]));
    };
    std::vector<T> x = before;
    packed_forward<T>(given.panel(), given.places(), x.data(), x.data());
    for (index_t row = 0; row < given.length; ++row) EXPECT_TRUE(untouched(x, row)) << row;
    x = before;
    packed_backward<T>(true, given.panel(), given.places(), x.data(), x.data());
    for (index_t row = 0; row < given.length; ++row) EXPECT_TRUE(untouched(x, row)) << row;
    for (index_t row = 0; row < given.length; ++row)
      if (!used[row]) before[row] = x[row] = T(0);
    EXPECT_LE(backward_error(given, true, before, x), bound);
  });
}

TYPED_TEST(PackedPanels, many_right_hand_sides_are_multiplied_as_defined) {
  using T = TypeParam;
  over_cases<T>([](const Case<T>& given, double bound) {
    for (const index_t num_rhs : {2, 3, 9, 17, 25, 33, 41, 50, 64}) {
      const index_t stride = padded_rhs(sizeof(T), num_rhs);
      ASSERT_GE(stride, num_rhs);
      const std::vector<T> before = random_dense<T>(given.length * stride, 1, 9).values;
      std::vector<T> spare(given.width * stride);
      const auto side_of = [&](const std::vector<T>& rows, index_t rhs) {
        std::vector<T> one;
        for (index_t row = 0; row < given.length; ++row) one.push_back(rows[row * stride + rhs]);
        return one;
      };
      std::vector<T> forward = before;
      packed_forward_rhs<T>(given.panel(), given.places(),
                            {{forward.data(), stride}, RhsRows<T>{forward.data(), stride},
                             {spare.data(), stride}});
      for (const index_t rhs : {index_t{0}, num_rhs - 1})
        EXPECT_LE(forward_error(given, side_of(before, rhs), side_of(forward, rhs)), bound);
      for (const bool adjoint : {false, true}) {
        std::vector<T> backward = before;
        packed_backward_rhs<T>(
            adjoint, given.panel(), given.places(),
            {{backward.data(), stride}, RhsRows<T>{backward.data(), stride}, {spare.data(), stride}});
        for (const index_t rhs : {index_t{0}, num_rhs - 1})
          EXPECT_LE(backward_error(given, adjoint, side_of(before, rhs), side_of(backward, rhs)), bound);
      }
    }
  });
}

TYPED_TEST(PackedPanels, rows_below_may_lie_in_two_places) {
  using T = TypeParam;
  over_cases<T>([](const Case<T>& given, double) {
    for (const index_t num_rhs : {2, 9, 17, 25, 50, 64}) {
      const index_t stride = padded_rhs(sizeof(T), num_rhs);
      std::vector<T> spare(given.width * stride);
      std::vector<T> together = random_dense<T>(given.length * stride, 1, 9).values;
      for (const index_t split : {given.width, given.width + given.below, given.length}) {
        const auto cut = together.begin() + offset_t{split} * stride;
        std::vector<T> first(together.begin(), cut), second(cut, together.end());
        const SplitRows<T> apart{first.data(), second.data(), split, stride};
        const RhsRows<T> own{first.data(), stride}, all{together.data(), stride};
        for (int sweep = 0; sweep < 2; ++sweep) {
          if (sweep == 0) {
            packed_forward_rhs<T>(given.panel(), given.places(), {all, all, {spare.data(), stride}});
            packed_forward_rhs<T>(given.panel(), given.places(), {own, apart, {spare.data(), stride}});
          } else {
            packed_backward_rhs<T>(true, given.panel(), given.places(), {all, all, {spare.data(), stride}});
            packed_backward_rhs<T>(true, given.panel(), given.places(), {own, apart, {spare.data(), stride}});
          }
          std::vector<T> joined = first;
          joined.insert(joined.end(), second.begin(), second.end());
          EXPECT_TRUE(joined == together);
        }
      }
    }
  });
}

TYPED_TEST(PackedPanels, sides_are_padded_to_registers_and_never_by_more) {
  using T = TypeParam;
  const index_t full = packed_rows(sizeof(T));
  for (index_t count = 1; count <= 64; ++count) {
    const index_t stride = padded_rhs(sizeof(T), count);
    EXPECT_GE(stride, count);
    EXPECT_LT(stride, std::max(2 * count, count + full));
    if (count >= full) {
      EXPECT_EQ(stride % full, 0);
    }
  }
}

}  // namespace
}  // namespace palmette
