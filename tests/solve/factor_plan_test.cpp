// Plans from factors: every method, operation, kind and scalar, judged by backward errors against dense
// matrices; all methods must give the bits of the serial one.
#include <gtest/gtest.h>

#include "palmette/solve/supernodal_core.hpp"
#include "tests/scalars.hpp"
#include "tests/solve/reference.hpp"

namespace palmette {
namespace {

using reference::Wish;

template <class T>
class factor_plan : public ::testing::Test {};
TYPED_TEST_SUITE(factor_plan, TestedScalars);

template <class T>
std::vector<Wish> all_wishes(index_t rhs) {
  std::vector<Wish> wishes = {{FactorKind::llt, false, rhs, 11},
                              {FactorKind::ldlt, false, rhs, 12},
                              {FactorKind::lu, false, rhs, 13}};
  if (is_complex_v<T>) wishes.push_back({FactorKind::ldlt, true, rhs, 14});
  return wishes;
}

/// The naive factors have growth of at most a few hundred (pivots of 2 next to entries of 9).
template <class T>
double bound(const Wish& wish) {
  return (wish.kind == FactorKind::ldlt ? 2e4 : 400) * unit_roundoff<T>;
}

template <class T>
void expect_small_backward_errors(const SolvePlan<T>& plan, const DenseMatrix<T>& a, index_t num_rhs,
                                  double limit) {
  const DenseMatrix<T> b = reference::random_dense<T>(a.rows, num_rhs, 77);
  for (const Operation operation : reference::all_operations) {
    const DenseMatrix<T> x = reference::solved(plan, operation, b);
    EXPECT_LE(reference::backward_error<T>(a.view(), operation, b.view(), x.view()), limit)
        << name_of(operation) << ", " << num_rhs << " right-hand sides";
  }
}

TYPED_TEST(factor_plan, serial_solves_all_operations_of_all_kinds) {
  for (const Wish& wish : all_wishes<TypeParam>(12)) {
    SCOPED_TRACE(std::string(name_of(wish.kind)) + (wish.hermitian ? " hermitian" : ""));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto plan = plan_solve(reference::naive_factor(problem, wish));
    for (const index_t num_rhs : {1, 3, 70})
      expect_small_backward_errors(plan, problem.dense, num_rhs, bound<TypeParam>(wish));
  }
}

TYPED_TEST(factor_plan, blocks_that_are_not_inverted_give_the_same_accuracy) {
  for (const Wish& wish : all_wishes<TypeParam>(9)) {
    SCOPED_TRACE(std::string(name_of(wish.kind)) + (wish.hermitian ? " hermitian" : ""));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    const auto guarded = plan_solve(factor, {true, 0.0});
    EXPECT_EQ(guarded.guarded_blocks(),
              factor->symbolic->num_supernodes() * (wish.kind == FactorKind::lu ? 2 : 1));
    const auto not_inverted = plan_solve(factor, {false, 1e8});
    EXPECT_EQ(not_inverted.guarded_blocks(), 0);
    EXPECT_LT(not_inverted.memory_bytes(), guarded.memory_bytes());
    const auto inverted = plan_solve(factor);
    EXPECT_EQ(inverted.guarded_blocks(), 0);
    for (const index_t num_rhs : {1, 17}) {
      expect_small_backward_errors(guarded, problem.dense, num_rhs, bound<TypeParam>(wish));
      expect_small_backward_errors(not_inverted, problem.dense, num_rhs, bound<TypeParam>(wish));
    }
  }
}

TYPED_TEST(factor_plan, every_method_gives_the_bits_of_serial_for_any_number_of_threads) {
  for (const Wish& wish : all_wishes<TypeParam>(23)) {
    SCOPED_TRACE(std::string(name_of(wish.kind)) + (wish.hermitian ? " hermitian" : ""));
    const auto problem = reference::make_problem<TypeParam>(wish);
    const auto factor = reference::naive_factor(problem, wish);
    ASSERT_GT(solve_detail::SweepGroups(factor->symbolic, sizeof(TypeParam)).num_groups(), 2);
    const auto plan = plan_solve(factor);
    for (const index_t num_rhs : {0, 1, 3, 50}) {
      const auto b = reference::random_dense<TypeParam>(plan.size(), num_rhs, 5);
      for (const Operation operation : reference::all_operations) {
        const auto judge = reference::solved(plan, operation, b, {SolveMethod::serial, nullptr});
        if (num_rhs == 3) {
          EXPECT_LE(
              reference::backward_error<TypeParam>(problem.dense.view(), operation, b.view(), judge.view()),
              bound<TypeParam>(wish));
        }
        for (int threads = 1; threads <= 8; ++threads) {
          ThreadTeam team(threads);
          for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine))
            EXPECT_TRUE(
                reference::same_bits(judge, reference::solved(plan, operation, b, {method.method, &team})))
                << method.name << ", " << threads << " threads, " << num_rhs << " right-hand sides, "
                << name_of(operation);
        }
      }
    }
  }
}

