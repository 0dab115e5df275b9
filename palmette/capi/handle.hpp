// What a C handle holds: a solver for one of two scalar types, and how new values enter its matrix.
#pragma once

#include <algorithm>
#include <variant>

#include "palmette/capi/palmette.h"
#include "palmette/solver/solver.hpp"

namespace palmette::capi {

/// The caller's arrays, copied so that refactor can put new values in the same places. Empty if the solver's
/// own matrix has the same order.
struct GivenPattern {
  index_t n = 0;
  bool in_order = false;
  std::vector<offset_t> column_ptr;
  std::vector<index_t> row_index;
  palmette_storage storage = PALMETTE_FULL;
  bool from_file = false;
};

using AnySolver = std::variant<Solver<double>, Solver<std::complex<double>>>;

/// The matrix of a caller's arrays: checked, sorted, duplicates summed, the second triangle added.
template <class T>
SparseMatrix<T> matrix_from(const GivenPattern& given, const T* values);

/// The matrix of a caller's arrays, checked. @param given  out: how its values enter the matrix
template <class T>
SparseMatrix<T> checked_matrix(const palmette_arrays& arrays, GivenPattern& given);

/// @throws UsageError for a pointer that is NULL, a negative number, or a leading dimension below n
void check_columns(const palmette_columns& columns, index_t n);

/// The status of the exception that is being handled; its message becomes this thread's last error.
palmette_status record_exception() noexcept;
/// Forget this thread's last error.
void clear_last_error() noexcept;

/// Run `work`, which returns a status, and turn whatever it throws into a status. Takes the callable as it
/// is: wrapping it might allocate, and so throw into C.
template <class Work>
palmette_status guarded(const Work& work) noexcept {
  clear_last_error();
  try {
    return work();
  } catch (...) {
    return record_exception();
  }
}

/// Record a failure that is a value. @returns PALMETTE_NUMERICAL
palmette_status record(const NumericalFailure& failure);
/// Record why an answer is not verified. @returns PALMETTE_NOT_VERIFIED
palmette_status record_unverified(const std::string& message);

void require(bool condition, const char* message);
/// @throws UsageError if the entries, or where they go, are incomplete @param x  for those that are wanted
void require_entries(const palmette_entries* entries, const double* x);
inline std::span<const index_t> wanted_of(const palmette_entries& entries) {
  return {entries.wanted, static_cast<std::size_t>(entries.num_wanted)};
}
/// A column of some rows from `first` on; rows of the entries are those of the whole matrix.
/// @throws UsageError if an entry is in no such row
template <class T>
SparseMatrix<T> sparse_column(index_t first, index_t rows, const palmette_entries& entries);
/// x ← the entries. @returns PALMETTE_OK, the failure recorded, or PALMETTE_NOT_VERIFIED with its sentence
template <class T>
palmette_status told(const Outcome<SolvedEntries<T>>& found, double* x) {
  if (!found) return record(found.failure());
  std::copy(found.value().x.values.begin(), found.value().x.values.end(), reinterpret_cast<T*>(x));
  const EntryReport& report = found.value().report;
  if (report.verified) return PALMETTE_OK;
  return record_unverified("the solution is not verified: " + report.notes.back());
}
/// The unknowns of a boundary. @throws UsageError for a pointer that is NULL or a negative number
std::vector<index_t> unknowns_from(const palmette_boundary& boundary);
/// The status of a solution. @returns PALMETTE_OK, or PALMETTE_NOT_VERIFIED with its sentence recorded
palmette_status told(const Verification& found);
/// The status of a Schur complement, likewise
palmette_status told(const SchurReport& report);
/// Entries of compressed columns. @throws UsageError unless their pointers are there, begin at 0 and ascend
std::size_t entries_of(int32_t num_columns, const int64_t* column_ptr);
std::optional<FactorKind> kind_from(palmette_kind kind);
OrderingMethod ordering_from(const char* name);
Operation operation_from(palmette_operation operation);
SingularAnswer singular_from(palmette_singular singular);
/// The status of a solve. @returns PALMETTE_OK, or PALMETTE_NOT_VERIFIED with the report's first note
/// recorded
palmette_status tell(const Report& report, palmette_report* to);

}  // namespace palmette::capi

struct palmette_solver {
  palmette::capi::GivenPattern given;
  palmette::SolveRequest request;
  palmette::capi::AnySolver solver;
};

namespace palmette::capi {

/// The solver of one type of scalars, of any handle with a variant `solver`. @param handle  constant or not;
/// the solver likewise @throws UsageError if the handle is NULL or holds the other type
template <template <class> class AnyKind, class T, class Handle>
auto& typed(Handle* handle) {
  require(handle != nullptr, "solver is NULL");
  auto* solver = std::get_if<AnyKind<T>>(&handle->solver);
  require(solver != nullptr, is_complex_v<T> ? "the matrix is real: use the _d function"
                                             : "the matrix is complex: use the _z function");
  return *solver;
}
template <class T, class Handle>
auto& typed_solver(Handle* handle) {
  return typed<Solver, T>(handle);
}

}  // namespace palmette::capi
