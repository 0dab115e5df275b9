// Changes of low rank over ranks: what UpdatedSolver does, with solves of all ranks together.
#include "palmette/solver/rank_state.hpp"
#include "palmette/solver/updated_state.hpp"

namespace palmette {
namespace {

/// Entries that are not zero.
template <class T>
SparseMatrix<T> sparse_of(const DenseMatrix<T>& dense) {
  SparseMatrix<T> sparse;
  sparse.pattern.rows = dense.rows;
  sparse.pattern.cols = dense.cols;
  for (index_t column = 0; column < dense.cols; ++column) {
    for (index_t row = 0; row < dense.rows; ++row)
      if (const T value = dense.view()(row, column); value != T(0)) {
        sparse.pattern.row_index.push_back(row);
        sparse.values.push_back(value);
      }
    sparse.pattern.column_ptr.push_back(static_cast<offset_t>(sparse.values.size()));
  }
  return sparse;
}

/// @throws UsageError on all ranks unless all have the same number
void check_same_rank_of_change(index_t columns, const RankTeam& ranks) {
  const index_t most = ranks.transport.agree(columns);
  check_on_all(ranks, [&] {
    if (columns != most)
      throw UsageError("U has " + std::to_string(columns) + " columns, but on another rank " +
                       std::to_string(most));
  });
}

}  // namespace

template <class T>
struct UpdatedRankSolver<T>::State {
  // In this order: the system's matrix and inverse refer to transport and threads of the solver.
  std::shared_ptr<typename RankSolver<T>::State> of_solver;
  std::shared_ptr<const RankInput<T>> input;
  UpdatedSolver<T> updated;

  static FactorOfMatrix<T> factor_of(const std::shared_ptr<typename RankSolver<T>::State>& solver) {
    const RankInput<T>& input = *solver->made.input;
    return {solver->matrix(), solver->made.input, input.pattern().nnz(), solver->cost(1).flops,
            solver->inverse_in_place()};
  }

  UpdateReport solve_together(DenseView<const T> b, DenseView<T> x, Operation operation) {
    return result_of_exchange(of_solver->transport, [&] { return updated.solve(b, x, operation); });
  }
};

template <class T>
Outcome<UpdatedRankSolver<T>> RankSolver<T>::update(SparseMatrix<T> u, SparseMatrix<T> v) {
  return with_memory_errors(
      "out of memory while a change of low rank was prepared over ranks",
      [&]() -> Outcome<UpdatedRankSolver<T>> {
        check_same_rank_of_change(u.cols(), state_->ranks());
        check_on_all(state_->ranks(), [&] {
          state_->made.input->check_unchanged();
          check_change(size(), u, v);
        });
        auto made = result_of_exchange(state_->transport, [&] {
          return make_updated<T>(UpdatedRankSolver<T>::State::factor_of(state_),
                                 {std::move(u), std::move(v)});
        });
        if (!made) return made.failure();
        return UpdatedRankSolver<T>(std::make_unique<typename UpdatedRankSolver<T>::State>(
            typename UpdatedRankSolver<T>::State{state_, state_->made.input, std::move(made).value()}));
      });
}

template <class T>
Outcome<UpdatedRankSolver<T>> RankSolver<T>::update_rows(DenseView<const T> u, DenseView<const T> v) {
  return with_memory_errors(
      "out of memory while a change of low rank was prepared over ranks",
      [&]() -> Outcome<UpdatedRankSolver<T>> {
        check_parts(state_->ranks(), num_rows(), {"U", u.rows, u.cols}, {"V", v.rows, v.cols});
        check_same_rank_of_change(u.cols, state_->ranks());
        const DenseMatrix<T> all_u = state_->whole_columns(u), all_v = state_->whole_columns(v);
        SparseMatrix<T> whole_u, whole_v;
        check_on_all(state_->ranks(), [&] {
          whole_u = sparse_of(all_u);
          whole_v = sparse_of(all_v);
        });
        return update(std::move(whole_u), std::move(whole_v));
      });
}

template <class T>
UpdatedRankSolver<T>::UpdatedRankSolver(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
UpdatedRankSolver<T>::UpdatedRankSolver(UpdatedRankSolver&&) noexcept = default;
template <class T>
UpdatedRankSolver<T>& UpdatedRankSolver<T>::operator=(UpdatedRankSolver&&) noexcept = default;
template <class T>
UpdatedRankSolver<T>::~UpdatedRankSolver() = default;

template <class T>
index_t UpdatedRankSolver<T>::size() const {
  return state_->updated.size();
}
template <class T>
index_t UpdatedRankSolver<T>::num_rows() const {
  return state_->of_solver->num_rows();
}
template <class T>
const UpdateReport& UpdatedRankSolver<T>::report() const {
  return state_->updated.report();
}

template <class T>
UpdateReport UpdatedRankSolver<T>::solve(DenseView<const T> b, DenseView<T> x, Operation operation) {
  return with_memory_errors(no_memory_to_solve, [&] {
    agree_after(state_->of_solver->transport, [&] {
      state_->input->check_unchanged();
      check_right_hand_sides(size(), b, x);
    });
    return state_->solve_together(b, x, operation);
  });
}

template <class T>
UpdateReport UpdatedRankSolver<T>::solve_rows(DenseView<const T> b, DenseView<T> x, Operation operation) {
  return with_memory_errors(no_memory_to_solve, [&] {
    const auto together = [&](DenseView<const T> whole, DenseView<T> answer) {
      return Outcome<UpdateReport>(state_->solve_together(whole, answer, operation));
    };
    return state_->of_solver->solve_own_rows(*state_->input, b, x, together).value();
  });
}

#define PALMETTE_INSTANTIATE(T)                                                                          \
  template class UpdatedRankSolver<T>;                                                                   \
  template Outcome<UpdatedRankSolver<T>> RankSolver<T>::update(SparseMatrix<T>, SparseMatrix<T>);        \
  template Outcome<UpdatedRankSolver<T>> RankSolver<T>::update_rows(DenseView<const T>,                  \
                                                                    DenseView<const T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
