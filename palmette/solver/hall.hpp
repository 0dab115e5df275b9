// What Solver and RankSolver do alike: the ladder of factorizations, and what their reports say of a factor.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/solver/rank_solver.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette {

/// @throws UsageError if `given` is not the pattern that was analyzed
void check_same_pattern(const SparsityPattern& known, const SparsityPattern& given);

/// @throws UsageError if values of this symmetry do not fit the kind of factorization that refactor keeps
template <class T>
void check_kind_kept(FactorKind kind, Symmetry given);

/// What the structure alone says about a factorization: everything except seconds and memory.
AnalyzeReport analyze_report(const SymbolicFactor& symbolic, FactorKind kind);

/// Rate of a factorization in 10⁹ real flops a second; `flops` are those of AnalyzeReport.
template <class T>
double factorization_gflops(double flops, double seconds) {
  return seconds > 0 ? (is_complex_v<T> ? 4 : 1) * flops / seconds / 1e9 : 0;
}

/// How many pivots were replaced and what became of the inertia; empty if none were.
std::string sentence_on_replaced_pivots(const FactorizeReport& factorized);
/// Adds it to the notes if it is not empty.
void note_replaced_pivots(const FactorizeReport& factorized, std::vector<std::string>& notes);

/// @throws UsageError if the factorization has no inertia: LU, and complex symmetric matrices
template <class T>
Inertia inertia_of(FactorKind kind, bool hermitian, const PivotReport& pivots);

/// The first factorization: `first`, or LDLᵀ if the caller gave no kind and LLᵀ met a pivot that is not
/// positive.
/// @param make  Outcome<void> make(FactorKind kind, const std::string& note); the note is for the report
template <class Make>
Outcome<void> make_first(FactorKind first, bool kind_is_given, const Make& make) {
  const Outcome<void> made = make(first, std::string());
  const bool try_ldlt = !kind_is_given && first == FactorKind::llt && !made &&
                        made.failure().kind == FailureKind::not_positive_definite;
  if (!try_ldlt) return made;
  return make(FactorKind::ldlt, "LDL' instead of LL': " + made.failure().message);
}

/// A factorization to try if the answer of the present one could not be verified.
struct AnotherFactorization {
  std::string_view subject;  ///< begins the note on its failure: "LU was"
  /// to the factorization of this report
  std::function<bool(const Report&)> applies;
  std::function<Outcome<void>()> make;
};

/// LDLᵀ pivots inside supernodes only, which is too weak for some matrices.
inline constexpr std::string_view lu_instead_of_ldlt =
    "LU instead of LDL': the answer of LDL' could not be verified";

/// Whether another factorization might give a better answer. No answer of a singular matrix is verified,
/// however good it is.
bool asks_for_more(const Verification& verification);

inline Report& run_of(Report& report) { return report; }
inline Report& run_of(RankReport& report) { return report.run; }

/// The answer; if it is not verified, the answer of each further factorization that applies, in turn, until
/// one is. A factorization that fails leaves a note in the answer before it.
/// @param answer  Outcome<Report> or Outcome<RankReport> answer()
template <class Answer>
auto answer_by_ladder(const SolveRequest& request, const Answer& answer,
                      std::initializer_list<AnotherFactorization> further) {
  auto found = answer();
  for (const AnotherFactorization& next : further) {
    if (!found || request.max_refine_steps == 0 || !asks_for_more(*run_of(found.value()).verify)) break;
    if (!next.applies(run_of(found.value()))) continue;
    const Outcome<void> made = next.make();
    if (made) found = answer();
    else
      run_of(found.value())
          .notes.push_back(std::string(next.subject) +
                           " tried as well and failed: " + made.failure().message);
  }
  return found;
}

}  // namespace palmette
