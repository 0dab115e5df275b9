// Solves for single entries over ranks: those of whole solutions over these ranks, checked, the same on all.
#include <gtest/gtest.h>

#include "rank_systems.hpp"
#include "singular_systems.hpp"
#include "sparse_systems.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using testing::busy_ranks;
using testing::dense_of;
using testing::generated;
using testing::run_ranks;
using testing::said_by_all;
using testing::Shared;
using testing::some_rows;
using testing::sparse_columns;
using testing::uneven_rows_of;
using testing::with_imaginary_entries;

struct RankCase {
  const char* problem;
  index_t n;
  FactorKind kind;
};
constexpr RankCase rank_cases[] = {{"poisson2d9", 14, FactorKind::llt},
                                   {"kkt3d", 4, FactorKind::ldlt},
                                   {"convection_diffusion2d", 12, FactorKind::lu}};
constexpr Operation all_operations[] = {Operation::plain, Operation::transpose, Operation::adjoint};

template <class T>
RankSolver<T> made(Outcome<RankSolver<T>> solver) {
  EXPECT_TRUE(solver.ok());
  return std::move(solver).value();
}

template <class T>
DenseMatrix<T> whole_solution(RankSolver<T>& solver, Operation operation, const SparseMatrix<T>& b) {
  DenseMatrix<T> x = dense_of(b);
  SolveRequest whole;
  whole.operation = operation;
  whole.max_refine_steps = 0;
  const index_t first = solver.first_row(), count = solver.num_rows();
  if (count == b.rows()) {
    EXPECT_TRUE(solver.solve(std::as_const(x).view(), x.view(), whole).ok());
    return x;
  }
  DenseMatrix<T> own = testing::rows_of(x, first, count);
  EXPECT_TRUE(solver.solve_rows(std::as_const(own).view(), own.view(), whole).ok());
  return own;
}

template <class T>
void expect_verified(const Outcome<SolvedEntries<T>>& solved,
                     SolveMethod method = SolveMethod::message_driven) {
  ASSERT_TRUE(solved.ok());
  const EntryReport& report = solved.value().report;
  EXPECT_TRUE(report.verified) << report.backward_error;
  EXPECT_FALSE(report.solved_whole);
  EXPECT_EQ(report.method, method);
  EXPECT_LE(report.bytes, report.whole_bytes);
  EXPECT_LE(report.messages, report.whole_messages);
  EXPECT_LE(report.message_bytes, report.whole_message_bytes);
}

/// On this rank. The whole matrix is on all.
template <class T>
void expect_entries(RankSolver<T>& solver, Operation operation, std::uint64_t seed) {
  const index_t n = solver.size();
  const auto b = sparse_columns<T>(n, 1 + static_cast<index_t>(seed % 4), 2, seed);
  const std::vector<index_t> wanted = some_rows(n, 4, seed + 1);
  EntryRequest request;
  request.operation = operation;
  const auto solved = solver.solve_entries(b, wanted, request);
  expect_verified(solved);
  const DenseMatrix<T> x = whole_solution(solver, operation, b);
  for (index_t j = 0; j < b.cols(); ++j)
    for (std::size_t k = 0; k < wanted.size(); ++k)
      ASSERT_EQ(solved.value().x.view()(static_cast<index_t>(k), j), x.view()(wanted[k], j)) << wanted[k];
}

