// Inside `solver`: A ± W·Wᴴ as a matrix.
#pragma once

#include "palmette/factorize/factorize.hpp"

namespace palmette {

/// A ± W·Wᴴ with A's declared symmetry; entries of A that become zero stay. Both triangles of the change are
/// the same numbers.
/// @param w  n × k
/// @cost  a copy of A, and k_c² searches for a column of W with k_c entries; the entries are sorted where
///   W·Wᴴ has some that A has not
template <class T>
SparseMatrix<T> changed_matrix(const SparseMatrix<T>& matrix, const SparseMatrix<T>& w, UpdateSign sign);

}  // namespace palmette
