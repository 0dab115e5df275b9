// The door of `factorize`: values + tasks → Factor: LLᵀ, LDLᵀ or LU of the permuted and scaled matrix.
#pragma once

#include <memory>
#include <vector>

#include "palmette/blocks/blocks.hpp"
#include "palmette/factorize/layer_factor.hpp"
#include "palmette/factorize/rank_factorization.hpp"
#include "palmette/tasks/tasks.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

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
  ThreadTeam* team = nullptr;  ///< null: the caller's thread alone
  ProgressCallback progress;   ///< may be empty
};

/// Factor A, supernode by supernode, with BLAS-3; the bits do not depend on the number of threads.
///
/// Each panel gathers the updates of its descendants in ascending order (a left-looking supernodal method),
/// then its diagonal block is factored and its rows are finished. Subtrees are single tasks; above them,
/// panels are cut into row chunks that several threads share.
///
/// A pivot that is not positive (LLᵀ) or not finite stops what comes after its supernode; what comes before
/// is still run, so that the failure reported is always that of the first bad supernode. Rows of a supernode
/// are never exchanged with rows outside it (static pivoting).
/// @param matrix    n × n, every entry stored, in the user's numbering; for LLᵀ and LDLᵀ the part that lies
///   in the lower triangle after permutation is read
/// @param symbolic  of this matrix's pattern
/// @param ordering  whose scalings are applied
/// @returns the factor; or not_positive_definite with row and column (LLᵀ), numerically_singular if the
///   matrix is zero, not_finite. An exactly singular matrix that is not zero has its zero pivots replaced:
///   see Factor::pivots
/// @throws DimensionError if sizes differ; MemoryError
/// @cost   factorization_flops; memory: see predicted_factor_bytes
/// @source [Ng and Peyton 1993]; [Li and Demmel 2003] for static pivoting
template <class T>
Outcome<Factor<T>> factorize(const SparseMatrix<T>& matrix, std::shared_ptr<const SymbolicFactor> symbolic,
                             const Ordering& ordering, const FactorizeOptions& options = {});

namespace factorizing {
template <class T>
struct KeptMemory;
}

/// Memory that one factorization leaves to the next of the same structure: tasks, the threads' workspaces,
/// and the panels of a factor that nobody reads any more. Empty at first; one factorization at a time.
template <class T>
class FactorizeMemory {
 public:
  FactorizeMemory();
  FactorizeMemory(FactorizeMemory&&) noexcept;
  FactorizeMemory& operator=(FactorizeMemory&&) noexcept;
  ~FactorizeMemory();
  const std::shared_ptr<factorizing::KeptMemory<T>>& kept() const { return kept_; }

 private:
  std::shared_ptr<factorizing::KeptMemory<T>> kept_;
};

/// As factorize, in memory that is kept in `memory` from call to call. The factor's panels return there when
/// the last reader lets go of it: who drops the former factor before the next call pays for no new memory,
/// who reads it on has two.
/// @param memory  of this structure's earlier calls; what does not fit (another structure, kind or more
///   threads) is made anew
template <class T>
Outcome<std::shared_ptr<const Factor<T>>> factorize_again(FactorizeMemory<T>& memory,
                                                          const SparseMatrix<T>& matrix,
                                                          std::shared_ptr<const SymbolicFactor> symbolic,
                                                          const Ordering& ordering,
                                                          const FactorizeOptions& options = {});

/// Bytes of the Factor, and of the workspace that factorize needs beside it with `threads` threads.
struct FactorMemory {
  offset_t factor_bytes = 0;
  offset_t workspace_bytes = 0;
};
FactorMemory predicted_factor_bytes(const SymbolicFactor& symbolic, FactorKind kind, ScalarType scalar,
                                    int threads);

}  // namespace palmette