/// Each rank passes its rows of b, and wants rows of its own and others.
template <class T>
void expect_own_entries(RankSolver<T>& solver, const Transport& transport, Operation operation,
                        std::uint64_t seed) {
  const index_t n = solver.size(), first = solver.first_row(), count = solver.num_rows();
  const auto b = sparse_columns<T>(n, 3, 2, seed);
  Triplets<T> mine{count, 3, {}, {}, {}};
  for (index_t j = 0; j < 3; ++j)
    for (offset_t e = b.pattern.column_ptr[j]; e < b.pattern.column_ptr[j + 1]; ++e)
      if (const index_t row = b.pattern.row_index[e]; row >= first && row < first + count)
        mine.row.push_back(row - first), mine.column.push_back(j), mine.value.push_back(b.values[e]);
  std::vector<index_t> wanted;
  for (index_t k = 0; k < count; k += 3) wanted.push_back(first + count - 1 - k);
  EntryRequest request;
  request.operation = operation;
  const auto solved = solver.solve_entries_rows(from_triplets(mine), wanted, request);
  expect_verified(solved);
  const DenseMatrix<T> x = whole_solution(solver, operation, b);
  for (index_t j = 0; j < 3; ++j)
    for (std::size_t k = 0; k < wanted.size(); ++k)
      ASSERT_EQ(solved.value().x.view()(static_cast<index_t>(k), j), x.view()(wanted[k] - first, j))
          << "row " << wanted[k] << " on rank " << transport.rank();
}

template <class T>
class RankEntriesTest : public ::testing::Test {};
TYPED_TEST_SUITE(RankEntriesTest, TestedScalars);

TYPED_TEST(RankEntriesTest, are_those_of_whole_solutions_for_every_kind_operation_and_number_of_ranks) {
  using T = TypeParam;
  for (const RankCase& one : rank_cases) {
    SCOPED_TRACE(one.problem);
    const Shared<T> matrix = with_imaginary_entries(generated<T>(one.problem, one.n));
    for (const index_t ranks : {1, 2, 3, 5})
      run_ranks(ranks, static_cast<std::uint64_t>(ranks), [&](Transport& transport) {
        auto whole = made(RankSolver<T>::create(matrix, busy_ranks(one.kind), transport));
        for (const Operation operation : all_operations)
          for (const std::uint64_t seed : {1, 2}) expect_entries(whole, operation, seed);
        const auto rows = uneven_rows_of(*matrix, transport);
        auto parts = made(RankSolver<T>::create_from_rows(rows.block(), busy_ranks(one.kind), transport));
        for (const Operation operation : all_operations) expect_own_entries(parts, transport, operation, 3);
      });
  }
}

TEST(rank_entries, whole_subtrees_grids_layers_and_threads) {
  const std::pair<index_t, index_t> layers_and_groups[] = {{1, 1}, {1, 3}, {2, 1}, {2, 2}};
  const auto matrix = generated<double>("poisson2d5", 40);
  for (const ProcessGrid grid : {ProcessGrid{1, 3}, {3, 1}, {2, 2}})
    for (const auto& [layers, groups] : layers_and_groups)
      run_ranks(grid.num_ranks() * layers, 5, [&, layers = layers, groups = groups](Transport& transport) {
        RankSolverOptions options = busy_ranks(FactorKind::llt);
        options.whole.kept = true;
        options.grid = grid;
        options.layers = layers;
        options.threads = 2;
        options.rhs_groups = groups;
        auto solver = made(RankSolver<double>::create(matrix, options, transport));
        const auto b = sparse_columns<double>(1600, 40, 5, 9);
        const std::vector<index_t> wanted = some_rows(1600, 200, 2);
        const auto solved = solver.solve_entries(b, wanted);
        ASSERT_TRUE(solved.ok());
        expect_verified(solved, layers == 1 ? SolveMethod::message_driven : SolveMethod::one_sync_3d);
        const DenseMatrix<double> x = whole_solution(solver, Operation::plain, b);
        for (index_t j = 0; j < 40; ++j)
          for (index_t k = 0; k < 200; ++k) ASSERT_EQ(solved.value().x.view()(k, j), x.view()(wanted[k], j));
      });
}

