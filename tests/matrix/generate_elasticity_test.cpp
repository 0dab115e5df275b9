// Elasticity: against an element matrix integrated by Gauss's rule, and against rigid motions, which cost no
// energy.
#include <gtest/gtest.h>

#include <array>

#include "tests/matrix/generate_support.hpp"

namespace palmette::test {
namespace {

using Strain = std::array<double, 6>;

/// Corner c of the unit cube: x = bit 0, y = bit 1, z = bit 2.
double shape_derivative(int corner, int axis, const std::array<double, 3>& at) {
  double product = 1;
  for (int other = 0; other < 3; ++other) {
    const bool far = (corner >> other & 1) != 0;
    if (other == axis) product *= far ? 1 : -1;
    else product *= far ? at[other] : 1 - at[other];
  }
  return product;
}

/// Strain xx, yy, zz, 2xy, 2yz, 2zx of the displacement N_corner in one direction.
Strain strain(int corner, int direction, const std::array<double, 3>& at) {
  const double x = shape_derivative(corner, 0, at), y = shape_derivative(corner, 1, at),
               z = shape_derivative(corner, 2, at);
  if (direction == 0) return {x, 0, 0, y, 0, z};
  if (direction == 1) return {0, y, 0, x, z, 0};
  return {0, 0, z, 0, y, x};
}

/// εᵀ D ε' with E = 1, ν = 0.3.
double energy(const Strain& a, const Strain& b) {
  const double lambda = 0.3 / (1.3 * 0.4), mu = 1 / 2.6;
  double sum = lambda * (a[0] + a[1] + a[2]) * (b[0] + b[1] + b[2]);
  for (int part = 0; part < 3; ++part) sum += 2 * mu * a[part] * b[part] + mu * a[part + 3] * b[part + 3];
  return sum;
}

double gauss_integral(int corner, int direction, int other_corner, int other_direction) {
  const double points[2] = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)};
  double sum = 0;
  for (double x : points)
    for (double y : points)
      for (double z : points)
        sum +=
            energy(strain(corner, direction, {x, y, z}), strain(other_corner, other_direction, {x, y, z})) /
            8;
  return sum;
}

TEST(elasticity, one_element_is_the_gauss_integral) {
  // The free nodes of the only element are its corners with x = 1: 1, 3, 5, 7 in the order of the numbering.
  const SparseMatrix<double> matrix = make("elasticity3d", 1);
  const DenseMatrix<double> full = dense(matrix);
  ASSERT_EQ(matrix.rows(), 12);
  for (int row = 0; row < 12; ++row)
    for (int column = 0; column < 12; ++column)
      EXPECT_NEAR(full.view()(row, column),
                  gauss_integral(2 * (row / 3) + 1, row % 3, 2 * (column / 3) + 1, column % 3), 1e-15);
}

TEST(elasticity, rows_and_entries_follow_the_formulas) {
  for (const index_t side : {1, 2, 3, 5}) {
    const offset_t n = side;
    const SparseMatrix<double> matrix = make("elasticity3d", side);
    // n × (n+1) × (n+1) free nodes; pairs in the 3 × 3 × 3 box: (3n−2)(3(n+1)−2)², each a full 3 × 3 block.
    EXPECT_EQ(matrix.rows(), 3 * n * (n + 1) * (n + 1));
    EXPECT_EQ(matrix.nnz(), 9 * (3 * n - 2) * (3 * n + 1) * (3 * n + 1));
  }
}

TEST(elasticity, rigid_motions_cause_no_force_away_from_the_clamped_face) {
  const index_t n = 4, side = n + 1;
  const SparseMatrix<double> matrix = make("elasticity3d", n);
  const auto motion = [](int which, double x, double y, double z) -> std::array<double, 3> {
    switch (which) {
      case 0: return {1, 0, 0};
      case 1: return {0, 1, 0};
      case 2: return {0, 0, 1};
      case 3: return {-y, x, 0};
      case 4: return {0, -z, y};
      default: return {z, 0, -x};
    }
  };
  for (int which = 0; which < 6; ++which) {
    DenseMatrix<double> displacement(matrix.rows(), 1), force(matrix.rows(), 1);
    for (index_t row = 0; row < matrix.rows(); ++row) {
      const index_t node = row / 3;
      displacement.values[row] = motion(which, node % n + 1, node / n % side, node / (n * side))[row % 3];
    }
    multiply_add(matrix, Operation::plain, 1.0, std::as_const(displacement).view(), force.view());
    double largest_near_clamp = 0;
    for (index_t row = 0; row < matrix.rows(); ++row) {
      if (row / 3 % n == 0) largest_near_clamp = std::max(largest_near_clamp, std::abs(force.values[row]));
      else { EXPECT_NEAR(force.values[row], 0, 1e-14) << "motion " << which << ", row " << row; }
    }
    EXPECT_GT(largest_near_clamp, 0.01) << "motion " << which;
  }
}

}  // namespace
}  // namespace palmette::test
