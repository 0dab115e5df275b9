// Cholesky factors changed by sparse columns: the product of the new factor, the panels that stay, the bits,
// and what is refused.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/factorize/factor_testing.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

template <class T>
class UpdatedFactor : public ::testing::Test {};
TYPED_TEST_SUITE(UpdatedFactor, TestedScalars);

/// A column of W: rows and values in the user's numbering.
template <class T>
using Entries = std::vector<std::pair<index_t, T>>;

template <class T>
SparseMatrix<T> columns_of(index_t n, const std::vector<Entries<T>>& columns) {
  Triplets<T> entries{n, static_cast<index_t>(columns.size()), {}, {}, {}};
  for (index_t column = 0; column < entries.cols; ++column)
    for (const auto& [row, value] : columns[column]) {
      entries.row.push_back(row);
      entries.column.push_back(column);
      entries.value.push_back(value);
    }
  return from_triplets(entries);
}

/// A column that begins in this column of the factor and has every second row of its panel.
template <class T>
Entries<T> beginning_in(const SymbolicFactor& symbolic, index_t column, double size) {
  const std::vector<index_t>& user = symbolic.row.new_to_old();
  Entries<T> entries = {{user[column], scalar<T>(size, -size / 2)}};
  const auto below = symbolic.rows_below(symbolic.supernode_of[column]);
  for (std::size_t k = 0; k < below.size(); k += 2)
    entries.push_back({user[below[k]], scalar<T>(size / (2.0 + k), size / 3)});
  return entries;
}

/// A ± W·Wᴴ
template <class T>
SparseMatrix<T> changed_by(const SparseMatrix<T>& matrix, const SparseMatrix<T>& w, UpdateSign sign) {
  const real_t<T> factor(sign == UpdateSign::add ? 1 : -1);
  Triplets<T> entries{matrix.rows(), matrix.cols(), {}, {}, {}};
  const auto add = [&](index_t row, index_t column, T value) {
    entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(value);
  };
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      add(matrix.pattern.row_index[entry], column, matrix.values[entry]);
  for (index_t k = 0; k < w.cols(); ++k)
    for (offset_t a = w.pattern.column_ptr[k]; a < w.pattern.column_ptr[k + 1]; ++a)
      for (offset_t b = w.pattern.column_ptr[k]; b < w.pattern.column_ptr[k + 1]; ++b)
        add(w.pattern.row_index[a], w.pattern.row_index[b], factor * w.values[a] * conjugate(w.values[b]));
  return from_triplets(entries, matrix.symmetry);
}

AnalyzeOptions panels_of_8() {
  AnalyzeOptions options;
  options.max_width = 8;
  return options;
}

template <class T>
Problem<T> some_problem(index_t n = 120) {
  return Problem<T>(random_sparse<T>(Flavour::positive_definite, n, 3, 5), FactorKind::llt, panels_of_8());
}

template <class T>
bool same_panels(const Factor<T>& a, const Factor<T>& b) {
  return a.lower.size() == b.lower.size() &&
         std::memcmp(a.lower.data(), b.lower.data(), a.lower.bytes()) == 0;
}

