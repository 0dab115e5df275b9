// Products that are subtracted from a panel, tile by tile, while the next rows of A are prefetched. A tile's
// rows are copied while the first strip of columns reads them; those that do not fill their registers are
// copied and padded before.
#include "palmette/blocks/placed_products.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "palmette/blocks/product_tile.hpp"
#include "palmette/blocks/register_places.hpp"
#include "palmette/blocks/small_products.hpp"

namespace palmette {
namespace {

using lanes::line_entries;
using tiles::Right;
using tiles::tile_registers;
using tiles::tile_rows;

/// Prefetch `count` entries from `from` on.
template <class T>
PALMETTE_INLINE inline void fetch(const T* from, index_t count) {
  for (index_t entry = 0; entry < count; entry += line_entries<T>) __builtin_prefetch(from + entry, 0, 2);
  __builtin_prefetch(from + count - 1, 0, 2);
}

/// Rows [first, first + count) of a factor, prefetched in as many portions as strips are computed meanwhile.
template <class T>
struct Portions {
  DenseView<const T> rows;
  index_t portion_columns = 0;

  Portions(DenseView<const T> given, index_t portions)
      : rows(given),
        portion_columns(given.rows == 0 ? 0 : (given.cols + portions - 1) / std::max<index_t>(portions, 1)) {}
  PALMETTE_INLINE void fetch_portion(index_t portion) const {
    const index_t first = portion * portion_columns, end = std::min(rows.cols, first + portion_columns);
    for (index_t column = first; column < end; ++column) fetch(rows.column(column), rows.rows);
  }
};

template <class T>
DenseView<const T> some_rows(DenseView<const T> view, index_t first, index_t count) {
  return {view.data + first, std::max<index_t>(0, std::min(count, view.rows - first)), view.cols, view.ld};
}

/// The rows of A for one tile, and their places in the panel.
template <class T>
struct TileRows {
  static constexpr int full = lanes::full_width<T>;
  static constexpr std::size_t capacity = tile_rows<T> * tiles::longest_inner;
  // Not T, since complex numbers would be set to zero for each product.
  alignas(64) real_t<T> reals[capacity * sizeof(T) / sizeof(real_t<T>)];
  T* const entries = reinterpret_cast<T*>(reals);
  tiles::RegisterPlaces<T> places[tile_registers];

  /// @returns the rows where they lie, if they fill their registers; else copied, with zeros behind them
  DenseView<const T> take(DenseView<const T> a, const index_t* place) {
    const index_t registers = (a.rows + full - 1) / full, padded = registers * full;
    for (index_t r = 0; r < registers; ++r)
      places[r].find(place + r * full, std::min<index_t>(full, a.rows - r * full));
    if (a.rows == padded) return a;
    copy_columns(a, padded);
    return {entries, padded, a.cols, padded};
  }

 private:
  void copy_columns(DenseView<const T> a, index_t padded) {
    using L = lanes::Lanes<T, full>;
    for (index_t k = 0; k < a.cols; ++k) {
      const T* const from = a.column(k);
      T* const to = entries + k * padded;
      for (index_t row = 0; row + full < padded; row += full) L::store(L::load(from + row), to + row);
      // One store: a register that is read again before several stores have reached the cache must wait.
      L::store(L::load_first(from + padded - full, a.rows - padded + full), to + padded - full);
    }
  }
};

template <class T>
class TileByTile {
 public:
  TileByTile(const PlacedProduct<T>& product, DenseView<T> panel)
      : a_(product.a), b_(product.b), places_(product.places), panel_(panel), shift_(product.shift) {}

  template <Right right>
  void run(const NextOperands<T>& next) {
    constexpr index_t tile = tile_rows<T>;
    for (index_t row = 0; row < a_.rows; row += tile) {
      const index_t count = std::min(tile, a_.rows - row);
      const bool last = row + tile >= a_.rows;
      columns_ = std::min(b_.rows, row + count + shift_);
      strips_ = (columns_ + tiles::tile_columns<T> - 1) / tiles::tile_columns<T>;
      ahead_a_ = Portions<T>(last ? some_rows(next.a, 0, tile) : some_rows(a_, row + tile, tile), strips_);
      ahead_b_ = Portions<T>(last ? next.b : DenseView<const T>{}, strips_);
      const DenseView<const T> rows = tile_.take(some_rows(a_, row, count), places_.row + row);
      const index_t registers = rows.rows / TileRows<T>::full;
      if (registers == tile_registers) strips<tile_registers, right>(rows, row);
      else if (registers == 1) strips<1, right>(rows, row);
      else if constexpr (tile_registers > 2) strips<2, right>(rows, row);
    }
  }

