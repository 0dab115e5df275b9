// Inside `solver`: what a RankSolver keeps, and what its functions share.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/entry_blocks.hpp"
#include "palmette/solver/hall.hpp"
#include "palmette/solver/kept_ranks.hpp"
#include "palmette/solver/rank_layers.hpp"
#include "palmette/solver/rank_products.hpp"
#include "palmette/solver/verified_answer.hpp"

namespace palmette {

inline SolverOptions as_solver_options(const RankSolverOptions& options) {
  SolverOptions same;
  same.kind = options.kind;
  same.threads = options.threads;
  same.tiny_pivot = options.tiny_pivot;
  return same;
}

/// @throws UsageError if an option is invalid
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

inline constexpr const char* no_memory_to_solve = "out of memory while a system was solved over ranks";

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
  index_t first_row() const { return rows != nullptr ? rows->first_row() : 0; }
  index_t num_rows() const { return rows != nullptr ? rows->num_rows() : size(); }

  /// Of the phases so far, with what was decided.
  RankReport told() const {
    RankReport report = made.report;
    if (made.decision != nullptr) tell(*made.decision, report.run);
    return report;
  }

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
    const PivotReport& pivots = made.report.run.factorize->pivots;
    source.pivots_replaced = pivots.perturbed > 0;
    source.has_weak_pivot = pivots.smallest_pivot <= weak_pivot<T> * pivots.largest_pivot;
    source.singular = options.singular;
    source.null_space = [&](const ApplyInverse<T>& apply) -> const NullSpace<T>& {
      return source.with_matrix([&](const auto& matrix) -> const NullSpace<T>& {
        return made.null_space->get(matrix, made.input->symmetry(), apply);
      });
    };
    const RankTimes before = made.inverse->times();
    const CarriedCounts carried_before = made.inverse->carried();
    RankReport report = told();
    Outcome<Report> result = make_answer(source, report.run, b, x, request);
    if (!result) return result.failure();
    report.run = std::move(result).value();
    exchange(transport, [&] {
      report.times =
          values_of_ranks(made.inverse->times() - before, transport, team, {options.watchdog_seconds});
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
    return result_of_exchange(transport, [&] { return solve(b, x, request); });
  }

  /// Why solves for single entries are not made by branches; empty: they are.
  std::string why_whole() const {
    if (options.device) return "the factor lies on devices";
    if (made.report.run.factorize->pivots.perturbed > 0) return "pivots were replaced";
    return {};
  }
  /// For solve_whole_for_entries.
  WholeSolve<T> solve_whole() {
    return [this](DenseView<T> x, const SolveRequest& how) -> Outcome<Report> {
      const DenseMatrix<T> rhs = copy_of(x);
      Outcome<RankReport> answer = solve_together(rhs.view(), x, how);
      if (!answer) return answer.failure();
      return std::move(answer).value().run;
    };
  }
  /// In rank_entries.cpp, inside `exchange`. All arguments have been checked, and are the same on all ranks.
  /// Counts of bytes and messages are this rank's, unless solved_whole.
  Outcome<SolvedEntries<T>> solve_entries(const SparseMatrix<T>& b, std::span<const index_t> wanted,
                                          const EntryRequest& request);
  /// Exchanges by itself; counts are sums over all ranks.
  Outcome<SolvedEntries<T>> solve_and_count_entries(const SparseMatrix<T>& b, std::span<const index_t> wanted,
                                                    const EntryRequest& request);
  /// In rank_inverse_columns.cpp, as solve_entries.
  Outcome<InverseEntries<T>> inverse_entries(std::span<const index_t> row, std::span<const index_t> column,
                                             const InverseRequest& request);
  /// In rank_selected.cpp, inside `exchange`; counts go to the report. @throws as check_on_all
  RankSelectedInverse<T> select_inverse(InverseReport& report);
  Outcome<void> check_selected(const RankSelectedInverse<T>& inverse, const InverseRequest& request,
                               InverseReport& report);

  /// x ← op(A)⁻¹·x, inside `exchange`; keeps the factor.
  ApplyInverse<T> inverse_in_place() const {
    return [inverse = made.inverse](Operation operation, DenseView<T> x) {
      inverse->apply(operation, DenseView<const T>(x), x);
    };
  }
  /// Of the input, which keeps it.
  WholeOrShare<T> matrix() const {
    AnswerSource<T> source;
    made.input->attach(source);
    return source.with_matrix([](const auto& matrix) { return WholeOrShare<T>(matrix); });
  }

  /// Inside `exchange`.
  Outcome<NullBasis<T>> null_basis() {
    AnswerSource<T> source;
    made.input->attach(source);
    const ApplyInverse<T> inverse = inverse_in_place();
    return source.with_matrix([&](const auto& matrix) {
      return verified_basis(made.null_space->get(matrix, made.input->symmetry(), inverse), matrix);
    });
  }

  Inertia inertia() {
    const PivotReport& pivots = made.report.run.factorize->pivots;
    const Inertia counted = inertia_of<T>(made.kind, made.inverse->factor().hermitian, pivots);
    const bool is_known = made.replaced.size() == static_cast<std::size_t>(pivots.perturbed);
    if (counted.zero == 0 || !is_known || made.replaced.size() > std::size_t{most_decided_pivots})
      return counted;
    if (made.decision == nullptr)
      exchange(transport, [&] { made.decision = &made.decided->get([&] { return decide(counted); }); });
    return made.decision->inertia;
  }

  ReplacedPivots<T> decide(const Inertia& counted) {
    const ApplyInverse<T> inverse = inverse_in_place();
    return decide_replaced_pivots<T>({matrix(), made.input->pattern().nnz(), made.replaced, counted,
                                      cost(1).flops, inverse, true, false});
  }

  /// Products of a file of this rank. Every rank must call it.
  void load(const std::shared_ptr<const Archive>& file, bool map) {
    const AnyRankInput<T> found = load_rank_input<T>(*file, ranks());
    rows = found.rows;
    std::optional<KeptRankProducts<T>> kept;
    check_on_all(ranks(), [&] {
      try {
        kept = load_rank_products<T>(file, found.input, options, transport.rank(), map);
      } catch (const UsageError& error) {
        file->refuse("is damaged: " + std::string(error.what()));
      }
    });
    maker.begin_report(kept->made);
    maker.adopt(kept->made, std::move(kept->factor));
    made = std::move(kept->made);
  }

  /// Each rank's rows of b and x are as many as those of the matrix, and all ranks have as many columns.
  void check_own_rows(DenseView<const T> b, DenseView<T> x) {
    check_parts(ranks(), num_rows(), {"b", b.rows, b.cols}, {"x", x.rows, x.cols});
    check_same_columns(ranks(), b.cols);
  }

  /// Solve with whole vectors, from and to this rank's rows.
  /// @param input  of the system, with which the caller may share a matrix
  /// @param solve  Outcome solve(DenseView<const T> b, DenseView<T> x), called by all ranks
  template <class Solve>
  auto solve_own_rows(const RankInput<T>& input, DenseView<const T> b, DenseView<T> x, const Solve& solve) {
    check_own_rows(b, x);
    const DenseMatrix<T> whole = whole_columns(b);
    DenseMatrix<T> answer;
    agree_after(transport, [&] {
      answer = DenseMatrix<T>(size(), b.cols);
      input.check_unchanged();
      check_right_hand_sides(size(), whole.view(), answer.view());
    });
    auto report = solve(whole.view(), answer.view());
    for (index_t column = 0; report && column < x.cols; ++column)
      std::copy_n(answer.view().column(column) + first_row(), x.rows, x.column(column));
    return report;
  }

  /// All rows of n × k columns, of which this rank has its own. Every rank must call it.
  DenseMatrix<T> whole_columns(DenseView<const T> own) const {
    return rows != nullptr ? rows->whole_columns(own) : copy_of(own);
  }

  static DenseMatrix<T> copy_of(DenseView<const T> b) {
    DenseMatrix<T> copy(b.rows, b.cols);
    for (index_t column = 0; column < b.cols; ++column)
      std::copy_n(b.column(column), b.rows, copy.view().column(column));
    return copy;
  }
};

}  // namespace palmette
