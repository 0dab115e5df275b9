// Readers: Matrix Market, Rutherford–Boeing and Harwell–Boeing files, plain or gzip-compressed.
#pragma once

#include <string>

#include "palmette/matrix/sparse_matrix.hpp"

namespace palmette {

/// The values of the entries of a pattern-only file.
enum class PatternValues {
  ones,       ///< 1 everywhere, as in SciPy
  laplacian,  ///< −1 off the diagonal, (entries in the row off the diagonal) + 1 on it: nonsingular
};

struct ReadOptions {
  PatternValues pattern_values = PatternValues::ones;
  /// for Matrix Market bodies; 0 means one for each processor; the matrix is the same for all
  int threads = 1;
  ProgressCallback progress;  ///< may be empty
};

/// The header of a file.
struct FileHeader {
  std::string
      format;  ///< "Matrix Market coordinate", "Matrix Market array", "Rutherford-Boeing", "Harwell-Boeing"
  std::string field;    ///< "real", "complex", "integer", "pattern"
  Symmetry symmetry = Symmetry::general;
  index_t rows = 0;
  index_t cols = 0;
  offset_t stored_entries = 0;  ///< entries in the file; a symmetric matrix has more
  std::string title;            ///< Rutherford– and Harwell–Boeing only
};

struct ReadResult {
  AnyMatrix matrix;  ///< double or complex<double>; both triangles
  FileHeader header;
};

/// Read a sparse matrix; the format is detected from the contents, gzip from its magic bytes.
///
/// Duplicates are summed, explicit zeros kept, blank lines, comments and CRLF tolerated. Memory grows with
/// the contents of the file and is never allocated by the header alone. The second triangle of symmetric,
/// skew and Hermitian files is added; an off-diagonal entry in their upper triangle is mirrored too, as SciPy
/// does. Duplicates of pattern files stay 1. Dense (array) files become sparse with every entry stored. Sizes
/// beyond 2²⁰ + 1024·entries are rejected as implausible.
/// @throws IoError naming file and line: unreadable, malformed, truncated, index out of range, NaN or Inf,
///   sizes above 2³¹ − 1 rows; UsageError for a negative number of threads; MemoryError if an allocation
///   fails
/// @cost one pass over the file; in memory at most 2.1 times the matrix (1.7 times for symmetric files, 1.5
///   for others with columns in order)
ReadResult read_matrix(const std::string& path, const ReadOptions& options = {});
/// The same from memory; `name` stands for the file in messages.
ReadResult read_matrix_text(std::string_view text, const std::string& name, const ReadOptions& options = {});

/// Read a dense matrix or vector: Matrix Market array, or coordinate with absent entries 0.
/// @throws IoError as read_matrix
AnyDense read_dense(const std::string& path);
AnyDense read_dense_text(std::string_view text, const std::string& name);

/// Read a permutation: n integers separated by white space (0-based if 0 occurs, otherwise 1-based), or a
/// Matrix Market integer array n × 1. @throws IoError naming file and line
Permutation read_permutation(const std::string& path);

}  // namespace palmette
