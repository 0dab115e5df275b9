// The argument checks of `refine`.
#include "palmette/refine/system.hpp"

#include <string>

namespace palmette {
namespace {

std::string size_text(index_t rows, index_t cols) {
  return std::to_string(rows) + " × " + std::to_string(cols);
}

}  // namespace

template <class T>
void check_sizes(const SystemMatrix<T>& matrix, Operation operation, DenseView<const T> b,
                 DenseView<const T> x) {
  const bool plain = operation == Operation::plain;
  const index_t rows = plain ? matrix.rows() : matrix.cols();
  const index_t cols = plain ? matrix.cols() : matrix.rows();
  if (b.rows == rows && x.rows == cols && b.cols == x.cols) return;
  throw DimensionError("b is " + size_text(b.rows, b.cols) + " and x is " + size_text(x.rows, x.cols) +
                       ", which does not fit op(A) of " + size_text(rows, cols) + " (" +
                       std::string(name_of(operation)) + "); b needs " + std::to_string(rows) + " rows, x " +
                       std::to_string(cols) + ", and both the same number of columns");
}

template <class T>
void check_square(const SystemMatrix<T>& matrix) {
  if (matrix.rows() == matrix.cols()) return;
  throw DimensionError("the matrix is " + size_text(matrix.rows(), matrix.cols()) +
                       "; only a square one has an inverse to refine with or to estimate");
}

#define PALMETTE_INSTANTIATE(T)                                                                           \
  template void check_sizes(const SystemMatrix<T>&, Operation, DenseView<const T>, DenseView<const T>);   \
  template void check_square(const SystemMatrix<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
