// The selected inverse of the hall over ranks: that of one machine, checked, in layers too; and when entries
// of A⁻¹ come from it.
#include <gtest/gtest.h>

#include "rank_systems.hpp"
#include "singular_systems.hpp"
#include "sparse_systems.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using testing::busy_ranks;
using testing::generated;
using testing::run_ranks;
using testing::Shared;
using testing::uneven_rows_of;
using testing::with_imaginary_entries;

struct SelectedCase {
  const char* problem;
  index_t n;
  FactorKind kind;
};
constexpr SelectedCase selected_cases[] = {{"poisson2d9", 12, FactorKind::llt},
                                           {"kkt3d", 4, FactorKind::ldlt},
                                           {"convection_diffusion2d", 12, FactorKind::lu}};

template <class T>
SelectedInverse<T> of_one_machine(const Shared<T>& matrix, FactorKind kind) {
  SolverOptions alone;
  alone.kind = kind;
  alone.analyze = busy_ranks(kind).analyze;
  alone.measure = false;
  auto solver = Solver<T>::create(matrix, alone);
  return selected_inverse(solver.value()).value().inverse;
}

/// On this rank: has some of the judge's entries, all ranks together each once, also in layers; they are
/// close to the judge's.
template <class T>
void expect_selected(RankSolver<T>& solver, const SelectedInverse<T>& judge, Transport& transport) {
  const auto made = solver.selected_inverse();
  ASSERT_TRUE(made.ok());
  const InverseReport& report = made.value().report;
  EXPECT_TRUE(report.verified) << report.difference << " " << report.bound;
  EXPECT_EQ(report.checked_columns, std::min<index_t>(3, solver.size()));
  EXPECT_EQ(report.messages > 0, transport.num_ranks() > 1);
  const RankSelectedInverse<T>& inverse = made.value().inverse;
  const SparseMatrix<T> expected = judge.matrix();
  double held = 0;
  for (index_t j = 0; j < expected.cols(); ++j)
    for (offset_t k = expected.pattern.column_ptr[j]; k < expected.pattern.column_ptr[j + 1]; ++k)
      held += inverse.entry(expected.pattern.row_index[k], j).has_value() ? 1 : 0;
  EXPECT_EQ(static_cast<offset_t>(held), inverse.matrix().nnz());
  EXPECT_EQ(transport.sum(held), static_cast<double>(expected.nnz()));
  EXPECT_EQ(report.memory_bytes, judge.memory_bytes());
  ThreadTeam team(1);
  const index_t root = transport.num_ranks() > 1 ? 1 : 0;
  const SparseMatrix<T> whole = inverse.gathered(transport, team, root, 4000);
  if (transport.rank() != root) return;
  EXPECT_EQ(whole.pattern.column_ptr, expected.pattern.column_ptr);
  ASSERT_EQ(whole.pattern.row_index, expected.pattern.row_index);
  double size = 0, worst = 0;
  for (std::size_t k = 0; k < whole.values.size(); ++k) {
    size = std::max(size, double(std::abs(expected.values[k])));
    worst = std::max(worst, double(std::abs(whole.values[k] - expected.values[k])));
  }
  EXPECT_LE(worst, 1e4 * unit_roundoff<T> * size);
}

template <class T>
class RankSelectedTest : public ::testing::Test {};
TYPED_TEST_SUITE(RankSelectedTest, TestedScalars);

TYPED_TEST(RankSelectedTest, is_that_of_one_machine_for_every_kind_and_input) {
  using T = TypeParam;
  for (const SelectedCase& one : selected_cases) {
    SCOPED_TRACE(one.problem);
    const Shared<T> matrix = with_imaginary_entries(generated<T>(one.problem, one.n));
    const SelectedInverse<T> judge = of_one_machine(matrix, one.kind);
    for (const index_t ranks : {1, 3, 4})
      run_ranks(ranks, static_cast<std::uint64_t>(ranks), [&](Transport& transport) {
        auto whole = RankSolver<T>::create(matrix, busy_ranks(one.kind), transport);
        expect_selected(whole.value(), judge, transport);
        const auto rows = uneven_rows_of(*matrix, transport);
        auto parts = RankSolver<T>::create_from_rows(rows.block(), busy_ranks(one.kind), transport);
        expect_selected(parts.value(), judge, transport);
      });
  }
}

TEST(rank_selected, grids_layers_maps_and_whole_subtrees) {
  for (const SelectedCase& one : selected_cases) {
    const auto matrix = generated<double>(one.problem, one.n);
    const SelectedInverse<double> judge = of_one_machine(matrix, one.kind);
    for (const ProcessGrid grid : {ProcessGrid{1, 2}, {2, 1}, {2, 2}})
      for (const index_t layers : {1, 2, 3})
        for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
          for (const bool whole : {false, true}) {
            if (layers == 1 && method == LayeredMethod::baseline_3d) continue;
            SCOPED_TRACE(std::string(one.problem) + " " + std::to_string(grid.rows) + " x " +
                         std::to_string(grid.cols) + " x " + std::to_string(layers));
            run_ranks(grid.num_ranks() * layers, 5, [&](Transport& transport) {
              RankSolverOptions options = busy_ranks(one.kind);
              options.whole.kept = whole;
              options.grid = grid;
              options.layers = layers;
              options.layered_method = method;
              options.map = whole ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube;
              options.threads = 2;
              auto solver = RankSolver<double>::create(matrix, options, transport);
              expect_selected(solver.value(), judge, transport);
            });
          }
  }
}

