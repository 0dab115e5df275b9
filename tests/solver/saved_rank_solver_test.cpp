// Solvers over ranks as sets of files: x after load has the bits of x before save, for any input, grid and
// layers; a file that was cut, changed, exchanged or left out is refused by all ranks with one reason.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "palmette/archive/archive.hpp"
#include "rank_systems.hpp"

namespace palmette {
namespace {

namespace fs = std::filesystem;
using namespace testing;

/// A folder that is removed at the end.
struct TemporaryFolder {
  fs::path path = fs::temp_directory_path() / ("palmette_ranks_" + std::to_string(::getpid()));
  TemporaryFolder() { fs::create_directories(path); }
  ~TemporaryFolder() { fs::remove_all(path); }
  std::string file(const std::string& name = "set") const { return (path / name).string(); }
  std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  }
};

RankLoadOptions patient(bool map = true, bool check = true) {
  RankLoadOptions options;
  options.watchdog_seconds = 60;
  options.map = map;
  options.check_panels = check;
  return options;
}

template <class T>
RankSolver<T> created(const Shared<T>& matrix, bool by_rows, const RankSolverOptions& options,
                      Transport& transport) {
  if (!by_rows) return RankSolver<T>::create(matrix, options, transport).value();
  const OwnRows<T> rows = uneven_rows_of(*matrix, transport);
  return RankSolver<T>::create_from_rows(rows.block(), options, transport).value();
}

/// This rank's rows of x, for right-hand sides that are the same for any number of ranks.
template <class T>
std::vector<T> x_of(RankSolver<T>& solver, index_t num_rhs, Operation operation = Operation::plain) {
  const DenseMatrix<T> b = rows_of(some_right_hand_sides<T>(solver.size(), num_rhs), solver.first_row(),
                                   solver.num_rows());
  DenseMatrix<T> x(solver.num_rows(), num_rhs);
  SolveRequest request;
  request.operation = operation;
  const Outcome<RankReport> answer = solver.solve_rows(b.view(), x.view(), request);
  EXPECT_TRUE(answer && answer.value().run.verify->verified);
  return x.values;
}

template <class T>
Outcome<void> refactored(RankSolver<T>& solver, const Shared<T>& matrix, bool by_rows, Transport& transport) {
  SparseMatrix<T> tripled = *matrix;
  for (T& value : tripled.values) value *= real_t<T>(3);
  if (!by_rows) return solver.refactor(std::make_shared<const SparseMatrix<T>>(std::move(tripled)));
  const OwnRows<T> rows = uneven_rows_of(tripled, transport);
  return solver.refactor_rows(rows.block());
}

template <class T>
void expect_same_report(const RankReport& before, const RankReport& after) {
  EXPECT_EQ(before.run.factorize->kind, after.run.factorize->kind);
  EXPECT_EQ(before.run.factorize->scalar, after.run.factorize->scalar);
  EXPECT_EQ(before.run.factorize->memory_bytes, after.run.factorize->memory_bytes);
  EXPECT_EQ(before.run.analyze->flops, after.run.analyze->flops);
  EXPECT_EQ(before.run.matrix.symmetry, after.run.matrix.symmetry);
  EXPECT_EQ(before.grid.rows, after.grid.rows);
  EXPECT_EQ(before.layers, after.layers);
  EXPECT_EQ(before.method, after.method);
  EXPECT_EQ(before.map, after.map);
  EXPECT_EQ(before.trees, after.trees);
  EXPECT_EQ(before.replicated_bytes, after.replicated_bytes);
}

template <class T>
void expect_same_after_load(const Shared<T>& matrix, const RankSolverOptions& options, index_t ranks,
                            bool by_rows, bool map) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks, rows " + std::to_string(by_rows));
  const TemporaryFolder folder;
  run_ranks(ranks, 5, [&](Transport& transport) {
    RankSolver<T> solver = created(matrix, by_rows, options, transport);
    const std::vector<T> one = x_of(solver, 1), adjoint = x_of(solver, 3, Operation::adjoint);
    solver.save(folder.file());
    EXPECT_EQ(saved_scalar_over_ranks(folder.file(), transport), ScalarTraits<T>::type);
    RankSolver<T> again = RankSolver<T>::load(folder.file(), patient(map), transport);
    EXPECT_EQ(again.first_row(), solver.first_row());
    EXPECT_TRUE(have_same_bits(one, x_of(again, 1)));
    EXPECT_TRUE(have_same_bits(adjoint, x_of(again, 3, Operation::adjoint)));
    EXPECT_EQ(solver.slogdet(), again.slogdet());
    expect_same_report<T>(solver.report(), again.report());
    EXPECT_NE(again.report().run.notes[0].find(file_of_rank(folder.file(), transport.rank())),
              std::string::npos);
    ASSERT_TRUE(static_cast<bool>(refactored(solver, matrix, by_rows, transport)));
    ASSERT_TRUE(static_cast<bool>(refactored(again, matrix, by_rows, transport)));
    EXPECT_TRUE(have_same_bits(x_of(solver, 1), x_of(again, 1)));
  });
  EXPECT_EQ(folder.count(), ranks);
}

