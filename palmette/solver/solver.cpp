// The hall: the products in their order, the ladder of factorization kinds, and the verified answer.
#include "palmette/solver/solver.hpp"

#include <algorithm>
#include <mutex>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/device_checks.hpp"
#include "palmette/solver/entry_blocks.hpp"
#include "palmette/solver/hall.hpp"
#include "palmette/solver/kept_products.hpp"
#include "palmette/solver/products.hpp"
#include "palmette/solver/timed_solve.hpp"
#include "palmette/solver/updated_state.hpp"
#include "palmette/solver/values_again.hpp"
#include "palmette/solver/verified_answer.hpp"

namespace palmette {

template <class T>
struct Solver<T>::State {
  const index_t n;
  const SolverOptions options;
  TeamOnDemand team;
  BandwidthMemory bandwidth;
  ProductMaker<T> maker;
  // one change of values or of kind at a time; solves continue with the products with which they began
  ProcessMutex writer;

  State(index_t order, const SolverOptions& o)
      : n(order), options(o), team(o.threads), bandwidth(o.measure, o.cache_folder),
        maker(options, team, bandwidth) {}

  std::shared_ptr<const Products<T>> products() const {
    const BriefLock lock(&products_);
    return products_;
  }
  void adopt(Products<T> made) {
    auto next = std::make_shared<const Products<T>>(std::move(made));
    const BriefLock lock(&products_);
    products_.swap(next);
  }

  Outcome<void> adopt_if_made(Outcome<Products<T>> made, const std::string& note) {
    if (!made) return made.failure();
    if (!note.empty()) made.value().report.notes.push_back(note);
    adopt(std::move(made).value());
    return {};
  }

  Outcome<void> prepare_first(const KnownMatrix<T>& known) {
    // The matrix's symmetry has already been determined: here `general` is certain.
    const bool must_be_lu = !options.kind && known.symmetry == Symmetry::general;
    const FactorKind first =
        must_be_lu ? FactorKind::lu : choose_kind(*known.matrix, known.symmetry, options.kind);
    if (std::optional<Products<T>> thin = maker.make_by_columns(known, first)) {
      adopt(*std::move(thin));
      return {};
    }
    return make_first(first, options.kind.has_value(), [&](FactorKind kind, const std::string& note) {
      return adopt_if_made(maker.make(known, kind), note);
    });
  }

  /// The lock of what replaces the products. What a thread that a fork left behind may have half made is
  /// forgotten.
  std::unique_lock<ProcessMutex> lock_writer() {
    const bool left_behind = writer.lock();
    std::unique_lock<ProcessMutex> alone(writer, std::adopt_lock);
    if (left_behind) values_again_.forget();
    return alone;
  }

  /// Another factorization of the same matrix in place of the present one, unless another thread has already
  /// replaced that.
  template <class Replaceable>
  Outcome<void> change(const Replaceable& replaceable, std::optional<FactorKind> kind,
                       std::string_view note) {
    const auto alone = lock_writer();
    const auto now = products();
    if (!replaceable(*now)) return {};
    return adopt_if_made(maker.make(now->known, kind.value_or(now->kind)), std::string(note));
  }
  static bool is_by_columns(const Products<T>& made) { return made.columns != nullptr; }
  static bool is_ldlt(const Products<T>& made) { return made.kind == FactorKind::ldlt; }

  AnotherFactorization supernodes_instead() {
    return {"supernodes were", [](const Report& report) { return report.analyze->supernodes == 0; },
            [this] {
              // Matching, scaling and static pivoting may do better.
              return change(is_by_columns, std::nullopt,
                            "by supernodes: the answer by columns could not be verified");
            }};
  }
  AnotherFactorization lu_instead() {
    return {"LU was",
            [this](const Report& report) {
              return !options.kind && report.factorize->kind == FactorKind::ldlt &&
                     !products()->inverse->file();
            },
            [this] { return change(is_ldlt, FactorKind::lu, lu_instead_of_ldlt); }};
  }

  /// The products of supernodes, for access to structure and factor; computed at the first access.
  Outcome<std::shared_ptr<const Products<T>>> supernodal() {
    auto now = products();
    if (!now->columns) return now;
    const std::lock_guard alone(shown_mutex_);
    if (!shown_ || shown_->known.matrix != now->known.matrix) {
      Outcome<Products<T>> made = maker.make(now->known, now->kind);
      if (!made) return made.failure();
      shown_ = std::make_shared<const Products<T>>(std::move(made).value());
    }
    return shown_;
  }

