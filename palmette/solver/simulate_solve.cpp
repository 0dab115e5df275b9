// Splits the factor, plans, runs one world of simulated ranks; then computes the residual.
#include "palmette/solver/simulate_solve.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "palmette/solve/solve.hpp"

namespace palmette {
namespace {

template <class T>
class Simulation {
 public:
  Simulation(const SparseMatrix<T>& matrix, const Factor<T>& factor, const SimulatedCase& given,
             std::shared_ptr<const Cluster> cluster)
      : matrix_(matrix), factor_(factor), given_(given), cluster_(std::move(cluster)) {}

  SimulatedSolve run() {
    const Stopwatch setup;
    options_.trees = given_.trees;
    options_.max_rhs = given_.num_rhs;
    options_.rhs_groups = given_.rhs_groups;
    if (given_.method == SolveMethod::message_driven) plan_flat();
    else plan_layered();
    result_.setup_seconds = setup.seconds();
    sum_memory();
    solve();
    return std::move(result_);
  }

 private:
  void plan_flat() {
    if (given_.ranks.layers != 1)
      throw UsageError("the method message_driven has one layer, not " + std::to_string(given_.ranks.layers) +
                       ": choose a layered method, or leave out layers");
    placement_ = std::make_shared<const Placement>(
        place(*factor_.symbolic, given_.ranks.grid, given_.map, given_.whole));
    options_.structure = std::make_shared<const ExchangePlan>(*factor_.symbolic, *placement_, given_.trees);
    for (index_t rank = 0; rank < given_.ranks.num_ranks(); ++rank) {
      auto part = std::make_shared<const RankFactor<T>>(without_scales(rank_part(factor_, placement_, rank)));
      note_part(*part);
      plans_.emplace_back(std::move(part), options_);
    }
  }

  void plan_layered() {
    const auto cut =
        std::make_shared<const Layering>(cut_into_layers(*factor_.symbolic, given_.ranks.layers));
    const LayeredMethod method = layered_method(given_.method);
    const Replication held = replication_of(*factor_.symbolic, *cut, method);
    result_.layers.synchronizations = layer_synchronizations(*cut, method);
    result_.layers.replicated_share =
        static_cast<double>(held.extra_entries()) / std::max(1.0, static_cast<double>(held.factor_entries));
    for (LayerSystem& made :
         layer_systems(*factor_.symbolic, cut, method, {given_.ranks, given_.map, given_.whole})) {
      const auto system = std::make_shared<const LayerSystem>(std::move(made));
      options_.layer = system;
      options_.structure =
          std::make_shared<const ExchangePlan>(*system->symbolic, *system->placement, given_.trees);
      for (index_t rank = 0; rank < given_.ranks.grid.num_ranks(); ++rank) {
        for (const LayerStep& step : layer_steps(*system, rank))
          result_.layers.unpacked_messages += static_cast<std::int64_t>(step.supernodes.size());
        auto part = std::make_shared<const RankFactor<T>>(
            without_scales(rank_part(factor_, system->symbolic, system->placement, rank, system->supernode)));
        note_part(*part);
        plans_.emplace_back(std::move(part), options_);
      }
    }
  }
  /// Solves of the permuted, scaled system need none.
  static RankFactor<T> without_scales(RankFactor<T> part) {
    part.row_scale = {};
    part.column_scale = {};
    return part;
  }
  void note_part(const RankFactor<T>& part) {
    double entries = static_cast<double>(part.owned.entries());
    for (index_t p = 0; p < part.owned.num_panels(); ++p) {
      const double width = part.symbolic->width(part.owned.panel[p]);
      // sweeps read a triangle
      if (part.owned.owns_diagonal[p] != 0) entries -= width * (width - 1) / 2;
    }
    // L is read twice, or L and U once each.
    factor_bytes_.push_back(entries * sizeof(T) * (part.kind == FactorKind::lu ? 2 : 1));
    part_bytes_.push_back(part.memory_bytes());
  }

  void sum_memory() {
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      const offset_t bytes = part_bytes_[rank] + plans_[rank].memory_bytes();
      result_.rank_bytes_least = rank == 0 ? bytes : std::min(result_.rank_bytes_least, bytes);
      result_.rank_bytes_most = std::max(result_.rank_bytes_most, bytes);
      result_.rank_bytes_mean += static_cast<double>(bytes) / static_cast<double>(plans_.size());
    }
  }

  T scaled_one(index_t k) const {
    const index_t row = factor_.symbolic->row.new_to_old()[k];
    return factor_.row_scale.empty()
               ? T(1)
               : T(static_cast<real_t<T>>(factor_.row_scale[row]));
  }

