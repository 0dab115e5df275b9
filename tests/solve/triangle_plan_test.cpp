// Plans from plain sparse triangles and from given factors.
#include <gtest/gtest.h>

#include <set>

#include "palmette/solve/row_core.hpp"
#include "tests/scalars.hpp"
#include "tests/solve/reference.hpp"

namespace palmette {
namespace {

template <class T>
class triangle_plan : public ::testing::Test {};
TYPED_TEST_SUITE(triangle_plan, TestedScalars);

enum class Shape { ilu_like, wide_levels, band, bidiagonal, dense, diagonal };
const Shape all_shapes[] = {Shape::ilu_like,   Shape::wide_levels, Shape::band,
                            Shape::bidiagonal, Shape::dense,       Shape::diagonal};

bool holds(Shape shape, index_t row, index_t column, index_t n, std::mt19937_64& random) {
  switch (shape) {
    case Shape::ilu_like: return row - column == 1 || row - column == 20 || row - column == 21;
    case Shape::wide_levels: return column < n / 8 && random() % 16 == 0;
    case Shape::band: return row - column <= 5;
    case Shape::bidiagonal: return row - column == 1;
    case Shape::dense: return true;
    case Shape::diagonal: return false;
  }
  return false;
}

/// A triangle with a diagonal of modulus 2 … 4 and small entries, so that growth is bounded.
template <class T>
SparseMatrix<T> make_triangle(Shape shape, index_t n, bool lower, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Triplets<T> entries;
  entries.rows = entries.cols = n;
  for (index_t column = 0; column < n; ++column)
    for (index_t row = column; row < n; ++row) {
      if (row != column && !holds(shape, row, column, n, random)) continue;
      const real_t<T> scale =
          row == column ? real_t<T>(1) : real_t<T>(1) / real_t<T>(shape == Shape::dense ? n : 8);
      entries.row.push_back(lower ? row : column);
      entries.column.push_back(lower ? column : row);
      entries.value.push_back(reference::value<T>(random) * scale + (row == column ? T(3) : T(0)));
    }
  return from_triplets(entries);
}

template <class T>
DenseMatrix<T> with_unit_diagonal(DenseMatrix<T> dense) {
  for (index_t k = 0; k < dense.rows; ++k) dense.view()(k, k) = T(1);
  return dense;
}

TYPED_TEST(triangle_plan, serial_solves_every_shape_side_and_operation) {
  const index_t n = 260;
  for (const Shape shape : all_shapes)
    for (const bool lower : {true, false})
      for (const bool unit : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << "shape " << static_cast<int>(shape) << " lower " << lower << " unit " << unit);
        const auto triangle = make_triangle<TypeParam>(shape, n, lower, 3);
        const auto dense =
            unit ? with_unit_diagonal(reference::dense_of(triangle)) : reference::dense_of(triangle);
        const auto plan = plan_triangle<TypeParam>(triangle, {lower, unit, {}}).value();
        for (const index_t num_rhs : {1, 3, 50}) {
          const auto b = reference::random_dense<TypeParam>(n, num_rhs, 5);
          for (const Operation operation : reference::all_operations) {
            const auto x = reference::solved(plan, operation, b);
            EXPECT_LE(reference::backward_error<TypeParam>(dense.view(), operation, b.view(), x.view()),
                      60 * unit_roundoff<TypeParam>)
                << name_of(operation) << ", " << num_rhs;
          }
        }
      }
}

TYPED_TEST(triangle_plan, every_method_gives_the_bits_of_serial_for_any_number_of_threads) {
  const index_t n = 4000;  // several chunks and, if possible, parallelism
  for (const Shape shape : {Shape::ilu_like, Shape::wide_levels, Shape::band, Shape::bidiagonal}) {
    const auto plan = plan_triangle<TypeParam>(make_triangle<TypeParam>(shape, n, true, 4)).value();
    for (const index_t num_rhs : {0, 1, 3, 50}) {
      const auto b = reference::random_dense<TypeParam>(n, num_rhs, 6);
      for (const Operation operation : reference::all_operations) {
        const auto judge = reference::solved(plan, operation, b);
        for (int threads = 1; threads <= 8; threads += num_rhs == 3 ? 1 : 3) {
          ThreadTeam team(threads);
          for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine))
            EXPECT_TRUE(
                reference::same_bits(judge, reference::solved(plan, operation, b, {method.method, &team})))
                << method.name << ", shape " << static_cast<int>(shape) << ", " << threads << " threads, "
                << num_rhs;
        }
      }
    }
  }
}

