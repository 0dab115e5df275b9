// Inside `solver`: a factorization over ranks that stopped before a boundary: what becomes of its panels.
#pragma once

#include "palmette/solver/long_products.hpp"
#include "palmette/solver/rank_inverse.hpp"
#include "palmette/solver/rank_schur.hpp"

namespace palmette {

/// This rank's part of S, scalings undone. Every rank must call it.
/// @param factor  of a factorization with columns_last = places.size()
/// @param round_bytes  that a rank packs before it sends: as RankSchurOptions
template <class T>
DenseMatrix<T> complement_over_ranks(const RankTeam& ranks, const RankFactor<T>& factor,
                                     const ComplementPlaces& places, std::int64_t round_bytes);

/// Of whom dealing_bytes speaks.
struct DealingQuestion {
  index_t rank, num_ranks;
  std::size_t scalar_bytes;
  std::int64_t round_bytes;
};
/// Bytes that this rank needs at once, at most, for what it sends and receives in complement_over_ranks,
/// beside its panels and its part of S.
/// @param symbolic  of the whole; owned: of it, on this rank
double dealing_bytes(const SymbolicFactor& symbolic, const OwnedBlocks& owned, const ComplementPlaces& places,
                     const DealingQuestion& question);

/// This rank's part of the factor of diag(A_II, 1). Needs no other rank.
/// @param structure  interior_structure of the factor's
/// @param placement  of it: interior columns lie as in the factor
template <class T>
RankFactor<T> interior_part(const RankFactor<T>& factor, std::shared_ptr<const SymbolicFactor> structure,
                            std::shared_ptr<const Placement> placement, index_t columns_last);

/// S·v, on all ranks. Every rank must call it. @param v  length of S's rows
template <class T>
std::vector<LongScalar<T>> multiply_complement(const RankTeam& ranks, DenseView<const T> part,
                                               const ComplementPlaces& places, const DenseMatrix<T>& v);

}  // namespace palmette
