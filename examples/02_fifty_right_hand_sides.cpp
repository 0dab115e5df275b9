// Factor once, solve for fifty right-hand sides at once, by each method of the list; all give the same bits.
#include <cstdio>

#include "palmette/solver/solver.hpp"

int main() {
  using namespace palmette;
  const auto matrix = std::make_shared<const SparseMatrix<double>>(generate({"elasticity3d", 8}));
  DenseMatrix<double> b(matrix->rows(), 50), first;
  for (std::size_t i = 0; i < b.values.size(); ++i) b.values[i] = 1.0 / double(1 + i % 97);
  for (const SolveMethodInfo& info : solve_method_list(SolveWhere::one_machine)) {
    SolverOptions options;
    options.method = info.method;
    Solver<double> solver = Solver<double>::create(matrix, options).value();
    DenseMatrix<double> x(matrix->rows(), 50);
    SolveRequest request;
    request.repeat = 3;
    const Report report = solver.solve(std::as_const(b).view(), x.view(), request).value();
    std::printf("%-12s %8.3f ms, %5.1f GB/s\n", std::string(info.name).c_str(), 1e3 * report.solve->seconds,
                report.solve->bandwidth_gbs);
    if (first.values.empty()) first = x;
    if (x.values != first.values || !report.verify->verified) return 1;
  }
  return 0;
}
