// Factorizations judged by the product of their factors, for every kind, scalar type and many patterns; and
// their determinants.
#include <gtest/gtest.h>

#include "tests/factorize/factor_testing.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

template <class T>
class Factorize : public ::testing::Test {};
TYPED_TEST_SUITE(Factorize, TestedScalars);

/// |S − L·U| ≤ c·n·u·|L|·|U| entry by entry ([Higham 2002], theorem 9.3); the constant is generous.
template <class T>
double bound(index_t n) {
  return 4.0 * (n + 1) * unit_roundoff<T>;
}

/// Panels of at most 8 columns, so that small matrices have many supernodes and split ones.
AnalyzeOptions narrow_panels() {
  AnalyzeOptions options;
  options.max_width = 8;
  return options;
}

template <class T>
void expect_good_factor(SparseMatrix<T> matrix, FactorKind kind, const AnalyzeOptions& options,
                        const std::string& what) {
  const Problem<T> problem(std::move(matrix), kind, options);
  const auto outcome = problem.factored(kind);
  ASSERT_TRUE(outcome.ok()) << what << ": " << outcome.failure().message;
  const Factor<T>& factor = outcome.value();
  const double replaced =
      factor.pivots.perturbed > 0 ? 10 * std::cbrt(unit_roundoff<T> * unit_roundoff<T>) : 0;
  EXPECT_LE(factor_backward_error(problem.matrix, factor), bound<T>(factor.size()) + replaced) << what;
}

/// Above the rows below, `upper` holds what the upper triangle in `lower` is, transposed.
template <class T>
void expect_whole_upper(const Factor<T>& factor) {
  const SymbolicFactor& symbolic = *factor.symbolic;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const offset_t begin = symbolic.panel_offset[s], ld = symbolic.leading_dimension(s);
    for (index_t c = 0; c < symbolic.width(s); ++c)
      for (index_t r = 0; r < symbolic.width(s); ++r)
        EXPECT_EQ(factor.upper.data()[begin + r + c * ld],
                  r >= c ? factor.lower.data()[begin + c + r * ld] : T(0))
            << "supernode " << s << ", row " << r << ", column " << c;
  }
}

TYPED_TEST(Factorize, llt_of_random_patterns_multiplies_back) {
  for (const index_t n : {0, 1, 2, 3, 10, 41, 150})
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const auto matrix = random_sparse<TypeParam>(Flavour::positive_definite, n, 1 + seed, seed);
      expect_good_factor(matrix, FactorKind::llt, {}, "n = " + std::to_string(n));
      expect_good_factor(matrix, FactorKind::llt, narrow_panels(), "narrow, n = " + std::to_string(n));
    }
}

TYPED_TEST(Factorize, ldlt_of_random_patterns_multiplies_back) {
  for (const Flavour flavour : {Flavour::symmetric, Flavour::hermitian, Flavour::positive_definite})
    for (const index_t n : {0, 1, 2, 3, 10, 41, 150})
      for (unsigned seed = 1; seed <= 3; ++seed) {
        if (n == 1 && flavour != Flavour::positive_definite) continue;  // the only entry would be missing
        const auto matrix = random_sparse<TypeParam>(flavour, n, 1 + seed, seed);
        expect_good_factor(matrix, FactorKind::ldlt, {}, "n = " + std::to_string(n));
        expect_good_factor(matrix, FactorKind::ldlt, narrow_panels(), "narrow, n = " + std::to_string(n));
      }
}

TYPED_TEST(Factorize, lu_of_random_patterns_multiplies_back) {
  for (const index_t n : {0, 2, 3, 10, 41, 150})
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const auto matrix = random_sparse<TypeParam>(Flavour::unsymmetric, n, 1 + seed, seed);
      expect_good_factor(matrix, FactorKind::lu, {}, "n = " + std::to_string(n));
      expect_good_factor(matrix, FactorKind::lu, narrow_panels(), "narrow, n = " + std::to_string(n));
    }
}

TYPED_TEST(Factorize, lu_keeps_all_of_the_transposed_upper_factor) {
  AnalyzeOptions wide;
  wide.relax_narrow_width = 64;  // panels of more columns than are transposed at a time
  for (const AnalyzeOptions& options : {AnalyzeOptions(), narrow_panels(), wide}) {
    const Problem<TypeParam> problem(random_sparse<TypeParam>(Flavour::unsymmetric, 150, 3, 5),
                                     FactorKind::lu, options);
    const auto outcome = problem.factored(FactorKind::lu);
    ASSERT_TRUE(outcome.ok()) << outcome.failure().message;
    expect_whole_upper(outcome.value());
  }
}

