// Lower triangular matrices. In each row the entries left of the diagonal sum to less than 3/4 in modulus and
// the diagonal lies in [1, 2): the inverse is bounded by 4 in the infinity norm, whatever the size.
#include "palmette/matrix/generate_assemble.hpp"
#include "palmette/matrix/generate_problems.hpp"
#include "palmette/matrix/generate_random.hpp"

namespace palmette::matrix_detail {
namespace {

double draw_diagonal(RandomStream& random) { return 1.0 + random.fraction(); }

/// One of `num_entries` values in a row, of modulus below 3/4 / num_entries.
double draw_off_diagonal(index_t num_entries, RandomStream& random) {
  return 0.75 * random.signed_fraction() / num_entries;
}

/// Draws levels row by row so that exactly `num_levels` occur, each new one when its predecessor has been
/// seen. The row in which a level is new is drawn as in selection sampling ([Knuth 1997], §3.4.2, algorithm
/// S).
class LevelDraw {
 public:
  LevelDraw(index_t num_rows, index_t num_levels) : num_rows_(num_rows), num_levels_(num_levels) {}

  index_t draw(index_t row, RandomStream& random) {
    const index_t missing = num_levels_ - num_seen_;
    const bool is_new = num_seen_ == 0 || random.below(num_rows_ - row) < missing;
    return is_new ? num_seen_++ : random.below(num_seen_);
  }

 private:
  index_t num_rows_, num_levels_, num_seen_ = 0;
};

/// Largest s with s² ≤ n, at least 1.
index_t default_level_count(index_t n) {
  index_t root = 1;
  while (offset_t{root + 1} * (root + 1) <= n) ++root;
  return root;
}

}  // namespace

SparseMatrix<double> make_bidiagonal(const GenerateOptions& options) {
  RandomStream random(options.seed);
  Triplets<double> triplets = empty_triplets(options.n, 2 * static_cast<std::size_t>(options.n));
  for (index_t row = 0; row < options.n; ++row) {
    if (row > 0) push_entry(triplets, row, row - 1, draw_off_diagonal(1, random));
    push_entry(triplets, row, row, draw_diagonal(random));
  }
  return from_triplets(triplets);
}

SparseMatrix<double> make_dense_triangle(const GenerateOptions& options) {
  RandomStream random(options.seed);
  SparseMatrix<double> matrix;
  SparsityPattern& pattern = matrix.pattern;
  pattern.rows = pattern.cols = options.n;
  const std::size_t num_entries =
      static_cast<std::size_t>(options.n) * (static_cast<std::size_t>(options.n) + 1) / 2;
  pattern.row_index.reserve(num_entries);
  matrix.values.reserve(num_entries);
  for (index_t column = 0; column < options.n; ++column) {
    for (index_t row = column; row < options.n; ++row) {
      pattern.row_index.push_back(row);
      matrix.values.push_back(row == column ? draw_diagonal(random) : draw_off_diagonal(row, random));
    }
    pattern.column_ptr.push_back(static_cast<offset_t>(pattern.row_index.size()));
  }
  return matrix;
}

// A row of level l > 0 depends on one row of level l − 1, which makes its level at least l, and on up to
// three rows of lower levels, which keeps it there.
SparseMatrix<double> make_random_triangular(const GenerateOptions& options) {
  constexpr index_t num_extra = 3;
  const index_t num_levels =
      options.parameter == 0 ? default_level_count(options.n) : static_cast<index_t>(options.parameter);
  RandomStream random(options.seed);
  LevelDraw levels(options.n, num_levels);
  std::vector<index_t> level_of(options.n);
  std::vector<std::vector<index_t>> rows_of(num_levels);
  Triplets<double> triplets = empty_triplets(options.n, 5 * static_cast<std::size_t>(options.n));
  for (index_t row = 0; row < options.n; ++row) {
    const index_t level = level_of[row] = levels.draw(row, random);
    rows_of[level].push_back(row);
    push_entry(triplets, row, row, draw_diagonal(random));
    if (level == 0) continue;
    const std::vector<index_t>& before = rows_of[level - 1];
    const index_t needed = before[random.below(static_cast<index_t>(before.size()))];
    push_entry(triplets, row, needed, draw_off_diagonal(num_extra + 1, random));
    for (index_t extra = 0; extra < num_extra; ++extra) {
      const index_t column = random.below(row);
      const double value = draw_off_diagonal(num_extra + 1, random);
      if (level_of[column] < level && column != needed) push_entry(triplets, row, column, value);
    }
  }
  return from_triplets(triplets);
}

}  // namespace palmette::matrix_detail
