// Every square matrix of data/ by every engine of a device: as good as on the host.
#include <gtest/gtest.h>

#include <filesystem>

#include "palmette/solver/solver.hpp"

namespace palmette {
namespace {

namespace fs = std::filesystem;

/// Files that the reader takes; others are vectors, permutations, or no matrices.
std::vector<fs::path> matrix_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(PALMETTE_DATA_FOLDER)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".md" || entry.path().extension() == ".txt")
      continue;
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// How one solve ended: the backward error, or nothing if the matrix is refused or singular.
template <class T>
std::optional<double> outcome_of(const std::shared_ptr<const SparseMatrix<T>>& matrix,
                                 const SolverOptions& options, index_t num_rhs) {
  auto solver = Solver<T>::create(matrix, options);
  if (!solver) return std::nullopt;
  DenseMatrix<T> x(matrix->rows(), num_rhs);
  for (index_t j = 0; j < num_rhs; ++j)
    for (index_t i = 0; i < x.rows; ++i) x.view()(i, j) = T(static_cast<real_t<T>>(1 + (i + j) % 3));
  const auto answer = solver.value().solve(std::as_const(x).view(), x.view());
  if (!answer) return std::nullopt;
  if (num_rhs > 0 && x.rows > 0 && options.device) {
    EXPECT_TRUE(answer.value().solve->device.has_value());
  }
  return answer.value().verify->backward_error;
}

template <class T>
int expect_as_on_the_host(const SparseMatrix<T>& given) {
  const auto matrix = std::make_shared<const SparseMatrix<T>>(given);
  SolverOptions host;
  host.measure = false;
  int solved = 0;
  for (const index_t num_rhs : {1, 3, 64}) {
    const std::optional<double> expected = outcome_of(matrix, host, num_rhs);
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::device)) {
      SolverOptions there = host;
      there.device = make_emulated_device();
      there.method = method.method;
      const std::optional<double> found = outcome_of(matrix, there, num_rhs);
      EXPECT_EQ(found.has_value(), expected.has_value()) << method.name;
      if (!found || !expected) continue;
      EXPECT_LE(*found, 2 * std::max(*expected, 4 * unit_roundoff<T>)) << method.name;
      ++solved;
    }
  }
  return solved;
}

TEST(device_data, every_square_matrix_is_solved_as_on_the_host) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  int solved = 0;
  for (const fs::path& file : matrix_files()) {
    SCOPED_TRACE(file.filename().string());
    const AnyMatrix matrix = read_matrix(file.string()).matrix;
    solved += std::visit(
        [](const auto& one) { return one.rows() == one.cols() ? expect_as_on_the_host(one) : 0; }, matrix);
  }
  EXPECT_GT(solved, 100);
}

}  // namespace
}  // namespace palmette
