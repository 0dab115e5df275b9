// Panels times many right-hand sides that lie side by side: a register holds several right-hand sides of one
// row and is multiplied by one entry of the panel, and a tile of rows (or columns) by right-hand sides stays
// in registers during the inner loop. Rows need not be gathered: each is a short contiguous vector wherever
// it lies.
#include <algorithm>

#include "palmette/blocks/lanes.hpp"
#include "palmette/blocks/packed_panel.hpp"

namespace palmette {
namespace {

template <class T>
constexpr int chunk = lanes::full_width<T>;

/// Number of sums that fit into the registers next to their operands; a complex sum takes two.
template <class T>
constexpr int tile_sums = (lanes::register_bytes == 64 ? 24 : 10) / (is_complex_v<T> ? 2 : 1);
/// Number of registers of right-hand sides that are processed together.
constexpr int most_registers = lanes::register_bytes == 64 ? 4 : 2;

/// Rows (or columns) of a tile with `Registers` registers of right-hand sides.
template <class T, int Registers>
constexpr int tile_rows() {
  int rows = 8;
  while (rows * Registers > tile_sums<T>) rows /= 2;
  return rows;
}

template <class T, int Width, int Registers>
struct Tile {
  using L = lanes::Lanes<T, Width>;
  using Vector = typename L::Vector;

  /// The sums of `Rows` rows. They are cleared one by one, because the compiler clears an array in memory
  /// when it is cleared as a whole.
  template <int Rows>
  struct Sums {
    Vector by_real[Rows * Registers];
    Vector by_imag[is_complex_v<T> ? Rows * Registers : 1];

    PALMETTE_INLINE Sums() {
      lanes::unrolled<Rows * Registers>([&](auto k) PALMETTE_INLINE {
        by_real[k] = Vector{};
        if constexpr (is_complex_v<T>) by_imag[k] = Vector{};
      });
    }
    /// Row `row` += entry·rhs
    PALMETTE_INLINE void add(int row, const Vector (&rhs)[Registers], const T& entry) {
      for (int r = 0; r < Registers; ++r) {
        if constexpr (is_complex_v<T>) {
          by_real[row * Registers + r] += rhs[r] * entry.real();
          by_imag[row * Registers + r] += rhs[r] * entry.imag();
        } else {
          by_real[row * Registers + r] += rhs[r] * entry;
        }
      }
    }
    PALMETTE_INLINE void put(IntoRows into, int row, T* place) const {
      for (int r = 0; r < Registers; ++r) {
        typename L::Sum sum;
        sum.by_real = by_real[row * Registers + r];
        if constexpr (is_complex_v<T>) sum.by_imag = by_imag[row * Registers + r];
        const Vector value = sum.value();
        T* const at = place + r * Width;
        if (into == IntoRows::overwrite) L::store(value, at);
        else if (into == IntoRows::add) L::store(L::load(at) + value, at);
        else L::store(L::load(at) - value, at);
      }
    }
  };
  static PALMETTE_INLINE void load(const T* given, Vector (&rhs)[Registers]) {
    for (int r = 0; r < Registers; ++r) rhs[r] = L::load(given + r * Width);
  }

  /// A chunk whose columns lie `step` apart, times x.
  struct Product {
    offset_t step;
    index_t cols;
    RhsRows<const T> x;
    IntoRows into;
  };
  template <int Rows>
  static void rows_kernel(const T* a, const Product& product, T* const* place) {
    Sums<Rows> sums;
    const T* given = product.x.data;
    for (index_t column = 0; column < product.cols; ++column, given += product.x.stride, a += product.step) {
      Vector rhs[Registers];
      load(given, rhs);
      for (int row = 0; row < Rows; ++row) sums.add(row, rhs, a[row]);
    }
    for (int row = 0; row < Rows; ++row) sums.put(product.into, row, place[row]);
  }

  /// All rows of a chunk.
  static void chunk_rows(const T* a, index_t rows, const Product& product, T* const* place) {
    index_t row = 0;
    const auto tiles = [&]<int Rows>() {
      for (; row + Rows <= rows; row += Rows) rows_kernel<Rows>(a + row, product, place + row);
    };
    constexpr int most = std::min(tile_rows<T, Registers>(), chunk<T>);
    if constexpr (most >= 8) tiles.template operator()<8>();
    if constexpr (most >= 4) tiles.template operator()<4>();
    if constexpr (most >= 2) tiles.template operator()<2>();
    tiles.template operator()<1>();
  }

