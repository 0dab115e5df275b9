// The triangulation: empty circles, Euler's formula, area, neighbours; degenerate point sets; and the mesh
// problem on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "palmette/matrix/generate_delaunay.hpp"
#include "tests/matrix/generate_support.hpp"

namespace palmette::matrix_detail {
namespace {

using test::make;

std::vector<PlanePoint> corners() {
  return {{0, 0}, {square_side, 0}, {square_side, square_side}, {0, square_side}};
}

std::vector<PlanePoint> random_points(index_t n, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<PlanePoint> points = corners();
  while (points.size() < static_cast<std::size_t>(n)) points.push_back(draw_point(random));
  return points;
}

index_t count_on_border(const std::vector<PlanePoint>& points) {
  return static_cast<index_t>(std::count_if(points.begin(), points.end(), [](PlanePoint p) {
    return p.x == 0 || p.y == 0 || p.x == square_side || p.y == square_side;
  }));
}

/// Area, orientation, Euler's formula, neighbours, and the circles against every point.
void expect_delaunay(const std::vector<PlanePoint>& points) {
  const std::vector<Triangle> triangles = triangulate(points);
  const auto num_points = static_cast<std::int64_t>(points.size()),
             num_border = std::int64_t{count_on_border(points)};
  // Euler: V − E + F = 1 without the outer face; 3F = 2E − border edges, and the border has as many edges as
  // points.
  EXPECT_EQ(static_cast<std::int64_t>(triangles.size()), 2 * num_points - 2 - num_border);
  std::int64_t total = 0, border_edges = 0;
  for (std::size_t number = 0; number < triangles.size(); ++number) {
    const Triangle& t = triangles[number];
    const PlanePoint a = points[t.vertex[0]], b = points[t.vertex[1]], c = points[t.vertex[2]];
    EXPECT_GT(doubled_area(a, b, c), 0);
    total += doubled_area(a, b, c);
    for (const PlanePoint& p : points) EXPECT_FALSE(in_circle(a, b, c, p));
    for (int side = 0; side < 3; ++side) {
      if (t.neighbour[side] < 0) {
        ++border_edges;
        continue;
      }
      // The neighbour has the same edge in the opposite direction, and this triangle across it.
      const Triangle& other = triangles[t.neighbour[side]];
      const auto back =
          std::find(other.neighbour.begin(), other.neighbour.end(), static_cast<index_t>(number));
      ASSERT_NE(back, other.neighbour.end());
      const auto place = back - other.neighbour.begin();
      EXPECT_EQ(other.vertex[(place + 1) % 3], t.vertex[(side + 2) % 3]);
      EXPECT_EQ(other.vertex[(place + 2) % 3], t.vertex[(side + 1) % 3]);
    }
  }
  EXPECT_EQ(total, 2 * square_side * square_side);
  EXPECT_EQ(border_edges, num_border);
}

TEST(predicates, know_left_from_right_to_the_last_unit) {
  const PlanePoint a{0, 0}, b{square_side, square_side - 1}, on{0, 0};
  EXPECT_EQ(doubled_area(a, b, on), 0);
  EXPECT_GT(doubled_area(a, b, {square_side / 2, square_side / 2}), 0);
  EXPECT_LT(doubled_area(a, b, {square_side / 2, square_side / 2 - 1}), 0);
}

TEST(predicates, know_inside_from_outside_to_the_last_unit) {
  // The circle through three corners of the square passes through the fourth; a point one unit further in is
  // inside.
  const auto c = corners();
  EXPECT_FALSE(in_circle(c[0], c[1], c[2], c[3]));
  EXPECT_TRUE(in_circle(c[0], c[1], c[2], {1, square_side}));
  EXPECT_TRUE(in_circle(c[0], c[1], c[2], {1, square_side - 1}));
  EXPECT_FALSE(in_circle(c[0], c[1], {square_side - 1, square_side}, c[2]));
}

TEST(triangulate, square_alone_is_two_triangles) { expect_delaunay(corners()); }

TEST(triangulate, random_points_have_empty_circles_and_fill_the_square) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    expect_delaunay(random_points(4 + static_cast<index_t>(seed) * 9, seed));
}

TEST(triangulate, lattice_points_all_on_common_circles_are_no_obstacle) {
  std::vector<PlanePoint> points = corners();
  for (std::int64_t x = 0; x <= 8; ++x)
    for (std::int64_t y = 0; y <= 8; ++y)
      if (x % 8 != 0 || y % 8 != 0) points.push_back({x * square_side / 8, y * square_side / 8});
  ASSERT_EQ(points.size(), 81u);
  expect_delaunay(points);
}

TEST(triangulate, points_on_one_line_and_on_the_border_are_no_obstacle) {
  std::vector<PlanePoint> points = corners();
  for (std::int64_t step = 1; step < 16; ++step)
    points.push_back({step * square_side / 16, step * square_side / 16});
  for (std::int64_t step = 1; step < 16; ++step) points.push_back({step * step * square_side / 256, 0});
  for (std::int64_t step = 1; step < 16; ++step) points.push_back({square_side, square_side - step * 3});
  expect_delaunay(points);
}

TEST(triangulate, neighbouring_lattice_points_are_no_obstacle) {
  std::vector<PlanePoint> points = corners();
  for (std::int64_t x = 0; x < 7; ++x)
    for (std::int64_t y = 0; y < 7; ++y)
      points.push_back({square_side / 3 + x, square_side / 3 + (x * y) % 7 + 7 * y});
  expect_delaunay(points);
}

TEST(separate_duplicates, draws_points_anew_until_all_differ) {
  std::vector<PlanePoint> points = corners();
  for (int copy = 0; copy < 50; ++copy) points.push_back({5, 5});
  points.push_back({square_side, 0});
  RandomStream random(3);
  separate_duplicates(points, random);
  std::set<std::pair<std::int64_t, std::int64_t>> distinct;
  for (const PlanePoint& p : points) distinct.insert({p.x, p.y});
  EXPECT_EQ(distinct.size(), 55u);
  EXPECT_EQ(points[4].x, 5);
  EXPECT_EQ(count_on_border(points), 4);
}

TEST(thermal, entries_follow_eulers_formula) {
  // 3n − 3 − border edges, each two entries, and the diagonal; the border has 4·⌊⌊√n⌋/2⌋ points.
  for (const auto& [n, border] : {std::pair{4, 4}, {15, 4}, {16, 8}, {100, 20}, {1000, 60}, {3000, 108}}) {
    const SparseMatrix<double> matrix = make("thermal2d", n);
    EXPECT_EQ(matrix.rows(), n);
    EXPECT_EQ(matrix.nnz(), 7 * n - 6 - 2 * border) << n;
  }
}

TEST(thermal, constant_temperature_costs_only_the_mass) {
  // The stiffness of a constant is zero and the mass terms sum to parameter times the area of the square.
  // Rounding: the entries are at most some hundred times the conductivity, 64.
  const SparseMatrix<double> matrix = make("thermal2d", 500, 1, 1000);
  double sum = 0;
  for (double value : matrix.values) sum += value;
  EXPECT_NEAR(sum, 1000, 1e-7);
}

TEST(thermal, temperature_rising_in_x_costs_conductivity_times_area) {
  // Four corners, two triangles of area 1/2 with centres (2/3, 1/3) and (1/3, 2/3), in columns 10 and 5 and
  // rows 5 and 10 of the 16 × 16 cells, whose conductivities are the first draws. For u = x, |∇u|² = 1: uᵀAu
  // = (k_1 + k_2) / 2 + mass.
  RandomStream random(11);
  std::vector<double> cells(256);
  for (double& cell : cells) cell = random.power_of_two(-6, 6);
  const DenseMatrix<double> full = test::dense(make("thermal2d", 4, 11, 1e-6));
  const double u[] = {0, 1, 1, 0};
  double energy = 0;
  for (index_t row = 0; row < 4; ++row)
    for (index_t column = 0; column < 4; ++column) energy += u[row] * full.view()(row, column) * u[column];
  EXPECT_NEAR(energy, (cells[5 * 16 + 10] + cells[10 * 16 + 5]) / 2, 2e-6);
}

TEST(thermal, rows_of_the_square_alone_sum_to_their_mass) {
  // Corners 0 and 2 belong to both triangles, 1 and 3 to one; a third of a triangle's mass goes to each of
  // its corners.
  const SparseMatrix<double> matrix = make("thermal2d", 4, 1, 1e-6);
  const DenseMatrix<double> full = test::dense(matrix);
  for (index_t row = 0; row < 4; ++row) {
    double sum = 0;
    for (index_t column = 0; column < 4; ++column) sum += full.view()(row, column);
    EXPECT_NEAR(sum, row % 2 == 0 ? 1e-6 / 3 : 1e-6 / 6, 1e-13);
  }
}

}  // namespace
}  // namespace palmette::matrix_detail
