// The hall over ranks: what Solver does, with a factor that lies on all of them.
#include "palmette/solver/rank_solver.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/rank_facts.hpp"
#include "palmette/solver/rank_input.hpp"
#include "palmette/solver/rank_layers.hpp"
#include "palmette/solver/verified_answer.hpp"

namespace palmette {
namespace {

/// What was made of the matrix with one kind of factorization.
template <class T>
struct RankProducts {
  FactorKind kind = FactorKind::llt;
  std::shared_ptr<const Ordering> ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  RankLayers layers;
  std::shared_ptr<const Placement> placement;
  std::shared_ptr<const RankInput<T>> input;
  std::shared_ptr<RankInverse<T>> inverse;
  index_t guarded_blocks = 0;  // of all ranks
  RankReport report;
};

/// Whether rows and columns are exchanged against each other oddly often.
bool has_odd_order(const SymbolicFactor& symbolic) {
  const std::vector<index_t>&place_of_row = symbolic.row.old_to_new(), &row_at = symbolic.column.new_to_old();
  return is_odd_permutation(row_at.size(), [&](std::size_t place) {
    return place_of_row[row_at[place]];
  });
}

SolverOptions as_solver_options(const RankSolverOptions& options) {
  SolverOptions same;
  same.kind = options.kind;
  same.threads = options.threads;
  same.tiny_pivot = options.tiny_pivot;
  return same;
}

template <class T>
void check_rank_options(const RankSolverOptions& options, index_t num_ranks) {
  check_options<T>(as_solver_options(options));
  if (!options.choose_layout) grid_of_ranks(options, num_ranks);
  if (options.max_rhs < 1)
    throw UsageError("most_sides is " + std::to_string(options.max_rhs) +
                     "; at least one side is solved at a time");
}

void check_same_pattern(const SparsityPattern& known, const SparsityPattern& given) {
  if (given.rows == known.rows && given.column_ptr == known.column_ptr && given.row_index == known.row_index)
    return;
  throw UsageError("refactor needs the pattern that was analyzed (" + std::to_string(known.nnz()) +
                   " entries), this matrix has another (" + std::to_string(given.nnz()) +
                   " entries); make a new solver for it");
}

constexpr const char* no_memory_to_make =
    "out of memory while the matrix was ordered, analyzed or factorized over ranks";
constexpr const char* no_memory_to_solve = "out of memory while a system was solved over ranks";

}  // namespace

template <class T>
struct RankSolver<T>::State {
  const RankSolverOptions options;
  Transport& transport;
  ThreadTeam team;
  BandwidthMemory bandwidth{false, ""};
  RankProducts<T> made;
  const RowInput<T>* rows = nullptr;  // of made.input, where it is that

  State(const RankSolverOptions& o, Transport& t) : options(o), transport(t), team(std::max(1, o.threads)) {
    transport.set_watchdog(options.watchdog_seconds);
  }

  RankTeam ranks() { return {transport, team, {options.watchdog_seconds}}; }

  /// Order, analyze, place: each rank for itself.
  Outcome<bool> find_structure(RankProducts<T>& next) {
    OrderOptions order_options;
    order_options.method = options.ordering;
    order_options.pivot_need = pivot_need(next.kind);
    order_options.matching = options.matching;
    order_options.user = options.user_ordering;
    order_options.threads = team.size();
    Outcome<Ordering> found = next.input->order(order_options);
    if (!found) return found.failure();
    next.ordering = std::make_shared<const Ordering>(std::move(found).value());
    const Stopwatch watch;
    agree_after(transport, [&] { analyze_into(next); });
    const RankLayout layout = layout_of_ranks(*next.symbolic, options, sizeof(T), transport);
    agree_after(transport, [&] { place_into(next, layout); });
    next.report.run.analyze->seconds = watch.seconds();
    return true;
  }

  void analyze_into(RankProducts<T>& next) {
    Report& run = next.report.run;
    run.order = OrderReport{next.ordering->method, next.ordering->matched, next.ordering->seconds};
    AnalyzeOptions analyze_options = options.analyze;
    analyze_options.symmetric_pattern = next.input->symmetry() != Symmetry::general;
    next.symbolic = std::make_shared<const SymbolicFactor>(
        analyze(next.input->pattern(), *next.ordering, analyze_options));
    AnalyzeReport& analyzed = run.analyze.emplace();
    analyzed.nnz_factor = factor_entries(*next.symbolic, next.kind);
    analyzed.flops = factorization_flops(*next.symbolic, next.kind);
    analyzed.supernodes = next.symbolic->num_supernodes();
  }

