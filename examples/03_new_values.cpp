// The same pattern with new values: factorize again without ordering and analysis. Implicit time steps do
// this.
#include <cstdio>

#include "palmette/solver/solver.hpp"

int main() {
  using namespace palmette;
  const auto stiffness =
      std::make_shared<const SparseMatrix<double>>(generate({"convection_diffusion2d", 60}));
  Solver<double> solver = Solver<double>::create(stiffness).value();
  DenseMatrix<double> state(stiffness->rows(), 1);
  state.values.assign(state.values.size(), 1.0);
  for (const double step : {1.0, 0.5, 0.25}) {
    auto shifted = std::make_shared<SparseMatrix<double>>(*stiffness);
    for (index_t j = 0; j < shifted->cols(); ++j)
      for (offset_t entry = shifted->pattern.column_ptr[j]; entry < shifted->pattern.column_ptr[j + 1];
           ++entry)
        if (shifted->pattern.row_index[entry] == j) shifted->values[entry] += 1 / step;
    if (!solver.refactor(shifted)) return 1;
    const Report report = solver.solve(std::as_const(state).view(), state.view()).value();
    std::printf("step %.2f: factorized in %.4f s, backward error %.1e\n", step, report.factorize->seconds,
                report.verify->backward_error);
    if (!report.verify->verified) return 1;
  }
  return 0;
}
