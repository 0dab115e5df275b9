// Rows of a plain triangle in slices: every entry is there once, rows of a slice do not wait for each other,
// and a warp loads what lies together.
#include <gtest/gtest.h>

#include <map>

#include "palmette/device/device.hpp"
#include "tests/device/random_sweeps.hpp"

namespace palmette::sweeps {
namespace {

/// Lists of rows; row r has entries 1000·r + column.
struct Lists {
  std::vector<long long> ptr{0};
  std::vector<int> column;
  std::vector<double> value;

  void add_row(const std::vector<int>& columns) {
    const double row = static_cast<double>(ptr.size()) - 1;
    for (const int one : columns) {
      column.push_back(one);
      value.push_back(1000 * row + one);
    }
    ptr.push_back(static_cast<long long>(column.size()));
  }
  int n() const { return static_cast<int>(ptr.size()) - 1; }
  TriangleRows<double> rows(bool reversed = false) const {
    return {n(), ptr.data(), column.data(), value.data(), reversed};
  }
};

/// @param largest_row  of more than 32 loads
Lists random_lists(int n, int largest_row, bool reversed) {
  std::mt19937 random(5);
  Lists lists;
  for (int row = 0; row < n; ++row) {
    std::set<int> columns;
    const int others = reversed ? n - 1 - row : row;
    const int length = row == n / 2 ? largest_row : static_cast<int>(random() % 9);
    for (int k = 0; k < std::min(length, others); ++k)
      columns.insert(reversed ? n - 1 - static_cast<int>(random() % others)
                              : static_cast<int>(random() % others));
    lists.add_row({columns.begin(), columns.end()});
  }
  return lists;
}

/// By (row, column): the value; fails if an entry is there twice.
std::map<std::pair<int, int>, double> entries_of(const RowSlices<double>& slices) {
  std::map<std::pair<int, int>, double> entries;
  constexpr int loaded = rows_per_load<double>;
  for (int s = 0; s < slices.num_slices(); ++s) {
    const int height = slices.first[s + 1] - slices.first[s];
    for (long long e = slices.begin[s]; e < slices.begin[s + 1]; ++e) {
      if (slices.column[e] < 0) {
        EXPECT_EQ(slices.value[e], 0);
        continue;
      }
      const int row = slices.row[slices.first[s] + (e - slices.begin[s]) / loaded % height];
      EXPECT_TRUE(entries.emplace(std::pair(row, slices.column[e]), slices.value[e]).second);
    }
  }
  return entries;
}

TEST(RowSlices, hold_every_entry_once_and_wait_only_for_slices_before) {
  for (const bool reversed : {false, true}) {
    const Lists lists = random_lists(400, 90, reversed);
    const RowSlices<double> slices = cut_into_slices(lists.rows(reversed));
    const auto entries = entries_of(slices);
    EXPECT_EQ(entries.size(), lists.column.size());
    for (const auto& [place, value] : entries) EXPECT_EQ(value, 1000.0 * place.first + place.second);
    std::vector<int> slice_of(400, -1);
    for (int s = 0; s < slices.num_slices(); ++s) {
      const int height = slices.first[s + 1] - slices.first[s];
      EXPECT_TRUE(height >= 1 && height <= 32 && (height & (height - 1)) == 0) << height;
      for (int k = slices.first[s]; k < slices.first[s + 1]; ++k) slice_of[slices.row[k]] = s;
    }
    EXPECT_EQ(std::count(slice_of.begin(), slice_of.end(), -1), 0);
    for (const auto& [place, value] : entries) EXPECT_LT(slice_of[place.second], slice_of[place.first]);
  }
}

TEST(RowSlices, have_as_many_rows_as_leave_each_load_a_lane) {
  // Rows 0 … 39 wait for none: slices of 32 and 8 rows. Rows 40 … 71 have five entries, that is three loads:
  // slices of 8 rows, 24 lanes each. Row 72 has 65 entries: 33 loads, a slice of its own.
  Lists lists;
  for (int row = 0; row < 40; ++row) lists.add_row({});
  for (int row = 40; row < 72; ++row) lists.add_row({row % 7, 8 + row % 7, 16, 24, 32});
  std::vector<int> all(65);
  for (int k = 0; k < 65; ++k) all[k] = k;
  lists.add_row(all);
  const RowSlices<double> slices = cut_into_slices(lists.rows());
  EXPECT_EQ(slices.first, (std::vector<int>{0, 32, 40, 48, 56, 64, 72, 73}));
  EXPECT_EQ(slices.begin, (std::vector<long long>{0, 0, 0, 48, 96, 144, 192, 260}));
}

TEST(RowSlices, of_nothing_are_none) {
  const Lists lists;
  EXPECT_EQ(cut_into_slices(lists.rows()).num_slices(), 0);
}

TEST(RowSlices, are_loaded_16_bytes_at_a_time_and_what_is_fetched_is_used) {
  // Rows 0 … 255 wait for none, the others for five of those.
  SparseTriangle triangle;
  triangle.below.resize(512);
  std::mt19937 random(3);
  for (int row = 256; row < 512; ++row) {
    std::set<int> columns;
    while (columns.size() < 5) columns.insert(static_cast<int>(random() % 256));
    for (const int column : columns) triangle.below[column].push_back({row, 0.1});
  }
  reset_memory(1);
  const RowSweep<double> sweep = random_rows<double>(triangle, 1);
  Options options = options_of(1, 4);
  options.count_sectors = true;
  options.find_races = options.delay_stores = false;
  const Report report = run({rows_with(Fault::none, sweep, {4, 128})}, options);
  ASSERT_TRUE(report.ok()) << report.errors.front();
  int values = 0;
  for (const auto& [place, load] : report.loads) {
    if (load.bytes != 16 * load.accesses) continue;
    ++values;
    EXPECT_EQ(load.accesses, 256u * 3);
    EXPECT_EQ(load.requests, 32u) << "a warp for each slice of eight rows";
    EXPECT_EQ(load.bytes, 32 * load.sectors);
  }
  EXPECT_EQ(values, 1);
}

}  // namespace
}  // namespace palmette::sweeps
