// The boundary's Schur complement over ranks: order, analyze, factorize up to the boundary, deal S, check it.
#include "palmette/solver/rank_schur.hpp"

#include <algorithm>

#include "palmette/solver/rank_layers.hpp"
#include "palmette/solver/rank_schur_factor.hpp"
#include "palmette/solver/rank_state.hpp"
#include "palmette/solver/schur_factor.hpp"

namespace palmette {
namespace {

constexpr const char* no_memory_for_complement =
    "out of memory while a Schur complement was computed over ranks";

/// @throws UsageError on all ranks unless all have the same
void check_same_boundary(const RankTeam& ranks, const std::vector<index_t>& boundary) {
  const std::uint64_t mine = checksum(std::as_bytes(std::span(boundary)));
  std::vector<std::uint64_t> all;
  exchange(ranks.transport, [&] { all = values_of_ranks(mine, ranks.transport, ranks.team, ranks.drive); });
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      throw UsageError("rank " + std::to_string(rank) +
                       " gives other unknowns for the boundary than rank 0; all must give the same");
}

/// b with zeros on the boundary, or only there.
template <class T>
DenseMatrix<T> masked(DenseView<const T> b, const std::vector<char>& on_boundary, bool keep_boundary) {
  DenseMatrix<T> kept(b.rows, b.cols);
  for (index_t j = 0; j < b.cols; ++j)
    for (index_t i = 0; i < b.rows; ++i)
      if ((on_boundary[i] != 0) == keep_boundary) kept.view()(i, j) = b(i, j);
  return kept;
}

}  // namespace

template <class T>
struct RankSchurSolver<T>::State {
  const RankSchurOptions options;
  const std::vector<index_t> boundary;
  std::shared_ptr<typename RankSolver<T>::State> solver;  // of the interior
  std::shared_ptr<const RankInput<T>> whole;
  std::vector<char> on_boundary;  // length n
  std::optional<ComplementPlaces> places;
  DenseMatrix<T> complement;
  RankSchurReport report;

  State(std::vector<index_t> unknowns, const RankSchurOptions& given, Transport& transport)
      : options(given),
        boundary(std::move(unknowns)),
        solver(std::make_shared<typename RankSolver<T>::State>(options.ranks, transport)) {}

  Transport& transport() { return solver->transport; }
  RankTeam ranks() { return solver->ranks(); }
  index_t n() const { return static_cast<index_t>(on_boundary.size()); }
  index_t num_boundary() const { return static_cast<index_t>(boundary.size()); }
  template <class Work>
  auto with_matrix(const RankInput<T>& input, const Work& work) const {
    AnswerSource<T> source;
    input.attach(source);
    return source.with_matrix(work);
  }

  Outcome<void> prepare(std::shared_ptr<const RankInput<T>> input) {
    whole = std::move(input);
    check_on_all(ranks(), [&] {
      on_boundary = marked(whole->pattern().rows, boundary);
      places.emplace(options.complement, num_boundary(), transport().num_ranks());
      if (options.ranks.ordering == OrderingMethod::user)
        throw UsageError("the order of a Schur complement's interior cannot be given; name a method");
      if (options.ranks.singular != SingularAnswer::raise)
        throw UsageError(
            "a Schur complement needs an interior that is not singular, so there is nothing to choose: leave "
            "`singular` out, and put unknowns that make the interior singular on the boundary");
    });
    check_same_boundary(ranks(), boundary);
    const FactorKind first = whole->choose(options.ranks.kind);
    std::shared_ptr<const RankInput<T>> inside;
    agree_after(transport(), [&] { inside = whole->interior(on_boundary); });
    if (solver->rows != nullptr) solver->rows = static_cast<const RowInput<T>*>(inside.get());
    Outcome<void> made;
    for (const FactorKind kind : kinds_to_try(first, options.ranks.kind.has_value())) {
      made = make(inside, kind);
      if (made) check();
      if (made && report.run.verified) break;
      if (!made && made.failure().kind != FailureKind::not_positive_definite) break;
    }
    return made;
  }

