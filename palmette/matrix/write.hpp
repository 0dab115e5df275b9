// Writers of Matrix Market files. Values are printed such that reading them back gives the same bits.
#pragma once

#include <string>

#include "palmette/matrix/sparse_matrix.hpp"

namespace palmette {

/// Write in Matrix Market coordinate form; symmetric, Hermitian and skew matrices store their lower triangle
/// only. A path that ends in ".gz" is compressed; "-" is not special here.
/// @throws IoError if the file cannot be written completely; no partial file is left behind
template <class T>
void write_matrix(const std::string& path, const SparseMatrix<T>& matrix, const std::string& comment = "");
/// Write in Matrix Market array form, column by column.
template <class T>
void write_dense(const std::string& path, DenseView<const T> matrix, const std::string& comment = "");
/// Write a permutation, one 1-based index per line (new_to_old order).
void write_permutation(const std::string& path, const Permutation& permutation);

}  // namespace palmette
