// Groups of systems dealt to threads, and systems that need pivoting handed to a Solver.
#include "palmette/solver/batch_solver.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/known_matrix.hpp"
#include "palmette/solver/solver.hpp"
#include "palmette/solver/team_on_demand.hpp"

namespace palmette {
namespace {

/// A group is a few microseconds of work: threads take several at a time.
constexpr index_t groups_of_a_share = 8;

template <class T>
FactorKind kind_of_batch(const KnownMatrix<T>& first, std::optional<FactorKind> wanted) {
  const bool symmetric = first.symmetry == Symmetry::symmetric || first.symmetry == Symmetry::hermitian;
  if (!wanted) return symmetric ? FactorKind::ldlt : FactorKind::lu;
  if (*wanted == FactorKind::lu) return *wanted;
  if (!symmetric)
    throw UsageError("kind " + std::string(name_of(*wanted)) +
                     " needs symmetric matrices, but the first one is " +
                     std::string(name_of(first.symmetry)) + "; use lu");
  if (*wanted == FactorKind::llt && is_complex_v<T> && first.symmetry != Symmetry::hermitian)
    throw UsageError("kind llt needs Hermitian matrices, but the first one is symmetric; use ldlt");
  return *wanted;
}

template <class T>
T not_a_number() {
  return T(std::numeric_limits<real_t<T>>::quiet_NaN());
}

}  // namespace

std::string_view name_of(BatchState state) {
  switch (state) {
    case BatchState::solved:
      return "solved";
    case BatchState::solved_alone:
      return "solved_alone";
    case BatchState::not_verified:
      return "not_verified";
    case BatchState::singular:
      return "singular";
    case BatchState::not_definite:
      return "not_definite";
    case BatchState::not_finite:
      return "not_finite";
  }
  return "?";
}

template <class T>
struct BatchSolver<T>::State {
  BatchOptions options;
  FactorKind kind;
  BatchStructure structure;
  mutable TeamOnDemand team;

  State(const BatchOptions& given, FactorKind factor_kind, BatchStructure made)
      : options(given), kind(factor_kind), structure(std::move(made)), team(given.threads) {}

  /// Every group once. @returns the threads that were called
  int solve_groups(const BatchSystems<T>& systems, std::vector<BatchFigures>& figures) const {
    constexpr index_t share = groups_of_a_share * batch_lanes<T>;
    const index_t shares = (systems.num_systems + share - 1) / share;
    std::atomic<index_t> next{0};
    const auto take = [&](int) {
      std::optional<BatchGroup<T>> group;
      for (index_t own = next.fetch_add(1); own < shares; own = next.fetch_add(1)) {
        if (!group) group.emplace(structure);
        const index_t end = std::min<index_t>((own + 1) * share, systems.num_systems);
        for (index_t first = own * share; first < end; first += batch_lanes<T>)
          group->solve(systems, first, figures.data());
      }
    };
    const double flops = systems.num_systems * (structure.flops + 4.0 * double(structure.nnz_factor));
    ThreadTeam* const threads = team.for_work(shares > 1 && flops >= flops_worth_a_team / 4);
    if (threads == nullptr) return take(0), 1;
    return threads->share(std::ref(take));
  }

  bool is_finite_system(const BatchSystems<T>& systems, index_t system) const {
    for (offset_t entry = 0; entry < structure.pattern.nnz(); ++entry)
      if (!is_finite(systems.values.at(system, entry))) return false;
    for (index_t rhs = 0; rhs < systems.num_rhs; ++rhs)
      for (index_t row = 0; row < structure.n; ++row)
        if (!is_finite(systems.b.at(system, row, rhs))) return false;
    return true;
  }

  void fill_with_nan(const BatchSystems<T>& systems, index_t system) const {
    for (index_t rhs = 0; rhs < systems.num_rhs; ++rhs)
      for (index_t row = 0; row < structure.n; ++row) systems.x.at(system, row, rhs) = not_a_number<T>();
  }

