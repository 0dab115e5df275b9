// Part of the door of `factorize`: from the blocks of a factorization over all layers to those of each
// layer's system.
#pragma once

#include <memory>

#include "palmette/factorize/rank_factorization.hpp"

namespace palmette {

/// One rank's part of handing finished blocks to the layers that hold them: create it, drive its program
/// until it is done, take the factor.
///
/// Blocks that a single layer holds are already where they belong. Blocks that several layers hold were
/// factorized on the ranks of all of them, with the updates of each block in ascending order of their source,
/// so that the factor has the same bits as on one rank. Now each finished block goes to the rank that owns it
/// in each layer, packed into one message for each pair of ranks.
template <class T>
class LayerFactorHanding {
 public:
  /// @param factor     this rank's, factorized without a bad pivot on layered_placement of the layers'
  ///   systems
  /// @param system     of this rank's layer
  /// @param transport  of all layers; must outlive this object; nothing else may use it during that time
  /// @throws UsageError if factor, system and transport do not fit; MemoryError
  LayerFactorHanding(RankFactor<T> factor, std::shared_ptr<const LayerSystem> system, Transport& transport);
  ~LayerFactorHanding();
  LayerFactorHanding(LayerFactorHanding&&) noexcept;

  RankProgram& program();
  /// This rank's part of its layer's system. Call it once, after the program is done.
  RankFactor<T> take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palmette
