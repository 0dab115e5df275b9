// The hall over ranks: what Solver does, with a factor that lies on all of them.
#include "palmette/solver/rank_solver.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/rank_facts.hpp"
#include "palmette/solver/rank_inverse.hpp"
#include "palmette/solver/verified_answer.hpp"

namespace palmette {
namespace {

/// What was made of the matrix with one kind of factorization.
template <class T>
struct RankProducts {
  FactorKind kind = FactorKind::llt;
  std::shared_ptr<const Ordering> ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Placement> placement;
  std::unique_ptr<RankInverse<T>> inverse;
  index_t guarded_blocks = 0;  // of all ranks
  RankReport report;
};

SolverOptions as_solver_options(const RankSolverOptions& options) {
  SolverOptions same;
  same.kind = options.kind;
  same.threads = options.members;
  same.tiny_pivot = options.tiny_pivot;
  return same;
}

void check_grid(const ProcessGrid& grid, index_t num_ranks) {
  if (grid.rows == 0 && grid.cols == 0) return;
  if (grid.rows >= 1 && grid.cols >= 1 && std::int64_t{grid.rows} * grid.cols == num_ranks) return;
  throw UsageError("the grid of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + " ranks does not fit the run, which has " +
                   std::to_string(num_ranks) + (num_ranks == 1 ? " rank" : " ranks"));
}

}  // namespace

template <class T>
struct RankSolver<T>::State {
  std::shared_ptr<const SparseMatrix<T>> matrix;
  const RankSolverOptions options;
  Transport& transport;
  ThreadTeam team;
  BandwidthMemory bandwidth{false, ""};
  RankProducts<T> made;

  State(std::shared_ptr<const SparseMatrix<T>> a, const RankSolverOptions& o, Transport& t)
      : matrix(std::move(a)), options(o), transport(t), team(std::max(1, o.members)) {}

  RankTeam ranks() { return {transport, team, {options.watchdog_seconds}}; }