  Outcome<void> make(const std::shared_ptr<const RankInput<T>>& inside, FactorKind kind) {
    solver->made = {};  // of another kind
    complement = {};
    RankProducts<T> made;
    made.kind = kind;
    made.input = inside;
    solver->maker.begin_report(made);
    PlacedStructure all;
    const Outcome<void> structured = find_structure(made, all);
    if (!structured) return structured.failure();
    const Stopwatch watch;
    auto part = solver->maker.factorize_part(*whole, all, made.report.run.notes);
    if (part.facts.failure) return *part.facts.failure;
    complement = complement_over_ranks(ranks(), *part.factor, *places, options.round_bytes);
    agree_after(transport(), [&] {
      part.factor = std::make_shared<RankFactor<T>>(
          interior_part(*part.factor, made.symbolic, made.placement, num_boundary()));
    });
    solver->maker.keep_part(made, std::move(part), watch);
    solver->made = std::move(made);
    report_factor();
    return {};
  }

  /// @param all  of the whole, up to the boundary; made: of the interior
  Outcome<void> find_structure(RankProducts<T>& made, PlacedStructure& all) {
    Outcome<Ordering> found = made.input->order(solver->maker.order_options(made.kind));
    if (!found) return found.failure();
    exchange(transport(), [&] {
      made.ordering = std::make_shared<const Ordering>(with_matrix(*whole, [&](const auto& matrix) {
        return boundary_last<T>(std::move(found).value(), matrix, whole->symmetry(), boundary, on_boundary);
      }));
    });
    const Stopwatch watch;
    AnalyzeOptions how = options.ranks.analyze;
    how.columns_last = num_boundary();
    how.symmetric_pattern = whole->symmetry() != Symmetry::general;
    agree_after(transport(), [&] {
      all = {made.kind, made.ordering,
             std::make_shared<const SymbolicFactor>(
                 analyze(with_full_boundary(whole->pattern(), boundary), *made.ordering, how)),
             nullptr, num_boundary()};
      made.symbolic =
          std::make_shared<const SymbolicFactor>(interior_structure(*all.symbolic, num_boundary()));
      made.report.run.analyze = analyze_report(*made.symbolic, made.kind);
    });
    const RankLayout layout = layout_of_ranks(*all.symbolic, options.ranks, sizeof(T), transport());
    agree_after(transport(), [&] {
      place_into(made, layout, options.ranks.whole);
      all.placement = std::make_shared<const Placement>(
          with_last_over_all(*made.placement, supernodes_before(*all.symbolic, num_boundary())));
    });
    report_structure(made, all, watch.seconds());
    return {};
  }

  /// Entries of factors and of S that this rank holds at once, at most, and predicted figures of all.
  void report_structure(const RankProducts<T>& made, const PlacedStructure& all, double seconds) {
    const index_t rank = transport().rank(), m = num_boundary();
    const offset_t of_kind = made.kind == FactorKind::lu ? 2 : 1;
    const auto owned = [&](const SymbolicFactor& symbolic, const Placement& placement) {
      return owned_blocks(symbolic, placement, rank % placement.num_ranks());
    };
    const OwnedBlocks whole_owned = owned(*all.symbolic, *all.placement);
    const offset_t panels = of_kind * whole_owned.entries();
    const OwnedBlocks inside = owned(*made.symbolic, *made.placement);
    const LayerSystem* const layer = made.layers.several() ? &made.layers.of(rank) : nullptr;
    const OwnedBlocks kept = layer != nullptr ? owned(*layer->symbolic, *layer->placement) : inside;
    const offset_t interior = of_kind * inside.entries(), of_layer = of_kind * kept.entries();
    offset_t rows = 0;
    for (const index_t of_panel : kept.panel_rows) rows += of_panel;
    const offset_t square = offset_t{places->num_rows(rank)} * places->num_cols(rank);
    // Plans hold a copy, and vectors.
    const offset_t planned = square + 2 * of_layer + 2 * rows * options.ranks.max_rhs,
                   handed = square + panels + interior;
    const double dealt = static_cast<double>(panels + square) * sizeof(T) +
                         dealing_bytes(*all.symbolic, whole_owned, *places,
                                       {rank, transport().num_ranks(), sizeof(T), options.round_bytes}),
                 analyzed = (static_cast<double>(whole->pattern().nnz()) + double(m) * m) * sizeof(index_t),
                 held = static_cast<double>(std::max(planned, handed)) * sizeof(T),
                 bytes = std::max({dealt, held, analyzed});
    exchange(transport(), [&] {
      report.memory_bytes_predicted =
          figure_of_ranks(bytes, transport(), solver->team, {options.ranks.watchdog_seconds});
    });
    SchurReport& run = report.run;
    run.memory_bytes_predicted = std::llround(transport().sum(bytes));
    run.kind = made.kind;
    run.size = n();
    run.boundary = m;
    run.ordering = made.ordering->method;
    run.order_seconds = made.ordering->seconds;
    run.analyze_seconds = seconds;
    run.flops = flops_before_boundary(*all.symbolic, made.kind, m);
    run.nnz_factor = factor_entries_before_boundary(*all.symbolic, made.kind, m);
  }