TEST(rank_selected, of_nothing_of_one_unknown_and_of_a_diagonal) {
  run_ranks(3, 1, [&](Transport& transport) {
    const auto options = busy_ranks(FactorKind::llt);
    auto empty =
        RankSolver<double>::create(std::make_shared<const SparseMatrix<double>>(), options, transport);
    EXPECT_EQ(empty.value().selected_inverse().value().inverse.matrix().nnz(), 0);
    auto one = RankSolver<double>::create(testing::matrix_of<double>({{4}}), options, transport);
    const auto found = one.value().selected_inverse();
    const double own = found.value().inverse.entry(0, 0).value_or(0);
    EXPECT_EQ(transport.sum(own), 0.25);
    EXPECT_TRUE(found.value().report.verified);
    const auto diagonal = testing::matrix_of<double>({{2, 0, 0}, {0, 4, 0}, {0, 0, 8}});
    auto solver = RankSolver<double>::create(diagonal, options, transport);
    const SparseMatrix<double> part = solver.value().selected_inverse().value().inverse.matrix();
    double sum = 0;
    for (const double value : part.values) sum += value;
    EXPECT_NEAR(transport.sum(sum), 0.875, 1e-14);
  });
}

// A few entries are solved for; all of the diagonal comes from the recurrence.
TEST(rank_selected, gives_entries_where_that_needs_fewer_flops) {
  const auto matrix = generated<double>("poisson2d5", 30);
  const SelectedInverse<double> judge = of_one_machine(matrix, FactorKind::llt);
  run_ranks(3, 2, [&](Transport& transport) {
    auto solver = RankSolver<double>::create(matrix, busy_ranks(FactorKind::llt), transport);
    const std::vector<index_t> one{17}, far{899};
    const InverseReport few = solver.value().inverse_entries(one, one).value().report;
    EXPECT_EQ(few.flops, 0);
    EXPECT_EQ(few.messages, 0);
    EXPECT_EQ(few.solved_columns, 1);
    const auto diagonal = solver.value().inverse_diagonal();
    EXPECT_TRUE(diagonal.value().report.verified);
    EXPECT_EQ(diagonal.value().report.solved_columns, 0);
    EXPECT_GT(diagonal.value().report.flops, 0);
    std::vector<index_t> rows(900), columns(900);
    for (index_t k = 0; k < 900; ++k) {
      EXPECT_NEAR(diagonal.value().values[k], *judge.entry(k, k), 1e-12);
      rows[k] = columns[k] = k;
    }
    rows.push_back(0), columns.push_back(899);
    ASSERT_FALSE(judge.entry(0, 899).has_value());
    const auto mixed = solver.value().inverse_entries(rows, columns);
    EXPECT_TRUE(mixed.value().report.verified);
    EXPECT_EQ(mixed.value().report.solved_columns, 1);
    EXPECT_EQ(mixed.value().values[5], diagonal.value().values[5]);
    EXPECT_EQ(
        mixed.value().values[900],
        solver.value().inverse_entries({rows.data() + 900, 1}, {columns.data() + 900, 1}).value().values[0]);
  });
}

TEST(rank_selected, follows_a_refactor_and_tells_of_replaced_pivots) {
  const auto matrix = generated<double>("convection_diffusion2d", 8);
  SparseMatrix<double> twice = *matrix;
  for (double& value : twice.values) value *= 2;
  const SelectedInverse<double> judge =
      of_one_machine(std::make_shared<const SparseMatrix<double>>(twice), FactorKind::lu);
  const auto shifted = testing::shifted_grid(12);
  run_ranks(3, 4, [&](Transport& transport) {
    auto solver = RankSolver<double>::create(matrix, busy_ranks(FactorKind::lu), transport);
    ASSERT_TRUE(solver.value().refactor(std::make_shared<const SparseMatrix<double>>(twice)).ok());
    expect_selected(solver.value(), judge, transport);
    RankSolverOptions options = busy_ranks(FactorKind::ldlt);
    options.tiny_pivot = 0.6;
    auto replaced = RankSolver<double>::create(shifted, options, transport);
    ASSERT_GT(replaced.value().report().run.factorize->pivots.perturbed, 0);
    const auto made = replaced.value().selected_inverse();
    EXPECT_FALSE(made.value().report.verified);
    EXPECT_NE(made.value().report.notes[0].find("pivots were replaced"), std::string::npos);
    const auto diagonal = replaced.value().inverse_diagonal();
    EXPECT_TRUE(diagonal.value().report.verified);
    EXPECT_EQ(diagonal.value().report.flops, 0) << "solved for";
  });
}

TEST(rank_selected, unlike_requests_are_refused_on_all_ranks) {
  const auto matrix = generated<double>("poisson2d5", 8);
  const std::string said = testing::said_by_all<Error>(3, [&](Transport& transport) {
    auto solver = RankSolver<double>::create(matrix, busy_ranks(FactorKind::llt), transport);
    InverseRequest request;
    request.check_columns = transport.rank();
    (void)solver.value().selected_inverse(request);
  });
  EXPECT_NE(said.find("the request"), std::string::npos) << said;
}

TEST(rank_selected, of_ranks_with_devices) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const auto matrix = generated<double>("poisson2d5", 8);
  const SelectedInverse<double> judge = of_one_machine(matrix, FactorKind::llt);
  run_ranks(2, 1, [&](Transport& transport) {
    RankSolverOptions options = busy_ranks(FactorKind::llt);
    options.device = open_device_of_rank("emulated", transport.rank());
    auto solver = RankSolver<double>::create(matrix, options, transport);
    expect_selected(solver.value(), judge, transport);
  });
}

}  // namespace
}  // namespace palmette