  /// Order, analyze, place: each rank for itself.
  Outcome<bool> find_structure(RankProducts<T>& next) {
    OrderOptions order_options;
    order_options.method = options.ordering;
    order_options.pivot_need = pivot_need(next.kind);
    order_options.user = options.user_ordering;
    order_options.threads = team.size();
    Outcome<Ordering> found = order(*matrix, order_options);
    if (!found) return found.failure();
    next.ordering = std::make_shared<const Ordering>(std::move(found).value());
    Report& run = next.report.run;
    run.order = OrderReport{next.ordering->method, next.ordering->matched, next.ordering->seconds};
    const Stopwatch watch;
    AnalyzeOptions analyze_options = options.analyze;
    analyze_options.symmetric_pattern = matrix->symmetry != Symmetry::general;
    next.symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix->pattern, *next.ordering, analyze_options));
    const ProcessGrid grid = options.grid.rows == 0 ? nearly_square_grid(transport.num_ranks()) : options.grid;
    next.placement = std::make_shared<const Placement>(place(*next.symbolic, grid, options.map, options.whole));
    AnalyzeReport& analyzed = run.analyze.emplace();
    analyzed.seconds = watch.seconds();
    analyzed.nnz_factor = factor_entries(*next.symbolic, next.kind);
    analyzed.flops = factorization_flops(*next.symbolic, next.kind);
    analyzed.supernodes = next.symbolic->num_supernodes();
    return true;
  }

  void begin_report(RankProducts<T>& next) {
    RankReport& report = next.report;
    report.run.matrix = {matrix->rows(), matrix->cols(), matrix->nnz(), ScalarTraits<T>::type, matrix->symmetry};
    report.run.version = version();
    report.num_ranks = transport.num_ranks();
    report.map = options.map;
    report.trees = options.trees;
    report.transport = options.transport_name;
    report.members = team.size();
    if (!options.transport_note.empty()) report.run.notes.push_back(options.transport_note);
  }
  static void note_refusal(RankProducts<T>& next, const RunTransport& run, const char* what) {
    if (run.refused()) next.report.run.notes.push_back(std::string("messages instead of one-sided queues for the ") + what + ": no memory for them");
  }

  Outcome<bool> make(FactorKind kind) {
    RankProducts<T> next;
    next.kind = kind;
    begin_report(next);
    Outcome<bool> structured = true;
    agree_after(transport, [&] { structured = find_structure(next); });
    if (!structured) return structured.failure();
    next.report.grid = next.placement->grid;
    const Outcome<bool> factored = factorize_over_ranks(next);
    if (!factored) return factored.failure();
    made = std::move(next);
    return true;
  }

  Outcome<bool> factorize_over_ranks(RankProducts<T>& next) {
    const Stopwatch watch;
    std::shared_ptr<RankFactor<T>> factor;
    PivotFacts facts;
    RunTransport blocks(options.planned, transport, [&] {
      return transport_plan(predicted_fan_out_traffic(*next.symbolic, *next.placement, next.kind, sizeof(T)));
    });
    note_refusal(next, blocks, "factorization");
    exchange(transport, [&] {
      Transport& run = blocks.begin();
      RankFactorizeOptions factorize_options;
      factorize_options.kind = next.kind;
      factorize_options.tiny_pivot = options.tiny_pivot;
      factorize_options.members = team.size();
      RankFactorization<T> part({*matrix, next.symbolic, next.placement, *next.ordering}, factorize_options, run);
      drive(part.program(), run, team, {options.watchdog_seconds});
      facts.pivots = part.pivots();
      if (part.bad_supernode() >= 0) facts.failure = part.failure();
      factor = std::make_shared<RankFactor<T>>(part.take());
    });
    exchange(transport, [&] { facts = joined_over_ranks(facts, ranks().transport, team, {options.watchdog_seconds}); });
    if (facts.failure) return *facts.failure;
    const double seconds = watch.seconds();
    RankPlanOptions plan_options;
    plan_options.trees = options.trees;
    plan_options.most_sides = options.most_sides;
    plan_options.members = team.size();
    next.inverse = std::make_unique<RankInverse<T>>(ranks(), std::move(factor), plan_options, options.planned);
    note_refusal(next, next.inverse->run_transport(), "solves");
    report_factor(next, std::move(facts.pivots), seconds);
    return true;
  }

  void report_factor(RankProducts<T>& next, PivotReport pivots, double seconds) {
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
      next.report.memory_bytes =
          figure_of_ranks(static_cast<double>(next.inverse->memory_bytes()), transport, team, {options.watchdog_seconds});
    });
    factorized.memory_bytes = std::llround(transport.sum(static_cast<double>(next.inverse->memory_bytes())));
    next.guarded_blocks = static_cast<index_t>(std::lround(transport.sum(next.inverse->guarded_blocks())));
    if (factorized.pivots.perturbed > 0)
      run.notes.push_back(std::to_string(factorized.pivots.perturbed) + " tiny pivots were replaced; the first stands in column " +
                          std::to_string(factorized.pivots.perturbed_columns.front() + 1));
  }

  /// The ladder of Solver: LLᵀ, and LDLᵀ where a pivot says no.
  Outcome<bool> prepare() {
    FactorKind first = FactorKind::lu;
    agree_after(transport, [&] {
      if (options.kind || matrix->symmetry != Symmetry::general) first = choose_kind(*matrix, options.kind);
    });
    const Outcome<bool> done = make(first);
    const bool another_way =
        !options.kind && first == FactorKind::llt && !done && done.failure().kind == FailureKind::not_positive_definite;
    if (!another_way) return done;
    return make_instead(FactorKind::ldlt, "LDL' instead of LL': " + done.failure().message);
  }

  Outcome<bool> make_instead(FactorKind kind, const std::string& note) {
    const Outcome<bool> done = make(kind);
    if (done) made.report.run.notes.push_back(note);
    return done;
  }

  SolveCost cost(index_t num_rhs) const {
    const double panels = static_cast<double>(made.symbolic->panel_entries()) * sizeof(T);
    const double blocks = std::ceil(num_rhs / static_cast<double>(made.inverse->most_sides()));
    SolveCost cost;
    cost.flops = 4.0 * static_cast<double>(made.symbolic->panel_entries()) * num_rhs;
    cost.bytes = 2 * panels * blocks + 2.0 * size_of_side() * num_rhs;
    return cost;
  }
  double size_of_side() const { return static_cast<double>(matrix->rows()) * sizeof(T); }

  Outcome<RankReport> answer(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
    AnswerSource<T> source;
    source.matrix = matrix.get();
    source.apply = [this](Operation operation, DenseView<const T> in, DenseView<T> out) {
      made.inverse->apply(operation, in, out);
      return SolveTrace{SolveMethod::task_driven, team.size()};
    };
    source.cost = cost(b.cols);
    source.guarded_blocks = made.guarded_blocks;
    source.bandwidth = &bandwidth;
    source.factored = true;
    source.pivots_replaced = made.report.run.factorize->pivots.perturbed > 0;
    Outcome<Report> result = make_answer(source, made.report.run, b, x, request);
    if (!result) return result.failure();
    RankReport report = made.report;
    report.run = std::move(result).value();
    return report;
  }

  /// LDLᵀ could not be verified: pivots inside supernodes alone were too weak for this matrix.
  bool should_try_lu(const Outcome<RankReport>& answer, const SolveRequest& request) const {
    return answer && !answer.value().run.verify->verified && request.max_refine_steps != 0 && !options.kind && made.kind == FactorKind::ldlt;
  }

  Outcome<RankReport> solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
    Outcome<RankReport> first = answer(b, x, request);
    if (!should_try_lu(first, request)) return first;
    const Outcome<bool> done = make_instead(FactorKind::lu, "LU instead of LDL': the answer of LDL' could not be verified");
    if (done) return answer(b, x, request);
    first.value().run.notes.push_back("LU was tried as well and failed: " + done.failure().message);
    return first;
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
Outcome<RankSolver<T>> RankSolver<T>::create(std::shared_ptr<const SparseMatrix<T>> matrix, const RankSolverOptions& options,
                                             Transport& transport) {
  return with_memory_errors("out of memory while the matrix was ordered, analyzed or factorized over ranks", [&]() -> Outcome<RankSolver<T>> {
    std::unique_ptr<State> state;
    agree_after(transport, [&] {
      check_system(matrix, as_solver_options(options));
      check_grid(options.grid, transport.num_ranks());
      if (options.most_sides < 1) throw UsageError("most_sides is " + std::to_string(options.most_sides) + "; at least one side is solved at a time");
      state = std::make_unique<State>(with_known_symmetry(std::move(matrix)), options, transport);
      transport.set_watchdog(options.watchdog_seconds);
    });
    const Outcome<bool> made = state->prepare();
    if (!made) return made.failure();
    return RankSolver(std::move(state));
  });
}