  /// @param new_values  a matrix of the pattern that is known, or its values
  template <class NewValues>
  Outcome<void> refactor(NewValues new_values, int at_most) {
    const auto alone = lock_writer();
    Products<T> made = *products();
    if (made.inverse->file())
      throw UsageError("new values need the factors in memory; load them without a memory budget");
    const double bytes = double(made.known.matrix->nnz()) * (sizeof(T) + sizeof(index_t));
    made.known = values_again_.know(made.known, std::move(new_values),
                                    team.for_work(bytes >= bytes_worth_a_team, at_most));
    check_kind_kept<T>(made.kind, made.known.symmetry);
    made.report.matrix.symmetry = made.known.symmetry;
    return adopt_if_made(maker.refactor(std::move(made), at_most), "");
  }

  Outcome<FactorUpdateReport> update_factor(const SparseMatrix<T>& w, UpdateSign sign) {
    const auto alone = lock_writer();
    const auto now = supernodal();
    if (!now) return now.failure();
    FactorUpdateReport spent;
    values_again_.forget();
    const Outcome<void> adopted = adopt_if_made(maker.update(*now.value(), w, sign, spent), "");
    if (!adopted) return adopted.failure();
    return spent;
  }

  /// Null if `automatic` would use one thread anyway: then no team is needed.
  ThreadTeam* team_for_solve(const Products<T>& made, index_t num_rhs, int at_most) {
    if (made.device || options.world) return nullptr;
    const Inverse<T>& inverse = *made.inverse;
    const double sweeps = std::max(1.0, num_rhs / 4.0);
    return team.for_work(
        options.method != SolveMethod::automatic || inverse.cost(1).bytes * sweeps >= bytes_worth_a_team,
        at_most);
  }

  /// op(A)⁻¹, or that of the matrix that was factored.
  SolveTrace apply(const Products<T>& now, Operation operation, DenseView<const T> in, DenseView<T> out,
                   int threads) {
    return now.inverse->apply(operation, in, out, {options.method, team_for_solve(now, in.cols, threads)});
  }

  ReplacedPivots<T> decide(const Products<T>& now, bool is_for_solves) {
    const ApplyInverse<T> inverse = [&](Operation operation, DenseView<T> x) {
      apply(now, operation, x, x, 0);
    };
    const bool has_inertia = now.kind == FactorKind::ldlt && (!is_complex_v<T> || now.inverse->hermitian());
    const std::shared_ptr<const SparseMatrix<T>> matrix = now.factored_matrix();
    return decide_replaced_pivots<T>({*matrix, matrix->pattern.nnz(), now.inverse->replaced(),
                                      now.inverse->pivots().inertia, now.inverse->cost(1).flops, inverse,
                                      has_inertia, is_for_solves});
  }
  /// What the capacitance matrix decides; null if no pivot was replaced, or too many.
  /// @param only_if_cheap  null as well if that costs more than the factorization
  const ReplacedPivots<T>* decision(const Products<T>& now, bool only_if_cheap) {
    const std::size_t replaced = now.inverse->replaced().size();
    if (replaced == 0 || replaced > std::size_t{most_decided_pivots} || !now.completion.empty())
      return nullptr;
    const double flops = now.report.analyze->flops * (is_complex_v<T> ? 4 : 1);
    const bool is_cheap = is_cheap_to_decide(now.known.matrix->pattern, *now.inverse, flops);
    if (only_if_cheap && !is_cheap) return nullptr;
    return &now.replaced->get([&] { return decide(now, is_cheap && !now.device && !options.world); });
  }
  /// The report of the phases so far, with what was decided.
  Report told(const Products<T>& now, const ReplacedPivots<T>* decided) {
    Report report = now.report;
    if (decided != nullptr) tell(*decided, report);
    return report;
  }