  void report_factor() {
    const RankReport& made = solver->made.report;
    SchurReport& run = report.run;
    run.threads = made.threads;
    run.factorize_seconds = made.run.factorize->seconds;
    run.perturbed_pivots = made.run.factorize->pivots.perturbed;
    const double bytes = static_cast<double>(solver->made.inverse->memory_bytes()) +
                         static_cast<double>(complement.values.size() * sizeof(T));
    exchange(transport(), [&] {
      report.memory_bytes =
          figure_of_ranks(bytes, transport(), solver->team, {options.ranks.watchdog_seconds});
    });
    run.memory_bytes = std::llround(transport().sum(bytes));
    report.num_ranks = made.num_ranks;
    report.grid = made.grid;
    report.layers = made.layers;
    report.map = made.map;
    report.delivery = made.delivery;
    report.transport = made.transport;
    report.complement_grid = places->grid();
    report.complement_block = places->block();
  }

  /// S against A, as on one machine.
  void check() {
    const DenseMatrix<T> v = trial_vector<T>(num_boundary());
    DenseMatrix<T> b(n(), 1), x(n(), 1);
    extend(std::as_const(b).view(), v.view(), x.view());
    const std::vector<LongScalar<T>> product =
        multiply_complement(ranks(), std::as_const(complement).view(), *places, v);
    for (index_t i = 0; i < num_boundary(); ++i) b.values[boundary[i]] = T(product[i]);
    Verification found;
    exchange(transport(), [&] {
      found = with_matrix(*whole, [&](const auto& matrix) {
        return verify<T>(matrix, Operation::plain, std::as_const(b).view(), std::as_const(x).view());
      });
    });
    std::vector<std::string> notes = solver->made.report.run.notes;
    std::erase(notes, sentence_on_replaced_pivots(*solver->made.report.run.factorize));
    note_check(report.run, found, std::move(notes));
  }

  /// x ← diag(A_II, 1)⁻¹·x.
  void apply(DenseView<T> x) { solver->inverse_in_place()(Operation::plain, x); }

  /// Of whole vectors, inside `exchange`.
  Verification solve_interior(DenseView<const T> b, DenseView<T> x) {
    const DenseMatrix<T> inside = masked(b, on_boundary, false);
    for (index_t j = 0; j < b.cols; ++j) std::copy_n(inside.view().column(j), b.rows, x.column(j));
    const ApplyInverse<T> inverse = solver->inverse_in_place();
    inverse(Operation::plain, x);
    return with_matrix(*solver->made.input, [&](const auto& matrix) {
      return refine<T>(matrix, Operation::plain, inverse, inside.view(), x);
    });
  }

  void condense(DenseView<const T> b, DenseView<T> g) {
    DenseMatrix<T> x = masked(b, on_boundary, false), rest = RankSolver<T>::State::copy_of(b);
    apply(x.view());
    with_matrix(*whole, [&](const auto& matrix) {
      multiply_add<T>(matrix, Operation::plain, T(-1), std::as_const(x).view(), rest.view());
    });
    for (index_t j = 0; j < b.cols; ++j)
      for (index_t i = 0; i < num_boundary(); ++i) g(i, j) = rest.view()(boundary[i], j);
  }

