// Entries that decay until they are subnormal: no phase keeps them, on any way through the library, and the
// caller's arithmetic stays as it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "palmette/columns/columns.hpp"
#include "tests/decaying_triangle.hpp"
#include "tests/factorize/factor_testing.hpp"
#include "systems.hpp"

namespace palmette {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)

using testing::Problem;

constexpr index_t side = 40;

/// A grid of side × side points whose inverse and factors decay by about 64 from point to point.
template <class T>
SparseMatrix<T> decaying_grid(FactorKind kind) {
  SparseMatrix<double> grid = generate({"poisson2d5", side});
  for (index_t j = 0; j < grid.cols(); ++j)
    for (offset_t entry = grid.pattern.column_ptr[j]; entry < grid.pattern.column_ptr[j + 1]; ++entry) {
      const index_t i = grid.pattern.row_index[entry];
      double& value = grid.values[entry];
      if (i == j) value = kind == FactorKind::ldlt && j % 3 == 0 ? -64 : 64;
      else if (kind == FactorKind::lu && i < j) value *= 0.75;
    }
  if (kind == FactorKind::lu) grid.symmetry = Symmetry::general;
  return convert<T>(grid);
}

template <class Values>
offset_t count(const Values& values, auto&& wanted) {
  return std::count_if(values.data(), values.data() + values.size(), wanted);
}
template <class Values>
offset_t subnormals(const Values& values) {
  return count(values, [](float value) { return std::fpclassify(value) == FP_SUBNORMAL; });
}
/// In double precision, which holds what would be subnormal in single.
template <class Values>
offset_t too_small_for_float(const Values& values) {
  return count(values, [](double value) { return std::abs(value) < 1e-38 && std::abs(value) > 1e-44; });
}

bool keeps_subnormals() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest / 2 != 0;
}

constexpr FactorKind kinds[] = {FactorKind::llt, FactorKind::ldlt, FactorKind::lu};

template <class T>
std::vector<T> first_unit_vector() {
  std::vector<T> b(side * side);
  b[0] = 1;
  return b;
}
template <class T>
DenseView<const T> column(const std::vector<T>& values) {
  const auto n = static_cast<index_t>(values.size());
  return {values.data(), n, 1, n};
}
template <class T>
DenseView<T> column(std::vector<T>& values) {
  const auto n = static_cast<index_t>(values.size());
  return {values.data(), n, 1, n};
}

TEST(subnormals, factors_have_none) {
  for (const FactorKind kind : kinds) {
    const Problem<double> exact(decaying_grid<double>(kind), kind);
    EXPECT_GT(too_small_for_float(exact.factored(kind).value().lower), 100) << "the test is empty";
    const Problem<float> problem(decaying_grid<float>(kind), kind);
    for (const int threads : {1, 3}) {
      ThreadTeam team(threads);
      const Factor<float> factor = problem.factored(kind, 0, &team).value();
      EXPECT_EQ(subnormals(factor.lower), 0) << threads << " threads";
      if (kind == FactorKind::lu) { EXPECT_EQ(subnormals(factor.upper), 0) << threads << " threads"; }
    }
    EXPECT_TRUE(keeps_subnormals());
  }
}

TEST(subnormals, changed_factors_have_none) {
  const Problem<float> problem(decaying_grid<float>(FactorKind::llt), FactorKind::llt);
  const auto factor = problem.factored(FactorKind::llt).value();
  const index_t n = problem.matrix.cols(), first = problem.symbolic->row.new_to_old()[0];
  const SparseMatrix<float> w = from_triplets(Triplets<float>{n, 1, {first}, {0}, {1.0F}});
  FactorizeMemory<float> memory;
  const auto changed = update_factor(memory, factor, w, {}).value();
  EXPECT_GT(changed.supernodes.size(), 1u) << "the test is empty";
  EXPECT_EQ(subnormals(changed.factor->lower), 0);
  EXPECT_TRUE(keeps_subnormals());
}

