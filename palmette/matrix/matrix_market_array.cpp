// Bodies of Matrix Market array files: one value per line, column by column; symmetric files hold only the
// lower triangle, skew-symmetric files only what lies strictly below the diagonal.
#include "palmette/matrix/assemble.hpp"
#include "palmette/matrix/entry_lines.hpp"

namespace palmette {
namespace {

template <Field field>
struct ValueLine {
  using Entry = std::conditional_t<field == Field::complex, std::complex<double>, double>;
  using Pieces = EntryPieces<Entry>;
  static constexpr std::size_t words = field == Field::complex ? 2 : 1;
  static constexpr std::size_t shortest_line = 2 * words;

  const char* parse(const char* text, Entry& value) const { return parse_value<field>(text, value); }

  std::string describe(std::string_view line) const {
    const std::vector<std::string_view> parts = words_of(line);
    if (parts.size() != words)
      return std::string(field == Field::complex ? "expected two fields (real part, imaginary part)"
                                                 : "expected one value") +
             " on each line of an array, found " + std::to_string(parts.size());
    return describe_value<field>(parts, 0);
  }
};

/// Walks the stored triangle column by column, in step with the values of the file.
template <class T>
struct ArrayFiller {
  DenseMatrix<T>& matrix;
  Symmetry symmetry;
  index_t column = 0;
  index_t row = first_row(0);

  index_t first_row(index_t of_column) const {
    if (symmetry == Symmetry::general) return 0;
    return symmetry == Symmetry::skew ? of_column + 1 : of_column;
  }
  /// False if the value cannot be on the diagonal of a Hermitian matrix.
  bool put(const T& value) {
    while (row >= matrix.rows) row = first_row(++column);
    if constexpr (is_complex_v<T>)
      if (symmetry == Symmetry::hermitian && row == column && value.imag() != 0) return false;
    const DenseView<T> view = matrix.view();
    view(row, column) = value;
    if (symmetry != Symmetry::general && row != column) view(column, row) = mirrored(value, symmetry);
    ++row;
    return true;
  }
};

template <Field field>
AnyDense read_array(TextReader& reader, const MatrixMarketHeader& header, const ReadOptions& options) {
  using T = typename ValueLine<field>::Entry;
  const ValueLine<field> line;
  const EntryPieces<T> pieces = EntryLines<ValueLine<field>>(reader, line, header.entries, options).read();
  // Entries prove the size, but without entries (0 × n, or a skew 1 × 1) there is only the header.
  if (sizes_are_absurd(header.rows, header.cols, pieces.total))
    reader.fail(header.size_line, "an array of " + std::to_string(header.rows) + " × " +
                                      std::to_string(header.cols) + " is rejected: the size is implausible");
  DenseMatrix<T> matrix(header.rows, header.cols);
  ArrayFiller<T> filler{matrix, header.symmetry};
  pieces.for_each([&](const T& value) {
    if (!filler.put(value))
      reader.fail(header.size_line, "the diagonal of a Hermitian matrix must be real; that of column " +
                                        std::to_string(filler.column + 1) + " is not");
  });
  return matrix;
}

}  // namespace

AnyDense read_array_body(TextReader& reader, const MatrixMarketHeader& header, const ReadOptions& options) {
  switch (header.field) {
    case Field::complex: return read_array<Field::complex>(reader, header, options);
    case Field::integer: return read_array<Field::integer>(reader, header, options);
    default: return read_array<Field::real>(reader, header, options);
  }
}

}  // namespace palmette
