// The names of the ordering methods, and which of them this build has.
#include <array>
#include <string>

#include "palmette/order/fill_methods.hpp"
#include "palmette/order/order.hpp"

namespace palmette {

std::string_view name_of(OrderingMethod method) {
  switch (method) {
    case OrderingMethod::automatic: return "auto";
    case OrderingMethod::amd: return "amd";
    case OrderingMethod::nd: return "nd";
    case OrderingMethod::metis: return "metis";
    case OrderingMethod::scotch: return "scotch";
    case OrderingMethod::natural: return "natural";
    case OrderingMethod::user: return "user";
  }
  return "unknown";
}

OrderingMethod ordering_method(std::string_view name) {
  if (name == "automatic") return OrderingMethod::automatic;
  std::string names;
  for (const OrderingMethodInfo& info : ordering_method_list()) {
    if (name == name_of(info.method)) return info.method;
    names += (names.empty() ? "" : ", ") + std::string(name_of(info.method));
  }
  throw UsageError("unknown ordering method '" + std::string(name) + "'; choose one of " + names);
}

const std::vector<OrderingMethodInfo>& ordering_method_list() {
  static const std::vector<OrderingMethodInfo> list = {
      {OrderingMethod::automatic, true, "AMD, or nested dissection where its fewer flops repay its time"},
      {OrderingMethod::amd, true,
       "approximate minimum degree: fast, good for 2D meshes, circuits and networks"},
      {OrderingMethod::nd, true,
       "Palmette's own nested dissection: parallel, good for meshes in two and three dimensions"},
      {OrderingMethod::metis, order_detail::has_metis(),
       "nested dissection by METIS: slower, good for 3D meshes"},
      {OrderingMethod::scotch, order_detail::has_scotch(),
       "nested dissection by Scotch: slower, good for 3D meshes"},
      {OrderingMethod::natural, true, "the order of the matrix as it is"},
      {OrderingMethod::user, true, "the permutation given by the caller"},
  };
  return list;
}

}  // namespace palmette
