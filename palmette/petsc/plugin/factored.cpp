// One rank's matrix is turned to columns for the hall; several ranks hand over their rows as they are.
#include "palmette/petsc/plugin/factored.hpp"

namespace palmette::petsc {
namespace {

template <class T>
SparseMatrix<T> by_columns(const LocalRows<T>& rows) {
  return transpose(from_compressed_columns<T>(rows.size, rows.size, rows.row_ptr, rows.column, rows.values));
}

}  // namespace

template <class T>
Factored<T>::Factored(int communicator, int num_ranks, Choices choices)
    : communicator_(communicator), num_ranks_(num_ranks), choices_(std::move(choices)) {}
template <class T>
Factored<T>::~Factored() = default;

template <class T>
Outcome<void> Factored<T>::factorize(const LocalRows<T>& rows) {
  return num_ranks_ == 1 ? factorize_alone(rows) : factorize_with_others(rows);
}

template <class T>
Outcome<void> Factored<T>::factorize_alone(const LocalRows<T>& rows) {
  auto matrix = std::make_shared<const SparseMatrix<T>>(by_columns(rows));
  if (alone_) {
    const Outcome<void> again = alone_->refactor(std::move(matrix));
    if (!again) return again.failure();
  } else {
    SolverOptions options;
    options.kind = choices_.kind;
    options.ordering = ordering_method(choices_.ordering);
    options.threads = choices_.threads;
    options.measure = false;
    auto made = Solver<T>::create(std::move(matrix), options);
    if (!made) return made.failure();
    alone_.emplace(std::move(made).value());
  }
  report_ = alone_->report();
  return {};
}

template <class T>
Outcome<void> Factored<T>::factorize_with_others(const LocalRows<T>& rows) {
  const RowBlock<T> block{rows.size, rows.first_row, rows.row_ptr, rows.column, rows.values};
  if (with_others_) {
    const Outcome<void> again = with_others_->refactor_rows(block);
    if (again) report_ = with_others_->report().run;
    return again;
  }
  if (!exchange_)
    exchange_ = std::make_unique<MpiExchange>(make_mpi_exchange(communicator_, choices_.transport));
  RankSolverOptions options;
  options.kind = choices_.kind;
  options.ordering = ordering_method(choices_.ordering);
  options.threads = std::max(1, choices_.threads);
  options.transport_name = exchange_->name;
  options.transport_note = exchange_->note;
  options.planned = exchange_->planned;
  auto made = RankSolver<T>::create_from_rows(block, options, *exchange_->transport);
  if (!made) return made.failure();
  with_others_.emplace(std::move(made).value());
  report_ = with_others_->report().run;
  return {};
}

template <class T>
Outcome<void> Factored<T>::solve(Operation operation, DenseView<const T> b, DenseView<T> x) {
  SolveRequest request;
  request.operation = operation;
  request.max_refine_steps = choices_.refine_steps;
  if (with_others_) {
    Outcome<RankReport> solved = with_others_->solve_rows(b, x, request);
    if (!solved) return solved.failure();
    report_ = std::move(solved.value().run);
    return {};
  }
  if (!alone_) throw UsageError("the matrix was not factored");
  Outcome<Report> solved = alone_->solve(b, x, request);
  if (!solved) return solved.failure();
  report_ = std::move(solved).value();
  return {};
}

template <class T>
Inertia Factored<T>::inertia() {
  if (with_others_) return with_others_->inertia();
  if (!alone_) throw UsageError("the matrix was not factored");
  return alone_->inertia();
}

template class Factored<double>;
template class Factored<std::complex<double>>;

}  // namespace palmette::petsc