TYPED_TEST(factor_plan, the_order_of_reading_changes_no_bit) {
  for (const Wish& wish : all_wishes<TypeParam>(23)) {
    const auto factor = reference::naive_factor(reference::make_problem<TypeParam>(wish), wish);
    ASSERT_GT(solve_detail::SweepGroups(factor->symbolic, sizeof(TypeParam)).widest_supernode(),
              solve_detail::packed_width)
        << "the test is empty";
    PlanOptions eight, one;
    eight.reading_order = ReadingOrder::eight_streams;
    one.reading_order = ReadingOrder::one_stream;
    const auto judge = plan_solve(factor, eight), other = plan_solve(factor, one);
    for (const index_t num_rhs : {1, 3, 9}) {
      const auto b = reference::random_dense<TypeParam>(judge.size(), num_rhs, 6);
      for (const Operation operation : reference::all_operations) {
        const auto expected = reference::solved(judge, operation, b);
        for (const int threads : {1, 3}) {
          ThreadTeam team(threads);
          const auto x = reference::solved(other, operation, b, {SolveMethod::sync_free, &team});
          EXPECT_TRUE(reference::same_bits(expected, x))
              << name_of(wish.kind) << ", " << threads << " threads, " << num_rhs << " right-hand sides, "
              << name_of(operation);
        }
      }
    }
  }
}

TYPED_TEST(factor_plan, b_may_be_x_and_leading_dimensions_may_be_larger) {
  const Wish wish{FactorKind::lu, false, 11, 21};
  const auto problem = reference::make_problem<TypeParam>(wish);
  const auto plan = plan_solve(reference::naive_factor(problem, wish));
  const index_t n = plan.size();
  const auto b = reference::random_dense<TypeParam>(n, 5, 3);
  for (const Operation operation : reference::all_operations) {
    const auto expected = reference::solved(plan, operation, b);
    DenseMatrix<TypeParam> in_place = b;
    plan.solve(operation, in_place.view(), in_place.view());
    EXPECT_TRUE(reference::same_bits(expected, in_place));
    DenseMatrix<TypeParam> wide_b = reference::random_dense<TypeParam>(n + 7, 5, 4), wide_x(n + 3, 5);
    for (index_t column = 0; column < 5; ++column)
      std::copy_n(b.view().column(column), n, wide_b.view().column(column));
    std::fill(wide_x.values.begin(), wide_x.values.end(), TypeParam(42));
    plan.solve(operation, {wide_b.values.data(), n, 5, n + 7}, {wide_x.values.data(), n, 5, n + 3});
    for (index_t column = 0; column < 5; ++column) {
      EXPECT_EQ(
          std::memcmp(wide_x.view().column(column), expected.view().column(column), sizeof(TypeParam) * n),
          0);
      for (index_t row = n; row < n + 3; ++row) EXPECT_EQ(wide_x.view()(row, column), TypeParam(42));
    }
  }
}

TYPED_TEST(factor_plan, columns_a_page_apart_get_the_same_bits_on_their_own_way_through_memory) {
  for (const Wish& wish : all_wishes<TypeParam>(12)) {
    SCOPED_TRACE(std::string(name_of(wish.kind)) + (wish.hermitian ? " hermitian" : ""));
    const auto plan = plan_solve(reference::naive_factor(reference::make_problem<TypeParam>(wish), wish));
    const index_t n = plan.size(), ld = 1024;
    for (const index_t num_rhs : {5, 9, 70}) {
      const auto b = reference::random_dense<TypeParam>(n, num_rhs, 4);
      DenseMatrix<TypeParam> far_b(ld, num_rhs), far_x(ld, num_rhs);
      for (index_t column = 0; column < num_rhs; ++column)
        std::copy_n(b.view().column(column), n, far_b.view().column(column));
      for (const Operation operation : reference::all_operations) {
        const auto expected = reference::solved(plan, operation, b);
        ThreadTeam team(3);
        for (ThreadTeam* const threads : {static_cast<ThreadTeam*>(nullptr), &team}) {
          plan.solve(operation, {far_b.values.data(), n, num_rhs, ld}, {far_x.values.data(), n, num_rhs, ld},
                     {SolveMethod::sync_free, threads});
          for (index_t column = 0; column < num_rhs; ++column)
            EXPECT_EQ(std::memcmp(far_x.view().column(column), expected.view().column(column),
                                  sizeof(TypeParam) * n),
                      0);
        }
      }
    }
  }
}

