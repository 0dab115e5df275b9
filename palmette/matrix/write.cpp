// Matrix Market files, written as the readers read them: only the lower triangle if the rest follows from it.
#include "palmette/matrix/write.hpp"

#include "palmette/matrix/output_file.hpp"

namespace palmette {
namespace {

template <class T>
void write_banner(OutputFile& file, std::string_view format, Symmetry symmetry, const std::string& comment) {
  file.write("%%MatrixMarket matrix ");
  file.write(format);
  file.write(is_complex_v<T> ? " complex " : " real ");
  file.write(name_of(symmetry));
  file.write('\n');
  if (comment.empty()) return;
  file.write("% ");
  for (const char letter : comment) {
    if (letter == '\r') continue;
    file.write(letter);
    if (letter == '\n') file.write("% ");
  }
  file.write('\n');
}

template <class T>
void write_value(OutputFile& file, const T& value) {
  if constexpr (is_complex_v<T>) {
    file.write_number(value.real());
    file.write(' ');
    file.write_number(value.imag());
  } else {
    file.write_number(value);
  }
  file.write("\n");
}

void write_sizes(OutputFile& file, std::initializer_list<std::int64_t> sizes) {
  bool first = true;
  for (const std::int64_t size : sizes) {
    if (!first) file.write(' ');
    file.write_number(size);
    first = false;
  }
  file.write("\n");
}

/// Is an entry written to the file, or does it follow from its mirror image?
bool is_stored(Symmetry symmetry, index_t row, index_t column) {
  if (symmetry == Symmetry::general) return true;
  return symmetry == Symmetry::skew ? row > column : row >= column;
}

/// "hermitian" is only for complex matrices; a diagonal that is not real would make the file unreadable.
template <class T>
Symmetry written_symmetry(const SparseMatrix<T>& matrix) {
  if (matrix.symmetry != Symmetry::general && matrix.rows() != matrix.cols())
    throw DimensionError("a " + std::string(name_of(matrix.symmetry)) + " matrix cannot be " +
                         std::to_string(matrix.rows()) + " × " + std::to_string(matrix.cols()));
  return matrix.symmetry == Symmetry::hermitian && !is_complex_v<T> ? Symmetry::symmetric : matrix.symmetry;
}

}  // namespace

template <class T>
void write_matrix(const std::string& path, const SparseMatrix<T>& matrix, const std::string& comment) {
  const Symmetry symmetry = written_symmetry(matrix);
  const SparsityPattern& pattern = matrix.pattern;
  std::int64_t stored = 0;
  for (index_t column = 0; column < pattern.cols; ++column)
    for (const index_t row : pattern.column(column)) stored += is_stored(symmetry, row, column);
  OutputFile file(path);
  write_banner<T>(file, "coordinate", symmetry, comment);
  write_sizes(file, {matrix.rows(), matrix.cols(), stored});
  for (index_t column = 0; column < pattern.cols; ++column)
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
      const index_t row = pattern.row_index[entry];
      if (!is_stored(symmetry, row, column)) continue;
      file.write_number(static_cast<std::int64_t>(row) + 1);
      file.write(' ');
      file.write_number(static_cast<std::int64_t>(column) + 1);
      file.write(' ');
      write_value(file, matrix.values[entry]);
    }
  file.finish();
}

template <class T>
void write_dense(const std::string& path, DenseView<const T> matrix, const std::string& comment) {
  OutputFile file(path);
  write_banner<T>(file, "array", Symmetry::general, comment);
  write_sizes(file, {matrix.rows, matrix.cols});
  for (index_t column = 0; column < matrix.cols; ++column)
    for (index_t row = 0; row < matrix.rows; ++row) write_value(file, matrix(row, column));
  file.finish();
}

void write_permutation(const std::string& path, const Permutation& permutation) {
  OutputFile file(path);
  for (const index_t old : permutation.new_to_old()) write_sizes(file, {static_cast<std::int64_t>(old) + 1});
  file.finish();
}

#define PALMETTE_INSTANTIATE(T)                                                               \
  template void write_matrix(const std::string&, const SparseMatrix<T>&, const std::string&); \
  template void write_dense(const std::string&, DenseView<const T>, const std::string&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