  /// @tparam B, X  vectors of the host, or of the device
  template <class B, class X>
  Outcome<Report> answer(B b, X x, index_t num_rhs, const SolveRequest& request) {
    const auto now = products();
    const Inverse<T>& inverse = *now->inverse;
    AnswerSource<T> source;
    source.matrix = now->known.matrix.get();
    const ReplacedPivots<T>* const decided = decision(*now, true);
    Report so_far = told(*now, decided);
    const Capacitance<T>* const undo = decided != nullptr ? decided->capacitance.get() : nullptr;
    source.apply = [&](Operation operation, DenseView<const T> in, DenseView<T> out) {
      if (undo == nullptr) return apply(*now, operation, in, out, request.threads);
      SolveTrace trace;
      if (in.data != out.data)
        for (index_t j = 0; j < in.cols; ++j) std::copy_n(in.column(j), in.rows, out.column(j));
      undo->solve(
          operation,
          [&](Operation again, DenseView<T> y) { trace = apply(*now, again, y, y, request.threads); }, out);
      return trace;
    };
    source.cost = inverse.cost(num_rhs);
    source.guarded_blocks = inverse.guarded_blocks();
    source.bandwidth = &bandwidth;
    source.device = now->device;
    source.world = options.world;
    source.matrix_there = now->matrix_there.get();
    source.apply_there = [&](Operation operation, OnDevice<const T> in, OnDevice<T> out) {
      return inverse.apply(operation, in, out, {options.method, nullptr});
    };
    source.small = inverse.factor_bytes() < bytes_worth_a_reading;
    source.mixed_precision = options.mixed_precision;
    source.factored = true;
    source.file = inverse.file();
    source.pivots_replaced = inverse.pivots().perturbed > 0 || !now->completion.empty();
    source.has_weak_pivot =
        inverse.pivots().smallest_pivot <= weak_pivot<T> * inverse.pivots().largest_pivot;
    source.singular = options.singular;
    source.null_space = [&](const ApplyInverse<T>& apply) -> const NullSpace<T>& {
      return now->null_space->get(*now->known.matrix, now->known.symmetry, apply);
    };
    maker.tell("solve", 0);
    Outcome<Report> result = make_answer(source, std::move(so_far), b, x, request);
    maker.tell("solve", 1);
    return result;
  }

  Outcome<NullBasis<T>> null_basis(const Products<T>& now) {
    const SparseMatrix<T>& matrix = *now.known.matrix;
    const NullSpace<T>& found =
        now.null_space->get(matrix, now.known.symmetry,
                            [&](Operation operation, DenseView<T> x) { apply(now, operation, x, x, 0); });
    return verified_basis(found, matrix);
  }

  /// Why solves for single entries are not made by branches; empty: they are.
  std::string why_whole() const {
    const auto now = products();
    if (options.mixed_precision) return "the factor is in single precision";
    if (now->device || options.world) return "the factor lies on a device";
    if (now->inverse->file()) return "the panels stay in a file";
    if (now->inverse->pivots().perturbed > 0 || !now->completion.empty()) return "pivots were replaced";
    return {};
  }

  SolvedEntries<T> solve_entries(const Products<T>& now, const SparseMatrix<T>& b,
                                 std::span<const index_t> wanted, const EntryRequest& request) {
    const SymbolicFactor& symbolic = *now.symbolic;
    EntrySource<T> source;
    source.solve = [&](const SparseMatrix<T>& rhs, const WantedEntries& entries, DenseView<T> x) {
      return now.inverse->solve_entries(request.operation, rhs, entries, x,
                                        {options.method, team_for_solve(now, x.cols, request.threads)});
    };
    source.place = (request.operation == Operation::plain ? symbolic.row : symbolic.column).old_to_new();
    if (request.check)
      source.equations = std::make_unique<WholeEquations<T>>(
          EquationRows<T>::of(*now.known.matrix, now.known.symmetry, request.operation, *now.transposed));
    return solve_by_branches(source, b, wanted, request);
  }

