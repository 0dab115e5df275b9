// What programs that time solves of a given matrix share: reading it, and right-hand sides with a known
// solution.
#pragma once

#include <memory>
#include <string>

#include "palmette/matrix/matrix.hpp"

namespace palmette::benchmarks {

using Matrix = std::shared_ptr<const SparseMatrix<double>>;

inline Matrix read_real(const std::string& path, int threads) {
  ReadOptions how;
  how.threads = threads;
  AnyMatrix any = read_matrix(path, how).matrix;
  auto* given = std::get_if<SparseMatrix<double>>(&any);
  if (given == nullptr) throw UsageError("the comparison is of real matrices");
  return std::make_shared<const SparseMatrix<double>>(std::move(*given));
}

/// b = A·x for a reproducible x with entries in [−1, 1].
inline DenseMatrix<double> right_hand_sides(const SparseMatrix<double>& matrix, index_t count) {
  DenseMatrix<double> x(matrix.cols(), count), b(matrix.rows(), count);
  std::uint64_t state = 12345;
  for (double& value : x.values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = double(state >> 11) / double(1ULL << 52) - 1;
  }
  multiply_add(matrix, Operation::plain, 1.0, std::as_const(x).view(), b.view());
  return b;
}

}  // namespace palmette::benchmarks
