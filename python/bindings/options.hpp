// Options from Python, dicts with a fixed set of keys (see palmette/_solver.py), → the library's structs.
#pragma once

#include "bindings.hpp"

namespace palmette::python {

/// The option of this name as a V.
template <class V>
V get(const nb::dict& given, const char* name) {
  return nb::cast<V>(given[name]);
}

std::optional<FactorKind> factor_kind(const std::string& name);
SolverOptions solver_options(const nb::dict& given);
TriangularSolverOptions triangular_options(const nb::dict& given);
/// "N", "T" or "H"
Operation operation(const std::string& name);
LoadOptions load_options(const nb::dict& given);
SolveRequest solve_request(const nb::dict& given);
/// Without the number of threads.
EntryRequest entry_request(const nb::dict& given);

}  // namespace palmette::python
