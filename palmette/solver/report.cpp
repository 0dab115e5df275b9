// The one walk over a report's fields.
#include "palmette/solver/report.hpp"

#include <cmath>

namespace palmette {

std::string_view name_of(ScalarType scalar) {
  switch (scalar) {
    case ScalarType::float32: return "float32";
    case ScalarType::float64: return "float64";
    case ScalarType::complex64: return "complex64";
    case ScalarType::complex128: return "complex128";
  }
  return "?";
}

namespace {

void optional_field(ReportVisitor& visitor, std::string_view name, const std::optional<double>& value) {
  if (value) visitor.field(name, *value);
  else visitor.null(name);
}

void visit_matrix(const MatrixReport& matrix, ReportVisitor& visitor) {
  visitor.open("matrix");
  visitor.field("rows", std::int64_t{matrix.rows});
  visitor.field("cols", std::int64_t{matrix.cols});
  visitor.field("nnz", std::int64_t{matrix.nnz});
  visitor.field("scalar", name_of(matrix.scalar));
  visitor.field("symmetry", name_of(matrix.symmetry));
  visitor.close();
}

void visit_order(const OrderReport& order, ReportVisitor& visitor) {
  visitor.open("order");
  visitor.field("method", name_of(order.method));
  visitor.field("seconds", order.seconds);
  visitor.field("matched", order.matched);
  visitor.close();
}

void visit_analyze(const AnalyzeReport& analyze, ReportVisitor& visitor) {
  visitor.open("analyze");
  visitor.field("seconds", analyze.seconds);
  visitor.field("nnz_factor", std::int64_t{analyze.nnz_factor});
  visitor.field("flops", analyze.flops);
  visitor.field("supernodes", std::int64_t{analyze.supernodes});
  visitor.field("diagonal_blocks", std::int64_t{analyze.diagonal_blocks});
  visitor.field("memory_bytes_predicted", std::int64_t{analyze.memory_bytes_predicted});
  visitor.close();
}

void visit_inertia(const PivotReport& pivots, ReportVisitor& visitor) {
  const Inertia& inertia = pivots.inertia;
  if (inertia.positive + inertia.negative + inertia.zero == 0) return visitor.null("inertia");
  visitor.open("inertia");
  visitor.field("positive", std::int64_t{inertia.positive});
  visitor.field("negative", std::int64_t{inertia.negative});
  visitor.field("zero", std::int64_t{inertia.zero});
  visitor.close();
}

void visit_calls(const std::string& place, const PlaceCounts& counts, ReportVisitor& visitor) {
  for (const DenseOperation operation : dense_operations) {
    const std::string name = place + "_" + std::string(name_of(operation));
    visitor.field(name + "_calls", std::int64_t{counts[operation].calls});
    visitor.field(name + "_flops", counts[operation].flops);
  }
}

void visit_offload(const OffloadReport& offload, ReportVisitor& visitor) {
  visitor.open("offload");
  visitor.field("device", offload.address);
  visitor.field("emulated", offload.emulated);
  visitor.field("mode", name_of(offload.mode));
  visitor.field("model", offload.model);
  const OffloadCounts& counts = offload.counts;
  visit_calls("host", counts.host, visitor);
  visit_calls("device", counts.device, visitor);
  visitor.field("copies_in", std::int64_t{counts.copies_in});
  visitor.field("copies_out", std::int64_t{counts.copies_out});
  visitor.field("bytes_in", counts.bytes_in);
  visitor.field("bytes_out", counts.bytes_out);
  visitor.field("panels_kept", std::int64_t{counts.panels_kept});
  visitor.field("panels_evicted", std::int64_t{counts.panels_evicted});
  visitor.field("fallbacks", std::int64_t{counts.fallbacks});
  visitor.close();
}

void visit_capacitance(const CapacitanceReport& capacitance, ReportVisitor& visitor) {
  visitor.open("capacitance");
  visitor.field("order", std::int64_t{capacitance.order});
  visitor.field("undecided", std::int64_t{capacitance.undecided});
  visitor.field("bound", capacitance.bound);
  visitor.field("contraction", capacitance.contraction);
  visitor.field("used_in_solves", capacitance.used_in_solves);
  visitor.field("flops", capacitance.flops);
  visitor.field("memory_bytes", std::int64_t{capacitance.memory_bytes});
  visitor.field("seconds", capacitance.seconds);
  visitor.close();
}

void visit_factorize(const FactorizeReport& factorize, ReportVisitor& visitor) {
  visitor.open("factorize");
  visitor.field("kind", name_of(factorize.kind));
  visitor.field("scalar", name_of(factorize.scalar));
  visitor.field("threads", std::int64_t{factorize.threads});
  visitor.field("seconds", factorize.seconds);
  visitor.field("gflops", factorize.gflops);
  visitor.field("perturbed_pivots", std::int64_t{factorize.pivots.perturbed});
  visitor.list("perturbed_columns", factorize.pivots.perturbed_columns);
  visitor.field("structural_deficiency", std::int64_t{factorize.structural_deficiency});
  visit_inertia(factorize.pivots, visitor);
  if (factorize.capacitance)
    visit_capacitance(*factorize.capacitance, visitor);
  else
    visitor.null("capacitance");
  visitor.field("log_abs_determinant", factorize.pivots.log_abs_determinant);
  visitor.field("memory_bytes", std::int64_t{factorize.memory_bytes});
  if (factorize.offload) visit_offload(*factorize.offload, visitor);
  else visitor.null("offload");
  visitor.close();
}

void visit_device(const DeviceReport& device, ReportVisitor& visitor) {
  visitor.open("device");
  visitor.field("address", device.address);
  visitor.field("name", device.name);
  visitor.field("emulated", device.emulated);
  visitor.field("memory_bytes", std::int64_t{device.memory_bytes});
  visitor.field("bytes_in", std::int64_t{device.counts.bytes_in});
  visitor.field("bytes_out", std::int64_t{device.counts.bytes_out});
  visitor.field("launches", std::int64_t{device.counts.launches});
  visitor.close();
}

std::optional<double> if_known(double value) {
  return value > 0 ? std::optional<double>(value) : std::nullopt;
}

void visit_file(const PanelFileReport& file, ReportVisitor& visitor) {
  visitor.open("file");
  visitor.field("memory_budget", std::int64_t{file.memory_budget});
  visitor.field("bytes", file.bytes);
  optional_field(visitor, "cached_bytes", file.cached_bytes);
  visitor.field("read_seconds", file.read_seconds);
  visitor.field("wait_seconds", file.wait_seconds);
  optional_field(visitor, "read_gbs", if_known(file.read_gbs));
  optional_field(visitor, "disk_gbs", if_known(file.disk_gbs));
  optional_field(visitor, "disk_fraction", if_known(file.disk_fraction));
  visitor.close();
}

void visit_solve(const SolveReport& solve, ReportVisitor& visitor) {
  visitor.open("solve");
  visitor.field("method", name_of(solve.method));
  visitor.field("threads", std::int64_t{solve.threads});
  visitor.field("num_rhs", std::int64_t{solve.num_rhs});
  visitor.field("seconds", solve.seconds);
  visitor.field("bytes", solve.bytes);
  if (is_emulated(solve)) visitor.null("bandwidth_gbs");
  else visitor.field("bandwidth_gbs", solve.bandwidth_gbs);
  optional_field(visitor, "stream_gbs", if_known(solve.stream_gbs));
  optional_field(visitor, "roofline_fraction", if_known(solve.roofline_fraction));
  optional_field(visitor, "critical_path_seconds", if_known(solve.critical_path_seconds));
  visitor.field("guarded_blocks", std::int64_t{solve.guarded_blocks});
  if (solve.device) visit_device(*solve.device, visitor);
  else visitor.null("device");
  if (solve.file) visit_file(*solve.file, visitor);
  else visitor.null("file");
  visitor.close();
}

void visit_verify(const Verification& verify, ReportVisitor& visitor) {
  visitor.open("verify");
  visitor.field("backward_error", verify.backward_error);
  visitor.field("componentwise_backward_error", verify.componentwise_backward_error);
  optional_field(visitor, "condition_1norm", verify.condition_1norm);
  optional_field(visitor, "forward_error_bound", verify.forward_error_bound);
  visitor.field("refine_steps", std::int64_t{verify.refine_steps});
  visitor.field("bound", verify.bound);
  visitor.field("verified", verify.verified);
  optional_field(visitor, "singular_distance", verify.singular_distance);
  if (verify.null_directions) visitor.field("null_directions", *verify.null_directions);
  else visitor.null("null_directions");
  optional_field(visitor, "least_squares_error", verify.least_squares_error);
  visitor.close();
}

}  // namespace

void visit(const Report& report, ReportVisitor& visitor) {
  visit_matrix(report.matrix, visitor);
  if (report.order) visit_order(*report.order, visitor);
  else visitor.null("order");
  if (report.analyze) visit_analyze(*report.analyze, visitor);
  else visitor.null("analyze");
  if (report.factorize) visit_factorize(*report.factorize, visitor);
  else visitor.null("factorize");
  if (report.solve) visit_solve(*report.solve, visitor);
  else visitor.null("solve");
  if (report.verify) visit_verify(*report.verify, visitor);
  else visitor.null("verify");
  visitor.list("notes", report.notes);
  visitor.field("peak_memory_bytes", report.peak_memory_bytes);
  visitor.field("version", report.version);
}

std::string_view version() { return PALMETTE_VERSION; }

}  // namespace palmette
