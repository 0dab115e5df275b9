// From "apply the inverse" to a verified answer with its report: shared by factored matrices and given
// triangles.
#pragma once

#include <functional>

#include "palmette/solver/null_space.hpp"
#include "palmette/solver/solver.hpp"
#include "palmette/solver/timed_solve.hpp"

namespace palmette {

/// What an answer is made from. The pointers outlive the call.
template <class T>
struct AnswerSource {
  /// What the answer is verified against: the matrix, or this rank's share of it. Both null: `verify_product`
  /// does it.
  const SparseMatrix<T>* matrix = nullptr;
  const MatrixShare<T>* share = nullptr;
  std::function<SolveTrace(Operation, DenseView<const T>, DenseView<T>)> apply;
  std::function<Verification(Operation, DenseView<const T> b, DenseView<const T> x)> verify_product;
  SolveCost cost;  ///< for this number of right-hand sides
  index_t guarded_blocks = 0;
  BandwidthMemory* bandwidth = nullptr;
  /// the factor is so small that no solve with it can change the process's peak memory much
  bool small = false;
  bool mixed_precision = false;
  bool factored = false;  ///< by Palmette, of `matrix`: singularity is then looked for
  bool pivots_replaced = false;  ///< then the matrix may be singular: look closer
  bool has_weak_pivot = false;   ///< so weak that the matrix may be singular
  SingularAnswer singular = SingularAnswer::raise;
  /// Of `matrix`, found once and kept; needed unless `singular` is raise.
  std::function<const NullSpace<T>&(const ApplyInverse<T>&)> null_space;

  bool has_matrix() const { return matrix != nullptr || share != nullptr; }
  /// work(matrix) with whichever there is.
  template <class Work>
  auto with_matrix(const Work& work) const {
    return share != nullptr ? work(*share) : work(*matrix);
  }
};

/// Solve, time, refine, verify; fills solve, verify, notes and peak memory of a copy of `report`.
/// @returns the report; or numerically_singular where the answer or the pivots made that likely and the
///   matrix proved to be, unless `singular` wants an answer: that is told as not verified. least_norm fails
///   beyond most_null_directions
template <class T>
Outcome<Report> make_answer(const AnswerSource<T>& source, Report report, DenseView<const T> b,
                            DenseView<T> x, const SolveRequest& request);

}  // namespace palmette
