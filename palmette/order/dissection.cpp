// Recursive bisection by vertex separators, each found on a hierarchy of its own or by distances.
#include "palmette/order/dissection.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "palmette/order/distance_levels.hpp"
#include "palmette/order/minimum_degree.hpp"
#include "palmette/order/separator.hpp"
#include "palmette/order/shared_work.hpp"

namespace palmette::order_detail {
namespace {

constexpr index_t coarsest_vertices = 100;     // vertices of the graph on which separators are started
constexpr double useless_separator = 0.4;      // separator ÷ region; above this a cut is rejected
constexpr int deepest = 40;                    // levels of the tree
constexpr int passes_on_a_level = 4;
constexpr int most_losses = 3;                 // in a row, after which levels are not tried any more
constexpr double hopeless_level = 2.5;         // level ÷ hierarchy's separator; longer ones are not improved
constexpr double usual_growth = 1.8;           // of relative separators, from a region to its sides
constexpr index_t fewest_to_hand_over = 1000;  // vertices of a region that another thread may take

/// A part of the graph that is not yet ordered.
struct Region {
  Graph graph;                  // empty if the region is the whole graph
  std::vector<index_t> vertex;  // in the whole graph, by vertex of the region
  index_t place = 0;            // of its first vertex in the order
  std::uint64_t name = 1;       // the sides of region r are 2r and 2r + 1
  int depth = 0;
  // of the regions that hold it:
  int losses = 0;                 // of levels against hierarchies, in a row
  bool is_stencil = false;        // levels have won in all of them
  double relative_separator = 0;  // of the last one
  bool stays_whole = false;

  index_t size() const { return static_cast<index_t>(vertex.size()); }
};

/// Memory that one thread reuses.
struct Workbench {
  SeparatorSearch search;
  HaloMinimumDegree minimum_degree;
};

/// The cut of the finer level that corresponds to a cut of the coarser one.
void project(const LevelGraph& fine, Cut& cut) {
  std::vector<Side> side(fine.n);
  cut.separator.clear();
  for (std::size_t coarse = 0; coarse < cut.side.size(); ++coarse)
    for (index_t at = fine.cluster_start[coarse]; at < fine.cluster_start[coarse + 1]; ++at) {
      side[fine.cluster_member[at]] = cut.side[coarse];
      if (cut.side[coarse] == Side::separator) cut.separator.push_back(fine.cluster_member[at]);
    }
  cut.side = std::move(side);
}

/// The cut that begins on the coarsest level and is improved on each finer one.
Cut cut_by_hierarchy(const std::vector<LevelGraph>& levels, std::uint64_t name, SeparatorSearch& search) {
  Cut cut = search.begin(levels.back(), 16 * name);
  for (std::size_t level = levels.size() - 1; level-- > 0;) {
    project(levels[level], cut);
    search.improve(levels[level], cut, passes_on_a_level);
  }
  return cut;
}

/// A separator over what separators grow with in the plane. In space that of a region's side is shorter.
double relative_separator(const Cut& cut) {
  return static_cast<double>(cut.separator_weight) / std::sqrt(static_cast<double>(cut.total()));
}

/// The better one of a hierarchy's cut and of one by distances. Levels are not tried any more where they have
/// lost several times. While they have won from the whole graph on, no hierarchy is made, unless the level is
/// longer than the one before lets expect: then another kind of mesh may begin here.
/// @param region  notes who wins, for its sides
Cut find_cut(Region& region, const Graph& graph, Workbench& bench, ThreadTeam& team) {
  const auto by_hierarchy = [&] {
    return cut_by_hierarchy(coarsen(graph, coarsest_vertices, team), region.name, bench.search);
  };
  if (region.losses >= most_losses) return by_hierarchy();
  const LevelGraph finest = finest_level(graph);
  Cut level = cut_by_distance(finest, 16 * region.name + 7);
  if (region.is_stencil) {
    bench.search.improve(finest, level, passes_on_a_level);
    if (relative_separator(level) <= usual_growth * region.relative_separator) return level;
  }
  Cut found = by_hierarchy();
  if (static_cast<double>(level.separator_weight) <
      hopeless_level * static_cast<double>(found.separator_weight))
    bench.search.improve(finest, level, passes_on_a_level);
  const bool won = is_better(level, found);
  region.is_stencil = won && (region.depth == 0 || region.is_stencil);
  region.losses = won ? 0 : region.losses + 1;
  return won ? std::move(level) : std::move(found);
}

class Dissection {
 public:
  Dissection(const Graph& graph, index_t largest_whole, ThreadTeam& team)
      : largest_whole_(largest_whole), team_(team), alone_(1), benches_(team.size()),
        whole_(finest_level(graph)), order_(graph.n) {}

