// Inside `solve`: the sweeps through a supernodal factor, or through one supernodal triangle.
#pragma once

#include <optional>

#include "palmette/solve/sweep_steps.hpp"
#include "palmette/solve/streamed_triangles.hpp"
#include "palmette/solve/supernodal_triangle.hpp"

namespace palmette::solve_detail {

/// The parts of a core. The values to which the triangles point must live as long as the core: `values` keeps
/// them.
template <class T>
struct SupernodalParts {
  std::shared_ptr<const SweepGroups> structure;
  std::shared_ptr<const void> values;             ///< whatever owns the panels
  std::unique_ptr<SupernodalTriangle<T>> lower;
  /// Uᵀ as a lower triangle; null: the transpose (or adjoint) of lower
  std::unique_ptr<SupernodalTriangle<T>> upper;
  std::optional<BlockDiagonal<T>> diagonal;       ///< D of LDLᵀ
  bool lower_only = false;                        ///< S = L: one sweep
  bool adjoint = false;                           ///< without upper: S = L·(D)·Lᴴ instead of L·(D)·Lᵀ
  offset_t values_bytes = 0;                      ///< that the core counts as its own (values copied for it)
  int num_scales = 0;                             ///< different arrays of scales beside the core
  std::unique_ptr<StreamedTriangles> streamed;    ///< panels that stay in a file; null: they are in memory

  FactorShape shape() const { return {upper != nullptr, diagonal.has_value(), lower_only, adjoint}; }
  index_t guarded_blocks() const {
    return lower->guarded_blocks() + (upper ? upper->guarded_blocks() : 0);
  }
};

/// out ← D⁻¹·in or an operation of it, on the host; D of LLᵀ is the identity.
template <class T>
void divide_by_diagonal(const FactorShape& shape, const BlockDiagonal<T>* diagonal, Operation operation,
                        CoreRun<T> run);
/// One factor of a core, and what is done with it.
struct PartOperation {
  FactorPart part;
  Operation operation;
};
/// A solve with one factor, by D on the host or by the core's own sweeps.
/// @param sweeps  (steps, run) → out, called with vectors that are conjugated where the steps want it
template <class T, class Sweeps>
void solve_one_part(const FactorShape& shape, const BlockDiagonal<T>* diagonal, PartOperation wanted,
                    const CoreRun<T>& given, Sweeps&& sweeps) {
  if (wanted.part == FactorPart::diagonal)
    return divide_by_diagonal<T>(shape, diagonal, wanted.operation, given);
  const SweepOrder steps = steps_of_part(shape, wanted.part, wanted.operation);
  CoreRun<T> turned = given;
  if (steps.conjugates) turned.in.conjugated = turned.out.conjugated = true;
  sweeps(steps, turned);
}
/// What a solve through a supernodal factor costs.
template <class T>
CoreCost supernodal_cost(const SweepGroups& structure, bool lower_only);

/// S = L·(D)·Lᵀ, L·(D)·Lᴴ, L·U or L alone, by sweeps over groups of supernodes.
template <class T>
class SupernodalCore final : public SweepCore<T> {
 public:
  explicit SupernodalCore(SupernodalParts<T> parts) : parts_(std::move(parts)) {}

  void solve(bool transposed, const CoreRun<T>& run) const override;
  void solve_part(FactorPart part, Operation operation, const CoreRun<T>& run) const override;
  std::shared_ptr<const SolveReach> reach(const EntryRun<T>& run) const override;
  void solve_entries(const EntryRun<T>& run, const SolveReach& reach) const override;
  Relation relation() const override { return parts_.shape().template relation<T>(); }
  WorkspaceNeed workspace_need(index_t num_rhs) const override;
  CoreCost cost() const override;
  index_t guarded_blocks() const override { return parts_.guarded_blocks(); }
  PlanValues<T> values() const override {
    return {parts_.lower->values(), parts_.upper ? parts_.upper->values() : TriangleValues<T>{}};
  }
  offset_t memory_bytes() const override;
  bool is_streamed() const override { return parts_.streamed != nullptr; }
  PanelReads panel_reads() const override {
    return parts_.streamed ? parts_.streamed->reads() : PanelReads();
  }

 private:
  /// What several sweeps share.
  struct Course {
    const SolveReach* reach = nullptr;                 ///< what they visit; null: everything
    std::unique_ptr<StreamedTriangles::Pass> pass = nullptr;  ///< brings panels; null: they are in memory
  };
  Course begin_course(const SweepOrder& steps) const;
  /// All sweeps of a run, from the caller's columns to the caller's columns.
  void run_steps(const SweepOrder& steps, const CoreRun<T>& run, const Course& course) const;
  /// One sweep; if in or out is null, it is the vector that the core keeps between its sweeps.
  void sweep(const SweepStep& step, const CoreRun<T>& run, const Reader<T>* in, const Writer<T>* out,
             const Course& course) const;

  SupernodalParts<T> parts_;
};

/// Into how many vectors, of one right-hand side each, a block of so many is taken apart; 1: the block stays
/// whole. Each of them gets the bits that it gets alone.
index_t sides_apart(int scalar_bytes, index_t num_rhs);

/// Scalars that one solve needs, from the structure alone.
WorkspaceNeed supernodal_workspace_need(const SweepGroups& structure, int scalar_bytes, index_t num_rhs);

}  // namespace palmette::solve_detail
