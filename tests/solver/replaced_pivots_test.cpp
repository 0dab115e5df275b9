// Signs that replaced pivots left open, decided by the capacitance matrix, and solves that undo the pivots.
#include <gtest/gtest.h>

#include <cmath>

#include "palmette/solver/capacitance.hpp"
#include "singular_systems.hpp"

namespace palmette {
namespace {

using namespace testing;

/// Pivots below this are replaced: much larger than any that rounding leaves.
constexpr double coarse = 0.6;

template <class T>
Solver<T> coarse_solver(const Shared<T>& matrix, FactorKind kind, double tiny_pivot = coarse) {
  SolverOptions options = quiet_options();
  options.kind = kind;
  options.tiny_pivot = tiny_pivot;
  return Solver<T>::create(matrix, options).value();
}

/// diag(phases)·A·diag(phases)ᴴ has A's inertia.
Shared<std::complex<double>> turned(const Shared<double>& matrix) {
  auto complex = convert<std::complex<double>>(*matrix);
  const auto phase = [](index_t k) {
    return k % 3 == 0 ? std::complex<double>(0, 1) : std::complex<double>(1, 0);
  };
  for (index_t j = 0; j < complex.cols(); ++j)
    for (offset_t entry = complex.pattern.column_ptr[j]; entry < complex.pattern.column_ptr[j + 1]; ++entry)
      complex.values[entry] *= phase(complex.pattern.row_index[entry]) * std::conj(phase(j));
  complex.symmetry = Symmetry::hermitian;
  return std::make_shared<const SparseMatrix<std::complex<double>>>(std::move(complex));
}

template <class T>
void expect_inertia(const Solver<T>& solver, index_t positive, index_t negative, index_t zero) {
  EXPECT_EQ(solver.inertia().positive, positive);
  EXPECT_EQ(solver.inertia().negative, negative);
  EXPECT_EQ(solver.inertia().zero, zero);
}

TEST(replaced_pivots, do_not_hide_the_inertia_of_an_indefinite_matrix) {
  const auto matrix = shifted_grid(12);
  const index_t negative = negative_eigenvalues(12);
  const auto solver = coarse_solver(matrix, FactorKind::ldlt);
  EXPECT_GT(solver.report().factorize->pivots.perturbed, 5);
  expect_inertia(solver, 144 - negative, negative, 0);
  const auto hermitian = coarse_solver(turned(matrix), FactorKind::ldlt);
  EXPECT_GT(hermitian.report().factorize->pivots.perturbed, 5);
  expect_inertia(hermitian, 144 - negative, negative, 0);
}

TEST(replaced_pivots, of_a_kkt_system_with_zero_pivots_first_are_decided) {
  SolverOptions options = quiet_options();
  options.kind = FactorKind::ldlt;
  options.ordering = OrderingMethod::natural;
  options.analyze.max_width = 1;  // a zero pivot has no partner in its supernode
  for (const bool mixed : {false, true}) {
    options.mixed_precision = mixed;
    const auto solver = Solver<double>::create(constraints_first(30, 70), options).value();
    EXPECT_GT(solver.report().factorize->pivots.perturbed, 10) << mixed;
    expect_inertia(solver, 70, 30, 0);
  }
}

TEST(replaced_pivots, report_names_the_matrix_that_decided_and_its_bound) {
  const auto solver = coarse_solver(shifted_grid(8), FactorKind::ldlt);
  const FactorizeReport factorized = *solver.report().factorize;
  ASSERT_TRUE(factorized.capacitance.has_value());
  EXPECT_EQ(factorized.capacitance->order, factorized.pivots.perturbed);
  EXPECT_EQ(factorized.capacitance->undecided, 0);
  EXPECT_EQ(factorized.pivots.inertia.zero, 0);
  EXPECT_GT(factorized.capacitance->bound, 0);
  EXPECT_LT(factorized.capacitance->bound, 1e-6);
  EXPECT_LT(factorized.capacitance->contraction, 0.1);
  EXPECT_GT(factorized.capacitance->flops, 0);
  EXPECT_NE(solver.report().notes.front().find("decided without them"), std::string::npos);
}

TEST(replaced_pivots, sign_of_a_small_eigenvalue_is_decided_both_ways) {
  // [1 1; 1 1+e] has determinant e: the sign of e is that of its smaller eigenvalue, about e/2.
  for (const double e : {1e-13, -1e-13, 4.4408920985006262e-16, -2.2204460492503131e-16}) {
    const auto solver = coarse_solver(matrix_of<double>({{1, 1}, {1, 1 + e}}), FactorKind::ldlt, 0);
    EXPECT_EQ(solver.report().factorize->pivots.perturbed, 1) << e;
    expect_inertia(solver, e > 0 ? 2 : 1, e > 0 ? 0 : 1, 0);
  }
}

TEST(replaced_pivots, of_singular_matrices_stay_undecided_with_their_range) {
  // The Laplacian of a path: n − 1 positive eigenvalues and a zero.
  std::vector<std::vector<double>> rows(30, std::vector<double>(30, 0));
  for (index_t i = 0; i + 1 < 30; ++i) {
    rows[i][i] += 1;
    rows[i + 1][i + 1] += 1;
    rows[i][i + 1] = rows[i + 1][i] = -1;
  }
  const auto solver = coarse_solver(matrix_of(rows), FactorKind::ldlt, 0);
  expect_inertia(solver, 29, 0, 1);
  EXPECT_EQ(solver.report().factorize->capacitance->undecided, 1);
  EXPECT_FALSE(solver.report().factorize->capacitance->used_in_solves);
}

template <class T>
void expect_a_solve_without_refinement(const Shared<T>& matrix, FactorKind kind, double most) {
  auto solver = coarse_solver(matrix, kind);
  ASSERT_GT(solver.report().factorize->pivots.perturbed, 3);
  const DenseMatrix<T> b = some_right_hand_sides<T>(solver.size(), 2);
  for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
    SolveRequest request;
    request.operation = operation;
    request.max_refine_steps = 0;
    DenseMatrix<T> x(solver.size(), 2);
    const Report report = solver.solve(b.view(), x.view(), request).value();
    EXPECT_TRUE(report.factorize->capacitance->used_in_solves);
    EXPECT_LT(report.verify->backward_error, most) << name_of(operation);
  }
}

TEST(replaced_pivots, are_undone_in_solves_without_refinement) {
  const auto matrix = shifted_grid(8);
  expect_a_solve_without_refinement(matrix, FactorKind::ldlt, 1e-13);
  expect_a_solve_without_refinement(turned(matrix), FactorKind::ldlt, 1e-13);
  const auto low = std::make_shared<const SparseMatrix<float>>(convert<float>(*matrix));
  expect_a_solve_without_refinement<float>(low, FactorKind::ldlt, 1e-5);
  const auto unsymmetric = generated<double>("convection_diffusion2d", 8);
  expect_a_solve_without_refinement(unsymmetric, FactorKind::lu, 1e-13);
  const auto complex =
      std::make_shared<const SparseMatrix<std::complex<float>>>(convert<std::complex<float>>(*unsymmetric));
  expect_a_solve_without_refinement<std::complex<float>>(complex, FactorKind::lu, 1e-5);
}

TEST(replaced_pivots, too_many_for_the_report_are_decided_for_those_who_ask) {
  const auto solver = coarse_solver(shifted_grid(30), FactorKind::ldlt, 0.9);
  const FactorizeReport factorized = *solver.report().factorize;
  ASSERT_GT(factorized.pivots.perturbed, 100);
  EXPECT_FALSE(factorized.capacitance.has_value());
  EXPECT_EQ(factorized.pivots.inertia.zero, factorized.pivots.perturbed);
  const index_t negative = negative_eigenvalues(30);
  expect_inertia(solver, 900 - negative, negative, 0);
}

TEST(capacitance, counts_signs_outside_its_bound_only) {
  // Eigenvalues 3, 1e-3, −1e-3, −2 of a diagonal matrix, known up to 1e-2 and up to 1e-4.
  DenseMatrix<double> matrix(4, 4);
  const double values[] = {3, 1e-3, -1e-3, -2};
  for (index_t i = 0; i < 4; ++i) matrix.view()(i, i) = values[i];
  EXPECT_EQ(count_signs(matrix, 1e-2).positive, 1);
  EXPECT_EQ(count_signs(matrix, 1e-2).negative, 1);
  EXPECT_EQ(count_signs(matrix, 1e-4).positive, 2);
  EXPECT_EQ(count_signs(matrix, 1e-4).negative, 2);
}

TEST(null_space, of_a_symmetric_matrix_has_its_dimension_and_an_orthonormal_basis) {
  // Two separate paths: the null space has a constant on each of them.
  std::vector<std::vector<double>> rows(20, std::vector<double>(20, 0));
  for (index_t i = 0; i + 1 < 20; ++i) {
    if (i == 9) continue;
    rows[i][i] += 1;
    rows[i + 1][i + 1] += 1;
    rows[i][i + 1] = rows[i + 1][i] = -1;
  }
  auto solver = coarse_solver(matrix_of(rows), FactorKind::ldlt, 0);
  const NullBasis<double> found = solver.null_space().value();
  ASSERT_EQ(found.dimension(), 2);
  EXPECT_TRUE(found.verified);
  EXPECT_LT(found.residual, 1e-14);
  for (index_t j = 0; j < 2; ++j)
    for (index_t k = 0; k < 2; ++k) {
      double inner = 0;
      for (index_t i = 0; i < 20; ++i) inner += found.basis.view()(i, j) * found.basis.view()(i, k);
      EXPECT_NEAR(inner, j == k, 1e-14);
    }
  auto regular = coarse_solver(matrix_of<double>({{2, 1}, {1, -3}}), FactorKind::ldlt, 0);
  EXPECT_EQ(regular.null_space().value().dimension(), 0);
}

}  // namespace
}  // namespace palmette
