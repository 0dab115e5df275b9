// Bundles of panels against the same panels one by one, bit for bit, and these against packed panels within
// rounding: every scalar type and width, lanes with fewer rows than others, lanes without a panel.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/blocks/dense_testing.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

template <class T>
class PanelBundles : public ::testing::Test {};
TYPED_TEST_SUITE(PanelBundles, TestedScalars);

/// Some panels of one width, packed and in a bundle, whose rows lie scattered in one vector.
template <class T>
struct Bundle {
  index_t width, most_rows = 0, length = 0;
  bool square;
  std::vector<std::vector<T>> packed;
  std::vector<index_t> rows, own;
  std::vector<std::vector<index_t>> below;  // places of each panel
  std::vector<index_t> places;
  std::vector<T> values;

  /// @param rows_below  of each panel; at most bundle_lanes panels
  Bundle(index_t w, bool is_square, const std::vector<index_t>& rows_below)
      : width(w), square(is_square), rows(rows_below) {
    index_t place = 1;
    for (std::size_t lane = 0; lane < rows.size(); ++lane) {
      most_rows = std::max(most_rows, rows[lane]);
      own.push_back(place);
      place += width;
    }
    below.resize(rows.size());
    for (index_t row = 0; row < most_rows; ++row)
      for (std::size_t lane = 0; lane < rows.size(); ++lane)
        if (row < rows[lane]) below[lane].push_back(place += 1 + (row + static_cast<index_t>(lane)) % 3);
    length = place + 1 + width;
    pack();
    const index_t spare = length - width;
    const auto panel_at = [&](index_t lane) { return lane < static_cast<index_t>(rows.size()); };
    for (index_t lane = 0; lane < bundle_lanes; ++lane) places.push_back(panel_at(lane) ? own[lane] : spare);
    for (index_t row = 0; row < most_rows; ++row)
      for (index_t lane = 0; lane < bundle_lanes; ++lane)
        places.push_back(panel_at(lane) && row < rows[lane] ? below[lane][row] : spare);
  }
  void pack() {
    values.assign(static_cast<std::size_t>(bundle_entries(width, most_rows, square)), T(0));
    for (std::size_t lane = 0; lane < rows.size(); ++lane) {
      const index_t r = rows[lane];
      DenseMatrix<T> inverse = random_dense<T>(width, width, 3 + static_cast<unsigned>(lane));
      for (index_t column = 0; column < width; ++column)
        std::fill_n(inverse.view().column(column), column, T(0));
      const DenseMatrix<T> c = random_dense<T>(r, width, 40 + static_cast<unsigned>(lane));
      std::vector<index_t> place;
      for (index_t k = 0; k < width; ++k) place.push_back((k + 1) % width);
      const offset_t held = packed_entries(sizeof(T), width, r, square) + packed_slack;
      packed.emplace_back(static_cast<std::size_t>(held));
      pack_panel<T>({square, std::as_const(inverse).view(), c.view(), square ? place.data() : nullptr},
                    packed.back().data());
      put_in_lane<T>(panel(lane), values.data() + lane);
    }
  }
  PackedPanel<T> panel(std::size_t lane) const { return {packed[lane].data(), width, rows[lane], square}; }
  PanelBundle<T> bundle() const {
    return {values.data(), width, most_rows, square, places.data()};
  }
  RowPlaces row_places(std::size_t lane) const { return {0, below[lane].data(), rows[lane]}; }
  /// A vector, NaN where no row is, zero in the spare places.
  std::vector<T> vector() const {
    std::vector<T> v(static_cast<std::size_t>(length), T(std::numeric_limits<real_t<T>>::quiet_NaN()));
    std::mt19937 generator(7);
    const auto set = [&](index_t place) { v[place] = random_scalar<T>(generator); };
    for (std::size_t lane = 0; lane < rows.size(); ++lane) {
      for (index_t k = 0; k < width; ++k) set(own[lane] + k);
      for (const index_t place : below[lane]) set(place);
    }
    std::fill(v.end() - width, v.end(), T(0));
    return v;
  }
  bool same_but_spare(const std::vector<T>& left, const std::vector<T>& right) const {
    const auto bytes = static_cast<std::size_t>(length - width) * sizeof(T);
    return std::memcmp(left.data(), right.data(), bytes) == 0;
  }
};