TYPED_TEST(UpdatedFactor, multiplies_back_after_update_and_downdate_by_columns_of_several_paths) {
  using T = TypeParam;
  Problem<T> problem = some_problem<T>();
  problem.ordering.row_scale.assign(120, 0.5);  // a scaled factor: W is scaled with it
  problem.ordering.row_scale[7] = 2;
  problem.ordering.column_scale = problem.ordering.row_scale;
  const Factor<T> factor = problem.factored(FactorKind::llt).value();
  std::vector<Entries<T>> columns;
  for (index_t column = 0; column < 40; ++column)  // three groups
    columns.push_back(beginning_in<T>(*problem.symbolic, (column * 37) % 115, 0.7));
  const SparseMatrix<T> w = columns_of<T>(120, columns);
  FactorizeMemory<T> memory;
  const ChangedFactor<T> up = update_factor(memory, factor, w, {UpdateSign::add}).value();
  EXPECT_EQ(up.rank, 40);
  EXPECT_GT(up.flops, 0);
  EXPECT_LE(factor_backward_error(changed_by(problem.matrix, w, UpdateSign::add), *up.factor),
            500 * unit_roundoff<T>);
  const ChangedFactor<T> down = update_factor(memory, *up.factor, w, {UpdateSign::subtract}).value();
  EXPECT_LE(factor_backward_error(problem.matrix, *down.factor), 2000 * unit_roundoff<T>);
  EXPECT_NEAR(down.factor->pivots.log_abs_determinant, factor.pivots.log_abs_determinant,
              1e4 * unit_roundoff<T>);
}

TYPED_TEST(UpdatedFactor, differs_on_the_path_alone) {
  using T = TypeParam;
  const Problem<T> problem = some_problem<T>();
  const SymbolicFactor& symbolic = *problem.symbolic;
  const Factor<T> factor = problem.factored(FactorKind::llt).value();
  FactorizeMemory<T> memory;
  const auto made =
      update_factor(memory, factor, columns_of<T>(120, {beginning_in<T>(symbolic, 3, 1)}), {UpdateSign::add})
          .value();
  std::vector<index_t> path;
  for (index_t s = symbolic.supernode_of[3]; s != -1; s = symbolic.parent[s]) path.push_back(s);
  EXPECT_EQ(made.supernodes, path);
  EXPECT_LT(path.size(), static_cast<std::size_t>(symbolic.num_supernodes()));
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const offset_t first = symbolic.panel_offset[s], count = symbolic.panel_offset[s + 1] - first;
    const bool same = std::memcmp(made.factor->lower.data() + first, factor.lower.data() + first,
                                  static_cast<std::size_t>(count) * sizeof(T)) == 0;
    EXPECT_EQ(same, !std::binary_search(path.begin(), path.end(), s)) << s;
  }
}

TEST(updated_factor, has_the_same_bits_for_any_number_of_threads) {
  GenerateOptions grid;
  grid.problem = "poisson3d7";
  grid.n = 16;
  const Problem<double> problem(generate(grid), FactorKind::llt);
  const Factor<double> factor = problem.factored(FactorKind::llt).value();
  const index_t n = factor.size();
  std::vector<Entries<double>> columns;
  for (index_t column = 0; column < 16; ++column)
    columns.push_back(beginning_in<double>(*problem.symbolic, column * (n / 17), 0.1));
  const auto w = columns_of<double>(n, columns);
  FactorizeMemory<double> memory;
  const auto alone = update_factor(memory, factor, w, {UpdateSign::add}).value();
  for (const int threads : {2, 3, 8}) {
    ThreadTeam team(threads);
    const auto made = update_factor(memory, factor, w, {UpdateSign::add, &team}).value();
    EXPECT_TRUE(same_panels(*alone.factor, *made.factor)) << threads;
  }
}

TEST(updated_factor, is_refused_if_the_matrix_would_not_be_positive_definite) {
  // [4 2; 2 5] − w·wᵀ with w = (2, 1) is [0 0; 0 4].
  const Problem<double> problem(
      from_triplets(Triplets<double>{2, 2, {0, 1, 0, 1}, {0, 0, 1, 1}, {4, 2, 2, 5}}, Symmetry::symmetric),
      FactorKind::llt);
  const Factor<double> factor = problem.factored(FactorKind::llt).value();
  Factor<double> before;
  before.lower = PanelArray<double>(factor.lower.size(), Uninitialised());
  std::copy_n(factor.lower.data(), factor.lower.size(), before.lower.data());
  FactorizeMemory<double> memory;
  const auto made =
      update_factor(memory, factor, columns_of<double>(2, {{{0, 2}, {1, 1}}}), {UpdateSign::subtract});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().kind, FailureKind::not_positive_definite);
  EXPECT_NE(made.failure().message.find("not positive definite"), std::string::npos);
  EXPECT_TRUE(same_panels(before, factor));
  EXPECT_TRUE(
      update_factor(memory, factor, columns_of<double>(2, {{{0, 1.9}, {1, 1}}}), {UpdateSign::subtract})
          .ok());
  const double huge = 1e308;
  const auto overflown = update_factor(
      memory, factor, columns_of<double>(2, {{{0, huge}}, {{0, huge}}, {{0, huge}}, {{0, huge}}}), {});
  ASSERT_FALSE(overflown.ok());
  EXPECT_EQ(overflown.failure().kind, FailureKind::not_finite);
}

