// The list of kernels for vectors that nvcc compiles for the tests, with the most registers it may use.
#pragma once

// The word in Kernel, the argument, further template arguments, right-hand sides at once, registers. Limits
// hold for all four scalar types and both architectures; nothing may be spilled.
#define PALMETTE_FOR_EACH_VECTOR_KERNEL(KERNEL) \
  KERNEL(load_rows, VectorMove, 1, 40)          \
  KERNEL(store_rows, VectorMove, 1, 40)         \
  KERNEL(to_low, PrecisionChange, 1, 48)        \
  KERNEL(from_low, PrecisionChange, 1, 40)      \
  KERNEL(column_maxima, ColumnMaxima, 1, 48)    \
  KERNEL(scaled_residual, ScaledResidual, 1, 40)\
  KERNEL(correction, CorrectionCall, 1, 44)     \
  KERNEL(copy_columns, ColumnCopy, 1, 40)

// The same with the number of right-hand sides as a template argument.
#define PALMETTE_FOR_EACH_RESIDUAL_KERNEL(KERNEL) \
  KERNEL(residual, ResidualCall, 1, 76)           \
  KERNEL(residual, ResidualCall, 4, 128)
