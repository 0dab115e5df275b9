// Orders, analyzes, places and factorizes for RankSolver.
#include "palmette/solver/rank_products.hpp"

#include <cmath>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/hall.hpp"
#include "palmette/solver/rank_layers.hpp"
#include "palmette/solver/rank_network.hpp"

namespace palmette {
namespace {

/// Whether the permutation of rows relative to columns is odd.
bool has_odd_order(const SymbolicFactor& symbolic) {
  const std::vector<index_t>&place_of_row = symbolic.row.old_to_new(), &row_at = symbolic.column.new_to_old();
  return is_odd_permutation(row_at.size(), [&](std::size_t place) {
    return place_of_row[row_at[place]];
  });
}

/// Pivots of the factored matrix, with what scalings and permutations do to the determinant undone.
PivotReport of_user_matrix(PivotReport pivots, const SymbolicFactor& symbolic, const Ordering& ordering) {
  if (has_odd_order(symbolic)) pivots.determinant_sign = -pivots.determinant_sign;
  for (const double scale : ordering.row_scale) pivots.log_abs_determinant -= std::log(scale);
  for (const double scale : ordering.column_scale) pivots.log_abs_determinant -= std::log(scale);
  return pivots;
}

void note_refusal(std::vector<std::string>& notes, const RunTransport& run, const char* what) {
  if (run.refused())
    notes.push_back(std::string("messages instead of one-sided queues for the ") + what +
                    ": no memory for them");
}

}  // namespace

template <class T>
Outcome<RankProducts<T>> RankProductMaker<T>::make(const std::shared_ptr<const RankInput<T>>& input,
                                                   FactorKind kind) {
  RankProducts<T> made;
  made.kind = kind;
  made.input = input;
  begin_report(made);
  const Outcome<void> structured = find_structure(made);
  if (!structured) return structured.failure();
  const Outcome<void> factored = factorize_into(made);
  if (!factored) return factored.failure();
  return made;
}

template <class T>
void RankProductMaker<T>::begin_report(RankProducts<T>& made) const {
  RankReport& report = made.report;
  const SparsityPattern& pattern = made.input->pattern();
  report.run.matrix = {pattern.rows, pattern.cols, pattern.nnz(), ScalarTraits<T>::type,
                       made.input->symmetry()};
  report.run.version = version();
  report.num_ranks = transport_.num_ranks();
  report.trees = options_.trees;
  report.delivery = options_.delivery;
  report.transport = options_.transport_name;
  report.threads = team_.size();
  if (!options_.transport_note.empty()) report.run.notes.push_back(options_.transport_note);
}

template <class T>
OrderOptions RankProductMaker<T>::order_options(FactorKind kind) const {
  OrderOptions wanted;
  wanted.method = options_.ordering;
  wanted.pivot_need = pivot_need(kind);
  wanted.matching = options_.matching;
  wanted.user = options_.user_ordering;
  wanted.threads = team_.size();
  return wanted;
}

template <class T>
Outcome<void> RankProductMaker<T>::find_structure(RankProducts<T>& made) {
  Outcome<Ordering> found = made.input->order(order_options(made.kind));
  if (!found) return found.failure();
  made.ordering = std::make_shared<const Ordering>(std::move(found).value());
  const Stopwatch watch;
  agree_after(transport_, [&] { analyze_into(made); });
  const RankLayout layout = layout_of_ranks(*made.symbolic, options_, sizeof(T), transport_);
  agree_after(transport_, [&] { place_into(made, layout, options_.whole); });
  made.report.run.analyze->seconds = watch.seconds();
  return {};
}

template <class T>
void RankProductMaker<T>::analyze_into(RankProducts<T>& made) {
  Report& run = made.report.run;
  run.order = OrderReport{made.ordering->method, made.ordering->matched, made.ordering->seconds};
  AnalyzeOptions analyze_options = options_.analyze;
  analyze_options.symmetric_pattern = made.input->symmetry() != Symmetry::general;
  made.symbolic = std::make_shared<const SymbolicFactor>(
      analyze(made.input->pattern(), *made.ordering, analyze_options, &team_));
  run.analyze = analyze_report(*made.symbolic, made.kind);
}

template <class T>
void place_into(RankProducts<T>& made, const RankLayout& layout, const WholeSubtrees& whole) {
  made.layout = layout;
  made.layers = layers_of(*made.symbolic, layout, whole);
  made.placement =
      std::make_shared<const Placement>(placement_of(*made.symbolic, made.layers, layout, whole));
  made.report.grid = layout.ranks.grid;
  made.report.map = layout.map;
  made.report.rhs_groups = layout.rhs_groups;
  report_layers(*made.symbolic, made.layers, made.kind, sizeof(T), made.report);
}

template <class T>
typename RankProductMaker<T>::FactoredPart RankProductMaker<T>::factorize_part(
    const RankInput<T>& input, const PlacedStructure& what, std::vector<std::string>& notes) {
  FactoredPart made;
  const OwnEntries<T> entries = input.own_entries(what);
  RunTransport blocks(options_.planned, transport_, [&] {
    const Traffic pushed = predicted_fan_out_traffic(*what.symbolic, *what.placement, what.kind, sizeof(T),
                                                     what.columns_last);
    if (options_.delivery == BlockDelivery::push) return transport_plan(pushed);
    return pulled_plan(
        pushed, predicted_offered_bytes(*what.symbolic, *what.placement,
                                        {what.kind, sizeof(T), offer_line_bytes, what.columns_last}));
  });
  note_refusal(notes, blocks, "factorization");
  exchange(transport_, [&] {
    Transport& run = blocks.begin();
    RankFactorizeOptions factorize_options;
    factorize_options.kind = what.kind;
    factorize_options.tiny_pivot = options_.tiny_pivot;
    factorize_options.threads = team_.size();
    factorize_options.delivery = options_.delivery;
    factorize_options.columns_last = what.columns_last;
    RankFactorization<T> part(
        {*entries.matrix, what.symbolic, what.placement, *what.ordering, entries.largest}, factorize_options,
        run);
    drive(part.program(), run, team_, patience());
    made.facts.pivots = part.pivots();
    made.facts.replaced = part.replaced();
    if (part.bad_supernode() >= 0) made.facts.failure = part.failure();
    made.factor = std::make_shared<RankFactor<T>>(part.take());
  });
  exchange(transport_, [&] { made.facts = joined_over_ranks(made.facts, transport_, team_, patience()); });
  return made;
}

template <class T>
Outcome<void> RankProductMaker<T>::factorize_into(RankProducts<T>& made) {
  const Stopwatch watch;
  FactoredPart part = factorize_part(
      *made.input, {made.kind, made.ordering, made.symbolic, made.placement}, made.report.run.notes);
  if (part.facts.failure) return *part.facts.failure;
  keep_part(made, std::move(part), watch);
  return {};
}

template <class T>
void RankProductMaker<T>::keep_part(RankProducts<T>& made, FactoredPart part, const Stopwatch& watch) {
  std::shared_ptr<RankFactor<T>> factor =
      handed_to_layer<T>(ranks(), made.layers, options_.planned, std::move(*part.factor));
  FactorizeReport& factorized = made.report.run.factorize.emplace();
  factorized.threads = team_.size();
  factorized.seconds = watch.seconds();
  factorized.pivots = of_user_matrix(std::move(part.facts.pivots), *made.symbolic, *made.ordering);
  made.replaced = std::move(part.facts.replaced);
  adopt(made, std::move(factor));
}

template <class T>
void RankProductMaker<T>::adopt(RankProducts<T>& made, std::shared_ptr<const RankFactor<T>> factor) {
  plan_into(made, std::move(factor));
  made.decided = std::make_shared<ReplacedPivotsOnDemand<T>>();
  made.decision = nullptr;
  made.null_space = std::make_shared<NullSpaceOnDemand<T>>();
  Report& run = made.report.run;
  FactorizeReport& factorized = *run.factorize;
  factorized.kind = made.kind;
  factorized.scalar = ScalarTraits<T>::type;
  factorized.gflops = factorization_gflops<T>(run.analyze->flops, factorized.seconds);
  report_memory(made);
  note_replaced_pivots(factorized, run.notes);
}

template <class T>
void RankProductMaker<T>::plan_into(RankProducts<T>& made, std::shared_ptr<const RankFactor<T>> factor) {
  RankPlanOptions plan_options;
  plan_options.trees = options_.trees;
  plan_options.max_rhs = options_.max_rhs;
  plan_options.rhs_groups = made.report.rhs_groups;
  plan_options.threads = team_.size();
  plan_options.device = options_.device;
  plan_options.memory = options_.memory;
  if (options_.device && options_.memory == MemoryKind::symmetric)
    plan_options.network = network_of_ranks(ranks(), options_.device);
  made.inverse = std::make_shared<RankInverse<T>>(
      ranks(), RankSolveParts<T>{made.symbolic, made.layers, std::move(factor)}, plan_options,
      options_.planned);
  note_refusal(made.report.run.notes, made.inverse->run_transport(), "solves");
  if (options_.device) made.report.device_kind = options_.device->info().kind;
  made.report.memory = made.inverse->memory_kind();
}

template <class T>
void RankProductMaker<T>::report_memory(RankProducts<T>& made) {
  exchange(transport_, [&] {
    made.report.memory_bytes = figure_of_ranks(static_cast<double>(made.inverse->memory_bytes()), transport_,
                                               team_, patience());
  });
  made.report.run.factorize->memory_bytes =
      std::llround(transport_.sum(static_cast<double>(made.inverse->memory_bytes())));
  made.guarded_blocks = static_cast<index_t>(std::lround(transport_.sum(made.inverse->guarded_blocks())));
}

#define PALMETTE_INSTANTIATE(T)        \
  template class RankProductMaker<T>; \
  template void place_into(RankProducts<T>&, const RankLayout&, const WholeSubtrees&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
