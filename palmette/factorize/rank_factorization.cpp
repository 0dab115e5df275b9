// The parts of a factorization over ranks, and its results.
#include "palmette/factorize/rank_factorization.hpp"

#include <algorithm>

#include "palmette/factorize/assemble.hpp"
#include "palmette/factorize/fan_out_program.hpp"

namespace palmette {

std::string_view name_of(BlockDelivery delivery) { return delivery == BlockDelivery::push ? "push" : "pull"; }

BlockDelivery delivery(std::string_view name) {
  return choice_named("delivery", name, block_deliveries);
}

template <class T>
struct RankFactorization<T>::State {
  std::shared_ptr<const Placement> placement;
  FanOut fan;
  RankFactor<T> factor;
  std::unique_ptr<factorize_detail::FanOutProgram<T>> program;
};

template <class T>
RankFactorization<T>::RankFactorization(const RankSystem<T>& system, const RankFactorizeOptions& options,
                                        Transport& transport)
    : state_(std::make_unique<State>()) {
  const SparseMatrix<T>& matrix = system.matrix;
  const std::shared_ptr<const SymbolicFactor>& symbolic = system.symbolic;
  const std::shared_ptr<const Placement>& placement = system.placement;
  if (matrix.rows() != symbolic->n || matrix.cols() != symbolic->n)
    throw DimensionError("a matrix of " + std::to_string(matrix.rows()) + " × " +
                         std::to_string(matrix.cols()) + " for a structure of " +
                         std::to_string(symbolic->n));
  if (transport.num_ranks() != placement->num_ranks())
    throw UsageError("the transport has " + std::to_string(transport.num_ranks()) + " ranks, the placement " +
                     std::to_string(placement->num_ranks()));
  blas::use_one_thread();
  State& state = *state_;
  state.placement = placement;
  state.fan = fan_out(*symbolic, *placement, transport.rank(), options.columns_last);
  RankFactor<T>& factor = state.factor;
  const auto n = static_cast<std::size_t>(symbolic->n);
  factor.kind = options.kind;
  factor.hermitian =
      is_complex_v<T> && (options.kind == FactorKind::llt ||
                          (options.kind == FactorKind::ldlt && matrix.symmetry == Symmetry::hermitian));
  factor.lower = PanelArray<T>(state.fan.owned.entries(), Uninitialised());
  if (options.kind == FactorKind::lu)
    factor.upper = PanelArray<T>(state.fan.owned.entries(), Uninitialised());
  if (options.kind == FactorKind::ldlt) {
    factor.d.resize(n);
    factor.d_below.resize(n);
  }
  if (options.kind != FactorKind::llt) factor.place.resize(n);
  factor.row_scale = system.ordering.row_scale;
  factor.column_scale = system.ordering.column_scale;
  factor.symbolic = symbolic;
  factor.placement = placement;
  factor.owned = state.fan.owned;
  const double largest = system.largest_entry > 0
                             ? system.largest_entry
                             : factorize_detail::largest_scaled_entry(matrix, system.ordering, symbolic.get(),
                                                                      options.columns_last);
  const double relative =
      options.tiny_pivot > 0 ? options.tiny_pivot : factorize_detail::default_tiny_pivot(unit_roundoff<T>);
  const factorize_detail::RankWork<T> work{matrix, *symbolic, state.fan, factor,
                                      static_cast<real_t<T>>(relative * largest)};
  state.program = std::make_unique<factorize_detail::FanOutProgram<T>>(work, options, *placement, transport);
}

template <class T>
RankFactorization<T>::~RankFactorization() = default;
template <class T>
RankFactorization<T>::RankFactorization(RankFactorization&&) noexcept = default;

template <class T>
RankProgram& RankFactorization<T>::program() {
  return *state_->program;
}

template <class T>
index_t RankFactorization<T>::bad_supernode() const {
  return state_->program->failure().supernode;
}

template <class T>
NumericalFailure RankFactorization<T>::failure() const {
  return factorize_detail::failure_at(state_->program->failure(), *state_->factor.symbolic);
}

template <class T>
PivotReport RankFactorization<T>::pivots() const {
  const factorize_detail::PivotTally tally = state_->program->tally();
  const RankFactor<T>& factor = state_->factor;
  PivotReport report;
  report.perturbed = static_cast<index_t>(tally.replacements.size());
  for (const ReplacedPivot& pivot : tally.replacements)
    report.perturbed_columns.push_back(factor.symbolic->column.new_to_old()[pivot.column]);
  std::sort(report.perturbed_columns.begin(), report.perturbed_columns.end());
  report.smallest_pivot = tally.smallest;
  report.largest_pivot = tally.largest;
  const bool has_inertia = factor.kind != FactorKind::lu &&
                           (factor.kind == FactorKind::llt || !is_complex_v<T> || factor.hermitian);
  if (has_inertia) report.inertia = tally.inertia;
  report.log_abs_determinant = tally.log_modulus();
  report.determinant_sign = tally.sign;
  return report;
}

template <class T>
std::vector<ReplacedPivot> RankFactorization<T>::replaced() const {
  return factorize_detail::in_users_matrix(state_->program->tally().replacements, state_->factor);
}

template <class T>
RankFactor<T> RankFactorization<T>::take() {
  if (!state_->program->done())
    throw UsageError("the factor of a rank is not ready: its program is not done");
  return std::move(state_->factor);
}

#define PALMETTE_INSTANTIATE(T) template class RankFactorization<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
