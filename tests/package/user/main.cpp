// Solves a model problem through the hall of the installed library; ends with 0 if the answer is verified.
#include <memory>
#include <vector>

#include "palmette/solver/solver.hpp"

int main() {
  const auto matrix = std::make_shared<const palmette::SparseMatrix<double>>(
      palmette::generate({.problem = "poisson2d5", .n = 8}));
  const palmette::index_t n = matrix->rows();
  std::vector<double> b(n, 1.0), x(n);
  auto solver = palmette::Solver<double>::create(matrix);
  if (!solver.ok()) return 1;
  const auto report = solver.value().solve({b.data(), n, 1, n}, {x.data(), n, 1, n});
  return report.ok() && report.value().verify->verified ? 0 : 2;
}
