// The hall over ranks: what Solver does, with a factor that lies on all of them.
#include "palmette/solver/rank_solver.hpp"

#include <algorithm>

#include "palmette/solver/kept_ranks.hpp"
#include "palmette/solver/rank_layers.hpp"
#include "palmette/solver/rank_state.hpp"

namespace palmette {
namespace {

constexpr const char* no_memory_to_make =
    "out of memory while the matrix was ordered, analyzed or factorized over ranks";

}  // namespace

template <class T>
RankSolver<T>::RankSolver(std::shared_ptr<State> state) : state_(std::move(state)) {}
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
    std::shared_ptr<State> state;
    std::shared_ptr<const RankInput<T>> input;
    agree_after(transport, [&] {
      check_system(matrix, as_solver_options(options));
      check_rank_options<T>(options, transport.num_ranks());
      state = std::make_shared<State>(options, transport);
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
    std::shared_ptr<State> state;
    agree_after(transport, [&] {
      check_rank_options<T>(options, transport.num_ranks());
      state = std::make_shared<State>(options, transport);
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
    const std::shared_ptr<const RankInput<T>> input = state_->made.input;
    return state_->solve_own_rows(*input, b, x, [&](DenseView<const T> whole, DenseView<T> answer) {
      return state_->solve_together(whole, answer, request);
    });
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
void RankSolver<T>::save(const std::string& path) const {
  with_memory_errors("out of memory while a solver over ranks was saved", [&] {
    check_on_all(state_->ranks(), [&] { state_->made.input->check_unchanged(); });
    save_rank_products(path, state_->made, state_->options, state_->ranks());
  });
}

template <class T>
RankSolver<T> RankSolver<T>::load(const std::string& path, const RankLoadOptions& options,
                                  Transport& transport) {
  return with_memory_errors("out of memory while a solver over ranks was loaded", [&] {
    transport.set_watchdog(options.watchdog_seconds);
    ThreadTeam alone(1);
    const RankTeam opening{transport, alone, {options.watchdog_seconds}};
    check_on_all(opening, [&] { check_threads(options.threads); });
    const std::shared_ptr<const Archive> file = open_file_of_rank<T>(path, options, opening);
    std::shared_ptr<State> state;
    check_on_all(opening, [&] {
      RankSolverOptions kept = kept_rank_options(*file, options);
      check_rank_options<T>(kept, transport.num_ranks());
      state = std::make_shared<State>(std::move(kept), transport);
    });
    state->load(file, options.map);
    return RankSolver(std::move(state));
  });
}

template <class T>
index_t RankSolver<T>::size() const {
  return state_->size();
}
template <class T>
index_t RankSolver<T>::first_row() const {
  return state_->first_row();
}
template <class T>
index_t RankSolver<T>::num_rows() const {
  return state_->num_rows();
}
template <class T>
std::optional<RowBlock<T>> RankSolver<T>::rows() const {
  if (state_->rows == nullptr) return {};
  return state_->rows->block();
}
template <class T>
RankReport RankSolver<T>::report() const {
  return state_->told();
}
template <class T>
std::pair<std::complex<double>, double> RankSolver<T>::slogdet() const {
  const PivotReport& pivots = state_->made.report.run.factorize->pivots;
  return {pivots.determinant_sign, pivots.log_abs_determinant};
}
template <class T>
Inertia RankSolver<T>::inertia() {
  return with_memory_errors("out of memory while the inertia was decided over ranks", [&] {
    agree_after(state_->transport, [&] { state_->made.input->check_unchanged(); });
    return state_->inertia();
  });
}

template <class T>
Outcome<NullBasis<T>> RankSolver<T>::null_space() {
  return with_memory_errors("out of memory while a null space was computed over ranks", [&] {
    agree_after(state_->transport, [&] { state_->made.input->check_unchanged(); });
    std::optional<Outcome<NullBasis<T>>> found;
    exchange(state_->transport, [&] { found.emplace(state_->null_basis()); });
    return *std::move(found);
  });
}

#define PALMETTE_INSTANTIATE(T) template class RankSolver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
