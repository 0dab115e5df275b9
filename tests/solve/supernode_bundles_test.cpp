// Supernodes that one right-hand side passes side by side: which they are, and that x does not depend on
// whether they are computed together or one by one.
#include "palmette/solve/supernode_bundles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>

#include "palmette/matrix/matrix.hpp"
#include "palmette/solve/panel_layout.hpp"
#include "tests/scalars.hpp"
#include "tests/solve/generated_groups.hpp"
#include "tests/solve/reference.hpp"

namespace palmette {
namespace {

using reference::Wish;
using solve_detail::SupernodeBundle;
using solve_detail::SupernodeBundles;
using solve_detail::SweepGroups;
using testing::generated_groups;

/// Of one group: each supernode once, and bundles as they are promised.
void expect_promises(const SweepGroups& groups, index_t group) {
  const SupernodeBundles& bundles = groups.bundles();
  const SymbolicFactor& symbolic = groups.symbolic();
  std::set<index_t> done;
  for (index_t number = bundles.begin(group); number < bundles.end(group); ++number) {
    const SupernodeBundle& bundle = bundles[number];
    const index_t spare = groups.num_columns(group) + static_cast<index_t>(groups.boundary(group).size());
    std::set<index_t> rows;
    std::vector<index_t> members;
    const auto held = bundles.members(number);
    for (index_t lane = 0; lane < bundle_lanes; ++lane) {
      const index_t s = lane < static_cast<index_t>(held.size()) ? held[lane] : -1;
      const index_t* const places = bundles.places(number) + lane;
      if (s == -1) {
        for (index_t row = 0; row <= bundle.rows_below; ++row) ASSERT_EQ(places[bundle_lanes * row], spare);
        continue;
      }
      ASSERT_EQ(symbolic.width(s), bundle.width);
      ASSERT_TRUE(bundles.holds(s));
      ASSERT_EQ(places[0], symbolic.supernode_begin[s] - groups.column_begin(group));
      const RowPlaces below = groups.local_rows(s);
      for (index_t row = 0; row < bundle.rows_below; ++row)
        ASSERT_EQ(places[bundle_lanes * (row + 1)], row < below.count ? below[row] : spare);
      for (index_t row = 0; row < below.count; ++row)
        ASSERT_TRUE(rows.insert(below[row]).second) << "two supernodes of a bundle have a row in common";
      for (index_t child = groups.supernode_begin(group); child < s; ++child)
        ASSERT_TRUE(symbolic.parent[child] != s || done.count(child)) << "a child comes later";
      members.push_back(s);
    }
    for (const index_t s : members) ASSERT_TRUE(done.insert(s).second);
  }
  index_t last = -1;
  for (const auto& one : bundles.singles(group)) {
    ASSERT_GT(one.supernode, last);
    last = one.supernode;
    ASSERT_FALSE(bundles.holds(last));
    ASSERT_TRUE(done.insert(last).second);
    ASSERT_EQ(one.own, symbolic.supernode_begin[last] - groups.column_begin(group));
    ASSERT_EQ(one.width, symbolic.width(last));
    for (index_t row = 0; row < one.rows_below; ++row)
      ASSERT_EQ(groups.local_rows(one)[row], groups.local_rows(last)[row]);
  }
  ASSERT_EQ(static_cast<index_t>(done.size()), groups.supernode_end(group) - groups.supernode_begin(group));
}

TEST(supernode_bundles, hold_independent_supernodes_of_whole_branches) {
  for (const auto& [problem, n] : {std::pair{"poisson2d9", 100}, {"thermal2d", 4000}, {"poisson3d7", 12}}) {
    SCOPED_TRACE(problem);
    const SweepGroups groups = generated_groups(problem, n);
    ASSERT_GT(groups.bundles().count(), 20);
    for (index_t group = 0; group < groups.num_groups(); ++group)
      ASSERT_NO_FATAL_FAILURE(expect_promises(groups, group));
    index_t held = 0;
    for (index_t s = 0; s < groups.symbolic().num_supernodes(); ++s) held += groups.bundles().holds(s);
    EXPECT_GT(held, groups.symbolic().num_supernodes() / 5);
  }
}

TEST(supernode_bundles, are_none_in_dense_or_empty_matrices) {
  EXPECT_EQ(generated_groups("poisson2d9", 3).bundles().count(), 0);
  const auto empty = std::make_shared<const SymbolicFactor>(analyze(SparsityPattern(), Ordering()));
  EXPECT_EQ(SweepGroups(empty, 8).bundles().count(), 0);
}

template <class T>
class BundledSolves : public ::testing::Test {};
TYPED_TEST_SUITE(BundledSolves, TestedScalars);

/// x of the whole system, and its entries where only branches of the tree are visited, one by one.
template <class T>
void expect_the_same_alone(const SolvePlan<T>& plan, index_t n) {
  std::vector<index_t> all_rows(n);
  for (index_t k = 0; k < n; ++k) all_rows[k] = k;
  Triplets<T> sparse;
  sparse.rows = n, sparse.cols = 1;
  for (index_t row = 0; row < n; ++row) {
    sparse.row.push_back(row), sparse.column.push_back(0);
    sparse.value.push_back(T(real_t<T>(1 + row % 7)));
  }
  const SparseMatrix<T> b = from_triplets(sparse);
  const index_t column = 0;
  for (const Operation operation : reference::all_operations) {
    DenseMatrix<T> dense(n, 1), alone(n, 1);
    std::copy(b.values.begin(), b.values.end(), dense.values.begin());
    const DenseMatrix<T> together = reference::solved(plan, operation, dense);
    plan.solve_entries(operation, b, {{&column, 1}, all_rows}, alone.view());
    for (index_t k = 0; k < n; ++k)
      ASSERT_EQ(together.values[k], alone.values[k]) << name_of(operation) << ", row " << k;
  }
}

TYPED_TEST(BundledSolves, give_the_bits_of_supernodes_one_by_one) {
  using T = TypeParam;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu})
    for (const double growth_limit : {1e8, 1.5}) {  // all blocks inverted; some: bundles that are not whole
      SCOPED_TRACE(std::string(name_of(kind)) + ", limit " + std::to_string(growth_limit));
      const Wish wish{kind, kind == FactorKind::ldlt && is_complex_v<T>, 36, 5};
      const auto problem = reference::make_problem<T>(wish);
      const auto factor = reference::naive_factor(problem, wish);
      const auto structure = plan_structure(factor->symbolic, ScalarTraits<T>::type);
      ASSERT_EQ(structure->bundles().count() > 1, sizeof(T) <= 8);
      PlanOptions options;
      options.inverse_growth_limit = growth_limit;
      const SolvePlan<T> plan = plan_solve(factor, options, structure);
      if (growth_limit < 2) {
        EXPECT_GT(plan.guarded_blocks(), 0);
        EXPECT_LT(plan.guarded_blocks(), factor->symbolic->num_supernodes());
      }
      expect_the_same_alone(plan, factor->size());
      // Few right-hand sides are kept apart, and pass a bundle one after another.
      const DenseMatrix<T> b = reference::random_dense<T>(factor->size(), 2, 9);
      const DenseMatrix<T> x = reference::solved(plan, Operation::plain, b);
      EXPECT_LE(reference::backward_error<T>(problem.dense.view(), Operation::plain, b.view(), x.view()),
                1000 * unit_roundoff<T>);
    }
}