TYPED_TEST(factor_plan, few_columns_get_the_bits_that_each_gets_alone) {
  using T = TypeParam;
  for (const Wish& wish : all_wishes<T>(60)) {
    SCOPED_TRACE(std::string(name_of(wish.kind)) + (wish.hermitian ? " hermitian" : ""));
    const auto problem = reference::make_problem<T>(wish);
    const auto plan = plan_solve(reference::naive_factor(problem, wish));
    for (index_t count = 1; solve_detail::sides_apart(sizeof(T), count) == count; ++count) {
      const DenseMatrix<T> b = reference::random_dense<T>(problem.dense.rows, count, 21);
      for (const Operation operation : reference::all_operations) {
        const DenseMatrix<T> together = reference::solved(plan, operation, b);
        for (index_t j = 0; j < count; ++j) {
          DenseMatrix<T> one(b.rows, 1);
          std::copy_n(b.view().column(j), b.rows, one.view().column(0));
          const DenseMatrix<T> alone = reference::solved(plan, operation, one);
          EXPECT_TRUE(std::equal(alone.values.begin(), alone.values.end(), together.view().column(j)))
              << name_of(operation) << ", column " << j << " of " << count;
        }
      }
    }
  }
}

TEST(factor_plan_bits, columns_solved_together_and_later_again_do_not_change) {
  const Wish wish{FactorKind::ldlt, false, 14, 22};
  const auto problem = reference::make_problem<double>(wish);
  const auto plan = plan_solve(reference::naive_factor(problem, wish));
  const auto b = reference::random_dense<double>(plan.size(), 150, 3);
  const auto first = reference::solved(plan, Operation::plain, b);
  EXPECT_TRUE(reference::same_bits(first, reference::solved(plan, Operation::plain, b)));
  EXPECT_LE(reference::backward_error<double>(problem.dense.view(), Operation::plain, b.view(), first.view()),
            bound<double>(wish));
}

TEST(factor_plan_sizes, of_zero_and_one_row_are_solved) {
  const auto nothing = plan_solve(std::make_shared<const Factor<double>>([] {
    Factor<double> factor;
    Ordering none;
    factor.symbolic = std::make_shared<const SymbolicFactor>(analyze(SparsityPattern{}, none));
    return factor;
  }()));
  EXPECT_EQ(nothing.size(), 0);
  DenseMatrix<double> empty(0, 3);
  EXPECT_NO_THROW(nothing.solve(Operation::plain, empty.view(), empty.view()));
  EXPECT_EQ(SolvePlan<double>().size(), 0);
  EXPECT_NO_THROW(SolvePlan<double>().solve(Operation::plain, empty.view(), empty.view()));

  // L = [2], A = [4]: x = 8 / 4 = 2.
  Factor<double> one;
  Ordering identity;
  identity.row = identity.column = Permutation::identity(1);
  SparsityPattern pattern{1, 1, {0, 1}, {0}};
  one.symbolic = std::make_shared<const SymbolicFactor>(analyze(pattern, identity));
  one.lower = PanelArray<double>(1);
  one.lower.data()[0] = 2;
  const auto plan = plan_solve(std::make_shared<const Factor<double>>(std::move(one)));
  double b = 8, x = 0;
  plan.solve(Operation::plain, {&b, 1, 1, 1}, {&x, 1, 1, 1});
  EXPECT_EQ(x, 2.0);
}

