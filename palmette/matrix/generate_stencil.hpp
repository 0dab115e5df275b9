// Inside `matrix`: compressed columns straight from a stencil on a box of grid points, without coordinates or
// sorting.
#pragma once

#include <vector>

#include "palmette/matrix/sparse_matrix.hpp"

namespace palmette::matrix_detail {

struct GridPoint {
  index_t x = 0, y = 0, z = 0;
};

/// A box of nx × ny × nz points, numbered x fastest, z slowest.
struct Grid {
  index_t nx = 1, ny = 1, nz = 1;

  index_t size() const { return nx * ny * nz; }
  bool contains(GridPoint point) const {
    return point.x >= 0 && point.x < nx && point.y >= 0 && point.y < ny && point.z >= 0 && point.z < nz;
  }
  index_t number(GridPoint point) const { return point.x + nx * (point.y + ny * point.z); }
};

/// The position of a neighbour relative to a point.
struct GridOffset {
  index_t x = 0, y = 0, z = 0;
  bool is_centre() const { return x == 0 && y == 0 && z == 0; }
};

inline GridPoint operator+(GridPoint point, GridOffset offset) {
  return {point.x + offset.x, point.y + offset.y, point.z + offset.z};
}

/// Offsets of the 3^dimensions box around a point, or of the cross in it (the faces only), in the order of
/// the numbering.
std::vector<GridOffset> box_offsets(int dimensions);
std::vector<GridOffset> cross_offsets(int dimensions);

/// Pairs of points of the grid that lie one of the offsets apart: Π (points − |offset|) for each offset.
offset_t count_pairs(const Grid& grid, const std::vector<GridOffset>& offsets);

/// Calls visit(point) for every point in the order of the numbering.
template <class Visit>
void for_each_point(const Grid& grid, Visit visit) {
  for (index_t z = 0; z < grid.nz; ++z)
    for (index_t y = 0; y < grid.ny; ++y)
      for (index_t x = 0; x < grid.nx; ++x) visit(GridPoint{x, y, z});
}

/// The matrix with entry value(column's point, offset) in the row of the point `offset` away, if that is in
/// the grid.
///
/// Rows ascend within a column because the offsets are in the order of the numbering.
/// @cost O(nnz), the result's memory and nothing else
template <class Value>
SparseMatrix<double> stencil_matrix(const Grid& grid, const std::vector<GridOffset>& offsets,
                                    Symmetry symmetry, Value value) {
  SparseMatrix<double> matrix;
  SparsityPattern& pattern = matrix.pattern;
  matrix.symmetry = symmetry;
  pattern.rows = pattern.cols = grid.size();
  const auto num_entries = static_cast<std::size_t>(count_pairs(grid, offsets));
  pattern.column_ptr.reserve(pattern.cols + 1);
  pattern.row_index.reserve(num_entries);
  matrix.values.reserve(num_entries);
  for_each_point(grid, [&](GridPoint column) {
    for (const GridOffset& offset : offsets) {
      const GridPoint row = column + offset;
      if (!grid.contains(row)) continue;
      pattern.row_index.push_back(grid.number(row));
      matrix.values.push_back(value(column, offset));
    }
    pattern.column_ptr.push_back(static_cast<offset_t>(pattern.row_index.size()));
  });
  return matrix;
}

}  // namespace palmette::matrix_detail