/// LLᵀ with the values of one factor and the structure of another, which has the same pattern.
std::shared_ptr<const Factor<double>> with_structure_of(const Factor<double>& structure,
                                                        const Factor<double>& values) {
  auto factor = std::make_shared<Factor<double>>();
  factor->kind = values.kind;
  factor->symbolic = structure.symbolic;
  factor->row_scale = values.row_scale;
  factor->column_scale = values.column_scale;
  factor->lower = PanelArray<double>(values.lower.size());
  std::copy_n(values.lower.data(), values.lower.size(), factor->lower.data());
  return factor;
}

/// A factor, another one of the same structure, and what a fresh plan for the latter gives.
struct ChangedFactor {
  std::shared_ptr<const Factor<double>> before, after;
  std::shared_ptr<const PlanStructure> structure;
  DenseMatrix<double> b, x;

  ChangedFactor() {
    const Wish wish{FactorKind::llt, false, 36, 5};
    auto problem = reference::make_problem<double>(wish);
    before = reference::naive_factor(problem, wish);
    for (index_t k = 0; k < before->size(); ++k) problem.dense.view()(k, k) *= 2;
    after = with_structure_of(*before, *reference::naive_factor(problem, wish));
    structure = plan_structure(before->symbolic, ScalarType::float64);
    b = reference::random_dense<double>(before->size(), 1, 9);
    x = reference::solved(plan_solve(after, {}, structure), Operation::plain, b);
  }
};

