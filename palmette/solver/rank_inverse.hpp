// A matrix factored over ranks as a function: op(A)⁻¹ of whole vectors, which every rank brings and gets.
#pragma once

#include <memory>
#include <vector>

#include "palmette/solver/solver.hpp"

namespace palmette {

/// How a rank takes part: its transport, its threads and its patience.
struct RankTeam {
  Transport& transport;
  ThreadTeam& team;
  DriveOptions drive;
};

/// Constant but for its workspace: one apply at a time, on all ranks together.
template <class T>
class RankInverse {
 public:
  /// Every rank must call it.
  /// @param planned  makes what solves go through; empty: the transport of `ranks`
  /// @throws MemoryError
  RankInverse(const RankTeam& ranks, std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options,
              const PlannedTransports& planned = {});

  /// x ← op(A)⁻¹·b; every rank must call it, with the same b, and gets the same x.
  /// @param b  n × k; x: n × k, may be b's memory
  void apply(Operation operation, DenseView<const T> b, DenseView<T> x);

  const RankFactor<T>& factor() const { return *factor_; }
  index_t most_sides() const { return plan_.most_sides(); }
  /// Of this rank.
  index_t guarded_blocks() const { return plan_.guarded_blocks(); }
  /// Of this rank: factor, plan and queues.
  offset_t memory_bytes() const { return factor_->memory_bytes() + plan_.memory_bytes() + static_cast<offset_t>(run_->memory_bytes()); }
  const RunTransport& run_transport() const { return *run_; }

 private:
  /// Where a row of the permuted system stands in the user's numbering, and what it is scaled by there.
  struct Side {
    const std::vector<index_t>& place;
    const std::vector<double>& scale;  // empty: ones
    T scaled(const T& value, index_t row) const {
      return scale.empty() ? value : value * static_cast<real_t<T>>(scale[static_cast<std::size_t>(row)]);
    }
  };
  Side side(bool rows) const;
  TransportPlan transport_plan_of_solves(TreeShape trees) const;
  void write_answer(const Side& out, const std::vector<SharedBytes>& pieces, DenseView<T> x) const;

  RankTeam ranks_;
  std::shared_ptr<const RankFactor<T>> factor_;
  RankSolvePlan<T> plan_;
  std::vector<std::vector<index_t>> rows_;  // by rank: the rows of the permuted system whose values it brings and gets
  std::optional<RunTransport> run_;
  DenseMatrix<T> own_;                      // this rank's rows × most_sides, made when first needed
  BytePool pool_;
};

}  // namespace palmette