TYPED_TEST(triangle_plan, rows_of_every_length_and_any_number_of_sides_are_solved_in_place) {
  const index_t n = 300;
  std::mt19937_64 random(17);
  Triplets<TypeParam> entries;
  entries.rows = entries.cols = n;
  for (index_t row = 0; row < n; ++row)
    for (index_t column = 0; column <= row; ++column) {
      // Up to 70 entries: some rows are summed in parts, others are not.
      if (row != column && (row * 7) % 70 <= static_cast<index_t>(random() % static_cast<unsigned>(row)))
        continue;
      entries.row.push_back(row), entries.column.push_back(column);
      entries.value.push_back(row == column ? TypeParam(4)
                                            : reference::value<TypeParam>(random) / TypeParam(60));
    }
  const auto triangle = from_triplets(entries);
  const auto dense = reference::dense_of(triangle);
  const auto plan = plan_triangle<TypeParam>(triangle).value();
  ThreadTeam team(3);
  for (const index_t num_rhs : {1, 2, 4, 5, 8, 9, 16, 17, 24, 33, 64, 65})
    for (const Operation operation : reference::all_operations) {
      const auto b = reference::random_dense<TypeParam>(n, num_rhs, 5);
      auto x = b;
      plan.solve(operation, std::as_const(x).view(), x.view());
      EXPECT_LE(reference::backward_error<TypeParam>(dense.view(), operation, b.view(), x.view()),
                60 * unit_roundoff<TypeParam>)
          << name_of(operation) << ", " << num_rhs;
      auto shared = b;
      plan.solve(operation, std::as_const(shared).view(), shared.view(), {SolveMethod::sync_free, &team});
      EXPECT_TRUE(reference::same_bits(x, shared)) << name_of(operation) << ", " << num_rhs;
    }
}

TEST(triangle_plan_semantics, diagonals_whose_reciprocals_overflow_are_divided_by) {
  // x₁ = 3, x₂ = (10⁻³¹⁰·7 − 10⁻³¹⁰·3) / 10⁻³¹⁰ = 4, x₃ = 5 − 4 = 1; 1/10⁻³¹⁰ is not a double.
  const double tiny = 1e-310;
  const auto triangle =
      from_triplets(Triplets<double>{3, 3, {0, 1, 1, 2, 2}, {0, 0, 1, 1, 2}, {tiny, tiny, tiny, 1, 1}});
  const auto plan = plan_triangle<double>(triangle).value();
  for (const index_t num_rhs : {1, 3}) {
    DenseMatrix<double> b(3, num_rhs);
    for (index_t side = 0; side < num_rhs; ++side)
      b.view()(0, side) = 3 * tiny, b.view()(1, side) = 7 * tiny, b.view()(2, side) = 5;
    const auto x = reference::solved(plan, Operation::plain, b);
    for (index_t side = 0; side < num_rhs; ++side) {
      EXPECT_NEAR(x.view()(0, side), 3, 1e-10);  // subnormals have few digits
      EXPECT_NEAR(x.view()(1, side), 4, 1e-10);
      EXPECT_NEAR(x.view()(2, side), 1, 1e-10);
    }
  }
}

/// Entries anywhere below the diagonal, 3 in most rows and up to 60 in some.
SparseMatrix<double> scattered_triangle(index_t n) {
  std::mt19937_64 random(23);
  Triplets<double> entries;
  entries.rows = entries.cols = n;
  for (index_t row = 0; row < n; ++row) {
    entries.row.push_back(row), entries.column.push_back(row), entries.value.push_back(3);
    for (index_t k = row % 50 == 0 ? 60 : 3; row > 0 && k > 0; --k) {
      entries.row.push_back(row),
          entries.column.push_back(static_cast<index_t>(random() % static_cast<unsigned>(row)));
      entries.value.push_back(reference::uniform(random) / 30);
    }
  }
  return from_triplets(entries);
}

TEST(row_panels, are_cut_for_scattered_entries_when_threads_first_ask_and_keep_the_bits) {
  const index_t n = 120000;
  const auto plan = plan_triangle<double>(scattered_triangle(n)).value();
  const auto b = reference::random_dense<double>(n, 1, 3);
  for (const Operation operation : {Operation::plain, Operation::transpose}) {
    const auto judge = reference::solved(plan, operation, b);
    const offset_t before = plan.memory_bytes();
    for (const int threads : {2, 3, 8}) {
      ThreadTeam team(threads);
      EXPECT_EQ(
          plan.solve(operation, b.view(), DenseMatrix<double>(n, 1).view(), {SolveMethod::automatic, &team})
              .method,
          SolveMethod::sync_free);
      for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine))
        EXPECT_TRUE(
            reference::same_bits(judge, reference::solved(plan, operation, b, {method.method, &team})))
            << method.name;
    }
    EXPECT_GT(plan.memory_bytes(), before);
  }
}

