// The door of `factorize`: values + tasks → Factor: LLᵀ, LDLᵀ or LU of the permuted and scaled matrix; and a
// Cholesky factor that is changed by sparse columns.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "palmette/blocks/blocks.hpp"
#include "palmette/device/device.hpp"
#include "palmette/factorize/layer_factor.hpp"
#include "palmette/factorize/measure_offload.hpp"
#include "palmette/factorize/offload_model.hpp"
#include "palmette/factorize/rank_factorization.hpp"
#include "palmette/tasks/tasks.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

/// A device's share of a factorization.
struct OffloadOptions {
  std::shared_ptr<Device> device = nullptr;  ///< null: the host computes everything
  /// automatic sends nothing to a device of which why_no_dense_operations says something
  OffloadWhen mode = OffloadWhen::automatic;
  std::optional<OffloadModel> model;         ///< empty: estimated_offload_model()
  /// Rows of a panel that one task updates, rounded up to a multiple of the host's 256: longer ones make
  /// fewer and larger operations.
  index_t task_rows = 2048;
};

struct FactorizeOptions {
  FactorKind kind = FactorKind::llt;
  /// Pivots below this times the largest modulus of the scaled matrix are replaced (LDLᵀ, LU); 0: the
  /// default, which is u^(2/3) in the precision's unit roundoff u, 2.3e-11 in double precision.
  ///
  /// Chosen by trial on the matrices hangGlider_2, ACTIVSg200_AC_kkt, cont-201_kkt, ncvxqp1, memplus,
  /// case9241pegase_J and ScaleMicrogrid, after matching and scaling: only ncvxqp1 has pivots that small (5
  /// exact zeros). There refinement reaches a backward error of 1e-17 in two steps for every value from 2e-11
  /// to 1e-6, and stalls at 2e-14 for 1e-12 and below; at 1e-6 a good pivot of hangGlider_2 is replaced and
  /// refinement takes three steps instead of one.
  double tiny_pivot = 0;
  ThreadTeam* team = nullptr;  ///< null: only the caller's thread
  ProgressCallback progress;   ///< may be empty
  /// AnalyzeOptions::columns_last of the structure: these columns are not eliminated. Their panels receive
  /// all updates, and so hold the Schur complement, scaled and permuted; d, d_below and place are not set
  /// there
  index_t columns_last = 0;
  OffloadOptions offload;
};

/// Factor A, supernode by supernode, with BLAS-3; the bits do not depend on the number of threads.
///
/// Each panel gathers the updates of its descendants in ascending order (a left-looking supernodal method),
/// then its diagonal block is factored and its rows are finished. Subtrees are single tasks; above them,
/// panels are cut into row chunks that several threads share.
///
/// A pivot that is not positive (LLᵀ) or not finite stops all later supernodes; earlier ones still run, so
/// that the reported failure is always that of the first bad supernode. Rows of a supernode are never
/// exchanged with rows outside it (static pivoting).
///
/// With a device (see plan_offload) a thread of its own asks it for operations, in order; tasks that wait for
/// results are set aside, and their threads take others. Finished panels stay on the device for later
/// updates. What the device has no memory for, the host does. The emulated device calls the host's functions:
/// the factor has the same bits as without it. A GPU sums in another order.
/// @param matrix  n × n, every entry stored, in the user's order; for LLᵀ and LDLᵀ, only the entries in the
///   lower triangle after permutation are read
/// @param symbolic  of this matrix's pattern
/// @param ordering  whose scalings are applied
/// @returns the factor; or not_positive_definite with row and column (LLᵀ), numerically_singular if the
///   matrix is zero, not_finite. Zero pivots of an exactly singular matrix that is not zero are replaced: see
///   Factor::pivots
/// @throws DimensionError if sizes differ; MemoryError; DeviceError if an operation fails on the device for
///   another reason than memory; UsageError for a model that cannot be used
/// @cost   factorization_flops; memory: see predicted_factor_bytes
/// @source [Ng and Peyton 1993]; [Li and Demmel 2003] for static pivoting
template <class T>
Outcome<Factor<T>> factorize(const SparseMatrix<T>& matrix, std::shared_ptr<const SymbolicFactor> symbolic,
                             const Ordering& ordering, const FactorizeOptions& options = {});