// One entry, far from most: little is read, and few messages are sent.
TEST(rank_entries, factor_and_messages_follow_the_branches) {
  const auto matrix = generated<double>("poisson2d5", 100);
  for (const index_t ranks : {2, 4})
    run_ranks(ranks, 1, [&](Transport& transport) {
      RankSolverOptions options = busy_ranks(FactorKind::llt);
      options.whole.kept = true;
      auto solver = made(RankSolver<double>::create(matrix, options, transport));
      const auto b = from_triplets(Triplets<double>{10000, 1, {3333}, {0}, {1.0}});
      EntryRequest unchecked;
      unchecked.check = false;
      const EntryReport one = solver.solve_entries(b, std::vector<index_t>{3333}, unchecked).value().report;
      EXPECT_LT(one.bytes, 0.3 * one.whole_bytes);
      EXPECT_LT(one.messages, 0.5 * one.whole_messages);
      EXPECT_LT(one.message_bytes, 0.5 * one.whole_message_bytes);
      EXPECT_FALSE(one.verified);
      const auto none = solver.solve_entries(SparseMatrix<double>{b.pattern, {0.0}}, {}, unchecked);
      EXPECT_GT(none.value().report.messages, 0);
      const auto empty = from_triplets(Triplets<double>{10000, 1, {}, {}, {}});
      EXPECT_EQ(solver.solve_entries(empty, {}, unchecked).value().report.messages, 0);
      std::vector<index_t> all(10000);
      for (index_t k = 0; k < 10000; ++k) all[k] = k;
      const EntryReport every = solver.solve_entries(b, all).value().report;
      EXPECT_GT(every.bytes, 0.45 * every.whole_bytes);
      EXPECT_TRUE(every.verified);
    });
}

TEST(rank_entries, empty_matrices_and_more_ranks_than_supernodes) {
  run_ranks(3, 1, [&](Transport& transport) {
    const auto nothing = std::make_shared<const SparseMatrix<double>>();
    auto empty = made(RankSolver<double>::create(nothing, busy_ranks(FactorKind::llt), transport));
    EXPECT_EQ(empty.solve_entries(SparseMatrix<double>{}, {}).value().x.values.size(), 0u);
    auto one = made(RankSolver<double>::create(testing::matrix_of<double>({{4}}), busy_ranks(FactorKind::llt),
                                               transport));
    const auto b = from_triplets(Triplets<double>{1, 1, {0}, {0}, {8.0}});
    const auto solved = one.solve_entries(b, std::vector<index_t>{0, 0});
    EXPECT_EQ(solved.value().x.values, (std::vector<double>{2, 2}));
    EXPECT_TRUE(solved.value().report.verified);
  });
}

TEST(rank_entries, devices_solve_whole_and_say_so) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const auto matrix = generated<double>("poisson2d5", 8);
  run_ranks(2, 1, [&](Transport& transport) {
    RankSolverOptions options = busy_ranks(FactorKind::llt);
    options.device = open_device_of_rank("emulated", transport.rank());
    auto solver = made(RankSolver<double>::create(matrix, options, transport));
    const auto b = sparse_columns<double>(64, 2, 1, 1);
    const auto solved = solver.solve_entries(b, std::vector<index_t>{7});
    const EntryReport& report = solved.value().report;
    EXPECT_TRUE(report.solved_whole);
    EXPECT_TRUE(report.verified);
    ASSERT_FALSE(report.notes.empty());
    EXPECT_NE(report.notes[0].find("devices"), std::string::npos);
    const DenseMatrix<double> x = whole_solution(solver, Operation::plain, b);
    EXPECT_NEAR(solved.value().x.view()(0, 1), x.view()(7, 1), 1e-12);
  });
}

TEST(rank_entries, factors_with_replaced_pivots_solve_whole_and_say_so) {
  using Complex = std::complex<double>;
  const SparseMatrix<double> grid = *testing::shifted_grid(12);
  const auto matrix =
      with_imaginary_entries(std::make_shared<const SparseMatrix<Complex>>(convert<Complex>(grid)));
  for (const index_t ranks : {1, 3})
    run_ranks(ranks, 2, [&](Transport& transport) {
      RankSolverOptions options = busy_ranks(FactorKind::ldlt);
      options.tiny_pivot = 0.6;
      auto solver = made(RankSolver<Complex>::create(matrix, options, transport));
      ASSERT_GT(solver.report().run.factorize->pivots.perturbed, 0);
      const auto b = sparse_columns<Complex>(matrix->rows(), 2, 1, 1);
      const std::vector<index_t> wanted{7, 2};
      const auto solved = solver.solve_entries(b, wanted);
      ASSERT_TRUE(solved.ok());
      const EntryReport& report = solved.value().report;
      EXPECT_TRUE(report.solved_whole);
      EXPECT_TRUE(report.verified) << report.backward_error;
      EXPECT_EQ(report.notes, std::vector<std::string>{"solved whole: pivots were replaced"});
      EXPECT_EQ(report.messages, 0);
      EXPECT_EQ(report.bytes, report.whole_bytes);
      auto x = dense_of(b);
      EXPECT_TRUE(solver.solve(std::as_const(x).view(), x.view()).ok());
      for (index_t k = 0; k < 2; ++k)
        EXPECT_LT(std::abs(solved.value().x.view()(k, 1) - x.view()(wanted[k], 1)), 1e-8);
    });
}

