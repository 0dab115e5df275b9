// The median of repeats, which benchmarks report.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace palmette::bench {

/// The middle one of some values, at least one; of an even number the larger of the two.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace palmette::bench
