// A factored matrix behind a Mat of PETSc: on one rank a Solver, on several a RankSolver. Knows no PETSc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "palmette/solver/solver.hpp"

namespace palmette::petsc {

/// This rank's rows.
template <class T>
struct LocalRows {
  index_t size = 0;  ///< n of the whole matrix
  index_t first_row = 0;
  std::vector<offset_t> row_ptr{0};
  std::vector<index_t> column;  // of the whole matrix
  std::vector<T> values;
};

struct Choices {
  FactorKind kind = FactorKind::lu;
  std::string ordering = "auto";
  int threads = 1;
  int refine_steps = -1;  ///< as SolveRequest
  std::string transport = "mpi_two_sided";
};

/// All ranks must call all functions, with the same choices.
template <class T>
class Factored {
 public:
  /// @param communicator  Fortran's handle @param num_ranks  of it
  Factored(int communicator, int num_ranks, Choices choices);
  ~Factored();

  /// The next matrix has another pattern.
  void forget_pattern() { with_others_.reset(), alone_.reset(); }
  /// New values, and the first time the analysis. @throws as Solver::create
  Outcome<void> factorize(const LocalRows<T>& rows);
  /// @param b, x  this rank's rows @throws as Solver::solve
  Outcome<void> solve(Operation operation, DenseView<const T> b, DenseView<T> x);
  /// Of the phases so far; null before.
  const Report* report() const { return report_ ? &*report_ : nullptr; }
  const Choices& choices() const { return choices_; }
  /// As RankSolver::inertia, by solves of all ranks, so that MatGetInertia is collective.
  Inertia inertia();

 private:
  Outcome<void> factorize_alone(const LocalRows<T>& rows);
  Outcome<void> factorize_with_others(const LocalRows<T>& rows);

  int communicator_;
  int num_ranks_;
  Choices choices_;
  std::unique_ptr<MpiExchange> exchange_;  // outlives the solver
  std::optional<Solver<T>> alone_;
  std::optional<RankSolver<T>> with_others_;
  std::optional<Report> report_;
};

}  // namespace palmette::petsc