TEST(factorize, model_problems_multiply_back) {
  for (const auto& [problem, n, kind] : {std::tuple("poisson2d9", 17, FactorKind::llt),
                                         {"poisson3d7", 7, FactorKind::llt},
                                         {"elasticity3d", 4, FactorKind::llt},
                                         {"poisson2d5", 16, FactorKind::lu},
                                         {"kkt3d", 4, FactorKind::ldlt},
                                         {"convection_diffusion2d", 16, FactorKind::lu},
                                         {"circuit", 300, FactorKind::lu},
                                         {"random_unsymmetric", 300, FactorKind::lu},
                                         {"poisson3d7", 7, FactorKind::ldlt}})
    expect_good_factor(generate({problem, n}), kind, {}, problem);
}

TYPED_TEST(Factorize, determinant_agrees_with_dense_elimination_for_every_kind) {
  using T = TypeParam;
  const struct { Flavour flavour; FactorKind kind; } cases[] = {
      {Flavour::positive_definite, FactorKind::llt}, {Flavour::positive_definite, FactorKind::ldlt},
      {Flavour::symmetric, FactorKind::ldlt},        {Flavour::hermitian, FactorKind::ldlt},
      {Flavour::unsymmetric, FactorKind::lu},        {Flavour::symmetric, FactorKind::lu}};
  for (const auto& [flavour, kind] : cases)
    for (const index_t n : {2, 5, 12, 30})
      for (unsigned seed = 1; seed <= 4; ++seed) {
        const Problem<T> problem(random_sparse<T>(flavour, n, 2, seed), kind, narrow_panels());
        const auto factor = problem.factored(kind).value();
        if (factor.pivots.perturbed > 0) continue;  // then it is another matrix's determinant
        const auto [log, sign] = dense_determinant(dense_of(problem.matrix));
        // The determinant of a matrix with relative error e in its entries: e·n·cond, cond ≤ 1e4 for these.
        const double tolerance = std::max(1e-9, 1e4 * n * unit_roundoff<T>);
        EXPECT_NEAR(factor.pivots.log_abs_determinant, log, tolerance) << n << " " << seed;
        EXPECT_NEAR(std::abs(factor.pivots.determinant_sign - sign), 0, tolerance) << n << " " << seed;
      }
}

TEST(factorize, determinant_of_scaled_and_permuted_matrix_is_that_of_the_matrix) {
  // Rows of [[0, 8, 0], [0, 0, 1/4], [3, 0, 0]]: a cycle of three, an even permutation: det = 8 · 1/4 · 3 =
  // 6.
  const auto matrix = from_triplets<double>({3, 3, {0, 1, 2}, {1, 2, 0}, {8, 0.25, 3}});
  const Problem<double> problem(matrix, FactorKind::lu);
  const auto factor = problem.factored(FactorKind::lu).value();
  EXPECT_NEAR(factor.pivots.log_abs_determinant, std::log(6.0), 1e-14);
  EXPECT_EQ(factor.pivots.determinant_sign, Wide(1));
  EXPECT_EQ(factor.pivots.perturbed, 0);
}

TEST(factorize, determinant_of_an_exactly_singular_matrix_is_zero) {
  // [[1, 1], [1, 1]] leaves the second pivot exactly zero.
  const auto matrix =
      from_triplets<double>({2, 2, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 1, 1, 1}}, Symmetry::symmetric);
  for (const FactorKind kind : {FactorKind::lu, FactorKind::ldlt}) {
    const auto factor = Problem<double>(matrix, kind).factored(kind).value();
    EXPECT_EQ(factor.pivots.perturbed, 1);
    EXPECT_EQ(factor.pivots.smallest_pivot, 0);
    EXPECT_EQ(factor.pivots.determinant_sign, Wide(0));
    EXPECT_EQ(factor.pivots.log_abs_determinant, -std::numeric_limits<double>::infinity());
  }
}

TEST(factorize, exchange_matrix_takes_a_two_by_two_pivot) {
  const auto matrix = from_triplets<double>({2, 2, {0, 1}, {1, 0}, {1, 1}}, Symmetry::symmetric);
  const auto factor = Problem<double>(matrix, FactorKind::ldlt).factored(FactorKind::ldlt).value();
  EXPECT_EQ(factor.pivots.perturbed, 0);
  EXPECT_NE(factor.d_below[0], 0);
  EXPECT_EQ(factor.pivots.inertia.positive, 1);
  EXPECT_EQ(factor.pivots.inertia.negative, 1);
  EXPECT_EQ(factor.pivots.determinant_sign, Wide(-1));
}