template <class T>
Outcome<RankReport> RankSolver<T>::solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
  return with_memory_errors("out of memory while a system was solved over ranks", [&]() -> Outcome<RankReport> {
    DenseMatrix<T> kept;
    agree_after(state_->transport, [&] {
      check_right_hand_sides(size(), b, x);
      kept = copy_if_overlapping(b, x);
    });
    std::optional<Outcome<RankReport>> result;
    exchange(state_->transport, [&] {
      result.emplace(state_->solve(kept.values.empty() ? b : std::as_const(kept).view(), x, request));
    });
    return *std::move(result);
  });
}

template <class T>
index_t RankSolver<T>::size() const {
  return state_->matrix->rows();
}

void visit(const RankReport& report, ReportVisitor& visitor) {
  visit(report.run, visitor);
  visitor.open("ranks");
  visitor.field("num_ranks", std::int64_t{report.num_ranks});
  visitor.field("grid_rows", std::int64_t{report.grid.rows});
  visitor.field("grid_cols", std::int64_t{report.grid.cols});
  visitor.field("map", name_of(report.map));
  visitor.field("trees", name_of(report.trees));
  visitor.field("transport", std::string_view(report.transport));
  visitor.field("threads_per_rank", std::int64_t{report.members});
  visitor.open("memory_bytes");
  visitor.field("least", report.memory_bytes.least);
  visitor.field("mean", report.memory_bytes.mean);
  visitor.field("most", report.memory_bytes.most);
  visitor.close();
  visitor.close();
}

#define PALMETTE_INSTANTIATE(T) template class RankSolver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
