// One layer is the way without layers; several are cut, placed, and get their blocks after the factorization.
#include "palmette/solver/rank_layers.hpp"

namespace palmette {

LayeredGrid grid_of_ranks(const RankSolverOptions& options, index_t num_ranks) {
  const ProcessGrid& grid = options.grid;
  if (options.layers < 1) throw UsageError("a grid of " + std::to_string(options.layers) + " layers; there must be at least 1");
  const bool automatic = grid.rows == 0 && grid.cols == 0;
  if (automatic && num_ranks % options.layers == 0) return {nearly_square_grid(num_ranks / options.layers), options.layers};
  const bool fits = !automatic && grid.rows >= 1 && grid.cols >= 1 && std::int64_t{grid.rows} * grid.cols * options.layers == num_ranks;
  if (fits) return {grid, options.layers};
  const std::string ranks = std::to_string(num_ranks) + (num_ranks == 1 ? " rank" : " ranks");
  if (automatic) throw UsageError(std::to_string(options.layers) + " layers of equal size do not fit the run, which has " + ranks);
  const std::string layers = options.layers == 1 ? "" : " x " + std::to_string(options.layers);
  throw UsageError("the grid of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + layers + " ranks does not fit the run, which has " + ranks);
}

RankLayers layers_of(const SymbolicFactor& symbolic, const RankSolverOptions& options, const LayeredGrid& grid) {
  if (grid.layers == 1) return {};
  auto cut = std::make_shared<const Layering>(cut_into_layers(symbolic, grid.layers));
  return {layer_systems(symbolic, std::move(cut), options.layered_method, {grid, options.map, options.whole})};
}

Placement placement_of(const SymbolicFactor& symbolic, const RankLayers& layers, const RankSolverOptions& options, const LayeredGrid& grid) {
  return layers.several() ? layered_placement(symbolic, layers.systems) : place(symbolic, grid.grid, options.map, options.whole);
}

void report_layers(const SymbolicFactor& symbolic, const RankLayers& layers, FactorKind kind, int scalar_bytes, RankReport& report) {
  report.layers = 1;
  report.synchronizations = 0;
  report.replicated_bytes = 0;
  if (!layers.several()) return;
  const LayerSystem& first = layers.systems[0];
  report.layers = first.ranks.layers;
  report.layered_method = first.method;
  report.synchronizations = layer_synchronizations(*first.layering, first.method);
  report.replicated_bytes = replication_of(symbolic, *first.layering, first.method).extra_entries() * scalar_bytes * (kind == FactorKind::lu ? 2 : 1);
}

template <class T>
std::shared_ptr<RankFactor<T>> handed_to_layer(const RankTeam& ranks, const RankLayers& layers, const PlannedTransports& planned, RankFactor<T> factor) {
  if (!layers.several()) return std::make_shared<RankFactor<T>>(std::move(factor));
  RunTransport blocks(planned, ranks.transport, [&] {
    return transport_plan(predicted_handing_traffic(*factor.symbolic, *factor.placement, layers.systems[0], factor.kind, sizeof(T)));
  });
  std::shared_ptr<RankFactor<T>> result;
  exchange(ranks.transport, [&] {
    Transport& run = blocks.begin();
    LayerFactorHanding<T> handing(std::move(factor), std::make_shared<const LayerSystem>(layers.of(run.rank())), run);
    drive(handing.program(), run, ranks.team, ranks.drive);
    result = std::make_shared<RankFactor<T>>(handing.take());
  });
  return result;
}

#define PALMETTE_INSTANTIATE(T) \
  template std::shared_ptr<RankFactor<T>> handed_to_layer(const RankTeam&, const RankLayers&, const PlannedTransports&, RankFactor<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
