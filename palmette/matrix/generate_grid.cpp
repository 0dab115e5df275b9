// Finite differences on square and cubic grids: Poisson, shifted Laplacian, convection–diffusion, optimal
// control (KKT).
#include <array>

#include "palmette/matrix/generate_problems.hpp"
#include "palmette/matrix/generate_stencil.hpp"

namespace palmette::matrix_detail {
namespace {

Grid square(index_t n) { return {n, n, 1}; }
Grid cube(index_t n) { return {n, n, n}; }

/// `diagonal` on the diagonal and −1 for each neighbour; what lies outside the grid is zero (Dirichlet).
SparseMatrix<double> laplacian(const Grid& grid, const std::vector<GridOffset>& offsets, double diagonal) {
  return stencil_matrix(grid, offsets, Symmetry::symmetric, [diagonal](GridPoint, GridOffset offset) {
    return offset.is_centre() ? diagonal : -1.0;
  });
}

/// A flow that circulates in the x–y plane and, in three dimensions, goes upwards.
///
/// On the unit square, with x = X / N: u = (4x(x−1)(1−2y), −4y(y−1)(1−2x)), divergence-free and without flow
/// through the walls x = 0, 1 of u_x and y = 0, 1 of u_y; both lie in [−1, 1]. The numerators are exact
/// integers.
struct HelicalFlow {
  double strength;
  index_t n;
  int dimensions;

  std::array<double, 3> operator()(GridPoint point) const {
    const std::int64_t width = std::int64_t{n} + 1, x = std::int64_t{point.x} + 1,
                       y = std::int64_t{point.y} + 1;
    const auto cubed = static_cast<double>(width * width * width);
    const auto across = static_cast<double>(4 * x * (x - width) * (width - 2 * y));
    const auto along = static_cast<double>(-4 * y * (y - width) * (width - 2 * x));
    return {strength * across / cubed, strength * along / cubed, dimensions == 3 ? strength / 2 : 0.0};
  }
};

/// First-order upwind differences: the upstream neighbour gets the flow's speed in addition to diffusion, and
/// the diagonal keeps the row sum zero in the interior. Rows stay dominant for any strength.
SparseMatrix<double> convection_diffusion(const Grid& grid, int dimensions, const HelicalFlow& flow) {
  return stencil_matrix(grid, cross_offsets(dimensions), Symmetry::general,
                        [&](GridPoint column, GridOffset offset) {
                          const std::array<double, 3> speed = flow(column + offset);
                          if (offset.is_centre()) {
                            double diagonal = 2.0 * dimensions;
                            for (double part : speed) diagonal += part < 0 ? -part : part;
                            return diagonal;
                          }
                          // Seen from the row, the column's point lies at −offset: upstream if the flow there
                          // runs along +offset.
                          const double towards_row = offset.x != 0   ? offset.x * speed[0]
                                                     : offset.y != 0 ? offset.y * speed[1]
                                                                     : offset.z * speed[2];
                          return towards_row > 0 ? -1.0 - towards_row : -1.0;
                        });
}

void append_entry(SparseMatrix<double>& matrix, index_t row, double value) {
  matrix.pattern.row_index.push_back(row);
  matrix.values.push_back(value);
}

void finish_column(SparseMatrix<double>& matrix) {
  matrix.pattern.column_ptr.push_back(static_cast<offset_t>(matrix.pattern.row_index.size()));
}

}  // namespace

SparseMatrix<double> make_poisson2d5(const GenerateOptions& options) {
  return laplacian(square(options.n), cross_offsets(2), 4.0);
}

SparseMatrix<double> make_poisson2d9(const GenerateOptions& options) {
  return laplacian(square(options.n), box_offsets(2), 8.0);
}

SparseMatrix<double> make_poisson3d7(const GenerateOptions& options) {
  return laplacian(cube(options.n), cross_offsets(3), 6.0);
}

SparseMatrix<double> make_poisson3d27(const GenerateOptions& options) {
  return laplacian(cube(options.n), box_offsets(3), 26.0);
}

SparseMatrix<double> make_indefinite2d(const GenerateOptions& options) {
  return laplacian(square(options.n), cross_offsets(2), 4.0 - options.parameter);
}

SparseMatrix<double> make_convection_diffusion2d(const GenerateOptions& options) {
  return convection_diffusion(square(options.n), 2, {options.parameter, options.n, 2});
}

SparseMatrix<double> make_convection_diffusion3d(const GenerateOptions& options) {
  return convection_diffusion(cube(options.n), 3, {options.parameter, options.n, 3});
}

// min ½‖y‖² + ½α‖u‖² subject to K·y = u, K the 7-point Laplacian: [I 0 K; 0 αI −I; K −I 0] in the order y, u,
// multipliers. Nonsingular, since diag(I, αI) is positive definite and the constraints [K −I] have full row
// rank.
SparseMatrix<double> make_kkt3d(const GenerateOptions& options) {
  const SparseMatrix<double> stiffness = make_poisson3d7(options);
  const index_t points = stiffness.rows();
  SparseMatrix<double> matrix;
  matrix.symmetry = Symmetry::symmetric;
  matrix.pattern.rows = matrix.pattern.cols = 3 * points;
  const auto num_entries = static_cast<std::size_t>(2 * stiffness.nnz() + 4 * offset_t{points});
  matrix.pattern.column_ptr.reserve(3 * static_cast<std::size_t>(points) + 1);
  matrix.pattern.row_index.reserve(num_entries);
  matrix.values.reserve(num_entries);
  const auto push_stiffness = [&](index_t column, index_t first_row) {
    for (offset_t entry = stiffness.pattern.column_ptr[column];
         entry < stiffness.pattern.column_ptr[column + 1]; ++entry)
      append_entry(matrix, first_row + stiffness.pattern.row_index[entry], stiffness.values[entry]);
  };
  for (index_t state = 0; state < points; ++state) {
    append_entry(matrix, state, 1.0);
    push_stiffness(state, 2 * points);
    finish_column(matrix);
  }
  for (index_t control = 0; control < points; ++control) {
    append_entry(matrix, points + control, options.parameter);
    append_entry(matrix, 2 * points + control, -1.0);
    finish_column(matrix);
  }
  for (index_t multiplier = 0; multiplier < points; ++multiplier) {
    push_stiffness(multiplier, 0);
    append_entry(matrix, points + multiplier, -1.0);
    finish_column(matrix);
  }
  return matrix;
}

}  // namespace palmette::matrix_detail