  void place_into(RankProducts<T>& next, const RankLayout& layout) {
    next.layers = layers_of(*next.symbolic, layout, options.whole);
    next.placement =
        std::make_shared<const Placement>(placement_of(*next.symbolic, next.layers, layout, options.whole));
    next.report.grid = layout.ranks.grid;
    next.report.map = layout.map;
    report_layers(*next.symbolic, next.layers, next.kind, sizeof(T), next.report);
  }

  void begin_report(RankProducts<T>& next) {
    RankReport& report = next.report;
    const SparsityPattern& pattern = next.input->pattern();
    report.run.matrix = {pattern.rows, pattern.cols, pattern.nnz(), ScalarTraits<T>::type,
                         next.input->symmetry()};
    report.run.version = version();
    report.num_ranks = transport.num_ranks();
    report.trees = options.trees;
    report.delivery = options.delivery;
    report.transport = options.transport_name;
    report.threads = team.size();
    if (!options.transport_note.empty()) report.run.notes.push_back(options.transport_note);
  }
  static void note_refusal(RankProducts<T>& next, const RunTransport& run, const char* what) {
    if (run.refused())
      next.report.run.notes.push_back(std::string("messages instead of one-sided queues for the ") + what +
                                      ": no memory for them");
  }

  Outcome<bool> make(const std::shared_ptr<const RankInput<T>>& input, FactorKind kind) {
    RankProducts<T> next;
    next.kind = kind;
    next.input = input;
    begin_report(next);
    const Outcome<bool> structured = find_structure(next);
    if (!structured) return structured.failure();
    const Outcome<bool> factored = factorize_over_ranks(next);
    if (!factored) return factored.failure();
    made = std::move(next);
    return true;
  }

  Outcome<bool> factorize_over_ranks(RankProducts<T>& next) {
    const Stopwatch watch;
    std::shared_ptr<RankFactor<T>> factor;
    PivotFacts facts;
    const OwnEntries<T> entries =
        next.input->own_entries(next.symbolic, *next.placement, next.kind, *next.ordering);
    RunTransport blocks(options.planned, transport, [&] {
      const Traffic pushed = predicted_fan_out_traffic(*next.symbolic, *next.placement, next.kind, sizeof(T));
      if (options.delivery == Delivery::push) return transport_plan(pushed);
      return pulled_plan(pushed, predicted_offered_bytes(*next.symbolic, *next.placement, next.kind,
                                                         sizeof(T), offer_line_bytes));
    });
    note_refusal(next, blocks, "factorization");
    exchange(transport, [&] {
      Transport& run = blocks.begin();
      RankFactorizeOptions factorize_options;
      factorize_options.kind = next.kind;
      factorize_options.tiny_pivot = options.tiny_pivot;
      factorize_options.threads = team.size();
      factorize_options.delivery = options.delivery;
      RankFactorization<T> part(
          {*entries.matrix, next.symbolic, next.placement, *next.ordering, entries.largest},
          factorize_options, run);
      drive(part.program(), run, team, {options.watchdog_seconds});
      facts.pivots = part.pivots();
      if (part.bad_supernode() >= 0) facts.failure = part.failure();
      factor = std::make_shared<RankFactor<T>>(part.take());
    });
    exchange(transport,
             [&] { facts = joined_over_ranks(facts, ranks().transport, team, {options.watchdog_seconds}); });
    if (facts.failure) return *facts.failure;
    factor = handed_to_layer<T>(ranks(), next.layers, options.planned, std::move(*factor));
    const double seconds = watch.seconds();
    RankPlanOptions plan_options;
    plan_options.trees = options.trees;
    plan_options.max_rhs = options.max_rhs;
    plan_options.threads = team.size();
    next.inverse = std::make_shared<RankInverse<T>>(
        ranks(), RankSolveParts<T>{next.symbolic, next.layers, std::move(factor)}, plan_options,
        options.planned);
    note_refusal(next, next.inverse->run_transport(), "solves");
    report_factor(next, std::move(facts.pivots), seconds);
    return true;
  }

