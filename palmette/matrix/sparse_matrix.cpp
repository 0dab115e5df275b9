// Sparse matrices: built from coordinates or compressed columns, transposed, permuted, converted.
#include "palmette/matrix/sparse_matrix.hpp"

#include "palmette/matrix/compress.hpp"

namespace palmette {
namespace {

std::string range_text(index_t size) {
  return size == 0 ? "an empty range" : "0 … " + std::to_string(size - 1);
}

void require_index(const char* what, index_t index, index_t size, const char* place_name, offset_t place) {
  if (index >= 0 && index < size) return;
  throw UsageError(std::string(what) + " index " + std::to_string(index) + " in " + place_name + " " +
                   std::to_string(place + 1) + " is outside " + range_text(size));
}

void require_sizes(index_t rows, index_t cols) {
  if (rows < 0 || cols < 0)
    throw DimensionError("a matrix cannot be " + std::to_string(rows) + " × " + std::to_string(cols));
}

/// Counts are at [column + 1]; afterwards pointer[column] is where the column begins.
void accumulate(std::vector<offset_t>& pointer) {
  for (std::size_t column = 1; column < pointer.size(); ++column) pointer[column] += pointer[column - 1];
}

/// Transposed pattern; position[k], if wanted, is the position of the transpose's entry k in the original.
template <class Move>
SparsityPattern transpose_with(const SparsityPattern& pattern, Move move_value) {
  SparsityPattern result;
  result.rows = pattern.cols;
  result.cols = pattern.rows;
  result.column_ptr.assign(pattern.rows + 1, 0);
  result.row_index.resize(pattern.row_index.size());
  for (const index_t row : pattern.row_index) ++result.column_ptr[row + 1];
  accumulate(result.column_ptr);
  std::vector<offset_t> next(result.column_ptr.begin(), result.column_ptr.end() - 1);
  for (index_t column = 0; column < pattern.cols; ++column)
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
      const offset_t place = next[pattern.row_index[entry]]++;
      result.row_index[place] = column;
      move_value(entry, place);
    }
  return result;
}

void check_pointers(index_t cols, std::span<const offset_t> column_ptr, std::size_t num_rows,
                    std::size_t num_values) {
  if (column_ptr.size() != static_cast<std::size_t>(cols) + 1)
    throw DimensionError("column_ptr has " + std::to_string(column_ptr.size()) + " elements; a matrix of " +
                         std::to_string(cols) + " columns needs " +
                         std::to_string(static_cast<offset_t>(cols) + 1));
  if (column_ptr[0] != 0)
    throw UsageError("column_ptr begins with " + std::to_string(column_ptr[0]) + ", not with 0");
  for (index_t column = 0; column < cols; ++column)
    if (column_ptr[column + 1] < column_ptr[column])
      throw UsageError("column_ptr decreases from " + std::to_string(column_ptr[column]) + " to " +
                       std::to_string(column_ptr[column + 1]) + " at column " + std::to_string(column + 1));
  const auto nnz = static_cast<std::size_t>(column_ptr[cols]);
  if (num_rows != nnz || num_values != nnz)
    throw DimensionError("column_ptr ends with " + std::to_string(nnz) + ", but there are " +
                         std::to_string(num_rows) + " row indices and " + std::to_string(num_values) +
                         " values");
}

}  // namespace

std::string_view name_of(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::general: return "general";
    case Symmetry::symmetric: return "symmetric";
    case Symmetry::hermitian: return "hermitian";
    case Symmetry::skew: return "skew-symmetric";
  }
  return "general";
}

template <class T>
SparseMatrix<T> from_triplets(const Triplets<T>& triplets, Symmetry symmetry) {
  const std::size_t count = triplets.row.size();
  if (triplets.column.size() != count || triplets.value.size() != count)
    throw DimensionError("triplets have " + std::to_string(count) + " rows, " +
                         std::to_string(triplets.column.size()) + " columns and " +
                         std::to_string(triplets.value.size()) + " values; the numbers must agree");
  require_sizes(triplets.rows, triplets.cols);
  SparseMatrix<T> matrix;
  SparsityPattern& pattern = matrix.pattern;
  matrix.symmetry = symmetry;
  pattern.rows = triplets.rows;
  pattern.cols = triplets.cols;
  pattern.column_ptr.assign(triplets.cols + 1, 0);
  for (std::size_t entry = 0; entry < count; ++entry) {
    require_index("row", triplets.row[entry], triplets.rows, "entry", static_cast<offset_t>(entry));
    require_index("column", triplets.column[entry], triplets.cols, "entry", static_cast<offset_t>(entry));
    ++pattern.column_ptr[triplets.column[entry] + 1];
  }
  accumulate(pattern.column_ptr);
  pattern.row_index.resize(count);
  matrix.values.resize(count);
  std::vector<offset_t> next(pattern.column_ptr.begin(), pattern.column_ptr.end() - 1);
  for (std::size_t entry = 0; entry < count; ++entry) {
    const offset_t place = next[triplets.column[entry]]++;
    pattern.row_index[place] = triplets.row[entry];
    matrix.values[place] = triplets.value[entry];
  }
  sort_and_sum_columns(matrix);
  return matrix;
}

