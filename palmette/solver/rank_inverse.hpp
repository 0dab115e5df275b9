// A matrix factored over ranks as a function: op(A)⁻¹ of whole vectors, which every rank passes and receives.
#pragma once

#include <memory>
#include <vector>

#include "palmette/solver/solver.hpp"

namespace palmette {

/// What a rank works with: its transport, its threads and its watchdog.
struct RankTeam {
  Transport& transport;
  ThreadTeam& team;
  DriveOptions drive;
};

/// The layers of a run.
struct RankLayers {
  std::vector<LayerSystem> systems = {};  // empty: there is only one layer
  bool several() const { return !systems.empty(); }
  const LayerSystem& of(index_t rank) const {
    return systems[rank / systems[0].ranks.grid.num_ranks()];
  }
};

/// What a rank solves with: its part of the factor, in the system of its layer or in the only one.
template <class T>
struct RankSolveParts {
  std::shared_ptr<const SymbolicFactor> symbolic;  ///< of the whole
  const RankLayers& layers;
  std::shared_ptr<const RankFactor<T>> factor;
};

/// Constant except for its workspace: one apply at a time, on all ranks together.
template <class T>
class RankInverse {
 public:
  /// Every rank must call it.
  /// @param planned  makes the transport of the solves; empty: the transport of `ranks`
  /// @throws MemoryError
  RankInverse(const RankTeam& ranks, const RankSolveParts<T>& parts, const RankPlanOptions& options,
              const PlannedTransports& planned = {});

  /// x ← op(A)⁻¹·b; every rank must call it with the same b, and all get the same x.
  /// @param b  n × k; x: n × k, may be b's memory
  void apply(Operation operation, DenseView<const T> b, DenseView<T> x);

  /// x ← rows of op(A)⁻¹ times sparse columns, by the branches of the tree that they lie in; every rank must
  /// call it with the same b and the same wanted entries, and all get the same x. As
  /// SolvePlan::solve_entries. Not with a device. Columns of b must have finite values.
  /// @param x  wanted.rows.size() × wanted.columns.size()
  /// @returns what this rank has counted; of bytes, what its layer has read
  EntryTrace solve_entries(Operation operation, const SparseMatrix<T>& b, const WantedEntries& wanted,
                           DenseView<T> x);

  /// Counts of bytes and messages in the report of such solves ← their sums over all ranks. Every rank must
  /// call it.
  void sum_counts(EntryReport& report) const;

  const RankFactor<T>& factor() const { return *factor_; }
  index_t max_rhs() const { return max_rhs_; }
  /// Of this rank.
  index_t guarded_blocks() const {
    return plan_.guarded_blocks();
  }
  /// Of this rank: factor, plan and queues, and what the first solve for single entries has added.
  offset_t memory_bytes() const {
    const offset_t plan_bytes = plan_.memory_bytes();
    const std::size_t home_bytes = (homes_.rank.size() + homes_.number.size()) * sizeof(index_t);
    return factor_->memory_bytes() + plan_bytes + static_cast<offset_t>(run_->memory_bytes() + home_bytes);
  }
  const RunTransport& run_transport() const { return *run_; }
  MemoryKind memory_kind() const { return plan_.memory_kind(); }
  /// By this rank's device, in all applies so far.
  CarriedCounts carried() const { return plan_.carried(); }
  /// Of this rank, in all applies so far: the solves only, without the gathering of x.
  RankTimes times() const { return record_.times(); }

 private:
  /// The user's index of each row of the permuted system, and the scale of that row.
  struct Side {
    const std::vector<index_t>& place;
    const std::vector<index_t>& old_to_new;
    const std::vector<double>& scale;  // empty: ones
    T scaled(const T& value, index_t row) const {
      return scale.empty() ? value : value * static_cast<real_t<T>>(scale[row]);
    }
  };
  Side side(bool rows) const;
  /// Where rows of the permuted system lie.
  struct Homes {
    std::vector<index_t> rank, number;  // by row: whose it is, and its number among that rank's
  };
  const Homes& homes();
  /// Entries of x that one rank gives.
  struct Given {
    std::vector<index_t> number;                     // ascending: of its rows
    std::vector<std::pair<index_t, index_t>> place;  // row of x, and number in `number`
  };
  std::vector<Given> wanted_of_ranks(std::span<const index_t> wanted, const Side& out);
  std::vector<RankEntry<T>> own_entries(const SparseMatrix<T>& b, std::span<const index_t> columns,
                                        const Side& in);
  void solve_block(Operation operation, const SparseMatrix<T>& b, const WantedEntries& wanted,
                   DenseView<T> x);
  void prepare();
  void reserve(index_t num_rhs);
  static RankSolvePlan<T> plan_for(const RankSolveParts<T>& parts, RankPlanOptions options, index_t rank);
  std::span<const index_t> rows() const {
    return plan_.rows();
  }
  TransportPlan transport_plan_of_solves(const RankPlanOptions& options, const RankLayers& layers) const;
  void write_answer(const Side& out, const std::vector<SharedBytes>& pieces, DenseView<T> x) const;

  RankTeam ranks_;
  std::shared_ptr<const RankFactor<T>> factor_;
  std::shared_ptr<const SymbolicFactor> symbolic_;
  index_t max_rhs_;
  RankSolvePlan<T> plan_;
  index_t reserved_ = 0;  // right-hand sides for which all devices have room
  // by rank: the rows of the permuted system whose values it provides and receives
  std::vector<std::vector<index_t>> rows_;
  std::optional<RunTransport> run_;
  RankRecord record_;
  DenseMatrix<T> own_;                      // this rank's rows × max_rhs, allocated when first needed
  BytePool pool_;
  Homes homes_;       // made when first needed
  EntryTrace spent_;  // by this rank, in the solve for entries that is under way
};

}  // namespace palmette
