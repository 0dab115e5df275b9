// (row_scale·A·column_scale) permuted is L·U: vectors are scaled and permuted on every host.
#include "palmette/solver/rank_factors_inverse.hpp"

#include "palmette/solver/factor_side.hpp"

namespace palmette {

template <class T>
Outcome<std::shared_ptr<RankFactorsInverse<T>>> RankFactorsInverse<T>::create(
    Transport& transport, std::shared_ptr<const OwnFactors<T>> factors, TriangularSolverOptions options) {
  std::shared_ptr<RankFactorsInverse> made(new RankFactorsInverse);
  options.triangle.plan = factors->plan;
  const auto add = [&](bool lower, const SparseMatrix<T>& triangle, bool unit_diagonal) {
    options.triangle.lower = lower;
    options.triangle.unit_diagonal = unit_diagonal;
    return RankTriangleInverse<T>::create(transport, triangle, options);
  };
  auto lower = add(true, factors->lower, factors->lower_unit_diagonal);
  if (!lower) return lower.failure();
  made->lower_ = std::move(lower).value();
  if (factors->upper.rows() > 0) {
    auto upper = add(false, factors->upper, factors->upper_unit_diagonal);
    if (!upper) return upper.failure();
    made->upper_ = std::move(upper).value();
  }
  made->factors_ = std::move(factors);
  return made;
}

template <class T>
SolveTrace RankFactorsInverse<T>::apply(Operation operation, DenseView<const T> b, DenseView<T> x) {
  const OwnFactors<T>& f = *factors_;
  // L·Lᵀ is its own transpose, L·Lᴴ its own adjoint; the other of the two is their conjugate.
  const bool conjugated =
      is_complex_v<T> && !has_upper() &&
      operation == (f.hermitian ? Operation::transpose : Operation::adjoint);
  const bool plain = operation == Operation::plain;
  const FactorSide rows{f.row, f.row_scale}, columns{f.column, f.column_scale};
  const FactorSide& in = plain ? rows : columns;
  const FactorSide& out = plain ? columns : rows;
  DenseMatrix<T> kept(b.rows, b.cols);
  const DenseView<T> solved = kept.view();
  for (index_t j = 0; j < b.cols; ++j)
    for (index_t k = 0; k < b.rows; ++k) {
      const T value = b(in.place(k), j) * static_cast<real_t<T>>(in.factor(k));
      solved(k, j) = conjugated ? conjugate(value) : value;
    }
  SolveTrace trace{SolveMethod::devices_pushed, 1, {}, {}};
  const DeviceCounts before = device()->counts();
  apply_triangles(operation, solved);
  trace.device = device()->counts() - before;
  for (index_t j = 0; j < x.cols; ++j)
    for (index_t k = 0; k < x.rows; ++k) {
      const T value = conjugated ? conjugate(solved(k, j)) : solved(k, j);
      x(out.place(k), j) = value * static_cast<real_t<T>>(out.factor(k));
    }
  return trace;
}

template <class T>
void RankFactorsInverse<T>::apply_triangles(Operation operation, DenseView<T> x) {
  if (!has_upper()) {
    lower_->apply(Operation::plain, x, x);
    lower_->apply(factors_->hermitian ? Operation::adjoint : Operation::transpose, x, x);
  } else if (operation == Operation::plain) {
    lower_->apply(operation, x, x);
    upper_->apply(operation, x, x);
  } else {
    upper_->apply(operation, x, x);
    lower_->apply(operation, x, x);
  }
}

template <class T>
SolveCost RankFactorsInverse<T>::cost(index_t num_rhs) const {
  const SolveCost one = lower_->cost(num_rhs), other = has_upper() ? upper_->cost(num_rhs) : one;
  return {one.flops + other.flops, one.bytes + other.bytes, 0};
}

#define PALMETTE_INSTANTIATE(T) template class RankFactorsInverse<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
