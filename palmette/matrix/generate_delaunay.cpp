// Bowyer–Watson triangulation with exact predicates, a spatial order of insertion and point location by
// walking.
#include "palmette/matrix/generate_delaunay.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace palmette::matrix_detail {
namespace {

__extension__ typedef __int128 wide_int;

/// Place of a point along the Hilbert curve of the 2²⁶ × 2²⁶ lattice: 52 bits.
std::uint64_t hilbert_place(PlanePoint point) {
  std::int64_t x = std::min(point.x, square_side - 1), y = std::min(point.y, square_side - 1);
  std::uint64_t place = 0;
  for (std::int64_t half = square_side / 2; half > 0; half /= 2) {
    const bool right = (x & half) != 0, upper = (y & half) != 0;
    place = 4 * place + (right ? (upper ? 2 : 3) : (upper ? 1 : 0));
    if (upper) continue;
    // The lower quarters hold the curve turned: mirrored at one diagonal or the other.
    if (right) {
      x = square_side - 1 - x;
      y = square_side - 1 - y;
    }
    std::swap(x, y);
  }
  return place;
}

/// Points 4 … n−1 in rounds of doubling size (a point is in the last round with probability 1/2, in the one
/// before with 1/4, and so on), each round along the Hilbert curve.
std::vector<index_t> insertion_order(const std::vector<PlanePoint>& points) {
  constexpr int num_rounds = 12;
  std::vector<std::pair<std::uint64_t, index_t>> keyed;
  keyed.reserve(points.size());
  for (std::size_t point = 4; point < points.size(); ++point) {
    const int rounds_before_last = std::min(std::countr_zero(mix_bits(point)), num_rounds - 1);
    const auto round = static_cast<std::uint64_t>(num_rounds - 1 - rounds_before_last);
    keyed.emplace_back((round << 52) | hilbert_place(points[point]), static_cast<index_t>(point));
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<index_t> order;
  order.reserve(keyed.size());
  for (const auto& [key, point] : keyed) order.push_back(point);
  return order;
}

/// Grows the triangulation point by point; scratch arrays live as long as it does.
class Triangulation {
 public:
  explicit Triangulation(const std::vector<PlanePoint>& points)
      : points_(points), starting_at_(points.size(), -1), ending_at_(points.size(), -1) {
    triangles_.reserve(2 * points.size());
    triangles_.push_back({{0, 1, 2}, {-1, 1, -1}});
    triangles_.push_back({{0, 2, 3}, {-1, -1, 0}});
    mark_.assign(2, -1);
  }

  void insert(index_t point) {
    find_cavity(point, triangle_that_holds(points_[point]));
    fill_cavity(point);
  }

  std::vector<Triangle> take() && { return std::move(triangles_); }

 private:
  /// An edge of the cavity's border, the cavity on its left.
  struct BorderEdge {
    index_t from, to;
    index_t outside;    ///< triangle on the other side, −1 on the border of the square
    int side_of_outside;  ///< which of its edges this is
  };

  /// Walks from the last new triangle towards the point. Ends because, in a Delaunay triangulation, each step
  /// lowers the power of the point with respect to the triangle's circle.
  index_t triangle_that_holds(PlanePoint point) const {
    index_t here = last_;
    for (int side = 0; side < 3; ++side) {
      const Triangle& triangle = triangles_[here];
      if (doubled_area(points_[triangle.vertex[(side + 1) % 3]], points_[triangle.vertex[(side + 2) % 3]],
                       point) >= 0)
        continue;
      here = triangle.neighbour[side];
      side = -1;
    }
    return here;
  }

  bool circle_holds(index_t number, PlanePoint point) const {
    const auto& vertex = triangles_[number].vertex;
    return in_circle(points_[vertex[0]], points_[vertex[1]], points_[vertex[2]], point);
  }

  void find_cavity(index_t point, index_t first) {
    cavity_.assign(1, first);
    border_.clear();
    mark_[first] = point;
    for (std::size_t place = 0; place < cavity_.size(); ++place) {
      const index_t inside = cavity_[place];
      for (int side = 0; side < 3; ++side) {
        const Triangle& triangle = triangles_[inside];
        const index_t beyond = triangle.neighbour[side];
        if (beyond >= 0 && mark_[beyond] == point) continue;
        if (beyond >= 0 && circle_holds(beyond, points_[point])) {
          mark_[beyond] = point;
          cavity_.push_back(beyond);
          continue;
        }
        const int back = beyond < 0 ? -1 : side_towards(beyond, inside);
        border_.push_back({triangle.vertex[(side + 1) % 3], triangle.vertex[(side + 2) % 3], beyond, back});
      }
    }
  }

  int side_towards(index_t number, index_t neighbour) const {
    int side = 0;
    while (triangles_[number].neighbour[side] != neighbour) ++side;
    return side;
  }

  /// Places of the cavity's triangles are used again; there are one or two more new triangles than old ones.
  index_t place_for_triangle() {
    if (!cavity_.empty()) {
      const index_t place = cavity_.back();
      cavity_.pop_back();
      return place;
    }
    triangles_.emplace_back();
    mark_.push_back(-1);
    return static_cast<index_t>(triangles_.size()) - 1;
  }

  void fill_cavity(index_t point) {
    fan_.clear();
    for (const BorderEdge& edge : border_) {
      index_t number = -1;
      if (doubled_area(points_[edge.from], points_[edge.to], points_[point]) != 0) {
        number = place_for_triangle();
        triangles_[number] = {{edge.from, edge.to, point}, {-1, -1, edge.outside}};
        if (edge.outside >= 0) triangles_[edge.outside].neighbour[edge.side_of_outside] = number;
        fan_.push_back(number);
      }
      starting_at_[edge.from] = number;
      ending_at_[edge.to] = number;
    }
    for (index_t number : fan_) {
      Triangle& triangle = triangles_[number];
      triangle.neighbour[0] = starting_at_[triangle.vertex[1]];
      triangle.neighbour[1] = ending_at_[triangle.vertex[0]];
    }
    last_ = fan_.back();
  }

  const std::vector<PlanePoint>& points_;
  std::vector<Triangle> triangles_;
  std::vector<index_t> mark_;         // length triangles: the last point whose cavity held the triangle
  std::vector<index_t> starting_at_;  // length points: new triangle whose border edge starts there
  std::vector<index_t> ending_at_;    // length points: new triangle whose border edge ends there
  std::vector<index_t> cavity_, fan_;
  std::vector<BorderEdge> border_;
  index_t last_ = 0;
};

}  // namespace

std::int64_t doubled_area(PlanePoint a, PlanePoint b, PlanePoint c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Sign of the determinant with rows (d_x, d_y, d_x² + d_y²), d = vertex − p. Differences have 27 bits and a
// sign, minors and squared lengths at most 54, products 108.
bool in_circle(PlanePoint a, PlanePoint b, PlanePoint c, PlanePoint p) {
  const std::int64_t ax = a.x - p.x, ay = a.y - p.y, bx = b.x - p.x, by = b.y - p.y, cx = c.x - p.x,
                     cy = c.y - p.y;
  const wide_int determinant = static_cast<wide_int>(ax * ax + ay * ay) * (bx * cy - by * cx) +
                               static_cast<wide_int>(bx * bx + by * by) * (cx * ay - cy * ax) +
                               static_cast<wide_int>(cx * cx + cy * cy) * (ax * by - ay * bx);
  return determinant > 0;
}

std::vector<Triangle> triangulate(const std::vector<PlanePoint>& points) {
  Triangulation triangulation(points);
  for (index_t point : insertion_order(points)) triangulation.insert(point);
  return std::move(triangulation).take();
}

PlanePoint draw_point(RandomStream& random) {
  const std::int64_t x = 1 + random.below(static_cast<index_t>(square_side) - 1);
  const std::int64_t y = 1 + random.below(static_cast<index_t>(square_side) - 1);
  return {x, y};
}

void separate_duplicates(std::vector<PlanePoint>& points, RandomStream& random) {
  std::vector<std::pair<std::int64_t, std::size_t>> keyed(points.size());
  for (bool all_differ = false; !all_differ;) {
    for (std::size_t point = 0; point < points.size(); ++point)
      keyed[point] = {points[point].x * (square_side + 1) + points[point].y, point};
    std::sort(keyed.begin(), keyed.end());
    all_differ = true;
    for (std::size_t place = 1; place < keyed.size(); ++place) {
      if (keyed[place].first != keyed[place - 1].first) continue;
      points[keyed[place].second] = draw_point(random);
      all_differ = false;
    }
  }
}

}  // namespace palmette::matrix_detail