TEST(rank_entries, belong_to_the_values_of_the_last_refactor) {
  const auto matrix = generated<double>("convection_diffusion2d", 12);
  SparseMatrix<double> twice = *matrix;
  for (double& value : twice.values) value *= 2;
  run_ranks(3, 4, [&](Transport& transport) {
    auto solver = made(RankSolver<double>::create(matrix, busy_ranks(FactorKind::lu), transport));
    const auto b = sparse_columns<double>(matrix->rows(), 3, 2, 1);
    const std::vector<index_t> wanted = some_rows(matrix->rows(), 9, 6);
    const auto before = solver.solve_entries(b, wanted);
    expect_verified(before);
    ASSERT_TRUE(solver.refactor(std::make_shared<const SparseMatrix<double>>(twice)).ok());
    const auto after = solver.solve_entries(b, wanted);
    expect_verified(after);
    for (std::size_t k = 0; k < before.value().x.values.size(); ++k)
      EXPECT_NEAR(after.value().x.values[k], before.value().x.values[k] / 2,
                  1e-12 * std::abs(before.value().x.values[k]));
    expect_entries(solver, Operation::plain, 5);
  });
}

TEST(rank_entries, of_the_inverse_are_those_of_one_machine) {
  for (const RankCase& one : rank_cases) {
    const auto matrix = generated<double>(one.problem, one.n);
    SolverOptions alone;
    alone.kind = one.kind;
    alone.measure = false;
    auto judge = Solver<double>::create(matrix, alone);
    const index_t n = matrix->rows();
    std::vector<index_t> rows = some_rows(n, 150, 3), columns = some_rows(n, 150, 4);
    const auto expected = inverse_entries<double>(judge.value(), rows, columns);
    const auto diagonal = inverse_diagonal(judge.value());
    for (const index_t ranks : {1, 2, 3})
      run_ranks(ranks, 7, [&](Transport& transport) {
        const auto mine = uneven_rows_of(*matrix, transport);
        auto solver =
            made(RankSolver<double>::create_from_rows(mine.block(), busy_ranks(one.kind), transport));
        const auto found = solver.inverse_entries(rows, columns);
        ASSERT_TRUE(found.ok());
        const InverseReport& report = found.value().report;
        EXPECT_TRUE(report.verified) << report.difference << " " << report.bound;
        EXPECT_EQ(report.checked_columns, 3);
        EXPECT_GT(report.solved_columns, 64);
        double largest = 0;
        for (const double value : diagonal.value().values) largest = std::max(largest, std::abs(value));
        for (std::size_t k = 0; k < rows.size(); ++k)
          ASSERT_NEAR(found.value().values[k], expected.value().values[k], 1e-10 * largest) << k;
        const auto all = solver.inverse_diagonal();
        EXPECT_TRUE(all.value().report.verified);
        EXPECT_EQ(all.value().report.solved_columns, 0) << "by the selected inverse";
        for (index_t k = 0; k < n; ++k)
          ASSERT_NEAR(all.value().values[k], diagonal.value().values[k], 1e-10 * largest) << k;
        EXPECT_TRUE(solver.inverse_entries({}, {}).value().values.empty());
      });
  }
}