TEST(supernode_bundles, are_renewed_with_their_panels) {
  const ChangedFactor factor;
  ASSERT_GT(factor.structure->bundles().count(), 1);
  const auto before =
      std::make_shared<const SolvePlan<double>>(plan_solve(factor.before, {}, factor.structure));
  ASSERT_FALSE(reference::same_bits(factor.x, reference::solved(*before, Operation::plain, factor.b)));
  std::vector<index_t> all(factor.before->symbolic->num_supernodes());
  std::iota(all.begin(), all.end(), 0);
  PlanValues<double> known = before->values();
  known.owner = before;
  known.lower.changed = all;
  const SolvePlan<double> renewed = plan_solve(factor.after, {}, factor.structure, known);
  EXPECT_TRUE(reference::same_bits(factor.x, reference::solved(renewed, Operation::plain, factor.b)));
  PlanStore<double> store;
  (void)plan_solve(factor.before, {}, factor.structure, {}, &store);
  const SolvePlan<double> again = plan_solve(factor.after, {}, factor.structure, {}, &store);
  EXPECT_TRUE(reference::same_bits(factor.x, reference::solved(again, Operation::plain, factor.b)));
}

TEST(supernode_bundles, are_used_where_they_are_known) {
  const ChangedFactor factor;
  const SolvePlan<double> plan = plan_solve(factor.after, {}, factor.structure);
  const std::span<const double> panels = plan.values().lower.panels;
  const auto copy = std::make_shared<PanelArray<double>>(static_cast<offset_t>(panels.size()));
  std::copy(panels.begin(), panels.end(), copy->data());
  PlanValues<double> known = plan.values();
  known.lower.panels = {copy->data(), panels.size()};
  known.owner = copy;
  const SolvePlan<double> loaded = plan_solve(factor.after, {}, factor.structure, known);
  EXPECT_TRUE(reference::same_bits(factor.x, reference::solved(loaded, Operation::plain, factor.b)));
  // Whoever reads other panels in their place does not see this.
  std::fill(copy->data() + solve_detail::panel_layout(*factor.structure, 8, false).bundles,
            copy->data() + copy->size(), NAN);
  const DenseMatrix<double> spoiled = reference::solved(loaded, Operation::plain, factor.b);
  EXPECT_TRUE(std::any_of(spoiled.values.begin(), spoiled.values.end(), [](double v) { return v != v; }));
}

// A register that crosses a cache line takes two reads.
TEST(panel_layout, begins_panels_that_are_read_one_by_one_on_whole_registers) {
  const SweepGroups groups = generated_groups("thermal2d", 3000);
  for (const int bytes : {4, 8, 16})
    for (const bool permuted : {false, true}) {
      const solve_detail::PanelLayout layout = solve_detail::panel_layout(groups, bytes, permuted);
      for (index_t s = 0; s < groups.symbolic().num_supernodes(); ++s)
        if (!groups.bundles().holds(s)) {
          ASSERT_EQ(layout.offset[s] % packed_rows(bytes), 0) << bytes << " bytes, supernode " << s;
        }
    }
  const ChangedFactor factor;
  const SolvePlan<double> plan = plan_solve(factor.after, {}, factor.structure);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plan.values().lower.panels.data()) % 64, 0u);
}

TEST(supernode_bundles, have_nothing_left_of_a_right_hand_side_that_is_not_finite) {
  const Wish wish{FactorKind::llt, false, 36, 5};
  const auto factor = reference::naive_factor(reference::make_problem<double>(wish), wish);
  // One group, so that no other group writes where its spare places are.
  const auto structure = std::make_shared<const PlanStructure>(factor->symbolic, 8, 1e9);
  ASSERT_EQ(structure->num_groups(), 1);
  ASSERT_GT(structure->bundles().count(), 1);
  const SolvePlan<double> plan = plan_solve(factor, {}, structure);
  const DenseMatrix<double> b = reference::random_dense<double>(factor->size(), 1, 9);
  const DenseMatrix<double> x = reference::solved(plan, Operation::plain, b);
  for (const double bad : {INFINITY, NAN}) {
    DenseMatrix<double> spoiled = b;
    std::fill(spoiled.values.begin(), spoiled.values.end(), bad);
    (void)reference::solved(plan, Operation::plain, spoiled);
    EXPECT_TRUE(reference::same_bits(x, reference::solved(plan, Operation::plain, b))) << bad;
  }
}

}  // namespace
}  // namespace palmette