TEST(updated_factor, names_the_first_entry_for_which_it_has_no_place) {
  // A path 1 – 2 – 3 – 4 … of a tridiagonal matrix in its own order: rows 1 and 9 have no entry together.
  std::vector<index_t> parent;
  for (index_t k = 0; k < 30; ++k) parent.push_back(k == 29 ? -1 : k + 1);
  Problem<double> problem(tree_matrix(parent, true), FactorKind::llt);
  const SymbolicFactor& symbolic = *problem.symbolic;
  const Factor<double> factor = problem.factored(FactorKind::llt).value();
  const index_t first = symbolic.row.new_to_old()[0];
  index_t far = -1;
  for (index_t row = 0; row < 30 && far < 0; ++row) {
    const index_t place = symbolic.row.old_to_new()[row];
    const auto below = symbolic.rows_below(0);
    if (place >= symbolic.supernode_begin[1] && !std::binary_search(below.begin(), below.end(), place))
      far = row;
  }
  ASSERT_GE(far, 0);
  FactorizeMemory<double> memory;
  const auto message = [&](const SparseMatrix<double>& w) -> std::string {
    try {
      (void)update_factor(memory, factor, w, {});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string named = message(columns_of<double>(30, {{{first, 1}}, {{first, 1}, {far, 1}}}));
  EXPECT_NE(named.find("entry (" + std::to_string(far + 1) + ", 2) of W has no place"), std::string::npos)
      << named;
  EXPECT_NE(named.find("use update"), std::string::npos);
  EXPECT_EQ(message(columns_of<double>(30, {{{first, 1}, {far, 0}}})), "accepted") << "a zero needs no place";
  EXPECT_NE(message(columns_of<double>(29, {{{0, 1}}})).find("29 rows"), std::string::npos);
  EXPECT_NE(message(columns_of<double>(30, {{{0, infinity}}})).find("finite"), std::string::npos);
}

TEST(updated_factor, of_nothing_is_the_factor) {
  FactorizeMemory<double> memory;
  const Problem<double> problem = some_problem<double>(20);
  const Factor<double> factor = problem.factored(FactorKind::llt).value();
  const auto made = update_factor(memory, factor, columns_of<double>(20, {{}, {{3, 0}}}), {}).value();
  EXPECT_EQ(made.rank, 0);
  EXPECT_TRUE(made.supernodes.empty() && same_panels(*made.factor, factor));
  const Problem<double> empty(SparseMatrix<double>(), FactorKind::llt);
  const Factor<double> of_empty = empty.factored(FactorKind::llt).value();
  EXPECT_EQ(update_factor(memory, of_empty, SparseMatrix<double>(), {}).value().factor->size(), 0);
}

TEST(updated_factor, of_another_kind_is_refused) {
  FactorizeMemory<double> memory;
  const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, 10, 2, 1),
                                FactorKind::ldlt);
  const Factor<double> factor = problem.factored(FactorKind::ldlt).value();
  EXPECT_THROW((void)update_factor(memory, factor, columns_of<double>(10, {{{0, 1}}}), {}), UsageError);
}

}  // namespace
}  // namespace palmette
