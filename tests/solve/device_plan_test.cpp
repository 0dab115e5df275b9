// Plans whose factor lies on a device: every method, operation, kind and scalar in the emulator, with races
// and delayed stores watched, judged by backward errors against dense matrices and against the serial engine.
#include <gtest/gtest.h>

#include "palmette/solve/device_core.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"
#include "tests/solve/device_plans.hpp"

namespace palmette {
namespace {

using reference::all_wishes, reference::words;
using reference::Wish;

/// Watches everything that the emulator can.
EmulatedDeviceOptions watched(int seed) {
  EmulatedDeviceOptions options;
  options.blocks = 1 + seed % 5;
  options.threads = 32 << seed % 3;
  options.emulator = {};
  options.emulator.seed = static_cast<std::uint64_t>(seed);
  options.emulator.resident_blocks = 1 + seed % 3;
  return options;
}

PlanOptions on(std::shared_ptr<Device> device) {
  PlanOptions options;
  options.device = std::move(device);
  return options;
}

template <class T>
class device_plan : public reference::OnEmulator {};
TYPED_TEST_SUITE(device_plan, TestedScalars);

TYPED_TEST(device_plan, every_method_is_as_good_as_the_serial_engine) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor);
    const auto plan = plan_solve(factor, on(make_emulated_device(watched(3))));
    for (const index_t num_rhs : {0, 1, 3})
      reference::expect_as_good_as_serial(plan, host, SolveWhere::device, problem.dense, num_rhs);
    const auto unwatched = plan_solve(factor, on(make_emulated_device()));
    reference::expect_as_good_as_serial(unwatched, host, SolveWhere::device, problem.dense, 70);
  }
}

TYPED_TEST(device_plan, blocks_that_are_not_inverted_are_as_good) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor, {true, 0.0});
    const auto plan = plan_solve(factor, {true, 0.0, nullptr, make_emulated_device(watched(4))});
    EXPECT_EQ(plan.guarded_blocks(), host.guarded_blocks());
    for (const index_t num_rhs : {1, 5})
      reference::expect_as_good_as_serial(plan, host, SolveWhere::device, problem.dense, num_rhs);
  }
}

TYPED_TEST(device_plan, the_tree_gives_the_same_bits_for_all_seeds_blocks_threads_and_right_hand_sides) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto judge_plan = plan_solve(factor, on(make_emulated_device()));
    const auto b = reference::random_dense<TypeParam>(judge_plan.size(), 3, 5);
    const auto judge = reference::solved(judge_plan, Operation::plain, b);
    for (int seed = 1; seed <= testing::num_seeds(8); ++seed) {
      const auto plan = plan_solve(factor, on(make_emulated_device(watched(seed))));
      const SolveMethod method = seed % 2 ? SolveMethod::device_tree : SolveMethod::device_level_set;
      EXPECT_TRUE(reference::same_bits(
          judge, reference::solved(plan, Operation::plain, b, {method, nullptr})))
          << "seed " << seed;
    }
    for (index_t column = 0; column < 3; ++column) {
      DenseMatrix<TypeParam> one(b.rows, 1), x(b.rows, 1);
      std::copy_n(b.view().column(column), b.rows, one.values.data());
      judge_plan.solve(Operation::plain, one.view(), x.view());
      EXPECT_EQ(std::memcmp(x.values.data(), judge.view().column(column), sizeof(TypeParam) * b.rows), 0);
    }
  }
}

TYPED_TEST(device_plan, the_tree_gives_the_same_bits_for_1_to_132_blocks_of_32_to_256_threads) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    const auto factor = reference::naive_factor(reference::make_problem<TypeParam>(wish), wish);
    const auto b = reference::random_dense<TypeParam>(factor->size(), 3, 5);
    const auto judge = reference::solved(plan_solve(factor, on(make_emulated_device())), Operation::plain, b);
    for (const int blocks : {1, 2, 33, 132})
      for (const int threads : {32, 96, 256}) {
        EmulatedDeviceOptions shape;
        shape.blocks = blocks;
        shape.threads = threads;
        const auto plan = plan_solve(factor, on(make_emulated_device(shape)));
        EXPECT_TRUE(reference::same_bits(judge, reference::solved(plan, Operation::plain, b)))
            << blocks << " blocks of " << threads << " threads";
      }
  }
}

