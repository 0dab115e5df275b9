// Over ranks: signs that replaced pivots left open are decided, null spaces and least-norm solutions are
// those of one machine, with the same bits for any grid and input.
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>

#include "rank_systems.hpp"
#include "singular_systems.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

/// The Laplacian of a grid with free ends and of a path beside it: two null vectors. times: scales rows, so
/// that the matrix is not symmetric.
template <class T>
Shared<T> two_free_parts(index_t n, bool is_symmetric) {
  Triplets<T> entries{n * n + n, n * n + n, {}, {}, {}};
  const auto couple = [&](index_t i, index_t j) {
    const auto add = [&](index_t row, index_t column, double value) {
      entries.row.push_back(row);
      entries.column.push_back(column);
      entries.value.push_back(T(real_t<T>(is_symmetric ? value : value * (1 + row % 4))));
    };
    add(i, i, 1);
    add(j, j, 1);
    add(i, j, -1);
    add(j, i, -1);
  };
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      if (i + 1 < n) couple(i * n + j, (i + 1) * n + j);
      if (j + 1 < n) couple(i * n + j, i * n + j + 1);
    }
  for (index_t i = n * n; i + 1 < n * n + n; ++i) couple(i, i + 1);
  return std::make_shared<const SparseMatrix<T>>(from_triplets(entries));
}

template <class T>
RankSolver<T> over_ranks(const Shared<T>& matrix, const RankSolverOptions& options, bool by_rows,
                         Transport& transport) {
  const OwnRows<T> own = uneven_rows_of(*matrix, transport);
  return by_rows ? RankSolver<T>::create_from_rows(own.block(), options, transport).value()
                 : RankSolver<T>::create(matrix, options, transport).value();
}

TEST(rank_inertia, is_decided_where_pivots_were_replaced) {
  const auto matrix = shifted_grid(12);
  const index_t negative = negative_eigenvalues(12);
  for (const index_t ranks : {1, 3, 4})
    for (const bool by_rows : {false, true})
      run_ranks(ranks, 7, [&](Transport& transport) {
        RankSolverOptions options = busy_ranks(FactorKind::ldlt);
        options.tiny_pivot = 0.6;
        auto solver = over_ranks(matrix, options, by_rows, transport);
        EXPECT_GT(solver.report().run.factorize->pivots.perturbed, 5);
        EXPECT_GT(solver.report().run.factorize->pivots.inertia.zero, 0);
        for (int again = 0; again < 2; ++again) {
          const Inertia found = solver.inertia();
          EXPECT_EQ(found.positive, 144 - negative);
          EXPECT_EQ(found.negative, negative);
          EXPECT_EQ(found.zero, 0);
        }
        const FactorizeReport factorized = *solver.report().run.factorize;
        ASSERT_TRUE(factorized.capacitance.has_value());
        EXPECT_EQ(factorized.capacitance->order, factorized.pivots.perturbed);
        EXPECT_EQ(factorized.pivots.inertia.negative, negative);
        SparseMatrix<double> opposite = *matrix;
        for (double& value : opposite.values) value = -value;
        if (by_rows) return;
        ASSERT_TRUE(solver.refactor(std::make_shared<const SparseMatrix<double>>(opposite)).ok());
        EXPECT_EQ(solver.inertia().positive, negative);
      });
}

TEST(rank_inertia, of_kkt_systems_is_decided_over_layers_and_from_files) {
  const auto matrix = constraints_first(30, 70);
  const auto folder = std::filesystem::temp_directory_path() / "palmette_rank_inertia";
  std::filesystem::create_directories(folder);
  run_ranks(4, 5, [&](Transport& transport) {
    RankSolverOptions options = busy_ranks(FactorKind::ldlt);
    options.ordering = OrderingMethod::natural;
    options.analyze.max_width = 1;  // a zero pivot has no partner in its supernode
    options.layers = 2;
    auto solver = over_ranks(matrix, options, false, transport);
    EXPECT_GT(solver.report().run.factorize->pivots.perturbed, 10);
    solver.save((folder / "set").string());
    auto loaded = RankSolver<double>::load((folder / "set").string(), {}, transport);
    for (RankSolver<double>* const one : {&solver, &loaded}) {
      EXPECT_EQ(one->inertia().positive, 70);
      EXPECT_EQ(one->inertia().negative, 30);
    }
  });
  std::filesystem::remove_all(folder);
}

// One sign stays open: the matrix is singular, and other pivots were replaced too.
TEST(rank_inertia, is_the_same_from_files_that_were_saved_after_it_was_decided) {
  const auto matrix = path(30);
  const auto folder = std::filesystem::temp_directory_path() / "palmette_rank_decided";
  std::filesystem::create_directories(folder);
  run_ranks(3, 5, [&](Transport& transport) {
    RankSolverOptions options = busy_ranks(FactorKind::ldlt);
    options.tiny_pivot = 0.6;
    auto solver = over_ranks(matrix, options, true, transport);
    const PivotReport counted = solver.report().run.factorize->pivots;
    EXPECT_GT(counted.perturbed, 1);
    const Inertia before = solver.inertia();
    EXPECT_EQ(before.zero, 1);
    EXPECT_EQ(solver.report().run.factorize->pivots.inertia.zero, 1);
    solver.save((folder / "set").string());
    auto loaded = RankSolver<double>::load((folder / "set").string(), {}, transport);
    EXPECT_EQ(loaded.report().run.factorize->pivots.inertia.zero, counted.inertia.zero);
    for (RankSolver<double>* const one : {&solver, &loaded}) {
      const Inertia found = one->inertia();
      EXPECT_EQ(found.positive, 29);
      EXPECT_EQ(found.negative, 0);
      EXPECT_EQ(found.positive + found.negative + found.zero, 30);
    }
  });
  std::filesystem::remove_all(folder);
}

