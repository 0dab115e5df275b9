// Saved solvers whose panels stay in the file: the bits of solvers in memory, the budget, the report, files
// that are cut while they are used, and what is refused.
#include <gtest/gtest.h>

#include <filesystem>

#include <unistd.h>

#include "systems.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

/// A saved solver, removed at the end.
template <class T>
struct SavedFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("palmette_out_of_core_" + std::to_string(::getpid())))
          .string();
  explicit SavedFile(const Solver<T>& solver) { solver.save(path); }
  ~SavedFile() { std::filesystem::remove(path); }
  SavedFile(const SavedFile&) = delete;
  SavedFile& operator=(const SavedFile&) = delete;
};

LoadOptions with_budget(offset_t bytes) {
  LoadOptions options;
  options.threads = 2;
  options.measure = false;
  options.memory_budget = bytes;
  return options;
}

/// The least budget, as the error for one byte names it.
template <class T>
offset_t least_budget(const std::string& path) {
  try {
    (void)Solver<T>::load(path, with_budget(1));
  } catch (const UsageError& error) {
    const std::string text = error.what(), before = "give at least ";
    const std::size_t at = text.find(before);
    if (at != std::string::npos) return std::stoll(text.substr(at + before.size()));
    ADD_FAILURE() << text;
  }
  return 0;
}

template <class T>
Report solved(Solver<T>& solver, DenseMatrix<T>& x, Operation operation = Operation::plain) {
  const DenseMatrix<T> b = some_right_hand_sides<T>(x.rows, x.cols);
  SolveRequest request;
  request.operation = operation;
  return solver.solve(b.view(), x.view(), request).value();
}

SolverOptions of(FactorKind kind) {
  SolverOptions options = quiet_options();
  options.kind = kind;
  return options;
}

template <class T>
void expect_same_x_within_budgets(const Shared<T>& matrix, const SolverOptions& options) {
  auto solver = Solver<T>::create(matrix, options).value();
  const SavedFile<T> file(solver);
  const offset_t least = least_budget<T>(file.path);
  ASSERT_GT(least, 0);
  EXPECT_THROW((void)Solver<T>::load(file.path, with_budget(least - 1)), UsageError);
  for (const offset_t budget : {least, least + (1 << 16), offset_t{1} << 30}) {
    auto kept = Solver<T>::load(file.path, with_budget(budget));
    for (const index_t num_rhs : {1, 5})
      for (const Operation operation : {Operation::plain, Operation::adjoint}) {
        DenseMatrix<T> x(matrix->rows(), num_rhs), y = x;
        (void)solved(solver, x, operation);
        const Report report = solved(kept, y, operation);
        EXPECT_TRUE(have_same_bits(x.values, y.values)) << budget << ", " << num_rhs;
        EXPECT_TRUE(report.verify->verified);
        ASSERT_TRUE(report.solve->file);
        EXPECT_EQ(report.solve->file->memory_budget, budget);
        EXPECT_EQ(report.solve->method, SolveMethod::serial);
      }
    EXPECT_EQ(kept.slogdet(), solver.slogdet());
  }
}

template <class T>
class OutOfCoreSolver : public ::testing::Test {};
TYPED_TEST_SUITE(OutOfCoreSolver, TestedScalars);

TYPED_TEST(OutOfCoreSolver, has_the_bits_of_one_in_memory) {
  using T = TypeParam;
  expect_same_x_within_budgets<T>(generated<T>("poisson3d7", 12), of(FactorKind::llt));
  expect_same_x_within_budgets<T>(generated<T>("kkt3d", 5), of(FactorKind::ldlt));
  expect_same_x_within_budgets<T>(generated<T>("convection_diffusion3d", 10), of(FactorKind::lu));
}

TEST(out_of_core_solver, of_mixed_precision_refines_as_in_memory) {
  SolverOptions options = of(FactorKind::llt);
  options.mixed_precision = true;
  expect_same_x_within_budgets<double>(generated<double>("poisson3d7", 12), options);
}

