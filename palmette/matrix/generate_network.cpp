// Networks: circuits with supply rails, scale-free graphs (R-MAT) and road-like graphs.
#include <algorithm>
#include <bit>
#include <cmath>

#include "palmette/matrix/generate_assemble.hpp"
#include "palmette/matrix/generate_problems.hpp"
#include "palmette/matrix/generate_random.hpp"

namespace palmette::matrix_detail {
namespace {

/// A branch's conductance between 2⁻¹⁰ and 2³, even in the logarithm up to the 20 bits of its fraction.
double draw_conductance(RandomStream& random) {
  return random.power_of_two(-10, 2) * (1.0 + random.fraction());
}

/// How far a wire reaches, at least 1, at most 2000: longer than h with probability h^(−4/3).
index_t draw_reach(RandomStream& random) {
  const double root = std::sqrt(random.fraction() + 1.0 / 1048576.0);
  return static_cast<index_t>(std::min(1.0 / (root * std::sqrt(root)), 2000.0));
}

/// A branch between two nodes; an amplifier in it makes one direction weaker by a factor in [1/4, 1].
void push_branch(Triplets<double>& triplets, index_t from, index_t to, RandomStream& random) {
  const double conductance = draw_conductance(random);
  push_entry(triplets, from, to, -conductance);
  push_entry(triplets, to, from, -conductance * (0.25 + 0.75 * random.fraction()));
}

/// A chain through all nodes, so that the circuit is connected, and 1.2·n wires of power-law reach.
void push_wires(Triplets<double>& triplets, RandomStream& random) {
  const index_t n = triplets.rows;
  for (index_t node = 1; node < n; ++node) push_branch(triplets, node - 1, node, random);
  const offset_t num_wires = offset_t{n} * 6 / 5;
  for (offset_t wire = 0; wire < num_wires; ++wire) {
    const index_t from = random.below(n), reach = draw_reach(random);
    if (from < n - reach) push_branch(triplets, from, from + reach, random);
    else if (from >= reach) push_branch(triplets, from, from - reach, random);
  }
}

/// n/4 sources controlled by a node at most 40 away: entries without a mirror image.
void push_controlled_sources(Triplets<double>& triplets, RandomStream& random) {
  const index_t n = triplets.rows;
  for (index_t source = 0; source < n / 4; ++source) {
    const index_t row = random.below(n), column = row - 40 + random.below(81);
    if (column >= 0 && column < n && column != row)
      push_entry(triplets, row, column, random.signed_fraction());
  }
}

/// Supply rails: nodes with weak branches to a twenty-fifth of all nodes, hence nearly dense rows and
/// columns.
void push_rails(Triplets<double>& triplets, index_t num_rails, RandomStream& random) {
  const index_t n = triplets.rows;
  for (index_t rail = 0; rail < num_rails; ++rail) {
    const index_t hub = random.below(n);
    for (index_t tap = 0; tap < n / 25; ++tap) {
      const index_t node = random.below(n);
      if (node == hub) continue;
      push_entry(triplets, hub, node, -random.power_of_two(-13, -8) * (1.0 + random.fraction()));
      push_entry(triplets, node, hub, -random.power_of_two(-13, -8) * (1.0 + random.fraction()));
    }
  }
}

struct Edge {
  index_t from = 0, to = 0;
};

/// Halves the square of all pairs `levels` times, each time into a quarter drawn with 57, 19, 19 and 5 per
/// cent.
Edge draw_rmat_edge(int levels, RandomStream& random) {
  constexpr std::uint64_t first = 37356, second = 49807, third = 62259;  // 0.57, 0.76 and 0.95 of 2¹⁶
  Edge edge;
  std::uint64_t bits = 0;
  for (int level = 0; level < levels; ++level) {
    if (level % 4 == 0) bits = random.next();
    const std::uint64_t draw = bits & 0xffff;
    bits >>= 16;
    edge.from = 2 * edge.from + (draw >= second ? 1 : 0);
    edge.to = 2 * edge.to + ((draw >= first && draw < second) || draw >= third ? 1 : 0);
  }
  return edge;
}

/// A square grid of crossings; streets[v] tells which of its streets to the right (bit 0) and upwards (bit 1)
/// exist.
class StreetMap {
 public:
  explicit StreetMap(index_t side) : side_(side), streets_(static_cast<std::size_t>(side) * side, 0) {}