  /// x_I = A_II⁻¹·(b_I − A_IB·x_B), with the given x_B.
  Verification extend(DenseView<const T> b, DenseView<const T> boundary_part, DenseView<T> x) {
    DenseMatrix<T> rest = RankSolver<T>::State::copy_of(b), given(n(), b.cols);
    for (index_t j = 0; j < b.cols; ++j)
      for (index_t i = 0; i < num_boundary(); ++i) given.view()(boundary[i], j) = boundary_part(i, j);
    Verification found;
    exchange(transport(), [&] {
      with_matrix(*whole, [&](const auto& matrix) {
        multiply_add<T>(matrix, Operation::plain, T(-1), std::as_const(given).view(), rest.view());
      });
      found = solve_interior(std::as_const(rest).view(), x);
    });
    for (index_t j = 0; j < x.cols; ++j)
      for (index_t i = 0; i < num_boundary(); ++i) x(boundary[i], j) = boundary_part(i, j);
    return found;
  }

  Verification expand(DenseView<const T> b, DenseView<const T> boundary_part, DenseView<T> x) {
    const Verification inside = extend(b, boundary_part, x);
    Verification found;
    exchange(transport(), [&] {
      found = with_matrix(*whole, [&](const auto& matrix) {
        return verify<T>(matrix, Operation::plain, b, DenseView<const T>(x));
      });
    });
    found.refine_steps = inside.refine_steps;
    return found;
  }

  Verification solve_interior_together(DenseView<const T> b, DenseView<T> x) {
    return result_of_exchange(transport(), [&] { return solve_interior(b, x); });
  }