 private:
  ValuesAgain<T> values_again_;                  // guarded by `writer`
  std::shared_ptr<const Products<T>> products_;  // under a brief lock
  ProcessMutex shown_mutex_;
  std::shared_ptr<const Products<T>> shown_;  // of the same matrix as products_, or of an earlier one
};

void set_device(SolverOptions& options, std::string_view name) {
  options.device_if_faster = name == "auto" || name.starts_with("auto@");
  if (!options.device_if_faster) {
    options.device = open_device(name);
    return;
  }
  FoundGpu found = find_gpu(memory_budget(name));
  options.device = std::move(found.device);
  options.why_no_device = std::move(found.why_none);
}

void set_devices(SolverOptions& options, std::string_view kind, ProcessGrid grid, index_t layers) {
  constexpr index_t most = 1 << 10;
  const std::string words = "a grid of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) +
                            " x " + std::to_string(layers) + " devices; ";
  if (grid.rows < 1 || grid.rows > most || grid.cols < 0 || grid.cols > most || layers < 0 || layers > most)
    throw UsageError(words + "rows must be 1 to " + std::to_string(most) +
                     ", columns and layers 0 (chosen by prediction) to " + std::to_string(most));
  if (layers == 0 && grid.cols != 0)
    throw UsageError(words + "layers are chosen by prediction together with the grid: give 0 columns, or the "
                             "number of layers");
  const index_t of_layer = grid.rows * std::max<index_t>(grid.cols, 1);
  options.world = open_world(kind, static_cast<int>(of_layer * std::max<index_t>(layers, 1)));
  options.of_world.grid = grid;
  options.of_world.layers = layers;
}

template <class T>
Solver<T>::Solver(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
Solver<T>::Solver(Solver&&) noexcept = default;
template <class T>
Solver<T>& Solver<T>::operator=(Solver&&) noexcept = default;
template <class T>
Solver<T>::~Solver() = default;

template <class T>
Outcome<Solver<T>> Solver<T>::create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                     const SolverOptions& options) {
  return with_memory_errors("out of memory while the matrix was ordered, analyzed or factorized",
                            [&]() -> Outcome<Solver<T>> {
                              check_system(matrix, options);
                              auto state = std::make_unique<State>(matrix->rows(), options);
                              const Outcome<void> made = state->prepare_first(know_matrix(std::move(matrix)));
                              if (!made) return made.failure();
                              return Solver(std::move(state));
                            });
}

template <class T>
void Solver<T>::save(const std::string& path) const {
  with_memory_errors("out of memory while a solver was saved",
                     [&] { save_products(path, *state_->products(), state_->options); });
}

template <class T>
Solver<T> Solver<T>::load(const std::string& path, const LoadOptions& options) {
  return with_memory_errors("out of memory while a solver was loaded", [&] {
    check_threads(options.threads);
    check_solve_method(options.method, {SolveWhere::one_machine});
    if (options.memory_budget > 0 && options.method != SolveMethod::automatic &&
        options.method != SolveMethod::serial)
      throw UsageError("with a memory budget solves are serial; method " +
                       std::string(name_of(options.method)) + " needs the panels in memory");
    KeptProducts<T> kept = load_products<T>(path, options);
    auto state = std::make_unique<State>(kept.made.known.matrix->rows(), kept.options);
    state->adopt(std::move(kept.made));
    return Solver(std::move(state));
  });
}

template <class T>
Outcome<Report> Solver<T>::solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
  return with_memory_errors("out of memory while a system was solved", [&]() -> Outcome<Report> {
    check_right_hand_sides(size(), b, x);
    check_threads(request.threads);
    const DenseMatrix<T> kept = copy_if_overlapping(b, x);
    const DenseView<const T> rhs = kept.values.empty() ? b : kept.view();
    return answer_by_ladder(request, [&] { return state_->answer(rhs, x, rhs.cols, request); },
                            {state_->supernodes_instead(), state_->lu_instead()});
  });
}

template <class T>
Outcome<Report> Solver<T>::solve(OnDevice<const T> b, OnDevice<T> x, const SolveRequest& request) {
  return with_memory_errors("out of memory while a system was solved", [&]() -> Outcome<Report> {
    const std::shared_ptr<Device> device = this->device();
    check_vectors_on(device, size(), b, x, request);
    const CopyThere<T> kept = copy_if_overlapping(device, b, x);
    const OnDevice<const T> rhs = kept.or_else(b);
    return answer_by_ladder(request, [&] { return state_->answer(rhs, x, rhs.cols(), request); },
                            {state_->supernodes_instead(), state_->lu_instead()});
  });
}

template <class T>
Outcome<SolvedEntries<T>> Solver<T>::solve_entries(const SparseMatrix<T>& b, std::span<const index_t> wanted,
                                                   const EntryRequest& request) {
  return with_memory_errors(
      "out of memory while a system was solved for single entries", [&]() -> Outcome<SolvedEntries<T>> {
        check_entry_request(size(), b, wanted);
        check_threads(request.threads);
        std::string why = state_->why_whole();
        if (why.empty()) {
          const auto made = state_->supernodal();
          if (!made) return made.failure();
          SolvedEntries<T> solved = state_->solve_entries(*made.value(), b, wanted, request);
          if (!request.check || solved.report.verified) return solved;
          why = "equations of the wanted rows did not hold";
        }
        const WholeSolve<T> whole = [this](DenseView<T> x, const SolveRequest& how) {
          return solve(x, x, how);
        };
        return solve_whole_for_entries(whole, b, wanted, request, why);
      });
}

