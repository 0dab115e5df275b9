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
      for (const index_t num_rhs : {1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 25, 31, 50, 64}) {
        SCOPED_TRACE(std::to_string(num_rhs) + (scaled ? " scaled" : "") + (conjugated ? " conjugated" : ""));
        check(places.map(scaled), conjugated, num_rhs, padded_rhs(sizeof(T), num_rhs));
        check(places.map(scaled), conjugated, num_rhs, row_stride(sizeof(T), num_rhs));
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

/// Several times as many rows as are moved in turn.
constexpr index_t long_rows = 331;
/// Calls use(first, end) for ranges of them.
template <class Use>
void for_ranges_of_long_vectors(Use&& use) {
  constexpr index_t borders_of_long[] = {0, 1, 130, 130, 259, long_rows};
  for (std::size_t k = 0; k + 1 < std::size(borders_of_long); ++k)
    use(borders_of_long[k], borders_of_long[k + 1]);
}

TYPED_TEST(rhs_vectors, sides_apart_are_moved_by_ranges_as_value_by_value) {
  using T = TypeParam;
  for_many_counts<T>(long_rows, [](const IndexMap& map, bool conjugated, index_t num_rhs, index_t) {
    if (num_rhs > 4) return;
    const DenseMatrix<T> b = reference::random_dense<T>(long_rows, num_rhs, 8);
    const Reader<T> reader{b.view(), map, conjugated};
    DenseMatrix<T> expected(long_rows, num_rhs), stored(long_rows, num_rhs);
    std::vector<T> spread(long_rows * num_rhs, T(8));
    for_ranges_of_long_vectors(
        [&](index_t first, index_t end) { spread_apart<T>(reader, first, end, spread.data()); });
    const Writer<T> writer{stored.view(), map, conjugated};
    for (index_t j = 0; j < num_rhs; ++j)
      for (index_t k = 0; k < long_rows; ++k) {
        const T value = reader.value(k, j);
        expected.view()(k, j) = value;
        writer.put(k, j, value);
      }
    EXPECT_EQ(std::memcmp(expected.values.data(), spread.data(), spread.size() * sizeof(T)), 0);
    for (const index_t* back : {map.back, static_cast<const index_t*>(nullptr)}) {
      DenseMatrix<T> collected(long_rows, num_rhs);
      const Writer<T> by_ranges{collected.view(), {map.place, map.scale, back}, conjugated};
      for_ranges_of_long_vectors(
          [&](index_t first, index_t end) { collect_apart<T>(by_ranges, first, end, spread.data()); });
      EXPECT_TRUE(reference::same_bits(stored, collected)) << (back == nullptr ? "scattered" : "gathered");
    }
  });
}

/// Columns `column_step` scalars apart, the first one `skipped_scalars` behind a line of cache. All memory
/// holds `given` at first.
template <class T>
struct Columns {
  Columns(index_t n, index_t num_rhs, offset_t column_step, offset_t skipped_scalars, T given)
      : memory(column_step * num_rhs + skipped_scalars, Uninitialised()),
        view{memory.data() + skipped_scalars, n, num_rhs, column_step} {
    std::fill_n(memory.data(), memory.size(), given);
  }
  PanelArray<T> memory;
  DenseView<T> view;
};

TYPED_TEST(rhs_vectors, so_many_rows_that_they_are_stored_past_the_caches_are_those_of_few) {
  using T = TypeParam;
  constexpr index_t n = 12001, num_rhs = 50;
  const index_t stride = row_stride(sizeof(T), num_rhs);
  const Places places(n);
  const IndexMap map = places.map(true);
  for (const offset_t ld : {12032, 12003})
    for (const offset_t skipped : {0, 1}) {
      SCOPED_TRACE(std::to_string(ld) + " apart, from scalar " + std::to_string(skipped));
      Columns<T> b(n, num_rhs, ld, skipped, T(3)), stored(n, num_rhs, ld, skipped, T(4)),
          collected(n, num_rhs, ld, skipped, T(4));
      const DenseMatrix<T> values = reference::random_dense<T>(n, num_rhs, 8);
      for (index_t j = 0; j < num_rhs; ++j) std::copy_n(values.view().column(j), n, b.view.column(j));
      const Reader<T> reader{b.view, map, true};
      PanelArray<T> loaded(n * stride), spread(n * stride);
      load_rhs<T>(reader, 0, n, {loaded.data(), stride});
      spread_rhs<T>(reader, 0, 4999, {spread.data(), stride});
      spread_rhs<T>(reader, 4999, n, {spread.data(), stride});
      EXPECT_EQ(std::memcmp(loaded.data(), spread.data(), loaded.bytes()), 0);
      store_rhs<T>({stored.view, map, true}, 0, n, {loaded.data(), stride});
      collect_rhs<T>({collected.view, map, true}, 0, 4999, {loaded.data(), stride});
      collect_rhs<T>({collected.view, map, true}, 4999, n, {loaded.data(), stride});
      EXPECT_EQ(std::memcmp(stored.memory.data(), collected.memory.data(), stored.memory.bytes()), 0);
    }
}

}  // namespace
}  // namespace palmette::solve_detail
