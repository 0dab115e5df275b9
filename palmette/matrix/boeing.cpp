// From the third line on, the two Boeing formats are alike: sizes, Fortran formats, pointers, row indices,
// values.
#include "palmette/matrix/boeing.hpp"

#include <algorithm>
#include <limits>

#include "palmette/matrix/assemble.hpp"
#include "palmette/matrix/fortran_records.hpp"
#include "palmette/matrix/matrix_market.hpp"

namespace palmette {
namespace {

struct BoeingHeader {
  FileHeader file;
  Field field = Field::real;
  bool has_values = true;
  std::vector<FortranField> pointer_format;
  std::vector<FortranField> index_format;
  std::vector<FortranField> value_format;
};

constexpr const char* unknown_format =
    "this is neither a Matrix Market file (no %%MatrixMarket banner) nor a Rutherford-Boeing or "
    "Harwell-Boeing file";

std::string_view header_line(TextReader& reader) {
  std::string_view line;
  if (!reader.next_line(line)) reader.fail(std::max<std::int64_t>(reader.line_number(), 1), unknown_format);
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

/// All words of the text as integers, none below 0; empty if one of them is not.
std::vector<std::int64_t> integers_of(std::string_view text) {
  std::vector<std::int64_t> integers;
  for (const std::string_view word : words_of(text)) {
    std::int64_t value = 0;
    if (integers.size() == 8 || parse_integer(word, value) != IntegerStatus::ok || value < 0) return {};
    integers.push_back(value);
  }
  return integers;
}

Field field_of_letter(const TextReader& reader, char letter) {
  switch (letter) {
    case 'r': return Field::real;
    case 'c': return Field::complex;
    case 'p': return Field::pattern;
    case 'i': return Field::integer;
    default:
      reader.fail(reader.line_number(),
                  std::string("the matrix type begins with '") + letter +
                      "'; only R (real), C (complex), I (integer) and P (pattern) can be read");
  }
}

Symmetry symmetry_of_letter(const TextReader& reader, char letter) {
  switch (letter) {
    case 'u': case 'r': return Symmetry::general;
    case 's': return Symmetry::symmetric;
    case 'h': return Symmetry::hermitian;
    case 'z': return Symmetry::skew;
    default:
      reader.fail(reader.line_number(),
                  std::string("the matrix type has '") + letter +
                      "' for its symmetry; there are U, S, H, Z (skew) and R (rectangular)");
  }
}

/// Line 3: the type in columns 1-3, then rows, columns, entries and a count for elemental matrices.
void read_type_and_sizes(TextReader& reader, BoeingHeader& header) {
  const std::string_view line = header_line(reader);
  const std::int64_t number = reader.line_number();
  const std::string type = lower_case(line.substr(0, 3));
  const std::vector<std::int64_t> sizes =
      line.size() > 3 ? integers_of(line.substr(3)) : std::vector<std::int64_t>{};
  if (type.size() < 3 || sizes.size() < 3 || sizes.size() > 4) reader.fail(number, unknown_format);
  header.field = field_of_letter(reader, type[0]);
  header.file.field = name_of(header.field);
  header.file.symmetry = symmetry_of_letter(reader, type[1]);
  if (header.file.symmetry == Symmetry::hermitian && header.field != Field::complex)
    header.file.symmetry = Symmetry::symmetric;
  if (header.file.symmetry == Symmetry::skew && header.field == Field::pattern)
    reader.fail(number, "a pattern cannot be skew-symmetric: it has no signs");
  if (type[2] == 'e')
    reader.fail(number, "elemental (unassembled) matrices cannot be read; assemble the matrix first");
  if (type[2] != 'a')
    reader.fail(number,
                std::string("the matrix type ends in '") + type[2] + "'; only A (assembled) can be read");
  constexpr std::int64_t most = std::numeric_limits<index_t>::max();
  if (sizes[0] > most || sizes[1] > most)
    reader.fail(number, "a matrix of " + std::to_string(sizes[0]) + " × " + std::to_string(sizes[1]) +
                            " has more than " + std::to_string(most) + " rows or columns");
  if (header.file.symmetry != Symmetry::general && sizes[0] != sizes[1])
    reader.fail(number, "a " + std::string(name_of(header.file.symmetry)) + " matrix must be square, not " +
                            std::to_string(sizes[0]) + " × " + std::to_string(sizes[1]));
  if (sizes[2] > reader.remaining_bound())
    reader.fail(number, std::to_string(sizes[2]) + " entries are announced, more than the file can hold");
  header.file.rows = static_cast<index_t>(sizes[0]);
  header.file.cols = static_cast<index_t>(sizes[1]);
  header.file.stored_entries = sizes[2];
}

/// The columns of a line that belong to one item, without the blanks around it; empty past the end of the
/// line.
std::string_view columns_of(std::string_view line, std::size_t first, std::size_t width) {
  return first < line.size() ? trimmed(line.substr(first, width)) : std::string_view{};
}

std::vector<FortranField> format_from(const TextReader& reader, std::string_view text, bool of_integers,
                                      const char* what) {
  std::string error;
  std::vector<FortranField> format = parse_fortran_format(text, error);
  if (format.empty())
    reader.fail(reader.line_number(),
                std::string("the format of the ") + what + ", " + quoted(text) + ", " + error);
  for (const FortranField& field : format)
    if (field.is_integer != of_integers && of_integers)
      reader.fail(reader.line_number(), std::string("the format of the ") + what + ", " + quoted(text) +
                                            ", is not one of integers");
  return format;
}

/// Lines 1 to 4, and line 5 of a Harwell–Boeing file that announces right-hand sides.
BoeingHeader read_header(TextReader& reader) {
  BoeingHeader header;
  header.file.title = trimmed(header_line(reader).substr(0, 72));
  const std::vector<std::int64_t> cards = integers_of(header_line(reader));
  if (cards.size() != 4 && cards.size() != 5) reader.fail(reader.line_number(), unknown_format);
  const bool has_right_hand_sides = cards.size() == 5 && cards[4] > 0;
  header.file.format = cards.size() == 5 ? "Harwell-Boeing" : "Rutherford-Boeing";
  read_type_and_sizes(reader, header);
  header.has_values = header.field != Field::pattern;
  if (header.has_values && cards[3] == 0 && header.file.stored_entries > 0)
    reader.fail(reader.line_number(),
                "the matrix type promises values, but the header announces no lines of them");
  const std::string_view line = header_line(reader);
  header.pointer_format = format_from(reader, columns_of(line, 0, 16), true, "pointers");
  header.index_format = format_from(reader, columns_of(line, 16, 16), true, "row indices");
  if (header.has_values && cards[3] > 0)
    header.value_format = format_from(reader, columns_of(line, 32, 20), false, "values");
  if (has_right_hand_sides) header_line(reader);
  return header;
}

/// Room for the announced number of elements, but for no more than the rest of the file can hold.
template <class T>
void reserve_provable(std::vector<T>& array, std::int64_t announced, const TextReader& reader) {
  array.reserve(std::min(announced, reader.remaining_bound()));
}

void read_pointers(TextReader& reader, const BoeingHeader& header, SparsityPattern& pattern) {
  FortranRecords records(reader, header.pointer_format, "column pointers");
  pattern.column_ptr.clear();
  reserve_provable(pattern.column_ptr, static_cast<std::int64_t>(pattern.cols) + 1, reader);
  for (std::int64_t column = 0; column <= pattern.cols; ++column) {
    const std::int64_t pointer = records.next_integer() - 1;
    const std::int64_t least = column == 0 ? 0 : pattern.column_ptr.back();
    if (pointer < least || (column == 0 && pointer != 0) || pointer > header.file.stored_entries)
      reader.fail(reader.line_number(),
                  "the pointer of column " + std::to_string(column + 1) + " is " +
                      std::to_string(pointer + 1) +
                      (column == 0 ? ", not 1"
                                   : ", outside " + std::to_string(least + 1) + " … " +
                                         std::to_string(header.file.stored_entries + 1)));
    pattern.column_ptr.push_back(pointer);
  }
  if (pattern.column_ptr.back() != header.file.stored_entries)
    reader.fail(reader.line_number(),
                "the last column pointer is " + std::to_string(pattern.column_ptr.back() + 1) + ", but " +
                    std::to_string(header.file.stored_entries) + " entries are announced");
}

void read_row_indices(TextReader& reader, const BoeingHeader& header, SparsityPattern& pattern) {
  FortranRecords records(reader, header.index_format, "row indices");
  reserve_provable(pattern.row_index, header.file.stored_entries, reader);
  for (std::int64_t entry = 0; entry < header.file.stored_entries; ++entry) {
    const std::int64_t row = records.next_integer();
    if (row < 1 || row > pattern.rows)
      reader.fail(reader.line_number(),
                  "the row index " + std::to_string(row) + " is outside 1 … " + std::to_string(pattern.rows));
    pattern.row_index.push_back(static_cast<index_t>(row - 1));
  }
}

template <class T>
void read_values(TextReader& reader, const BoeingHeader& header, std::vector<T>& values) {
  if (!header.has_values) {
    values.assign(header.file.stored_entries, T(1));
    return;
  }
  FortranRecords records(reader, header.value_format, "values");
  reserve_provable(values, header.file.stored_entries, reader);
  for (std::int64_t entry = 0; entry < header.file.stored_entries; ++entry) {
    const double real = records.next_real();
    if constexpr (is_complex_v<T>) values.emplace_back(real, records.next_real());
    else values.push_back(real);
  }
}

/// The diagonal of skew matrices is zero, that of Hermitian matrices real.
template <class T>
void check_diagonal(const TextReader& reader, const SparseMatrix<T>& stored, Symmetry symmetry) {
  if (symmetry != Symmetry::skew && symmetry != Symmetry::hermitian) return;
  for (index_t column = 0; column < stored.cols(); ++column)
    for (offset_t entry = stored.pattern.column_ptr[column]; entry < stored.pattern.column_ptr[column + 1];
         ++entry) {
      if (stored.pattern.row_index[entry] != column) continue;
      const T value = stored.values[entry];
      if (symmetry == Symmetry::skew ? value == T(0) : value == conjugate(value)) continue;
      reader.fail(0, "the diagonal of a " +
                         std::string(symmetry == Symmetry::skew ? "skew-symmetric matrix must be zero"
                                                                : "Hermitian matrix must be real") +
                         "; that of column " + std::to_string(column + 1) + " is not");
    }
}

/// Columns in order, duplicates summed, the other triangle added.
template <class T>
SparseMatrix<T> complete(const TextReader& reader, const BoeingHeader& header, SparseMatrix<T> stored) {
  const Symmetry symmetry = header.file.symmetry;
  check_diagonal(reader, stored, symmetry);
  const bool pattern_only = header.field == Field::pattern;
  Assembled<T> result;
  if (symmetry != Symmetry::general) {
    result = assemble<T>(stored.rows(), stored.cols(), symmetry, pattern_only, [&](auto&& visit) {
      for (index_t column = 0; column < stored.cols(); ++column)
        for (offset_t entry = stored.pattern.column_ptr[column];
             entry < stored.pattern.column_ptr[column + 1]; ++entry)
          visit(stored.pattern.row_index[entry], column, stored.values[entry]);
    });
  } else {
    result.had_duplicates = sort_and_sum_columns(stored);
    if (pattern_only) std::fill(stored.values.begin(), stored.values.end(), T(1));
    result.matrix = std::move(stored);
  }
  if (!result.sums_are_finite()) reader.fail(0, "the sum of duplicate entries overflows");
  return std::move(result.matrix);
}

template <class T>
SparseMatrix<T> read_body(TextReader& reader, const BoeingHeader& header, const ReadOptions& options) {
  SparseMatrix<T> stored;
  stored.pattern.rows = header.file.rows;
  stored.pattern.cols = header.file.cols;
  read_pointers(reader, header, stored.pattern);
  if (options.progress) options.progress("read", reader.fraction_read());
  read_row_indices(reader, header, stored.pattern);
  if (options.progress) options.progress("read", reader.fraction_read());
  read_values(reader, header, stored.values);
  if (sizes_are_absurd(header.file.rows, header.file.cols, stored.nnz()))
    reader.fail(3, "a matrix of " + std::to_string(header.file.rows) + " × " +
                       std::to_string(header.file.cols) + " with " + std::to_string(stored.nnz()) +
                       " entries is rejected: the size is implausible");
  reader.drain();
  if (options.progress) options.progress("read", 1.0);
  return complete(reader, header, std::move(stored));
}

}  // namespace

ReadResult read_boeing(TextReader& reader, const ReadOptions& options) {
  const BoeingHeader header = read_header(reader);
  if (header.field == Field::complex)
    return {read_body<std::complex<double>>(reader, header, options), header.file};
  SparseMatrix<double> matrix = read_body<double>(reader, header, options);
  if (header.field == Field::pattern && options.pattern_values == PatternValues::laplacian) {
    if (header.file.rows != header.file.cols)
      reader.fail(3, "only a square pattern can become a Laplacian, not one of " +
                         std::to_string(header.file.rows) + " × " + std::to_string(header.file.cols));
    matrix = laplacian_of_pattern(matrix.pattern, header.file.symmetry);
  }
  return {std::move(matrix), header.file};
}

}  // namespace palmette
