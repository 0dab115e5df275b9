// A schedule for each candidate.
#include "palmette/predict/choose_grid.hpp"

#include <algorithm>
#include <cstdlib>

#include "palmette/predict/schedule.hpp"

namespace palmette {
namespace {

/// How many numbers of layers are kept for the second step.
constexpr std::size_t kept_layers = 3;

void check(const GridQuestion& question) {
  if (question.num_ranks < 1)
    throw UsageError("a grid of " + std::to_string(question.num_ranks) + " ranks; there must be at least 1");
  if (question.maps.empty()) throw UsageError("no map to choose a grid for; give at least one");
  for (const index_t layers : question.layers)
    if (layers >= 1 && question.num_ranks % layers == 0 && (layers == 1 || !question.methods.empty())) return;
  throw UsageError("no number of layers to choose from divides the " + std::to_string(question.num_ranks) +
                   " ranks");
}

/// The available numbers of layers, and methods.
std::vector<GridChoice> layerings(const GridQuestion& question) {
  std::vector<GridChoice> result;
  std::vector<index_t> layers = question.layers;
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  for (const index_t count : layers) {
    if (count < 1 || question.num_ranks % count != 0) continue;
    GridChoice one;
    one.layers = count;
    one.grid = nearly_square_grid(question.num_ranks / count);
    one.map = question.maps.front();
    if (count == 1) result.push_back(one);
    for (const LayeredMethod method : question.methods) {
      one.method = method;
      if (count > 1) result.push_back(one);
    }
  }
  return result;
}

std::vector<GridChoice> grids_of(const GridQuestion& question, GridChoice layering) {
  std::vector<GridChoice> result;
  const index_t ranks = question.num_ranks / layering.layers;
  for (index_t rows = 1; rows <= ranks; ++rows) {
    if (ranks % rows != 0) continue;
    layering.grid = {rows, ranks / rows};
    for (const PlacementMap map : question.maps) {
      layering.map = map;
      result.push_back(layering);
    }
  }
  return result;
}

std::vector<GridChoice> ranked(const GridQuestion& question, std::vector<GridChoice> choices,
                               const Cluster& cluster) {
  for (GridChoice& one : choices) one.seconds = predicted_seconds(question, one, cluster);
  const auto length = [](const GridChoice& one) { return std::abs(one.grid.rows - one.grid.cols); };
  std::stable_sort(choices.begin(), choices.end(), [&](const GridChoice& a, const GridChoice& b) {
    if (a.seconds != b.seconds) return a.seconds < b.seconds;
    return a.layers != b.layers ? a.layers < b.layers : length(a) < length(b);
  });
  return choices;
}

}  // namespace

SolveGraph tasks_of(const GridQuestion& question, const GridChoice& layout) {
  if (layout.layers == 1)
    return solve_tasks(question.symbolic, place(question.symbolic, layout.grid, layout.map, question.whole),
                       question.trees);
  const auto cut = std::make_shared<const Layering>(cut_into_layers(question.symbolic, layout.layers));
  const LayerPlacement placement{{layout.grid, layout.layers}, layout.map, question.whole};
  return layered_solve_tasks(layer_systems(question.symbolic, cut, layout.method, placement), question.trees);
}

double predicted_seconds(const GridQuestion& question, const GridChoice& layout, const Cluster& cluster) {
  const SolveGraph tasks = tasks_of(question, layout);
  return schedule_solve(tasks,
                        rank_rates(tasks, cluster, question.num_rhs, question.scalar_bytes, question.kind))
      .seconds;
}

std::vector<GridChoice> ranked_grids(const GridQuestion& question, const Cluster& cluster) {
  check(cluster);
  check(question);
  std::vector<GridChoice> choices;
  for (const GridChoice& layering : layerings(question)) {
    const std::vector<GridChoice> grids = grids_of(question, layering);
    choices.insert(choices.end(), grids.begin(), grids.end());
  }
  return ranked(question, std::move(choices), cluster);
}

GridChoice chosen_layout(const GridQuestion& question, const Cluster& cluster) {
  check(cluster);
  check(question);
  const std::vector<GridChoice> all = layerings(question);
  std::vector<index_t> kept;
  for (const GridChoice& one : ranked(question, all, cluster))
    if (kept.size() < kept_layers && std::count(kept.begin(), kept.end(), one.layers) == 0)
      kept.push_back(one.layers);
  std::vector<GridChoice> choices;
  for (const GridChoice& one : all) {
    if (std::count(kept.begin(), kept.end(), one.layers) == 0) continue;
    const std::vector<GridChoice> grids = grids_of(question, one);
    choices.insert(choices.end(), grids.begin(), grids.end());
  }
  return ranked(question, std::move(choices), cluster).front();
}

std::vector<index_t> doubling_layers(index_t ranks) {
  std::vector<index_t> counts;
  for (index_t layers = 1; layers <= ranks && ranks % layers == 0; layers *= 2) counts.push_back(layers);
  return counts;
}

WholeSubtrees subtrees_for(const SymbolicFactor& symbolic, index_t ranks, index_t workers) {
  if (workers > 1) return {false};
  if (ranks <= 16) return {};
  double entries = 0;
  for (const double one : sweep_entries(symbolic)) entries += one;
  return {true, std::max(64.0, entries / (4.0 * ranks))};
}

}  // namespace palmette
