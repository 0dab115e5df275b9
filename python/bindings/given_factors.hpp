// Factors from Python: what stands beside the matrices.
#pragma once

#include "options.hpp"

namespace palmette::python {

inline Permutation permutation(const nb::dict& given, const char* name) {
  if (given[name].is_none()) return {};
  const auto order = span_of(nb::cast<ArrayIn<index_t>>(given[name]));
  return Permutation(std::vector<index_t>(order.begin(), order.end()));
}

inline std::vector<double> scale(const nb::dict& given, const char* name) {
  if (given[name].is_none()) return {};
  const auto factors = span_of(nb::cast<ArrayIn<double>>(given[name]));
  return {factors.begin(), factors.end()};
}

/// Factors without their triangles. @param plan  says which devices solve
template <class T>
std::shared_ptr<OwnFactors<T>> factors_around(const nb::dict& given, const PlanOptions& plan) {
  auto own = std::make_shared<OwnFactors<T>>();
  own->row = permutation(given, "row_perm");
  own->column = permutation(given, "col_perm");
  own->row_scale = scale(given, "row_scale");
  own->column_scale = scale(given, "col_scale");
  own->lower_unit_diagonal = nb::cast<bool>(given["unit_lower"]);
  own->upper_unit_diagonal = nb::cast<bool>(given["unit_upper"]);
  own->hermitian = nb::cast<bool>(given["hermitian"]);
  own->plan.device = plan.device;
  own->plan.world = plan.world;
  own->plan.of_world = plan.of_world;
  return own;
}

}  // namespace palmette::python