TEST(factor_plan_errors, wrong_sizes_name_both) {
  const Wish wish{FactorKind::llt, false, 4, 23};
  const auto plan = plan_solve(reference::naive_factor(reference::make_problem<double>(wish), wish));
  DenseMatrix<double> b(19, 2), x(20, 2), narrow(20, 1), good(20, 2);
  const auto message = [&](DenseView<const double> left, DenseView<double> right) -> std::string {
    try {
      plan.solve(Operation::plain, left, right);
    } catch (const DimensionError& error) {
      return error.what();
    }
    return "no exception";
  };
  const std::string rows = message(b.view(), x.view());
  EXPECT_NE(rows.find("19"), std::string::npos) << rows;
  EXPECT_NE(rows.find("20"), std::string::npos) << rows;
  const std::string cols = message(good.view(), narrow.view());
  EXPECT_NE(cols.find("20 × 1"), std::string::npos) << cols;
  EXPECT_NE(cols.find("20 × 2"), std::string::npos) << cols;
  const std::string ld = message({good.values.data(), 20, 2, 10}, good.view());
  EXPECT_NE(ld.find("10"), std::string::npos) << ld;
  EXPECT_THROW(plan_solve(std::shared_ptr<const Factor<double>>()), UsageError);
  EXPECT_THROW(plan.cost(-1), UsageError);
}

TEST(factor_plan_guard, a_block_with_a_wild_inverse_is_solved_with_and_counted) {
  // One dense supernode: L = I below-diagonal −1 everywhere has an inverse that doubles with every column.
  const index_t n = 40;
  Triplets<double> all;
  all.rows = all.cols = n;
  for (index_t column = 0; column < n; ++column)
    for (index_t row = 0; row < n; ++row)
      all.row.push_back(row), all.column.push_back(column), all.value.push_back(1.0);
  const SparseMatrix<double> pattern = from_triplets(all);
  Ordering identity;
  identity.row = identity.column = Permutation::identity(n);
  Factor<double> factor;
  factor.symbolic = std::make_shared<const SymbolicFactor>(analyze(pattern.pattern, identity));
  ASSERT_EQ(factor.symbolic->num_supernodes(), 1);
  factor.lower = PanelArray<double>(n * n);
  DenseMatrix<double> lower(n, n), a(n, n);
  for (index_t column = 0; column < n; ++column)
    for (index_t row = column; row < n; ++row) lower.view()(row, column) = row == column ? 1.0 : -1.0;
  std::copy(lower.values.begin(), lower.values.end(), factor.lower.data());
  for (index_t column = 0; column < n; ++column)
    for (index_t row = 0; row < n; ++row)
      for (index_t k = 0; k < n; ++k) a.view()(row, column) += lower.view()(row, k) * lower.view()(column, k);
  const auto plan = plan_solve(std::make_shared<const Factor<double>>(std::move(factor)));
  EXPECT_EQ(plan.guarded_blocks(), 1);
  expect_small_backward_errors(plan, a, 3, 50 * unit_roundoff<double>);
}

TEST(factor_plan_guard, a_block_whose_inverse_is_not_finite_is_kept_though_its_last_column_is_harmless) {
  // 1/10⁻³⁰⁹ is infinite, and infinity times the zero below it is NaN; the last column of the inverse is 1.
  const double stored[] = {1e-309, 0, 0, 1};
  double block[4];
  EXPECT_FALSE(solve_detail::expand_diagonal<double>({{stored, 2, 2, 2}}, {}, {block, 2, 2, 2}));
  EXPECT_EQ(block[0], 1e-309);
  EXPECT_EQ(block[3], 1);
}

TYPED_TEST(factor_plan, a_team_makes_the_same_plan) {
  for (const Wish& wish : all_wishes<TypeParam>(40)) {
    SCOPED_TRACE(std::string(name_of(wish.kind)) + (wish.hermitian ? " hermitian" : ""));
    const auto factor = reference::naive_factor(reference::make_problem<TypeParam>(wish), wish);
    ASSERT_GT(factor->symbolic->panel_entries(), 45000) << "too small to be shared";
    ThreadTeam team(3);
    PlanOptions options;
    options.team = &team;
    const auto alone = plan_solve(factor), shared = plan_solve(factor, options);
    EXPECT_EQ(shared.guarded_blocks(), alone.guarded_blocks());
    const DenseMatrix<TypeParam> b = reference::random_dense<TypeParam>(factor->size(), 2, 5);
    for (const Operation operation : reference::all_operations)
      EXPECT_EQ(reference::solved(shared, operation, b).values, reference::solved(alone, operation, b).values)
          << name_of(operation);
  }
}

