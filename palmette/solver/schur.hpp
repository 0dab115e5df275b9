// Part of the door of `solver`: the Schur complement on unknowns that are not eliminated.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "palmette/factorize/factorize.hpp"
#include "palmette/refine/refine.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette {

struct SchurOptions {
  /// Empty: as SolverOptions::kind; LU also if S of LDLᵀ is not verified.
  std::optional<FactorKind> kind;
  OrderingMethod ordering = OrderingMethod::automatic;  ///< of the interior
  int threads = 0;                                      ///< 0: all processors that this process may use
  AnalyzeOptions analyze;
  ProgressCallback progress;
};

struct SchurReport {
  FactorKind kind = FactorKind::llt;
  OrderingMethod ordering = OrderingMethod::natural;
  int threads = 1;
  index_t size = 0;
  index_t boundary = 0;
  offset_t nnz_factor = 0;              ///< of the interior, with its rows on the boundary
  double flops = 0;                     ///< multiplications and additions, predicted
  offset_t memory_bytes_predicted = 0;  ///< peak of the whole process
  offset_t memory_bytes = 0;            ///< factor, plan of the solves, and S
  double order_seconds = 0;
  double analyze_seconds = 0;
  double factorize_seconds = 0;
  index_t perturbed_pivots = 0;
  /// ‖A·x − [0; S·v]‖∞ / (‖A‖∞·‖x‖∞ + ‖S·v‖∞), v without pattern on the boundary, x = v there and extended so
  /// that the equations of the interior hold
  double backward_error = 0;
  double bound = 0;
  bool verified = false;
  std::vector<std::string> notes;
};

/// A with the interior I eliminated and the boundary B kept: A = [A_II, A_IB; A_BI, A_BB] and
/// S = A_BB − A_BI·A_II⁻¹·A_IB.
///
/// The boundary comes last in the order of elimination, and the factorization stops before it. Constant after
/// construction and thread-safe.
template <class T>
class SchurSolver {
 public:
  /// @param matrix    n × n, as for Solver::create
  /// @param boundary  unknowns that stay, each once, in the order of the rows and columns of S; may be empty
  /// @returns the solver, or the failure: A_II is structurally singular, or not positive definite (if LLᵀ was
  ///   requested). An S that could not be verified is kept, and a note says so: A_II is then singular or
  ///   nearly so
  /// @throws as Solver::create; UsageError naming an unknown that does not exist or is given twice
  /// @cost  SchurReport::flops; m² scalars for the m unknowns of the boundary, and m² twice in the factor
  /// @source [Golub and Van Loan 2013], §3.2.11
  static Outcome<SchurSolver> create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                     std::vector<index_t> boundary, const SchurOptions& options = {});
  SchurSolver(SchurSolver&&) noexcept;
  SchurSolver& operator=(SchurSolver&&) noexcept;
  ~SchurSolver();

  index_t size() const;
  const std::vector<index_t>& boundary() const;
  /// S, m × m, in the order of the boundary.
  DenseView<const T> complement() const;
  const SchurReport& report() const;

  /// x_I ← A_II⁻¹·b_I, refined and verified; x is zero on the boundary, b is not read there.
  /// @param b, x  n × k; x may be b's memory
  /// @throws DimensionError; UsageError for values of b that are not finite
  Verification solve_interior(DenseView<const T> b, DenseView<T> x) const;

  /// g ← b_B − A_BI·A_II⁻¹·b_I, so that S·x_B = g: half a solve, neither refined nor verified.
  /// @param b  n × k; g: m × k @throws as solve_interior
  void condense(DenseView<const T> b, DenseView<T> g) const;

  /// x ← the solution of A·x = b whose part on the boundary is given: x_I = A_II⁻¹·(b_I − A_IB·x_B).
  /// @param b  n × k; boundary_part: m × k, solutions of S·x_B = g; x: n × k, may be b's memory
  /// @returns the errors of x as a solution of the whole system
  Verification expand(DenseView<const T> b, DenseView<const T> boundary_part, DenseView<T> x) const;

 private:
  struct State;
  explicit SchurSolver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace palmette
