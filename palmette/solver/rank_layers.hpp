// Layers of a solver over ranks: which rank holds what, and the delivery of finished blocks.
#pragma once

#include <memory>
#include <vector>

#include "palmette/solver/rank_inverse.hpp"

namespace palmette {

/// The requested grid, or the nearly square grid of the ranks of each layer.
/// @throws UsageError if grid and layers do not make up num_ranks
LayeredGrid grid_of_ranks(const RankSolverOptions& options, index_t num_ranks);

/// The layout from the options, or the one that rank 0 chooses. Every rank must call it.
/// @throws UsageError as grid_of_ranks, on all ranks; what choose_layout throws
RankLayout layout_of_ranks(const SymbolicFactor& symbolic, const RankSolverOptions& options, int scalar_bytes,
                           Transport& transport);

/// What the layers of a run work on.
RankLayers layers_of(const SymbolicFactor& symbolic, const RankLayout& layout, const WholeSubtrees& whole);

/// Owners of blocks in the factorization.
Placement placement_of(const SymbolicFactor& symbolic, const RankLayers& layers, const RankLayout& layout,
                       const WholeSubtrees& whole);

/// Fills the fields about layers in the report.
void report_layers(const SymbolicFactor& symbolic, const RankLayers& layers, FactorKind kind,
                   int scalar_bytes, RankReport& report);

/// This rank's part of its layer's factor; the factor itself if there is only one layer. Every rank must call
/// it.
/// @param planned  makes the transport of the blocks; empty: the transport of `ranks`
template <class T>
std::shared_ptr<RankFactor<T>> handed_to_layer(const RankTeam& ranks, const RankLayers& layers,
                                               const PlannedTransports& planned, RankFactor<T> factor);

}  // namespace palmette
