// Sweeps over whole panels against substitution by the definition: every scalar type, widths that fill groups
// and do not, ends of columns, what is stored beside the triangle, both orders of reading.
#include <gtest/gtest.h>

#include <limits>

#include "tests/blocks/dense_testing.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

template <class T>
class PanelSweeps : public ::testing::Test {};
TYPED_TEST_SUITE(PanelSweeps, TestedScalars);

/// A panel with a large diagonal, whose block holds NaN above it (and on it, if that counts as ones), as does
/// the memory between its columns and behind it.
template <class T>
struct StoredPanel {
  index_t width, below;
  bool unit;
  DenseMatrix<T> memory;

  StoredPanel(index_t w, index_t r, bool unit_diagonal, index_t between)
      : width(w), below(r), unit(unit_diagonal), memory(w + r + between, w) {
    const T none = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    const DenseMatrix<T> entries = random_dense<T>(w + r, w, 5);
    std::fill(memory.values.begin(), memory.values.end(), none);
    for (index_t column = 0; column < w; ++column) {
      for (index_t row = column + 1; row < w + r; ++row)
        memory.view()(row, column) = entries.view()(row, column) / T(row < w ? w : 1);
      if (!unit) memory.view()(column, column) = entries.view()(column, column) + T(3);
    }
  }
  WholePanel<T> panel(ReadingOrder order = reading_order_of_processor()) const {
    return {{memory.view().data, width + below, width, memory.view().ld}, unit, order};
  }
  T entry(index_t row, index_t column) const {
    return unit && row == column ? T(1) : memory.view()(row, column);
  }
};

template <class T>
std::vector<T> by_definition_forward(const StoredPanel<T>& given, std::vector<T> v) {
  for (index_t c = 0; c < given.width; ++c) {
    v[c] /= given.entry(c, c);
    for (index_t row = c + 1; row < given.width + given.below; ++row) v[row] -= given.entry(row, c) * v[c];
  }
  return v;
}
template <class T>
std::vector<T> by_definition_backward(const StoredPanel<T>& given, bool adjoint, std::vector<T> v) {
  const auto op = [adjoint](const T& value) { return adjoint ? conjugate(value) : value; };
  for (index_t c = given.width - 1; c >= 0; --c) {
    for (index_t row = c + 1; row < given.width + given.below; ++row)
      v[c] -= op(given.entry(row, c)) * v[row];
    v[c] /= op(given.entry(c, c));
  }
  return v;
}

template <class T>
double distance(const std::vector<T>& a, const std::vector<T>& b, index_t rows) {
  double worst = 0;
  for (index_t row = 0; row < rows; ++row) {
    const double difference = std::abs(a[row] - b[row]);
    if (std::isnan(difference)) return difference;
    worst = std::max(worst, difference);
  }
  return worst;
}

TYPED_TEST(PanelSweeps, substitute_by_the_definition_and_use_nothing_else) {
  using T = TypeParam;
  for (const index_t width : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 90, 270})
    for (const index_t below : {0, 1, 3, 7, 8, 9, 16, 30, 41, 530})
      for (const bool unit : {false, true})
        for (const index_t between : {0, 3}) {
          SCOPED_TRACE(std::to_string(width) + " columns, " + std::to_string(below) + " below" +
                       (unit ? ", unit diagonal" : "") + ", " + std::to_string(between) + " between");
          const StoredPanel<T> given(width, below, unit, between);
          std::vector<T> v = random_dense<T>(width + below, 1, 8).values;
          v.resize(width + below + sweep_slack, T(std::numeric_limits<real_t<T>>::quiet_NaN()));
          const double bound = 20.0 * width * (width + below) * unit_roundoff<T>;
          std::vector<T> x = v;
          panel_forward(given.panel(), x.data());
          EXPECT_LE(distance(x, by_definition_forward(given, v), width + below), bound);
          for (const bool adjoint : {false, true}) {
            x = v;
            panel_backward(adjoint, given.panel(ReadingOrder::eight_streams), x.data());
            EXPECT_LE(distance(x, by_definition_backward(given, adjoint, v), width + below), bound);
            std::vector<T> other = v;
            panel_backward(adjoint, given.panel(ReadingOrder::one_stream), other.data());
            EXPECT_EQ(distance(x, other, width + below), 0.0);
          }
        }
}

