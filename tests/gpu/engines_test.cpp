// Every engine for devices on one device, against the emulated one: the same bits where sums have one order,
// backward errors where they have not. The device is PALMETTE_TEST_DEVICE ("cuda", "emulated:1"); without it,
// the emulated device in another shape, so that the test itself is tested where there is no GPU. Systems are
// small there, and with PALMETTE_TEST_SMALL, for tools that make a GPU slow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "palmette/solver/solver.hpp"
#include "tests/scalars.hpp"
#include "tests/solve/reference.hpp"

namespace palmette {
namespace {

using reference::Wish;

std::string wanted_device() {
  const char* const wanted = std::getenv("PALMETTE_TEST_DEVICE");
  return wanted == nullptr || *wanted == '\0' ? "emulated" : wanted;
}
bool is_small() {
  return wanted_device().starts_with("emulated") || std::getenv("PALMETTE_TEST_SMALL") != nullptr;
}
/// Of systems: large enough for many blocks, small enough for the emulated judge.
index_t side_of_grid() { return is_small() ? 4 : 10; }

std::shared_ptr<Device> judge_device() { return make_emulated_device({.blocks = 1, .threads = 32}); }

PlanOptions on(std::shared_ptr<Device> device, double growth_limit = 1e8) {
  PlanOptions options;
  options.inverse_growth_limit = growth_limit;
  options.device = std::move(device);
  return options;
}

bool has_one_order_of_sums(SolveMethod method) { return method != SolveMethod::device_sync_free; }

/// A plan on the device under test, the same plan on the judge and on the host.
template <class T>
struct Plans {
  SolvePlan<T> tested, judge, host;
};

struct Case {
  Operation operation;
  index_t num_rhs;
};
/// The emulator is slow with many right-hand sides.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const index_t num_rhs : {1, 3, 64})
    for (const Operation operation : reference::all_operations)
      if (num_rhs <= 3 || operation == Operation::plain || !is_small())
        cases.push_back({operation, num_rhs});
  return cases;
}

/// The first, a middle and the last column. Bits of a solution do not depend on those beside it, so that the
/// judge need not solve for all.
template <class T>
DenseMatrix<T> sample(const DenseMatrix<T>& all) {
  std::vector<index_t> columns = {0, all.cols / 2, all.cols - 1};
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  DenseMatrix<T> some(all.rows, static_cast<index_t>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k)
    std::copy_n(all.view().column(columns[k]), all.rows, some.view().column(static_cast<index_t>(k)));
  return some;
}

/// Every method. @param dense  what is solved
template <class T>
void compare(const Plans<T>& plans, const DenseMatrix<T>& dense, const Case& what) {
  const DenseMatrix<T> b = reference::random_dense<T>(dense.rows, what.num_rhs, 77);
  const auto error = [&](const DenseMatrix<T>& x) {
    return reference::backward_error<T>(dense.view(), what.operation, b.view(), x.view());
  };
  const double serial = error(reference::solved(plans.host, what.operation, b));
  for (const SolveMethodInfo& method : solve_method_list(SolveWhere::device)) {
    SCOPED_TRACE(testing::Message() << method.name << ", " << name_of(what.operation) << ", " << what.num_rhs
                                    << " right-hand sides");
    const SolveRun run{method.method, nullptr};
    const DenseMatrix<T> x = reference::solved(plans.tested, what.operation, b, run);
    EXPECT_LE(error(x), 2 * std::max(serial, 8 * unit_roundoff<T>));
    if (!has_one_order_of_sums(method.method)) continue;
    EXPECT_TRUE(
        reference::same_bits(sample(x), reference::solved(plans.judge, what.operation, sample(b), run)));
    if (is_small()) continue;
    for (int turn = 0; turn < 5; ++turn)
      EXPECT_TRUE(reference::same_bits(x, reference::solved(plans.tested, what.operation, b, run)))
          << "solved once more";
  }
}

template <class T>
void compare_all(const Plans<T>& plans, const DenseMatrix<T>& dense) {
  for (const Case& what : all_cases()) compare(plans, dense, what);
}

template <class T>
class gpu_engines : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
};
TYPED_TEST_SUITE(gpu_engines, TestedScalars);

