// Part of the door of `solver`: arrays of a device in C order, as other packages have them.
#pragma once

#include "palmette/solver/solver.hpp"

namespace palmette {

/// An n × k array in the memory of a device, columns or rows lying together.
template <class T>
struct ArrayOnDevice {
  T* data = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  bool by_rows = false;  ///< in C order
};

/// x ← op(A)⁻¹·b by a solver whose factor lies on the device; arrays in C order are turned there, which takes
/// room for a copy.
/// @throws as Solver::solve
template <class T>
Outcome<Report> solve_on_device(Solver<T>& solver, ArrayOnDevice<const T> b, ArrayOnDevice<T> x,
                                const SolveRequest& request = {});
template <class T>
Outcome<Report> solve_on_device(TriangularSolver<T>& solver, ArrayOnDevice<const T> b, ArrayOnDevice<T> x,
                                const SolveRequest& request = {});

}  // namespace palmette
