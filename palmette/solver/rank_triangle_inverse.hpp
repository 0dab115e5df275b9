// Inside `solver`: a plain triangle over ranks with one device each as a function: op(T)⁻¹ of whole vectors,
// which every rank passes and receives.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "palmette/solver/rank_inverse.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette {

/// op(A)⁻¹ of what the caller provides over ranks with one device each. Every rank must call what is not
/// const, with the same arguments.
template <class T>
class GivenInverse {
 public:
  virtual ~GivenInverse() = default;
  /// x ← op(A)⁻¹·b; all get the same x. @param b  n × k; x: n × k, may be b's memory
  virtual SolveTrace apply(Operation operation, DenseView<const T> b, DenseView<T> x) = 0;
  virtual SolveCost cost(index_t num_rhs) const = 0;
  virtual RankTeam ranks() = 0;
  /// Of this rank.
  virtual const std::shared_ptr<Device>& device() const = 0;
};

/// One apply at a time, on all ranks together.
template <class T>
class RankTriangleInverse final : public GivenInverse<T> {
 public:
  /// Every rank must call it, with the same triangle. @param options  its plan names this rank's device
  /// @returns the inverse, or the failure, as plan_rank_triangle: the same on all ranks
  /// @throws as check_on_all
  static Outcome<std::shared_ptr<RankTriangleInverse>> create(Transport& transport,
                                                              const SparseMatrix<T>& triangle,
                                                              const TriangularSolverOptions& options);

  SolveTrace apply(Operation operation, DenseView<const T> b, DenseView<T> x) override;
  SolveCost cost(index_t num_rhs) const override { return plan_->cost(num_rhs); }
  RankTeam ranks() override { return {transport_, team_, {watchdog_seconds_}}; }
  const std::shared_ptr<Device>& device() const override { return device_; }

 private:
  RankTriangleInverse(Transport& transport, const TriangularSolverOptions& options);
  void reserve(Operation operation, index_t num_rhs);
  void solve_block(Operation operation, DenseView<const T> b, DenseView<T> x);
  void gather(DenseView<const T> own, DenseView<T> x);

  Transport& transport_;
  ThreadTeam team_{1};
  double watchdog_seconds_;
  std::shared_ptr<Device> device_;
  std::optional<RankTrianglePlan<T>> plan_;
  std::vector<std::vector<index_t>> rows_;  // by rank: those whose values it provides and receives
  std::array<index_t, 2> reserved_{};       // plain, others: right-hand sides for which all have room
  BytePool pool_;
};

}  // namespace palmette