TEST(subnormals, progress_is_told_in_the_callers_mode) {
  const Problem<float> problem(decaying_grid<float>(FactorKind::llt), FactorKind::llt);
  int calls = 0;
  FactorizeOptions options;
  options.progress = [&](std::string_view, double) {
    ++calls;
    EXPECT_TRUE(keeps_subnormals());
  };
  EXPECT_TRUE(factorize(problem.matrix, problem.symbolic, problem.ordering, options).ok());
  EXPECT_GT(calls, 0);
}

/// A caller's own numbers are taken as they are.
TEST(subnormals, solutions_of_given_triangles_keep_theirs_by_any_method) {
  const index_t n = testing::decaying_size;
  const auto plan = plan_triangle(testing::decaying_triangle()).value();
  for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine)) {
    ThreadTeam team(2);
    std::vector<float> x(n);
    x[0] = 1;
    plan.solve(Operation::plain, column(std::as_const(x)), column(x), {method.method, &team});
    for (index_t k = 0; k < n; ++k) EXPECT_EQ(x[k], std::ldexp(1.0F, -6 * (k + 1))) << method.name;
    EXPECT_EQ(subnormals(x), 3) << method.name;
  }
}

TEST(subnormals, solutions_have_none_by_any_method) {
  for (const FactorKind kind : kinds) {
    const Problem<float> problem(decaying_grid<float>(kind), kind);
    const auto plan = plan_solve(std::make_shared<const Factor<float>>(problem.factored(kind).value()));
    const Problem<double> exact(decaying_grid<double>(kind), kind);
    std::vector<double> wide = first_unit_vector<double>();
    plan_solve(std::make_shared<const Factor<double>>(exact.factored(kind).value()))
        .solve(Operation::plain, column(std::as_const(wide)), column(wide));
    EXPECT_GT(too_small_for_float(wide), 5) << "the test is empty";
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine)) {
      ThreadTeam team(3);
      std::vector<float> x = first_unit_vector<float>();
      plan.solve(Operation::plain, column(std::as_const(x)), column(x), {method.method, &team});
      EXPECT_EQ(subnormals(x), 0) << method.name;
      EXPECT_NEAR(x[0], wide[0], 1e-6 * std::abs(wide[0]));
    }
    EXPECT_TRUE(keeps_subnormals());
  }
}

TEST(subnormals, ranks_keep_none) {
  for (const FactorKind kind : kinds) {
    const Problem<float> problem(decaying_grid<float>(kind), kind);
    const auto placement = std::make_shared<const Placement>(
        place(*problem.symbolic, nearly_square_grid(3), PlacementMap::subtree_to_subcube, {true, 40}));
    ThreadWorld world(3);
    world.run([&](Transport& transport) {
      RankFactorization<float> part({problem.matrix, problem.symbolic, placement, problem.ordering},
                                    {kind, 0, 1, BlockDelivery::push}, transport);
      ThreadTeam team(1);
      drive(part.program(), transport, team, {60});
      EXPECT_EQ(transport.agree(0), 0);
      const auto factor = std::make_shared<const RankFactor<float>>(part.take());
      EXPECT_EQ(subnormals(factor->lower), 0) << "rank " << transport.rank();
      RankSolvePlan<float> plan(factor);
      std::vector<float> x(plan.rows().size());
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = plan.rows()[k] == 0 ? 1.0F : 0.0F;
      drive(plan.begin(Operation::plain, column(std::as_const(x)), column(x), transport), transport, team,
            {60});
      EXPECT_EQ(transport.agree(0), 0);
      EXPECT_EQ(subnormals(x), 0) << "rank " << transport.rank();
      const RankInverseSizes sizes{kind, sizeof(float)};
      const auto inverse = RankInverseRun<float>(*factor, sizes, transport, team).run();
      EXPECT_EQ(subnormals(inverse.panels.lower), 0) << "rank " << transport.rank();
      EXPECT_TRUE(keeps_subnormals());
    });
  }
}