template <class T>
SparseMatrix<T> from_compressed_columns(index_t rows, index_t cols, std::span<const offset_t> column_ptr,
                                        std::span<const index_t> row_index, std::span<const T> values) {
  require_sizes(rows, cols);
  check_pointers(cols, column_ptr, row_index.size(), values.size());
  for (index_t column = 0; column < cols; ++column)
    for (offset_t entry = column_ptr[column]; entry < column_ptr[column + 1]; ++entry)
      require_index("row", row_index[entry], rows, "column", column);
  SparseMatrix<T> matrix;
  matrix.pattern.rows = rows;
  matrix.pattern.cols = cols;
  matrix.pattern.column_ptr.assign(column_ptr.begin(), column_ptr.end());
  matrix.pattern.row_index.assign(row_index.begin(), row_index.end());
  matrix.values.assign(values.begin(), values.end());
  sort_and_sum_columns(matrix);
  return matrix;
}

SparsityPattern transpose(const SparsityPattern& pattern) {
  return transpose_with(pattern, [](offset_t, offset_t) {});
}

template <class T>
SparseMatrix<T> transpose(const SparseMatrix<T>& matrix) {
  SparseMatrix<T> result;
  result.symmetry = matrix.symmetry;
  result.values.resize(matrix.values.size());
  result.pattern = transpose_with(
      matrix.pattern, [&](offset_t from, offset_t to) { result.values[to] = matrix.values[from]; });
  return result;
}

template <class T>
SparseMatrix<T> permute(const SparseMatrix<T>& matrix, const Permutation& row, const Permutation& column) {
  if (row.size() != matrix.rows() || column.size() != matrix.cols())
    throw DimensionError("permutations of " + std::to_string(row.size()) + " rows and " +
                         std::to_string(column.size()) + " columns do not fit a matrix of " +
                         std::to_string(matrix.rows()) + " × " + std::to_string(matrix.cols()));
  SparseMatrix<T> result;
  SparsityPattern& pattern = result.pattern;
  const bool same = row.new_to_old() == column.new_to_old();
  result.symmetry = same ? matrix.symmetry : Symmetry::general;
  pattern.rows = matrix.rows();
  pattern.cols = matrix.cols();
  pattern.column_ptr.assign(matrix.cols() + 1, 0);
  for (index_t place = 0; place < matrix.cols(); ++place)
    pattern.column_ptr[place + 1] =
        pattern.column_ptr[place] +
        static_cast<offset_t>(matrix.pattern.column(column.new_to_old()[place]).size());
  pattern.row_index.resize(matrix.pattern.row_index.size());
  result.values.resize(matrix.values.size());
  // Entries are dealt out by ascending new row, so that every column comes out sorted without a sort.
  const SparseMatrix<T> by_rows = transpose(matrix);
  std::vector<offset_t> next(pattern.column_ptr.begin(), pattern.column_ptr.end() - 1);
  for (index_t new_row = 0; new_row < matrix.rows(); ++new_row) {
    const index_t old_row = row.new_to_old()[new_row];
    for (offset_t entry = by_rows.pattern.column_ptr[old_row];
         entry < by_rows.pattern.column_ptr[old_row + 1]; ++entry) {
      const offset_t place = next[column.old_to_new()[by_rows.pattern.row_index[entry]]]++;
      pattern.row_index[place] = new_row;
      result.values[place] = by_rows.values[entry];
    }
  }
  return result;
}

template <class To, class From>
SparseMatrix<To> convert(const SparseMatrix<From>& matrix) {
  static_assert(is_complex_v<To> || !is_complex_v<From>, "a complex matrix cannot become real");
  SparseMatrix<To> result;
  result.pattern = matrix.pattern;
  result.symmetry = matrix.symmetry;
  // A real symmetric matrix in complex scalars is Hermitian too, and that is the stronger promise.
  if (is_complex_v<To> && !is_complex_v<From> && matrix.symmetry == Symmetry::symmetric)
    result.symmetry = Symmetry::hermitian;
  result.values.reserve(matrix.values.size());
  for (const From& value : matrix.values) {
    if constexpr (is_complex_v<From>)
      result.values.emplace_back(static_cast<real_t<To>>(value.real()),
                                 static_cast<real_t<To>>(value.imag()));
    else
      result.values.emplace_back(static_cast<real_t<To>>(value));
  }
  return result;
}

#define PALMETTE_INSTANTIATE(T)                                                                   \
  template SparseMatrix<T> from_triplets(const Triplets<T>&, Symmetry);                           \
  template SparseMatrix<T> from_compressed_columns(index_t, index_t, std::span<const offset_t>,   \
                                                   std::span<const index_t>, std::span<const T>); \
  template SparseMatrix<T> transpose(const SparseMatrix<T>&);                                     \
  template SparseMatrix<T> permute(const SparseMatrix<T>&, const Permutation&, const Permutation&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

#define PALMETTE_INSTANTIATE_TO_COMPLEX(From)                                      \
  template SparseMatrix<std::complex<float>> convert(const SparseMatrix<From>&);   \
  template SparseMatrix<std::complex<double>> convert(const SparseMatrix<From>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE_TO_COMPLEX)
#undef PALMETTE_INSTANTIATE_TO_COMPLEX
template SparseMatrix<float> convert(const SparseMatrix<float>&);
template SparseMatrix<float> convert(const SparseMatrix<double>&);
template SparseMatrix<double> convert(const SparseMatrix<float>&);
template SparseMatrix<double> convert(const SparseMatrix<double>&);

}  // namespace palmette