  void report_factor(RankProducts<T>& next, PivotReport pivots, double seconds) {
    if (has_odd_order(*next.symbolic)) pivots.determinant_sign = -pivots.determinant_sign;
    for (const double scale : next.ordering->row_scale) pivots.log_abs_determinant -= std::log(scale);
    for (const double scale : next.ordering->column_scale) pivots.log_abs_determinant -= std::log(scale);
    Report& run = next.report.run;
    FactorizeReport& factorized = run.factorize.emplace();
    factorized.kind = next.kind;
    factorized.scalar = ScalarTraits<T>::type;
    factorized.threads = team.size();
    factorized.seconds = seconds;
    factorized.gflops = seconds > 0 ? (is_complex_v<T> ? 4 : 1) * run.analyze->flops / seconds / 1e9 : 0;
    factorized.pivots = std::move(pivots);
    exchange(transport, [&] {
      next.report.memory_bytes = figure_of_ranks(static_cast<double>(next.inverse->memory_bytes()), transport,
                                                 team, {options.watchdog_seconds});
    });
    factorized.memory_bytes = std::llround(transport.sum(static_cast<double>(next.inverse->memory_bytes())));
    next.guarded_blocks = static_cast<index_t>(std::lround(transport.sum(next.inverse->guarded_blocks())));
    if (factorized.pivots.perturbed > 0)
      run.notes.push_back(std::to_string(factorized.pivots.perturbed) +
                          " tiny pivots were replaced; the first stands in column " +
                          std::to_string(factorized.pivots.perturbed_columns.front() + 1));
  }

  /// The ladder of Solver: LLᵀ, and LDLᵀ where a pivot says no.
  Outcome<bool> prepare(const std::shared_ptr<const RankInput<T>>& input) {
    const FactorKind first = input->choose(options.kind);
    const Outcome<bool> done = make(input, first);
    const bool another_way = !options.kind && first == FactorKind::llt && !done &&
                             done.failure().kind == FailureKind::not_positive_definite;
    if (!another_way) return done;
    return make_instead(input, FactorKind::ldlt, "LDL' instead of LL': " + done.failure().message);
  }

  Outcome<bool> make_instead(const std::shared_ptr<const RankInput<T>>& input, FactorKind kind,
                             const std::string& note) {
    const Outcome<bool> done = make(input, kind);
    if (done) made.report.run.notes.push_back(note);
    return done;
  }

  Outcome<bool> prepare_rows(const RowBlock<T>& block) {
    auto input = std::make_shared<const RowInput<T>>(block, ranks(), nullptr);
    rows = input.get();
    return prepare(input);
  }

  Outcome<bool> refactor(std::shared_ptr<const RankInput<T>> input) {
    RankProducts<T> next = made;
    if (!kind_fits<T>(next.kind, input->symmetry()))
      throw UsageError("refactor keeps the kind " + std::string(name_of(next.kind)) +
                       ", but the new values are " + std::string(name_of(input->symmetry())) +
                       "; make a new solver for them");
    next.input = std::move(input);
    next.report.run.matrix.symmetry = next.input->symmetry();
    next.report.run.notes.clear();
    if (!options.transport_note.empty()) next.report.run.notes.push_back(options.transport_note);
    const Outcome<bool> factored = factorize_over_ranks(next);
    if (factored) made = std::move(next);
    return factored;
  }

  SolveCost cost(index_t num_rhs) const {
    const double panels = static_cast<double>(made.symbolic->panel_entries()) * sizeof(T);
    const double blocks = std::ceil(num_rhs / static_cast<double>(made.inverse->max_rhs()));
    SolveCost cost;
    cost.flops = 4.0 * static_cast<double>(made.symbolic->panel_entries()) * num_rhs;
    cost.bytes = 2 * panels * blocks + 2.0 * size_of_side() * num_rhs;
    return cost;
  }
  double size_of_side() const { return static_cast<double>(size()) * sizeof(T); }

  index_t size() const { return made.input->pattern().rows; }