 private:
  template <int Registers, Right right>
  void strips(DenseView<const T> rows, index_t row) {
    index_t strip = 0;
    tiles::over_strips<T>(columns_, [&]<int NumRhs>(index_t column) {
      ahead_a_.fetch_portion(strip);
      ahead_b_.fetch_portion(strip++);
      if constexpr (Registers == tile_registers && NumRhs == tiles::tile_columns<T>)
        if (column == 0 && rows.data != tile_.entries && columns_ >= tiles::copy_pays_from) {
          copy_and_multiply<right>({rows, row, 0});
          rows = {tile_.entries, rows.rows, rows.cols, rows.rows};
          return;
        }
      const index_t above = std::max<index_t>(0, column - shift_ - row) / TileRows<T>::full;
      tile<Registers, NumRhs, right>({rows, row, column}, 0, above);
    });
  }

  struct Tile {
    DenseView<const T> rows;
    index_t row, column;  ///< of the product
  };

  /// The first strip of whole rows, which all of its registers need.
  template <Right right>
  void copy_and_multiply(const Tile& at) {
    constexpr int full = TileRows<T>::full;
    constexpr int cols = tiles::tile_columns<T>;
    const tiles::CopiedTo<T, full, tile_registers> copied{tile_.entries};
    subtract(at, 0,
             tiles::product_tile<T, full, tile_registers, cols, right>(at.rows, b_.data, b_.ld, copied));
  }

  /// The tile's registers of rows from `first` on, less those before `needed`: no column of it needs these.
  template <int Registers, int NumRhs, Right right>
  void tile(const Tile& at, index_t first, index_t needed) {
    if constexpr (Registers > 1)
      if (first < needed) return tile<Registers - 1, NumRhs, right>(at, first + 1, needed);
    constexpr int full = TileRows<T>::full;
    const DenseView<const T> rows{at.rows.data + first * full, Registers * full, at.rows.cols, at.rows.ld};
    subtract(at, first,
             tiles::product_tile<T, full, Registers, NumRhs, right>(rows, b_.data + at.column, b_.ld));
  }

  template <int Registers, int NumRhs>
  PALMETTE_INLINE void subtract(const Tile& at, index_t first,
                                const tiles::TileSums<T, TileRows<T>::full, Registers, NumRhs>& sums) const {
    T* target[NumRhs];
    for (int rhs = 0; rhs < NumRhs; ++rhs) target[rhs] = panel_.column(places_.column[at.column + rhs]);
    lanes::unrolled<Registers>([&](auto r) PALMETTE_INLINE {
      tile_.places[first + r].template subtract<NumRhs>(
          target, [&](auto rhs) PALMETTE_INLINE { return sums.value[rhs][r]; });
    });
  }

  DenseView<const T> a_, b_;
  const ProductPlaces& places_;
  DenseView<T> panel_;
  index_t shift_;
  index_t columns_ = 0, strips_ = 0;  ///< that the rows at hand need
  TileRows<T> tile_;
  Portions<T> ahead_a_{{}, 1}, ahead_b_{{}, 1};
};

/// The whole product first, then entry by entry.
template <class T>
void subtract_by_blas(const PlacedProduct<T>& what, DenseView<T> panel) {
  const DenseView<T> product{what.spare, what.a.rows, what.b.rows, what.a.rows};
  multiply_rows<T>(what.adjoint, what.a, what.b, product);
  for (index_t column = 0; column < product.cols; ++column) {
    T* const target = panel.column(what.places.column[column]);
    const T* const value = product.column(column);
    for (index_t row = 0; row < product.rows; ++row) target[what.places.row[row]] -= value[row];
  }
}

}  // namespace

template <class T>
void subtract_placed(const PlacedProduct<T>& product, DenseView<T> panel) {
  const index_t inner = product.a.cols;
  if (inner == 0) return;  // the views may have no memory
  const bool tiles_fit =
      inner <= tiles::longest_inner && tiles::own_loops<T>(product.a.rows, product.b.rows, inner);
  if (!tiles_fit) return subtract_by_blas(product, panel);
  TileByTile<T> kernel(product, panel);
  if (is_complex_v<T> && product.adjoint) return kernel.template run<Right::adjoint>(product.next);
  kernel.template run<Right::transposed>(product.next);
}

/// −(−0 − v) is v for every v, also for zeros of both signs.
template <class T>
void multiply_placed(bool adjoint, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  const T negative_zero = -T(0);
  for (index_t column = 0; column < c.cols; ++column) std::fill_n(c.column(column), c.rows, negative_zero);
  std::vector<index_t> row(c.rows), column_of(c.cols);
  std::iota(row.begin(), row.end(), 0);
  std::iota(column_of.begin(), column_of.end(), 0);
  std::vector<T> spare(row.size() * column_of.size());
  subtract_placed<T>({adjoint, a, b, {row.data(), column_of.data()}, {}, spare.data()}, c);
  for (index_t column = 0; column < c.cols; ++column)
    for (index_t k = 0; k < c.rows; ++k) c(k, column) = -c(k, column);
}

#define PALMETTE_INSTANTIATE(T)                                                \
  template void subtract_placed<T>(const PlacedProduct<T>&, DenseView<T>);     \
  template void multiply_placed<T>(bool, DenseView<const T>, DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
