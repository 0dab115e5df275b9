// How long the kernels of several devices wait for each other, and what they say when they have waited in
// vain: of sweeps over elements (element_sweep.hpp) and by columns (triangle_elements.hpp).
#pragma once

namespace palmette::device {

/// What a kernel waited for too long: the number, plus 1, of a signal, or of a task of this element; by
/// columns, of the row, as its task. All zero: everything came.
struct ElementStatus {
  int gave_up;  ///< 1: it did
  int signal;
  int task;
};

/// How long a kernel waits for one flag. Then it says so, and its results are worthless, but all kernels end.
struct ElementWatch {
  ElementStatus* status;  ///< null: it waits for ever
  long long most_polls;
};

}  // namespace palmette::device
