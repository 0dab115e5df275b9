// Inside `matrix`: Matrix Market files. Format: [Boisvert et al. 1996]. For files that deviate from it, this
// follows SciPy's reader; comments mark these places.
#pragma once

#include "palmette/matrix/read.hpp"
#include "palmette/matrix/text_reader.hpp"

namespace palmette {

enum class Field { real, complex, integer, pattern };
std::string_view name_of(Field field);

struct MatrixMarketHeader {
  bool is_array = false;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  index_t rows = 0;
  index_t cols = 0;
  std::int64_t entries = 0;    ///< lines of the body: for an array, the entries of the stored triangle
  std::int64_t size_line = 0;  ///< 1-based line of the sizes
};

/// True if the text begins with the banner's first word (any case).
bool begins_like_matrix_market(std::string_view text);

/// Reads banner, comments and sizes; then the reader is at the body.
MatrixMarketHeader read_matrix_market_header(TextReader& reader);

/// The body of a coordinate file (header.is_array false).
AnyMatrix read_coordinate_body(TextReader& reader, const MatrixMarketHeader& header,
                               const ReadOptions& options);
/// The body of an array file (header.is_array true).
AnyDense read_array_body(TextReader& reader, const MatrixMarketHeader& header, const ReadOptions& options);

/// −1 off the diagonal, (entries of the row off the diagonal) + 1 on it; absent diagonal entries are added.
SparseMatrix<double> laplacian_of_pattern(const SparsityPattern& pattern, Symmetry symmetry);

}  // namespace palmette
