// Inside `solver`: factors that the caller provides over ranks with one device each as a function: op(A)⁻¹ of
// whole vectors.
#pragma once

#include <memory>

#include "palmette/solver/rank_triangle_inverse.hpp"

namespace palmette {

/// Both triangles are solved by columns, one after the other; between them the rows of the first solution go
/// to all ranks.
template <class T>
class RankFactorsInverse final : public GivenInverse<T> {
 public:
  /// Every rank must call it, with the same factors, whose plan names this rank's device.
  /// @throws as check_on_all
  static Outcome<std::shared_ptr<RankFactorsInverse>> create(Transport& transport,
                                                             std::shared_ptr<const OwnFactors<T>> factors,
                                                             TriangularSolverOptions options);

  SolveTrace apply(Operation operation, DenseView<const T> b, DenseView<T> x) override;
  SolveCost cost(index_t num_rhs) const override;
  RankTeam ranks() override { return lower_->ranks(); }
  const std::shared_ptr<Device>& device() const override { return lower_->device(); }

 private:
  RankFactorsInverse() = default;
  /// Solutions with the lower factor twice, or with both.
  void apply_triangles(Operation operation, DenseView<T> x);
  bool has_upper() const { return upper_ != nullptr; }

  std::shared_ptr<const OwnFactors<T>> factors_;
  std::shared_ptr<RankTriangleInverse<T>> lower_, upper_;  // upper_: null for L·Lᵀ and L·Lᴴ
};

}  // namespace palmette
