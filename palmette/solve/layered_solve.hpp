// Part of the door of `solve`: solves over layers of ranks.
#pragma once

#include <memory>
#include <span>

#include "palmette/solve/rank_solve.hpp"

namespace palmette {

/// One rank's part of the solves with a factor on layers of ranks: built once, with all memory that a solve
/// needs.
///
/// With one_sync_3d each layer sweeps forward through everything that it holds; the right-hand sides of
/// shared supernodes are zero on all layers except the first. Then partners add up, once, what they share,
/// and each layer sweeps backward. With baseline_3d only the first of its layers sweeps a shared supernode:
/// it waits for the others' contributions, and sends them the solution on the way back. Sums are added in the
/// order of the cut, so x has the same bits for any grid of a layer, map, tree, transport and number of
/// threads; but its last bits depend on the method and the number of layers, because each layer forms partial
/// sums before they are added.
template <class T>
class LayeredSolvePlan {
 public:
  /// @param factor  this rank's part of the layer's system, from LayerFactorHanding or rank_part; the plan
  ///   keeps it alive
  /// @throws UsageError if the factor is not the system's; MemoryError
  /// @cost as RankSolvePlan
  LayeredSolvePlan(std::shared_ptr<const RankFactor<T>> factor, std::shared_ptr<const LayerSystem> system,
                   const RankPlanOptions& options = {});
  ~LayeredSolvePlan();
  LayeredSolvePlan(LayeredSolvePlan&&) noexcept;

  /// Rows of the permuted matrix whose values this rank provides and receives. Each row belongs to one rank
  /// of the whole run.
  std::span<const index_t> rows() const;
  index_t max_rhs() const;

  /// As RankSolvePlan::begin. @param transport  of all layers
  RankProgram& begin(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport);

  index_t guarded_blocks() const;
  /// Bytes that the plan holds in addition to the factor.
  offset_t memory_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palmette
