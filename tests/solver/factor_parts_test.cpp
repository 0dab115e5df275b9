// The factors one by one: their product is the permuted matrix, and a solve with each agrees with its
// entries.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/scalars.hpp"
#include "tests/solver/systems.hpp"

namespace palmette {
namespace {

using testing::generated;
using testing::quiet_options;
using testing::Shared;
using testing::some_right_hand_sides;
using testing::to_dense;

template <class T>
class FactorParts : public ::testing::Test {};
TYPED_TEST_SUITE(FactorParts, TestedScalars);

template <class T>
DenseMatrix<T> turned(const DenseMatrix<T>& matrix, bool conjugated) {
  DenseMatrix<T> result(matrix.cols, matrix.rows);
  for (index_t j = 0; j < matrix.cols; ++j)
    for (index_t i = 0; i < matrix.rows; ++i) {
      const T value = matrix.view()(i, j);
      result.view()(j, i) = conjugated ? conjugate(value) : value;
    }
  return result;
}

/// The product, and the product of the moduli, which scales rounding errors.
template <class T>
std::pair<DenseMatrix<T>, DenseMatrix<real_t<T>>> product(const DenseMatrix<T>& left,
                                                          const DenseMatrix<T>& right) {
  DenseMatrix<T> result(left.rows, right.cols);
  DenseMatrix<real_t<T>> sizes(left.rows, right.cols);
  for (index_t j = 0; j < right.cols; ++j)
    for (index_t k = 0; k < left.cols; ++k)
      for (index_t i = 0; i < left.rows; ++i) {
        result.view()(i, j) += left.view()(i, k) * right.view()(k, j);
        sizes.view()(i, j) += std::abs(left.view()(i, k)) * std::abs(right.view()(k, j));
      }
  return {std::move(result), std::move(sizes)};
}

struct FactorCase {
  std::string name;
  FactorKind kind;
};

/// A matrix of each kind, with supernodes of several columns, pivots of two rows, scalings and rows that
/// pivoting exchanges.
template <class T>
Shared<T> matrix_for(const std::string& name) {
  SparseMatrix<T> matrix =
      *generated<T>(name == "complex_symmetric" ? "kkt3d" : name, name == "poisson2d9"           ? 9
                                                                  : name == "random_unsymmetric" ? 120
                                                                                                 : 3);
  if constexpr (is_complex_v<T>)
    for (index_t j = 0; j < matrix.cols(); ++j)
      for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry) {
        const index_t i = matrix.pattern.row_index[entry];
        if (i == j && name != "complex_symmetric") continue;
        const T phase(real_t<T>(0.8), real_t<T>(name == "complex_symmetric" || i > j ? 0.6 : -0.6));
        matrix.values[entry] *= phase;
      }
  matrix.symmetry = detect_symmetry(matrix);
  return std::make_shared<const SparseMatrix<T>>(std::move(matrix));
}

template <class T>
std::vector<FactorCase> cases() {
  std::vector<FactorCase> all = {{"poisson2d9", FactorKind::llt}, {"poisson2d9", FactorKind::ldlt},
                           {"kkt3d", FactorKind::ldlt},     {"poisson2d9", FactorKind::lu},
                           {"kkt3d", FactorKind::lu},       {"random_unsymmetric", FactorKind::lu}};
  if (is_complex_v<T>) all.push_back({"complex_symmetric", FactorKind::ldlt});
  return all;
}

template <class T>
Solver<T> solver_for(const Shared<T>& matrix, FactorKind kind, int threads = 2) {
  SolverOptions options = quiet_options(threads);
  options.kind = kind;
  return Solver<T>::create(matrix, options).value();
}

/// The factors in the order of their product, dense.
template <class T>
std::vector<DenseMatrix<T>> factors_of(const Solver<T>& solver) {
  const std::shared_ptr<const Factor<T>> factor = solver.factor();
  if (factor->kind == FactorKind::lu) {
    const ExtractedLu<T> parts = extract_lu(*factor);
    return {to_dense(parts.lower), to_dense(parts.upper)};
  }
  const ExtractedLdl<T> parts = extract_ldl(*factor);
  const DenseMatrix<T> lower = to_dense(parts.lower);
  return {lower, to_dense(parts.diagonal),
          turned(lower, factor->kind == FactorKind::llt || factor->hermitian)};
}

TYPED_TEST(FactorParts, product_of_the_factors_is_the_permuted_matrix) {
  using T = TypeParam;
  for (const auto& [name, kind] : cases<T>()) {
    const Shared<T> matrix = matrix_for<T>(name);
    const Solver<T> solver = solver_for<T>(matrix, kind);
    ASSERT_EQ(solver.factor()->pivots.perturbed, 0) << name;
    const std::vector<DenseMatrix<T>> factors = factors_of(solver);
    DenseMatrix<T> right = factors.back();
    for (std::size_t k = factors.size() - 1; k-- > 1;) right = product(factors[k], right).first;
    const auto [found, sizes] = product(factors.front(), right);
    const FactorOrder order = order_of(*solver.factor());
    const DenseMatrix<T> wanted = to_dense(permute(*matrix, order.row, order.column));
    double largest = 0;
    for (const real_t<T> size : sizes.values) largest = std::max(largest, double(size));
    for (std::size_t entry = 0; entry < wanted.values.size(); ++entry)
      ASSERT_LE(std::abs(found.values[entry] - wanted.values[entry]),
                8 * matrix->cols() * unit_roundoff<T> * largest)
          << name << " " << name_of(kind);
  }
}

TYPED_TEST(FactorParts, lower_factor_is_triangular_and_diagonal_has_blocks_of_two) {
  using T = TypeParam;
  for (const auto& [name, kind] : cases<T>()) {
    if (kind == FactorKind::lu) continue;
    const ExtractedLdl<T> parts = extract_ldl(*solver_for<T>(matrix_for<T>(name), kind).factor());
    bool pairs = false;
    for (index_t j = 0; j < parts.lower.cols(); ++j) {
      EXPECT_EQ(parts.lower.pattern.column(j)[0], j) << "above the diagonal, or no diagonal";
      if (kind == FactorKind::ldlt) {
        EXPECT_EQ(parts.lower.values[parts.lower.pattern.column_ptr[j]], T(1));
      }
      for (const index_t i : parts.diagonal.pattern.column(j)) {
        EXPECT_LE(std::abs(i - j), 1);
        pairs = pairs || i != j;
      }
    }
    EXPECT_EQ(pairs, kind == FactorKind::ldlt && name != "poisson2d9") << name;
  }
}

/// ‖b − op(F)·x‖ ≤ c·n·u·(|op(F)||x| + |b|) in each row: substitution satisfies this, and so do inverted
/// diagonal blocks with bounded growth.
template <class T>
void expect_solved(const DenseMatrix<T>& factor, const DenseMatrix<T>& x, const DenseMatrix<T>& b,
                   const std::string& what) {
  const auto [left, sizes] = product(factor, x);
  double largest = 0;
  for (const real_t<T> size : sizes.values) largest = std::max(largest, double(size));
  for (std::size_t entry = 0; entry < b.values.size(); ++entry)
    ASSERT_LE(std::abs(left.values[entry] - b.values[entry]), 64 * factor.rows * unit_roundoff<T> * largest)
        << what;
}

TYPED_TEST(FactorParts, solving_with_one_factor_is_what_its_entries_say) {
  using T = TypeParam;
  for (const auto& [name, kind] : cases<T>()) {
    const Solver<T> solver = solver_for<T>(matrix_for<T>(name), kind);
    const std::vector<DenseMatrix<T>> factors = factors_of(solver);
    const FactorPart second = kind == FactorKind::lu ? FactorPart::upper : FactorPart::diagonal;
    for (const FactorPart part : {FactorPart::lower, second})
      for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint})
        for (const index_t num_rhs : {1, 3, 70}) {
          const DenseMatrix<T>& given = factors[part == FactorPart::lower ? 0 : 1];
          const DenseMatrix<T> factor =
              operation == Operation::plain ? given : turned(given, operation == Operation::adjoint);
          const DenseMatrix<T> b = some_right_hand_sides<T>(solver.size(), num_rhs);
          DenseMatrix<T> x(solver.size(), num_rhs), same = b;
          solver.solve_part(part, operation, b.view(), x.view());
          expect_solved(factor, x, b,
                        name + " " + std::string(name_of(kind)) + " " + std::string(name_of(operation)));
          solver.solve_part(part, operation, std::as_const(same).view(), same.view());
          EXPECT_EQ(same.values, x.values) << "x in the memory of b";
        }
  }
}