TEST(saved_rank_solver, gives_the_same_bits_for_any_number_of_ranks_and_either_input) {
  for (const index_t ranks : {1, 2, 3, 4, 7})
    for (const bool by_rows : {false, true}) {
      const bool map = ranks % 2 == 0;
      expect_same_after_load(generated<double>("poisson2d5", 12), busy_ranks(FactorKind::llt), ranks, by_rows,
                             map);
      expect_same_after_load(generated<double>("kkt3d", 3), busy_ranks(FactorKind::ldlt), ranks, by_rows,
                             !map);
      expect_same_after_load(generated<double>("convection_diffusion2d", 11), busy_ranks(FactorKind::lu),
                             ranks, by_rows, map);
    }
}

TEST(saved_rank_solver, gives_the_same_bits_for_every_scalar) {
  expect_same_after_load(generated<float>("poisson2d9", 9), busy_ranks(FactorKind::ldlt), 3, true, true);
  expect_same_after_load(generated<std::complex<float>>("convection_diffusion2d", 8),
                         busy_ranks(FactorKind::lu), 2, false, true);
  expect_same_after_load(generated<std::complex<double>>("poisson3d7", 4), busy_ranks(FactorKind::llt), 4,
                         true, false);
}

TEST(saved_rank_solver, keeps_grid_map_and_layers) {
  const auto matrix = generated<double>("convection_diffusion2d", 12);
  RankSolverOptions options = busy_ranks(FactorKind::lu);
  for (const ProcessGrid grid : {ProcessGrid{1, 7}, {7, 1}, {1, 3}, {3, 1}}) {
    options.grid = grid;
    options.map = grid.rows == 1 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube;
    options.trees = grid.rows == 1 ? TreeShape::flat : TreeShape::binary;
    expect_same_after_load(matrix, options, grid.num_ranks(), true, true);
  }
  for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
    for (const index_t layers : {2, 3}) {
      options.grid = {2, 1};
      options.layers = layers;
      options.layered_method = method;
      for (const FactorKind kind : {FactorKind::lu, FactorKind::ldlt}) {
        options.kind = kind;
        expect_same_after_load(generated<double>(kind == FactorKind::lu ? "convection_diffusion2d"
                                                                        : "poisson2d5", 12),
                               options, 2 * layers, layers == 2, true);
      }
    }
}

TEST(saved_rank_solver, keeps_the_layout_that_rank_0_chose) {
  RankSolverOptions options = busy_ranks(FactorKind::llt);
  options.choose_layout = [](const SymbolicFactor&, index_t, int) {
    return RankLayout{{{1, 2}, 2}, PlacementMap::block_cyclic, LayeredMethod::baseline_3d, 2};
  };
  expect_same_after_load(generated<double>("poisson2d5", 12), options, 4, false, true);
}

TEST(saved_rank_solver, has_more_ranks_than_rows_and_whole_subtrees) {
  RankSolverOptions options = busy_ranks(FactorKind::lu);
  options.whole.kept = true;
  expect_same_after_load(matrix_of<double>({{4}}), options, 4, true, true);
  expect_same_after_load(matrix_of<double>({{4, 1}, {2, 3}}), options, 7, false, true);
  expect_same_after_load(matrix_of<double>({}), options, 3, false, true);
  expect_same_after_load(generated<double>("convection_diffusion2d", 40), options, 3, true, true);
}

TEST(saved_rank_solver, solves_as_well_as_one_machine) {
  const auto matrix = generated<double>("convection_diffusion2d", 15);
  Solver<double> alone = Solver<double>::create(matrix, quiet_options()).value();
  const DenseMatrix<double> b = some_right_hand_sides<double>(matrix->rows(), 1);
  DenseMatrix<double> x(matrix->rows(), 1);
  const double expected = alone.solve(b.view(), x.view()).value().verify->backward_error;
  const TemporaryFolder folder;
  run_ranks(3, 1, [&](Transport& transport) {
    created(matrix, true, busy_ranks(FactorKind::lu), transport).save(folder.file());
    RankSolver<double> again = RankSolver<double>::load(folder.file(), patient(), transport);
    const DenseMatrix<double> own = rows_of(b, again.first_row(), again.num_rows());
    DenseMatrix<double> y(again.num_rows(), 1);
    const auto report = again.solve_rows(own.view(), y.view()).value();
    EXPECT_LE(report.run.verify->backward_error, 10 * expected + 1e-15);
    for (index_t k = 0; k < y.rows; ++k)
      EXPECT_NEAR(y.values[k], x.values[again.first_row() + k], 1e-11);
  });
}

