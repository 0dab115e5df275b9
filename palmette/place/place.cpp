// Placement on a grid.
#include "palmette/place/place.hpp"

namespace palmette {

Placement place(const SymbolicFactor& symbolic, ProcessGrid grid) {
  if (grid.rows < 1 || grid.cols < 1)
    throw UsageError("a process grid of " + std::to_string(grid.rows) + " × " + std::to_string(grid.cols) +
                     " has no ranks; both sides must be at least 1");
  return {grid, symbolic.num_supernodes()};
}

}  // namespace palmette