TYPED_TEST(FactorParts, solving_with_all_factors_in_turn_is_solving) {
  using T = TypeParam;
  for (const auto& [name, kind] : cases<T>()) {
    const Shared<T> matrix = matrix_for<T>(name);
    Solver<T> solver = solver_for<T>(matrix, kind);
    const FactorOrder order = order_of(*solver.factor());
    const DenseMatrix<T> b = some_right_hand_sides<T>(solver.size(), 2);
    DenseMatrix<T> x(solver.size(), 2), expected(solver.size(), 2), placed(solver.size(), 2);
    for (index_t j = 0; j < 2; ++j)
      for (index_t i = 0; i < solver.size(); ++i) x.view()(i, j) = b.view()(order.row.new_to_old()[i], j);
    solver.solve_part(FactorPart::lower, Operation::plain, std::as_const(x).view(), x.view());
    if (kind == FactorKind::lu) {
      solver.solve_part(FactorPart::upper, Operation::plain, std::as_const(x).view(), x.view());
    } else {
      const bool adjoint = kind == FactorKind::llt || solver.factor()->hermitian;
      solver.solve_part(FactorPart::diagonal, Operation::plain, std::as_const(x).view(), x.view());
      solver.solve_part(FactorPart::lower, adjoint ? Operation::adjoint : Operation::transpose,
                        std::as_const(x).view(), x.view());
    }
    for (index_t j = 0; j < 2; ++j)
      for (index_t i = 0; i < solver.size(); ++i)
        placed.view()(order.column.new_to_old()[i], j) = x.view()(i, j);
    EXPECT_LE(verify<T>(*matrix, Operation::plain, b.view(), std::as_const(placed).view()).backward_error,
              1000 * unit_roundoff<T>) << name << " " << name_of(kind) << ": an answer that is not refined";
  }
}

