// From a matching of a symmetric matrix to 1×1 and 2×2 pivot candidates.
#pragma once

#include "palmette/order/graph.hpp"
#include "palmette/order/matching.hpp"

namespace palmette::order_detail {

/// The cycles of the matching, cut into pairs and single vertices.
///
/// A cycle of even length can be cut into pairs in two ways. We take the one whose worst pair has the smaller
/// product of diagonal moduli, since |det| ≥ 1 − |a_ii·a_jj| if the off-diagonal entries have modulus one. In
/// an odd cycle the vertex with the largest diagonal stays single. Pairs whose two diagonal entries both
/// reach 1/10 are dissolved: each is an acceptable 1×1 pivot, and single vertices leave the fill-reducing
/// order more freedom.
/// @param diagonal  length n: log₂ of the moduli of the scaled diagonal; no_diagonal if the entry is zero or
///   absent
/// @source [Duff and Pralet 2005], §3
Groups pivot_groups(const Matching& matching, const std::vector<exponent_t>& diagonal);

inline constexpr exponent_t no_diagonal = -(exponent_t{1} << 40);

/// log₂ of the moduli of the diagonal after scaling row and column i by 2^scaling[i].
std::vector<exponent_t> scaled_diagonal(const EdgeList& edges, const std::vector<exponent_t>& scaling);

}  // namespace palmette::order_detail
