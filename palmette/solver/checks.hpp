// Checks of arguments before any work begins, and the conversion of std::bad_alloc to MemoryError.
#pragma once

#include <memory>
#include <new>
#include <stdexcept>

#include "palmette/solver/solver.hpp"

namespace palmette {

/// @throws UsageError if the matrix is missing, malformed or not finite, if it does not have the symmetry
///   that it declares (naming the first pair of entries that differ), or if an option is invalid;
///   DimensionError if it is not square
template <class T>
void check_system(const std::shared_ptr<const SparseMatrix<T>>& matrix, const SolverOptions& options);

/// @throws UsageError if the number of threads is invalid; 0 means all processors
void check_threads(int threads);

/// @throws UsageError if an option is invalid
template <class T>
void check_options(const SolverOptions& options);

/// The same for a caller's triangles and factors: present, square, well formed, finite.
template <class T>
void check_triangle(const SparseMatrix<T>& matrix, const TriangularSolverOptions& options);

/// @throws DimensionError with both sizes; UsageError with the entry of b that is not finite
template <class T>
void check_right_hand_sides(index_t n, DenseView<const T> b, DenseView<T> x);

/// The two parts of it. @throws DimensionError
template <class T>
void check_right_hand_side_sizes(index_t n, DenseView<const T> b, DenseView<T> x);
/// @param first  number of the first column of b @throws UsageError
template <class T>
void check_finite(DenseView<const T> b, index_t first = 0);

/// If the matrix is marked general, a matrix marked with the symmetry of its values. Returns the caller's
/// object if nothing changes.
template <class T>
std::shared_ptr<const SparseMatrix<T>> with_known_symmetry(std::shared_ptr<const SparseMatrix<T>> matrix);

/// A copy of b if x overlaps its memory, otherwise an empty matrix.
template <class T>
DenseMatrix<T> copy_if_overlapping(DenseView<const T> b, DenseView<T> x);

/// Throws MemoryError if `work` runs out of memory.
template <class Work>
auto with_memory_errors(const char* what, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw MemoryError(what);
  }
}

}  // namespace palmette