TYPED_TEST(Factorize, inertia_counts_the_signs_of_the_eigenvalues) {
  using T = TypeParam;
  // [[I, B], [Bᴴ, −I]]: n/2 positive and n/2 negative eigenvalues whatever B is, by Haynsworth's additivity.
  for (const index_t half : {1, 4, 20, 60}) {
    Triplets<T> entries{2 * half, 2 * half, {}, {}, {}};
    const auto add = [&](index_t row, index_t column, T value) {
      entries.row.push_back(row);
      entries.column.push_back(column);
      entries.value.push_back(value);
    };
    const auto coupling = random_sparse<T>(Flavour::unsymmetric, half, 2, 5);
    for (index_t column = 0; column < half; ++column) {
      add(column, column, T(1));
      add(half + column, half + column, T(-1));
      for (offset_t entry = coupling.pattern.column_ptr[column];
           entry < coupling.pattern.column_ptr[column + 1]; ++entry) {
        add(coupling.pattern.row_index[entry], half + column, coupling.values[entry]);
        add(half + column, coupling.pattern.row_index[entry], conjugate(coupling.values[entry]));
      }
    }
    const auto matrix = from_triplets(entries, is_complex_v<T> ? Symmetry::hermitian : Symmetry::symmetric);
    const auto factor = Problem<T>(matrix, FactorKind::ldlt).factored(FactorKind::ldlt).value();
    EXPECT_EQ(factor.pivots.inertia.positive, half);
    EXPECT_EQ(factor.pivots.inertia.negative, half);
    EXPECT_EQ(factor.pivots.inertia.zero, 0);
    EXPECT_GT(factor.pivots.smallest_pivot, 0);
    EXPECT_GE(factor.pivots.largest_pivot, factor.pivots.smallest_pivot);
  }
}

TEST(factorize, inertia_of_complex_symmetric_and_of_lu_is_not_claimed) {
  const auto matrix = random_sparse<std::complex<double>>(Flavour::symmetric, 12, 2, 1);
  const Inertia inertia = Problem<std::complex<double>>(matrix, FactorKind::ldlt)
                              .factored(FactorKind::ldlt)
                              .value()
                              .pivots.inertia;
  EXPECT_EQ(inertia.positive + inertia.negative + inertia.zero, 0);
}

TEST(factorize, tiny_pivots_are_replaced_and_named_by_their_original_columns) {
  // A diagonal matrix, so every pivot is independent: columns 3 and 5 are below 1e-3 times the largest entry.
  // No scaling, no ordering.
  const auto matrix = from_triplets<double>(
      {6, 6, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {1, 2, -3, 1e-5, 4, -1e-5}}, Symmetry::symmetric);
  Ordering ordering;
  ordering.row = ordering.column = Permutation({5, 0, 3, 1, 4, 2});
  const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering));
  for (const FactorKind kind : {FactorKind::ldlt, FactorKind::lu}) {
    FactorizeOptions options;
    options.kind = kind;
    options.tiny_pivot = 1e-3;
    const auto factor = factorize(matrix, symbolic, ordering, options).value();
    EXPECT_EQ(factor.pivots.perturbed, 2);
    EXPECT_EQ(factor.pivots.perturbed_columns, (std::vector<index_t>{3, 5}));
    EXPECT_DOUBLE_EQ(factor.pivots.smallest_pivot, 1e-5);
    EXPECT_DOUBLE_EQ(factor.pivots.largest_pivot, 4);
    options.tiny_pivot = 1e-9;
    EXPECT_EQ(factorize(matrix, symbolic, ordering, options).value().pivots.perturbed, 0)
        << "the option decides";
  }
}

TEST(factorize, prediction_of_factor_bytes_is_what_the_factor_occupies) {
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    const Problem<double> problem(generate({"poisson2d5", 20}), kind);
    const auto factor = problem.factored(kind).value();
    const FactorMemory memory = predicted_factor_bytes(*problem.symbolic, kind, ScalarType::float64, 2);
    EXPECT_NEAR(static_cast<double>(memory.factor_bytes), static_cast<double>(factor.memory_bytes()),
                0.02 * static_cast<double>(factor.memory_bytes()));
    const FactorMemory one = predicted_factor_bytes(*problem.symbolic, kind, ScalarType::float64, 1);
    EXPECT_EQ(memory.workspace_bytes, 2 * one.workspace_bytes);
    EXPECT_GT(one.workspace_bytes, 0);
  }
}

TEST(factorize, flops_are_those_of_the_exact_structure) {
  const Problem<double> problem(generate({"poisson2d5", 10}), FactorKind::llt);
  const auto factor = problem.factored(FactorKind::llt).value();
  EXPECT_EQ(factor.flops, factorization_flops(*problem.symbolic, FactorKind::llt));
  EXPECT_GT(factor.seconds, 0);
}

}  // namespace
}  // namespace palmette
