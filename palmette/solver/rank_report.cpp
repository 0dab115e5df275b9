// What there is to say of ranks, after the report of any run.
#include "palmette/solver/rank_solver.hpp"

#include <algorithm>

namespace palmette {
namespace {

struct Part {
  std::string_view name;
  double PhaseTimes::*value;
};
constexpr Part parts[] = {{"work", &PhaseTimes::work}, {"messages", &PhaseTimes::messages}, {"waiting", &PhaseTimes::waiting}};

void visit_part(const std::vector<RankTimes>& ranks, SweepPhase phase, const Part& part, ReportVisitor& visitor) {
  RankFigure figure{ranks[0].of(phase).*part.value, 0, 0};
  for (const RankTimes& rank : ranks) {
    const double value = rank.of(phase).*part.value;
    figure.least = std::min(figure.least, value);
    figure.most = std::max(figure.most, value);
    figure.mean += value / static_cast<double>(ranks.size());
  }
  visitor.open(part.name);
  visitor.field("least", figure.least);
  visitor.field("mean", figure.mean);
  visitor.field("most", figure.most);
  visitor.close();
}

void visit_times(const std::vector<RankTimes>& ranks, ReportVisitor& visitor) {
  visitor.open("times");
  for (const SweepPhase phase : {SweepPhase::forward, SweepPhase::between, SweepPhase::backward}) {
    if (std::none_of(ranks.begin(), ranks.end(), [phase](const RankTimes& one) { return one.of(phase).total() > 0; })) continue;
    visitor.open(name_of(phase));
    for (const Part& part : parts) visit_part(ranks, phase, part, visitor);
    visitor.close();
  }
  visitor.close();
}

}  // namespace

void visit(const RankReport& report, ReportVisitor& visitor) {
  visit(report.run, visitor);
  visitor.open("ranks");
  visitor.field("num_ranks", std::int64_t{report.num_ranks});
  visitor.field("grid_rows", std::int64_t{report.grid.rows});
  visitor.field("grid_cols", std::int64_t{report.grid.cols});
  visitor.field("layers", std::int64_t{report.layers});
  visitor.field("layered_method", name_of(report.layered_method));
  visitor.field("synchronizations", std::int64_t{report.synchronizations});
  visitor.field("replicated_bytes", report.replicated_bytes);
  visitor.field("map", name_of(report.map));
  visitor.field("trees", name_of(report.trees));
  visitor.field("delivery", name_of(report.delivery));
  visitor.field("transport", std::string_view(report.transport));
  visitor.field("threads_per_rank", std::int64_t{report.members});
  visitor.open("memory_bytes");
  visitor.field("least", report.memory_bytes.least);
  visitor.field("mean", report.memory_bytes.mean);
  visitor.field("most", report.memory_bytes.most);
  visitor.close();
  visit_times(report.times, visitor);
  visitor.close();
}

}  // namespace palmette