/// A set of three ranks, and what becomes of it.
class SavedSet : public ::testing::Test {
 protected:
  static constexpr index_t ranks = 3;
  SavedSet() { save("set", generated<double>("poisson2d5", 6)); }
  void save(const std::string& name, const Shared<double>& matrix, index_t by = ranks) const {
    ThreadWorld world(by);
    world.run([&](Transport& transport) {
      created(matrix, true, busy_ranks(FactorKind::llt), transport).save(folder_.file(name));
    });
  }
  template <class T = double>
  std::string refusal(index_t by = ranks, bool check = true) const {
    return said_by_all<IoError>(by, [&](Transport& transport) {
      (void)RankSolver<T>::load(folder_.file(), patient(true, check), transport);
    });
  }
  std::string file(index_t rank, const std::string& name = "set") const {
    return file_of_rank(folder_.file(name), rank);
  }
  std::string bytes(index_t rank, const std::string& name = "set") const {
    std::ifstream from(file(rank, name), std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
  }
  void put(index_t rank, std::string_view bytes) const {
    std::ofstream(file(rank), std::ios::binary | std::ios::trunc) << bytes;
  }
  const TemporaryFolder folder_;
};

TEST_F(SavedSet, loads_and_is_the_same_whenever_its_solver_is_saved) {
  EXPECT_EQ(refusal(), "");
  ThreadWorld world(ranks);
  world.run([&](Transport& transport) {
    RankSolver<double> solver = RankSolver<double>::load(folder_.file(), patient(), transport);
    solver.save(folder_.file("second"));
    solver.save(folder_.file("third"));
    EXPECT_EQ(bytes(transport.rank(), "second"), bytes(transport.rank(), "third"));
  });
}

TEST_F(SavedSet, of_another_number_of_ranks_is_refused_with_the_remedy) {
  EXPECT_EQ(refusal(2), file(0) + ": was saved by 3 ranks, but this run has 2: start as many as saved it; "
                                  "factorize the matrix again and save that");
  EXPECT_EQ(refusal(4), file(0) + ": was saved by 3 ranks, but this run has 4: start as many as saved it; "
                                  "factorize the matrix again and save that");
  save("set", generated<double>("poisson2d5", 6), 1);  // files 1 and 2 of the former set stay
  EXPECT_NE(refusal().find(file(0) + ": was saved by 1 rank, but"), std::string::npos);
  EXPECT_EQ(refusal(1), "");
}

TEST_F(SavedSet, with_a_file_of_another_set_or_rank_is_refused) {
  save("other", generated<double>("poisson2d9", 6));
  fs::copy_file(file(2, "other"), file(2), fs::copy_options::overwrite_existing);
  EXPECT_NE(refusal().find(file(2) + ": belongs to another set than " + file(0)), std::string::npos);
  fs::copy_file(file(0), file(2), fs::copy_options::overwrite_existing);
  EXPECT_NE(refusal().find(file(2) + ": was saved by rank 0 of its set"), std::string::npos);
  fs::remove(file(2));
  EXPECT_NE(refusal().find(file(2) + ": cannot be read"), std::string::npos);
}

TEST_F(SavedSet, with_a_file_that_was_cut_or_changed_is_refused) {
  const std::string whole = bytes(1);
  for (const std::size_t length : {std::size_t(0), std::size_t(100), whole.size() / 2, whole.size() - 1}) {
    put(1, std::string_view(whole).substr(0, length));
    const std::string said = refusal();
    EXPECT_EQ(said.compare(0, file(1).size(), file(1)), 0) << said;
    EXPECT_NE(said.find("factorize the matrix again"), std::string::npos) << said;
  }
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 31) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 16);
    put(1, changed);
    const std::string said = refusal();
    if (said.empty()) continue;  // between two sections, which no checksum covers
    ++refused;
    EXPECT_EQ(said.compare(0, file(1).size(), file(1)), 0) << said;
  }
  EXPECT_GT(refused, whole.size() / 31 * 3 / 4);
  put(1, whole);
  EXPECT_EQ(refusal(ranks, false), "");
}

TEST_F(SavedSet, of_another_scalar_a_newer_version_or_by_one_machine_is_refused) {
  EXPECT_EQ(refusal<float>(), file(0) + ": holds factors of float64, not of float32; load them as float64");
  {
    ArchiveWriter newer(file(2), {"rank factors", 2, ScalarType::float64, "9.9"});
    newer.finish();
  }
  EXPECT_NE(refusal().find(file(2) + ": has version 2 of its format, by Palmette 9.9"), std::string::npos);
  Solver<double>::create(generated<double>("poisson2d5", 6), quiet_options()).value().save(file(2));
  EXPECT_NE(refusal().find(file(2) + ": holds factors, not rank factors"), std::string::npos);
}

TEST_F(SavedSet, that_one_rank_cannot_write_leaves_no_files) {
  const TemporaryFolder* const folder = &folder_;
  fs::create_directories(file(1, "full"));
  const auto before = folder->count();
  const std::string said = said_by_all<IoError>(ranks, [&](Transport& transport) {
    created(generated<double>("poisson2d5", 6), true, busy_ranks(FactorKind::llt), transport)
        .save(folder->file("full"));
  });
  EXPECT_NE(said.find(file(1, "full") + ": is a folder"), std::string::npos);
  EXPECT_EQ(folder->count(), before);
}

}  // namespace
}  // namespace palmette