  static void multiply(const RhsPanel<T>& panel, RhsRows<const T> x, IntoRows into, const RowPlaces& places,
                       RhsRows<T> out) {
    T* place[chunk<T>];
    for (index_t first = 0; first < panel.rows; first += chunk<T>) {
      const index_t rows = std::min<index_t>(chunk<T>, panel.rows - first);
      for (index_t k = 0; k < rows; ++k) place[k] = out.row(places[first + k]);
      const T* const a = panel.values + (panel.ld > 0 ? first : offset_t{first} * panel.cols);
      const offset_t step = panel.ld > 0 ? panel.ld : rows;
      // A chunk of a column-major panel is one cache line of each column, which hardware does not predict:
      // prefetch it.
      if (panel.ld > 0)
        for (index_t column = 0; column < panel.cols; ++column)
          __builtin_prefetch(a + chunk<T> + column * step, 0, 2);
      chunk_rows(a, rows, {step, panel.cols, x, into}, place);
    }
  }

  /// Columns of A, times the rows of x.
  struct TransposedProduct {
    const RhsPanel<T>& panel;
    const RowPlaces& places;
    RhsRows<const T> x;
    IntoRows into;
    RhsRows<T> out;
  };
  template <int Columns, bool conjugated>
  static void columns_kernel(const TransposedProduct& product, index_t column) {
    const RhsPanel<T>& panel = product.panel;
    Sums<Columns> sums;
    const auto add_row = [&](const T* a, offset_t step, index_t row) PALMETTE_INLINE {
      Vector rhs[Registers];
      load(product.x.row(product.places[row]), rhs);
      for (int c = 0; c < Columns; ++c)
        sums.add(c, rhs, conjugated ? conjugate(a[c * step]) : a[c * step]);
    };
    if (panel.ld > 0) {
      const T* const a = panel.values + column * panel.ld;
      for (index_t row = 0; row < panel.rows; ++row) add_row(a + row, panel.ld, row);
    } else {
      for (index_t first = 0; first < panel.rows; first += chunk<T>) {
        const index_t rows = std::min<index_t>(chunk<T>, panel.rows - first);
        const T* const a = panel.values + offset_t{first} * panel.cols + offset_t{column} * rows;
        for (index_t row = 0; row < rows; ++row) add_row(a + row, rows, first + row);
      }
    }
    for (int c = 0; c < Columns; ++c) sums.put(product.into, c, product.out.row(column + c));
  }

