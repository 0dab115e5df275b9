// Inside `solve`: between the caller's vectors, column after column, and the rows of right-hand sides that
// supernodal sweeps work on; permutation, scaling and conjugation are done on the way.
#pragma once

#include <algorithm>

#include "palmette/blocks/blocks.hpp"
#include "palmette/solve/core.hpp"
#include "palmette/solve/rhs_blocks.hpp"

namespace palmette::solve_detail {

/// Number of columns that are read or written in turn for one row: their lines stay in the first-level cache
/// for the next rows.
inline constexpr index_t columns_in_turn = 8;

/// How many rows ahead lines are prefetched: the permutation decides where they lie, which hardware cannot
/// predict.
inline constexpr index_t rows_ahead = 12;

template <bool Write, class T>
PALMETTE_INLINE inline void prefetch_row(const IndexMap& map, index_t k, DenseView<T> columns) {
  const auto* const row = columns.data + (map.place != nullptr ? map.place[k] : k);
  for (index_t j = 0; j < columns.cols; ++j) __builtin_prefetch(row + j * columns.ld, Write ? 1 : 0, 3);
}

/// Calls use(k, caller's row, scale, first column, end column) for `count` rows from `first` on and all
/// columns.
template <class Use>
inline void over_rows_and_columns(const IndexMap& map, index_t first, index_t count, index_t columns,
                                  Use&& use) {
  for (index_t column = 0; column < columns; column += columns_in_turn)
    over_mapped_rows(map, first, count, [&](index_t k, index_t row, double scale) {
      use(k, row, scale, column, std::min(columns, column + columns_in_turn));
    });
}

/// So many rows of right-hand sides that are alone or apart are moved in turn, while the next ones are
/// prefetched.
inline constexpr index_t rows_in_turn = 64;

/// into(k, j) ← row first + k of right-hand side j. A loop that does only this has as many reads on their way
/// as the processor allows; between the panels of a sweep each would be waited for.
template <class T>
void load_in_turn(const Reader<T>& reader, index_t first, index_t count, DenseView<T> into) {
  const index_t* const place = reader.map.place;
  if (place == nullptr) return reader.load(first, count, into);
  for (index_t k = 0; k < count; k += rows_in_turn) {
    const index_t rows = std::min(rows_in_turn, count - k);
    const index_t next = first + k + rows, end = std::min(reader.from.rows, next + rows_in_turn);
    for (index_t j = 0; j < into.cols; ++j)
      for (index_t row = next; row < end; ++row)
        __builtin_prefetch(reader.from.column(j) + place[row], 0, 2);
    reader.load(first + k, rows, {into.data + k, rows, into.cols, into.ld});
  }
}

/// into.row(k)[j] ← row first + k of right-hand side j, zero for the right-hand sides that pad the stride.
template <class T>
void load_rhs(const Reader<T>& reader, index_t first, index_t count, RhsRows<T> into) {
  const index_t columns = reader.from.cols;
  const bool plain = reader.map.scale == nullptr && !(is_complex_v<T> && reader.conjugated);
  if (into.stride == 1) return load_in_turn<T>(reader, first, count, {into.data, count, 1, count});
  over_rows_and_columns(reader.map, first, count, columns,
                        [&](index_t k, index_t row, double scale, index_t begin, index_t end) {
                          if (k + rows_ahead < count)
                            prefetch_row<false>(reader.map, first + k + rows_ahead,
                                                reader.from.columns(begin, end - begin));
                          const T* const source = reader.from.data + row;
                          T* const target = into.row(k);
                          if (plain)
                            for (index_t j = begin; j < end; ++j) target[j] = source[j * reader.from.ld];
                          else
                            for (index_t j = begin; j < end; ++j)
                              target[j] = mapped_value(source[j * reader.from.ld], scale, reader.conjugated);
                          if (end == columns) std::fill(target + columns, target + into.stride, T(0));
                        });
}

/// Row first + k of right-hand side j ← given.row(k)[j].
template <class T>
void store_rhs(const Writer<T>& writer, index_t first, index_t count, RhsRows<const T> given) {
  const bool plain = writer.map.scale == nullptr && !(is_complex_v<T> && writer.conjugated);
  if (given.stride == 1) return writer.store(first, count, {given.data, count, 1, count});
  over_rows_and_columns(writer.map, first, count, writer.to.cols,
                        [&](index_t k, index_t row, double scale, index_t begin, index_t end) {
                          if (k + rows_ahead < count)
                            prefetch_row<true>(writer.map, first + k + rows_ahead,
                                               writer.to.columns(begin, end - begin));
                          const T* const source = given.row(k);
                          T* const target = writer.to.data + row;
                          if (plain)
                            for (index_t j = begin; j < end; ++j) target[j * writer.to.ld] = source[j];
                          else
                            for (index_t j = begin; j < end; ++j)
                              target[j * writer.to.ld] = mapped_value(source[j], scale, writer.conjugated);
                        });
}

/// Stride of rows of right-hand sides that lie side by side: padded_rhs(), or a register more. Where a
/// register is half a line, three of real numbers pass a panel together, so that seven are three, two and
/// two, and thirteen end like that. One more takes hardly any time then, and rows are whole lines with it,
/// which are stored past the caches.
inline index_t row_stride(int scalar_bytes, index_t num_rhs) {
  const index_t stride = padded_rhs(scalar_bytes, num_rhs), full = packed_rows(scalar_bytes);
  const bool is_half_line = 2 * full * scalar_bytes == lanes::line_bytes;
  return is_half_line && stride > full && stride / full % 6 == 1 ? stride + full : stride;
}

/// Whether whole registers of right-hand sides are turned between columns and rows; else they go one by one.
template <class T>
inline bool turned_in_registers(index_t stride) {
  return RhsBlock<T>::in_registers && stride % RhsBlock<T>::width == 0;
}

/// From this size on rows and columns are stored past the caches: they fill the second level anyway, and a
/// line that is written whole need not be read before it is.
inline constexpr offset_t streamed_bytes = offset_t{1} << 21;

/// Number of blocks that are moved together, beside or below each other: two registers may fill a line.
template <class T>
inline constexpr int blocks_together = 2 * sizeof(typename RhsBlock<T>::Vector) == lanes::line_bytes ? 2 : 1;
template <class T>
inline constexpr index_t width_together = blocks_together<T> * RhsBlock<T>::width;

/// Whether `scalars` are so many, and registers so long, that lines are to be stored past the caches.
/// Registers of a quarter of a line were not measured.
template <class T>
inline bool pays_to_stream(offset_t scalars) {
  return blocks_together<T> * sizeof(typename RhsBlock<T>::Vector) == lanes::line_bytes &&
         scalars * static_cast<offset_t>(sizeof(T)) >= streamed_bytes;
}
/// Whether lines of the caches begin at `first` and in steps of `step` scalars from there.
template <class T>
inline bool is_aligned(const T* first, offset_t step) {
  return reinterpret_cast<std::uintptr_t>(first) % lanes::line_bytes == 0 &&
         static_cast<std::size_t>(step) * sizeof(T) % lanes::line_bytes == 0;
}

/// all.row(place of row k) from `first` on ← W rows from `row` on of `Blocks`·W right-hand sides from `first`
/// on, zero for those that pad the stride; past the caches if they fill lines.
template <class T, int Blocks>
inline void spread_blocks(const Reader<T>& reader, index_t row, index_t first, RhsRows<T> all, bool streams) {
  using Block = RhsBlock<T>;
  Block block[Blocks];
  for (int part = 0; part < Blocks; ++part)
    block[part].read_columns(reader.from, row, first + part * Block::width, reader.conjugated);
  for (int k = 0; k < Block::width; ++k) {
    T* const place = all.row(reader.map.back[row + k]) + first;
    for (int part = 0; part < Blocks; ++part) {
      typename Block::Vector& line = block[part].line[k];
      if (reader.map.scale != nullptr) line *= static_cast<real_t<T>>(reader.map.scale[row + k]);
      if (streams) Block::L::stream(line, place + part * Block::width);
      else Block::L::store(line, place + part * Block::width);
    }
  }
}

/// `Blocks`·W rows from `row` on of right-hand sides `first` and more ← all.row(place of row k) from `first`
/// on; past the caches if they fill lines.
template <class T, int Blocks>
inline void collect_blocks(const Writer<T>& writer, index_t row, index_t first, RhsRows<const T> all,
                           bool streams) {
  using Block = RhsBlock<T>;
  Block block[Blocks];
  for (int k = 0; k < Blocks * Block::width; ++k) {
    typename Block::Vector& line = block[k / Block::width].line[k % Block::width];
    line = Block::L::load(all.row(writer.map.back[row + k]) + first);
    if (writer.map.scale != nullptr) line *= static_cast<real_t<T>>(writer.map.scale[row + k]);
    if (writer.conjugated) line = Block::L::conjugated(line);
  }
  for (Block& each : block) each.turn();
  for (int j = 0; j < Block::width && first + j < writer.to.cols; ++j)
    for (int part = 0; part < Blocks; ++part) {
      T* const place = writer.to.column(first + j) + row + part * Block::width;
      if (streams) Block::L::stream(block[part].line[j], place);
      else Block::L::store(block[part].line[j], place);
    }
}

/// Rows [begin, end) of `columns` right-hand sides, so many of them in turn; `turned` if in registers, in
/// blocks of so many rows and right-hand sides.
struct RhsRange {
  index_t begin, end, columns, in_turn;
  bool turned;
  index_t block_rows, block_columns;
};

/// Calls block(row, first) for blocks of rows and of right-hand sides, a few of these at a time, after
/// prefetch(row, first) of the rows that follow; one(row, first, last) for the other rows.
template <class T, class Prefetch, class ForBlock, class ForOne>
inline void over_blocks(const RhsRange& range, Prefetch&& prefetch, ForBlock&& block, ForOne&& one) {
  const index_t end = range.end, height = range.block_rows;
  const index_t turn = std::max(range.block_columns, range.in_turn);
  for (index_t first = 0; first < range.columns; first += turn) {
    const index_t last = std::min(range.columns, first + turn);
    index_t row = range.begin;
    for (; range.turned && row + height <= end; row += height) {
      for (index_t k = row + rows_ahead; k < std::min(end, row + rows_ahead + height); ++k)
        for (index_t j = first; j < last; j += columns_in_turn) prefetch(k, j);
      for (index_t j = first; j < last; j += range.block_columns) block(row, j);
    }
    for (; row < end; ++row) {
      if (row + rows_ahead < end) prefetch(row + rows_ahead, first);
      one(row, first, last);
    }
  }
}

/// Caller's rows [begin, end) of all right-hand sides → all.row(place of the row). The caller's columns are
/// read in order, which suits pages and lines, and whole lines are scattered. For a map that knows its
/// inverse.
template <class T>
void spread_rhs(const Reader<T>& reader, index_t begin, index_t end, RhsRows<T> all) {
  const index_t columns = reader.from.cols;
  const index_t* const back = reader.map.back;
  const bool turned = turned_in_registers<T>(all.stride), together = all.stride % width_together<T> == 0;
  const bool streams = turned && together && pays_to_stream<T>(offset_t{reader.from.rows} * all.stride) &&
                       is_aligned(all.data, all.stride);
  constexpr index_t width = RhsBlock<T>::width;
  over_blocks<T>(
      {begin, end, columns, columns_in_turn, turned, width, together ? width_together<T> : width},
      [](index_t, index_t) {},  // rows that are fetched ahead before they are written gain nothing
      [&](index_t row, index_t first) {
        if constexpr (RhsBlock<T>::in_registers) {
          if (together) spread_blocks<T, blocks_together<T>>(reader, row, first, all, streams);
          else spread_blocks<T, 1>(reader, row, first, all, false);
        }
      },
      [&](index_t row, index_t first, index_t last) {
        T* const target = all.row(back[row]);
        for (index_t j = first; j < last; ++j)
          target[j] = mapped_value(reader.from(row, j), reader.map.scale_of(row), reader.conjugated);
        if (last == columns) std::fill(target + columns, target + all.stride, T(0));
      });
  if (streams) lanes::end_streams();
}

/// Caller's rows [begin, end) of all right-hand sides ← all.row(place of the row).
template <class T>
void collect_rhs(const Writer<T>& writer, index_t begin, index_t end, RhsRows<const T> all) {
  const index_t* const back = writer.map.back;
  constexpr index_t width = RhsBlock<T>::width;
  const bool turned = turned_in_registers<T>(all.stride);
  const auto collect = [&]<int Blocks>(index_t first_row, index_t end_row, index_t in_turn, bool streams) {
    over_blocks<T>(
        {first_row, end_row, writer.to.cols, in_turn, turned, Blocks * width, width},
        [&](index_t row, index_t first) { __builtin_prefetch(all.row(back[row]) + first, 0, 3); },
        [&](index_t row, index_t first) {
          if constexpr (RhsBlock<T>::in_registers)
            collect_blocks<T, Blocks>(writer, row, first, all, streams);
        },
        [&](index_t row, index_t first, index_t last) {
          const T* const source = all.row(back[row]);
          for (index_t j = first; j < last; ++j)
            writer.to(row, j) = mapped_value(source[j], writer.map.scale_of(row), writer.conjugated);
        });
  };
  // Rows up to the first one at which columns are aligned, then whole rows of right-hand sides.
  index_t aligned = begin;
  while (aligned < std::min(end, begin + lanes::line_entries<T>) &&
         !is_aligned(writer.to.data + aligned, writer.to.ld))
    ++aligned;
  const bool streams = turned && pays_to_stream<T>(offset_t{writer.to.rows} * writer.to.cols) &&
                       aligned < end && is_aligned(writer.to.data + aligned, writer.to.ld);
  if (!streams) return collect.template operator()<1>(begin, end, columns_in_turn, false);
  collect.template operator()<1>(begin, aligned, columns_in_turn, false);
  collect.template operator()<blocks_together<T>>(aligned, end, writer.to.cols, true);
  lanes::end_streams();
}

/// Rows [begin, end) of a sweep, for right-hand sides that are kept apart, n scalars each: all[j·n + k] ← row
/// k of right-hand side j.
template <class T>
void spread_apart(const Reader<T>& reader, index_t begin, index_t end, T* all) {
  load_in_turn<T>(reader, begin, end - begin, {all + begin, end - begin, reader.from.cols, reader.from.rows});
}

/// Rows [begin, end) of the caller's, or of the sweep for a map that does not know its inverse: row k of
/// right-hand side j ← all[j·n + k]. In the caller's order two threads write the same line only where their
/// ranges meet.
template <class T>
void collect_apart(const Writer<T>& writer, index_t begin, index_t end, const T* all) {
  const index_t n = writer.to.rows;
  const index_t* const back = writer.map.back;
  if (back == nullptr) return writer.store(begin, end - begin, {all + begin, end - begin, writer.to.cols, n});
  for (index_t first = begin; first < end; first += rows_in_turn) {
    const index_t last = std::min(end, first + rows_in_turn), ahead = std::min(end, last + rows_in_turn);
    for (index_t j = 0; j < writer.to.cols; ++j) {
      const T* const from = all + offset_t{j} * n;
      T* const to = writer.to.column(j);
      for (index_t row = last; row < ahead; ++row) __builtin_prefetch(from + back[row], 0, 3);
      if (writer.map.scale == nullptr && !(is_complex_v<T> && writer.conjugated))
        for (index_t row = first; row < last; ++row) to[row] = from[back[row]];
      else
        for (index_t row = first; row < last; ++row)
          to[row] = mapped_value(from[back[row]], writer.map.scale_of(row), writer.conjugated);
    }
  }
}

/// value(place of the row, j) ← the entries of sparse right-hand side j; other rows are not touched.
template <class T, class Value>
void spread_entries(const EntryRun<T>& run, Value&& value) {
  const std::vector<offset_t>& ptr = run.b.pattern.column_ptr;
  for (std::size_t j = 0; j < run.columns.size(); ++j)
    for (offset_t e = ptr[run.columns[j]]; e < ptr[run.columns[j] + 1]; ++e) {
      const index_t row = run.b.pattern.row_index[e];
      value(run.in.place_of(row), static_cast<index_t>(j)) =
          mapped_value(run.b.values[e], run.in.scale_of(row), run.conjugated);
    }
}

/// The wanted rows of x ← value(place of the row, j).
template <class T, class Value>
void collect_entries(const EntryRun<T>& run, Value&& value) {
  for (std::size_t k = 0; k < run.wanted.size(); ++k) {
    const index_t row = run.wanted[k];
    for (index_t j = 0; j < run.x.cols; ++j)
      run.x(static_cast<index_t>(k), j) =
          mapped_value(value(run.out.place_of(row), j), run.out.scale_of(row), run.conjugated);
  }
}

/// into.row(places[k]) += from.row(k)
template <class T>
void add_at(const RowPlaces& places, RhsRows<const T> from, const SplitRows<T>& into) {
  if (from.stride == 1 && places.list == nullptr) {
    T* const target = into.row(places.start);
    for (index_t k = 0; k < places.count; ++k) target[k] += from.data[k];
  } else if (from.stride == 1) {
    for (index_t k = 0; k < places.count; ++k) into.first[places.list[k]] += from.data[k];
  } else {
    for (index_t k = 0; k < places.count; ++k) {
      const T* const source = from.row(k);
      T* const target = into.row(places[k]);
      for (index_t rhs = 0; rhs < from.stride; ++rhs) target[rhs] += source[rhs];
    }
  }
}

}  // namespace palmette::solve_detail
