// Solve a system and see how far the answer can be trusted.
#include <cstdio>

#include "palmette/solver/solver.hpp"

int main() {
  using namespace palmette;
  const auto matrix = std::make_shared<const SparseMatrix<double>>(generate({"poisson3d7", 20}));
  Solver<double> solver = Solver<double>::create(matrix).value();
  DenseMatrix<double> b(matrix->rows(), 1), x(matrix->rows(), 1);
  b.values.assign(b.values.size(), 1.0);
  const Report report = solver.solve(std::as_const(b).view(), x.view()).value();
  std::printf("backward error %.1e, %s\n", report.verify->backward_error,
              report.verify->verified ? "verified" : "NOT verified");
  return report.verify->verified ? 0 : 1;
}
