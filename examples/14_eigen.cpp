// A program written for Eigen's SparseLU, with one type changed.
#include <Eigen/SparseCore>
#include <cstdio>

#include "palmette/eigen/eigen.hpp"

int main() {
  const int n = 100;
  Eigen::SparseMatrix<double> A(n, n);
  for (int i = 0; i < n; ++i) {
    A.insert(i, i) = 3;
    if (i + 1 < n) A.insert(i, i + 1) = -1, A.insert(i + 1, i) = -0.5;
  }
  palmette::eigen::LU<Eigen::SparseMatrix<double>> solver;
  solver.compute(A);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(n), x = solver.solve(b);
  std::printf("residual %.1e, log of the determinant %.4f, backward error %.1e\n", (A * x - b).norm(),
              solver.logAbsDeterminant(), solver.report().verify->backward_error);
  return solver.info() == Eigen::Success ? 0 : 1;
}
