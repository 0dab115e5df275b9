// Plain triangles on several devices in the emulator, with races and delayed stores watched: every method,
// operation and scalar, judged by backward errors.
#include <gtest/gtest.h>

#include <set>

#include "palmette/predict/predict.hpp"
#include "palmette/solve/core.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"
#include "tests/solve/rank_triangles.hpp"

namespace palmette {
namespace {

using reference::random_triangle, reference::two_before_each;

EmulatedDeviceOptions watched(int seed) {
  EmulatedDeviceOptions options;
  options.blocks = 1 + seed % 3;
  options.threads = 32 << seed % 2;
  options.emulator = {};
  options.emulator.seed = static_cast<std::uint64_t>(seed);
  options.emulator.resident_blocks = 1 + seed % 3;
  return options;
}

template <class T>
SolvePlan<T> plan_on(int elements, const SparseMatrix<T>& triangle, bool lower, index_t tasks, int seed) {
  TriangleOptions options;
  options.lower = lower;
  options.plan.world = make_emulated_world(elements, watched(seed));
  options.plan.of_world.by_columns = true;
  options.plan.of_world.by_network = seed % 3 == 0;
  options.plan.of_world.tasks_per_element = tasks;
  return plan_triangle(triangle, options).value();
}

template <class T>
void expect_solved(const SolvePlan<T>& plan, const SparseMatrix<T>& triangle, SolveMethod method,
                   index_t rhs) {
  const DenseMatrix<T> dense = reference::dense_of(triangle);
  const DenseMatrix<T> b = reference::random_dense<T>(dense.rows, rhs, 77);
  for (const Operation operation : reference::all_operations) {
    const DenseMatrix<T> x = reference::solved(plan, operation, b, {method, nullptr});
    EXPECT_LE(reference::backward_error<T>(dense.view(), operation, b.view(), x.view()), 8 * unit_roundoff<T>)
        << name_of(method) << ", " << name_of(operation);
  }
}

template <class T>
class element_columns : public reference::OnEmulator {};
TYPED_TEST_SUITE(element_columns, TestedScalars);

TYPED_TEST(element_columns, every_method_is_right_on_1_to_8_devices_for_lower_and_upper_triangles) {
  for (int elements = 1; elements <= 8; ++elements)
    for (const bool lower : {true, false}) {
      const index_t rhs = elements == 3 ? 50 : 1 + elements % 3;
      const auto triangle = random_triangle<TypeParam>(rhs == 50 ? 12 : 40, lower, elements);
      const auto plan = plan_on(elements, triangle, lower, 1 + elements % 4, elements);
      for (const SolveMethodInfo& method : solve_method_list(SolveWhere::devices_by_columns))
        expect_solved(plan, triangle, method.method, rhs);
    }
}

TYPED_TEST(element_columns, more_devices_than_rows_one_row_and_none_are_ordinary_cases) {
  for (const index_t n : {0, 1, 3}) {
    const auto triangle = random_triangle<TypeParam>(n, true, 3);
    const auto plan = plan_on(7, triangle, true, 4, 1);
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::devices_by_columns))
      expect_solved(plan, triangle, method.method, 2);
  }
}

TYPED_TEST(element_columns, are_right_under_every_seed) {
  using T = TypeParam;
  const auto triangle = random_triangle<T>(24, true, 9);
  for (int seed = 1; seed <= testing::num_seeds_of<T>(500); ++seed) {
    const auto plan = plan_on(1 + seed % 8, triangle, true, 1 + seed % 5, seed);
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::devices_by_columns)) {
      const DenseMatrix<T> b = reference::random_dense<T>(24, seed / 8 % 4 == 0 ? 5 : 1, 7);
      const DenseMatrix<T> x = reference::solved(plan, Operation::plain, b, {method.method, nullptr});
      ASSERT_LE(reference::backward_error<T>(reference::dense_of(triangle).view(), Operation::plain, b.view(),
                                             x.view()),
                8 * unit_roundoff<T>)
          << method.name << ", seed " << seed;
    }
  }
}

/// Pairs of a row and an element, other than the row's own, that adds to it.
offset_t foreign_sums(const SparseMatrix<double>& triangle, int elements, index_t tasks) {
  const index_t n = triangle.cols(), columns = (n + tasks * elements - 1) / (tasks * elements);
  std::set<std::pair<index_t, int>> pairs;
  for (index_t column = 0; column < n; ++column)
    for (const index_t row : triangle.pattern.column(column))
      if (row / columns % elements != column / columns % elements)
        pairs.emplace(row, column / columns % elements);
  return static_cast<offset_t>(pairs.size());
}

WorldCounts since(const WorldCounts& before, const WorldCounts& after) {
  return {after.puts - before.puts, after.put_bytes - before.put_bytes, after.gets - before.gets,
          after.get_bytes - before.get_bytes, after.page_moves - before.page_moves};
}