TEST(out_of_core_solver, says_what_it_read) {
  auto solver = Solver<double>::create(generated<double>("poisson3d7", 12), of(FactorKind::llt)).value();
  const SavedFile<double> file(solver);
  LoadOptions options = with_budget(least_budget<double>(file.path));
  options.disk_gbs = 2;
  auto kept = Solver<double>::load(file.path, options);
  DenseMatrix<double> x(kept.size(), 1);
  const Report report = solved(kept, x);
  const PanelFileReport& read = *report.solve->file;
  EXPECT_GT(read.bytes, 0);
  EXPECT_LE(read.bytes, 2.0 * double(std::filesystem::file_size(file.path)));
  EXPECT_GT(read.read_seconds, 0);
  EXPECT_NEAR(read.read_gbs, read.bytes / read.read_seconds / 1e9, 1e-9);
  EXPECT_NEAR(read.disk_fraction, read.read_gbs / 2, 1e-9);
  if (read.cached_bytes && *read.cached_bytes > 0.5 * read.bytes) {
    EXPECT_NE(report.notes.back().find("page cache"), std::string::npos) << report.notes.back();
  }
  bool says_budget = false;
  for (const std::string& note : report.notes)
    says_budget = says_budget || note.find("within a memory budget") != std::string::npos;
  EXPECT_TRUE(says_budget);
}

TEST(out_of_core_solver, whose_file_is_cut_says_so_and_stays_usable) {
  auto solver = Solver<double>::create(generated<double>("poisson3d7", 12), of(FactorKind::llt)).value();
  const SavedFile<double> file(solver);
  const std::string whole = file.path + ".whole";
  std::filesystem::copy_file(file.path, whole);
  auto kept = Solver<double>::load(file.path, with_budget(least_budget<double>(file.path)));
  DenseMatrix<double> x(kept.size(), 1), y = x;
  (void)solved(kept, x);
  const auto size = std::filesystem::file_size(file.path);
  std::filesystem::resize_file(file.path, size / 2);
  try {
    (void)solved(kept, y);
    FAIL() << "half of the panels are missing";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("was cut short while it was used"), std::string::npos);
  }
  // The bytes come back into the same file.
  std::FILE* const from = std::fopen(whole.c_str(), "rb");
  std::FILE* const to = std::fopen(file.path.c_str(), "r+b");
  std::vector<char> bytes(size);
  ASSERT_EQ(std::fread(bytes.data(), 1, size, from), size);
  ASSERT_EQ(std::fwrite(bytes.data(), 1, size, to), size);
  std::fclose(from);
  std::fclose(to);
  std::filesystem::remove(whole);
  (void)solved(kept, y);
  EXPECT_TRUE(have_same_bits(x.values, y.values));
}

TEST(out_of_core_solver, refuses_what_needs_the_panels) {
  const auto matrix = generated<double>("poisson3d7", 12);
  auto solver = Solver<double>::create(matrix, of(FactorKind::llt)).value();
  const SavedFile<double> file(solver);
  LoadOptions options = with_budget(1 << 30);
  auto kept = Solver<double>::load(file.path, options);
  EXPECT_THROW((void)kept.refactor(matrix), UsageError);
  EXPECT_THROW((void)kept.factor(), UsageError);
  EXPECT_THROW(kept.save(file.path + ".again"), UsageError);
  EXPECT_FALSE(std::filesystem::exists(file.path + ".again"));
  EXPECT_THROW((void)kept.update_factor(SparseMatrix<double>{{matrix->rows(), 0, {0}, {}}, {}}), UsageError);
  options.method = SolveMethod::level_set;
  EXPECT_THROW((void)Solver<double>::load(file.path, options), UsageError);
  options = with_budget(-1);
  EXPECT_THROW((void)Solver<double>::load(file.path, options), UsageError);
  // Solves for single entries are whole ones.
  Triplets<double> entry{matrix->rows(), 1, {3}, {0}, {1}};
  const std::vector<index_t> rows = {3, 700};
  const auto few = kept.solve_entries(from_triplets(entry), rows).value();
  const auto whole = solver.solve_entries(from_triplets(entry), rows).value();
  for (int k = 0; k < 2; ++k) EXPECT_NEAR(few.x.values[k], whole.x.values[k], 1e-14);
}

TEST(out_of_core_solver, of_a_thin_factor_needs_its_memory) {
  auto solver = Solver<double>::create(generated<double>("poisson2d5", 3), quiet_options()).value();
  const SavedFile<double> file(solver);
  EXPECT_THROW((void)Solver<double>::load(file.path, with_budget(8)), UsageError);
  auto kept = Solver<double>::load(file.path, with_budget(1 << 20));
  DenseMatrix<double> x(9, 1);
  EXPECT_FALSE(solved(kept, x).solve->file);
}

}  // namespace
}  // namespace palmette
