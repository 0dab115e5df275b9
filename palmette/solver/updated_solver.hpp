// Part of the door of `solver`: A + U·Vᵀ solved with the factor of A.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "palmette/refine/refine.hpp"

namespace palmette {

/// What the last update or solve did.
struct UpdateReport {
  index_t rank = 0;                 ///< k
  double reciprocal_condition = 1;  ///< of the capacitance matrix I + Vᵀ·A⁻¹·U
  double flops = 0;                 ///< of the update, predicted, real
  offset_t memory_bytes = 0;        ///< of the update, predicted
  double update_seconds = 0;
  // of the last solve
  double solve_seconds = 0;
  int refine_steps = 0;
  /// ‖b − (A + U·Vᵀ)·x‖∞ / ‖ |A|·|x| + |U|·|Vᵀ|·|x| + |b| ‖∞, the worst of the right-hand sides
  double backward_error = 0;
  double bound = 0;
  bool verified = false;
  std::vector<std::string> notes;
};

/// What Solver::update_factor did.
struct FactorUpdateReport {
  index_t rank = 0;        ///< columns of W that are not zero
  index_t supernodes = 0;  ///< on their paths, of num_supernodes
  index_t num_supernodes = 0;
  double flops = 0;        ///< real, of the rotations
  double seconds = 0;      ///< with the copy of the factor and the changes of plan and matrix
};

/// The system with A + U·Vᵀ, U and V being n × k, by k solves with the kept factor of A and a k × k matrix.
/// Keeps the factor alive; changes of the solver that made it do not affect it.
///
/// Constant after construction and thread-safe. Made by Solver::update.
template <class T>
class UpdatedSolver {
 public:
  struct State;
  explicit UpdatedSolver(std::unique_ptr<State> state);
  UpdatedSolver(UpdatedSolver&&) noexcept;
  UpdatedSolver& operator=(UpdatedSolver&&) noexcept;
  ~UpdatedSolver();

  index_t size() const;
  /// Of the update; nothing was solved yet.
  const UpdateReport& report() const;

  /// x ← op(A + U·Vᵀ)⁻¹·b, refined and verified against A, U and V.
  /// @param b  n × k; x: n × k, may be b's memory
  /// @throws DimensionError; UsageError for values of b that are not finite
  /// @cost  one solve with A's factor and 4·n·k flops for each right-hand side and step of refinement
  UpdateReport solve(DenseView<const T> b, DenseView<T> x, Operation operation = Operation::plain) const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace palmette