/// One plan: its arrays grow with the number of right-hand sides; plans solve for 64 at a time.
TEST(element_columns_of_doubles, sums_of_all_right_hand_sides_travel_together) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const auto triangle = random_triangle<double>(24, true, 9);
  const offset_t sums = foreign_sums(triangle, 3, 4);
  TriangleOptions options;
  options.plan.world = make_emulated_world(3, watched(1));
  options.plan.of_world.by_columns = true;
  options.plan.of_world.by_network = true;
  options.plan.of_world.tasks_per_element = 4;
  const auto plan = plan_triangle(triangle, options).value();
  for (const index_t rhs : {1, 3, 50, 70}) {
    const offset_t solves = rhs > 64 ? 2 : 1;
    const auto counts_of = [&](SolveMethod method) {
      const WorldCounts before = options.plan.world->counts();
      const DenseMatrix<double> b = reference::random_dense<double>(24, rhs, 7);
      const DenseMatrix<double> x = reference::solved(plan, Operation::plain, b, {method, nullptr});
      EXPECT_LE(reference::backward_error<double>(reference::dense_of(triangle).view(), Operation::plain,
                                                  b.view(), x.view()),
                8 * unit_roundoff<double>);
      return since(before, options.plan.world->counts());
    };
    const WorldCounts pushed = counts_of(SolveMethod::devices_pushed);
    EXPECT_EQ(pushed.puts, solves * sums);
    EXPECT_EQ(pushed.put_bytes, 8 * rhs * sums);
    EXPECT_EQ(pushed.gets, 0);
    const WorldCounts read = counts_of(SolveMethod::devices_zero_copy);
    EXPECT_EQ(read.puts, 0);
    EXPECT_GE(read.gets, (solves + rhs) * sums);
    EXPECT_EQ(read.get_bytes, 4 * read.gets + 4 * rhs * sums);
    const WorldCounts unified = counts_of(SolveMethod::devices_unified);
    // The sums lie in one page, so do the counters.
    EXPECT_GE(unified.page_moves, 2 * solves);
    EXPECT_EQ(unified.puts, 0);
  }
}

/// What one solve by the kernels sends, from a fresh plan on devices of their own, and what it keeps.
struct CountedSolve {
  WorldCounts sent;
  offset_t memory_bytes = 0;
};
CountedSolve count_solve(const SparseMatrix<double>& triangle, const ColumnCase& given, SolveMethod method) {
  TriangleOptions options;
  options.plan.world = make_emulated_world(given.devices, watched(given.devices));
  options.plan.of_world.by_columns = true;
  options.plan.of_world.by_network = true;
  options.plan.of_world.tasks_per_element = given.tasks_per_device;
  const auto plan = plan_triangle(triangle, options).value();
  const DenseMatrix<double> b = reference::random_dense<double>(triangle.cols(), given.num_rhs, 7);
  (void)reference::solved(plan, Operation::plain, b, {method, nullptr});
  return {options.plan.world->counts(), static_cast<offset_t>(plan.memory_bytes())};
}

/// Polls depend on time, so those of the model and of the emulator differ.
void expect_counts_of_the_model(const SparseMatrix<double>& triangle, ColumnCase given, SolveMethod method) {
  const std::string words = std::string(name_of(method)) + ", " + std::to_string(given.devices) +
                            " devices, " + std::to_string(given.num_rhs) + " right-hand sides";
  const ColumnSimulation model = simulate_columns(given, column_machine("dgx-2"));
  const CountedSolve counted = count_solve(triangle, given, method);
  const bool is_pushed = given.sharing == SumSharing::pushed;
  const bool is_read = given.sharing == SumSharing::zero_copy;
  EXPECT_EQ(counted.sent.puts, is_pushed ? model.messages : 0) << words;
  EXPECT_EQ(counted.sent.put_bytes, is_pushed ? model.bytes : 0) << words;
  const offset_t polls = is_read ? counted.sent.gets - (model.messages - model.polls) : 0;
  EXPECT_GE(polls, is_read ? model.sums : 0) << words;
  EXPECT_EQ(counted.sent.get_bytes - 4 * polls, is_read ? model.bytes - 4 * model.polls : 0) << words;
  // Sums and counters have a page each, which go to every device that adds or waits.
  const bool moves = given.sharing == SumSharing::unified && model.sums > 0;
  EXPECT_GE(counted.sent.page_moves, moves ? 4 : 0) << words;
  EXPECT_EQ(counted.sent.page_moves > 0, model.all_page_moves() > 0) << words;
  // A ticket, the end of the pointers, what went wrong.
  const ColumnBytes bytes = column_bytes(given, 8);
  EXPECT_EQ(counted.memory_bytes, bytes.problem + bytes.sharing + given.devices * (4 + 8 + 12)) << words;
}

