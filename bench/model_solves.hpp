// Factors generated problems and measures their solves: what the benchmarks of predictions and choices share.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "palmette/factorize/factorize.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette::bench {

struct ModelCase {
  std::string problem;
  index_t n = 0;
  FactorKind kind = FactorKind::llt;
  std::string name() const { return problem + ":" + std::to_string(n); }
};

/// "poisson2d9:256" or "kkt3d:16:ldlt".
inline ModelCase model_case(const std::string& text) {
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  ModelCase what{text.substr(0, first), static_cast<index_t>(std::atoi(text.c_str() + first + 1)),
                 FactorKind::llt};
  const std::string kind = second == std::string::npos ? "llt" : text.substr(second + 1);
  what.kind = kind == "lu" ? FactorKind::lu : kind == "ldlt" ? FactorKind::ldlt : FactorKind::llt;
  return what;
}

struct Products {
  SparseMatrix<double> matrix;
  Ordering ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Factor<double>> factor;
};

inline Products made(const ModelCase& what) {
  GenerateOptions options;
  options.problem = what.problem;
  options.n = what.n;
  Products all;
  all.matrix = generate(options);
  OrderOptions how;
  how.method = OrderingMethod::nd;
  how.pivot_need = pivot_need(what.kind);
  all.ordering = order(all.matrix, how).value();
  all.symbolic = std::make_shared<const SymbolicFactor>(analyze(all.matrix.pattern, all.ordering));
  FactorizeOptions factorizing;
  factorizing.kind = what.kind;
  all.factor = std::make_shared<const Factor<double>>(
      factorize(all.matrix, all.symbolic, all.ordering, factorizing).value());
  return all;
}

/// Median and minimum of some seconds: a user sees the median; a bound must stay below the minimum.
struct Measured {
  double median = 0, least = 0;
};
inline Measured measured(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds[0]};
}

/// One rank's plan over one layer or several, on a transport.
class ModelRank {
 public:
  ModelRank(const Products& all, const std::shared_ptr<const Placement>& placement, Transport& transport)
      : transport_(transport), team_(1) {
    RankPlanOptions options;
    options.max_rhs = 1;
    plan_.emplace(
        std::make_shared<const RankFactor<double>>(rank_part(*all.factor, placement, transport.rank())),
        options);
    mine_.resize(plan_->rows().size());
  }
  /// From the moment when all ranks are ready until the last is done.
  double solve() {
    std::fill(mine_.begin(), mine_.end(), 1.0);
    const auto count = static_cast<index_t>(mine_.size());
    const DenseView<double> both{mine_.data(), count, 1, count};
    RankProgram& program = plan_->begin(Operation::plain, both, both, transport_);
    transport_.agree(0);
    const Stopwatch watch;
    drive(program, transport_, team_);
    transport_.agree(0);
    return watch.seconds();
  }

 private:
  Transport& transport_;
  ThreadTeam team_;
  std::optional<RankSolvePlan<double>> plan_;
  std::vector<double> mine_;
};

}  // namespace palmette::bench
