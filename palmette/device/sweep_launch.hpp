// The list of kernels that solve on one device, and how one is called.
#pragma once

#include "palmette/base/base.hpp"
#include "palmette/device/triangle_sweep.hpp"

namespace palmette::device {

enum class SweepKernel : char {
  tree_forward,
  tree_backward,
  level_forward,
  level_backward,
  columns_forward,
  columns_backward,
  rows,
};

/// A kernel with its template arguments and its argument.
struct KernelCall {
  SweepKernel kernel;
  ScalarType scalar;
  int rhs_at_once;       ///< right-hand sides that a lane multiplies by together: 1 or rhs_of_lane
  const void* argument;  ///< a TriangleSweep, or for `rows` a RowSweep, of the kernels' scalar type
};

/// Strides of several right-hand sides are multiples of this.
inline constexpr int rhs_of_lane = 4;

struct LaunchShape {
  int blocks = 1;
  int threads = 64;      ///< of a block, a multiple of 32
  int shared_bytes = 0;  ///< of a block
};

}  // namespace palmette::device