const std::vector<index_t> row_counts[] = {
    {5, 5, 5, 5, 5, 5, 5, 5}, {0, 0, 0, 0, 0}, {3, 4, 4, 9, 17, 17, 18}, {1}, {8, 16, 24, 33}};

TYPED_TEST(PanelBundles, give_the_bits_of_single_panels) {
  using T = TypeParam;
  for (const auto& rows : row_counts)
    for (const bool square : {false, true})
      for (index_t width = 1; width <= widest_bundled; ++width) {
        SCOPED_TRACE("width " + std::to_string(width) + (square ? ", square, " : ", ") +
                     std::to_string(rows.size()) + " panels");
        const Bundle<T> all(width, square, rows);
        std::vector<T> together = all.vector(), alone = all.vector();
        bundle_forward<T>(all.bundle(), together.data());
        // Whatever order: no two have a place in common.
        for (std::size_t lane = rows.size(); lane-- > 0;)
          bundled_forward_alone<T>(all.panel(lane), all.row_places(lane), alone.data() + all.own[lane],
                                   alone.data());
        EXPECT_TRUE(all.same_but_spare(together, alone));
        for (const bool adjoint : {false, true}) {
          std::fill(together.end() - width, together.end(), T(0));
          bundle_backward<T>(adjoint, all.bundle(), together.data());
          for (std::size_t lane = 0; lane < rows.size(); ++lane)
            bundled_backward_alone<T>(adjoint, all.panel(lane), all.row_places(lane),
                                      alone.data() + all.own[lane], alone.data());
          EXPECT_TRUE(all.same_but_spare(together, alone)) << (adjoint ? "adjoint" : "plain");
        }
      }
}

TYPED_TEST(PanelBundles, agree_with_packed_panels) {
  using T = TypeParam;
  const std::vector<index_t> rows = {0, 1, 7, 8, 9, 30};
  for (const bool square : {false, true})
    for (index_t width = 1; width <= widest_bundled; ++width) {
      const Bundle<T> all(width, square, rows);
      for (std::size_t lane = 0; lane < rows.size(); ++lane) {
        const std::vector<T> given = all.vector();
        std::vector<T> one = given, other = given;
        std::vector<index_t> list = all.below[lane];
        list.resize(list.size() + packed_slack, all.own[lane]);
        const RowPlaces places{0, list.data(), rows[lane]};
        const auto differ = [&] {
          double worst = 0;
          for (index_t k = 0; k < all.length; ++k) {
            if (given[k] != given[k]) continue;  // no row
            const double difference = static_cast<double>(std::abs(one[k] - other[k]));
            worst = difference <= worst ? worst : difference;  // NaN stays
          }
          return worst;
        };
        const double tolerance = 100 * unit_roundoff<T>;
        bundled_forward_alone<T>(all.panel(lane), places, one.data() + all.own[lane], one.data());
        packed_forward<T>(all.panel(lane), places, other.data() + all.own[lane], other.data());
        EXPECT_LE(differ(), tolerance);
        for (const bool adjoint : {false, true}) {
          bundled_backward_alone<T>(adjoint, all.panel(lane), places, one.data() + all.own[lane], one.data());
          packed_backward<T>(adjoint, all.panel(lane), places, other.data() + all.own[lane], other.data());
          EXPECT_LE(differ(), tolerance * static_cast<double>(rows[lane] + 10));
        }
      }
    }
}

TYPED_TEST(PanelBundles, keep_what_is_not_finite_in_its_lane) {
  using T = TypeParam;
  const std::vector<index_t> rows = {2, 5, 5};
  const Bundle<T> all(2, false, rows);
  std::vector<T> sound = all.vector(), spoiled = all.vector();
  spoiled[all.own[0]] = T(std::numeric_limits<real_t<T>>::infinity());
  bundle_forward<T>(all.bundle(), sound.data());
  bundle_forward<T>(all.bundle(), spoiled.data());
  for (std::size_t lane = 1; lane < rows.size(); ++lane) {
    EXPECT_EQ(sound[all.own[lane]], spoiled[all.own[lane]]);
    for (const index_t place : all.below[lane]) EXPECT_EQ(sound[place], spoiled[place]);
  }
}

}  // namespace
}  // namespace palmette
