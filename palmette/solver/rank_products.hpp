// The products computed from a matrix over ranks before its solves: ordering, structure, placement and
// factor.
#pragma once

#include <memory>

#include "palmette/solver/rank_facts.hpp"
#include "palmette/solver/rank_input.hpp"
#include "palmette/solver/rank_inverse.hpp"
#include "palmette/solver/rank_solver.hpp"
#include "palmette/solver/replaced_pivots.hpp"

namespace palmette {

/// The products of the matrix for one kind of factorization.
template <class T>
struct RankProducts {
  FactorKind kind = FactorKind::llt;
  std::shared_ptr<const Ordering> ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  RankLayout layout;
  RankLayers layers;
  std::shared_ptr<const Placement> placement;
  std::shared_ptr<const RankInput<T>> input;
  std::shared_ptr<RankInverse<T>> inverse;
  index_t guarded_blocks = 0;  // of all ranks
  std::vector<ReplacedPivot> replaced;  // of all ranks; empty if a set of files does not tell them
  std::shared_ptr<ReplacedPivotsOnDemand<T>> decided;  // of this factor
  const ReplacedPivots<T>* decision = nullptr;         // of `decided`, once somebody asked for the inertia
  std::shared_ptr<NullSpaceOnDemand<T>> null_space;    // of this factor's matrix
  RankReport report;  // pivots as they were counted, which files keep: without the decision
};

/// Who holds what, of made.symbolic.
template <class T>
void place_into(RankProducts<T>& made, const RankLayout& layout, const WholeSubtrees& whole);

/// Computes the products of a solver over ranks. All ranks must call each function.
template <class T>
class RankProductMaker {
 public:
  RankProductMaker(const RankSolverOptions& options, Transport& transport, ThreadTeam& team)
      : options_(options), transport_(transport), team_(team) {}

  Outcome<RankProducts<T>> make(const std::shared_ptr<const RankInput<T>>& input, FactorKind kind);

  /// Factor made.input with the structure in `made`, and plan its solves.
  Outcome<void> factorize_into(RankProducts<T>& made);

  /// This rank's part of a factor, and what all ranks know of it.
  struct FactoredPart {
    std::shared_ptr<RankFactor<T>> factor;
    PivotFacts facts;
  };
  /// Factor `input` up to its last columns. @param notes  of the report
  FactoredPart factorize_part(const RankInput<T>& input, const PlacedStructure& what,
                              std::vector<std::string>& notes);

  /// Hand a part, factored without a bad pivot, to the layers, and plan the solves of `made` with it.
  /// @param watch  of the factorization
  void keep_part(RankProducts<T>& made, FactoredPart part, const Stopwatch& watch);

  /// What is asked of an ordering for this kind.
  OrderOptions order_options(FactorKind kind) const;

  /// Plan the solves with a factor that is there, and report it.
  /// @param made  has everything but the inverse
  void adopt(RankProducts<T>& made, std::shared_ptr<const RankFactor<T>> factor);

  void begin_report(RankProducts<T>& made) const;

 private:
  DriveOptions patience() const { return {options_.watchdog_seconds}; }
  RankTeam ranks() { return {transport_, team_, patience()}; }
  /// Order, analyze and place, on each rank separately.
  Outcome<void> find_structure(RankProducts<T>& made);
  void analyze_into(RankProducts<T>& made);
  void plan_into(RankProducts<T>& made, std::shared_ptr<const RankFactor<T>> factor);
  void report_memory(RankProducts<T>& made);

  const RankSolverOptions& options_;
  Transport& transport_;
  ThreadTeam& team_;
};

}  // namespace palmette