  /// A spanning tree with long winding roads: walk to a random unvisited neighbour; at a dead end, go back.
  void pave_tree(RandomStream& random) {
    std::vector<bool> visited(streets_.size(), false);
    std::vector<index_t> path = {random.below(static_cast<index_t>(streets_.size()))};
    visited[path.back()] = true;
    while (!path.empty()) {
      const index_t next = unvisited_neighbour(path.back(), visited, random);
      if (next < 0) {
        path.pop_back();
        continue;
      }
      const index_t lower = std::min(path.back(), next), upper = std::max(path.back(), next);
      streets_[lower] |= upper == lower + 1 ? 1 : 2;
      visited[next] = true;
      path.push_back(next);
    }
  }

  /// Each missing street is built with this probability.
  void pave_shortcuts(double probability, RandomStream& random) {
    for (index_t crossing = 0; crossing < static_cast<index_t>(streets_.size()); ++crossing) {
      if (crossing % side_ + 1 < side_ && !(streets_[crossing] & 1) && random.fraction() < probability)
        streets_[crossing] |= 1;
      if (crossing / side_ + 1 < side_ && !(streets_[crossing] & 2) && random.fraction() < probability)
        streets_[crossing] |= 2;
    }
  }

  Triplets<double> edges() const {
    const auto num_crossings = static_cast<index_t>(streets_.size());
    Triplets<double> triplets = empty_triplets(num_crossings, 4 * streets_.size());
    push_empty_diagonal(triplets);
    for (index_t crossing = 0; crossing < num_crossings; ++crossing) {
      if (streets_[crossing] & 1) push_pair(triplets, crossing, crossing + 1, -1.0);
      if (streets_[crossing] & 2) push_pair(triplets, crossing, crossing + side_, -1.0);
    }
    return triplets;
  }

 private:
  /// −1 where there is none.
  index_t unvisited_neighbour(index_t crossing, const std::vector<bool>& visited,
                              RandomStream& random) const {
    index_t candidates[4], count = 0;
    const auto offer = [&](bool exists, index_t neighbour) {
      if (exists && !visited[neighbour]) candidates[count++] = neighbour;
    };
    offer(crossing % side_ > 0, crossing - 1);
    offer(crossing % side_ + 1 < side_, crossing + 1);
    offer(crossing / side_ > 0, crossing - side_);
    offer(crossing / side_ + 1 < side_, crossing + side_);
    return count == 0 ? -1 : candidates[random.below(count)];
  }

  index_t side_;
  std::vector<std::uint8_t> streets_;  // length side²
};

}  // namespace

// Diagonal: a little more than the sum of the row, so rows are dominant, hence nonsingular, but only just.
SparseMatrix<double> make_circuit(const GenerateOptions& options) {
  RandomStream random(options.seed);
  const index_t num_rails = static_cast<index_t>(std::min<double>(options.parameter, options.n));
  Triplets<double> triplets = empty_triplets(options.n, 6 * static_cast<std::size_t>(options.n));
  push_empty_diagonal(triplets);
  push_wires(triplets, random);
  push_controlled_sources(triplets, random);
  push_rails(triplets, num_rails, random);
  SparseMatrix<double> matrix = from_triplets(triplets);
  std::vector<double> diagonal = off_diagonal_row_sums(matrix);
  for (double& sum : diagonal) sum = sum + sum / 128.0 + 1.0 / 1024.0;
  set_diagonal(matrix, diagonal);
  return matrix;
}

SparseMatrix<double> make_rmat(const GenerateOptions& options) {
  RandomStream random(options.seed);
  const int levels = std::bit_width(static_cast<std::uint32_t>(options.n - 1));
  const auto num_draws = static_cast<offset_t>(options.parameter * options.n);
  Triplets<double> edges = empty_triplets(
      options.n, static_cast<std::size_t>(2 * num_draws) + static_cast<std::size_t>(options.n));
  push_empty_diagonal(edges);
  for (offset_t draw = 0; draw < num_draws; ++draw) {
    const Edge edge = draw_rmat_edge(levels, random);
    if (edge.from == edge.to || edge.from >= options.n || edge.to >= options.n) continue;
    push_pair(edges, edge.from, edge.to, -1.0);
  }
  return laplacian_plus_identity(edges);
}

SparseMatrix<double> make_road(const GenerateOptions& options) {
  RandomStream random(options.seed);
  StreetMap map(options.n);
  map.pave_tree(random);
  map.pave_shortcuts(options.parameter, random);
  return laplacian_plus_identity(map.edges());
}

}  // namespace palmette::matrix_detail
