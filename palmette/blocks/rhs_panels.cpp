// Panels times many right-hand sides that lie side by side: a register holds several right-hand sides of one
// row and is multiplied by one entry of the panel, and a tile of rows (or columns) by right-hand sides stays
// in registers during the inner loop. Rows need not be gathered: each is a short contiguous vector wherever
// it lies.
#include <algorithm>
#include <initializer_list>

#include "palmette/blocks/lanes.hpp"
#include "palmette/blocks/packed_panel.hpp"

namespace palmette {
namespace {

using lanes::unrolled;

template <class T>
constexpr int chunk = lanes::full_width<T>;

/// Whether there are 16 registers, and products are added without another one (AVX2): then twelve sums of
/// real numbers, three registers of right-hand sides and an entry fill them.
template <class T>
constexpr bool fills_sixteen = lanes::register_bytes == 32 && !is_complex_v<T>;
/// Number of sums that fit into the registers next to their operands; a complex sum takes two.
template <class T>
constexpr int tile_sums =
    fills_sixteen<T> ? 12 : (lanes::register_bytes == 64 ? 24 : 10) / (is_complex_v<T> ? 2 : 1);
/// Number of vector registers that hold sums and right-hand sides, next to an entry.
template <class T>
constexpr int most_vectors = (lanes::register_bytes == 64 ? 31 : 14) / (is_complex_v<T> ? 2 : 1);
/// Number of registers of right-hand sides that are processed together where the panel's columns are many:
/// rows of x pass through the first-level cache for each tile, so that tiles are to be high.
template <class T>
constexpr int most_registers_wide = lanes::register_bytes == 64 ? 4 : fills_sixteen<T> ? 3 : 2;
/// The same where they are few. All of a block's, if there are registers enough: each row is then touched
/// once. A block has at most eight registers of doubles of 64 bytes, and four of floats.
template <class T>
constexpr int most_registers =
    lanes::register_bytes == 64 && !is_complex_v<T> && sizeof(T) == sizeof(double) ? 8
                                                                                   : most_registers_wide<T>;

/// The first of the numbers of rows (or columns) whose sums, with `Registers` registers of right-hand sides,
/// fit into the registers; else 1.
template <class T, int Registers>
constexpr int first_that_fits(std::initializer_list<int> descending) {
  for (const int rows : descending)
    if (rows * Registers <= tile_sums<T>) return rows;
  return 1;
}

/// Calls use.template operator()<Count>(first) for tiles of Most rows, and of fewer at the end.
template <int Most, class Use>
PALMETTE_INLINE inline void over_tiles(index_t rows, Use&& use, index_t first = 0) {
  for (; first + Most <= rows; first += Most) use.template operator()<Most>(first);
  if constexpr (Most > 1) over_tiles<(Most == 3 ? 2 : Most / 2)>(rows, use, first);
}

template <class T, int Width, int Registers>
struct Tile {
  using L = lanes::Lanes<T, Width>;
  using Vector = typename L::Vector;

  /// The sums of `Rows` rows. All loops over them are written out: a compiler that unrolls loops of its own
  /// does so too late to keep an array in registers.
  template <int Rows>
  struct Sums {
    Vector by_real[Rows * Registers];
    Vector by_imag[is_complex_v<T> ? Rows * Registers : 1];