  Outcome<RankReport> answer(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
    AnswerSource<T> source;
    made.input->attach(source);
    source.apply = [this](Operation operation, DenseView<const T> in, DenseView<T> out) {
      made.inverse->apply(operation, in, out);
      return SolveTrace{SolveMethod::task_driven, team.size()};
    };
    source.cost = cost(b.cols);
    source.guarded_blocks = made.guarded_blocks;
    source.bandwidth = &bandwidth;
    source.factored = true;
    source.pivots_replaced = made.report.run.factorize->pivots.perturbed > 0;
    const RankTimes before = made.inverse->times();
    Outcome<Report> result = make_answer(source, made.report.run, b, x, request);
    if (!result) return result.failure();
    RankReport report = made.report;
    report.run = std::move(result).value();
    exchange(transport, [&] {
      report.times =
          times_of_ranks(made.inverse->times() - before, transport, team, {options.watchdog_seconds});
    });
    return report;
  }

  /// LDLᵀ could not be verified: pivots inside supernodes alone were too weak for this matrix.
  bool should_try_lu(const Outcome<RankReport>& answer, const SolveRequest& request) const {
    return answer && !answer.value().run.verify->verified && request.max_refine_steps != 0 && !options.kind &&
           made.kind == FactorKind::ldlt;
  }

  Outcome<RankReport> solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
    Outcome<RankReport> first = answer(b, x, request);
    if (!should_try_lu(first, request)) return first;
    const Outcome<bool> done = make_instead(made.input, FactorKind::lu,
                                            "LU instead of LDL': the answer of LDL' could not be verified");
    if (done) return answer(b, x, request);
    first.value().run.notes.push_back("LU was tried as well and failed: " + done.failure().message);
    return first;
  }

  Outcome<RankReport> solve_together(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
    std::optional<Outcome<RankReport>> result;
    exchange(transport, [&] { result.emplace(solve(b, x, request)); });
    return *std::move(result);
  }

  /// Each rank's rows of b and x are as many as those of the matrix, and all ranks have as many columns.
  void check_own_rows(DenseView<const T> b, DenseView<T> x) {
    const index_t expected = rows != nullptr ? rows->num_rows() : size();
    check_on_all(ranks(), [&] {
      if (b.rows == expected && x.rows == expected && b.cols == x.cols) return;
      throw DimensionError("b is " + std::to_string(b.rows) + " x " + std::to_string(b.cols) + " and x is " +
                           std::to_string(x.rows) + " x " + std::to_string(x.cols) + ", but this rank has " +
                           std::to_string(expected) +
                           " rows of the matrix; both need this number of rows, and equally many columns");
    });
    const index_t most = transport.agree(b.cols);
    check_on_all(ranks(), [&] {
      if (b.cols != most)
        throw DimensionError("b has " + std::to_string(b.cols) + " columns, but on another rank " +
                             std::to_string(most));
    });
  }

  static DenseMatrix<T> copy_of(DenseView<const T> b) {
    DenseMatrix<T> copy(b.rows, b.cols);
    for (index_t column = 0; column < b.cols; ++column)
      std::copy_n(b.column(column), b.rows, copy.view().column(column));
    return copy;
  }
};

template <class T>
RankSolver<T>::RankSolver(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
RankSolver<T>::RankSolver(RankSolver&&) noexcept = default;
template <class T>
RankSolver<T>& RankSolver<T>::operator=(RankSolver&&) noexcept = default;
template <class T>
RankSolver<T>::~RankSolver() = default;

template <class T>
Outcome<RankSolver<T>> RankSolver<T>::create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                             const RankSolverOptions& options, Transport& transport) {
  return with_memory_errors(no_memory_to_make, [&]() -> Outcome<RankSolver<T>> {
    std::unique_ptr<State> state;
    std::shared_ptr<const RankInput<T>> input;
    agree_after(transport, [&] {
      check_system(matrix, as_solver_options(options));
      check_rank_options<T>(options, transport.num_ranks());
      state = std::make_unique<State>(options, transport);
      input = make_whole_input(with_known_symmetry(std::move(matrix)), transport);
    });
    const Outcome<bool> made = state->prepare(input);
    if (!made) return made.failure();
    return RankSolver(std::move(state));
  });
}

template <class T>
Outcome<RankSolver<T>> RankSolver<T>::create_from_rows(const RowBlock<T>& rows,
                                                       const RankSolverOptions& options,
                                                       Transport& transport) {
  return with_memory_errors(no_memory_to_make, [&]() -> Outcome<RankSolver<T>> {
    std::unique_ptr<State> state;
    agree_after(transport, [&] {
      check_rank_options<T>(options, transport.num_ranks());
      state = std::make_unique<State>(options, transport);
    });
    const Outcome<bool> made = state->prepare_rows(rows);
    if (!made) return made.failure();
    return RankSolver(std::move(state));
  });
}

