// Inside `solver`: what the capacitance matrix of replaced pivots says about the matrix that was given.
#pragma once

#include <memory>
#include <mutex>

#include "palmette/solver/capacitance.hpp"
#include "palmette/solver/inverse.hpp"

namespace palmette {

/// More replaced pivots than this keep their undecided signs.
inline constexpr index_t most_decided_pivots = 1000;
/// Without being asked: residuals in higher precision run on one thread, so that more could take longer than
/// the factorization with all threads.
inline constexpr index_t most_pivots_decided_unasked = 50;

/// A factorization with replaced pivots: that of A + E, with E given by `replaced`. Refers to the caller's
/// objects. Of a share, every process has the same pivots, and must call what uses this.
template <class T>
struct FactorWithReplaced {
  WholeOrShare<T> matrix;  ///< A
  offset_t nnz;            ///< of A
  const std::vector<ReplacedPivot>& replaced;
  Inertia counted;               ///< by pivots that were not replaced
  double solve_flops;            ///< of one solve, real
  const ApplyInverse<T>& apply;  ///< x ← op(A + E)⁻¹·x
  bool has_inertia = false;
  bool is_for_solves = false;  ///< solves with A may use the capacitance matrix, which is then kept
};

/// The decision: counted exactly, or how many signs remain open.
template <class T>
struct ReplacedPivots {
  Inertia inertia;  ///< `zero`: signs that remain undecided
  CapacitanceReport report;
  std::shared_ptr<const Capacitance<T>> capacitance;  ///< for solves with A; null if it is not worth keeping
};

/// Whether the decision costs no more flops than the factorization, and memory than the factor: then solves
/// and their reports make it, otherwise only those who ask for the inertia.
/// @param factorization_flops  real flops
template <class T>
bool is_cheap_to_decide(const SparsityPattern& pattern, const Inverse<T>& inverse,
                        double factorization_flops);

/// Decide the signs that k replaced pivots left open.
///
/// LDLᴴ = A + E·Δ·Eᴴ, each replaced pivot being one column of E. By Haynsworth's inertia additivity for the
/// matrix bordered with E and Δ⁻¹, inertia(A) = inertia(D) − inertia(Δ) + inertia(Δ⁻¹ − Eᴴ·(A + E·Δ·Eᴴ)⁻¹·E).
/// Each new pivot has the sign of its change, so the first two differ by the pivots that were not replaced.
/// The eigenvalues of the last matrix, scaled by |Δ| from both sides, count if they exceed the bound of their
/// errors.
/// @cost  CapacitanceReport::flops and memory_bytes
/// @source [Haynsworth 1968]; [Golub and Van Loan 2013], §2.1.4
template <class T>
ReplacedPivots<T> decide_replaced_pivots(const FactorWithReplaced<T>& factor);

/// The report of a factorization, and its note, with what was decided.
template <class T>
void tell(const ReplacedPivots<T>& decided, Report& report);

/// The decision for one factorization, made when it is first needed.
template <class T>
class ReplacedPivotsOnDemand {
 public:
  /// @param decide  ReplacedPivots<T> decide()
  template <class Decide>
  const ReplacedPivots<T>& get(const Decide& decide) {
    std::call_once(made_, [&] { decision_ = decide(); });
    return decision_;
  }

 private:
  std::once_flag made_;
  ReplacedPivots<T> decision_;
};

}  // namespace palmette
