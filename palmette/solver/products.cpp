// Orders, analyzes and factorizes for Solver, by supernodes or by columns.
#include "palmette/solver/products.hpp"

#include <algorithm>

#include "palmette/base/base.hpp"
#include "palmette/solver/changed_matrix.hpp"
#include "palmette/solver/checks.hpp"
#include "palmette/solver/choose_device.hpp"
#include "palmette/solver/hall.hpp"

namespace palmette {
namespace {

/// Resident memory before the factorization; for a small factor the last known figure is good enough.
std::int64_t known_resident_bytes(offset_t factor_entries) {
  return factor_entries < bytes_worth_a_reading / 16 ? recent_resident_memory_bytes()
                                                     : resident_memory_bytes();
}

template <class T>
std::string note_on_symmetry(const KnownMatrix<T>& known) {
  const std::string turned = known.symmetry == Symmetry::hermitian ? "A^H" : "A^T";
  return std::string(name_of(known.symmetry)) + " up to rounding: |A - " + turned +
         "| <= " + scientific(known.asymmetry) + " |A| in every entry; (A + " + turned +
         ") / 2 was factored, answers are verified against A";
}

/// What the device did for the factorization, or why it could do nothing.
template <class T>
void report_offload(Products<T>& made, const SolverOptions& options) {
  const std::optional<OffloadCounts> counts = made.inverse->offload();
  if (!counts) return;
  OffloadReport& offload = made.report.factorize->offload.emplace();
  offload.address = made.device->info().address();
  offload.emulated = made.device->info().kind == "emulated";
  offload.mode = options.offload;
  offload.model = options.offload_model ? options.offload_model->source : estimated_offload_model().source;
  offload.counts = *counts;
  const std::string why = why_no_dense_operations(*made.device);
  if (!why.empty())
    made.report.notes.push_back("the device " + offload.address +
                                " took no part in the factorization: " + why);
}

}  // namespace

template <class T>
Products<T> begun(const KnownMatrix<T>& known, FactorKind kind) {
  Products<T> made;
  const SparseMatrix<T>& matrix = *known.matrix;
  made.report.matrix = {matrix.rows(), matrix.cols(), matrix.nnz(), ScalarTraits<T>::type, known.symmetry};
  made.report.version = version();
  made.known = known;
  made.kind = kind;
  return made;
}

template <class T>
void report_factor(Products<T>& made, int threads) {
  FactorizeReport& factorized = made.report.factorize.emplace();
  made.null_space = std::make_shared<NullSpaceOnDemand<T>>();
  made.replaced = std::make_shared<ReplacedPivotsOnDemand<T>>();
  made.transposed = std::make_shared<TransposeOnDemand<T>>();
  factorized.kind = made.kind;
  factorized.structural_deficiency = static_cast<index_t>(made.completion.size());
  factorized.scalar = made.inverse->factor_scalar();
  factorized.threads = threads;
  factorized.seconds = made.inverse->factor_seconds();
  factorized.gflops = factorization_gflops<T>(made.report.analyze->flops, factorized.seconds);
  factorized.pivots = made.inverse->pivots();
  factorized.memory_bytes = made.inverse->factor_bytes();
  made.report.notes.clear();
  if (made.known.up_to_rounding() && made.kind != FactorKind::lu)
    made.report.notes.push_back(note_on_symmetry(made.known));
  note_replaced_pivots(factorized, made.report.notes);
}

template <class T>
bool ProductMaker<T>::asks_for_the_usual() const {
  AnalyzeOptions analyze_options = options_.analyze;
  analyze_options.symmetric_pattern = false;  // set by the function that builds it
  return options_.ordering == OrderingMethod::automatic && options_.method == SolveMethod::automatic &&
         !options_.mixed_precision && (!options_.device || options_.device_if_faster) &&
         !options_.world &&
         options_.tiny_pivot == 0 &&
         analyze_options == AnalyzeOptions();
}

template <class T>
Outcome<Ordering> ProductMaker<T>::order_for(const SparseMatrix<T>& matrix, FactorKind kind) {
  tell("order", 0);
  OrderOptions order_options;
  order_options.method = options_.ordering;
  order_options.pivot_need = pivot_need(kind);
  order_options.user = options_.user_ordering;
  order_options.threads = team_.size();
  Outcome<Ordering> found = order(matrix, order_options);
  tell("order", 1);
  return found;
}

template <class T>
void ProductMaker<T>::analyze_into(Products<T>& made) {
  tell("analyze", 0);
  const Stopwatch watch;
  AnalyzeOptions analyze_options = options_.analyze;
  analyze_options.symmetric_pattern = made.completion.empty() && made.known.symmetry != Symmetry::general;
  const auto factored = made.completion.empty() ? nullptr : made.factored_matrix();
  const SparsityPattern& pattern = factored ? factored->pattern : made.known.matrix->pattern;
  const double bytes = double(pattern.nnz()) * sizeof(index_t);
  made.symbolic = std::make_shared<const SymbolicFactor>(
      analyze(pattern, *made.ordering, analyze_options, team_.for_work(bytes >= bytes_worth_a_team)));
  AnalyzeReport analyzed = analyze_report(*made.symbolic, made.kind);
  analyzed.seconds = watch.seconds();
  const offset_t before = known_resident_bytes(made.symbolic->panel_entries());
  made.structure = plan_structure(made.symbolic, factor_scalar());
  analyzed.memory_bytes_predicted = predicted_peak_bytes(
      *made.symbolic, *made.structure, {made.kind, factor_scalar(), team_.size(), 1, before});
  made.report.analyze = analyzed;
  tell("analyze", 1);
}

template <class T>
void ProductMaker<T>::choose_device_into(Products<T>& made) const {
  made.device = options_.device;
  if (options_.world) return choose_grid_into(made);
  if (!options_.device_if_faster) return;
  if (!options_.device) {
    made.why_there = "solved on the host: there is no GPU (" + options_.why_no_device + ")";
    return;
  }
  DeviceCandidate candidate{*made.symbolic, made.kind, factor_scalar(), options_.device};
  candidate.threads = team_.size();
  if (cluster_of(options_.device->info())) candidate.host_gbs = bandwidth_.stream_gbs(team_.size(), {}, 0);
  DeviceDecision decision = choose_device(candidate);
  made.device = std::move(decision.device);
  made.why_there = std::move(decision.why);
}

template <class T>
void ProductMaker<T>::choose_grid_into(Products<T>& made) const {
  made.of_world = options_.of_world;
  if (options_.method != SolveMethod::automatic)
    made.of_world.layered_method = layered_method_of_devices(options_.method);
  if (made.of_world.grid.cols != 0 || made.of_world.layers > 1) return;
  DeviceGridDecision decision =
      choose_device_grid({*made.symbolic, made.kind, factor_scalar(), options_.world->element(0)->info(),
                          options_.world->size(), made.of_world, options_.method});
  made.of_world.grid = decision.devices.grid;
  made.of_world.layers = decision.devices.layers;
  made.why_there = std::move(decision.why);
}

template <class T>
Outcome<void> ProductMaker<T>::factorize_into(Products<T>& made, const SparseMatrix<T>& matrix,
                                            int at_most) {
  InverseOptions inverse_options;
  inverse_options.mixed_precision = options_.mixed_precision;
  inverse_options.device = made.device;
  inverse_options.world = options_.world;
  inverse_options.of_world = made.of_world;
  inverse_options.structure = made.structure;
  inverse_options.factorize.kind = made.kind;
  inverse_options.factorize.offload = {made.device, options_.offload, options_.offload_model};
  inverse_options.factorize.tiny_pivot = options_.tiny_pivot;
  inverse_options.factorize.team =
      team_.for_work(made.report.analyze->flops * (is_complex_v<T> ? 4 : 1) >= flops_worth_a_team, at_most);
  inverse_options.factorize.progress = options_.progress;
  const bool left_behind = memory_mutex_.lock();
  const std::lock_guard alone(memory_mutex_, std::adopt_lock);
  // another thread factorizes in it, in the parent process
  if (left_behind) memory_ = InverseMemory<T>();
  auto inverse = make_inverse(matrix, made.symbolic, *made.ordering, inverse_options, memory_);
  if (!inverse) return inverse.failure();
  made.inverse = std::move(inverse).value();
  made.updated_columns = 0;
  if (made.device)
    made.matrix_there = std::make_shared<const DeviceMatrix<T>>(
        made.device, made.known.matrix,
        made.known.up_to_rounding() ? Symmetry::general : made.known.symmetry);
  const ThreadTeam* used = inverse_options.factorize.team;
  report_factor(made, used != nullptr ? used->size() : 1);
  if (made.device) report_offload(made, options_);
  if (!made.why_there.empty()) made.report.notes.push_back(made.why_there);
  return {};
}

template <class T>
std::optional<Products<T>> ProductMaker<T>::make_by_columns(const KnownMatrix<T>& known, FactorKind kind) {
  const SparsityPattern& pattern = known.matrix->pattern;
  if (kind == FactorKind::ldlt || !asks_for_the_usual() || !may_be_thin(pattern)) return std::nullopt;
  tell("order", 0);
  const Stopwatch watch;
  std::optional<BlockOrdering> order = order_by_columns(pattern, kind == FactorKind::llt);
  if (!order || !is_thin(*order)) return std::nullopt;
  OrderReport ordered{order->dense ? OrderingMethod::natural : OrderingMethod::amd, false, watch.seconds()};
  tell("order", 1);
  std::optional<Products<T>> made(begun(known, kind));
  made->report.order = ordered;
  made->report.analyze.emplace().diagonal_blocks = order->num_blocks();
  if (!factorize_by_columns(*made, std::make_shared<const BlockOrdering>(std::move(*order))))
    return std::nullopt;
  return made;
}

template <class T>
bool ProductMaker<T>::factorize_by_columns(Products<T>& made, std::shared_ptr<const BlockOrdering> order) {
  tell("factorize", 0);
  const Stopwatch watch;
  const auto matrix = matrix_to_factor(made.known, made.kind);
  std::shared_ptr<const ColumnFactor<T>> factor;
  if (made.columns) factor = made.columns->refactor(*matrix);
  if (!factor) factor = ColumnFactor<T>::create(*matrix, std::move(order), made.kind);
  if (!factor) return false;
  made.columns = factor;
  AnalyzeReport& analyzed = *made.report.analyze;
  analyzed.nnz_factor = factor->entries();
  analyzed.flops = factor->flops();
  made.inverse = inverse_by_columns<T>(std::move(factor), watch.seconds());
  analyzed.memory_bytes_predicted =
      known_resident_bytes(analyzed.nnz_factor) + made.inverse->factor_bytes();
  report_factor(made, 1);
  if (options_.device_if_faster)
    made.report.notes.push_back("solved on the host: the factor is too thin for a device");
  tell("factorize", 1);
  return true;
}

template <class T>
Outcome<Products<T>> ProductMaker<T>::make(const KnownMatrix<T>& known, FactorKind kind) {
  Products<T> made = begun(known, kind);
  auto matrix = made.factored_matrix();
  Outcome<Ordering> found = order_for(*matrix, kind);
  if (!found && options_.singular != SingularAnswer::raise &&
      options_.kind.value_or(FactorKind::lu) == FactorKind::lu) {
    made.completion = places_to_complete(found.failure(), most_null_directions);
    if (!made.completion.empty()) {
      made.kind = FactorKind::lu;
      matrix = made.factored_matrix();
      found = order_for(*matrix, made.kind);
    }
  }
  if (!found) return found.failure();
  made.ordering = std::make_shared<const Ordering>(std::move(found).value());
  made.report.order = OrderReport{made.ordering->method, made.ordering->matched, made.ordering->seconds};
  analyze_into(made);
  choose_device_into(made);
  const Outcome<void> factored = factorize_into(made, *matrix, 0);
  if (!factored) return factored.failure();
  return made;
}

namespace {

/// What the first refactorization adds: a factor and a plan beside those before, which solves may be using
/// and which stay for the next factorization, and where the entries go (see FactorizeMemory). New values are
/// in memory already. Later refactorizations add nothing.
template <class T>
void predict_again(Products<T>& made) {
  if (made.is_refactored) return;
  made.is_refactored = true;
  const SparsityPattern& pattern = made.known.matrix->pattern;
  const offset_t entries = pattern.nnz(), n = pattern.cols,
                 lower = made.kind == FactorKind::lu ? entries : (entries + n) / 2;
  const offset_t listed = 4 * entries + 12 * lower + 16 * (n + 1);
  offset_t& predicted = made.report.analyze->memory_bytes_predicted;
  predicted = std::max<offset_t>(predicted, known_resident_bytes(made.symbolic->panel_entries()) +
                                                made.inverse->factor_bytes() + listed);
}

}  // namespace

template <class T>
Outcome<Products<T>> ProductMaker<T>::refactor(Products<T> made, int at_most) {
  if (made.columns) {
    if (factorize_by_columns(made, made.columns->structure().order)) return made;
    return make(made.known, made.kind);
  }
  predict_again(made);
  const Outcome<void> factored = factorize_into(made, *made.factored_matrix(), at_most);
  if (!factored) return factored.failure();
  return made;
}

namespace {

/// Entries of A grow as squares of those of its factor.
NumericalFailure overflow_of_update() {
  NumericalFailure failure;
  failure.kind = FailureKind::not_finite;
  failure.message = "an entry of A ± W·W' would not be finite; the factor of A is kept";
  return failure;
}

}  // namespace

template <class T>
Outcome<Products<T>> ProductMaker<T>::update(Products<T> made, const SparseMatrix<T>& w, UpdateSign sign,
                                             FactorUpdateReport& spent) {
  const Stopwatch watch;
  const bool left_behind = memory_mutex_.lock();
  const std::lock_guard alone(memory_mutex_, std::adopt_lock);
  if (left_behind) memory_ = InverseMemory<T>();
  ThreadTeam* const team = team_.for_work(made.inverse->factor_bytes() >= bytes_worth_a_team);
  auto outcome = made.inverse->changed(w, {sign, team}, memory_.working);
  if (!outcome) return outcome.failure();
  const ChangedInverse<T>& changed = outcome.value();
  auto matrix = std::make_shared<const SparseMatrix<T>>(changed_matrix(*made.known.matrix, w, sign));
  if (!has_finite_values(*matrix)) return overflow_of_update();
  made.inverse = changed.inverse;
  made.known.matrix = std::move(matrix);
  made.report.matrix.nnz = made.known.matrix->nnz();
  report_factor(made, made.report.factorize->threads);
  spent = {changed.rank, changed.supernodes, made.symbolic->num_supernodes(), changed.flops,
           watch.seconds()};
  made.updated_columns += changed.rank;
  if (!made.why_there.empty()) made.report.notes.push_back(made.why_there);
  made.report.notes.push_back("the factor was updated by " + std::to_string(made.updated_columns) +
                              (made.updated_columns == 1 ? " column" : " columns") +
                              " since it was computed or loaded");
  return made;
}

#define PALMETTE_INSTANTIATE(T)                                     \
  template Products<T> begun<T>(const KnownMatrix<T>&, FactorKind); \
  template void report_factor<T>(Products<T>&, int);                \
  template class ProductMaker<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