/// Methods, operations and numbers of right-hand sides in turn, each seed another device.
TYPED_TEST(device_plan, small_systems_are_solved_under_200_seeds) {
  const auto methods = solve_method_list(SolveWhere::device);
  constexpr index_t rhs[] = {1, 3, 64};
  for (Wish wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    wish.side = 3;
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor);
    for (int seed = 1; seed <= 200; ++seed) {
      const auto plan = plan_solve(factor, on(make_emulated_device(watched(seed))));
      const Operation operation = reference::all_operations[seed / 3 % 3];
      const auto b = reference::random_dense<TypeParam>(plan.size(), rhs[seed % 16 < 15 ? seed % 2 : 2], 5);
      const auto error = [&](const DenseMatrix<TypeParam>& x) {
        return reference::backward_error<TypeParam>(problem.dense.view(), operation, b.view(), x.view());
      };
      const double serial = error(reference::solved(host, operation, b));
      const SolveRun run{methods[static_cast<std::size_t>(seed) % methods.size()].method, nullptr};
      EXPECT_LE(error(reference::solved(plan, operation, b, run)),
                2 * std::max(serial, 4 * unit_roundoff<TypeParam>))
          << "seed " << seed;
    }
  }
}

TYPED_TEST(device_plan, as_many_blocks_as_a_large_gpu_has_multiprocessors_give_the_same_bits) {
  const Wish wish{FactorKind::ldlt, false, 12, 12};
  const auto factor = reference::naive_factor(reference::make_problem<TypeParam>(wish), wish);
  const auto judge_plan = plan_solve(factor, on(make_emulated_device({.blocks = 1, .threads = 32})));
  EmulatedDeviceOptions many;
  many.blocks = 132;
  many.threads = 256;
  many.emulator.resident_blocks = 16;
  const auto plan = plan_solve(factor, on(make_emulated_device(many)));
  const auto b = reference::random_dense<TypeParam>(plan.size(), 2, 5);
  EXPECT_TRUE(reference::same_bits(reference::solved(judge_plan, Operation::plain, b),
                                   reference::solved(plan, Operation::plain, b)));
}

TYPED_TEST(device_plan, single_factors_are_solved_with_as_on_the_host) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto host = plan_solve(factor);
    const auto plan = plan_solve(factor, on(make_emulated_device()));
    const auto b = reference::random_dense<TypeParam>(plan.size(), 2, 5);
    for (const FactorPart part : {FactorPart::lower, FactorPart::diagonal, FactorPart::upper})
      for (const Operation operation : reference::all_operations) {
        const bool exists = part == FactorPart::lower ||
                            (part == FactorPart::upper) == (wish.kind == FactorKind::lu);
        DenseMatrix<TypeParam> x(b.rows, 2), want(b.rows, 2);
        if (!exists) {
          EXPECT_THROW(plan.solve_part(part, operation, b.view(), x.view()), UsageError);
          continue;
        }
        host.solve_part(part, operation, b.view(), want.view());
        plan.solve_part(part, operation, b.view(), x.view());
        double difference = 0, size = 0;
        for (std::size_t k = 0; k < x.values.size(); ++k) {
          difference = std::max(difference, static_cast<double>(std::abs(x.values[k] - want.values[k])));
          size = std::max(size, static_cast<double>(std::abs(want.values[k])));
        }
        EXPECT_LE(difference, 1e3 * unit_roundoff<TypeParam> * size) << name_of(operation);
      }
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

TYPED_TEST(device_plan, plain_triangles_are_solved_by_a_warp_for_each_row) {
  for (const bool lower : {true, false}) {
    const auto triangle = scattered_triangle<TypeParam>(90, lower);
    const auto dense = reference::dense_of(triangle);
    for (int seed = 1; seed <= testing::num_seeds(5); ++seed) {
      TriangleOptions options;
      options.lower = lower;
      options.plan = on(make_emulated_device(watched(seed)));
      const auto plan = plan_triangle<TypeParam>(triangle, options).value();
      for (const index_t num_rhs : {1, 3})
        for (const Operation operation : reference::all_operations) {
          const auto b = reference::random_dense<TypeParam>(plan.size(), num_rhs, 5);
          const auto x = reference::solved(plan, operation, b);
          EXPECT_LE(reference::backward_error<TypeParam>(dense.view(), operation, b.view(), x.view()),
                    60 * unit_roundoff<TypeParam>)
              << name_of(operation) << ", seed " << seed;
        }
    }
  }
}

