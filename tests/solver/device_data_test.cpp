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

/// How the solves with one matrix ended, with 1, 3 and 64 right-hand sides, plain, transposed and adjoint:
/// the backward error, or nothing if the matrix is refused or singular.
template <class T>
std::vector<std::optional<double>> outcomes_of(const std::shared_ptr<const SparseMatrix<T>>& matrix,
                                               const SolverOptions& options) {
  std::vector<std::optional<double>> outcomes;
  auto solver = Solver<T>::create(matrix, options);
  for (const index_t num_rhs : {1, 3, 64})
    for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
      if (!is_complex_v<T> && operation == Operation::adjoint) continue;  // the transpose
      outcomes.emplace_back();
      if (!solver) continue;
      SolveRequest request;
      request.operation = operation;
      DenseMatrix<T> x(matrix->rows(), num_rhs);
      for (index_t j = 0; j < num_rhs; ++j)
        for (index_t i = 0; i < x.rows; ++i) x.view()(i, j) = T(static_cast<real_t<T>>(1 + (i + j) % 3));
      const auto answer = solver.value().solve(std::as_const(x).view(), x.view(), request);
      if (!answer) continue;
      if (x.rows > 0 && options.device) {
        EXPECT_TRUE(answer.value().solve->device.has_value());
      }
      outcomes.back() = answer.value().verify->backward_error;
    }
  return outcomes;
}

template <class T>
int expect_as_on_the_host(const SparseMatrix<T>& given) {
  const auto matrix = std::make_shared<const SparseMatrix<T>>(given);
  SolverOptions host;
  host.measure = false;
  const auto expected = outcomes_of(matrix, host);
  int solved = 0;
  for (const SolveMethodInfo& method : solve_method_list(SolveWhere::device)) {
    SolverOptions there = host;
    there.device = make_emulated_device();
    there.method = method.method;
    const auto found = outcomes_of(matrix, there);
    for (std::size_t k = 0; k < found.size(); ++k) {
      SCOPED_TRACE(::testing::Message() << method.name << ", solve " << k);
      EXPECT_EQ(found[k].has_value(), expected[k].has_value());
      if (!found[k] || !expected[k]) continue;
      EXPECT_LE(*found[k], 2 * std::max(*expected[k], 4 * unit_roundoff<T>));
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
  EXPECT_GT(solved, 300);
}

}  // namespace
}  // namespace palmette
