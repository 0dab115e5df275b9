// The section on ranks, which follows the report of any run.
#include "palmette/solver/rank_solver.hpp"

namespace palmette {
namespace {

void visit_figure(std::string_view name, const RankFigure& figure, ReportVisitor& visitor) {
  visitor.open(name);
  visitor.field("least", figure.least);
  visitor.field("mean", figure.mean);
  visitor.field("most", figure.most);
  visitor.close();
}

/// Only for solves: time outside all phases is not part of a solve.
void visit_times(const std::vector<RankTimes>& ranks, ReportVisitor& visitor) {
  visitor.open("times");
  for (const NamedPhaseFigures& one : phase_figures(ranks)) {
    if (one.phase == SweepPhase::none) continue;
    visitor.open(name_of(one.phase));
    for (const PartFigure& part : one.parts) visit_figure(part.name, part.seconds, visitor);
    visitor.close();
  }
  visitor.close();
}

void visit_devices(const RankReport& report, ReportVisitor& visitor) {
  const CarriedCounts& counts = report.carried;
  visitor.open("devices");
  visitor.field("kind", std::string_view(report.device_kind));
  visitor.field("memory", name_of(report.memory));
  visitor.field("launches", counts.launches);
  visitor.field("messages", counts.messages);
  visitor.field("bytes", counts.bytes);
  visitor.field("copies_out", counts.copies_out);
  visitor.field("bytes_out", counts.bytes_out);
  visitor.field("copies_in", counts.copies_in);
  visitor.field("bytes_in", counts.bytes_in);
  visitor.field("copies_there", counts.copies_there);
  visitor.field("bytes_there", counts.bytes_there);
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
  visitor.field("method", name_of(report.method));
  visitor.field("synchronizations", std::int64_t{report.synchronizations});
  visitor.field("replicated_bytes", report.replicated_bytes);
  visitor.field("map", name_of(report.map));
  visitor.field("trees", name_of(report.trees));
  visitor.field("delivery", name_of(report.delivery));
  visitor.field("rhs_groups", std::int64_t{report.rhs_groups});
  visitor.field("transport", std::string_view(report.transport));
  visitor.field("threads_per_rank", std::int64_t{report.threads});
  visit_figure("memory_bytes", report.memory_bytes, visitor);
  visit_times(report.times, visitor);
  if (!report.device_kind.empty()) visit_devices(report, visitor);
  visitor.close();
}

}  // namespace palmette
