// Projections around the inverse.
#include "palmette/solver/singular_answer.hpp"

#include <algorithm>

namespace palmette {
namespace {

template <class T>
DenseMatrix<T> conjugated(DenseMatrix<T> basis) {
  for (T& value : basis.values) value = conjugate(value);
  return basis;
}

/// Null vectors of op(A) and of op(A)ᴴ.
template <class T>
struct Sides {
  DenseMatrix<T> right, left;

  Sides(const NullSpace<T>& of, Operation operation) : right(of.right), left(of.left) {
    if (operation == Operation::plain) return;
    std::swap(right, left);
    if (operation == Operation::adjoint) return;
    right = conjugated(std::move(right));
    left = conjugated(std::move(left));
  }
};

/// x ← x + right·op(growth)·leftᴴ·b
template <class T>
void add_null_part(const NullSpace<T>& null_space, const Sides<T>& sides, Operation operation,
                   DenseView<const T> b, DenseView<T> x) {
  using Wide = with_precision_t<T, double>;
  const index_t k = sides.right.cols;
  const DenseMatrix<Wide> along = inner_products<T>(sides.left.view(), b);
  DenseMatrix<Wide> weights(k, b.cols);
  for (index_t j = 0; j < b.cols; ++j)
    for (index_t row = 0; row < k; ++row)
      for (index_t column = 0; column < k; ++column) {
        Wide growth = operation == Operation::plain ? null_space.growth.view()(row, column)
                                                    : null_space.growth.view()(column, row);
        if (operation == Operation::adjoint) growth = conjugate(growth);
        weights.view()(row, j) += growth * along.view()(column, j);
      }
  add_combination<T>(1, sides.right.view(), weights, x);
}

template <class T>
DenseMatrix<T> copy_of(DenseView<const T> view) {
  DenseMatrix<T> copy(view.rows, view.cols);
  for (index_t j = 0; j < view.cols; ++j) std::copy_n(view.column(j), view.rows, copy.view().column(j));
  return copy;
}

/// The usual answer is kept if its residual is smaller by a digit: along a null vector two answers may differ
/// by any amount.
constexpr double much_better = 0.1;

template <class T>
double largest_modulus(DenseView<const T> column) {
  double largest = 0;
  for (index_t i = 0; i < column.rows; ++i) largest = std::max(largest, double(std::abs(column(i, 0))));
  return largest;
}

/// ‖b − op(A)·x‖∞ of one column, except for the difference between the norms of A and op(A).
template <class T, class Matrix>
double residual_norm(const SingularSystem<T, Matrix>& system, Operation operation, DenseView<const T> b,
                     DenseView<const T> x) {
  const double backward_error = verify(system.matrix, operation, b, x).backward_error;
  return backward_error * (norm_infinity(system.matrix) * largest_modulus(x) + largest_modulus(b));
}

/// Whether the usual answer in x is better than that by projections. If a pivot was replaced, its part along
/// the null vectors is that of another matrix, and cannot be compared.
template <class T, class Matrix>
bool usual_is_better(const SingularSystem<T, Matrix>& system, Operation operation, DenseView<const T> usual,
                     DenseView<const T> projected, index_t j) {
  const DenseView<const T> b = system.b.columns(j, 1);
  return !system.pivots_replaced &&
         residual_norm(system, operation, b, usual.columns(j, 1)) <
             much_better * residual_norm(system, operation, b, projected.columns(j, 1));
}

}  // namespace

template <class T, class Matrix>
Verification answer_singular(const SingularSystem<T, Matrix>& system, const SolveRequest& request,
                             SingularAnswer wanted, const RefineOptions& options, DenseView<T> x) {
  const Sides<T> sides(system.null_space, request.operation);
  const ApplyInverse<T> between = [&](Operation operation, DenseView<T> in_out) {
    project_out(sides.left, in_out);
    system.apply(operation, in_out);
    project_out(sides.right, in_out);
  };
  DenseMatrix<T> reached = copy_of<T>(system.b);
  project_out(sides.left, reached.view());
  DenseMatrix<T> found = reached;
  between(request.operation, found.view());
  const DenseView<const T> reachable = std::as_const(reached).view();
  const Verification refined =
      refine<T>(system.matrix, request.operation, between, reachable, found.view(), options);
  project_out(sides.right, found.view());
  if (wanted == SingularAnswer::warn)
    add_null_part(system.null_space, sides, request.operation, system.b, found.view());

  const auto errors_of = [&](DenseView<const T> b, DenseView<const T> answer) {
    return verify(system.matrix, request.operation, b, answer, options.bound);
  };
  for (index_t j = 0; j < x.cols; ++j) {
    const DenseView<const T> projected = std::as_const(found).view();
    const bool keep = wanted == SingularAnswer::warn &&
                      usual_is_better(system, request.operation, DenseView<const T>(x), projected, j);
    if (!keep) std::copy_n(projected.column(j), x.rows, x.column(j));
  }
  Verification errors = errors_of(system.b, DenseView<const T>(x));
  errors.refine_steps = refined.refine_steps;
  if (wanted == SingularAnswer::least_norm)
    errors.least_squares_error = errors_of(reachable, DenseView<const T>(x)).backward_error;
  return errors;
}

#define PALMETTE_INSTANTIATE_WITH(T, Matrix)                                               \
  template Verification answer_singular(const SingularSystem<T, Matrix>&, const SolveRequest&, \
                                        SingularAnswer, const RefineOptions&, DenseView<T>);
#define PALMETTE_INSTANTIATE(T)                     \
  PALMETTE_INSTANTIATE_WITH(T, SparseMatrix<T>) \
  PALMETTE_INSTANTIATE_WITH(T, MatrixShare<T>)
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE
#undef PALMETTE_INSTANTIATE_WITH

}  // namespace palmette
