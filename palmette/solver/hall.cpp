// What Solver and RankSolver do alike.
#include "palmette/solver/hall.hpp"

#include "palmette/solver/checks.hpp"

namespace palmette {

void check_same_pattern(const SparsityPattern& known, const SparsityPattern& given) {
  if (given.rows == known.rows && given.cols == known.cols && given.column_ptr == known.column_ptr &&
      given.row_index == known.row_index)
    return;
  throw UsageError("refactor needs the pattern that was analyzed (" + std::to_string(known.nnz()) +
                   " entries), this matrix has another (" + std::to_string(given.nnz()) +
                   " entries); make a new solver for it");
}

template <class T>
void check_kind_kept(FactorKind kind, Symmetry given) {
  if (kind_fits<T>(kind, given)) return;
  throw UsageError("refactor keeps the kind " + std::string(name_of(kind)) + ", but the new values are " +
                   std::string(name_of(given)) + "; make a new solver for them");
}

AnalyzeReport analyze_report(const SymbolicFactor& symbolic, FactorKind kind) {
  AnalyzeReport report;
  report.nnz_factor = factor_entries(symbolic, kind);
  report.flops = factorization_flops(symbolic, kind);
  report.supernodes = symbolic.num_supernodes();
  return report;
}

std::string sentence_on_replaced_pivots(const FactorizeReport& factorized) {
  const PivotReport& pivots = factorized.pivots;
  if (pivots.perturbed == 0) return {};
  std::string text = std::to_string(pivots.perturbed) +
                     " tiny pivots were replaced; the first is in column " +
                     std::to_string(pivots.perturbed_columns.front() + 1);
  if (factorized.kind != FactorKind::ldlt || pivots.inertia.positive + pivots.inertia.negative == 0)
    return text;
  const index_t open = pivots.inertia.zero;
  if (!factorized.capacitance) return text + "; the inertia counts them as zero, that is as undecided";
  if (open == 0) return text + "; the inertia was decided without them";
  return text + "; the inertia counts " + std::to_string(open) +
         (open == 1 ? " eigenvalue as zero: rounding leaves its sign undecided"
                    : " eigenvalues as zero: rounding leaves their signs undecided");
}

void note_replaced_pivots(const FactorizeReport& factorized, std::vector<std::string>& notes) {
  if (std::string text = sentence_on_replaced_pivots(factorized); !text.empty())
    notes.push_back(std::move(text));
}

template <class T>
Inertia inertia_of(FactorKind kind, bool hermitian, const PivotReport& pivots) {
  if (kind == FactorKind::lu)
    throw UsageError("LU gives no inertia; factorize a symmetric matrix with kind ldlt");
  if (is_complex_v<T> && !hermitian)
    throw UsageError("a complex symmetric matrix has no inertia: its eigenvalues are not real");
  return pivots.inertia;
}

bool asks_for_more(const Verification& verification) {
  if (!verification.singular_distance) return !verification.verified;
  return verification.least_squares_error.value_or(verification.backward_error) > verification.bound;
}

#define PALMETTE_INSTANTIATE(T)                            \
  template void check_kind_kept<T>(FactorKind, Symmetry); \
  template Inertia inertia_of<T>(FactorKind, bool, const PivotReport&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
