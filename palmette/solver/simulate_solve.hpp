// Part of the door of `solver`: simulates a solve on a cluster: runs the programs that run over MPI, with
// real arithmetic, in virtual time.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "palmette/blocks/blocks.hpp"
#include "palmette/order/order.hpp"
#include "palmette/place/place.hpp"
#include "palmette/solve/solve.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

struct SimulatedCase {
  /// message_driven, or one of several layers
  SolveMethod method = SolveMethod::message_driven;
  LayeredGrid ranks;
  PlacementMap map = PlacementMap::subtree_to_subcube;
  WholeSubtrees whole;
  TreeShape trees = TreeShape::binary;
  index_t num_rhs = 1;
  index_t rhs_groups = 1;                         ///< as in RankPlanOptions
  std::optional<Packing> packing = std::nullopt;  ///< ranks pack small messages
  bool keeps_timeline = false;
};

/// The additional cost of layers: messages as recorded, synchronizations and copies by structure.
struct LayerFacts {
  std::int64_t messages = 0;          ///< between ranks of different layers
  std::int64_t bytes = 0;             ///< of these messages
  /// most of these sent by one rank: at most 2·⌈log2 layers⌉ with one_sync_3d
  std::int64_t most_messages = 0;
  std::int64_t unpacked_messages =
      0;  ///< number of messages between layers if each supernode had its own instead of packed ones
  index_t synchronizations = 0;       ///< of layers in one solve, one after another
  double replicated_share = 0;        ///< entries of the factor beyond one copy, over those of one copy
};

struct SimulatedSolve {
  SimulationResult run;             ///< of one solve, both sweeps
  std::vector<double> read_gbs;     ///< by rank: its read rate
  double backward_error = 0;        ///< ‖b − A·x‖∞ / (‖A‖∞·‖x‖∞ + ‖b‖∞), the largest over right-hand sides
  offset_t rank_bytes_least = 0;    ///< factor and plan of a rank
  offset_t rank_bytes_most = 0;
  double rank_bytes_mean = 0;
  LayerFacts layers;
  double wall_seconds = 0;          ///< of this process, in the event loop
  double setup_seconds = 0;         ///< cutting the factor and planning
};

/// Solve A·X = B, with all ones in B, with a factor that is split into the ranks' parts. The factorization is
/// not simulated.
/// @param factor  of this matrix by this ordering
/// @throws UsageError if the method has one layer and the grid several; as SimulatedWorld
/// @cost  a copy of the factor, and the copies that layers hold; one thread
template <class T>
SimulatedSolve simulate_solve(const SparseMatrix<T>& matrix, const Factor<T>& factor,
                              const SimulatedCase& given, std::shared_ptr<const Cluster> cluster);

}  // namespace palmette