template <class T>
Outcome<void> Solver<T>::refactor(std::shared_ptr<const SparseMatrix<T>> matrix, int threads) {
  return with_memory_errors("out of memory while new values were factorized", [&]() -> Outcome<void> {
    check_threads(threads);
    return state_->refactor(std::move(matrix), threads);
  });
}

template <class T>
Outcome<void> Solver<T>::refactor_values(std::vector<T> values, int threads) {
  return with_memory_errors("out of memory while new values were factorized", [&]() -> Outcome<void> {
    check_threads(threads);
    return state_->refactor(std::move(values), threads);
  });
}

template <class T>
index_t Solver<T>::size() const {
  return state_->n;
}
template <class T>
std::shared_ptr<Device> Solver<T>::device() const {
  return state_->products()->device;
}
template <class T>
std::shared_ptr<const SparseMatrix<T>> Solver<T>::matrix() const {
  return state_->products()->known.matrix;
}
template <class T>
Report Solver<T>::report() const {
  const auto now = state_->products();
  return state_->told(*now, state_->decision(*now, true));
}
template <class T>
std::shared_ptr<const SymbolicFactor> Solver<T>::symbolic() const {
  return state_->supernodal().value()->symbolic;
}
template <class T>
std::pair<std::complex<double>, double> Solver<T>::slogdet() const {
  const auto now = state_->products();
  const PivotReport& pivots = now->inverse->pivots();
  return {pivots.determinant_sign, pivots.log_abs_determinant};
}
template <class T>
Inertia Solver<T>::inertia() const {
  const auto now = state_->products();
  const Inertia counted = inertia_of<T>(now->kind, now->inverse->hermitian(), now->inverse->pivots());
  if (counted.zero == 0) return counted;
  const ReplacedPivots<T>* const decided = state_->decision(*now, false);
  return decided != nullptr ? decided->inertia : counted;
}
template <class T>
Outcome<NullBasis<T>> Solver<T>::null_space() {
  return with_memory_errors("out of memory while a null space was computed",
                            [&] { return state_->null_basis(*state_->products()); });
}
template <class T>
Outcome<UpdatedSolver<T>> Solver<T>::update(SparseMatrix<T> u, SparseMatrix<T> v) {
  return with_memory_errors(
      "out of memory while a change of low rank was prepared", [&]() -> Outcome<UpdatedSolver<T>> {
        check_change(size(), u, v);
        const auto now = state_->products();
        if (now->device || state_->options.world)
          throw UsageError("an update needs the factor on the host; make a solver without a device for it");
        if (state_->options.mixed_precision)
          throw UsageError(
              "an update needs a factor in working precision; make a solver without mixed precision");
        const ReplacedPivots<T>* const decided = state_->decision(*now, true);
        FactorOfMatrix<T> kept = factor_on_one_machine<T>(
            now->known.matrix, now->inverse, decided ? decided->capacitance : nullptr, state_->options);
        return make_updated<T>(std::move(kept), {std::move(u), std::move(v)});
      });
}
template <class T>
Outcome<FactorUpdateReport> Solver<T>::update_factor(const SparseMatrix<T>& w, UpdateSign sign) {
  return with_memory_errors("out of memory while a factor was updated", [&] {
    if (device() || state_->options.world)
      throw UsageError("an update needs the factor on the host; make a solver without a device for it");
    return state_->update_factor(w, sign);
  });
}
template <class T>
void Solver<T>::solve_part(FactorPart part, Operation operation, DenseView<const T> b, DenseView<T> x) const {
  with_memory_errors("out of memory while a system was solved with one factor", [&] {
    check_right_hand_sides(size(), b, x);
    const DenseMatrix<T> kept = copy_if_overlapping(b, x);
    const std::shared_ptr<const Products<T>> now = state_->supernodal().value();
    const Inverse<T>& inverse = *now->inverse;
    inverse.solve_part(part, operation, kept.values.empty() ? b : kept.view(), x,
                       {state_->options.method, state_->team_for_solve(*now, b.cols, 0)});
  });
}
template <class T>
std::shared_ptr<const Factor<T>> Solver<T>::factor() const {
  std::shared_ptr<const Factor<T>> factor = state_->supernodal().value()->inverse->factor();
  if (!factor) throw UsageError("in mixed precision there is no factor in working precision");
  return factor;
}

#define PALMETTE_INSTANTIATE(T) template class Solver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
