// The structure of a batch: fill, and the places of entries.
#include <gtest/gtest.h>

#include "palmette/batch/batch.hpp"

namespace palmette {
namespace {

SparseMatrix<double> matrix_of(const std::vector<std::vector<double>>& rows, Symmetry symmetry) {
  Triplets<double> entries{static_cast<index_t>(rows.size()), static_cast<index_t>(rows.size()), {}, {}, {}};
  for (index_t i = 0; i < entries.rows; ++i)
    for (index_t j = 0; j < entries.cols; ++j)
      if (rows[i][j] != 0)
        entries.row.push_back(i), entries.column.push_back(j), entries.value.push_back(rows[i][j]);
  return from_triplets(entries, symmetry);
}

BatchStructure natural_structure(const SparseMatrix<double>& matrix, FactorKind kind) {
  OrderOptions ordering;
  ordering.method = OrderingMethod::natural;
  ordering.matching = ordering.scaling = false;
  return batch_structure(matrix, kind, ordering).value();
}

// [4 1 0 1; 1 4 0 0; 0 0 4 1; 1 0 1 4]: eliminating column 0 joins rows 1 and 3, so L gains (3, 1).
const std::vector<std::vector<double>> small = {{4, 1, 0, 1}, {1, 4, 0, 0}, {0, 0, 4, 1}, {1, 0, 1, 4}};

TEST(batch_structure, of_lu_has_the_entries_that_elimination_adds) {
  const BatchStructure made = natural_structure(matrix_of(small, Symmetry::general), FactorKind::lu);
  EXPECT_EQ(made.lower_row, (std::vector<index_t>{1, 3, 3, 3}));
  EXPECT_EQ(made.upper_row, (std::vector<index_t>{0, 0, 1, 2}));  // columns 1; 3
  EXPECT_EQ(made.nnz_factor, 12);
  EXPECT_EQ(made.scatter_entry.size(), 10u);
  // Divisions 2 + 1 + 1; U(0,1), U(0,3) update 2 rows each, U(1,3) and U(2,3) one: 2·(2 + 2 + 1 + 1).
  EXPECT_EQ(made.flops, 16);
}

TEST(batch_structure, of_ldlt_reads_the_lower_triangle_and_finds_the_rows_of_l) {
  const BatchStructure made = natural_structure(matrix_of(small, Symmetry::symmetric), FactorKind::ldlt);
  EXPECT_EQ(made.lower_row, (std::vector<index_t>{1, 3, 3, 3}));
  EXPECT_EQ(made.upper_row, (std::vector<index_t>{0, 0, 1, 2}));
  EXPECT_EQ(made.entry_in_row, (std::vector<offset_t>{0, 1, 2, 3}));
  EXPECT_EQ(made.nnz_factor, 8);
  EXPECT_EQ(made.scatter_entry.size(), 7u);
}

TEST(batch_structure, of_a_pattern_without_transversal_is_a_failure) {
  const auto made = batch_structure(matrix_of({{1, 1}, {0, 0}}, Symmetry::general), FactorKind::lu, {});
  ASSERT_FALSE(static_cast<bool>(made));
  EXPECT_EQ(made.failure().kind, FailureKind::structurally_singular);
}

}  // namespace
}  // namespace palmette
