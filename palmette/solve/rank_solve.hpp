// Part of the door of `solve`: solves with a factor whose blocks are distributed over ranks.
#pragma once

#include <memory>
#include <span>

#include "palmette/blocks/blocks.hpp"
#include "palmette/solve/plan_options.hpp"
#include "palmette/tasks/tasks.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

struct RankPlanOptions {
  TreeShape trees = TreeShape::binary;
  PlanOptions plan;
  index_t max_rhs = 64;  ///< right-hand sides of one solve
  int threads = 1;       ///< threads that will drive a solve
  /// Of the factor's structure and placement, with these trees: shared by the plans of ranks in one process.
  /// Null: built for this plan.
  std::shared_ptr<const ExchangePlan> structure = nullptr;
  /// Of the layer to which the factor belongs; null: there is only one layer.
  std::shared_ptr<const LayerSystem> layer = nullptr;
};

/// One rank's part of the solves with a factor: built once, with all memory that a solve needs.
///
/// Message-driven: a value is sent down its column to the ranks that have blocks there, contributions are
/// sent to the rank of their row; a task runs as soon as its input has arrived. Contributions are added in an
/// order that depends only on the structure (a contribution that may not be added yet is passed on
/// unchanged), so x has the same bits for any placement with the same units, any tree, transport and number
/// of threads. With several layers, its last bits also depend on the method and the number of layers, because
/// each layer forms partial sums before they are added.
template <class T>
class RankSolvePlan {
 public:
  /// @param factor  this rank's, or its part of a layer's system, from LayerFactorHanding or rank_part; the
  ///   plan keeps it alive
  /// @throws UsageError if the factor is not of options.layer; MemoryError
  /// @cost Σ w³ flops over the rank's diagonal blocks of width w; solve_exchange
  RankSolvePlan(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options = {});
  ~RankSolvePlan();
  RankSolvePlan(RankSolvePlan&&) noexcept;

  /// Rows of the permuted matrix whose values this rank provides and receives, ascending. Each row belongs to
  /// one rank of all layers.
  std::span<const index_t> rows() const;
  index_t max_rhs() const;

  /// Begin to solve op(S)·x = b, S being the permuted and scaled matrix that was factored. Drive the program
  /// until done; then all ranks must agree on something before the next solve begins, so that messages of the
  /// two do not mix.
  ///
  /// @param b, x  rows().size() × k, k ≤ max_rhs(); may be the same memory; must live until the program is
  ///   done
  /// @param transport  of the ranks of all layers
  /// @throws DimensionError if sizes differ; UsageError if the transport has another number of ranks
  /// @cost 4·entries·k flops over both sweeps; allocates nothing once messages of these sizes have been sent
  RankProgram& begin(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport);

  /// Diagonal blocks of this rank that were not inverted since their inverse would grow too much.
  index_t guarded_blocks() const;
  /// Bytes that the plan holds in addition to the factor.
  offset_t memory_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palmette