TEST(row_panels, are_of_no_use_to_bands) {
  const auto columns = make_triangle<double>(Shape::bidiagonal, 5000, true, 10);
  const auto choice =
      solve_detail::choose_panels({columns.pattern.column_ptr, columns.pattern.row_index, false, 12, 40});
  EXPECT_EQ(choice.panel_bits, solve_detail::PanelChoice::none);
}

TEST(row_schedule, tasks_of_independent_rows_wait_for_few_and_those_of_a_chain_for_each_other) {
  const auto schedule_of = [](Shape shape, index_t n) {
    const auto rows = transpose(make_triangle<double>(shape, n, true, 9));
    SparseMatrix<double> strict = rows;
    Triplets<double> below;
    below.rows = below.cols = n;
    for (index_t column = 0; column < n; ++column)
      for (offset_t entry = rows.pattern.column_ptr[column]; entry < rows.pattern.column_ptr[column + 1];
           ++entry)
        if (rows.pattern.row_index[entry] != column)
          below.row.push_back(rows.pattern.row_index[entry]), below.column.push_back(column),
              below.value.push_back(1);
    strict = from_triplets(below);
    return solve_detail::make_row_schedule(
        {strict.pattern.column_ptr, strict.pattern.row_index, true, 12, 40});
  };
  const auto wide = schedule_of(Shape::wide_levels, 6000);
  EXPECT_GT(wide.schedule.graph.num_tasks(), 4);
  EXPECT_LT(wide.schedule.graph.critical_path(), 0.6 * wide.schedule.graph.total_cost());
  const auto chain = schedule_of(Shape::bidiagonal, 6000);
  EXPECT_EQ(chain.schedule.graph.critical_path(), chain.schedule.graph.total_cost());
  EXPECT_LT(chain.schedule.graph.num_tasks(), 12);
}

TEST(row_schedule, every_row_is_in_one_task_and_after_those_it_waits_for) {
  const index_t n = 5000;
  const auto columns = make_triangle<double>(Shape::ilu_like, n, true, 10);
  for (const bool ascending : {true, false}) {
    const auto lists = ascending ? transpose(columns) : columns;
    Triplets<double> strict;
    strict.rows = strict.cols = n;
    for (index_t row = 0; row < n; ++row)
      for (const index_t column : lists.pattern.column(row))
        if (column != row)
          strict.row.push_back(column), strict.column.push_back(row), strict.value.push_back(1);
    const auto rows = from_triplets(strict);
    const auto schedule =
        solve_detail::make_row_schedule({rows.pattern.column_ptr, rows.pattern.row_index, ascending, 12, 40});
    const TaskGraph& graph = schedule.schedule.graph;
    std::vector<index_t> task_of(n, -1), place_of(n, -1);
    for (index_t task = 0; task < graph.num_tasks(); ++task)
      for (index_t place = graph.tasks[task].first; place < graph.tasks[task].last; ++place) {
        const index_t row = ascending ? place : n - 1 - place;
        ASSERT_EQ(task_of[row], -1);
        task_of[row] = task;
        place_of[row] = place;
      }
    for (index_t row = 0; row < n; ++row) {
      ASSERT_NE(task_of[row], -1);
      for (const index_t before : rows.pattern.column(row)) {
        ASSERT_LT(place_of[before], place_of[row]);
        if (task_of[before] == task_of[row]) continue;
        const auto list = graph.predecessors(task_of[row]);
        ASSERT_TRUE(std::binary_search(list.begin(), list.end(), task_of[before]));
      }
    }
  }
}

TEST(triangle_plan_semantics, the_other_triangle_is_ignored_whatever_it_holds) {
  // [2 NaN; 1 4]·x = [2; 9]: x = (1, (9 − 1)/4) = (1, 2).
  Triplets<double> entries{2, 2, {0, 1, 0, 1}, {0, 0, 1, 1}, {2, 1, NAN, 4}};
  const auto plan = plan_triangle<double>(from_triplets(entries)).value();
  double b[2] = {2, 9};
  plan.solve(Operation::plain, {b, 2, 1, 2}, {b, 2, 1, 2});
  EXPECT_EQ(b[0], 1.0);
  EXPECT_EQ(b[1], 2.0);
}

