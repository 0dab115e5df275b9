// Bodies of Matrix Market coordinate files: row, column, value on each line.
//
// In a symmetric, skew or Hermitian file the standard allows only the lower triangle. Like SciPy, we also
// accept entries of the upper triangle, which are mirrored; if a file gives both, they are summed.
#include "palmette/matrix/coordinate_pieces.hpp"
#include "palmette/matrix/entry_lines.hpp"

namespace palmette {
namespace {

struct NoValue {};
template <Field field>
using value_of =
    std::conditional_t<field == Field::pattern, NoValue,
                       std::conditional_t<field == Field::complex, std::complex<double>, double>>;
template <Field field>
using matrix_scalar = std::conditional_t<field == Field::complex, std::complex<double>, double>;

template <Field field>
struct CoordinateEntry {
  index_t row;
  index_t column;
  [[no_unique_address]] value_of<field> value;
};

/// Parses one line; see EntryLines.
template <Field field>
struct CoordinateLine {
  using Entry = CoordinateEntry<field>;
  using Pieces = CoordinatePieces<Entry>;
  static constexpr std::size_t words = field == Field::pattern ? 2 : field == Field::complex ? 4 : 3;
  static constexpr std::size_t shortest_line = 2 * words;

  std::uint64_t rows;
  std::uint64_t cols;
  Symmetry symmetry;

  const char* parse(const char* text, Entry& entry) const {
    std::uint64_t row = 0;
    std::uint64_t column = 0;
    text = scan_unsigned(text, row);
    if (text == nullptr || !is_blank(*text)) return nullptr;
    text = scan_unsigned(skip_blanks(text), column);
    if (text == nullptr || row - 1 >= rows || column - 1 >= cols) return nullptr;
    entry.row = static_cast<index_t>(row - 1);
    entry.column = static_cast<index_t>(column - 1);
    if constexpr (field != Field::pattern) {
      if (!is_blank(*text)) return nullptr;
      text = parse_value<field>(skip_blanks(text), entry.value);
      if (row == column && text != nullptr && !fits_diagonal(entry.value)) return nullptr;
    }
    return text;
  }

  bool fits_diagonal(const value_of<field>& value) const {
    if constexpr (field == Field::pattern) return true;
    else if (symmetry == Symmetry::skew) return value == value_of<field>(0);
    if constexpr (field == Field::complex) return symmetry != Symmetry::hermitian || value.imag() == 0;
    return true;
  }

  std::string describe(std::string_view line) const;
};

std::string describe_index(std::string_view word, const char* what, std::uint64_t size) {
  std::int64_t value = 0;
  const IntegerStatus status = parse_integer(word, value);
  if (status == IntegerStatus::malformed)
    return std::string("the ") + what + " index " + quoted(word) + " is not an integer";
  if (status == IntegerStatus::ok && value >= 1 && static_cast<std::uint64_t>(value) <= size) return {};
  return std::string("the ") + what + " index " + std::string(word.substr(0, 40)) + " is outside 1 … " +
         std::to_string(size);
}

template <Field field>
std::string CoordinateLine<field>::describe(std::string_view line) const {
  const std::vector<std::string_view> parts = words_of(line);
  if (parts.size() != words)
    return "expected " + std::to_string(words) + " fields (row, column" +
           (field == Field::pattern   ? ""
            : field == Field::complex ? ", real part, imaginary part"
                                      : ", value") +
           "), found " + std::to_string(parts.size());
  for (const std::string& what : {describe_index(parts[0], "row", rows),
                                  describe_index(parts[1], "column", cols), describe_value<field>(parts, 2)})
    if (!what.empty()) return what;
  // Each field is valid by itself: only the value on the diagonal can be wrong.
  if (symmetry == Symmetry::skew) return "the diagonal of a skew-symmetric matrix must be zero";
  if (symmetry == Symmetry::hermitian) return "the diagonal of a Hermitian matrix must be real";
  return {};
}

template <Field field>
SparseMatrix<matrix_scalar<field>> read_coordinates(TextReader& reader, const MatrixMarketHeader& header,
                                                    const ReadOptions& options) {
  using T = matrix_scalar<field>;
  const CoordinateLine<field> line{static_cast<std::uint64_t>(header.rows),
                                   static_cast<std::uint64_t>(header.cols), header.symmetry};
  auto pieces = EntryLines<CoordinateLine<field>>(reader, line, header.entries, options).read();
  if (sizes_are_absurd(header.rows, header.cols, pieces.total))
    reader.fail(header.size_line, "a matrix of " + std::to_string(header.rows) + " × " +
                                      std::to_string(header.cols) + " with " + std::to_string(pieces.total) +
                                      " entries is rejected: the size is implausible");
  auto assembled = assemble_pieces<T>(header.rows, header.cols, header.symmetry, std::move(pieces));
  if (!assembled.sums_are_finite()) reader.fail(0, "the sum of duplicate entries overflows");
  return std::move(assembled.matrix);
}

AnyMatrix read_pattern(TextReader& reader, const MatrixMarketHeader& header, const ReadOptions& options) {
  SparseMatrix<double> matrix = read_coordinates<Field::pattern>(reader, header, options);
  if (options.pattern_values == PatternValues::ones) return matrix;
  if (header.rows != header.cols)
    reader.fail(header.size_line, "only a square pattern can become a Laplacian, not one of " +
                                      std::to_string(header.rows) + " × " + std::to_string(header.cols));
  return laplacian_of_pattern(matrix.pattern, header.symmetry);
}

}  // namespace

AnyMatrix read_coordinate_body(TextReader& reader, const MatrixMarketHeader& header,
                               const ReadOptions& options) {
  switch (header.field) {
    case Field::real: return read_coordinates<Field::real>(reader, header, options);
    case Field::complex: return read_coordinates<Field::complex>(reader, header, options);
    case Field::integer: return read_coordinates<Field::integer>(reader, header, options);
    case Field::pattern: break;
  }
  return read_pattern(reader, header, options);
}

SparseMatrix<double> laplacian_of_pattern(const SparsityPattern& pattern, Symmetry symmetry) {
  std::vector<offset_t> off_diagonal(pattern.rows, 0);
  for (index_t column = 0; column < pattern.cols; ++column)
    for (const index_t row : pattern.column(column)) off_diagonal[row] += row != column;
  const auto for_each_entry = [&](auto&& visit) {
    for (index_t column = 0; column < pattern.cols; ++column) {
      visit(column, column, static_cast<double>(off_diagonal[column] + 1));
      for (const index_t row : pattern.column(column))
        if (row != column) visit(row, column, -1.0);
    }
  };
  SparseMatrix<double> matrix =
      assemble<double>(pattern.rows, pattern.cols, Symmetry::general, false, for_each_entry).matrix;
  matrix.symmetry = symmetry;
  return matrix;
}

}  // namespace palmette
