// Part of the door of `solve`: entries of A⁻¹ where the factors have entries, over ranks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "palmette/blocks/blocks.hpp"
#include "palmette/place/place.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

/// Of one rank.
struct RankInverseCounts {
  double flops = 0;
  double messages = 0;       ///< sent to other ranks
  double message_bytes = 0;  ///< of them
  double memory_bytes = 0;  ///< of its entries of A⁻¹, and of messages and what they bring, at most at once
};

struct RankInverseSizes {
  FactorKind kind = FactorKind::llt;
  int scalar_bytes = 8;
  /// A rank sends and receives in rounds of about so many bytes, at least one supernode in each.
  double round_bytes = 1 << 26;
};

/// What each rank will compute, send and hold, by rank; exact but for memory, which is a bound.
/// @cost  blocks² of each supernode that lies on several ranks, for each of them
std::vector<RankInverseCounts> predicted_inverse_counts(const SymbolicFactor& symbolic,
                                                        const Placement& placement,
                                                        const RankInverseSizes& sizes);

/// One rank's entries of A⁻¹ on the pattern of L + U, each on the rank that factored its block. Constant.
template <class T>
struct RankSelectedInverse {
  /// Z in the places of L, as SelectedInverse::lower, and of LU its transpose in those of U; with the scales.
  RankFactor<T> panels;
  RankInverseCounts counts;  ///< memory: as predicted; of RankSolver with returned_factor_bytes of its layers
  double seconds = 0;

  index_t size() const { return panels.symbolic ? panels.symbolic->n : 0; }
  offset_t memory_bytes() const { return panels.lower.bytes() + panels.upper.bytes(); }
  /// The rank that holds entry (row, column) of A⁻¹, counted as x and b are; −1 if it is not on the pattern.
  index_t owner(index_t row, index_t column) const;
  /// The entry; nothing if this rank does not hold it.
  std::optional<T> entry(index_t row, index_t column) const;
  /// This rank's entries, n × n, general; those of all ranks together have the pattern of
  /// SelectedInverse::matrix, and no two have the same. @cost  O(entries·log) time, O(n + entries) memory
  SparseMatrix<T> matrix() const;
  /// matrix() of all ranks together on rank `root`; on the others nothing, 0 × 0. Every rank must call it,
  /// outside of any other exchange of messages.
  /// @param round_bytes  that `root` receives at once, about; at least one entry of each rank
  /// @cost  (row, column, value) of each entry, on its rank, then in a message, and on `root`
  SparseMatrix<T> gathered(Transport& transport, ThreadTeam& team, index_t root = 0,
                           double round_bytes = RankInverseSizes().round_bytes) const;
};

/// What computes a selected inverse over ranks: create it, and run it once. Takahashi's recurrence, as
/// select_inverse.
///
/// Entries of Z lie where the factor's blocks lie. Supernodes on several ranks are computed from the roots
/// down, those of one depth together: owners multiply their blocks by the inverse of the diagonal block
/// (G = L_RJ·L_JJ⁻¹). All ranks of the supernode get G and take equal parts of the rows R, with the known
/// rows Z_RR that these need; they send their rows of −Z_RR·G to the owners and, for Z_JJ, to that of the
/// diagonal block. A rank that has a whole subtree gets Z_RR for its root once, and computes the subtree
/// alone, by threads. Sums of a row are added on one rank, in the order of select_inverse; bits are those of
/// it where the BLAS gives a row of a product the same bits beside any other rows (OpenBLAS: not always).
/// @source [Erisman and Tinney 1975]; [Jacquelin et al. 2017] keep Z_RR in place and reduce products instead
template <class T>
class RankInverseRun {
 public:
  /// @param factor  this rank's part, on the ranks of its placement; must outlive this object
  /// @param transport  of these ranks; nothing else may use it while the run goes on
  /// @throws UsageError unless the transport has the ranks of the placement; MemoryError
  RankInverseRun(const RankFactor<T>& factor, const RankInverseSizes& sizes, Transport& transport,
                 ThreadTeam& team, const DriveOptions& drive = {});
  ~RankInverseRun();
  RankInverseRun(RankInverseRun&&) noexcept;

  /// Every rank must call it, outside of any other exchange of messages.
  /// @throws MemoryError on a rank, BrokenRun on the others
  /// @cost  all ranks together the flops of select_inverse, and of each supernode on P ranks
  ///   about r² + P·r·w scalars in messages, with r rows below and w columns
  RankSelectedInverse<T> run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Where a factor lies that is distributed over layers, and where its blocks were factored.
struct FactorOfLayers {
  const std::vector<LayerSystem>& systems;
  std::shared_ptr<const SymbolicFactor> symbolic;  ///< of the whole
  std::shared_ptr<const Placement> placement;      ///< layered_placement of the systems
};

/// What a rank holds besides its layer's factor.
struct ReturnedFactorBytes {
  double copy = 0;      ///< its part of the result, which stays
  double messages = 0;  ///< of one round, at most
};
/// @cost  blocks of the whole structure
ReturnedFactorBytes returned_factor_bytes(const FactorOfLayers& layers, const RankInverseSizes& sizes,
                                          index_t rank);

/// The factor on the ranks that factored its blocks, from the first layer that holds each. Every rank must
/// call it, outside of any other exchange of messages.
/// @param factor  of this rank's layer
/// @param sizes   rounds have at least one block
/// @throws MemoryError on a rank, BrokenRun on the others
/// @cost  blocks that stay on their rank are copied, the others travel once; peak: returned_factor_bytes,
///   beside `factor`
template <class T>
RankFactor<T> factor_from_layers(const RankFactor<T>& factor, const FactorOfLayers& layers,
                                 const RankInverseSizes& sizes, Transport& transport, ThreadTeam& team);

}  // namespace palmette