TEST(triangle_plan_semantics, duplicates_empty_and_one_by_one_matrices_are_solved) {
  const auto empty = plan_triangle<double>(SparseMatrix<double>{}).value();
  EXPECT_EQ(empty.size(), 0);
  DenseMatrix<double> nothing(0, 2);
  EXPECT_NO_THROW(empty.solve(Operation::adjoint, nothing.view(), nothing.view()));
  const auto one = plan_triangle<double>(from_triplets(Triplets<double>{1, 1, {0}, {0}, {4}})).value();
  double x = 8;
  one.solve(Operation::transpose, {&x, 1, 1, 1}, {&x, 1, 1, 1});
  EXPECT_EQ(x, 2.0);
}

TEST(triangle_plan_errors, first_zero_or_missing_diagonal_is_named) {
  const auto failure = [](const SparseMatrix<double>& t, bool lower) {
    return plan_triangle<double>(t, {lower, false, {}}).failure();
  };
  const auto missing = from_triplets(Triplets<double>{3, 3, {0, 1, 2}, {0, 0, 1}, {1, 1, 1}});
  EXPECT_EQ(failure(missing, true).row, 1);
  EXPECT_EQ(failure(missing, true).kind, FailureKind::numerically_singular);
  EXPECT_NE(failure(missing, true).message.find("row 2"), std::string::npos);
  const auto zero = from_triplets(Triplets<double>{3, 3, {0, 1, 2}, {0, 1, 2}, {1, 1, 0}});
  EXPECT_EQ(failure(zero, false).row, 2);
  EXPECT_NE(failure(zero, false).message.find("row 3"), std::string::npos);
  EXPECT_TRUE((plan_triangle<double>(zero, {true, true, {}}).ok()));
}

TEST(triangle_plan_errors, rectangular_and_not_finite_triangles_are_refused_by_place) {
  EXPECT_THROW((void)plan_triangle<double>(from_triplets(Triplets<double>{3, 2, {0}, {0}, {1}})),
               DimensionError);
  try {
    (void)plan_triangle<double>(
        from_triplets(Triplets<double>{2, 2, {0, 1, 1}, {0, 0, 1}, {1, INFINITY, 1}}));
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("(2, 1)"), std::string::npos) << error.what();
  }
}

/// Dense A from given factors, by the definition in the door.
template <class T>
DenseMatrix<T> product_of(const OwnFactors<T>& factors, const DenseMatrix<T>& l, const DenseMatrix<T>& u) {
  const index_t n = l.rows;
  DenseMatrix<T> a(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      T sum(0);
      for (index_t k = 0; k < n; ++k) sum += l.view()(i, k) * u.view()(k, j);
      const index_t row = factors.row.size() ? factors.row.new_to_old()[i] : i;
      const index_t column = factors.column.size() ? factors.column.new_to_old()[j] : j;
      const double scale = (factors.row_scale.empty() ? 1.0 : factors.row_scale[row]) *
                           (factors.column_scale.empty() ? 1.0 : factors.column_scale[column]);
      a.view()(row, column) = sum / static_cast<real_t<T>>(scale);
    }
  return a;
}

template <class T>
void expect_own_factors_solve(const OwnFactors<T>& factors) {
  const index_t n = factors.lower.rows();
  auto l = reference::dense_of(factors.lower);
  if (factors.lower_unit_diagonal) l = with_unit_diagonal(std::move(l));
  DenseMatrix<T> u(n, n);
  if (factors.upper.rows() > 0) u = reference::dense_of(factors.upper);
  else
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        u.view()(i, j) = factors.hermitian ? conjugate(l.view()(j, i)) : l.view()(j, i);
  if (factors.upper.rows() > 0 && factors.upper_unit_diagonal) u = with_unit_diagonal(std::move(u));
  const auto a = product_of(factors, l, u);
  const auto plan = plan_own_factors(factors).value();
  ThreadTeam team(4);
  for (const index_t num_rhs : {1, 3, 50}) {
    const auto b = reference::random_dense<T>(n, num_rhs, 8);
    for (const Operation operation : reference::all_operations) {
      const auto x = reference::solved(plan, operation, b);
      EXPECT_LE(reference::backward_error<T>(a.view(), operation, b.view(), x.view()), 200 * unit_roundoff<T>)
          << name_of(operation) << ", " << num_rhs;
      for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine))
        EXPECT_TRUE(reference::same_bits(x, reference::solved(plan, operation, b, {method.method, &team})))
            << method.name;
      auto in_place = b;
      plan.solve(operation, in_place.view(), in_place.view());
      EXPECT_TRUE(reference::same_bits(x, in_place));
    }
  }
}

