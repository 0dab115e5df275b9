// Part of the door of `solve`: solves over layers of ranks.
#pragma once

#include <memory>
#include <span>

#include "palmette/solve/rank_solve.hpp"

namespace palmette {

/// One rank's part of the solves with a factor that lies on layers of ranks: made once for it, with all
/// memory that a solve needs.
///
/// With one_sync_3d each layer sweeps forward through all that it holds, right-hand sides of what several
/// layers hold being zero on all but the first; then partners add up, once, what they share; then each layer
/// sweeps backward. With baseline_3d what several layers hold is swept by the first of them, which waits for
/// the others' contributions, and at the way back tells them. Sums are added in the order of the cut, so x
/// has the same bits for any grid of a layer, map, tree, transport and number of threads; but it depends, in
/// last bits, on method and number of layers: partial sums are formed in each layer before they are added.
template <class T>
class LayeredSolvePlan {
 public:
  /// @param factor  this rank's part of the layer's system, as LayerFactorHanding or rank_part makes it; the
  ///   plan keeps it alive
  /// @throws UsageError if the factor is not the system's; MemoryError
  /// @cost as RankSolvePlan
  LayeredSolvePlan(std::shared_ptr<const RankFactor<T>> factor, std::shared_ptr<const LayerSystem> system,
                   const RankPlanOptions& options = {});
  ~LayeredSolvePlan();
  LayeredSolvePlan(LayeredSolvePlan&&) noexcept;

  /// Rows of the permuted matrix whose values this rank brings and gets. Each row belongs to one rank of the
  /// whole run.
  std::span<const index_t> rows() const;
  index_t max_rhs() const;

  /// As RankSolvePlan::begin. @param transport  of all layers
  RankProgram& begin(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport);

  index_t guarded_blocks() const;
  /// Bytes that the plan holds beyond the factor.
  offset_t memory_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palmette
