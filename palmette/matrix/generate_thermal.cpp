// Heat conduction on an irregular mesh: linear elements on a Delaunay triangulation of random points in the
// unit square.
//
// One implicit time step: ∫ k ∇u·∇v + parameter ∫ u v, with a conductivity k that jumps between the 16 × 16
// cells of the square by powers of two from 1/64 to 64. Insulated border. Positive definite because of the
// mass term.
#include <array>

#include "palmette/matrix/generate_delaunay.hpp"
#include "palmette/matrix/generate_problems.hpp"

namespace palmette::matrix_detail {
namespace {

constexpr std::int64_t cells_a_side = 16;

index_t integer_root(index_t n) {
  index_t root = 0;
  while (offset_t{root + 1} * (root + 1) <= n) ++root;
  return root;
}

/// The border holds 4·s points, evenly spaced, s = ⌊⌊√n⌋ / 2⌋: the four corners first, then side after side.
void push_border(std::vector<PlanePoint>& points, index_t spaces_a_side) {
  const std::array<PlanePoint, 5> corner{
      {{0, 0}, {square_side, 0}, {square_side, square_side}, {0, square_side}, {0, 0}}};
  points.assign(corner.begin(), corner.begin() + 4);
  for (int side = 0; side < 4; ++side)
    for (std::int64_t space = 1; space < spaces_a_side; ++space) {
      const PlanePoint from = corner[side], to = corner[side + 1];
      points.push_back({from.x + (to.x - from.x) * space / spaces_a_side,
                        from.y + (to.y - from.y) * space / spaces_a_side});
    }
}

std::vector<PlanePoint> mesh_points(index_t n, RandomStream& random) {
  std::vector<PlanePoint> points;
  points.reserve(n);
  push_border(points, integer_root(n) / 2);
  while (points.size() < static_cast<std::size_t>(n)) points.push_back(draw_point(random));
  separate_duplicates(points, random);
  return points;
}

/// Conductivity of each cell, a power of two: its product with a stiffness is exact.
class Conductivity {
 public:
  explicit Conductivity(RandomStream& random) {
    for (double& cell : cells_) cell = random.power_of_two(-6, 6);
  }
  double at_centre(PlanePoint a, PlanePoint b, PlanePoint c) const {
    const std::int64_t column = (a.x + b.x + c.x) * cells_a_side / (3 * square_side + 1);
    const std::int64_t row = (a.y + b.y + c.y) * cells_a_side / (3 * square_side + 1);
    return cells_[row * cells_a_side + column];
  }

 private:
  std::array<double, cells_a_side * cells_a_side> cells_{};
};

/// The 3 × 3 element matrices: stiffness k·(e_i·e_j) / (2·doubled area), edges e opposite the vertices, and
/// mass area·(1 + δ_ij) / 12. Dot products and areas are exact integers in lattice units.
class ElementMaker {
 public:
  ElementMaker(const std::vector<PlanePoint>& points, const Conductivity& conductivity, double mass)
      : points_(points), conductivity_(conductivity), mass_(mass) {}

  double operator()(const Triangle& triangle, int i, int j) const {
    const PlanePoint a = points_[triangle.vertex[0]], b = points_[triangle.vertex[1]],
                     c = points_[triangle.vertex[2]];
    const std::array<PlanePoint, 3> edge{
        {{c.x - b.x, c.y - b.y}, {a.x - c.x, a.y - c.y}, {b.x - a.x, b.y - a.y}}};
    const auto area = static_cast<double>(doubled_area(a, b, c));
    const auto dot = static_cast<double>(edge[i].x * edge[j].x + edge[i].y * edge[j].y);
    constexpr double square_area = static_cast<double>(square_side) * static_cast<double>(square_side);
    const double weight = (i == j ? 2.0 : 1.0) * area;
    return conductivity_.at_centre(a, b, c) * (dot / (2.0 * area)) + mass_ * weight / (24.0 * square_area);
  }

 private:
  const std::vector<PlanePoint>& points_;
  const Conductivity& conductivity_;
  double mass_;
};

void push_symmetric(Triplets<double>& triplets, index_t row, index_t column, double value) {
  triplets.row.insert(triplets.row.end(), {row, column});
  triplets.column.insert(triplets.column.end(), {column, row});
  triplets.value.insert(triplets.value.end(), 2, value);
}

/// Each edge once, from the triangle with the smaller number; its value is the sum over its one or two
/// triangles.
Triplets<double> assemble(const std::vector<Triangle>& triangles, index_t n, const ElementMaker& element) {
  Triplets<double> triplets{n, n, {}, {}, {}};
  for (auto* indices : {&triplets.row, &triplets.column}) indices->reserve(7 * static_cast<std::size_t>(n));
  triplets.value.reserve(7 * static_cast<std::size_t>(n));
  std::vector<double> diagonal(n, 0.0);
  for (std::size_t number = 0; number < triangles.size(); ++number) {
    const Triangle& triangle = triangles[number];
    for (int side = 0; side < 3; ++side) {
      diagonal[triangle.vertex[side]] += element(triangle, side, side);
      const index_t beyond = triangle.neighbour[side];
      if (beyond >= 0 && beyond < static_cast<index_t>(number)) continue;
      double value = element(triangle, (side + 1) % 3, (side + 2) % 3);
      if (beyond >= 0) {
        const Triangle& other = triangles[beyond];
        int back = 0;
        while (other.neighbour[back] != static_cast<index_t>(number)) ++back;
        value += element(other, (back + 1) % 3, (back + 2) % 3);
      }
      push_symmetric(triplets, triangle.vertex[(side + 1) % 3], triangle.vertex[(side + 2) % 3], value);
    }
  }
  for (index_t point = 0; point < n; ++point) {
    triplets.row.push_back(point);
    triplets.column.push_back(point);
    triplets.value.push_back(diagonal[point]);
  }
  return triplets;
}

/// Fewer than four points do not span a square: each gets its share of the mass.
SparseMatrix<double> loose_points(index_t n, double mass) {
  Triplets<double> triplets{n, n, {}, {}, {}};
  for (index_t point = 0; point < n; ++point) {
    triplets.row.push_back(point);
    triplets.column.push_back(point);
    triplets.value.push_back(mass / n);
  }
  return from_triplets(triplets, Symmetry::symmetric);
}

}  // namespace

SparseMatrix<double> make_thermal2d(const GenerateOptions& options) {
  if (options.n < 4) return loose_points(options.n, options.parameter);
  RandomStream random(options.seed);
  const Conductivity conductivity(random);
  const std::vector<PlanePoint> points = mesh_points(options.n, random);
  const std::vector<Triangle> triangles = triangulate(points);
  return from_triplets(assemble(triangles, options.n, ElementMaker(points, conductivity, options.parameter)),
                       Symmetry::symmetric);
}

}  // namespace palmette::matrix_detail
