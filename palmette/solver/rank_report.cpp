// What there is to say of ranks, after the report of any run.
#include "palmette/solver/rank_solver.hpp"

namespace palmette {

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
  visitor.close();
}

}  // namespace palmette
