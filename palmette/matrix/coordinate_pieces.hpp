// Inside `matrix`: the entries of a coordinate file between reading and assembly, and their assembly in
// little more memory than the matrix needs: entries are freed once they are placed.
#pragma once

#include <memory>

#include "palmette/matrix/assemble.hpp"

namespace palmette {

/// Rows, columns and values in the order of the file, in separate arrays, so that each can be freed once it
/// is placed. They are in pieces that never move, so that growth needs no copy.
/// @tparam Entry  row, column and, unless it is empty, value
template <class Entry>
class CoordinatePieces {
 public:
  using Value = decltype(Entry::value);
  static constexpr bool has_values = !std::is_empty_v<Value>;

  std::int64_t total = 0;

  /// @param expected  the most entries still to come, including these; bounds the size of a new piece
  void append(const Entry* entries, std::size_t count, std::int64_t expected) {
    total += static_cast<std::int64_t>(count);
    while (count > 0) {
      if (pieces_.empty() || pieces_.back().count == pieces_.back().capacity) add_piece(expected);
      Piece& piece = pieces_.back();
      const std::size_t taken = std::min(count, piece.capacity - piece.count);
      for (std::size_t place = 0; place < taken; ++place) {
        piece.row[piece.count + place] = entries[place].row;
        piece.column[piece.count + place] = entries[place].column;
        if constexpr (has_values) piece.value[piece.count + place] = entries[place].value;
      }
      piece.count += taken;
      entries += taken;
      count -= taken;
      expected -= static_cast<std::int64_t>(taken);
    }
  }

  /// True if column indices never decrease.
  bool in_column_order() const {
    index_t before = 0;
    bool ordered = true;
    for (const Piece& piece : pieces_)
      for (std::size_t place = 0; place < piece.count; ++place) {
        ordered &= before <= piece.column[place];
        before = piece.column[place];
      }
    return ordered;
  }

  template <class Visit>
  void for_each_column_index(Visit&& visit) const {
    for (const Piece& piece : pieces_)
      for (std::size_t place = 0; place < piece.count; ++place) visit(piece.column[place]);
  }

  /// visit(row, column, value), with value 1 for pattern files.
  template <class T, class Visit>
  void for_each(Visit&& visit) const {
    for (const Piece& piece : pieces_)
      for (std::size_t place = 0; place < piece.count; ++place)
        visit(piece.row[place], piece.column[place], value_at<T>(piece, place));
  }

  /// visit(column, row); the rows of each piece are freed afterwards and cannot be visited again.
  template <class Visit>
  void take_rows(Visit&& visit) {
    for (Piece& piece : pieces_) {
      for (std::size_t place = 0; place < piece.count; ++place) visit(piece.column[place], piece.row[place]);
      release(piece.row, piece);
    }
  }

  /// visit(column, value); each piece is freed afterwards.
  template <class T, class Visit>
  void take_values(Visit&& visit) {
    for (Piece& piece : pieces_) {
      for (std::size_t place = 0; place < piece.count; ++place)
        visit(piece.column[place], value_at<T>(piece, place));
      release(piece.column, piece);
      if constexpr (has_values) release(piece.value, piece);
    }
    pieces_.clear();
  }

 private:
  struct Piece {
    std::unique_ptr<index_t[]> row, column;
    std::unique_ptr<Value[]> value;
    std::size_t count = 0;
    std::size_t capacity = 0;
  };
  static constexpr std::size_t piece_entries = std::size_t{1} << 19;  // each array is at least one large page

  template <class T>
  static T value_at([[maybe_unused]] const Piece& piece, [[maybe_unused]] std::size_t place) {
    if constexpr (has_values) return piece.value[place];
    else return T(1);
  }

  template <class Item>
  static std::unique_ptr<Item[]> array_of(std::size_t count) {
    auto array = std::make_unique_for_overwrite<Item[]>(count);
    prefer_large_pages(array.get(), count * sizeof(Item));
    return array;
  }

  template <class Item>
  static void release(std::unique_ptr<Item[]>& array, const Piece& piece) {
    give_back_pages(array.get(), piece.capacity * sizeof(Item));
    array.reset();
  }

  void add_piece(std::int64_t expected) {
    Piece piece;
    piece.capacity = static_cast<std::size_t>(std::min<std::int64_t>(expected, piece_entries));
    piece.row = array_of<index_t>(piece.capacity);
    piece.column = array_of<index_t>(piece.capacity);
    if constexpr (has_values) piece.value = array_of<Value>(piece.capacity);
    pieces_.push_back(std::move(piece));
  }

  std::vector<Piece> pieces_;
};

/// Where each column begins, from the entries of a general file.
template <class Entry>
std::vector<offset_t> count_columns(const CoordinatePieces<Entry>& pieces, index_t cols) {
  std::vector<offset_t> start(cols + 1, 0);
  pieces.for_each_column_index([&](index_t column) { ++start[column + 1]; });
  for (std::size_t column = 1; column < start.size(); ++column) start[column] += start[column - 1];
  return start;
}

/// Columns in the order of the file, rows and then values: an array of the matrix grows while its pieces are
/// freed.
template <class T, class Entry>
void append_columns(CoordinatePieces<Entry>& pieces, SparseMatrix<T>& matrix) {
  const auto total = static_cast<std::size_t>(pieces.total);
  matrix.pattern.row_index.reserve(total);
  prefer_large_pages(matrix.pattern.row_index.data(), total * sizeof(index_t));
  pieces.take_rows([&](index_t, index_t row) { matrix.pattern.row_index.push_back(row); });
  matrix.values.reserve(total);
  prefer_large_pages(matrix.values.data(), total * sizeof(T));
  pieces.template take_values<T>([&](index_t, const T& value) { matrix.values.push_back(value); });
}

/// Columns by counting, rows first: the pieces of the rows are freed before the values are allocated.
template <class T, class Entry>
void place_columns(CoordinatePieces<Entry>& pieces, SparseMatrix<T>& matrix) {
  const std::vector<offset_t>& start = matrix.pattern.column_ptr;
  std::vector<offset_t> next(start.begin(), start.end() - 1);
  resize_on_large_pages(matrix.pattern.row_index, static_cast<std::size_t>(pieces.total));
  pieces.take_rows([&](index_t column, index_t row) { matrix.pattern.row_index[next[column]++] = row; });
  std::copy(start.begin(), start.end() - 1, next.begin());
  resize_on_large_pages(matrix.values, static_cast<std::size_t>(pieces.total));
  pieces.template take_values<T>(
      [&](index_t column, const T& value) { matrix.values[next[column]++] = value; });
}

/// As `assemble`, from the entries of a file, which it uses up.
///
/// @cost at the peak 1.4 times the matrix for a general file with columns in order, 2 times for one without,
///   1.7 times for a symmetric file
template <class T, class Entry>
Assembled<T> assemble_pieces(index_t rows, index_t cols, Symmetry symmetry, CoordinatePieces<Entry> pieces) {
  constexpr bool duplicates_are_one = !CoordinatePieces<Entry>::has_values;
  if (symmetry != Symmetry::general)
    return assemble<T>(rows, cols, symmetry, duplicates_are_one,
                       [&](auto&& visit) { pieces.template for_each<T>(visit); });
  SparseMatrix<T> matrix;
  matrix.pattern.rows = rows;
  matrix.pattern.cols = cols;
  matrix.pattern.column_ptr = count_columns(pieces, cols);
  pieces.in_column_order() ? append_columns(pieces, matrix) : place_columns(pieces, matrix);
  return finish_columns(std::move(matrix), duplicates_are_one);
}

}  // namespace palmette