  BatchState solve_alone(const BatchSystems<T>& systems, index_t system, BatchFigures& figures) const {
    SparseMatrix<T> matrix{structure.pattern, std::vector<T>(structure.pattern.nnz())};
    for (offset_t entry = 0; entry < structure.pattern.nnz(); ++entry)
      matrix.values[entry] = systems.values.at(system, entry);
    SolverOptions alone;
    alone.threads = 1;
    alone.measure = false;
    if (kind == FactorKind::lu) alone.kind = kind;
    Outcome<Solver<T>> made =
        Solver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), alone);
    DenseMatrix<T> x(structure.n, systems.num_rhs);
    for (index_t rhs = 0; rhs < systems.num_rhs; ++rhs)
      for (index_t row = 0; row < structure.n; ++row) x.view()(row, rhs) = systems.b.at(system, row, rhs);
    if (made) {
      const Outcome<Report> answer = made.value().solve(std::as_const(x).view(), x.view());
      if (answer) {
        figures.backward_error = answer.value().verify->backward_error;
        for (index_t rhs = 0; rhs < systems.num_rhs; ++rhs)
          for (index_t row = 0; row < structure.n; ++row)
            systems.x.at(system, row, rhs) = std::as_const(x).view()(row, rhs);
        return answer.value().verify->verified ? BatchState::solved_alone : BatchState::not_verified;
      }
    }
    fill_with_nan(systems, system);
    figures.backward_error = infinity;
    return BatchState::singular;
  }

  /// The state of one system, after another attempt where that is allowed.
  BatchState settle(const BatchSystems<T>& systems, index_t system, BatchFigures& figures) const {
    const bool definite_fails = kind == FactorKind::llt && figures.bad_pivot >= 0;
    if (!definite_fails && figures.backward_error <= systems.bound) return BatchState::solved;
    const bool finite = is_finite_system(systems, system);
    if (finite && !definite_fails && options.solve_alone) return solve_alone(systems, system, figures);
    if (finite && !definite_fails && figures.backward_error < infinity) return BatchState::not_verified;
    fill_with_nan(systems, system);
    figures.backward_error = infinity;
    if (!finite) return BatchState::not_finite;
    return definite_fails ? BatchState::not_definite : BatchState::singular;
  }

  /// b of all systems, column after column, if x may lie in its memory.
  std::vector<T> copy_if_shared(const BatchSystems<T>& systems) const {
    if (systems.num_systems == 0 || structure.n == 0 || systems.num_rhs == 0) return {};
    const offset_t last = systems.num_systems - 1;
    const auto ends = [&](const auto& array) {  // strides may be negative
      const T* first = &array.at(0, 0, 0);
      const T* end = first;
      for (const T* corner : {&array.at(last, 0, 0), &array.at(0, structure.n - 1, 0),
                              &array.at(0, 0, systems.num_rhs - 1)}) {
        const std::ptrdiff_t step = corner - &array.at(0, 0, 0);
        (step < 0 ? first : end) += step;
      }
      return std::pair(first, end);
    };
    const auto b = ends(systems.b), x = ends(systems.x);
    if (std::less<const T*>()(b.second, x.first) || std::less<const T*>()(x.second, b.first)) return {};
    std::vector<T> copied;
    copied.reserve(static_cast<std::size_t>(structure.n) * systems.num_rhs * systems.num_systems);
    for (offset_t system = 0; system <= last; ++system)
      for (index_t rhs = 0; rhs < systems.num_rhs; ++rhs)
        for (index_t row = 0; row < structure.n; ++row) copied.push_back(systems.b.at(system, row, rhs));
    return copied;
  }
};

