// Small systems for the tests of the hall.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "palmette/solver/solver.hpp"

namespace palmette::testing {

template <class T>
using Shared = std::shared_ptr<const SparseMatrix<T>>;

/// From rows written out, zeros left out.
template <class T>
Shared<T> matrix_of(const std::vector<std::vector<T>>& rows) {
  Triplets<T> entries{
      static_cast<index_t>(rows.size()), rows.empty() ? 0 : static_cast<index_t>(rows[0].size()), {}, {}, {}};
  for (index_t i = 0; i < entries.rows; ++i)
    for (index_t j = 0; j < entries.cols; ++j)
      if (rows[i][j] != T(0)) {
        entries.row.push_back(i);
        entries.column.push_back(j);
        entries.value.push_back(rows[i][j]);
      }
  return std::make_shared<const SparseMatrix<T>>(from_triplets(entries));
}

template <class T>
Shared<T> generated(const std::string& problem, index_t n) {
  GenerateOptions options;
  options.problem = problem;
  options.n = n;
  if constexpr (std::is_same_v<T, double>) return std::make_shared<const SparseMatrix<T>>(generate(options));
  else return std::make_shared<const SparseMatrix<T>>(convert<T>(generate(options)));
}

/// Entries in [−1, 1], the same on every machine.
template <class T>
DenseMatrix<T> some_right_hand_sides(index_t rows, index_t cols) {
  DenseMatrix<T> b(rows, cols);
  std::uint64_t state = 99;
  const auto next = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return real_t<T>(double(state >> 11) / double(1ULL << 52) - 1);
  };
  for (T& value : b.values) {
    if constexpr (is_complex_v<T>) {
      const real_t<T> re = next();
      value = T(re, next());
    } else {
      value = next();
    }
  }
  return b;
}

/// Every entry, zeros too.
template <class T>
DenseMatrix<T> to_dense(const SparseMatrix<T>& matrix) {
  DenseMatrix<T> dense(matrix.rows(), matrix.cols());
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry)
      dense.view()(matrix.pattern.row_index[entry], j) = matrix.values[entry];
  return dense;
}

inline SolverOptions quiet_options(int threads = 2) {
  SolverOptions options;
  options.threads = threads;
  options.measure = false;
  return options;
}

template <class T>
bool have_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace palmette::testing
