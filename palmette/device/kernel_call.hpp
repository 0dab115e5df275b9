// The list of kernels that run on one device, and how one is called.
#pragma once

#include "palmette/base/base.hpp"
#include "palmette/device/triangle_sweep.hpp"

namespace palmette::device {

enum class Kernel : char {
  tree_forward,
  tree_backward,
  level_forward,
  level_backward,
  columns_forward,
  columns_backward,
  rows,
  element_forward,
  element_backward,
  network_forward,  ///< of the emulator and NVSHMEM
  network_backward,
  load_rows,
  store_rows,
  to_low,
  from_low,
  column_maxima,
  largest_of_parts,
  residual,
  scaled_residual,
  correction,
  copy_columns,
  unified_columns,  ///< of one element of several
  zero_copy_columns,
  pushed_columns,
  put_columns,  ///< only where there is a network
  region_trial,    ///< of one element of several; has no scalar type
};

/// A kernel with its template arguments and its argument.
struct KernelCall {
  Kernel kernel;
  ScalarType scalar;
  /// right-hand sides that a lane multiplies by together, 1 or rhs_of_lane; 1 where it multiplies by none
  int rhs_at_once;
  const void* argument;  ///< the struct that the kernel takes, of the kernel's scalar type
};

/// Strides of several right-hand sides are multiples of this.
inline constexpr int rhs_of_lane = 4;

struct LaunchShape {
  int blocks = 1;
  int threads = 64;      ///< of a block, a multiple of 32
  int shared_bytes = 0;  ///< of a block
  /// Launches of different streams other than 0 may run side by side; the emulator runs what a world is given
  /// side by side.
  int stream = 0;
};

}  // namespace palmette::device
