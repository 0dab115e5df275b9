// What the files of the bindings share: conversions between Python's names and the library's. There is no
// logic here: Python prepares the arguments (palmette/_input.py), the library does the work.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "interpreter_lock.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette::python {

namespace nb = nanobind;

/// A constant matrix on its way from Python's arrays to a solver.
template <class T>
struct MatrixHandle {
  std::shared_ptr<const SparseMatrix<T>> matrix;
  bool in_order = false;  ///< entry k of the arrays is entry k of the matrix: rows ascend, without duplicates

  const SparseMatrix<T>& held() const {
    if (!matrix) throw UsageError("this matrix has been handed over to a solver");
    return *matrix;
  }
  /// Hands the matrix over: the solver is its only owner, and copies nothing.
  std::shared_ptr<const SparseMatrix<T>> take() {
    held();
    return std::move(matrix);
  }
};

template <class V>
using ArrayIn = nb::ndarray<const V, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class V>
using ArrayOut = nb::ndarray<V, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using DenseIn = nb::ndarray<const T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <class T>
using DenseOut = nb::ndarray<T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

template <class V>
std::span<const V> span_of(const ArrayIn<V>& array) {
  return {array.data(), array.size()};
}

template <class T, class Array>
DenseView<T> view_of(const Array& array) {
  const auto rows = static_cast<index_t>(array.shape(0));
  return {array.data(), rows, static_cast<index_t>(array.shape(1)), rows};
}

/// A NumPy array that takes over the vector; nothing is copied.
template <class V>
nb::object to_numpy(std::vector<V>&& values) {
  auto* kept = new std::vector<V>(std::move(values));
  nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<V>*>(pointer); });
  return nb::cast(nb::ndarray<nb::numpy, V, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}
template <class V>
nb::object to_numpy(const std::vector<V>& values) {
  return to_numpy(std::vector<V>(values));
}

/// (shape, column_ptr, row_index, values)
template <class T>
nb::tuple to_arrays(SparseMatrix<T>&& matrix) {
  const auto shape = nb::make_tuple(matrix.rows(), matrix.cols());
  return nb::make_tuple(shape, to_numpy(std::move(matrix.pattern.column_ptr)),
                        to_numpy(std::move(matrix.pattern.row_index)), to_numpy(std::move(matrix.values)));
}

/// (the basis column after column, its dimension, report)
template <class T>
nb::tuple to_tuple(NullBasis<T>&& found) {
  nb::dict fields;
  fields["residual"] = found.residual;
  fields["bound"] = found.bound;
  fields["verified"] = found.verified;
  fields["singular_distance"] = found.singular_distance;
  const index_t dimension = found.dimension();
  return nb::make_tuple(to_numpy(std::move(found.basis.values)), dimension, fields);
}

/// "Solver_float64" etc.: one class for each scalar.
template <class T>
std::string class_name(const char* stem) {
  return std::string(stem) + "_" + std::string(ScalarTraits<T>::name);
}

nb::dict to_dict(const Report& report);
nb::dict to_dict(const RankReport& report);
nb::dict to_dict(const UpdateReport& report);
nb::dict to_dict(const EntryReport& report);
nb::dict to_dict(const InverseReport& report);
nb::dict to_dict(const SchurReport& report);
nb::dict to_dict(const Verification& found);

/// A report that becomes a dict at the first access: for a small system the conversion takes longer than the
/// solve.
struct ReportHandle {
  Report report;
};

/// Solve once with one right-hand side and the usual options; b and x of length n; threads as in
/// SolveRequest.
/// @throws UsageError as Solver::solve
template <class T, template <class> class AnySolver>
ReportHandle solve_one(AnySolver<T>& self, ArrayIn<T> b, ArrayOut<T> x, int threads) {
  SolveRequest request;
  request.threads = threads;
  const LockReleased released;
  const auto rows = static_cast<index_t>(b.size()), unknowns = static_cast<index_t>(x.size());
  return {self.solve({b.data(), rows, 1, rows}, {x.data(), unknowns, 1, unknowns}, request).value()};
}

void bind_errors(nb::module_& module);
void bind_report(nb::module_& module);
void bind_matrix(nb::module_& module);
void bind_lists(nb::module_& module);
void bind_device_arrays(nb::module_& module);
void bind_solver(nb::module_& module);
void bind_inverse(nb::module_& module);
void bind_entry_solve(nb::module_& module);
void bind_low_rank(nb::module_& module);
void bind_schur(nb::module_& module);
void bind_saved_solver(nb::module_& module);
void bind_batch_solver(nb::module_& module);
void bind_solve_at_once(nb::module_& module);
void bind_triangular_solver(nb::module_& module);
void bind_transfers(nb::module_& module);

}  // namespace palmette::python