TEST(element_columns_of_doubles, messages_bytes_and_memory_are_as_the_column_model_says) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const auto triangle = random_triangle<double>(24, true, 9);
  const SparsityPattern strict = strict_lower(triangle.pattern);
  static_assert(most_rhs_of_run == solve_detail::rhs_block);
  for (const int devices : {1, 2, 3, 5})
    for (const index_t rhs : {1, 3, 50, 70}) {
      const index_t tasks = 1 + devices % 4;
      expect_counts_of_the_model(triangle, {strict, devices, tasks, SumSharing::unified, rhs},
                                 SolveMethod::devices_unified);
      expect_counts_of_the_model(triangle, {strict, devices, tasks, SumSharing::zero_copy, rhs},
                                 SolveMethod::devices_zero_copy);
      expect_counts_of_the_model(triangle, {strict, devices, tasks, SumSharing::pushed, rhs},
                                 SolveMethod::devices_pushed);
    }
}

/// Beside the columns, on each of three devices: sums, counters and a ticket; if pushed, for each row where
/// its slots begin, and slots and flags; in managed memory sums and counters. b and x lie with their rows.
TEST(element_columns_of_doubles, memory_is_as_large_as_the_most_right_hand_sides_of_a_solve_need) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const auto triangle = random_triangle<double>(60, true, 9);
  const auto plan = plan_on(3, triangle, true, 4, 1);
  const auto bytes_after = [&](SolveMethod method, index_t rhs) {
    const DenseMatrix<double> b = reference::random_dense<double>(60, rhs, 7);
    (void)reference::solved(plan, Operation::plain, b, {method, nullptr});
    return static_cast<offset_t>(plan.memory_bytes());
  };
  const auto of_all = [](offset_t rhs) { return 3 * (60 * (8 * rhs + 4) + 4) + 2 * 60 * 8 * rhs; };
  const auto slots = static_cast<offset_t>(
      most_column_slots(strict_lower(triangle.pattern), ColumnDeal::of(60, 3, 4)));
  EXPECT_LE(slots, 2 * 60 / 3);
  const auto of_pushed = [=](offset_t rhs) { return 3 * (4 * 60 + slots * (8 * rhs + 8)); };
  const auto of_unified = [](offset_t rhs) { return 60 * (8 * rhs + 4); };
  const offset_t columns = bytes_after(SolveMethod::devices_zero_copy, 1) - of_all(1);
  EXPECT_GT(columns, 0);
  EXPECT_EQ(bytes_after(SolveMethod::devices_pushed, 1), columns + of_all(1) + of_pushed(1));
  EXPECT_EQ(bytes_after(SolveMethod::devices_unified, 1),
            columns + of_all(1) + of_pushed(1) + of_unified(1));
  EXPECT_EQ(bytes_after(SolveMethod::devices_pushed, 3), columns + of_all(3) + of_pushed(3));
  EXPECT_EQ(bytes_after(SolveMethod::devices_unified, 2),
            columns + of_all(3) + of_pushed(3) + of_unified(3));
  EXPECT_EQ(bytes_after(SolveMethod::devices_pushed, 70), columns + of_all(64) + of_pushed(64));
  EXPECT_EQ(bytes_after(SolveMethod::devices_unified, 1),
            columns + of_all(64) + of_pushed(64) + of_unified(64));
}

enum class Trouble { none, dead, last_column_missing };

/// A plan on three devices, one column a task, whose device 1 has this trouble while `trouble` says so.
struct TroubledPlan {
  TroubledPlan(bool by_network, int seed) {
    EmulatedDeviceOptions emulated = watched(seed);
    emulated.emulator.delay_stores = true;
    emulated.emulator.find_races = true;
    emulated.emulator.last_looks = 200;
    TriangleOptions options;
    options.plan.world =
        make_emulated_world(3, emulated, [trouble = trouble](const auto& call, const auto& shape) {
          auto sweep = *static_cast<const device::ColumnSweep<double>*>(call.argument);
          if (sweep.element == 1 && *trouble == Trouble::last_column_missing) --sweep.a.num_columns;
          auto changed = call;
          changed.argument = &sweep;
          emulate::Launch launch = device::emulated_launch(changed, shape);
          if (sweep.element == 1 && *trouble == Trouble::dead) launch.kernel = [] {};
          return launch;
        });
    options.plan.of_world.by_columns = true;
    options.plan.of_world.by_network = by_network;
    options.plan.of_world.tasks_per_element = 7;
    options.plan.of_world.most_polls = 20;
    plan = plan_triangle(triangle, options).value();
  }

