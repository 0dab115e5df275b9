// Inside `solver`: the rows, or the columns, of factors that the caller provides.
#pragma once

#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// Entry k of the factors' numbering is entry place(k) of the user's, times factor(k).
struct FactorSide {
  const Permutation& order;          // of no entries: none
  const std::vector<double>& scale;  // likewise: ones

  index_t place(index_t k) const { return order.size() == 0 ? k : order.new_to_old()[k]; }
  double factor(index_t k) const { return scale.empty() ? 1 : scale[place(k)]; }
};

}  // namespace palmette
