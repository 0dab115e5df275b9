// Sparse matrices in compressed sparse column form, and operations on them other than solves.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "palmette/base/base.hpp"
#include "palmette/matrix/permutation.hpp"

namespace palmette {

enum class Symmetry { general, symmetric, hermitian, skew };
std::string_view name_of(Symmetry symmetry);

/// Compressed sparse columns: rows of column j are row_index[column_ptr[j] … column_ptr[j+1]), ascending,
/// each once.
struct SparsityPattern {
  index_t rows = 0;
  index_t cols = 0;
  std::vector<offset_t> column_ptr = {0};  // length cols + 1
  std::vector<index_t> row_index;          // length nnz

  offset_t nnz() const { return column_ptr.back(); }
  std::span<const index_t> column(index_t j) const {
    return {row_index.data() + column_ptr[j], static_cast<std::size_t>(column_ptr[j + 1] - column_ptr[j])};
  }
};

/// A sparse matrix. Every entry is stored, also both triangles of a symmetric matrix; `symmetry` declares a
/// property of the values (hermitian is never used for real scalars: those are symmetric).
template <class T>
struct SparseMatrix {
  SparsityPattern pattern;
  std::vector<T> values;  // length nnz, in the pattern's order
  Symmetry symmetry = Symmetry::general;

  index_t rows() const { return pattern.rows; }
  index_t cols() const { return pattern.cols; }
  offset_t nnz() const { return pattern.nnz(); }
};

/// A matrix whose scalar type is known only at run time.
using AnyMatrix = std::variant<SparseMatrix<float>, SparseMatrix<double>, SparseMatrix<std::complex<float>>,
                               SparseMatrix<std::complex<double>>>;
using AnyDense = std::variant<DenseMatrix<float>, DenseMatrix<double>, DenseMatrix<std::complex<float>>,
                              DenseMatrix<std::complex<double>>>;

/// Coordinate entries: length-nnz arrays, 0-based, any order, duplicates allowed (they are summed).
template <class T>
struct Triplets {
  index_t rows = 0;
  index_t cols = 0;
  std::vector<index_t> row;
  std::vector<index_t> column;
  std::vector<T> value;
};

/// Compressed columns from coordinates; duplicates summed in the order given, explicit zeros kept.
/// @throws DimensionError if the arrays differ in length; UsageError naming the entry if an index is out of
///   range
/// @cost O(nnz + cols) time, a logarithm more for columns whose rows are not in order; one copy of the
///   entries
template <class T>
SparseMatrix<T> from_triplets(const Triplets<T>& triplets, Symmetry symmetry = Symmetry::general);

/// Compressed columns from a caller's CSC arrays: checked, sorted, duplicates summed.
/// @param column_ptr  length cols + 1; row_index, values: length column_ptr[cols]
/// @throws UsageError naming the column if pointers decrease or an index is out of range
template <class T>
SparseMatrix<T> from_compressed_columns(index_t rows, index_t cols, std::span<const offset_t> column_ptr,
                                        std::span<const index_t> row_index, std::span<const T> values);

/// Aᵀ, values not conjugated. @cost O(nnz + rows + cols)
template <class T>
SparseMatrix<T> transpose(const SparseMatrix<T>& matrix);
SparsityPattern transpose(const SparsityPattern& pattern);

/// Permute rows and columns: entry (row.new_to_old[i], column.new_to_old[j]) of A becomes entry (i, j).
template <class T>
SparseMatrix<T> permute(const SparseMatrix<T>& matrix, const Permutation& row, const Permutation& column);

/// The same matrix with values of another precision (double → float and back; real → complex).
template <class To, class From>
SparseMatrix<To> convert(const SparseMatrix<From>& matrix);

/// The exact symmetry of pattern and values (no tolerance): symmetric, hermitian, skew or general. A
/// real-valued symmetric complex matrix counts as hermitian, since LLᴴ may then apply. @cost O(nnz)
template <class T>
Symmetry detect_symmetry(const SparseMatrix<T>& matrix);

/// The same with a tolerance, for matrices whose two triangles were summed in different orders.
struct LooseSymmetry {
  Symmetry symmetry = Symmetry::general;
  /// largest |a_ij − a_ji| ÷ |a_ij|, Hermitian with the conjugate; 0 if the symmetry is exact
  double asymmetry = 0;
};

/// The exact symmetry if there is one; else hermitian or symmetric, if |A − Aᴴ| or |A − Aᵀ| ≤ tolerance·|A|
/// entry by entry.
///
/// The pattern must be symmetric: an entry without a counterpart is compared with zero, which no tolerance
/// below one allows. There is no loose skew symmetry. @cost one pass over the entries, which stops at the
/// first that rules out every symmetry
template <class T>
LooseSymmetry detect_symmetry(const SparseMatrix<T>& matrix, double tolerance);

/// The entries of a symmetric pattern on and below the diagonal, in the order of the columns, and their
/// mirror images; those on the diagonal are their own. For matrices that come again with the same pattern.
struct MirroredEntries {
  struct Pair {
    offset_t entry, mirror;
  };
  std::vector<Pair> pairs;
};
/// @returns nothing if the pattern is not symmetric @cost O(nnz)
std::optional<MirroredEntries> mirrored_entries(const SparsityPattern& pattern);
/// As above, for a matrix whose pattern has these mirrored entries. @param team  null: the caller's thread
/// alone @cost one pass over the entries, shared by the team
template <class T>
LooseSymmetry detect_symmetry(const SparseMatrix<T>& matrix, const MirroredEntries& mirrored,
                              double tolerance, ThreadTeam* team);

/// (A + Aᴴ) / 2 for hermitian, (A + Aᵀ) / 2 for symmetric: with exactly that symmetry, which is also
/// declared.
/// @param matrix  of symmetric pattern @param symmetry  symmetric or hermitian @throws UsageError otherwise
/// @cost O(nnz); one more matrix
template <class T>
SparseMatrix<T> symmetric_part(const SparseMatrix<T>& matrix, Symmetry symmetry);

/// True if pattern(A) = pattern(Aᵀ). @cost O(nnz)
bool has_symmetric_pattern(const SparsityPattern& pattern);

/// Throws unless the matrix is well formed: pointers monotone, indices sorted and in range, sizes agree,
/// values finite.
/// @throws UsageError naming row and column (1-based in the text) of the first offence
template <class T>
void check_matrix(const SparseMatrix<T>& matrix);

template <class T>
bool has_finite_values(const SparseMatrix<T>& matrix) {
  return std::all_of(matrix.values.begin(), matrix.values.end(),
                     [](const T& value) { return is_finite(value); });
}

/// y ← y + alpha·op(A)·x for several columns. @cost 2·nnz·cols flops
enum class Operation { plain, transpose, adjoint };
std::string_view name_of(Operation operation);
template <class T>
void multiply_add(const SparseMatrix<T>& matrix, Operation operation, T alpha, DenseView<const T> x,
                  DenseView<T> y);

/// max over rows of Σ|a_ij| (infinity norm) and max over columns (1-norm); 0 for an empty matrix.
template <class T>
double norm_infinity(const SparseMatrix<T>& matrix);
template <class T>
double norm_one(const SparseMatrix<T>& matrix);

}  // namespace palmette
