// Backward errors of a given x; each figure is that of the worst column.
#include <algorithm>

#include "palmette/refine/residual.hpp"
#include "palmette/refine/system.hpp"

namespace palmette {

double verification_bound(double unit_roundoff) { return 90 * unit_roundoff; }

namespace {

template <class T>
Verification errors_of(const SystemMatrix<T>& matrix, Operation operation, DenseView<const T> b,
                       DenseView<const T> x, double bound) {
  check_sizes(matrix, operation, b, x);
  Verification result;
  result.bound = bound > 0 ? bound : verification_bound(unit_roundoff<T>);
  if (b.cols > 0) {
    Residual<T> residual(matrix, operation);
    for (index_t column = 0; column < b.cols; ++column) {
      const ColumnError error = residual.evaluate(b.column(column), x.column(column));
      result.backward_error = std::max(result.backward_error, error.backward);
      result.componentwise_backward_error =
          std::max(result.componentwise_backward_error, error.componentwise);
    }
  }
  result.verified = result.backward_error <= result.bound;
  return result;
}

}  // namespace

template <class T>
Verification verify(const SparseMatrix<T>& matrix, Operation operation, DenseView<const T> b,
                    DenseView<const T> x, double bound) {
  return errors_of<T>(matrix, operation, b, x, bound);
}

template <class T>
Verification verify(const MatrixShare<T>& matrix, Operation operation, DenseView<const T> b,
                    DenseView<const T> x, double bound) {
  return errors_of<T>(matrix, operation, b, x, bound);
}

#define PALMETTE_INSTANTIATE(T)                                                                           \
  template Verification verify(const MatrixShare<T>&, Operation, DenseView<const T>, DenseView<const T>,  \
                               double);                                                                   \
  template Verification verify(const SparseMatrix<T>&, Operation, DenseView<const T>, DenseView<const T>, \
                               double);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