TEST(subnormals, simulated_ranks_keep_none) {
  const Problem<float> problem(decaying_grid<float>(FactorKind::lu), FactorKind::lu);
  const auto placement = std::make_shared<const Placement>(
      place(*problem.symbolic, nearly_square_grid(4), PlacementMap::subtree_to_subcube, {true, 40}));
  SimulatedWorld world(4, {});
  std::vector<RankFactorization<float>> parts;
  std::vector<RankProgram*> programs;
  for (index_t rank = 0; rank < 4; ++rank)
    parts.emplace_back(RankSystem<float>{problem.matrix, problem.symbolic, placement, problem.ordering},
                       RankFactorizeOptions{FactorKind::lu, 0, 1, BlockDelivery::push}, world.rank(rank));
  for (RankFactorization<float>& part : parts) programs.push_back(&part.program());
  world.run(programs);
  for (RankFactorization<float>& part : parts) EXPECT_EQ(subnormals(part.take().lower), 0);
  EXPECT_TRUE(keeps_subnormals());
}

TEST(subnormals, factors_by_columns_and_their_solutions_have_none) {
  for (const FactorKind kind : {FactorKind::llt, FactorKind::lu}) {
    const SparseMatrix<float> matrix = decaying_grid<float>(kind);
    const auto order = order_blocks(matrix.pattern, kind == FactorKind::llt);
    ASSERT_TRUE(order.has_value());
    const auto factor =
        ColumnFactor<float>::create(matrix, std::make_shared<const BlockOrdering>(*order), kind);
    ASSERT_NE(factor, nullptr);
    for (const auto& one : {factor, factor->refactor(matrix)}) {
      std::vector<float> x = first_unit_vector<float>();
      one->solve(Operation::plain, column(std::as_const(x)), column(x));
      EXPECT_EQ(subnormals(x), 0);
      EXPECT_GT(count(x, [](float value) { return value == 0; }), 100) << "the test is empty";
    }
    EXPECT_TRUE(keeps_subnormals());
  }
}

TEST(subnormals, entries_of_the_inverse_have_none) {
  for (const FactorKind kind : kinds) {
    const Problem<float> problem(decaying_grid<float>(kind), kind);
    ThreadTeam team(2);
    const SelectedInverse<float> inverse = select_inverse(problem.factored(kind).value(), &team);
    EXPECT_EQ(subnormals(inverse.lower), 0);  // scaled: undoing that may give some
    EXPECT_GT(count(inverse.matrix().values, [](float value) { return value == 0; }), 10)
        << "the test is empty";
    EXPECT_TRUE(keeps_subnormals());
  }
}

TEST(subnormals, batches_find_none) {
  const SparseMatrix<float> matrix = decaying_grid<float>(FactorKind::lu);
  const auto solver =
      BatchSolver<float>::create(std::make_shared<const SparseMatrix<float>>(matrix)).value();
  const index_t n = matrix.cols();
  std::vector<float> b = first_unit_vector<float>(), x(b.size());
  const BatchReport report = solver.solve({matrix.values.data(), matrix.pattern.nnz(), 1, 0},
                                          {b.data(), n, 1, n}, {x.data(), n, 1, n}, 1, 1);
  EXPECT_EQ(report.num_failed, 0);
  EXPECT_EQ(subnormals(x), 0);
  EXPECT_GT(count(x, [](float value) { return value == 0; }), 100) << "the test is empty";
  EXPECT_TRUE(keeps_subnormals());
}

// Where b itself is subnormal, x = 0 must not pass for the answer.
TEST(subnormals, of_the_right_hand_side_are_not_lost_in_silence) {
  const auto matrix = std::make_shared<const SparseMatrix<float>>(decaying_grid<float>(FactorKind::lu));
  const index_t n = matrix->cols();
  const std::vector<float> b(n, 1e-39F);
  std::vector<float> x(n);
  const auto expect_honest = [&](bool said_solved) {
    const double error =
        verify<float>(*matrix, Operation::plain, column(b), column(std::as_const(x))).backward_error;
    if (said_solved) { EXPECT_LE(error, 1e-5); }
  };
  const BatchReport batch = BatchSolver<float>::create(matrix).value().solve(
      {matrix->values.data(), matrix->pattern.nnz(), 1, 0}, {b.data(), n, 1, n}, {x.data(), n, 1, n}, 1, 1);
  expect_honest(batch.num_failed == 0);
  auto solver = Solver<float>::create(matrix).value();
  const Report report = solver.solve(column(b), column(x)).value();
  expect_honest(report.verify->verified);
}

#endif

}  // namespace
}  // namespace palmette