TYPED_TEST(device_plan, a_triangle_that_does_not_fit_is_refused_with_the_bytes_that_would) {
  const auto triangle = scattered_triangle<TypeParam>(90, true);
  TriangleOptions options;
  EmulatedDeviceOptions small;
  small.memory_bytes = 1000;
  offset_t needed = 0;
  try {
    options.plan = on(make_emulated_device(small));
    (void)plan_triangle<TypeParam>(triangle, options);
    FAIL() << "a triangle was put on a device that is too small";
  } catch (const MemoryError& error) {
    needed = error.requested_bytes();
    EXPECT_NE(std::string(error.what()).find("the triangle needs " + std::to_string(needed)),
              std::string::npos);
  }
  small.memory_bytes = needed - 1;
  options.plan = on(make_emulated_device(small));
  EXPECT_THROW((void)plan_triangle<TypeParam>(triangle, options), MemoryError);
  small.memory_bytes = needed;
  options.plan = on(make_emulated_device(small));
  const auto plan = plan_triangle<TypeParam>(triangle, options).value();
  (void)reference::solved(plan, Operation::plain, reference::random_dense<TypeParam>(90, 1, 5));
  EXPECT_EQ(options.plan.device->bytes_in_use(), needed);
}

TYPED_TEST(device_plan, own_factors_are_solved_on_the_device) {
  OwnFactors<TypeParam> factors;
  factors.lower = scattered_triangle<TypeParam>(60, true);
  factors.upper = scattered_triangle<TypeParam>(60, false);
  factors.row = reference::random_permutation(60, 8);
  const auto host = plan_own_factors(factors).value();
  factors.plan.device = make_emulated_device(watched(2));
  const auto plan = plan_own_factors(factors).value();
  const auto b = reference::random_dense<TypeParam>(60, 2, 5);
  for (const Operation operation : reference::all_operations) {
    const auto x = reference::solved(plan, operation, b), want = reference::solved(host, operation, b);
    for (std::size_t k = 0; k < x.values.size(); ++k)
      EXPECT_LE(std::abs(x.values[k] - want.values[k]), 100 * unit_roundoff<TypeParam>);
  }
}

TEST(device_plan_of_nothing, an_empty_matrix_is_solved) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  TriangleOptions options;
  options.plan.device = make_emulated_device();
  const auto plan = plan_triangle<double>(SparseMatrix<double>(), options).value();
  DenseMatrix<double> b(0, 2), x(0, 2);
  EXPECT_EQ(plan.solve(Operation::plain, b.view(), x.view()).method, SolveMethod::device_tree);
}

TYPED_TEST(device_plan, device_memory_is_as_predicted_and_what_does_not_fit_is_refused) {
  for (const Wish& wish : all_wishes<TypeParam>()) {
    SCOPED_TRACE(words(wish));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto device = make_emulated_device();
    const auto need = predicted_device_bytes<TypeParam>(
        *factor->symbolic, wish.kind, 1, wish.kind == FactorKind::lu ? 2 : 1);
    const auto plan = plan_solve(factor, on(device));
    EXPECT_EQ(device->bytes_in_use(), need.factor_bytes + need.flag_bytes + need.map_bytes);
    const auto b = reference::random_dense<TypeParam>(plan.size(), 1, 5);
    (void)reference::solved(plan, Operation::plain, b);
    EXPECT_EQ(device->bytes_in_use(), need.sum());
    EmulatedDeviceOptions small;
    small.memory_bytes = need.sum() - 1;
    try {
      (void)plan_solve(factor, on(make_emulated_device(small)));
      FAIL() << "a factor was put on a device that is too small";
    } catch (const MemoryError& error) {
      EXPECT_EQ(error.requested_bytes(), small.memory_bytes + 1);
      EXPECT_NE(std::string(error.what()).find(std::to_string(small.memory_bytes + 1)), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace palmette
