// Part of the door of `tasks`: messages between ranks of different layers in a solve. At each node of the cut
// above a layer, the first layers of its two halves are partners: rank (r, c) of one and rank (r, c) of the
// other exchange all rows that both halves hold and that the two ranks own, packed into one message.
#pragma once

#include <vector>

#include "palmette/machine/machine.hpp"
#include "palmette/place/place.hpp"
#include "palmette/tasks/fan_out.hpp"

namespace palmette {

/// An exchange of a rank with its partner at one node: upwards, the rank of the second half sends; downwards,
/// that of the first half.
struct LayerStep {
  index_t node = 0;
  index_t partner = 0;                 ///< rank of the whole run
  bool receives_up = false;            ///< this rank belongs to the first half
  /// of the LayerSystem, ascending: those of the node and above it with diagonal blocks here
  std::vector<index_t> supernodes;
  offset_t rows = 0;                   ///< of these supernodes
};

/// Exchanges of one rank, deepest node first; those without rows are omitted. All receive upwards, except
/// perhaps the last. There are at most ⌈log2 layers⌉, so a rank sends and receives at most that many messages
/// in each of the two phases.
/// @param rank  within the layer
std::vector<LayerStep> layer_steps(const LayerSystem& system, index_t rank);

/// Synchronizations of layers in one solve (both sweeps), one after another: one for one_sync_3d, one for
/// each level of the cut and each sweep for baseline_3d; none for one layer.
index_t layer_synchronizations(const Layering& layering, LayeredMethod method);

/// All messages of one solve over layers (both sweeps) with rows of `row_bytes` bytes, from structure alone:
/// those within layers and those between.
struct LayeredTraffic {
  Traffic within;
  Traffic between;
  Traffic all() const;
};
LayeredTraffic predicted_layered_traffic(const std::vector<LayerSystem>& systems, TreeShape trees,
                                         offset_t row_bytes);

/// Ranks of the whole run that hold, in the systems of their layers, a block in the columns of a replicated
/// supernode (numbers of the whole structure).
std::vector<index_t> layer_holders(const LayerSystem& system, index_t row_supernode,
                                   index_t column_supernode);

/// Bytes of a block that is sent to a layer: rows of L (and of Uᵀ); for a diagonal block also its pivots and
/// their order.
offset_t handed_bytes(const SymbolicFactor& symbolic, FactorKind kind, offset_t block, offset_t scalar_bytes);

/// All messages that send finished replicated blocks from a factorization on `placement` to the layers: one
/// for each pair of ranks.
/// @param system     of any layer
/// @param placement  layered_placement of these systems
Traffic predicted_handing_traffic(const SymbolicFactor& symbolic, const Placement& placement,
                                  const LayerSystem& system, FactorKind kind, offset_t scalar_bytes);

}  // namespace palmette
