// Part of the door of `place`: the third dimension of process grids. The top of the elimination tree is cut
// into one part for each layer of ranks; the supernodes above the cuts are replicated.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "palmette/place/placement.hpp"

namespace palmette {

/// Pz layers of Pr × Pc ranks: rank of layer z, row r, column c is (z·Pr + r)·Pc + c.
struct LayeredGrid {
  ProcessGrid grid;
  index_t layers = 1;
  index_t num_ranks() const { return grid.num_ranks() * layers; }
  index_t first_rank(index_t layer) const { return layer * grid.num_ranks(); }
};

/// Layers [first, end) and the supernodes that they share.
struct LayerNode {
  index_t first = 0;
  index_t middle = 0;  ///< first layer of the second child; of a leaf: end
  index_t end = 1;
  index_t parent = -1;
  bool is_leaf() const { return end - first == 1; }
};

/// A binary tree over the layers, laid over the tree of supernodes. A leaf has the whole subtrees of its one
/// layer; any other node has the supernodes whose descendants lie in both of its halves, which all its layers
/// hold. Constant after construction.
struct Layering {
  index_t num_layers = 1;
  std::vector<LayerNode> nodes;     // root first, parents before their children
  std::vector<index_t> node_of;     // length num_supernodes
  std::vector<index_t> leaf;        // length num_layers: its leaf
  index_t depth = 0;                // edges from the root to the deepest leaf: ⌈log2 layers⌉

  bool is_replicated(index_t supernode) const {
    return !nodes[node_of[supernode]].is_leaf();
  }
  /// Layers that hold a supernode are [holders.first, holders.end); the first brings its right-hand side and
  /// gets its solution.
  const LayerNode& holders(index_t supernode) const {
    return nodes[node_of[supernode]];
  }
  bool holds(index_t layer, index_t supernode) const {
    return holders(supernode).first <= layer && layer < holders(supernode).end;
  }
  /// True if `node` is `below` or one of its ancestors.
  bool is_above(index_t node, index_t below) const {
    const LayerNode &one = nodes[node],
                    &other = nodes[below];
    return one.first <= other.first && other.end <= one.end;
  }
};

/// Cut the tree so that the busiest layer reads few entries in a sweep (its own and the replicated ones):
/// supernodes are taken off the largest subtrees until the rest splits into two parts in proportion to their
/// layers, and each part is cut again. Works for any number of layers and any forest; if there are too few
/// subtrees, some layers stay empty.
/// @throws UsageError if num_layers < 1
/// @cost   O(supernodes · depth), plus, for each supernode taken off, a search among up to 64 subtrees per
///   layer
/// @source [Sao et al. 2019]
Layering cut_into_layers(const SymbolicFactor& symbolic, index_t num_layers);

/// How the layers work together in a solve; solve_method_list() names them.
enum class LayeredMethod {
  /// each layer sweeps through everything that it holds; between the sweeps, the replicated part is summed
  /// once
  one_sync_3d,
  /// only the first of its layers sweeps each replicated supernode; layers exchange at each level in each
  /// sweep
  baseline_3d,
};

/// The part of a system that one layer works on, as a system of its own: its supernodes in ascending order,
/// with rows and ranks counted from 0. Constant after construction.
struct LayerSystem {
  LayeredMethod method = LayeredMethod::one_sync_3d;
  index_t layer = 0;
  LayeredGrid ranks;
  std::shared_ptr<const Layering> layering;
  index_t num_supernodes_of_all = 0;
  // length symbolic->num_supernodes(): number in the whole structure, ascending
  std::vector<index_t> supernode;
  std::vector<index_t> row;        // length symbolic->n: row of the whole permuted matrix
  /// Structure of these supernodes; row and column permutations are the identity. With the baseline,
  /// supernodes that another layer sweeps have no rows below.
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Placement> placement;  ///< on ranks 0 … grid.num_ranks() − 1

  const LayerNode& holders(index_t s) const {
    return layering->holders(supernode[s]);
  }
  bool is_replicated(index_t s) const { return !holders(s).is_leaf(); }
  /// This layer brings the right-hand side of its supernode s and gets its solution.
  bool leads(index_t s) const { return holders(s).first == layer; }
  offset_t memory_bytes() const;
};

struct LayerPlacement {
  LayeredGrid ranks;
  /// within a layer; replicated supernodes are distributed over its whole grid
  PlacementMap map = PlacementMap::block_cyclic;
  WholeSubtrees whole;
};

/// @throws UsageError if the grid has no ranks, or a different number of layers than the layering
/// @cost   a few passes over what the layer holds
LayerSystem layer_system(const SymbolicFactor& symbolic, std::shared_ptr<const Layering> layering,
                         LayeredMethod method, const LayerPlacement& options, index_t layer);

/// The same for every layer, in order.
std::vector<LayerSystem> layer_systems(const SymbolicFactor& symbolic,
                                       std::shared_ptr<const Layering> layering, LayeredMethod method,
                                       const LayerPlacement& options);

/// The placement of a factorization: a layer's own supernodes as in its LayerSystem, replicated ones on all
/// ranks that will hold them.
Placement layered_placement(const SymbolicFactor& symbolic, const std::vector<LayerSystem>& systems);

/// What the layers hold in addition to one copy of the factor.
struct Replication {
  std::vector<offset_t> entries;             // length layers: panel entries held, replicated ones included
  std::vector<offset_t> replicated_entries;  // length layers: of supernodes that several layers hold
  offset_t factor_entries = 0;               // of one copy
  offset_t extra_entries() const;            // Σ entries − factor_entries
  /// One sweep with one right-hand side reads each entry of the lower triangle once, for one multiplication
  /// and one addition.
  std::vector<double> sweep_flops;           // length layers
};
Replication replication_of(const SymbolicFactor& symbolic, const Layering& layering, LayeredMethod method);

}  // namespace palmette