TYPED_TEST(PanelSweeps, subtract_rows_below_of_some_columns_and_use_nothing_else) {
  using T = TypeParam;
  const T none = T(std::numeric_limits<real_t<T>>::quiet_NaN());
  for (const index_t width : {1, 7, 8, 33, 90, 270})
    for (const index_t below : {1, 3, 8, 30, 41, 530})
      for (const index_t between : {0, 3})
        for (const bool adjoint : {false, true}) {
          SCOPED_TRACE(std::to_string(width) + " columns, " + std::to_string(below) + " below, " +
                       std::to_string(between) + " between");
          StoredPanel<T> given(width, below, false, between);
          for (index_t column = 0; column < width; ++column)
            std::fill_n(given.memory.view().column(column), width, none);
          std::vector<T> v(width, none);
          const std::vector<T> rows = random_dense<T>(below, 1, 8).values;
          v.insert(v.end(), rows.begin(), rows.end());
          v.resize(v.size() + sweep_slack, none);
          const std::vector<T> before = random_dense<T>(width, 1, 9).values;
          const index_t cut = width / 3;
          std::vector<T> own = before, expected = before;
          const auto subtract = [&](ReadingOrder order, const ColumnRange& columns, std::vector<T>& to) {
            rows_below_backward(adjoint, given.panel(order), columns, v.data(), to.data());
          };
          subtract(ReadingOrder::one_stream, {cut, width}, own);
          for (index_t c = cut; c < width; ++c)
            for (index_t row = width; row < width + below; ++row) {
              const T entry = given.entry(row, c);
              expected[c] -= (adjoint ? conjugate(entry) : entry) * v[row];
            }
          EXPECT_LE(distance(own, expected, width), 10.0 * below * unit_roundoff<T>);
          EXPECT_TRUE(std::equal(own.begin(), own.begin() + cut, before.begin()));
          // In the other order and in two parts, the same bits.
          std::vector<T> parts = before;
          const index_t middle = (cut + width) / 2;
          subtract(ReadingOrder::eight_streams, {cut, middle}, parts);
          subtract(ReadingOrder::eight_streams, {middle, width}, parts);
          EXPECT_EQ(parts, own);
        }
}

TYPED_TEST(PanelSweeps, give_the_same_bits_wherever_panel_and_vector_lie) {
  using T = TypeParam;
  const index_t width = 35, below = 21;
  const StoredPanel<T> given(width, below, false, 0);
  const std::vector<T> v = random_dense<T>(width + below + sweep_slack, 1, 8).values;
  std::vector<T> forward = v, backward = v;
  panel_forward(given.panel(), forward.data());
  panel_backward(true, given.panel(), backward.data());
  for (index_t shift = 1; shift < 9; ++shift) {
    std::vector<T> room(static_cast<std::size_t>(shift + (width + below + shift) * width));
    const DenseView<T> moved{room.data() + shift, width + below, width, width + below + shift};
    for (index_t column = 0; column < width; ++column)
      std::copy_n(given.memory.view().column(column), width + below, moved.column(column));
    const auto swept = [&](auto&& sweep) {
      std::vector<T> x(static_cast<std::size_t>(shift), T(0));
      x.insert(x.end(), v.begin(), v.end());
      sweep(WholePanel<T>{{moved.data, moved.rows, moved.cols, moved.ld}, false}, x.data() + shift);
      return std::vector<T>(x.begin() + shift, x.begin() + shift + width + below);
    };
    const std::vector<T> down = swept([](const auto& panel, T* x) { panel_forward(panel, x); });
    const std::vector<T> up = swept([](const auto& panel, T* x) { panel_backward(true, panel, x); });
    EXPECT_EQ(distance(down, forward, width + below), 0.0);
    EXPECT_EQ(distance(up, backward, width + below), 0.0);
  }
}

}  // namespace
}  // namespace palmette
