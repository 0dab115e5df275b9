// Each of the optional third-party matrices (../shared/matrices) is read with the order and the number of
// entries that the table in its README states. Skipped, with a message, if the collection is absent.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "palmette/matrix/matrix.hpp"

namespace palmette {
namespace {

struct TableRow {
  std::string file;
  std::int64_t n = 0;
  std::int64_t nnz = 0;
  std::string type;
};

std::int64_t number_in(const std::string& cell) {
  std::int64_t value = 0;
  for (const char letter : cell)
    if (letter >= '0' && letter <= '9') value = 10 * value + (letter - '0');
  return value;
}

std::vector<TableRow> table_of_collection(const std::filesystem::path& folder) {
  std::ifstream readme(folder / "README.md");
  std::vector<TableRow> rows;
  for (std::string line; std::getline(readme, line);) {
    if (line.rfind("| ", 0) != 0) continue;
    std::vector<std::string> cells;
    std::size_t begin = 2;
    for (std::size_t bar = line.find(" | ", begin); bar != std::string::npos && cells.size() < 4;
         bar = line.find(" | ", begin)) {
      cells.push_back(line.substr(begin, bar - begin));
      begin = bar + 3;
    }
    if (cells.size() == 4 && std::filesystem::exists(folder / cells[0]))
      rows.push_back({cells[0], number_in(cells[1]), number_in(cells[2]), cells[3]});
  }
  return rows;
}

Symmetry symmetry_in_words(const std::string& type) {
  if (type.find("unsymmetric") != std::string::npos) return Symmetry::general;
  if (type.find("skew") != std::string::npos) return Symmetry::skew;
  if (type.find("Hermitian") != std::string::npos) return Symmetry::hermitian;
  return Symmetry::symmetric;
}

TEST(read_collection, every_matrix_has_the_order_and_entries_of_the_table) {
  const std::filesystem::path folder = PALMETTE_MATRICES_FOLDER;
  if (folder.empty() || !std::filesystem::exists(folder / "README.md"))
    GTEST_SKIP() << "no matrix collection at " << folder;
  const std::vector<TableRow> rows = table_of_collection(folder);
  ASSERT_GE(rows.size(), 40u);
  for (const TableRow& row : rows) {
    SCOPED_TRACE(row.file);
    const ReadResult result = read_matrix((folder / row.file).string());
    std::visit(
        [&](const auto& matrix) {
          EXPECT_EQ(matrix.rows(), row.n);
          EXPECT_EQ(matrix.cols(), row.n);
          EXPECT_EQ(matrix.nnz(), row.nnz);
          EXPECT_NO_THROW(check_matrix(matrix));
          const Symmetry expected = symmetry_in_words(row.type);
          const Symmetry detected = detect_symmetry(matrix);
          // The file may omit a symmetry that the table lists (cg20 and qc324 are stored unsymmetric), never
          // the reverse.
          EXPECT_EQ(detected, expected);
          if (matrix.symmetry != Symmetry::general) {
            EXPECT_EQ(matrix.symmetry, detected);
          }
        },
        result.matrix);
  }
}

TEST(read_collection, laplacian_values_make_pattern_files_diagonally_dominant) {
  const std::string path = std::string(PALMETTE_MATRICES_FOLDER) + "/can_24.psa";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no matrix collection";
  ReadOptions options;
  options.pattern_values = PatternValues::laplacian;
  const auto matrix = std::get<SparseMatrix<double>>(read_matrix(path, options).matrix);
  EXPECT_EQ(matrix.nnz(), 160);  // can_24 has its diagonal, so no entry is added
  // Each row sums to 1: −1 for each of its d neighbours, d + 1 on the diagonal.
  DenseMatrix<double> ones(24, 1), sums(24, 1);
  std::fill(ones.values.begin(), ones.values.end(), 1.0);
  multiply_add<double>(matrix, Operation::plain, 1.0, std::as_const(ones).view(), sums.view());
  for (const double sum : sums.values) EXPECT_EQ(sum, 1.0);
}

}  // namespace
}  // namespace palmette
