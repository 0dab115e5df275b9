// From "apply the inverse" to a verified solution with its report. Used for factored matrices and for given
// triangles.
#pragma once

#include <functional>

#include "palmette/solver/null_space.hpp"
#include "palmette/solver/solver.hpp"
#include "palmette/solver/timed_solve.hpp"

namespace palmette {

/// Relative to the largest pivot: rounding leaves about this much of a pivot that should be zero; regular
/// matrices in mixed units have small pivots too, but larger than this.
template <class T>
inline constexpr double weak_pivot = 1e3 * unit_roundoff<T>;

/// What a solution is computed from. The pointers must outlive the call.
template <class T>
struct AnswerSource {
  /// What the solution is verified against: the matrix, or this rank's share of it. If both are null,
  /// `verify_product` verifies it.
  const SparseMatrix<T>* matrix = nullptr;
  const MatrixShare<T>* share = nullptr;
  std::function<SolveTrace(Operation, DenseView<const T>, DenseView<T>)> apply;
  std::function<Verification(Operation, DenseView<const T> b, DenseView<const T> x)> verify_product;
  SolveCost cost;  ///< for this number of right-hand sides
  index_t guarded_blocks = 0;
  BandwidthMemory* bandwidth = nullptr;
  std::shared_ptr<Device> device;  ///< holds the factor
  std::shared_ptr<Device> device_of_rank;  ///< this rank's of those that solve; vectors lie on the host
  std::shared_ptr<DeviceWorld> world;  ///< several devices hold it together; vectors lie on the host
  /// with a device, the matrix and the inverse there; without the matrix, the host verifies
  const DeviceMatrix<T>* matrix_there = nullptr;
  std::function<SolveTrace(Operation, OnDevice<const T>, OnDevice<T>)> apply_there;
  /// the factor is so small that solves with it hardly change the peak memory of the process
  bool small = false;
  std::optional<PanelFileReport> file;  ///< panels stay there: the budget, and the rate of its disk
  bool mixed_precision = false;
  bool factored = false;  ///< Palmette factored `matrix`: singularity is then checked
  bool pivots_replaced = false;  ///< the matrix may be singular and is examined
  bool has_weak_pivot = false;   ///< so weak that the matrix may be singular
  SingularAnswer singular = SingularAnswer::raise;
  /// The null space of the matrix, computed once and kept; needed unless `singular` is raise.
  std::function<const NullSpace<T>&(const ApplyInverse<T>&)> null_space;

  bool has_matrix() const { return matrix != nullptr || share != nullptr; }
  /// Calls work with the matrix or the share, whichever is set.
  template <class Work>
  decltype(auto) with_matrix(const Work& work) const {
    return share != nullptr ? work(*share) : work(*matrix);
  }
};

/// Solve, time, refine and verify; fill solve, verify, notes and peak memory of a copy of `report`.
/// @returns the report; or numerically_singular if the solution or the pivots suggested it and the matrix
///   proved to be singular, unless `singular` asks for a solution, which is then reported as not verified.
///   least_norm fails beyond most_null_directions
template <class T>
Outcome<Report> make_answer(const AnswerSource<T>& source, Report report, DenseView<const T> b,
                            DenseView<T> x, const SolveRequest& request);
/// For vectors on the source's device.
template <class T>
Outcome<Report> make_answer(const AnswerSource<T>& source, Report report, OnDevice<const T> b,
                            OnDevice<T> x, const SolveRequest& request);

}  // namespace palmette
