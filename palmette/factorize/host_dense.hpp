// Inside `factorize`: the host's dense kernels, as the emulated device calls them.
#pragma once

#include "palmette/blocks/blocks.hpp"
#include "palmette/device/device.hpp"

namespace palmette::factorize_detail {

template <class T>
void divide_on_host(const RowTriangle& how, DenseView<const T> a, DenseView<T> x) {
  const blas::Transpose op = !how.transposed ? blas::Transpose::no
                             : how.adjoint   ? blas::Transpose::adjoint
                                             : blas::Transpose::transpose;
  solve_panel_rows<T>({how.upper ? blas::Triangle::upper : blas::Triangle::lower, op,
                       how.unit_diagonal ? blas::Diagonal::unit : blas::Diagonal::stored},
                      a, x);
}

template <class T>
HostDense<T> host_dense() {
  return {&factor_llt<T>, &divide_on_host<T>, &multiply_placed<T>};
}

}  // namespace palmette::factorize_detail
