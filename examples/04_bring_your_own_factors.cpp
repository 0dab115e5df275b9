// L and U were computed elsewhere: Palmette solves with them unchanged.
#include <cstdio>

#include "palmette/solver/solver.hpp"

int main() {
  using namespace palmette;
  const auto lower = from_triplets<double>({3, 3, {0, 1, 2, 2}, {0, 1, 0, 2}, {1, 1, 0.5, 1}});
  const auto upper = from_triplets<double>({3, 3, {0, 0, 1, 2}, {0, 2, 1, 2}, {4, 1, 5, 6}});
  auto factors = std::make_shared<OwnFactors<double>>();
  factors->lower = lower;
  factors->upper = upper;
  factors->row = Permutation({2, 0, 1});  // row 0 of L·U is row 2 of A
  auto solver = TriangularSolver<double>::from_factors(factors, nullptr).value();
  DenseMatrix<double> b(3, 1), x(3, 1);
  b.values = {1, 2, 3};
  const Report report = solver.solve(std::as_const(b).view(), x.view()).value();
  std::printf("x = (%g, %g, %g), backward error %.1e\n", x.values[0], x.values[1], x.values[2],
              report.verify->backward_error);
  return report.verify->verified ? 0 : 1;
}