  DenseMatrix<double> solve(SolveMethod method, Operation operation) const {
    const DenseMatrix<double> b = reference::random_dense<double>(21, 3, 7);
    return reference::solved(*plan, operation, b, {method, nullptr});
  }
  std::string error_of(SolveMethod method, Operation operation) const {
    try {
      (void)solve(method, operation);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  SparseMatrix<double> triangle = two_before_each(21);
  std::shared_ptr<Trouble> trouble = std::make_shared<Trouble>(Trouble::none);
  std::optional<SolvePlan<double>> plan;
};

std::string waiting(int device, int column, const std::string& sources) {
  return "device " + std::to_string(device) + " has waited in vain, at column " + std::to_string(column + 1) +
         ", for what device " + sources + " adds to its row, in a sweep by columns of 3 devices";
}

/// Column k is on device k mod 3. Row 2 is the first that needs device 1, which has columns 1, 4, … 19; from
/// below, row 18 is the first. Races would be errors of the emulator, which name no column.
TEST(element_columns_of_doubles, a_device_that_adds_nothing_is_named_and_the_next_solve_has_the_same_bits) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  for (int seed = 1; seed <= testing::num_seeds(20); ++seed)
    for (const bool by_network : {false, true}) {
      const TroubledPlan troubled(by_network, seed);
      for (const SolveMethodInfo& method : solve_method_list(SolveWhere::devices_by_columns)) {
        const std::string where = std::string(method.name) + (by_network ? ", network, seed " : ", seed ") +
                                  std::to_string(seed);
        const DenseMatrix<double> judge = troubled.solve(method.method, Operation::plain);
        const DenseMatrix<double> turned = troubled.solve(method.method, Operation::transpose);
        *troubled.trouble = Trouble::dead;
        EXPECT_EQ(troubled.error_of(method.method, Operation::plain), waiting(2, 2, "1")) << where;
        EXPECT_EQ(troubled.error_of(method.method, Operation::transpose), waiting(0, 18, "1")) << where;
        *troubled.trouble = Trouble::last_column_missing;
        EXPECT_EQ(troubled.error_of(method.method, Operation::plain), waiting(2, 20, "1")) << where;
        *troubled.trouble = Trouble::none;
        EXPECT_TRUE(reference::same_bits(judge, troubled.solve(method.method, Operation::plain))) << where;
        EXPECT_TRUE(reference::same_bits(turned, troubled.solve(method.method, Operation::transpose)))
            << where;
      }
    }
}

TEST(element_columns_of_doubles, a_unit_diagonal_is_not_read) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  auto triangle = random_triangle<double>(30, true, 4);
  TriangleOptions options;
  options.unit_diagonal = true;
  const auto host = plan_triangle(triangle, options).value();
  options.plan.world = make_emulated_world(3, watched(1));
  options.plan.of_world.by_columns = true;
  const auto plan = plan_triangle(triangle, options).value();
  const DenseMatrix<double> b = reference::random_dense<double>(30, 1, 7);
  const auto want = reference::solved(host, Operation::plain, b);
  const auto x = reference::solved(plan, Operation::plain, b);
  for (index_t k = 0; k < 30; ++k)
    EXPECT_NEAR(x.view()(k, 0), want.view()(k, 0), 1e-12 * (1 + std::abs(want.view()(k, 0))));
}

TEST(element_columns_of_doubles, given_factors_are_solved_one_after_the_other) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  OwnFactors<double> factors;
  factors.lower = random_triangle<double>(30, true, 4);
  factors.upper = random_triangle<double>(30, false, 5);
  const DenseMatrix<double> b = reference::random_dense<double>(30, 2, 7);
  const auto want = reference::solved(plan_own_factors(factors).value(), Operation::transpose, b);
  factors.plan.world = make_emulated_world(3, watched(2));
  factors.plan.of_world.by_columns = true;
  const auto x = reference::solved(plan_own_factors(factors).value(), Operation::transpose, b);
  for (index_t k = 0; k < 30; ++k) EXPECT_NEAR(x.view()(k, 1), want.view()(k, 1), 1e-14);
}

TEST(element_columns_of_doubles, wrong_numbers_of_devices_and_tasks_are_named) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const auto triangle = random_triangle<double>(5, true, 4);
  EXPECT_THROW(plan_on(2, triangle, true, 0, 1), UsageError);
  const auto plan = plan_on(2, triangle, true, 1, 1);
  const DenseMatrix<double> b = reference::random_dense<double>(5, 1, 7);
  EXPECT_THROW(reference::solved(plan, Operation::plain, b, {SolveMethod::device_tree, nullptr}), UsageError);
  EXPECT_THROW(reference::solved(plan, Operation::plain, b, {SolveMethod::sync_free, nullptr}), UsageError);
  EXPECT_THROW(reference::solved(plan, Operation::plain, b, {SolveMethod::devices_fan_out, nullptr}),
               UsageError);
}

}  // namespace
}  // namespace palmette
