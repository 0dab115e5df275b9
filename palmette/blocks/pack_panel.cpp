// Packing: the rows below are multiplied by the inverse a register at a time, on their way to their places.
#include <algorithm>

#include "palmette/blocks/packed_panel.hpp"
#include "palmette/blocks/product_tile.hpp"

namespace palmette {
namespace {

template <class T>
constexpr index_t chunk_lanes = lanes::full_width<T>;
template <class T>
using Register = lanes::Lanes<T, lanes::full_width<T>>;

template <class T>
index_t packed_place(const PanelToPack<T>& panel, index_t column) {
  return panel.place != nullptr ? panel.place[column] : column;
}

/// Chunks [begin, end) of rows of the inverse. @returns the end of what was written
template <class T>
T* pack_inverse(const PanelToPack<T>& panel, index_t begin, index_t end, T* to) {
  const index_t width = panel.inverse.cols;
  for (index_t first = begin; first < end; first += chunk_lanes<T>) {
    const index_t rows = std::min(chunk_lanes<T>, width - first);
    const index_t columns = panel.square ? width : std::min(width, first + chunk_lanes<T>);
    for (index_t column = 0; column < columns; ++column) {
      const T* const from = panel.inverse.column(column) + first;
      T* const into = to + offset_t{packed_place(panel, column)} * rows;
      if (rows == chunk_lanes<T>) Register<T>::store(Register<T>::load(from), into);
      else
        for (index_t row = 0; row < rows; ++row) into[row] = from[row];
    }
    to += offset_t{rows} * columns;
  }
  return to;
}

/// Rows of C, a register wide, times the inverse. @param rows  that are stored
template <class T, bool Whole>
void pack_products(const PanelToPack<T>& panel, DenseView<const T> c, index_t rows, T* to) {
  tiles::over_strips<T>(c.cols, [&]<int Columns>(index_t column) {
    // Above the diagonal the inverse is zero: those terms change no sum.
    const DenseView<const T> left{c.column(column), c.rows, c.cols - column, c.ld};
    const auto sums = tiles::product_tile<T, lanes::full_width<T>, 1, Columns, tiles::Right::plain>(
        left, panel.inverse.column(column) + column, panel.inverse.ld);
    for (int k = 0; k < Columns; ++k) {
      const auto value = sums.value[k][0];
      T* const into = to + offset_t{packed_place(panel, column + k)} * rows;
      if constexpr (Whole) {
        Register<T>::store(value, into);
      } else {
        T values[lanes::full_width<T>];
        Register<T>::store(value, values);
        for (index_t row = 0; row < rows; ++row) into[row] = values[row];
      }
    }
  });
}

/// The last rows of C, padded to a register: behind them there may be no memory.
template <class T>
void pack_last_products(const PanelToPack<T>& panel, index_t first, T* to) {
  const DenseView<const T> below = panel.below;
  const index_t rows = below.rows - first;
  // Not T, since complex numbers would be set to zero first.
  alignas(64) real_t<T> reals[chunk_lanes<T> * widest_packed * sizeof(T) / sizeof(real_t<T>)];
  T* const copy = reinterpret_cast<T*>(reals);
  for (index_t column = 0; column < below.cols; ++column)
    for (index_t row = 0; row < chunk_lanes<T>; ++row)
      copy[column * chunk_lanes<T> + row] = row < rows ? below(first + row, column) : T(0);
  pack_products<T, false>(panel, {copy, chunk_lanes<T>, below.cols, chunk_lanes<T>}, rows, to);
}

}  // namespace

index_t packed_rows(int scalar_bytes) { return std::max(1, lanes::register_bytes / scalar_bytes); }

offset_t packed_entries(int scalar_bytes, index_t width, index_t rows_below, bool square) {
  return packed_block_entries(packed_rows(scalar_bytes), width, square) + offset_t{width} * rows_below;
}

template <class T>
void pack_panel(const PanelToPack<T>& panel, T* to) {
  const DenseView<const T> below = panel.below;
  constexpr index_t rows = chunk_lanes<T>;
  const index_t width = panel.inverse.cols, whole = width / rows * rows;
  to = pack_inverse(panel, 0, whole, to);
  index_t first = 0;
  for (; first + rows <= below.rows; first += rows, to += offset_t{rows} * below.cols)
    pack_products<T, true>(panel, {below.data + first, rows, below.cols, below.ld}, rows, to);
  if (first < below.rows) pack_last_products(panel, first, to);
  pack_inverse(panel, whole, width, to + offset_t{below.rows - first} * width);
}

#define PALMETTE_INSTANTIATE(T) template void pack_panel<T>(const PanelToPack<T>&, T*);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