TEST(factor_plan_structure, one_structure_serves_several_plans_and_another_one_is_left_alone) {
  const Wish wish{FactorKind::llt, false, 12, 31};
  const auto factor = reference::naive_factor(reference::make_problem<double>(wish), wish);
  const auto other =
      reference::naive_factor(reference::make_problem<double>({FactorKind::llt, false, 9, 31}), wish);
  const auto structure = plan_structure(factor->symbolic, ScalarType::float64),
             narrow = plan_structure(factor->symbolic, ScalarType::float32);
  const auto first = plan_solve(factor, {}, structure), second = plan_solve(factor, {}, structure);
  EXPECT_EQ(structure.use_count(), 3);
  const auto stranger = plan_solve(other, {}, structure), wide = plan_solve(factor, {}, narrow);
  EXPECT_EQ(structure.use_count(), 3);
  EXPECT_EQ(narrow.use_count(), 1);
  const DenseMatrix<double> b = reference::random_dense<double>(factor->size(), 3, 5);
  const std::vector<double> expected = reference::solved(plan_solve(factor), Operation::plain, b).values;
  EXPECT_EQ(reference::solved(first, Operation::plain, b).values, expected);
  EXPECT_EQ(reference::solved(second, Operation::plain, b).values, expected);
  EXPECT_EQ(reference::solved(wide, Operation::plain, b).values, expected);
  EXPECT_THROW(plan_structure(nullptr, ScalarType::float64), UsageError);
}

TEST(factor_plan_memory, prediction_is_what_the_plan_holds) {
  for (const Wish& wish : all_wishes<std::complex<double>>(17)) {
    const auto factor = reference::naive_factor(reference::make_problem<std::complex<double>>(wish), wish);
    const auto plan = plan_solve(factor);
    const PlanMemory predicted =
        predicted_plan_bytes(*factor->symbolic, wish.kind, ScalarType::complex128, 1);
    // Those of LLᵀ are not predicted: orderings scale systems that need pivots.
    const offset_t scales = wish.kind == FactorKind::llt ? 8 * offset_t{plan.size()} : 0;
    EXPECT_NEAR(static_cast<double>(predicted.plan_bytes + scales), static_cast<double>(plan.memory_bytes()),
                0.02 * static_cast<double>(plan.memory_bytes()));
    EXPECT_GT(predicted.workspace_bytes, 16 * plan.size());
  }
}

TEST(factor_plan_memory, prediction_counts_bundles) {
  for (const Wish& wish : all_wishes<double>(36)) {
    const auto factor = reference::naive_factor(reference::make_problem<double>(wish), wish);
    ASSERT_GT(plan_structure(factor->symbolic, ScalarType::float64)->bundles().count(), 0);
    const auto plan = plan_solve(factor);
    const offset_t scales = wish.kind == FactorKind::llt ? 8 * offset_t{plan.size()} : 0;
    const PlanMemory predicted = predicted_plan_bytes(*factor->symbolic, wish.kind, ScalarType::float64, 1);
    EXPECT_NEAR(static_cast<double>(predicted.plan_bytes + scales), static_cast<double>(plan.memory_bytes()),
                0.02 * static_cast<double>(plan.memory_bytes()));
  }
}

TEST(factor_plan_cost, flops_are_twice_the_entries_for_each_sweep_and_bytes_grow_by_blocks) {
  const Wish wish{FactorKind::llt, false, 8, 25};
  const auto factor = reference::naive_factor(reference::make_problem<double>(wish), wish);
  const auto plan = plan_solve(factor);
  double entries = 0;
  for (index_t s = 0; s < factor->symbolic->num_supernodes(); ++s) {
    const double w = factor->symbolic->width(s);
    entries += w * (w + 1) / 2 + w * factor->symbolic->num_rows_below(s);
  }
  EXPECT_EQ(plan.cost(1).flops, 4 * entries);
  EXPECT_EQ(plan.cost(3).flops, 12 * entries);
  EXPECT_GT(plan.cost(1).bytes, 2 * 8 * entries);
  EXPECT_LT(plan.cost(64).bytes, 64 * plan.cost(1).bytes / 4);
  EXPECT_LE(plan.cost(1).critical_path_bytes, plan.cost(1).bytes);
  EXPECT_EQ(plan.cost(0).bytes, 0);
}

}  // namespace
}  // namespace palmette
