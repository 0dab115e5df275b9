// A factored matrix as a function: op(A)⁻¹ in working precision, from a factor of working or of single
// precision.
#pragma once

#include <memory>
#include <span>

#include "palmette/archive/archive.hpp"
#include "palmette/solver/file_panels.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette {

struct InverseOptions {
  FactorizeOptions factorize;
  std::shared_ptr<const PlanStructure> structure;  ///< of the solves; built if null
  bool mixed_precision = false;
  std::shared_ptr<Device> device = nullptr;        ///< holds the plan; null: the host
  std::shared_ptr<DeviceWorld> world = nullptr;    ///< several devices hold it
  WorldOptions of_world = {};
};

template <class T>
class Inverse;

/// The inverse of a matrix that was changed by sparse columns.
template <class T>
struct ChangedInverse {
  std::shared_ptr<const Inverse<T>> inverse;
  index_t rank = 0;        ///< as ChangedFactor
  index_t supernodes = 0;  ///< that have changed
  double flops = 0;
};

/// Constant after construction.
template <class T>
class Inverse {
 public:
  virtual ~Inverse() = default;
  virtual SolveTrace apply(Operation operation, DenseView<const T> b, DenseView<T> x,
                           const SolveRun& run) const = 0;
  /// For an inverse on a device, with vectors there. @throws UsageError for others
  virtual SolveTrace apply(Operation, OnDevice<const T>, OnDevice<T>, const SolveRun&) const {
    throw UsageError("the right-hand side lies on a device, but the factor on the host");
  }
  /// As SolvePlan::solve_part. @throws UsageError if there is no supernodal factor in working precision
  virtual SolveTrace solve_part(FactorPart, Operation, DenseView<const T>, DenseView<T>,
                                const SolveRun&) const {
    throw UsageError("in mixed precision there is no factor in working precision");
  }
  /// As SolvePlan::solve_entries. @throws UsageError as solve_part
  virtual EntryTrace solve_entries(Operation, const SparseMatrix<T>&, const WantedEntries&, DenseView<T>,
                                   const SolveRun&) const {
    throw UsageError("in mixed precision there is no factor in working precision");
  }
  /// Of A ± W·Wᴴ, see update_factor. @throws UsageError also if there is no supernodal factor in working
  /// precision
  virtual Outcome<ChangedInverse<T>> changed(const SparseMatrix<T>&, const FactorChange&,
                                             FactorizeMemory<T>&) const {
    throw UsageError("in mixed precision there is no factor in working precision to update; make a solver "
                     "without mixed precision, or factorize the new matrix");
  }
  virtual SolveCost cost(index_t num_rhs) const = 0;
  virtual index_t guarded_blocks() const = 0;
  virtual const PivotReport& pivots() const = 0;
  /// All pivots that were replaced.
  virtual const std::vector<ReplacedPivot>& replaced() const {
    static const std::vector<ReplacedPivot> none;
    return none;
  }
  virtual bool hermitian() const = 0;
  virtual ScalarType factor_scalar() const = 0;
  virtual offset_t factor_bytes() const = 0;
  virtual double factor_seconds() const = 0;
  /// Panels stay in a file: the budget, and the rate of its disk.
  virtual std::optional<PanelFileReport> file() const { return {}; }
  /// A device's share of the factorization; empty if there was no device.
  virtual std::optional<OffloadCounts> offload() const { return {}; }
  /// The factor in working precision, or null in mixed precision.
  virtual std::shared_ptr<const Factor<T>> factor() const = 0;
  /// Write everything but the structure as sections. @throws IoError
  virtual void save(ArchiveWriter& file) const = 0;
};

/// What successive factorizations of one Solver reuse.
template <class T>
struct InverseMemory {
  using Low = with_precision_t<T, float>;
  FactorizeMemory<T> working;
  FactorizeMemory<Low> low;
  PlanStore<T> plans;
  PlanStore<Low> low_plans;
  SparseMatrix<Low> low_matrix;  ///< mixed precision: the scaled matrix
  Ordering low_ordering;         ///< mixed precision: without scalings
};

/// Factorize and plan the solves.
template <class T>
Outcome<std::shared_ptr<const Inverse<T>>> make_inverse(const SparseMatrix<T>& matrix,
                                                        std::shared_ptr<const SymbolicFactor> symbolic,
                                                        const Ordering& ordering,
                                                        const InverseOptions& options,
                                                        InverseMemory<T>& memory);

/// What a supernodal inverse is made of again.
struct KeptInverse {
  std::shared_ptr<const Archive> file;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const PlanStructure> structure;  ///< of the solves
  bool map = true;                                 ///< panels stay where they lie in the file
  double seconds = 0;                              ///< of the factorization
  bool mixed_precision = false;
  OutOfCore out_of_core;
};

/// What Inverse::save has written. @throws IoError
template <class T>
std::shared_ptr<const Inverse<T>> load_inverse(const KeptInverse& input);

}  // namespace palmette
