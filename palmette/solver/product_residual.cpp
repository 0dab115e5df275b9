// Two products with triangles for each right-hand side, once with values and once with moduli.
#include "palmette/solver/product_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "palmette/solver/factor_side.hpp"

namespace palmette {
namespace {

template <class T>
struct TriangleFactor {
  const SparseMatrix<T>* matrix;
  bool unit_diagonal;
};

/// op(F)·x; entries become Out by `value`, which is the identity for values and the modulus for bounds.
template <class T, class Out, class Value>
std::vector<Out> product(const TriangleFactor<T>& factor, Operation operation, const std::vector<Out>& x,
                         Value value) {
  const SparseMatrix<T>& matrix = *factor.matrix;
  std::vector<Out> y(x.size(), Out(0));
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry) {
      const index_t i = matrix.pattern.row_index[entry];
      if (i == j && factor.unit_diagonal) continue;
      if (operation == Operation::plain) y[i] += value(matrix.values[entry]) * x[j];
      else if (operation == Operation::transpose) y[j] += value(matrix.values[entry]) * x[i];
      else y[j] += value(conjugate(matrix.values[entry])) * x[i];
    }
  if (factor.unit_diagonal)
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += x[i];
  return y;
}

/// The second factor as an operation on L if U is absent.
template <class T>
class Product {
 public:
  explicit Product(const OwnFactors<T>& factors)
      : lower_{&factors.lower, factors.lower_unit_diagonal},
        upper_{factors.upper.rows() == 0 && factors.lower.rows() != 0 ? nullptr : &factors.upper,
               factors.upper_unit_diagonal},
        hermitian_(factors.hermitian) {}

  template <class Out, class Value>
  std::vector<Out> times(Operation operation, const std::vector<Out>& x, Value value) const {
    if (upper_.matrix != nullptr) {
      if (operation == Operation::plain)
        return product(lower_, operation, product(upper_, operation, x, value), value);
      return product(upper_, operation, product(lower_, operation, x, value), value);
    }
    // (L·Lᴴ)ᵀ = conj(L)·Lᵀ: conjugate on the way in and out. Symmetric products are their own transposes.
    const Operation second = hermitian_ ? Operation::adjoint : Operation::transpose;
    const bool conjugated = hermitian_ ? operation == Operation::transpose : operation == Operation::adjoint;
    std::vector<Out> in = x;
    if (conjugated)
      for (Out& entry : in) entry = conjugate(entry);
    std::vector<Out> out = product(lower_, Operation::plain, product(lower_, second, in, value), value);
    if (conjugated)
      for (Out& entry : out) entry = conjugate(entry);
    return out;
  }

 private:
  TriangleFactor<T> lower_, upper_;
  bool hermitian_;
};

/// Always in double, so that products of single-precision factors do not overflow.
template <class T>
void verify_column(const OwnFactors<T>& factors, Operation operation, const T* b, const T* x,
                   Verification& worst) {
  using Wide = with_precision_t<T, double>;
  const std::size_t n = static_cast<std::size_t>(factors.lower.rows());
  const bool plain = operation == Operation::plain;
  const FactorSide rows{factors.row, factors.row_scale}, columns{factors.column, factors.column_scale};
  const FactorSide& in = plain ? columns : rows;  // the side of x
  const FactorSide& out = plain ? rows : columns;  // the side of b
  std::vector<Wide> scaled(n);
  std::vector<double> modulus(n);
  for (std::size_t k = 0; k < n; ++k) {
    scaled[k] = Wide(x[in.place(index_t(k))]) / in.factor(index_t(k));
    modulus[k] = std::abs(scaled[k]);
  }
  const Product<T> lu(factors);
  const std::vector<Wide> image = lu.times(operation, scaled, [](const T& value) { return Wide(value); });
  const std::vector<double> bound =
      lu.times(operation, modulus, [](const T& value) { return std::abs(Wide(value)); });
  double largest_residual = 0, largest_bound = 0, componentwise = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Wide right = Wide(b[out.place(index_t(k))]) * out.factor(index_t(k));
    const double residual = std::abs(right - image[k]), limit = bound[k] + std::abs(right);
    if (!std::isfinite(residual) || !std::isfinite(limit))
      componentwise = infinity;
    if (residual > 0) componentwise = std::max(componentwise, residual / limit);
    largest_residual = std::max(largest_residual, residual);
    largest_bound = std::max(largest_bound, limit);
  }
  const double normwise = std::isinf(componentwise) ? componentwise
                          : largest_residual > 0    ? largest_residual / largest_bound
                                                    : 0;
  worst.backward_error = std::max(worst.backward_error, normwise);
  worst.componentwise_backward_error = std::max(worst.componentwise_backward_error, componentwise);
}

}  // namespace

template <class T>
Verification verify_product(const OwnFactors<T>& factors, Operation operation, DenseView<const T> b,
                            DenseView<const T> x) {
  Verification worst;
  worst.bound = verification_bound(unit_roundoff<T>);
  for (index_t j = 0; j < b.cols; ++j) verify_column(factors, operation, b.column(j), x.column(j), worst);
  worst.verified = worst.backward_error <= worst.bound;
  return worst;
}

#define PALMETTE_INSTANTIATE(T)                                                             \
  template Verification verify_product(const OwnFactors<T>&, Operation, DenseView<const T>, \
                                       DenseView<const T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
