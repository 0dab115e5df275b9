// A single layer is the case without layers; several are cut, placed, and get their blocks after the
// factorization.
#include "palmette/solver/rank_layers.hpp"

#include <cmath>

namespace palmette {

LayeredGrid grid_of_ranks(const RankSolverOptions& options, index_t num_ranks) {
  const ProcessGrid& grid = options.grid;
  if (options.layers < 1)
    throw UsageError("a grid of " + std::to_string(options.layers) + " layers; there must be at least 1");
  const bool automatic = grid.rows == 0 && grid.cols == 0;
  if (automatic && num_ranks % options.layers == 0)
    return {nearly_square_grid(num_ranks / options.layers), options.layers};
  const bool fits = !automatic && grid.rows >= 1 && grid.cols >= 1 &&
                    std::int64_t{grid.rows} * grid.cols * options.layers == num_ranks;
  if (fits) return {grid, options.layers};
  const std::string ranks = std::to_string(num_ranks) + (num_ranks == 1 ? " rank" : " ranks");
  if (automatic)
    throw UsageError(std::to_string(options.layers) + " layers of equal size do not fit the run, which has " +
                     ranks);
  const std::string layers = options.layers == 1 ? "" : " x " + std::to_string(options.layers);
  throw UsageError("the grid of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + layers +
                   " ranks does not fit the run, which has " + ranks);
}

RankLayout layout_of_ranks(const SymbolicFactor& symbolic, const RankSolverOptions& options, int scalar_bytes,
                           Transport& transport) {
  const index_t num_ranks = transport.num_ranks();
  if (!options.choose_layout)
    return {grid_of_ranks(options, num_ranks), options.map, options.layered_method, options.rhs_groups};
  RankLayout layout{{{0, 0}, 0}, options.map, options.layered_method};
  agree_after(transport, [&] {
    if (transport.rank() == 0) layout = options.choose_layout(symbolic, num_ranks, scalar_bytes);
  });
  const bool asked = transport.rank() == 0;
  const auto told = [&](index_t value) {
    return static_cast<index_t>(std::lround(transport.sum(asked ? value : 0)));
  };
  RankSolverOptions chosen;
  chosen.grid = {told(layout.ranks.grid.rows), told(layout.ranks.grid.cols)};
  chosen.layers = told(layout.ranks.layers);
  layout.map = static_cast<PlacementMap>(told(static_cast<index_t>(layout.map)));
  layout.layered_method = static_cast<LayeredMethod>(told(static_cast<index_t>(layout.layered_method)));
  layout.rhs_groups = told(layout.rhs_groups);
  layout.ranks = grid_of_ranks(chosen, num_ranks);
  return layout;
}

RankLayers layers_of(const SymbolicFactor& symbolic, const RankLayout& layout, const WholeSubtrees& whole) {
  if (layout.ranks.layers == 1) return {};
  auto cut = std::make_shared<const Layering>(cut_into_layers(symbolic, layout.ranks.layers));
  return {layer_systems(symbolic, std::move(cut), layout.layered_method, {layout.ranks, layout.map, whole})};
}

Placement placement_of(const SymbolicFactor& symbolic, const RankLayers& layers, const RankLayout& layout,
                       const WholeSubtrees& whole) {
  return layers.several() ? layered_placement(symbolic, layers.systems)
                          : place(symbolic, layout.ranks.grid, layout.map, whole);
}

void report_layers(const SymbolicFactor& symbolic, const RankLayers& layers, FactorKind kind,
                   int scalar_bytes, RankReport& report) {
  report.layers = 1;
  report.method = SolveMethod::message_driven;
  report.synchronizations = 0;
  report.replicated_bytes = 0;
  if (!layers.several()) return;
  const LayerSystem& first = layers.systems[0];
  report.layers = first.ranks.layers;
  report.method = solve_method(report.layers, first.method);
  report.synchronizations = layer_synchronizations(*first.layering, first.method);
  report.replicated_bytes = replication_of(symbolic, *first.layering, first.method).extra_entries() *
                            scalar_bytes * (kind == FactorKind::lu ? 2 : 1);
}

template <class T>
std::shared_ptr<RankFactor<T>> handed_to_layer(const RankTeam& ranks, const RankLayers& layers,
                                               const PlannedTransports& planned, RankFactor<T> factor) {
  if (!layers.several()) return std::make_shared<RankFactor<T>>(std::move(factor));
  RunTransport blocks(planned, ranks.transport, [&] {
    return transport_plan(predicted_handing_traffic(*factor.symbolic, *factor.placement, layers.systems[0],
                                                    factor.kind, sizeof(T)));
  });
  std::shared_ptr<RankFactor<T>> result;
  exchange(ranks.transport, [&] {
    Transport& run = blocks.begin();
    LayerFactorHanding<T> handing(std::move(factor),
                                  std::make_shared<const LayerSystem>(layers.of(run.rank())), run);
    drive(handing.program(), run, ranks.team, ranks.drive);
    result = std::make_shared<RankFactor<T>>(handing.take());
  });
  return result;
}

#define PALMETTE_INSTANTIATE(T)                                                               \
  template std::shared_ptr<RankFactor<T>> handed_to_layer(const RankTeam&, const RankLayers&, \
                                                          const PlannedTransports&, RankFactor<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