    PALMETTE_INLINE Sums() {
      unrolled<Rows * Registers>([&](auto k) PALMETTE_INLINE {
        by_real[k] = Vector{};
        if constexpr (is_complex_v<T>) by_imag[k] = Vector{};
      });
    }
    /// Sum k += (or −=) rhs·entry
    template <bool Subtract>
    PALMETTE_INLINE void add_one(int k, Vector rhs, const T& entry) {
      if constexpr (is_complex_v<T>) {
        if constexpr (Subtract) {
          by_real[k] -= rhs * entry.real();
          by_imag[k] -= rhs * entry.imag();
        } else {
          by_real[k] += rhs * entry.real();
          by_imag[k] += rhs * entry.imag();
        }
      } else if constexpr (Subtract) {
        by_real[k] -= rhs * entry;
      } else {
        by_real[k] += rhs * entry;
      }
    }
    /// All sums += (or −=) the right-hand sides at `given` times the entry of each row. The right-hand sides
    /// are loaded first, unless they do not fit into registers.
    template <bool Subtract = false, class Entry>
    PALMETTE_INLINE void add(const T* given, Entry&& entry_of) {
      if constexpr (Registers <= Rows || (Rows + 1) * Registers < most_vectors<T>) {
        Vector rhs[Registers];
        unrolled<Registers>([&](auto r) PALMETTE_INLINE { rhs[r] = L::load_once(given + r * Width); });
        unrolled<Rows>([&](auto row) PALMETTE_INLINE {
          const T entry = entry_of(row);
          unrolled<Registers>([&](auto r) PALMETTE_INLINE {
            add_one<Subtract>(row * Registers + r, rhs[r], entry);
          });
        });
      } else {
        T entry[Rows];
        unrolled<Rows>([&](auto row) PALMETTE_INLINE { entry[row] = entry_of(row); });
        unrolled<Registers>([&](auto r) PALMETTE_INLINE {
          const Vector rhs = L::load_once(given + r * Width);
          unrolled<Rows>([&](auto row) PALMETTE_INLINE {
            add_one<Subtract>(row * Registers + r, rhs, entry[row]);
          });
        });
      }
    }
    /// use(value, place) for all registers of all rows
    template <class Place, class Use>
    PALMETTE_INLINE void each(Place&& place, Use&& use) const {
      unrolled<Rows>([&](auto row) PALMETTE_INLINE {
        T* const at = place(row);
        unrolled<Registers>([&](auto r) PALMETTE_INLINE {
          typename L::Sum sum;
          sum.by_real = by_real[row * Registers + r];
          if constexpr (is_complex_v<T>) sum.by_imag = by_imag[row * Registers + r];
          use(sum.value(), at + r * Width);
        });
      });
    }
    template <class Place>
    PALMETTE_INLINE void put(IntoRows into, Place&& place) const {
      if (into == IntoRows::subtract)
        each(place, [](Vector v, T* at) PALMETTE_INLINE { L::store(L::load(at) - v, at); });
      else if (into == IntoRows::add)
        each(place, [](Vector v, T* at) PALMETTE_INLINE { L::store(L::load(at) + v, at); });
      else
        each(place, [](Vector v, T* at) PALMETTE_INLINE { L::store(v, at); });
    }
  };

  /// Rows that lie `ahead` of those of a tile; 0: none. Here and below a few lines at a time are asked for: a
  /// core has some dozens of requests on the way, and loads behind a longer burst of them wait.
  template <int Rows>
  static PALMETTE_INLINE void prefetch_rows(T* const* place, offset_t ahead) {
    if (ahead == 0) return;
    unrolled<Rows>([&](auto row) PALMETTE_INLINE {
      unrolled<Registers>(
          [&](auto r) PALMETTE_INLINE { __builtin_prefetch(place[row] + ahead + r * Width, 1, 2); });
    });
  }

  /// A chunk whose columns lie `step` apart, times x.
  struct Product {
    offset_t step;
    index_t cols;
    RhsRows<const T> x;
    IntoRows into;
    offset_t ahead;  ///< from an entry to one that is prefetched
  };
  template <int Rows>
  static void rows_kernel(const T* a, const Product& product, T* const* place) {
    Sums<Rows> sums;
    const T* given = product.x.data;
    for (index_t column = 0; column < product.cols; ++column, given += product.x.stride, a += product.step) {
      __builtin_prefetch(a + product.ahead, 0, 2);
      sums.add(given, [&](int row) PALMETTE_INLINE { return a[row]; });
    }
    sums.put(product.into, [&](int row) PALMETTE_INLINE { return place[row]; });
  }
  /// Tiles are to fill a chunk of rows. Columns may be any number, and each tile of them reads all rows of x.
  static constexpr int most_rows = std::min(first_that_fits<T, Registers>({8, 4, 3, 2}), chunk<T>);
  static constexpr int most_cols = first_that_fits<T, Registers>({8, 6, 4, 3, 2});

  static void multiply(const RhsPanel<T>& panel, RhsRows<const T> x, IntoRows into, const RowPlaces& places,
                       const SplitRows<T>& out) {
    T* place[chunk<T>];
    for (index_t first = 0; first < panel.rows; first += chunk<T>) {
      const index_t rows = std::min<index_t>(chunk<T>, panel.rows - first);
      for (index_t k = 0; k < rows; ++k) place[k] = out.row(places[first + k]);
      const T* const a = panel.values + (panel.ld > 0 ? first : offset_t{first} * panel.cols);
      const offset_t step = panel.ld > 0 ? panel.ld : rows;
      const Product product{step, panel.cols, x, into, panel.ahead};
      over_tiles<most_rows>(rows, [&]<int Rows>(index_t row) PALMETTE_INLINE {
        prefetch_rows<Rows>(place + row, panel.rows_ahead);
        rows_kernel<Rows>(a + row, product, place + row);
      });
    }
  }