  Dissected order(const Graph& graph) {
    auto root = std::make_unique<Region>();
    root->vertex.resize(graph.n);
    std::iota(root->vertex.begin(), root->vertex.end(), 0);
    std::vector<std::shared_ptr<Region>> begun;
    if (is_leaf(*root)) finish(*root, benches_[0]);
    else
      for (std::unique_ptr<Region>& side : cut(*root, graph, benches_[0], team_))
        begun.push_back(std::move(side));
    const bool is_stencil = root->is_stencil;
    root.reset();
    share_work<std::shared_ptr<Region>>(
        team_, begun, [&](const std::shared_ptr<Region>& region, int thread, const auto& hand_over) {
          dissect(*region, benches_[thread], hand_over);
        });
    return {std::move(order_), is_stencil};
  }

 private:
  template <class HandOver>
  void dissect(Region& region, Workbench& bench, const HandOver& hand_over) {
    if (is_leaf(region)) return finish(region, bench);
    std::vector<std::unique_ptr<Region>> sides = cut(region, region.graph, bench, alone_);
    region.graph = Graph{};
    while (!sides.empty()) {
      std::unique_ptr<Region> side = std::move(sides.back());
      sides.pop_back();
      if (!sides.empty() && side->size() > fewest_to_hand_over)
        hand_over(std::shared_ptr<Region>(std::move(side)));
      else dissect(*side, bench, hand_over);
    }
  }

  /// Stencils are worth cutting further, whatever was asked for: their cuts are cheap and better.
  bool is_leaf(const Region& region) const {
    const index_t largest = region.is_stencil ? std::min(largest_whole_, stencil_region) : largest_whole_;
    return region.stays_whole || region.size() <= largest || region.depth > deepest;
  }

  void finish(const Region& region, Workbench& bench) {
    bench.minimum_degree.order(whole_, region.vertex, {order_.data() + region.place, region.vertex.size()});
  }

  /// Split a region into its two sides and put its separator in its place. Returns one side, to stay whole,
  /// if there is no good separator.
  /// @param graph  of the region
  std::vector<std::unique_ptr<Region>> cut(Region& region, const Graph& graph, Workbench& bench,
                                           ThreadTeam& team) {
    const Cut found = find_cut(region, graph, bench, team);
    std::vector<std::unique_ptr<Region>> sides;
    if (static_cast<double>(found.separator_weight) >
            useless_separator * static_cast<double>(found.total()) ||
        found.heavier() == found.total()) {
      sides.push_back(std::make_unique<Region>(std::move(region)));
      sides.back()->stays_whole = true;
      return sides;
    }
    sides = extract(region, graph, found, team);
    index_t next = sides[1]->place + sides[1]->size();
    for (std::size_t vertex = 0; vertex < found.side.size(); ++vertex)
      if (found.side[vertex] == Side::separator) order_[next++] = region.vertex[vertex];
    return sides;
  }

  /// The two sides. Neighbours of a side's vertex lie there or in the separator, so both share the places.
  static std::vector<std::unique_ptr<Region>> extract(const Region& region, const Graph& graph,
                                                      const Cut& cut, ThreadTeam& team) {
    std::vector<std::unique_ptr<Region>> sides;
    for (int side = 0; side < 2; ++side) sides.push_back(std::make_unique<Region>());
    std::vector<index_t> place(cut.side.size(), -1);
    for (index_t vertex = 0; vertex < graph.n; ++vertex)
      if (cut.side[vertex] != Side::separator) {
        std::vector<index_t>& listed = sides[static_cast<std::size_t>(cut.side[vertex])]->vertex;
        place[vertex] = static_cast<index_t>(listed.size());
        listed.push_back(vertex);
      }
    sides[0]->place = region.place;
    sides[1]->place = region.place + static_cast<index_t>(sides[0]->vertex.size());
    const auto complete = [&](int side) {
      Region& part = *sides[side];
      part.graph = induced(graph, part.vertex, place);
      for (index_t& vertex : part.vertex) vertex = region.vertex[vertex];
      part.name = 2 * region.name + static_cast<std::uint64_t>(side);
      part.depth = region.depth + 1;
      part.losses = region.losses;
      part.is_stencil = region.is_stencil;
      part.relative_separator = relative_separator(cut);
    };
    team.share_parts(2, complete);
    return sides;
  }

  index_t largest_whole_;
  ThreadTeam& team_;
  ThreadTeam alone_;
  std::vector<Workbench> benches_;  // one for each thread
  LevelGraph whole_;
  std::vector<index_t> order_;
};

}  // namespace

Dissected dissection_order(const Graph& graph, index_t largest_whole, ThreadTeam& team) {
  return Dissection(graph, largest_whole, team).order(graph);
}

}  // namespace palmette::order_detail
