// The door of `solver`, the hall: Solver owns the products of all phases, calls their verbs in order, and
// keeps what a second matrix or right-hand side can reuse. Users need this door only.
#pragma once

#include <memory>

#include "palmette/machine/machine.hpp"
#include "palmette/solver/choose_kind.hpp"
#include "palmette/solver/extract.hpp"
#include "palmette/solver/measure_cluster.hpp"
#include "palmette/solver/rank_solver.hpp"
#include "palmette/solver/report.hpp"
#include "palmette/solver/simulate_solve.hpp"
#include "palmette/solver/solve_request.hpp"

namespace palmette {

struct SolverOptions {
  /// Empty: LLᵀ if A is symmetric (Hermitian) with positive diagonal, then LDLᵀ when a pivot says no; LDLᵀ if
  /// symmetric otherwise; LU if not symmetric, and where LDLᵀ cannot be verified.
  std::optional<FactorKind> kind;
  OrderingMethod ordering = OrderingMethod::automatic;
  Permutation user_ordering;  ///< for OrderingMethod::user
  SolveMethod method = SolveMethod::automatic;
  int threads = 0;            ///< 0: all processors that this process may use; at most 4096
  /// factor in single precision, refine to the matrix's; double and complex<double> only
  bool mixed_precision = false;
  double tiny_pivot = 0;      ///< as FactorizeOptions
  /// What becomes of systems with a matrix that is singular to working precision.
  SingularAnswer singular = SingularAnswer::raise;
  AnalyzeOptions analyze;
  bool measure = true;        ///< measure the machine's stream bandwidth for the report
  std::string cache_folder;   ///< remembers that measurement; empty: measure anew for each Solver
  ProgressCallback progress;
};

/// A factored matrix, ready to solve. Movable. Every function may be called from several threads at once: a
/// solve goes on with the factor that it began with, whatever refactor does meanwhile (both factors are then
/// in memory).
template <class T>
class Solver {
 public:
  /// Order, analyze and factorize.
  ///
  /// The matrix becomes the solver's own: it is taken over if this is the only pointer to it (move it in),
  /// else copied. So nobody can change what answers are verified against.
  /// @param matrix  n × n, every entry stored, both triangles of a symmetric matrix too; checked: values
  ///   finite, pattern well formed, its symmetry as promised; detected if marked general, where |A − Aᵀ| ≤ 8
  ///   u |A| (Hermitian: Aᴴ) in every entry counts as symmetric: then (A + Aᵀ) / 2 is factored, a note says
  ///   so, and answers are verified against A
  /// @returns the solver, or the failure: structurally or numerically singular, not positive definite (if LLᵀ
  ///   was asked for)
  /// @throws DimensionError if not square; UsageError for values that are not finite (row and column named)
  ///   and for options that cannot be; MemoryError
  static Outcome<Solver> create(std::shared_ptr<const SparseMatrix<T>> matrix,
                                const SolverOptions& options = {});

  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;
  ~Solver();

  index_t size() const;
  /// The matrix that answers are verified against now: the solver's own.
  std::shared_ptr<const SparseMatrix<T>> matrix() const;

  /// x ← op(A)⁻¹·b, refined and verified.
  /// @param b  n × k; x: n × k, may be b's memory
  /// @returns the report of all phases; or numerically_singular, if pivots were replaced or x is so large
  ///   that A may be singular, and A (equilibrated) then proves to be within 20 u of a singular matrix;
  ///   dependent row and column are named. An answer that is not verified is still returned:
  ///   report.verify->verified is false then, and a note says so.
  /// @throws DimensionError; UsageError for values of b that are not finite
  Outcome<Report> solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request = {});

  /// New values in the same pattern: factorize again with the same ordering, scaling and structure, in the
  /// memory of the factor before the last where nobody reads that any more: from the second call on the
  /// memory of two factors is held.
  /// @param matrix   of the same pattern; taken over or copied as by create @throws UsageError if the pattern
  ///   differs
  /// @param threads  at most so many, where the options allow more; 0: as those say
  /// @returns true, or the failure; the solver then keeps its former factor
  Outcome<void> refactor(std::shared_ptr<const SparseMatrix<T>> matrix, int threads = 0);
  /// The same by values alone, in the order of the pattern that the solver holds: by columns, rows ascending.
  /// @throws DimensionError unless there is one for each entry
  Outcome<void> refactor_values(std::vector<T> values, int threads = 0);