  void solve() {
    const index_t ranks = given_.ranks.num_ranks(), num_rhs = given_.num_rhs;
    SimulationOptions simulation;
    simulation.cluster = cluster_;
    simulation.keeps_timeline = given_.keeps_timeline;
    simulation.packing = given_.packing;
    for (const double bytes : factor_bytes_)
      simulation.read_gbs.push_back(cluster_->rank_solve_gbs(ranks, bytes));
    result_.read_gbs = simulation.read_gbs;
    SimulatedWorld world(ranks, simulation);
    std::vector<DenseMatrix<T>> mine;
    std::vector<RankProgram*> programs;
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      const std::span<const index_t> rows = plans_[rank].rows();
      DenseMatrix<T>& own = mine.emplace_back(static_cast<index_t>(rows.size()), num_rhs);
      for (index_t rhs = 0; rhs < num_rhs; ++rhs)
        for (std::size_t k = 0; k < rows.size(); ++k)
          own.view()(static_cast<index_t>(k), rhs) = scaled_one(rows[k]);
      programs.push_back(&plans_[rank].begin(Operation::plain, own.view(), own.view(),
                                             world.rank(static_cast<index_t>(rank))));
    }
    const Stopwatch watch;
    result_.run = world.run(programs);
    result_.wall_seconds = watch.seconds();
    count_between_layers();
    for (index_t rhs = 0; rhs < num_rhs; ++rhs) judge(mine, rhs);
  }

  void count_between_layers() {
    const index_t ranks = given_.ranks.grid.num_ranks();  // of a layer
    std::vector<std::int64_t> sent(given_.ranks.num_ranks());
    for (const TrafficEntry& entry : result_.run.traffic.entries) {
      if (entry.source / ranks == entry.destination / ranks) continue;
      result_.layers.messages += entry.messages;
      result_.layers.bytes += entry.bytes;
      std::int64_t& own = sent[entry.source];
      own += entry.messages;
      result_.layers.most_messages = std::max(result_.layers.most_messages, own);
    }
  }

  void judge(const std::vector<DenseMatrix<T>>& mine, index_t rhs) {
    const SymbolicFactor& symbolic = *factor_.symbolic;
    const auto n = static_cast<std::size_t>(symbolic.n);
    std::vector<T> x(n);
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      const std::span<const index_t> rows = plans_[rank].rows();
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto column =
            static_cast<std::size_t>(symbolic.column.new_to_old()[rows[k]]);
        const real_t<T> scale =
            factor_.column_scale.empty() ? 1 : static_cast<real_t<T>>(factor_.column_scale[column]);
        x[column] = mine[rank].view()(static_cast<index_t>(k), rhs) * scale;
      }
    }
    std::vector<T> residual(n, T(1));
    const auto rows = static_cast<index_t>(n);
    multiply_add<T>(matrix_, Operation::plain, T(-1), {x.data(), rows, 1, rows},
                    {residual.data(), rows, 1, rows});
    const auto largest = [](const std::vector<T>& values) {
      double result = 0;
      for (const T& value : values)
        result = std::isnan(std::abs(value)) ? std::abs(value) : std::max<double>(result, std::abs(value));
      return result;
    };
    const double error = largest(residual) / (norm_infinity(matrix_) * largest(x) + 1);
    if (!(error <= result_.backward_error)) result_.backward_error = error;
  }

  const SparseMatrix<T>& matrix_;
  const Factor<T>& factor_;
  const SimulatedCase& given_;
  std::shared_ptr<const Cluster> cluster_;
  RankPlanOptions options_;
  std::shared_ptr<const Placement> placement_;
  std::vector<RankSolvePlan<T>> plans_;
  std::vector<double> factor_bytes_;
  std::vector<offset_t> part_bytes_;
  SimulatedSolve result_;
};

}  // namespace

template <class T>
SimulatedSolve simulate_solve(const SparseMatrix<T>& matrix, const Factor<T>& factor,
                              const SimulatedCase& given, std::shared_ptr<const Cluster> cluster) {
  if (!cluster) throw UsageError("a simulated solve needs a cluster, but it is null");
  if (matrix.rows() != factor.size())
    throw DimensionError("a factor of size " + std::to_string(factor.size()) + " for a matrix with " +
                         std::to_string(matrix.rows()) + " rows");
  return Simulation<T>(matrix, factor, given, std::move(cluster)).run();
}

#define PALMETTE_INSTANTIATE(T)                                                                          \
  template SimulatedSolve simulate_solve(const SparseMatrix<T>&, const Factor<T>&, const SimulatedCase&, \
                                         std::shared_ptr<const Cluster>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
