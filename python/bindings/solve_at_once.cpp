// A x = b in one call, from the arrays of a SciPy matrix to x: for a small system, the general path from
// Python costs more than the solution.
#include "bindings.hpp"
#include "compressed_arrays.hpp"

namespace palmette::python {
namespace {

using IndexArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::optional<typename CompressedArrays<T>::Indices> indices_of(const IndexArray& array) {
  if (array.dtype() == nb::dtype<std::int32_t>())
    return std::span(static_cast<const std::int32_t*>(array.data()), array.size());
  if (array.dtype() == nb::dtype<std::int64_t>())
    return std::span(static_cast<const std::int64_t*>(array.data()), array.size());
  return std::nullopt;
}

/// palmette.scipy corrects rows whose errors are this much larger than the norm of A suggests: its own bounds
/// are no tighter.
template <class T>
constexpr double usual_row_error = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-10;

/// @returns whether x is the verified answer, found without replacing a pivot
template <class T>
bool answer_at_once(const CompressedArrays<T>& arrays, DenseView<const T> b, DenseView<T> x) {
  SolverOptions options;
  options.measure = false;
  options.threads = 1;  // waits for no team, and starts none
  try {
    auto solver =
        Solver<T>::create(std::make_shared<const SparseMatrix<T>>(from_compressed_arrays(arrays)), options);
    if (!solver) return false;
    const auto report = solver.value().solve(b, x);
    return report && report.value().verify->verified &&
           report.value().verify->componentwise_backward_error <= usual_row_error<T> &&
           report.value().factorize->pivots.perturbed == 0;
  } catch (const UsageError&) {
    return false;
  }
}

/// The arrays of a square SciPy matrix; nothing if they are unusual in any way.
template <class T>
std::optional<CompressedArrays<T>> arrays_of(const nb::object& A, bool by_rows, index_t n) {
  IndexArray line_ptr, index;
  ArrayIn<T> values;
  if (!nb::try_cast(A.attr("indptr"), line_ptr, false) || !nb::try_cast(A.attr("indices"), index, false) ||
      !nb::try_cast(A.attr("data"), values, false))
    return std::nullopt;
  const auto pointers = indices_of<T>(line_ptr), indices = indices_of<T>(index);
  if (!pointers || !indices) return std::nullopt;
  return CompressedArrays<T>{n, n, by_rows, *pointers, *indices, span_of(values)};
}

/// A x = b for n × n compressed columns or rows; x of length n. One thread.
/// @returns true: x is the verified answer. False: something is unusual, and the general path must handle or
///   reject it
template <class T>
bool solve_at_once(const nb::object& A, bool by_rows, const nb::object& b, ArrayOut<T> x) {
  const auto n = static_cast<index_t>(x.size());
  ArrayIn<T> rhs;
  const auto arrays = arrays_of<T>(A, by_rows, n);
  if (!arrays || !nb::try_cast(b, rhs, false)) return false;
  const LockReleased released;
  return answer_at_once<T>(*arrays, {rhs.data(), static_cast<index_t>(rhs.size()), 1, n},
                           {x.data(), n, 1, n});
}

}  // namespace

void bind_solve_at_once(nb::module_& module) {
#define PALMETTE_BIND(T) module.def(class_name<T>("solve_at_once").c_str(), solve_at_once<T>);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
}

}  // namespace palmette::python