/// A rank without memory left, as soon as it is told so.
class Exhausted final : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  double sum(double value) override {
    if (is_exhausted) throw std::bad_alloc();
    return TransportWrapper::sum(value);
  }
  bool is_exhausted = false;
};

TEST(rank_entries, a_rank_without_memory_ends_the_run_for_all) {
  const auto matrix = generated<double>("poisson2d5", 8);
  ThreadWorld world(3);
  world.run([&](Transport& thread) {
    Exhausted transport(thread);
    auto solver = made(RankSolver<double>::create(matrix, busy_ranks(FactorKind::llt), transport));
    const auto b = sparse_columns<double>(64, 2, 1, 1);
    transport.is_exhausted = thread.rank() == 1;
    if (transport.is_exhausted) EXPECT_THROW((void)solver.solve_entries(b, {}), MemoryError);
    else EXPECT_THROW((void)solver.solve_entries(b, {}), BrokenRun);
  });
}

TEST(rank_entries, what_does_not_fit_is_refused_on_all_ranks) {
  const auto matrix = generated<double>("poisson2d5", 8);
  const auto refused = [&](const auto& call) {
    return said_by_all<Error>(3, [&](Transport& transport) {
      auto solver = made(RankSolver<double>::create(matrix, busy_ranks(FactorKind::llt), transport));
      call(solver, transport.rank());
    });
  };
  const auto b = sparse_columns<double>(64, 2, 1, 1);
  EXPECT_NE(refused([&](auto& solver, index_t rank) {
              (void)solver.solve_entries(b, std::vector<index_t>{rank});
            }).find("another rank"),
            std::string::npos);
  EXPECT_NE(refused([&](auto& solver, index_t) {
              (void)solver.solve_entries(b, std::vector<index_t>{64});
            }).find("row 64"),
            std::string::npos);
  EXPECT_NE(refused([&](auto& solver, index_t rank) {
              SparseMatrix<double> other = b;
              if (rank == 2) other.values[0] = std::nan("");
              (void)solver.solve_entries(other, {});
            }).find("not finite"),
            std::string::npos);
  EXPECT_NE(refused([&](auto& solver, index_t rank) {
              (void)solver.solve_entries_rows(sparse_columns<double>(64, 1 + rank, 1, 1), {});
            }).find("columns"),
            std::string::npos);
  EXPECT_NE(refused([&](auto& solver, index_t) {
              (void)solver.solve_entries_rows(sparse_columns<double>(63, 1, 1, 1), {});
            }).find("63 rows"),
            std::string::npos);
  const auto block_with_nan = said_by_all<Error>(3, [&](Transport& transport) {
    const auto rows = uneven_rows_of(*matrix, transport);
    auto solver =
        made(RankSolver<double>::create_from_rows(rows.block(), busy_ranks(FactorKind::llt), transport));
    const double value = transport.rank() == 2 ? std::nan("") : 1;
    const auto mine = solver.num_rows() == 0
                          ? SparseMatrix<double>(from_triplets(Triplets<double>{0, 1, {}, {}, {}}))
                          : from_triplets(Triplets<double>{solver.num_rows(), 1, {1}, {0}, {value}});
    EXPECT_TRUE(transport.rank() != 2 || solver.first_row() > 0);
    (void)solver.solve_entries_rows(mine, {});
  });
  const index_t row = testing::uneven_rows(64, 2, 3).first + 1;
  const std::string where = "row " + std::to_string(row) + " and column 0 is not finite";
  EXPECT_NE(block_with_nan.find(where), std::string::npos) << block_with_nan;
  const std::vector<index_t> one{0}, outside{64};
  EXPECT_NE(refused([&](auto& solver, index_t rank) {
              const std::vector<index_t> rows{rank};
              (void)solver.inverse_entries(rows, one);
            }).find("another rank"),
            std::string::npos);
  EXPECT_NE(refused([&](auto& solver, index_t) {
              (void)solver.inverse_entries(one, outside);
            }).find("outside the matrix"),
            std::string::npos);
}

}  // namespace
}  // namespace palmette