namespace factorize_detail {
template <class T>
struct KeptMemory;
}

/// Memory that the next factorization of the same structure reuses: tasks, the threads' workspaces, the
/// panels of a factor that is no longer used, and from the second factorization on where the entries of the
/// matrix go (4 bytes for each entry, 12 for each that the lower panels take). Empty at first; one
/// factorization at a time.
template <class T>
class FactorizeMemory {
 public:
  FactorizeMemory();
  FactorizeMemory(FactorizeMemory&&) noexcept;
  FactorizeMemory& operator=(FactorizeMemory&&) noexcept;
  ~FactorizeMemory();
  const std::shared_ptr<factorize_detail::KeptMemory<T>>& kept() const { return kept_; }

 private:
  std::shared_ptr<factorize_detail::KeptMemory<T>> kept_;
};

/// As factorize, with memory that `memory` keeps between calls. The panels of the factor return there when
/// its last owner releases it: callers that release the previous factor before the next call need no new
/// memory; those that keep it hold two.
/// @param memory  of earlier calls with this structure; what does not fit (another structure or kind, more
///   threads) is allocated again
template <class T>
Outcome<std::shared_ptr<const Factor<T>>> factorize_again(FactorizeMemory<T>& memory,
                                                          const SparseMatrix<T>& matrix,
                                                          std::shared_ptr<const SymbolicFactor> symbolic,
                                                          const Ordering& ordering,
                                                          const FactorizeOptions& options = {});

/// A + W·Wᴴ or A − W·Wᴴ.
enum class UpdateSign { add, subtract };

/// How a factor is changed.
struct FactorChange {
  UpdateSign sign = UpdateSign::add;
  ThreadTeam* team = nullptr;
};

/// The factor of the changed matrix; the one it was made of has not changed.
template <class T>
struct ChangedFactor {
  std::shared_ptr<const Factor<T>> factor;
  std::vector<index_t> supernodes;  ///< whose panels differ from those before, ascending
  index_t rank = 0;                 ///< columns of W that are not zero
  double flops = 0;                 ///< real
};

/// The factor of A ± W·Wᴴ, of the same structure.
///
/// A column of W changes the panels on one path only: from the supernode of its first row (in the order of
/// the factor) to the root. There its other rows are eliminated one after the other by rotations, hyperbolic
/// ones for A − W·Wᴴ. Up to 16 columns whose paths lie together go up the tree together.
/// @param factor  LLᵀ
/// @param w  n × k, sparse, in the user's order and unscaled; entries that are zero count as absent
/// @param memory  of the factorizations of this structure: gives the panels of a factor that is not used any
///   more
/// @param change  its team may be null: only the caller's thread; the bits do not depend on it
/// @returns the factor; or not_positive_definite, if A − W·Wᴴ is not positive definite to working precision;
///   not_finite if entries overflow
/// @throws UsageError for another kind, for values that are not finite, and naming the first entry of W for
///   which the factor has no place: the rows of a column of W must be rows of the column of L in which its
///   path begins; DimensionError; MemoryError
/// @cost  6 flops for each entry of the panels on a path and column of W (complex: 20), and a copy of the
///   factor
/// @source [Davis and Hager 1999]; [Davis and Hager 2009]
template <class T>
Outcome<ChangedFactor<T>> update_factor(FactorizeMemory<T>& memory, const Factor<T>& factor,
                                        const SparseMatrix<T>& w, const FactorChange& change);

/// Bytes of the Factor, and of the additional workspace of factorize with `threads` threads.
struct FactorMemory {
  offset_t factor_bytes = 0;
  offset_t workspace_bytes = 0;
};
FactorMemory predicted_factor_bytes(const SymbolicFactor& symbolic, FactorKind kind, ScalarType scalar,
                                    int threads);

}  // namespace palmette
