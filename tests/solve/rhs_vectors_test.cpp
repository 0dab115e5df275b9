// Right-hand sides between the caller's columns and rows: passes that turn whole registers against those that
// move values one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "palmette/solve/rhs_vectors.hpp"
#include "tests/scalars.hpp"
#include "tests/solve/reference.hpp"

namespace palmette::solve_detail {
namespace {

template <class T>
class rhs_vectors : public ::testing::Test {};
TYPED_TEST_SUITE(rhs_vectors, TestedScalars);

/// A random permutation of n rows with its inverse, and scales.
struct Places {
  explicit Places(index_t n) : place(n), back(n), scale(n) {
    std::mt19937 random(5);
    std::iota(place.begin(), place.end(), 0);
    std::shuffle(place.begin(), place.end(), random);
    for (index_t k = 0; k < n; ++k) back[place[k]] = k;
    for (double& value : scale) value = std::uniform_real_distribution<double>(0.1, 9)(random);
  }
  IndexMap map(bool scaled) const { return {place.data(), scaled ? scale.data() : nullptr, back.data()}; }

  std::vector<index_t> place, back;
  std::vector<double> scale;
};

/// Calls check(map, conjugated, number of right-hand sides, stride) for many counts on n rows.
template <class T, class Check>
void for_many_counts(index_t n, Check&& check) {
  const Places places(n);
  for (const bool scaled : {false, true})
    for (const bool conjugated : {false, true})
      for (const index_t num_rhs : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 50, 64}) {
        SCOPED_TRACE(std::to_string(num_rhs) + (scaled ? " scaled" : "") + (conjugated ? " conjugated" : ""));
        check(places.map(scaled), conjugated, num_rhs, padded_rhs(sizeof(T), num_rhs));
      }
}

/// Borders of ranges of rows that are no multiples of a register.
constexpr index_t rows = 83, borders[] = {0, 1, 30, 30, 77, rows};

TYPED_TEST(rhs_vectors, spread_by_ranges_are_those_loaded_row_by_row) {
  using T = TypeParam;
  for_many_counts<T>(rows, [](const IndexMap& map, bool conjugated, index_t num_rhs, index_t stride) {
    const DenseMatrix<T> b = reference::random_dense<T>(rows, num_rhs, 8);
    const Reader<T> reader{b.view(), map, conjugated};
    std::vector<T> loaded(rows * stride, T(7)), spread(rows * stride, T(8));
    load_rhs<T>(reader, 0, rows, {loaded.data(), stride});
    for (std::size_t k = 0; k + 1 < std::size(borders); ++k)
      spread_rhs<T>(reader, borders[k], borders[k + 1], {spread.data(), stride});
    EXPECT_EQ(std::memcmp(loaded.data(), spread.data(), loaded.size() * sizeof(T)), 0);
  });
}

TYPED_TEST(rhs_vectors, collected_by_ranges_are_those_stored_row_by_row) {
  using T = TypeParam;
  for_many_counts<T>(rows, [](const IndexMap& map, bool conjugated, index_t num_rhs, index_t stride) {
    const std::vector<T> all = reference::random_dense<T>(stride, rows, 9).values;
    DenseMatrix<T> stored(rows, num_rhs), collected(rows, num_rhs);
    store_rhs<T>({stored.view(), map, conjugated}, 0, rows, {all.data(), stride});
    for (std::size_t k = 0; k + 1 < std::size(borders); ++k)
      collect_rhs<T>({collected.view(), map, conjugated}, borders[k], borders[k + 1], {all.data(), stride});
    EXPECT_TRUE(reference::same_bits(stored, collected));
  });
}

}  // namespace
}  // namespace palmette::solve_detail
