// Linear elasticity in three dimensions: trilinear 8-node bricks on a cube of n × n × n elements, face x = 0
// clamped.
//
// Young's modulus 1, Poisson's ratio 3/10, element edge 1. Then λ = 15/26 and μ = 10/26, and the integrals of
// products of shape function derivatives are multiples of 1/72; each entry is 5/1872 times an integer. The
// integers are summed, so the assembled matrix is exactly symmetric and rounded once, the same on every
// machine. A 2 × 2 × 2 Gauss rule gives the same integrals, since they are of degree two in each variable.
#include <array>

#include "palmette/matrix/generate_problems.hpp"
#include "palmette/matrix/generate_stencil.hpp"

namespace palmette::matrix_detail {
namespace {

/// 72·26/5 times the element's stiffness for one pair of corners: entry [3·i + j] couples direction i with j.
using CornerBlock = std::array<int, 9>;
/// All pairs of corners, [8·a + b]; corner a has x = bit 0, y = bit 1, z = bit 2 of a.
using ElementMatrix = std::array<CornerBlock, 64>;

int corner_side(int corner, int axis) { return (corner >> axis) & 1; }

/// 72·∫ ∂N_a/∂x_i · ∂N_b/∂x_j over the unit cube, a product of one-dimensional integrals:
/// ∫N'N' = ±1, ∫NN = 2/6 or 1/6, ∫N'N = ±1/2, with N = 1 − t at side 0 and t at side 1.
int derivative_integral(int a, int b, int i, int j) {
  int product = i == j ? 2 : 3;
  for (int axis = 0; axis < 3; ++axis) {
    const bool same_side = corner_side(a, axis) == corner_side(b, axis);
    if (axis == i && axis == j) product *= same_side ? 1 : -1;
    else if (axis == i) product *= corner_side(a, axis) == 1 ? 1 : -1;
    else if (axis == j) product *= corner_side(b, axis) == 1 ? 1 : -1;
    else product *= same_side ? 2 : 1;
  }
  return product;
}

/// λ ∂_iN_a ∂_jN_b + μ (∂_jN_a ∂_iN_b + δ_ij ∇N_a·∇N_b), in units of 5/1872, where λ : μ = 3 : 2.
CornerBlock corner_block(int a, int b) {
  const int gradients =
      derivative_integral(a, b, 0, 0) + derivative_integral(a, b, 1, 1) + derivative_integral(a, b, 2, 2);
  CornerBlock block{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      block[3 * i + j] = 3 * derivative_integral(a, b, i, j) + 2 * derivative_integral(a, b, j, i) +
                         (i == j ? 2 * gradients : 0);
  return block;
}

ElementMatrix element_matrix() {
  ElementMatrix element;
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b) element[8 * a + b] = corner_block(a, b);
  return element;
}

/// Sum over the elements that hold both the node at `point` and the one at `point + offset` (row first).
/// Nodes with x = 0 are clamped and not in the grid, so the node (x, y, z) of the grid is the mesh node (x +
/// 1, y, z).
CornerBlock coupling(const ElementMatrix& element, index_t num_elements, GridPoint point, GridOffset offset) {
  const std::array<index_t, 3> node{point.x + 1, point.y, point.z};
  const std::array<index_t, 3> step{offset.x, offset.y, offset.z};
  CornerBlock sum{};
  for (int corner = 0; corner < 8; ++corner) {
    int other = 0;
    bool shared = true;
    for (int axis = 0; axis < 3; ++axis) {
      const index_t origin = node[axis] - corner_side(corner, axis),
                    other_side = corner_side(corner, axis) + step[axis];
      shared = shared && origin >= 0 && origin < num_elements && (other_side == 0 || other_side == 1);
      other |= static_cast<int>(other_side) << axis;
    }
    if (!shared) continue;
    const CornerBlock& block = element[8 * other + corner];
    for (int place = 0; place < 9; ++place) sum[place] += block[place];
  }
  return sum;
}

}  // namespace

SparseMatrix<double> make_elasticity3d(const GenerateOptions& options) {
  const Grid free_nodes{options.n, options.n + 1, options.n + 1};
  const std::vector<GridOffset> offsets = box_offsets(3);
  const ElementMatrix element = element_matrix();
  SparseMatrix<double> matrix;
  SparsityPattern& pattern = matrix.pattern;
  matrix.symmetry = Symmetry::symmetric;
  pattern.rows = pattern.cols = 3 * free_nodes.size();
  const auto num_entries = static_cast<std::size_t>(9 * count_pairs(free_nodes, offsets));
  pattern.column_ptr.reserve(pattern.cols + 1);
  pattern.row_index.reserve(num_entries);
  matrix.values.reserve(num_entries);
  std::vector<CornerBlock> blocks(offsets.size());
  for_each_point(free_nodes, [&](GridPoint point) {
    for (std::size_t place = 0; place < offsets.size(); ++place)
      if (free_nodes.contains(point + offsets[place]))
        blocks[place] = coupling(element, options.n, point, offsets[place]);
    for (int direction = 0; direction < 3; ++direction) {
      for (std::size_t place = 0; place < offsets.size(); ++place) {
        const GridPoint neighbour = point + offsets[place];
        if (!free_nodes.contains(neighbour)) continue;
        for (int i = 0; i < 3; ++i) {
          pattern.row_index.push_back(3 * free_nodes.number(neighbour) + i);
          matrix.values.push_back(5.0 * blocks[place][3 * i + direction] / 1872.0);
        }
      }
      pattern.column_ptr.push_back(static_cast<offset_t>(pattern.row_index.size()));
    }
  });
  return matrix;
}

}  // namespace palmette::matrix_detail
