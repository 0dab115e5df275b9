// A numerical failure is a value that names its place; nothing is thrown unless you ask for it with value().
#include <cstdio>

#include "palmette/solver/solver.hpp"

int main() {
  using namespace palmette;
  // Row 1 (counted from 0) is empty.
  const auto matrix = std::make_shared<const SparseMatrix<double>>(
      from_triplets<double>({3, 3, {0, 2, 2}, {0, 1, 2}, {1, 2, 3}}));
  const Outcome<Solver<double>> made = Solver<double>::create(matrix);
  if (made) return 1;
  std::printf("row %d, column %d: %s\n", made.failure().row, made.failure().column,
              made.failure().message.c_str());
  return made.failure().row == 1 ? 0 : 1;
}
