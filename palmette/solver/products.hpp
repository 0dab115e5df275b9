// The products computed from a matrix before its solves: ordering, structure and factor, by supernodes or by
// columns.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "palmette/solver/columns_first.hpp"
#include "palmette/solver/complete_pattern.hpp"
#include "palmette/solver/entry_check.hpp"
#include "palmette/solver/inverse.hpp"
#include "palmette/solver/known_matrix.hpp"
#include "palmette/solver/null_space.hpp"
#include "palmette/solver/replaced_pivots.hpp"
#include "palmette/solver/solver.hpp"
#include "palmette/solver/team_on_demand.hpp"
#include "palmette/solver/timed_solve.hpp"

namespace palmette {

/// Factors of fewer bytes leave the memory figures of the process practically unchanged.
inline constexpr offset_t bytes_worth_a_reading = 1 << 20;

/// A matrix and the products of the phases before the solve: constant after construction, replaced as a whole
/// or not at all.
template <class T>
struct Products {
  KnownMatrix<T> known;
  FactorKind kind = FactorKind::llt;
  std::shared_ptr<const Ordering> ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;   // null if `columns` is the factorization
  std::shared_ptr<const PlanStructure> structure;   // of the solves, likewise
  std::shared_ptr<const ColumnFactor<T>> columns;   // null if the factorization is by supernodes
  std::shared_ptr<const Inverse<T>> inverse;
  std::shared_ptr<Device> device;                       // holds the factor; null: the host
  WorldOptions of_world;                                // with several devices
  std::string why_there;                                // note on a choice; empty: none was made
  std::shared_ptr<const DeviceMatrix<T>> matrix_there;  // with a device
  std::shared_ptr<NullSpaceOnDemand<T>> null_space;
  std::shared_ptr<ReplacedPivotsOnDemand<T>> replaced;
  std::shared_ptr<TransposeOnDemand<T>> transposed;
  /// If the pattern has no transversal: places that were filled for the factorization, which is then that of
  /// another matrix.
  std::vector<MatrixPlace> completion;
  bool is_refactored = false;   // memory for new values is there
  index_t updated_columns = 0;  // by which the factor was changed since it was computed
  Report report;

  std::shared_ptr<const SparseMatrix<T>> factored_matrix() const {
    return completion.empty() ? matrix_to_factor(known, kind) : completed(*known.matrix, completion);
  }
};

/// The products of a matrix before any is made.
template <class T>
Products<T> begun(const KnownMatrix<T>& known, FactorKind kind);

/// What is made of a factor beside it: the report, and what is found on demand.
template <class T>
void report_factor(Products<T>& made, int threads);

/// The scalar of a factor.
template <class T>
ScalarType scalar_of_factor(bool mixed_precision) {
  return mixed_precision ? ScalarTraits<with_precision_t<T, float>>::type : ScalarTraits<T>::type;
}

/// Computes the products of a solver, with its options, threads and memory.
template <class T>
class ProductMaker {
 public:
  ProductMaker(const SolverOptions& options, TeamOnDemand& team, BandwidthMemory& bandwidth)
      : options_(options), team_(team), bandwidth_(bandwidth) {}

  /// By columns if the factor is thin; nothing if it is not, if a pivot is doubtful, or if the options
  /// request something else.
  std::optional<Products<T>> make_by_columns(const KnownMatrix<T>& known, FactorKind kind);

  /// By supernodes. If the pattern has no transversal and the options allow it, the pattern is completed
  /// first.
  Outcome<Products<T>> make(const KnownMatrix<T>& known, FactorKind kind);

  /// Factor new values, made.known's, with the ordering and structure in `made`; from the beginning, by
  /// supernodes, if a pivot of a factor by columns becomes doubtful.
  /// @param at_most  threads; 0: as the options say
  Outcome<Products<T>> refactor(Products<T> made, int at_most);

  /// Of A ± W·Wᴴ, of products by supernodes. @param spent  receives what was done
  /// @throws UsageError, DimensionError as update_factor
  Outcome<Products<T>> update(Products<T> made, const SparseMatrix<T>& w, UpdateSign sign,
                              FactorUpdateReport& spent);

  void tell(std::string_view phase, double fraction) const {
    if (options_.progress) options_.progress(phase, fraction);
  }

 private:
  ScalarType factor_scalar() const { return scalar_of_factor<T>(options_.mixed_precision); }
  bool asks_for_the_usual() const;
  Outcome<Ordering> order_for(const SparseMatrix<T>& matrix, FactorKind kind);
  void analyze_into(Products<T>& made);
  void choose_device_into(Products<T>& made) const;
  void choose_grid_into(Products<T>& made) const;
  /// @param matrix  made.factored_matrix()
  Outcome<void> factorize_into(Products<T>& made, const SparseMatrix<T>& matrix, int at_most);
  /// @returns false if a pivot is doubtful
  bool factorize_by_columns(Products<T>& made, std::shared_ptr<const BlockOrdering> order);

  const SolverOptions& options_;
  TeamOnDemand& team_;
  BandwidthMemory& bandwidth_;
  ProcessMutex memory_mutex_;  // a structure that is only shown is factored without the writer's lock
  InverseMemory<T> memory_;    // guarded by memory_mutex_
};

}  // namespace palmette
