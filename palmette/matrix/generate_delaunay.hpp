// Inside `matrix`: Delaunay triangulation of points in a square, in exact integer arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "palmette/matrix/generate_random.hpp"

namespace palmette::matrix_detail {

/// Points have integer coordinates in 0 … square_side: then every predicate fits in 128 bits and is exact.
inline constexpr std::int64_t square_side = std::int64_t{1} << 26;

struct PlanePoint {
  std::int64_t x = 0, y = 0;
};

struct Triangle {
  std::array<index_t, 3> vertex{};     ///< counter-clockwise
  std::array<index_t, 3> neighbour{};  ///< triangle across the edge opposite vertex[k]; −1 on the border
};

/// Twice the signed area of (a, b, c): positive if they turn counter-clockwise.
std::int64_t doubled_area(PlanePoint a, PlanePoint b, PlanePoint c);

/// True if p lies strictly inside the circle through a, b, c, which turn counter-clockwise.
bool in_circle(PlanePoint a, PlanePoint b, PlanePoint c, PlanePoint p);

/// Delaunay triangulation of the square [0, square_side]².
///
/// Points are inserted one after the other (Bowyer, Watson): the triangles whose circle holds the new point
/// form a cavity that is star-shaped around it, and are replaced by the fan over the cavity's border. A point
/// on the square's border forms no triangle with the edge on which it lies. Order of insertion: rounds of
/// doubling size, each along a Hilbert curve, so that the walk to the next point is short and cavities stay
/// small.
/// @param points  distinct, in the square; the first four are its corners (0,0), (s,0), (s,s), (0,s)
/// @return 2·points − 2 − (points on the border) triangles
/// @cost O(n log n) for the sort, O(n) expected otherwise; about 70 bytes per triangle
/// @source [Bowyer 1981]; [Watson 1981]; [Amenta et al. 2003] for the order of insertion
std::vector<Triangle> triangulate(const std::vector<PlanePoint>& points);

/// Draw points again, strictly inside the square, until all differ; of equal points the first in the list is
/// kept.
void separate_duplicates(std::vector<PlanePoint>& points, RandomStream& random);

/// A point strictly inside the square.
PlanePoint draw_point(RandomStream& random);

}  // namespace palmette::matrix_detail