template <class T>
std::vector<Wish> all_wishes() {
  const index_t side = side_of_grid();
  std::vector<Wish> wishes = {{FactorKind::llt, false, side, 11},
                              {FactorKind::ldlt, false, side, 12},
                              {FactorKind::lu, false, side, 13}};
  if (is_complex_v<T>) wishes.push_back({FactorKind::ldlt, true, side, 14});
  return wishes;
}

TYPED_TEST(gpu_engines, solve_with_factors_as_the_emulated_device_does) {
  const auto device = open_device(wanted_device());
  for (const Wish& wish : all_wishes<TypeParam>())
    for (const double growth_limit : {1e8, 0.0}) {  // 0: no diagonal block is inverted
      SCOPED_TRACE(testing::Message() << name_of(wish.kind) << (wish.hermitian ? " hermitian" : "")
                                      << ", growth limit " << growth_limit);
      const auto problem = reference::make_problem<TypeParam>(wish);
      const auto factor = reference::naive_factor(problem, wish);
      compare_all<TypeParam>({plan_solve(factor, on(device, growth_limit)),
                              plan_solve(factor, on(judge_device(), growth_limit)),
                              plan_solve(factor, on(nullptr, growth_limit))},
                             problem.dense);
    }
}

/// Rows with few entries, in a pattern that is not closed under elimination, so it is solved row by row.
template <class T>
SparseMatrix<T> scattered_triangle(index_t n, bool lower) {
  std::mt19937_64 random(3);
  Triplets<T> entries;
  entries.rows = entries.cols = n;
  for (index_t row = 0; row < n; ++row)
    for (index_t column = 0; column <= row; ++column) {
      if (row != column && random() % 7 != 0) continue;
      entries.row.push_back(lower ? row : column), entries.column.push_back(lower ? column : row);
      entries.value.push_back(row == column ? T(4) : reference::value<T>(random) / T(8));
    }
  return from_triplets(entries);
}

TYPED_TEST(gpu_engines, solve_row_by_row_as_the_emulated_device_does) {
  const auto device = open_device(wanted_device());
  for (const bool lower : {true, false}) {
    SCOPED_TRACE(lower ? "lower" : "upper");
    const auto triangle = scattered_triangle<TypeParam>(10 * side_of_grid(), lower);
    const auto plan_on = [&](std::shared_ptr<Device> where) {
      TriangleOptions options;
      options.lower = lower;
      options.plan = on(std::move(where));
      return plan_triangle<TypeParam>(triangle, options).value();
    };
    compare_all<TypeParam>({plan_on(device), plan_on(judge_device()), plan_on(nullptr)},
                           reference::dense_of(triangle));
  }
}

template <class T>
SparseMatrix<T> in_scalar(const SparseMatrix<double>& matrix) {
  SparseMatrix<T> other{matrix.pattern, std::vector<T>(matrix.values.size()), matrix.symmetry};
  for (std::size_t k = 0; k < matrix.values.size(); ++k) other.values[k] = static_cast<T>(matrix.values[k]);
  return other;
}

/// A whole run: ordered and factorized by the library, with supernodes of many widths.
TYPED_TEST(gpu_engines, solve_a_model_problem_as_the_emulated_device_does) {
  GenerateOptions problem;
  problem.problem = "poisson3d7";
  problem.n = is_small() ? 5 : 20;
  const auto matrix =
      std::make_shared<const SparseMatrix<TypeParam>>(in_scalar<TypeParam>(generate(problem)));
  SolverOptions options;
  options.measure = false;
  const auto factor = Solver<TypeParam>::create(matrix, options).value().factor();
  const auto tested = plan_solve<TypeParam>(factor, on(open_device(wanted_device())));
  const auto judge = plan_solve<TypeParam>(factor, on(judge_device()));
  const auto b = reference::random_dense<TypeParam>(matrix->rows(), 3, 9);
  for (const SolveMethodInfo& method : solve_method_list(SolveWhere::device)) {
    const SolveRun run{method.method, nullptr};
    const auto x = reference::solved(tested, Operation::plain, b, run);
    EXPECT_LE(verify<TypeParam>(*matrix, Operation::plain, b.view(), x.view()).backward_error,
              verification_bound(unit_roundoff<TypeParam>))
        << method.name;
    if (!has_one_order_of_sums(method.method)) continue;
    EXPECT_TRUE(reference::same_bits(x, reference::solved(judge, Operation::plain, b, run))) << method.name;
  }
}

}  // namespace
}  // namespace palmette
