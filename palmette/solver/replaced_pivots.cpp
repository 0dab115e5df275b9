// Replaced pivots as a change of low rank, and what it costs to undo them.
#include "palmette/solver/replaced_pivots.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/solver/hall.hpp"

namespace palmette {
namespace {

/// Decisions of so few flops are always worth it.
constexpr double flops_of_a_small_decision = 1e7;
constexpr offset_t bytes_of_a_small_decision = 1 << 20;
/// The factored matrix counts as that of the replaced pivots if corrections shrink at least this much.
constexpr double largest_contraction = 0.1;
/// Solves use S if half of the digits survive its condition: that of a singular A is worse.
template <class T>
double least_reciprocal_condition() {
  return 10 * std::sqrt(unit_roundoff<T>);
}

/// n × k with one entry in each column.
template <class T>
SparseMatrix<T> columns_of_one_entry(index_t n, const std::vector<index_t>& row, std::vector<T> values) {
  SparseMatrix<T> columns;
  columns.pattern.rows = n;
  columns.pattern.cols = static_cast<index_t>(row.size());
  columns.pattern.row_index = row;
  columns.pattern.column_ptr.resize(row.size() + 1);
  for (std::size_t k = 0; k <= row.size(); ++k) columns.pattern.column_ptr[k] = static_cast<offset_t>(k);
  columns.values = std::move(values);
  return columns;
}

/// A = M + U·Vᵀ, each |change| divided between U and V.
template <class T>
LowRankChange<T> undone(index_t n, const std::vector<ReplacedPivot>& replaced) {
  std::vector<index_t> row, column;
  std::vector<T> u, v;
  for (const ReplacedPivot& pivot : replaced) {
    const double root = std::sqrt(std::abs(pivot.change));
    const std::complex<double> rest = root > 0 ? pivot.change / root : 0;
    row.push_back(pivot.row);
    column.push_back(pivot.column);
    v.push_back(static_cast<T>(static_cast<real_t<T>>(root)));
    if constexpr (is_complex_v<T>)
      u.push_back(-T(rest));
    else
      u.push_back(static_cast<T>(-rest.real()));
  }
  return {columns_of_one_entry(n, row, std::move(u)), columns_of_one_entry(n, column, std::move(v))};
}

}  // namespace

template <class T>
bool is_cheap_to_decide(const SparsityPattern& pattern, const Inverse<T>& inverse,
                        double factorization_flops) {
  if (inverse.replaced().size() > static_cast<std::size_t>(most_pivots_decided_unasked)) return false;
  const CapacitanceCost cost = predicted_capacitance_cost<T>(
      pattern.rows, pattern.nnz(), static_cast<index_t>(inverse.replaced().size()), inverse.cost(1).flops);
  return cost.flops <= std::max(flops_of_a_small_decision, factorization_flops) &&
         cost.memory_bytes <= std::max(bytes_of_a_small_decision, inverse.factor_bytes());
}

template <class T>
ReplacedPivots<T> decide_replaced_pivots(const FactorWithReplaced<T>& factor) {
  const std::vector<ReplacedPivot>& replaced = factor.replaced;
  const auto k = static_cast<index_t>(replaced.size());
  const Stopwatch watch;
  const CapacitanceCost cost =
      predicted_capacitance_cost<T>(factor.matrix.rows(), factor.nnz, k, factor.solve_flops);
  ReplacedPivots<T> decision;
  decision.inertia = factor.counted;
  decision.report.order = k;
  decision.report.flops = cost.flops;
  decision.report.memory_bytes = cost.memory_bytes;
  const KeptMatrix<T> kept{factor.matrix, factor.apply, true};
  auto made = Capacitance<T>::make(kept, undone<T>(factor.matrix.rows(), replaced));
  decision.report.contraction = made.contraction();
  const bool is_trusted = made.contraction() <= largest_contraction;
  if (factor.has_inertia && is_trusted) {
    std::vector<int> sign;
    for (const ReplacedPivot& pivot : replaced) sign.push_back(pivot.change.real() < 0 ? -1 : 1);
    const auto signs = made.signs(kept, sign);
    decision.report.bound = signs.bound;
    decision.inertia.positive += signs.positive;
    decision.inertia.negative += signs.negative;
    decision.inertia.zero = k - signs.positive - signs.negative;
  }
  decision.report.undecided = decision.inertia.zero;
  decision.report.used_in_solves = factor.is_for_solves && is_trusted && decision.inertia.zero == 0 &&
                                   !made.is_singular() &&
                                   made.reciprocal_condition() > least_reciprocal_condition<T>();
  if (decision.report.used_in_solves)
    decision.capacitance = std::make_shared<const Capacitance<T>>(std::move(made));
  decision.report.seconds = watch.seconds();
  return decision;
}

template <class T>
void tell(const ReplacedPivots<T>& decided, Report& report) {
  FactorizeReport& factorized = *report.factorize;
  const std::string before = sentence_on_replaced_pivots(factorized);
  factorized.pivots.inertia = decided.inertia;
  factorized.capacitance = decided.report;
  std::replace(report.notes.begin(), report.notes.end(), before, sentence_on_replaced_pivots(factorized));
}

#define PALMETTE_INSTANTIATE(T)                                                        \
  template void tell(const ReplacedPivots<T>&, Report&);                               \
  template bool is_cheap_to_decide(const SparsityPattern&, const Inverse<T>&, double); \
  template ReplacedPivots<T> decide_replaced_pivots(const FactorWithReplaced<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