TYPED_TEST(triangle_plan, own_factors_with_everything_and_with_nothing_are_solved) {
  const index_t n = 170;
  for (const Shape lower : {Shape::ilu_like, Shape::dense})
    for (const Shape upper : {Shape::band, Shape::dense})
      for (const bool everything : {false, true}) {
        OwnFactors<TypeParam> factors;
        factors.lower = make_triangle<TypeParam>(lower, n, true, 21);
        factors.upper = make_triangle<TypeParam>(upper, n, false, 22);
        if (everything) {
          factors.row = reference::random_permutation(n, 23);
          factors.column = reference::random_permutation(n, 24);
          for (index_t k = 0; k < n; ++k)
            factors.row_scale.push_back(1.0 + k % 3), factors.column_scale.push_back(0.5 + k % 4);
          factors.lower_unit_diagonal = true;
        } else {
          factors.upper_unit_diagonal = true;
        }
        SCOPED_TRACE(::testing::Message()
                     << static_cast<int>(lower) << " " << static_cast<int>(upper) << " " << everything);
        expect_own_factors_solve(factors);
      }
}

TYPED_TEST(triangle_plan, own_lower_factor_alone_means_its_product_with_its_transpose_or_adjoint) {
  const index_t n = 170;
  for (const Shape shape : {Shape::ilu_like, Shape::dense, Shape::band})
    for (const bool hermitian : {false, true})
      for (const bool permuted : {false, true}) {
        OwnFactors<TypeParam> factors;
        factors.lower = make_triangle<TypeParam>(shape, n, true, 31);
        factors.hermitian = hermitian;
        if (permuted) {
          factors.row = reference::random_permutation(n, 33);
          factors.column = reference::random_permutation(n, 34);  // not the same: A need not be symmetric
          for (index_t k = 0; k < n; ++k) factors.row_scale.push_back(1.0 + k % 3);
        }
        SCOPED_TRACE(::testing::Message()
                     << static_cast<int>(shape) << " hermitian " << hermitian << " permuted " << permuted);
        expect_own_factors_solve(factors);
      }
}

TEST(own_factors_errors, name_the_factor_and_the_place) {
  const auto lower = from_triplets(Triplets<double>{2, 2, {0, 1, 1}, {0, 0, 1}, {1, 5, 1}});
  const auto singular = from_triplets(Triplets<double>{2, 2, {0, 0}, {0, 1}, {1, 5}});
  OwnFactors<double> factors;
  factors.lower = lower;
  factors.upper = singular;
  const auto failed = plan_own_factors(factors);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().row, 1);
  EXPECT_NE(failed.failure().message.find("upper factor"), std::string::npos);
  EXPECT_NE(failed.failure().message.find("row 2"), std::string::npos);

  factors.upper = lower;  // holds a 5 below its diagonal
  try {
    (void)plan_own_factors(factors);
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("upper factor"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("(2, 1)"), std::string::npos);
  }
  // a zero there does not matter
  factors.upper = from_triplets(Triplets<double>{2, 2, {0, 1, 1}, {0, 0, 1}, {1, 0, 1}});
  EXPECT_TRUE(plan_own_factors(factors).ok());
  factors.upper = from_triplets(Triplets<double>{3, 3, {0}, {0}, {1}});
  EXPECT_THROW((void)plan_own_factors(factors), DimensionError);
  factors.upper = {};
  factors.row = Permutation::identity(3);
  EXPECT_THROW((void)plan_own_factors(factors), DimensionError);
  factors.row = {};
  factors.column_scale = {1, 0};
  EXPECT_THROW((void)plan_own_factors(factors), UsageError);
}

TEST(triangle_plan_choice, closed_wide_triangles_are_solved_by_supernodes_and_others_by_rows) {
  // Only supernodes have diagonal blocks to guard: a limit of zero guards them all.
  const auto guarded = [](Shape shape) {
    TriangleOptions options;
    options.plan.inverse_growth_limit = 0;
    return plan_triangle<double>(make_triangle<double>(shape, 200, true, 6), options)
        .value()
        .guarded_blocks();
  };
  EXPECT_GT(guarded(Shape::dense), 0);
  EXPECT_EQ(guarded(Shape::ilu_like), 0);
  EXPECT_EQ(guarded(Shape::bidiagonal), 0);
  EXPECT_EQ(guarded(Shape::diagonal), 0);
}

}  // namespace
}  // namespace palmette