  /// Report of the phases so far, without solve and verify.
  Report report() const;
  /// The structure by supernodes. Where columns factored (analyze.supernodes is 0) it is made now, and
  /// factorized as well.
  /// @throws NumericalError if that fails
  std::shared_ptr<const SymbolicFactor> symbolic() const;
  /// Sign (or phase) and logarithm of the modulus of the determinant.
  std::pair<std::complex<double>, double> slogdet() const;
  /// @throws UsageError for LU and for complex symmetric matrices, which have none
  Inertia inertia() const;
  /// x ← op(F)⁻¹·b with one factor F by itself, neither refined nor verified: for half solves, as sampling
  /// and whitening need them.
  ///
  /// F is that of extract_ldl(*factor()) or extract_lu(*factor()); b and x are in the numbering of its rows,
  /// see order_of. So solving with L, D and Lᴴ, or L and U, in turn solves A x = b in permuted order.
  /// @param b  n × k; x: n × k, may be b's memory
  /// @throws as SolvePlan::solve_part; UsageError in mixed precision; NumericalError, see symbolic
  void solve_part(FactorPart part, Operation operation, DenseView<const T> b, DenseView<T> x) const;
  /// The Factor by supernodes in working precision; see symbolic. @throws UsageError in mixed precision;
  /// NumericalError
  std::shared_ptr<const Factor<T>> factor() const;

 private:
  struct State;
  explicit Solver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct TriangularOptions {
  TriangleOptions triangle;
  SolveMethod method = SolveMethod::automatic;
  int threads = 0;
  bool measure = true;
  std::string cache_folder;
};

/// Somebody's triangle, or somebody's factors, ready to solve, verified against what was given.
template <class T>
class TriangularSolver {
 public:
  /// The triangle, factors and matrix become the solver's own, as Solver::create says.
  /// @returns the solver, or numerically_singular naming the row with a zero or missing diagonal
  static Outcome<TriangularSolver> create(std::shared_ptr<const SparseMatrix<T>> triangle,
                                          const TriangularOptions& options = {});
  /// Solve with the product of given factors. Verified against `matrix` if there is one (then also refined on
  /// request), else against the product: |b − LUx|_i over (|L||U||x| + |b|)_i in the permuted and scaled
  /// system.
  static Outcome<TriangularSolver> from_factors(std::shared_ptr<const OwnFactors<T>> factors,
                                                std::shared_ptr<const SparseMatrix<T>> matrix,
                                                const TriangularOptions& options = {});
  TriangularSolver(TriangularSolver&&) noexcept;
  TriangularSolver& operator=(TriangularSolver&&) noexcept;
  ~TriangularSolver();

  index_t size() const;
  /// As Solver::solve; the report has no order, analyze and factorize sections.
  Outcome<Report> solve(DenseView<const T> b, DenseView<T> x, const SolveRequest& request = {});
  const Report& report() const;

 private:
  struct State;
  explicit TriangularSolver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What a memory prediction depends on besides the structure.
struct RunShape {
  FactorKind kind = FactorKind::llt;
  ScalarType scalar = ScalarType::float64;  ///< of the factor
  int threads = 1;
  index_t num_rhs = 1;
  offset_t bytes_before = 0;  ///< resident when the prediction is made: A, the ordering, the program itself
};

/// Bytes that a run will hold at its peak: what is there already, structure, factor, plan and workspaces.
/// Stated before factorization begins; kept within 10 % on factors above 100 MB.
offset_t predicted_peak_bytes(const SymbolicFactor& symbolic, const RunShape& shape);
/// The same with the plans' structure at hand, which must be of shape.scalar and is not in
/// shape.bytes_before.
offset_t predicted_peak_bytes(const SymbolicFactor& symbolic, const PlanStructure& structure,
                              const RunShape& shape);

}  // namespace palmette