  /// own ← B⁻¹·own for the triangular block of a packed panel. From the last rows to the first, so that rows
  /// which are still read keep their values; entries beyond the diagonal of a tile are not read.
  static void multiply_triangle(const PackedPanel<T>& panel, RhsRows<T> own, offset_t rows_ahead) {
    const auto tile = [&]<int Rows>(const T* a, index_t step, index_t first) PALMETTE_INLINE {
      T* place[Rows];
      for (int row = 0; row < Rows; ++row) place[row] = own.row(first + row);
      prefetch_rows<Rows>(place, rows_ahead);
      rows_kernel<Rows>(a, {step, first + Rows, own, IntoRows::overwrite, panel.ahead}, place);
    };
    for (index_t first = (panel.width - 1) / chunk<T> * chunk<T>; first >= 0; first -= chunk<T>) {
      const index_t rows = std::min<index_t>(chunk<T>, panel.width - first);
      const T* const a = packed_block_chunk(panel, chunk<T>, first);
      index_t row = rows;
      const auto tiles = [&]<int Rows>() PALMETTE_INLINE {
        for (; row >= Rows; row -= Rows)
          tile.template operator()<Rows>(a + row - Rows, rows, first + row - Rows);
      };
      if constexpr (most_rows >= 8) tiles.template operator()<8>();
      if constexpr (most_rows >= 4) tiles.template operator()<4>();
      if constexpr (most_rows == 3) tiles.template operator()<3>();
      if constexpr (most_rows >= 2) tiles.template operator()<2>();
      tiles.template operator()<1>();
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
  template <bool conjugated>
  static PALMETTE_INLINE T entry(const T& value) {
    return conjugated ? conjugate(value) : value;
  }
  /// `count` rows of x, at row(0), row(1) …, times the entries of `Columns` columns that lie `step` apart.
  template <bool conjugated, bool Subtract, int Columns, class Row>
  static PALMETTE_INLINE void add_rows(Sums<Columns>& sums, const T* a, offset_t step, index_t count,
                                       Row&& row) {
    for (index_t k = 0; k < count; ++k)
      sums.template add<Subtract>(row(k), [&](int c) PALMETTE_INLINE {
        return entry<conjugated>(a[k + c * step]);
      });
  }
  template <int Columns>
  static PALMETTE_INLINE void put_columns(const Sums<Columns>& sums, IntoRows into, RhsRows<T> out,
                                          offset_t rows_ahead) {
    T* place[Columns];
    for (int c = 0; c < Columns; ++c) place[c] = out.row(c);
    prefetch_rows<Columns>(place, rows_ahead);
    sums.put(into, [&](int c) PALMETTE_INLINE { return place[c]; });
  }
  template <bool conjugated, int Columns>
  static PALMETTE_INLINE void add_packed_rows(Sums<Columns>& sums, const TransposedProduct& product,
                                              index_t column) {
    const RhsPanel<T>& panel = product.panel;
    for (index_t first = 0; first < panel.rows; first += chunk<T>) {
      const index_t rows = std::min<index_t>(chunk<T>, panel.rows - first);
      add_rows<conjugated, false>(
          sums, panel.values + offset_t{first} * panel.cols + offset_t{column} * rows, rows, rows,
          [&](index_t k) PALMETTE_INLINE { return product.x.row(product.places[first + k]); });
    }
  }
  template <int Columns, bool conjugated>
  static void columns_kernel(const TransposedProduct& product, index_t column) {
    const RhsPanel<T>& panel = product.panel;
    Sums<Columns> sums;
    const RowPlaces& places = product.places;
    // A loop that tests each time whether there is a list takes a quarter longer where there is none.
    if (panel.ld == 0)
      add_packed_rows<conjugated>(sums, product, column);
    else if (places.list == nullptr)
      add_rows<conjugated, false>(sums, panel.values + column * panel.ld, panel.ld, panel.rows,
                                  [rows = product.x.from(places.start)](index_t k) PALMETTE_INLINE {
                                    return rows.row(k);
                                  });
    else
      add_rows<conjugated, false>(sums, panel.values + column * panel.ld, panel.ld, panel.rows,
                                  [list = places.list, x = product.x](index_t k) PALMETTE_INLINE {
                                    return x.row(list[k]);
                                  });
    put_columns(sums, product.into, product.out.from(column), panel.rows_ahead);
  }
  template <bool conjugated>
  static void multiply_transposed(const TransposedProduct& product) {
    over_tiles<most_cols>(product.panel.cols, [&]<int Columns>(index_t column) PALMETTE_INLINE {
      columns_kernel<Columns, conjugated>(product, column);
    });
  }

  /// What a backward pass over a packed panel reads and writes.
  struct BackwardRun {
    const PackedPanel<T>& panel;
    const RowPlaces& places;
    RhsRows<const T> z;  ///< w rows; may be `own` unless the panel is square
    const SplitRows<const T>& local;
    RhsRows<T> own;
    offset_t rows_ahead;
  };
  /// What lies `ahead` of some columns of a packed chunk.
  template <int Columns>
  static PALMETTE_INLINE void prefetch_columns(const T* a, index_t rows, offset_t ahead) {
    unrolled<Columns>([&](auto c) PALMETTE_INLINE { __builtin_prefetch(a + ahead + c * rows, 0, 2); });
  }
  /// Columns of [B⁻¹; C·B⁻¹] from `column` on, within one chunk's width, times [z; −x].
  template <int Columns, bool conjugated>
  static void packed_columns_kernel(const BackwardRun& run, index_t column) {
    const PackedPanel<T>& panel = run.panel;
    Sums<Columns> sums;
    // In a triangular block the columns begin at their own rows.
    const index_t begin = panel.square ? 0 : column;
    for (index_t first = begin / chunk<T> * chunk<T>; first < panel.width; first += chunk<T>) {
      const index_t rows = std::min<index_t>(chunk<T>, panel.width - first);
      const index_t skipped = std::max<index_t>(0, begin - first);
      const T* const a = packed_block_chunk(panel, chunk<T>, first) + offset_t{column} * rows;
      prefetch_columns<Columns>(a, rows, panel.ahead);
      add_rows<conjugated, false>(sums, a + skipped, rows, rows - skipped, [&](index_t k) PALMETTE_INLINE {
        return run.z.row(first + skipped + k);
      });
    }
    const T* const below = packed_below(panel, chunk<T>);
    for (index_t first = 0; first < panel.rows_below; first += chunk<T>) {
      const index_t rows = std::min<index_t>(chunk<T>, panel.rows_below - first);
      const T* const a = below + offset_t{first} * panel.width + offset_t{column} * rows;
      prefetch_columns<Columns>(a, rows, panel.ahead);
      add_rows<conjugated, true>(sums, a, rows, rows, [&](index_t k) PALMETTE_INLINE {
        return run.local.row(run.places[first + k]);
      });
    }
    put_columns(sums, IntoRows::overwrite, run.own.from(column), run.rows_ahead);
  }
  template <bool conjugated>
  static void packed_backward(const BackwardRun& run) {
    // Columns are overwritten from the first to the last, and none needs the rows before it.
    for (index_t first = 0; first < run.panel.width; first += chunk<T>)
      over_tiles<most_rows>(
          std::min<index_t>(chunk<T>, run.panel.width - first), [&]<int Columns>(index_t column)
              PALMETTE_INLINE { packed_columns_kernel<Columns, conjugated>(run, first + column); });
  }
};

/// Calls use.template operator()<Width, Registers>(first rhs) for groups of at most `Most` registers of
/// right-hand sides that together fill a stride. Five and six registers go in two groups: kernels for these
/// would take as long to compile as all others.
template <class T, int Most, int Width = chunk<T>, class Use>
inline void over_groups(index_t stride, Use&& use) {
  if constexpr (Width > 1)
    if (stride < Width) return over_groups<T, Most, Width / 2>(stride, use);
  if constexpr (Width < chunk<T>) {
    use.template operator()<Width, 1>(0);
  } else {
    const auto call = [&]<int Registers>(auto&& self, index_t first, index_t count) {
      if (count == Registers) return use.template operator()<Width, Registers>(first);
      constexpr int fewer = Registers == 7 ? most_registers_wide<T> : Registers - 1;
      if constexpr (fewer > 0) self.template operator()<fewer>(self, first, count);
    };
    index_t registers = stride / Width;
    const index_t most = registers == 7 || registers == 8 ? Most : std::min(Most, most_registers_wide<T>);
    index_t groups = (registers + most - 1) / most;
    for (index_t first = 0; registers > 0; --groups) {
      const index_t count = (registers + groups - 1) / groups;
      call.template operator()<Most>(call, first, count);
      first += count * Width;
      registers -= count;
    }
  }
}

template <class T>
RhsRows<T> rhs_from(RhsRows<T> rows, index_t rhs) {
  return {rows.data + rhs, rows.stride};
}
template <class T>
SplitRows<T> rhs_from(const SplitRows<T>& rows, index_t rhs) {
  // A supernode without rows below may have no second place.
  T* const second = rows.second == nullptr ? nullptr : rows.second + rhs;
  return {rows.first + rhs, second, rows.split, rows.stride};
}

/// Number of rows of a column-major panel that stay in cache during the loop over all groups of right-hand
/// sides.
constexpr index_t strip_rows = 64;

/// Whether the rows of x that a panel of so many columns reads stay in the first-level cache.
template <class T>
bool is_narrow(index_t columns, index_t stride) {
  constexpr offset_t most_bytes = 20 * 1024;
  return offset_t{columns} * stride * static_cast<offset_t>(sizeof(T)) <= most_bytes;
}

/// over_groups, with groups that suit the number of columns.
template <class T, class Use>
void over_groups_of(index_t columns, index_t stride, Use&& use) {
  if (is_narrow<T>(columns, stride)) over_groups<T, most_registers<T>>(stride, use);
  else over_groups<T, most_registers_wide<T>>(stride, use);
}

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
                    const SplitRows<T>& out) {
  const index_t strip = a.ld > 0 ? strip_rows : a.rows;
  for (index_t first = 0; first < a.rows; first += strip) {
    const index_t rows = std::min(strip, a.rows - first);
    RhsPanel<T> part = a;
    part.values += first;
    part.rows = rows;
    // What follows a chunk of a column-major panel is the next line of each column, which hardware does not
    // predict.
    if (a.ld > 0) part.ahead = lanes::line_entries<T>;
    const RowPlaces at{places.start + first, places.list != nullptr ? places.list + first : nullptr, rows};
    over_groups_of<T>(a.cols, x.stride, [&]<int Width, int Registers>(index_t rhs) {
      Tile<T, Width, Registers>::multiply(part, rhs_from(x, rhs), into, at, rhs_from(out, rhs));
    });
  }
}

template <class T>
void multiply_rhs_transposed(const RhsPanel<T>& a, const RowPlaces& places, RhsRows<const T> x,
                               IntoRows into, RhsRows<T> out) {
  over_groups_of<T>(a.cols, x.stride, [&]<int Width, int Registers>(index_t rhs) {
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
  const RhsPanel<T> c{packed_below(panel, chunk<T>), panel.rows_below, panel.width, 0, false, panel.ahead};
  multiply_rhs<T>(c, at.own, IntoRows::subtract, places, at.local);
  if (panel.square) {
    copy_rows<T>(at.own, panel.width, at.spare);
    const auto multiply_block = [&](index_t first, index_t rows) {
      const RhsPanel<T> block{packed_block_chunk(panel, chunk<T>, first), rows,        panel.width, 0, false,
                              panel.ahead,                                at.rows_ahead};
      multiply_rhs<T>(block, at.spare, IntoRows::overwrite, {first, nullptr, rows}, at.own);
    };
    const index_t whole = panel.width / chunk<T> * chunk<T>;
    multiply_block(0, whole);
    return multiply_block(whole, panel.width - whole);
  }
  over_groups_of<T>(panel.width, at.own.stride, [&]<int Width, int Registers>(index_t rhs) {
    Tile<T, Width, Registers>::multiply_triangle(panel, rhs_from(at.own, rhs), at.rows_ahead);
  });
}

template <class T>
void packed_backward_rhs(bool adjoint, const PackedPanel<T>& panel, const RowPlaces& places,
                           const SupernodeRhs<T>& at) {
  if (panel.square) copy_rows<T>(at.own, panel.width, at.spare);
  const RhsRows<const T> z = panel.square ? at.spare : at.own;
  const SplitRows<const T> local = at.local;
  over_groups_of<T>(panel.width, at.own.stride, [&]<int Width, int Registers>(index_t rhs) {
    using NumRhs = Tile<T, Width, Registers>;
    const SplitRows<const T> known = rhs_from(local, rhs);
    const typename NumRhs::BackwardRun run{panel, places,        rhs_from(z, rhs),
                                           known, rhs_from(at.own, rhs), at.rows_ahead};
    if (is_complex_v<T> && adjoint) NumRhs::template packed_backward<is_complex_v<T>>(run);
    else NumRhs::template packed_backward<false>(run);
  });
}

#define PALMETTE_INSTANTIATE(T)                                                                             \
  template void multiply_rhs<T>(const RhsPanel<T>&, RhsRows<const T>, IntoRows, const RowPlaces&,       \
                                const SplitRows<T>&);                                                      \
  template void multiply_rhs_transposed<T>(const RhsPanel<T>&, const RowPlaces&, RhsRows<const T>,      \
                                             IntoRows, RhsRows<T>);                                        \
  template void packed_forward_rhs<T>(const PackedPanel<T>&, const RowPlaces&, const SupernodeRhs<T>&); \
  template void packed_backward_rhs<T>(bool, const PackedPanel<T>&, const RowPlaces&,                     \
                                         const SupernodeRhs<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