template <class T>
BatchSolver<T>::BatchSolver(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
BatchSolver<T>::BatchSolver(BatchSolver&&) noexcept = default;
template <class T>
BatchSolver<T>& BatchSolver<T>::operator=(BatchSolver&&) noexcept = default;
template <class T>
BatchSolver<T>::~BatchSolver() = default;

template <class T>
Outcome<BatchSolver<T>> BatchSolver<T>::create(std::shared_ptr<const SparseMatrix<T>> first,
                                               const BatchOptions& options) {
  return with_memory_errors("out of memory while a batch was ordered", [&]() -> Outcome<BatchSolver> {
    SolverOptions checked;
    checked.threads = options.threads;
    checked.ordering = options.ordering;
    check_system(first, checked);
    const KnownMatrix<T> known = know_matrix(std::move(first));
    const FactorKind kind = kind_of_batch(known, options.kind);
    SparseMatrix<T> matrix = *known.matrix;
    matrix.symmetry = known.symmetry;
    OrderOptions ordering;
    ordering.method = options.ordering;
    Outcome<BatchStructure> made = batch_structure(matrix, kind, ordering);
    if (!made) return made.failure();
    return BatchSolver(std::make_unique<State>(options, kind, std::move(made).value()));
  });
}

template <class T>
index_t BatchSolver<T>::size() const {
  return state_->structure.n;
}
template <class T>
offset_t BatchSolver<T>::nnz() const {
  return state_->structure.pattern.nnz();
}
template <class T>
FactorKind BatchSolver<T>::kind() const {
  return state_->kind;
}

namespace {

void count_states(BatchReport& report, const std::vector<BatchFigures>& figures) {
  for (const BatchFigures& own : figures) {
    report.backward_error.push_back(own.backward_error);
    report.bad_column.push_back(own.bad_pivot);
    report.num_refined += own.refine_steps > 0;
  }
  for (const BatchState state : report.state) {
    report.num_alone += state == BatchState::solved_alone;
    report.num_failed += state > BatchState::solved_alone;
  }
  if (report.num_alone > 0)
    report.notes.push_back(std::to_string(report.num_alone) +
                           " systems were solved alone, because elimination without row exchanges failed");
  for (std::size_t system = 0; system < report.state.size() && report.num_failed > 0; ++system)
    if (report.state[system] > BatchState::solved_alone) {
      report.notes.push_back(std::to_string(report.num_failed) +
                             " systems were not solved, the first is system " + std::to_string(system) +
                             ": " + std::string(name_of(report.state[system])));
      break;
    }
}

}  // namespace

template <class T>
BatchReport BatchSolver<T>::solve(const BatchArray<const T>& values, const BatchArray<const T>& b,
                                  const BatchArray<T>& x, index_t num_systems, index_t num_rhs) const {
  if (num_systems < 0 || num_rhs < 0)
    throw UsageError("a batch of " + std::to_string(num_systems) + " systems with " +
                     std::to_string(num_rhs) + " right-hand sides each; the numbers must be at least 0");
  const bool empty = num_systems == 0 || size() == 0;
  if (!empty && (values.data == nullptr || (num_rhs > 0 && (b.data == nullptr || x.data == nullptr))))
    throw UsageError("values, b or x of a batch are missing");
  return with_memory_errors("out of memory while a batch was solved", [&] {
    const Stopwatch watch;
    BatchReport report;
    report.kind = state_->kind;
    report.num_systems = num_systems;
    report.num_rhs = num_rhs;
    report.nnz_factor = state_->structure.nnz_factor;
    report.flops = state_->structure.flops;
    report.lanes = batch_lanes<T>;
    report.bound = verification_bound(unit_roundoff<T>);
    BatchSystems<T> systems{values, b, x, num_systems, num_rhs, report.bound};
    const std::vector<T> kept = state_->copy_if_shared(systems);
    if (!kept.empty()) systems.b = {kept.data(), offset_t{size()} * num_rhs, 1, size()};
    std::vector<BatchFigures> figures(num_systems, BatchFigures{0, -1, 0});
    if (size() > 0) report.threads = state_->solve_groups(systems, figures);
    for (index_t system = 0; system < num_systems; ++system)
      report.state.push_back(state_->settle(systems, system, figures[system]));
    count_states(report, figures);
    report.seconds = watch.seconds();
    return report;
  });
}

#define PALMETTE_INSTANTIATE(T) template class BatchSolver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
