// The stencils of the grid generators.
#include "palmette/matrix/generate_stencil.hpp"

namespace palmette::matrix_detail {
namespace {

index_t magnitude(index_t step) { return step < 0 ? -step : step; }

offset_t points_with_neighbour(index_t points, index_t step) {
  return points > magnitude(step) ? points - magnitude(step) : 0;
}

}  // namespace

std::vector<GridOffset> box_offsets(int dimensions) {
  const index_t reach_z = dimensions >= 3 ? 1 : 0;
  std::vector<GridOffset> offsets;
  for (index_t z = -reach_z; z <= reach_z; ++z)
    for (index_t y = -1; y <= 1; ++y)
      for (index_t x = -1; x <= 1; ++x) offsets.push_back({x, y, z});
  return offsets;
}

std::vector<GridOffset> cross_offsets(int dimensions) {
  std::vector<GridOffset> cross;
  for (const GridOffset& offset : box_offsets(dimensions))
    if (magnitude(offset.x) + magnitude(offset.y) + magnitude(offset.z) <= 1) cross.push_back(offset);
  return cross;
}

offset_t count_pairs(const Grid& grid, const std::vector<GridOffset>& offsets) {
  offset_t pairs = 0;
  for (const GridOffset& offset : offsets)
    pairs += points_with_neighbour(grid.nx, offset.x) * points_with_neighbour(grid.ny, offset.y) *
             points_with_neighbour(grid.nz, offset.z);
  return pairs;
}

}  // namespace palmette::matrix_detail