  void check_given_part(DenseView<const T> part, index_t num_rhs) const {
    check_boundary_part("the boundary's part of x", {part.rows, part.cols}, {num_boundary(), num_rhs});
    check_finite(part);
  }
};

template <class T>
RankSchurSolver<T>::RankSchurSolver(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
RankSchurSolver<T>::RankSchurSolver(RankSchurSolver&&) noexcept = default;
template <class T>
RankSchurSolver<T>& RankSchurSolver<T>::operator=(RankSchurSolver&&) noexcept = default;
template <class T>
RankSchurSolver<T>::~RankSchurSolver() = default;

template <class T>
Outcome<RankSchurSolver<T>> RankSchurSolver<T>::create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                                       std::vector<index_t> boundary,
                                                       const RankSchurOptions& options,
                                                       Transport& transport) {
  return with_memory_errors(no_memory_for_complement, [&]() -> Outcome<RankSchurSolver<T>> {
    std::unique_ptr<State> state;
    std::shared_ptr<const RankInput<T>> input;
    agree_after(transport, [&] {
      check_system(matrix, as_solver_options(options.ranks));
      check_rank_options<T>(options.ranks, transport.num_ranks());
      state = std::make_unique<State>(std::move(boundary), options, transport);
      input = make_whole_input(with_known_symmetry(std::move(matrix)), transport);
    });
    const Outcome<void> made = state->prepare(input);
    if (!made) return made.failure();
    return RankSchurSolver(std::move(state));
  });
}

template <class T>
Outcome<RankSchurSolver<T>> RankSchurSolver<T>::create_from_rows(const RowBlock<T>& rows,
                                                                 std::vector<index_t> boundary,
                                                                 const RankSchurOptions& options,
                                                                 Transport& transport) {
  return with_memory_errors(no_memory_for_complement, [&]() -> Outcome<RankSchurSolver<T>> {
    std::unique_ptr<State> state;
    agree_after(transport, [&] {
      check_rank_options<T>(options.ranks, transport.num_ranks());
      state = std::make_unique<State>(std::move(boundary), options, transport);
    });
    auto input = std::make_shared<const RowInput<T>>(rows, state->ranks(), nullptr);
    state->solver->rows = input.get();
    const Outcome<void> made = state->prepare(std::move(input));
    if (!made) return made.failure();
    return RankSchurSolver(std::move(state));
  });
}

template <class T>
index_t RankSchurSolver<T>::size() const {
  return state_->n();
}
template <class T>
index_t RankSchurSolver<T>::first_row() const {
  return state_->solver->first_row();
}
template <class T>
index_t RankSchurSolver<T>::num_rows() const {
  return state_->solver->num_rows();
}
template <class T>
const std::vector<index_t>& RankSchurSolver<T>::boundary() const {
  return state_->boundary;
}
template <class T>
DenseView<const T> RankSchurSolver<T>::complement() const {
  return std::as_const(state_->complement).view();
}
template <class T>
const ComplementPlaces& RankSchurSolver<T>::complement_places() const {
  return *state_->places;
}
template <class T>
const RankSchurReport& RankSchurSolver<T>::report() const {
  return state_->report;
}

template <class T>
Verification RankSchurSolver<T>::solve_interior(DenseView<const T> b, DenseView<T> x) {
  return with_memory_errors(no_memory_to_solve, [&] {
    agree_after(state_->transport(), [&] {
      state_->whole->check_unchanged();
      check_right_hand_sides(size(), b, x);
    });
    return state_->solve_interior_together(b, x);
  });
}

template <class T>
Verification RankSchurSolver<T>::solve_interior_rows(DenseView<const T> b, DenseView<T> x) {
  return with_memory_errors(no_memory_to_solve, [&] {
    const auto together = [&](DenseView<const T> whole, DenseView<T> answer) {
      return Outcome<Verification>(state_->solve_interior_together(whole, answer));
    };
    return state_->solver->solve_own_rows(*state_->whole, b, x, together).value();
  });
}

template <class T>
void RankSchurSolver<T>::condense(DenseView<const T> b, DenseView<T> g) {
  with_memory_errors(no_memory_to_solve, [&] {
    agree_after(state_->transport(), [&] {
      state_->whole->check_unchanged();
      check_right_hand_sides(size(), b, DenseView<T>{nullptr, b.rows, b.cols, b.ld});
      check_boundary_part("the condensed right-hand side", {g.rows, g.cols},
                          {state_->num_boundary(), b.cols});
    });
    exchange(state_->transport(), [&] { state_->condense(b, g); });
  });
}

template <class T>
void RankSchurSolver<T>::condense_rows(DenseView<const T> b, DenseView<T> g) {
  with_memory_errors(no_memory_to_solve, [&] {
    state_->solver->check_own_rows(b, DenseView<T>{nullptr, b.rows, b.cols, b.ld});
    const DenseMatrix<T> all = state_->solver->whole_columns(b);
    condense(all.view(), g);
  });
}

template <class T>
Verification RankSchurSolver<T>::expand(DenseView<const T> b, DenseView<const T> boundary_part,
                                        DenseView<T> x) {
  return with_memory_errors(no_memory_to_solve, [&] {
    DenseMatrix<T> kept;
    agree_after(state_->transport(), [&] {
      state_->whole->check_unchanged();
      check_right_hand_sides(size(), b, x);
      state_->check_given_part(boundary_part, b.cols);
      kept = copy_if_overlapping(b, x);
    });
    return state_->expand(kept.values.empty() ? b : kept.view(), boundary_part, x);
  });
}

template <class T>
Verification RankSchurSolver<T>::expand_rows(DenseView<const T> b, DenseView<const T> boundary_part,
                                             DenseView<T> x) {
  return with_memory_errors(no_memory_to_solve, [&] {
    check_on_all(state_->ranks(), [&] { state_->check_given_part(boundary_part, b.cols); });
    const auto together = [&](DenseView<const T> whole, DenseView<T> answer) {
      return Outcome<Verification>(state_->expand(whole, boundary_part, answer));
    };
    return state_->solver->solve_own_rows(*state_->whole, b, x, together).value();
  });
}

#define PALMETTE_INSTANTIATE(T) template class RankSchurSolver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