TEST(factor_parts, bits_do_not_depend_on_threads_or_method) {
  const auto matrix = generated<double>("poisson3d7", 12);
  const DenseMatrix<double> b = some_right_hand_sides<double>(matrix->cols(), 3);
  std::vector<double> first;
  for (const SolveMethodInfo& info : solve_method_list(SolveWhere::one_machine))
    for (int threads = 1; threads <= 8; threads *= 2) {
      SolverOptions options = quiet_options(threads);
      options.method = info.method;
      const auto solver = Solver<double>::create(matrix, options).value();
      DenseMatrix<double> x(matrix->cols(), 3);
      solver.solve_part(FactorPart::lower, Operation::plain, b.view(), x.view());
      solver.solve_part(FactorPart::lower, Operation::transpose, std::as_const(x).view(), x.view());
      if (first.empty()) first = x.values;
      EXPECT_EQ(x.values, first) << info.name << " " << threads;
    }
}

TEST(factor_parts, parts_that_a_factorization_has_not_are_refused) {
  const auto matrix = generated<double>("poisson2d5", 6);
  DenseMatrix<double> x = some_right_hand_sides<double>(36, 1);
  EXPECT_THROW(solver_for<double>(matrix, FactorKind::llt)
                   .solve_part(FactorPart::upper, Operation::plain, std::as_const(x).view(), x.view()),
               UsageError);
  EXPECT_THROW(solver_for<double>(matrix, FactorKind::lu)
                   .solve_part(FactorPart::diagonal, Operation::plain, std::as_const(x).view(), x.view()),
               UsageError);
  EXPECT_THROW(extract_ldl(*solver_for<double>(matrix, FactorKind::lu).factor()), UsageError);
  EXPECT_THROW(extract_lu(*solver_for<double>(matrix, FactorKind::llt).factor()), UsageError);
  SolverOptions mixed = quiet_options();
  mixed.mixed_precision = true;
  EXPECT_THROW(Solver<double>::create(matrix, mixed)
                   .value()
                   .solve_part(FactorPart::lower, Operation::plain, std::as_const(x).view(), x.view()),
               UsageError);
  DenseMatrix<double> narrow(35, 1);
  EXPECT_THROW(
      solver_for<double>(matrix, FactorKind::llt)
          .solve_part(FactorPart::lower, Operation::plain, std::as_const(narrow).view(), narrow.view()),
      DimensionError);
}

}  // namespace
}  // namespace palmette
