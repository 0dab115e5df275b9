// How the rows of a plain triangle lie in device memory: in slices that a warp solves at once. Made on the
// host.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <vector>

#include "palmette/device/panel_layout.hpp"

namespace palmette::device {

/// The rows of a triangle without its diagonal.
template <class T>
struct TriangleRows {
  int n = 0;
  const long long* ptr = nullptr;  ///< n + 1
  const int* column = nullptr;     ///< the rows that a row waits for
  const T* value = nullptr;
  bool reversed = false;  ///< rows wait for rows with larger numbers
};

/// Rows that do not wait for each other, sorted by length, h of them in a slice, where h is a power of two:
/// as many as leave each load of a row, 16 bytes, a lane of its own, if there are so many. Within a slice
/// load k of row r is place k·h + r, so the 32 lanes of a warp load what lies together, whatever h is.
/// Entries are dealt to the loads of their row in turn, so lanes side by side multiply by columns side by
/// side. Slices begin with a sector of values, and come level after level: each waits for slices before it
/// only.
template <class T>
struct RowSlices {
  std::vector<long long> begin{0};  ///< num_slices + 1: first entry
  std::vector<int> first{0};        ///< num_slices + 1: first row, in `row`
  std::vector<int> row;             ///< n
  std::vector<int> column;          ///< −1 where a row has no entry
  std::vector<T> value;

  int num_slices() const { return static_cast<int>(first.size()) - 1; }
};

namespace row_slices_detail {

/// By row: 0 if it waits for none, else one more than the largest level of the rows that it waits for.
template <class T>
std::vector<int> levels_of(const TriangleRows<T>& rows) {
  std::vector<int> level(static_cast<std::size_t>(rows.n));
  for (int k = 0; k < rows.n; ++k) {
    const int row = rows.reversed ? rows.n - 1 - k : k;
    for (long long e = rows.ptr[row]; e < rows.ptr[row + 1]; ++e)
      level[row] = std::max(level[row], level[rows.column[e]] + 1);
  }
  return level;
}

/// Appends the rows list[0 … height) as one slice of so many loads a row.
template <class T>
void append_slice(const TriangleRows<T>& rows, const int* list, int height, long long loads,
                  RowSlices<T>& slices) {
  constexpr long long loaded = rows_per_load<T>, aligned = panel_alignment<T>;
  const long long begin = slices.begin.back(), entries = loads * height * loaded;
  slices.begin.push_back(begin + (entries + aligned - 1) / aligned * aligned);
  slices.column.resize(static_cast<std::size_t>(slices.begin.back()), -1);
  slices.value.resize(static_cast<std::size_t>(slices.begin.back()));
  for (int r = 0; r < height; ++r) {
    const long long from = rows.ptr[list[r]], length = rows.ptr[list[r] + 1] - from;
    for (long long k = 0; k < length; ++k) {
      const long long to = begin + (k % loads * height + r) * loaded + k / loads;
      slices.column[to] = rows.column[from + k];
      slices.value[to] = rows.value[from + k];
    }
  }
  slices.row.insert(slices.row.end(), list, list + height);
  slices.first.push_back(static_cast<int>(slices.row.size()));
}

}  // namespace row_slices_detail

/// @cost  O(nnz + n·log n), on the caller's thread
template <class T>
RowSlices<T> cut_into_slices(const TriangleRows<T>& rows) {
  constexpr long long loaded = rows_per_load<T>, lanes = 32;
  const std::vector<int> level = row_slices_detail::levels_of(rows);
  const auto loads_of = [&](int row) { return (rows.ptr[row + 1] - rows.ptr[row] + loaded - 1) / loaded; };
  std::vector<int> order(level.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (level[a] != level[b]) return level[a] < level[b];
    return loads_of(a) != loads_of(b) ? loads_of(a) > loads_of(b) : a < b;
  });
  RowSlices<T> slices;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && end < begin + lanes && level[order[end]] == level[order[begin]]) ++end;
    const long long loads = loads_of(order[begin]);  // of the longest
    const auto most = static_cast<unsigned>(lanes / std::clamp(loads, 1LL, lanes));
    const auto height = static_cast<int>(std::bit_floor(std::min(most, static_cast<unsigned>(end - begin))));
    row_slices_detail::append_slice(rows, order.data() + begin, height, loads, slices);
    begin += static_cast<std::size_t>(height);
  }
  return slices;
}

}  // namespace palmette::device