template <class T>
Outcome<RankReport> RankSolver<T>::solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
  return with_memory_errors(no_memory_to_solve, [&]() -> Outcome<RankReport> {
    DenseMatrix<T> kept;
    agree_after(state_->transport, [&] {
      state_->made.input->check_unchanged();
      check_right_hand_sides(size(), b, x);
      kept = copy_if_overlapping(b, x);
    });
    return state_->solve_together(kept.values.empty() ? b : std::as_const(kept).view(), x, request);
  });
}

template <class T>
Outcome<RankReport> RankSolver<T>::solve_rows(DenseView<const T> b, DenseView<T> x,
                                              const SolveRequest& request) {
  return with_memory_errors(no_memory_to_solve, [&]() -> Outcome<RankReport> {
    state_->check_own_rows(b, x);
    const DenseMatrix<T> whole =
        state_->rows != nullptr ? state_->rows->whole_columns(b) : state_->copy_of(b);
    DenseMatrix<T> answer(size(), b.cols);
    agree_after(state_->transport, [&] {
      state_->made.input->check_unchanged();
      check_right_hand_sides(size(), whole.view(), answer.view());
    });
    Outcome<RankReport> report = state_->solve_together(whole.view(), answer.view(), request);
    for (index_t column = 0; report && column < x.cols; ++column)
      std::copy_n(answer.view().column(column) + first_row(), x.rows, x.column(column));
    return report;
  });
}

template <class T>
Outcome<bool> RankSolver<T>::refactor(std::shared_ptr<const SparseMatrix<T>> matrix) {
  return with_memory_errors(no_memory_to_make, [&]() -> Outcome<bool> {
    std::shared_ptr<const RankInput<T>> input;
    agree_after(state_->transport, [&] {
      if (state_->rows != nullptr)
        throw UsageError("this solver was created from rows; use refactor_rows");
      state_->made.input->check_pattern_unchanged();
      check_system(matrix, as_solver_options(state_->options));
      check_same_pattern(state_->made.input->pattern(), matrix->pattern);
      input = make_whole_input(with_known_symmetry(std::move(matrix)), state_->transport);
    });
    return state_->refactor(std::move(input));
  });
}

template <class T>
Outcome<bool> RankSolver<T>::refactor_rows(const RowBlock<T>& rows) {
  return with_memory_errors(no_memory_to_make, [&]() -> Outcome<bool> {
    if (state_->rows == nullptr)
      throw UsageError("this solver was created from a whole matrix; use refactor");
    auto input = std::make_shared<const RowInput<T>>(rows, state_->ranks(), state_->rows);
    const RowInput<T>* const next = input.get();
    const Outcome<bool> done = state_->refactor(std::move(input));
    if (done) state_->rows = next;
    return done;
  });
}

template <class T>
index_t RankSolver<T>::size() const {
  return state_->size();
}
template <class T>
index_t RankSolver<T>::first_row() const {
  return state_->rows != nullptr ? state_->rows->first_row() : 0;
}
template <class T>
index_t RankSolver<T>::num_rows() const {
  return state_->rows != nullptr ? state_->rows->num_rows() : size();
}
template <class T>
RankReport RankSolver<T>::report() const {
  return state_->made.report;
}
template <class T>
std::pair<std::complex<double>, double> RankSolver<T>::slogdet() const {
  const PivotReport& pivots = state_->made.report.run.factorize->pivots;
  return {pivots.determinant_sign, pivots.log_abs_determinant};
}
template <class T>
Inertia RankSolver<T>::inertia() const {
  if (state_->made.kind == FactorKind::lu)
    throw UsageError("LU gives no inertia; factorize a symmetric matrix with kind ldlt");
  if (is_complex_v<T> && !state_->made.inverse->factor().hermitian)
    throw UsageError("a complex symmetric matrix has no inertia: its eigenvalues are not real");
  return state_->made.report.run.factorize->pivots.inertia;
}

#define PALMETTE_INSTANTIATE(T) template class RankSolver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
