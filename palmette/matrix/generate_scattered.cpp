// Random patterns: symmetric positive definite by dominance, and unsymmetric with a hidden transversal.
#include <numeric>
#include <utility>

#include "palmette/matrix/generate_assemble.hpp"
#include "palmette/matrix/generate_problems.hpp"
#include "palmette/matrix/generate_random.hpp"

namespace palmette::matrix_detail {
namespace {

/// Fisher–Yates shuffle of 0 … n−1.
std::vector<index_t> draw_permutation(index_t n, RandomStream& random) {
  std::vector<index_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (index_t last = n - 1; last > 0; --last) std::swap(order[last], order[random.below(last + 1)]);
  return order;
}

std::vector<double> draw_scales(index_t n, RandomStream& random) {
  std::vector<double> scales(n);
  for (double& scale : scales) scale = random.power_of_two(-10, 10);
  return scales;
}

/// Makes the entry in row transversal[column] larger than the sum of all others of its column.
void dominate_columns(SparseMatrix<double>& matrix, const std::vector<index_t>& transversal,
                      RandomStream& random) {
  for (index_t column = 0; column < matrix.cols(); ++column) {
    double sum = 1.0 + random.fraction();
    double* chosen = nullptr;
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      if (matrix.pattern.row_index[entry] == transversal[column]) chosen = &matrix.values[entry];
      else sum += cheap_modulus(matrix.values[entry]);
    }
    *chosen = (random.next() & 1) != 0 ? sum : -sum;
  }
}

/// Powers of two, so that scaling rounds nothing.
void scale(SparseMatrix<double>& matrix, const std::vector<double>& row_scale,
           const std::vector<double>& column_scale) {
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      matrix.values[entry] *= row_scale[matrix.pattern.row_index[entry]] * column_scale[column];
}

}  // namespace

SparseMatrix<double> make_random_spd(const GenerateOptions& options) {
  RandomStream random(options.seed);
  const auto num_pairs = static_cast<offset_t>(options.parameter * options.n / 2);
  Triplets<double> triplets = empty_triplets(
      options.n, static_cast<std::size_t>(2 * num_pairs) + static_cast<std::size_t>(options.n));
  push_empty_diagonal(triplets);
  for (offset_t pair = 0; pair < num_pairs; ++pair) {
    const index_t row = random.below(options.n), column = random.below(options.n);
    const double value = random.signed_fraction();
    if (row != column) push_pair(triplets, row, column, value);
  }
  SparseMatrix<double> matrix = from_triplets(triplets, Symmetry::symmetric);
  std::vector<double> diagonal = off_diagonal_row_sums(matrix);
  for (double& sum : diagonal) sum += 1.0 / 16.0 + random.fraction();
  set_diagonal(matrix, diagonal);
  return matrix;
}

// P·D with D strictly dominant by columns is nonsingular; so is it after rows and columns are scaled. The
// scales hide which entries are large, and the diagonal of the result is mostly empty.
SparseMatrix<double> make_random_unsymmetric(const GenerateOptions& options) {
  RandomStream random(options.seed);
  const index_t n = options.n;
  const std::vector<index_t> transversal = draw_permutation(n, random);
  const auto num_others = static_cast<offset_t>(options.parameter * n);
  Triplets<double> triplets =
      empty_triplets(n, static_cast<std::size_t>(num_others) + static_cast<std::size_t>(n));
  for (index_t column = 0; column < n; ++column) push_entry(triplets, transversal[column], column, 0.0);
  for (offset_t other = 0; other < num_others; ++other) {
    const index_t row = random.below(n), column = random.below(n);
    const double value = random.signed_fraction();
    if (row != transversal[column]) push_entry(triplets, row, column, value);
  }
  SparseMatrix<double> matrix = from_triplets(triplets);
  dominate_columns(matrix, transversal, random);
  const std::vector<double> row_scale = draw_scales(n, random), column_scale = draw_scales(n, random);
  scale(matrix, row_scale, column_scale);
  return matrix;
}

}  // namespace palmette::matrix_detail