  template <bool conjugated>
  static void multiply_transposed(const TransposedProduct& product) {
    index_t column = 0;
    const auto tiles = [&]<int Columns>() {
      for (; column + Columns <= product.panel.cols; column += Columns)
        columns_kernel<Columns, conjugated>(product, column);
    };
    constexpr int most = tile_rows<T, Registers>();
    if constexpr (most >= 8) tiles.template operator()<8>();
    if constexpr (most >= 4) tiles.template operator()<4>();
    if constexpr (most >= 2) tiles.template operator()<2>();
    tiles.template operator()<1>();
  }
};

/// Calls use.template operator()<Width, Registers>(first rhs) for groups of right-hand sides that together
/// fill a stride.
template <class T, int Width = chunk<T>, class Use>
inline void over_groups(index_t stride, Use&& use) {
  if constexpr (Width > 1)
    if (stride < Width) return over_groups<T, Width / 2>(stride, use);
  index_t registers = stride / Width;
  index_t groups = (registers + most_registers - 1) / most_registers;
  for (index_t first = 0; registers > 0; --groups) {
    const index_t count = (registers + groups - 1) / groups;
    if (count == 1) use.template operator()<Width, 1>(first);
    if (count == 2) use.template operator()<Width, 2>(first);
    if constexpr (most_registers > 2) {
      if (count == 3) use.template operator()<Width, 3>(first);
      if (count == 4) use.template operator()<Width, 4>(first);
    }
    first += count * Width;
    registers -= count;
  }
}

template <class T>
RhsRows<T> rhs_from(RhsRows<T> rows, index_t rhs) {
  return {rows.data + rhs, rows.stride};
}

/// Number of rows of a column-major panel that stay in cache during the loop over all groups of right-hand
/// sides.
constexpr index_t strip_rows = 64;

}  // namespace

index_t padded_rhs(int scalar_bytes, index_t count) {
  const index_t full = packed_rows(scalar_bytes);
  if (count >= full) return (count + full - 1) / full * full;
  index_t padded = 1;
  while (padded < count) padded *= 2;
  return padded;
}

template <class T>
void multiply_rhs(const RhsPanel<T>& a, RhsRows<const T> x, IntoRows into, const RowPlaces& places,
                    RhsRows<T> out) {
  const index_t strip = a.ld > 0 ? strip_rows : a.rows;
  for (index_t first = 0; first < a.rows; first += strip) {
    const index_t rows = std::min(strip, a.rows - first);
    const RhsPanel<T> part{a.values + first, rows, a.cols, a.ld, false};
    const RowPlaces at{places.start + first, places.list != nullptr ? places.list + first : nullptr, rows};
    over_groups<T>(x.stride, [&]<int Width, int Registers>(index_t rhs) {
      Tile<T, Width, Registers>::multiply(part, rhs_from(x, rhs), into, at, rhs_from(out, rhs));
    });
  }
}

template <class T>
void multiply_rhs_transposed(const RhsPanel<T>& a, const RowPlaces& places, RhsRows<const T> x,
                               IntoRows into, RhsRows<T> out) {
  over_groups<T>(x.stride, [&]<int Width, int Registers>(index_t rhs) {
    using NumRhs = Tile<T, Width, Registers>;
    if (is_complex_v<T> && a.conjugated)
      NumRhs::template multiply_transposed<is_complex_v<T>>(
          {a, places, rhs_from(x, rhs), into, rhs_from(out, rhs)});
    else
      NumRhs::template multiply_transposed<false>(
          {a, places, rhs_from(x, rhs), into, rhs_from(out, rhs)});
  });
}

template <class T>
void packed_forward_rhs(const PackedPanel<T>& panel, const RowPlaces& places, const SupernodeRhs<T>& at) {
  copy_rows<T>(at.own, panel.width, at.spare);
  const T* a = panel.values;
  for (index_t first = 0; first < panel.width; first += chunk<T>) {
    const index_t rows = std::min<index_t>(chunk<T>, panel.width - first);
    const index_t columns = panel.square ? panel.width : std::min<index_t>(panel.width, first + chunk<T>);
    multiply_rhs<T>({a, rows, columns, 0, false}, at.spare, IntoRows::overwrite, {first, nullptr, rows},
                      at.own);
    a += offset_t{rows} * columns;
  }
  if (panel.rows_below > 0)
    multiply_rhs<T>({a, panel.rows_below, panel.width, 0, false}, at.spare, IntoRows::subtract, places,
                      at.local);
}

template <class T>
void packed_backward_rhs(bool adjoint, const PackedPanel<T>& panel, const RowPlaces& places,
                           const SupernodeRhs<T>& at) {
  copy_rows<T>(at.own, panel.width, at.spare);
  std::fill_n(at.own.data, offset_t{panel.width} * at.own.stride, T(0));
  const T* a = panel.values;
  for (index_t first = 0; first < panel.width; first += chunk<T>) {
    const index_t rows = std::min<index_t>(chunk<T>, panel.width - first);
    const index_t columns = panel.square ? panel.width : std::min<index_t>(panel.width, first + chunk<T>);
    multiply_rhs_transposed<T>({a, rows, columns, 0, adjoint}, {first, nullptr, rows}, at.spare,
                                 IntoRows::add, at.own);
    a += offset_t{rows} * columns;
  }
  if (panel.rows_below > 0)
    multiply_rhs_transposed<T>({a, panel.rows_below, panel.width, 0, adjoint}, places, at.local,
                                 IntoRows::subtract, at.own);
}

#define PALMETTE_INSTANTIATE(T)                                                                             \
  template void multiply_rhs<T>(const RhsPanel<T>&, RhsRows<const T>, IntoRows, const RowPlaces&,       \
                                  RhsRows<T>);                                                             \
  template void multiply_rhs_transposed<T>(const RhsPanel<T>&, const RowPlaces&, RhsRows<const T>,      \
                                             IntoRows, RhsRows<T>);                                        \
  template void packed_forward_rhs<T>(const PackedPanel<T>&, const RowPlaces&, const SupernodeRhs<T>&); \
  template void packed_backward_rhs<T>(bool, const PackedPanel<T>&, const RowPlaces&,                     \
                                         const SupernodeRhs<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
