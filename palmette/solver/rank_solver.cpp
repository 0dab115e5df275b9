// The hall over ranks: what Solver does, with a factor that lies on all of them.
#include "palmette/solver/rank_solver.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/hall.hpp"
#include "palmette/solver/rank_layers.hpp"
#include "palmette/solver/rank_products.hpp"
#include "palmette/solver/verified_answer.hpp"

namespace palmette {
namespace {

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
    throw UsageError("max_rhs is " + std::to_string(options.max_rhs) +
                     "; at least one right-hand side is solved at a time");
  if (options.rhs_groups < 1 || (options.rhs_groups > 1 && options.device))
    throw UsageError("rhs_groups is " + std::to_string(options.rhs_groups) +
                     (options.device ? "; a device solves all right-hand sides together: leave it 1"
                                     : "; there must be at least 1"));
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
  RankProductMaker<T> maker;
  RankProducts<T> made;
  const RowInput<T>* rows = nullptr;  // of made.input, where it is that

  State(const RankSolverOptions& o, Transport& t)
      : options(o), transport(t), team(std::max(1, o.threads)), maker(options, transport, team) {
    transport.set_watchdog(options.watchdog_seconds);
  }

  RankTeam ranks() { return {transport, team, {options.watchdog_seconds}}; }

  Outcome<void> make(const std::shared_ptr<const RankInput<T>>& input, FactorKind kind,
                     std::string_view note) {
    Outcome<RankProducts<T>> next = maker.make(input, kind);
    if (!next) return next.failure();
    if (!note.empty()) next.value().report.run.notes.emplace_back(note);
    made = std::move(next).value();
    return {};
  }

  Outcome<void> prepare(const std::shared_ptr<const RankInput<T>>& input) {
    return make_first(input->choose(options.kind), options.kind.has_value(),
                      [&](FactorKind kind, const std::string& note) { return make(input, kind, note); });
  }

  Outcome<void> prepare_rows(const RowBlock<T>& block) {
    auto input = std::make_shared<const RowInput<T>>(block, ranks(), nullptr);
    rows = input.get();
    return prepare(input);
  }

  Outcome<void> refactor(std::shared_ptr<const RankInput<T>> input) {
    RankProducts<T> next = made;
    check_kind_kept<T>(next.kind, input->symmetry());
    next.input = std::move(input);
    next.report.run.matrix.symmetry = next.input->symmetry();
    next.report.run.notes.clear();
    if (!options.transport_note.empty()) next.report.run.notes.push_back(options.transport_note);
    const Outcome<void> factored = maker.factorize_into(next);
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
      return SolveTrace{made.report.method, team.size()};
    };
    source.cost = cost(b.cols);
    source.guarded_blocks = made.guarded_blocks;
    source.bandwidth = &bandwidth;
    source.factored = true;
    source.pivots_replaced = made.report.run.factorize->pivots.perturbed > 0;
    const RankTimes before = made.inverse->times();
    const CarriedCounts carried_before = made.inverse->carried();
    Outcome<Report> result = make_answer(source, made.report.run, b, x, request);
    if (!result) return result.failure();
    RankReport report = made.report;
    report.run = std::move(result).value();
    exchange(transport, [&] {
      report.times =
          times_of_ranks(made.inverse->times() - before, transport, team, {options.watchdog_seconds});
    });
    if (options.device)
      report.carried = carried_by_ranks(made.inverse->carried() - carried_before, transport);
    return report;
  }

  Outcome<RankReport> solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
    const auto is_ldlt = [&](const Report& report) {
      return !options.kind && report.factorize->kind == FactorKind::ldlt;
    };
    const auto make_lu = [&] { return make(made.input, FactorKind::lu, lu_instead_of_ldlt); };
    return answer_by_ladder(request, [&] { return answer(b, x, request); }, {{"LU was", is_ldlt, make_lu}});
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
    const Outcome<void> made = state->prepare(input);
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
    const Outcome<void> made = state->prepare_rows(rows);
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
Outcome<void> RankSolver<T>::refactor(std::shared_ptr<const SparseMatrix<T>> matrix) {
  return with_memory_errors(no_memory_to_make, [&]() -> Outcome<void> {
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
Outcome<void> RankSolver<T>::refactor_rows(const RowBlock<T>& rows) {
  return with_memory_errors(no_memory_to_make, [&]() -> Outcome<void> {
    if (state_->rows == nullptr)
      throw UsageError("this solver was created from a whole matrix; use refactor");
    auto input = std::make_shared<const RowInput<T>>(rows, state_->ranks(), state_->rows);
    const RowInput<T>* const next = input.get();
    const Outcome<void> done = state_->refactor(std::move(input));
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
  return inertia_of<T>(state_->made.kind, state_->made.inverse->factor().hermitian,
                       state_->made.report.run.factorize->pivots);
}

#define PALMETTE_INSTANTIATE(T) template class RankSolver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
