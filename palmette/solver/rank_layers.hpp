// Layers in the hall over ranks: who holds what, and finished blocks on their way there.
#pragma once

#include <memory>
#include <vector>

#include "palmette/solver/rank_inverse.hpp"

namespace palmette {

/// The grid that is asked for, or the nearly square one of as many ranks as each layer gets.
/// @throws UsageError if grid and layers do not make up num_ranks
LayeredGrid grid_of_ranks(const RankSolverOptions& options, index_t num_ranks);

/// What the options say, or rank 0 chooses. Every rank must call it.
/// @throws UsageError as grid_of_ranks, on all ranks; what choose_layout throws
RankLayout layout_of_ranks(const SymbolicFactor& symbolic, const RankSolverOptions& options, int scalar_bytes,
                           Transport& transport);

/// What the layers of a run work on.
RankLayers layers_of(const SymbolicFactor& symbolic, const RankLayout& layout, const WholeSubtrees& whole);

/// Owners of blocks in the factorization.
Placement placement_of(const SymbolicFactor& symbolic, const RankLayers& layers, const RankLayout& layout,
                       const WholeSubtrees& whole);

/// What the report says of them.
void report_layers(const SymbolicFactor& symbolic, const RankLayers& layers, FactorKind kind,
                   int scalar_bytes, RankReport& report);

/// This rank's part of what its layer holds; the factor itself, if there is but one layer. Every rank must
/// call it.
/// @param planned  makes what blocks go through; empty: the transport of `ranks`
template <class T>
std::shared_ptr<RankFactor<T>> handed_to_layer(const RankTeam& ranks, const RankLayers& layers,
                                               const PlannedTransports& planned, RankFactor<T> factor);

}  // namespace palmette
