// What the hall asks of its callers before any work begins, and how memory that runs out leaves it.
#pragma once

#include <memory>
#include <new>
#include <stdexcept>

#include "palmette/solver/solver.hpp"

namespace palmette {

/// @throws UsageError if there is no matrix, if it is malformed or not finite, if it is not what its
///   `symmetry` promises (naming the first pair of entries that differ), or if an option cannot be;
///   DimensionError if it is not square
template <class T>
void check_system(const std::shared_ptr<const SparseMatrix<T>>& matrix, const SolverOptions& options);

/// @throws UsageError for a number of threads that cannot be; 0 stands for all processors
void check_threads(int threads);

/// @throws UsageError if an option cannot be
template <class T>
void check_options(const SolverOptions& options);

/// The same for given triangles and factors: present, square, well formed, finite.
template <class T>
void check_triangle(const SparseMatrix<T>& matrix, const TriangularOptions& options);

/// @throws DimensionError naming both sizes; UsageError naming the entry of b that is not finite
template <class T>
void check_right_hand_sides(index_t n, DenseView<const T> b, DenseView<T> x);

/// The matrix with the symmetry that its values have, where it is marked general; shared with the caller's if
/// nothing changes.
template <class T>
std::shared_ptr<const SparseMatrix<T>> with_known_symmetry(std::shared_ptr<const SparseMatrix<T>> matrix);

/// A copy of b if x overlaps its memory, else an empty matrix.
template <class T>
DenseMatrix<T> copy_if_overlapping(DenseView<const T> b, DenseView<T> x);

/// Memory that runs out anywhere inside leaves the hall as MemoryError.
template <class Work>
auto with_memory_errors(const char* what, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw MemoryError(what);
  }
}

}  // namespace palmette
