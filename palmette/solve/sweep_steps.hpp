// Inside `solve`: which sweeps a solve with a factor, or with a part of it, consists of; the same for all
// cores.
#pragma once

#include "palmette/solve/core.hpp"

namespace palmette::solve_detail {

/// What a core's S is made of: L·Lᵀ, L·D·Lᵀ (with adjoints: Lᴴ), L·U or L alone.
struct FactorShape {
  bool has_upper = false;
  bool has_diagonal = false;
  bool lower_only = false;
  bool adjoint = false;

  template <class T>
  Relation relation() const {
    if (has_upper || lower_only) return Relation::general;
    return adjoint && is_complex_v<T> ? Relation::hermitian : Relation::symmetric;
  }
};

/// One sweep: forward with L or Uᵀ (`upper`), or backward with their transposes or adjoints.
struct SweepStep {
  bool forward = true;
  bool upper = false;
  bool divides = false;  ///< what it reads is first divided by D
  bool adjoint = false;
};

struct SweepOrder {
  SweepStep step[2];
  int count = 1;
  /// the vectors on both sides are conjugated in addition to what the run says
  bool conjugates = false;
};

inline SweepOrder steps_of_solve(const FactorShape& shape, bool transposed) {
  const SweepStep down{true, transposed && shape.has_upper};
  const SweepStep up{false, !transposed && shape.has_upper, shape.has_diagonal, shape.adjoint};
  if (shape.lower_only) return {{transposed ? up : down}};
  return {{down, up}, 2};
}

/// @throws UsageError for a part that the factorization does not have; not for D
inline SweepOrder steps_of_part(const FactorShape& shape, FactorPart part, Operation operation) {
  const bool adjoint = operation == Operation::adjoint;
  if (part == FactorPart::lower) {
    if (operation == Operation::plain) return {{SweepStep{}}};
    return {{SweepStep{.forward = false, .adjoint = adjoint}}};
  }
  if (!shape.has_upper) throw UsageError("only LU has a factor U; LL' and LDL' have the transpose of L");
  if (operation == Operation::plain) return {{SweepStep{.forward = false, .upper = true}}};
  return {{SweepStep{.upper = true}}, 1, adjoint};
}

}  // namespace palmette::solve_detail