template <class T>
class RankNullSpace : public ::testing::Test {};
TYPED_TEST_SUITE(RankNullSpace, TestedScalars);

TYPED_TEST(RankNullSpace, and_least_norm_solutions_are_those_of_one_machine) {
  using T = TypeParam;
  const double tolerance = std::is_same_v<real_t<T>, float> ? 1e-2 : 1e-8;
  for (const bool is_symmetric : {true, false}) {
    const auto matrix = two_free_parts<T>(6, is_symmetric);
    const DenseMatrix<T> b = some_right_hand_sides<T>(42, 2);
    SolverOptions alone = quiet_options();
    alone.singular = SingularAnswer::least_norm;
    DenseMatrix<T> expected(42, 2);
    ASSERT_TRUE(Solver<T>::create(matrix, alone).value().solve(b.view(), expected.view()).ok());
    for (const bool by_rows : {false, true})
      run_ranks(3, 9, [&](Transport& transport) {
        RankSolverOptions options = busy_ranks({});
        options.singular = SingularAnswer::least_norm;
        auto solver = over_ranks(matrix, options, by_rows, transport);
        const NullBasis<T> basis = solver.null_space().value();
        EXPECT_EQ(basis.dimension(), 2);
        EXPECT_TRUE(basis.verified) << basis.residual;
        DenseMatrix<T> x = rows_of(b, solver.first_row(), solver.num_rows());
        const RankReport report = solver.solve_rows(std::as_const(x).view(), x.view()).value();
        EXPECT_EQ(report.run.verify->null_directions, 2);
        EXPECT_FALSE(report.run.verify->verified);
        EXPECT_LT(*report.run.verify->least_squares_error, 100 * unit_roundoff<T>);
        for (index_t j = 0; j < 2; ++j)
          for (index_t i = 0; i < x.rows; ++i)
            EXPECT_LT(std::abs(x.view()(i, j) - expected.view()(solver.first_row() + i, j)), tolerance);
      });
  }
}

TEST(rank_null_space, has_the_same_bits_for_any_grid_order_of_delivery_and_input) {
  const auto matrix = two_free_parts<double>(7, false);
  const DenseMatrix<double> b = some_right_hand_sides<double>(56, 1);
  std::vector<double> first_basis, first_x;
  for (const index_t ranks : {1, 2, 3, 5, 7})
    for (const bool by_rows : {false, true})
      run_ranks(ranks, static_cast<std::uint64_t>(ranks), [&](Transport& transport) {
        RankSolverOptions options = busy_ranks({});
        options.singular = SingularAnswer::warn;
        if (ranks == 5) options.map = PlacementMap::block_cyclic;
        auto solver = over_ranks(matrix, options, by_rows, transport);
        const NullBasis<double> basis = solver.null_space().value();
        DenseMatrix<double> x = rows_of(b, solver.first_row(), solver.num_rows());
        EXPECT_TRUE(solver.solve_rows(std::as_const(x).view(), x.view()).ok());
        if (ranks == 1 && !by_rows) {
          first_basis = basis.basis.values;
          first_x = x.values;
          return;
        }
        EXPECT_TRUE(have_same_bits(first_basis, basis.basis.values)) << ranks << by_rows;
        EXPECT_TRUE(x.values.empty() || std::memcmp(first_x.data() + solver.first_row(), x.values.data(),
                                                    x.values.size() * sizeof(double)) == 0)
            << ranks << by_rows;
      });
}

TEST(rank_null_space, is_empty_for_regular_matrices_and_refused_on_all_ranks_unless_asked_for) {
  const auto regular = generated<double>("poisson2d5", 5);
  const auto free = path(30);
  std::vector<std::string> said(3);
  run_ranks(3, 1, [&](Transport& transport) {
    auto solver = over_ranks(regular, busy_ranks({}), true, transport);
    EXPECT_EQ(solver.null_space().value().dimension(), 0);
    auto empty = over_ranks(matrix_of<double>({}), busy_ranks({}), false, transport);
    EXPECT_EQ(empty.null_space().value().dimension(), 0);
    auto singular = over_ranks(free, busy_ranks({}), false, transport);
    const DenseMatrix<double> b = some_right_hand_sides<double>(30, 1);
    DenseMatrix<double> x(30, 1);
    const auto answer = singular.solve(b.view(), x.view());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.failure().kind, FailureKind::numerically_singular);
    said[transport.rank()] = answer.failure().message;
    EXPECT_EQ(singular.null_space().value().dimension(), 1);
  });
  EXPECT_EQ(said, std::vector<std::string>(3, said[0]));
}

TEST(rank_null_space, of_more_than_sixteen_dimensions_is_a_failure_on_all_ranks) {
  Triplets<double> entries{60, 60, {}, {}, {}};
  for (index_t pair = 0; pair < 30; ++pair)
    for (const index_t i : {2 * pair, 2 * pair + 1})
      for (const index_t j : {2 * pair, 2 * pair + 1}) {
        entries.row.push_back(i);
        entries.column.push_back(j);
        entries.value.push_back(1);
      }
  const auto matrix = std::make_shared<const SparseMatrix<double>>(from_triplets(entries));
  run_ranks(3, 1, [&](Transport& transport) {
    auto solver = over_ranks<double>(matrix, busy_ranks(FactorKind::ldlt), true, transport);
    const auto found = solver.null_space();
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.failure().message.find("more than 16 dimensions"), std::string::npos);
  });
}

}  // namespace
}  // namespace palmette
