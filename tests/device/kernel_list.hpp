// The one list of kernels that nvcc compiles for the tests, with the limits of what it makes of them.
#pragma once

// A line for each kernel and number of right-hand sides that a lane multiplies by together, with
// - its word in Kernel, and the type of its argument,
// - the number of right-hand sides,
// - the most registers for sm_80 and for sm_90,
// - the fewest loads of global memory that are in flight together in a loop of fused multiply-adds, and the
//   fewest loads of 128 bits, in SASS.
// Limits hold for all four scalar types; nothing may be spilled. Registers are those of nvcc 13.0 and a few
// more: up to 64 leave room for 1024 threads on a multiprocessor, up to 128 for 512.
#define PALMETTE_FOR_EACH_KERNEL(KERNEL) \
  KERNEL(tree_forward, TriangleSweep, 1, 110, 120, 3, 12) \
  KERNEL(tree_forward, TriangleSweep, 4, 118, 122, 4, 8) \
  KERNEL(tree_backward, TriangleSweep, 1, 120, 112, 2, 8) \
  KERNEL(tree_backward, TriangleSweep, 4, 128, 122, 1, 6) \
  KERNEL(level_forward, TriangleSweep, 1, 98, 98, 2, 6) \
  KERNEL(level_forward, TriangleSweep, 4, 98, 98, 3, 4) \
  KERNEL(level_backward, TriangleSweep, 1, 112, 98, 2, 6) \
  KERNEL(level_backward, TriangleSweep, 4, 98, 97, 2, 4) \
  KERNEL(columns_forward, TriangleSweep, 1, 88, 80, 2, 6) \
  KERNEL(columns_forward, TriangleSweep, 4, 98, 96, 2, 4) \
  KERNEL(columns_backward, TriangleSweep, 1, 108, 108, 2, 6) \
  KERNEL(columns_backward, TriangleSweep, 4, 108, 98, 2, 4) \
  KERNEL(rows, RowSweep, 1, 50, 50, 1, 1) \
  KERNEL(rows, RowSweep, 4, 60, 60, 4, 1)

// The four scalar types, as kernels and as ScalarType name them.
#define PALMETTE_FOR_EACH_KERNEL_SCALAR(SCALAR, ...) \
  SCALAR(float, float32, __VA_ARGS__)                \
  SCALAR(double, float64, __VA_ARGS__)               \
  SCALAR(Complex<float>, complex64, __VA_ARGS__)     \
  SCALAR(Complex<double>, complex128, __VA_ARGS__)

// Faults planted in the forward sweep by the tree: the fault, and words of the report.
#define PALMETTE_FOR_EACH_PLANTED_FAULT(FAULT)        \
  FAULT(relaxed_flag, "race")                         \
  FAULT(narrow_scope, "scope too narrow")             \
  FAULT(no_tickets, "spins on")                       \
  FAULT(missing_barrier, "race")                      \
  FAULT(no_acquire, "race")                           \
  FAULT(store_outside, "store outside device memory") \
  FAULT(unequal_barriers, "barriers of unequal counts")
