// Draws the report of a solve in 80 columns.
#include "cli/report_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/text.hpp"
#include "cli/times_report.hpp"

namespace palmette::cli {
namespace {

/// "  phase       12.3 ms   text", the text wrapped; further paragraphs of the same phase follow below it.
class PhaseTable {
 public:
  void head() {
    text_ += fmt::format("  {:<9}  {:>8}   {}\n  {:-<9}  {:->8}   {:-<55}\n", "phase", "time", "what it did",
                         "", "", "");
  }
  void phase(std::string_view name, double seconds, std::string_view text) {
    text_ +=
        paragraph(fmt::format("  {:<9}  {:>8}   ", name, seconds > 0 ? format_seconds(seconds) : ""), text);
  }
  void more(std::string_view text) { text_ += paragraph(std::string(24, ' '), text); }
  void rule() { text_ += fmt::format("  {:-<9}  {:->8}   {:-<55}\n", "", "", ""); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// "[##########----------]".
std::string gauge(double fraction) {
  constexpr int width = 24;
  const int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * width + 0.5);
  return "[" + std::string(filled, '#') + std::string(width - filled, '-') + "]";
}

std::string inertia_sentence(const FactorizeReport& report) {
  const Inertia& inertia = report.pivots.inertia;
  if (report.kind != FactorKind::ldlt || inertia.positive + inertia.negative + inertia.zero == 0) return "";
  return fmt::format("inertia: {} positive, {} negative, {} {}", format_count(inertia.positive),
                     format_count(inertia.negative), format_count(inertia.zero),
                     inertia.zero > 0 ? "undecided" : "zero");
}

std::string structure_of(const AnalyzeReport& analyzed) {
  if (analyzed.supernodes > 0) return plural(analyzed.supernodes, "supernode");
  return "by columns" +
         (analyzed.diagonal_blocks > 1 ? ", " + plural(analyzed.diagonal_blocks, "diagonal block") : "");
}

void add_offload(PhaseTable& table, const OffloadReport& offload) {
  std::string calls;
  for (const DenseOperation operation : dense_operations) {
    const offset_t there = offload.counts.device[operation].calls;
    calls += fmt::format("{}{} {} of {}", calls.empty() ? "" : ", ", name_of(operation), there,
                         there + offload.counts.host[operation].calls);
  }
  table.more(fmt::format("on device {}: {} calls", offload.address, calls));
  table.more(fmt::format("{} to it, {} from it{}", format_bytes(offload.counts.bytes_in),
                         format_bytes(offload.counts.bytes_out),
                         offload.counts.fallbacks > 0
                             ? fmt::format("; {} done by the host for lack of memory",
                                           plural(offload.counts.fallbacks, "request"))
                             : ""));
  if (offload.mode == OffloadWhen::automatic) table.more("chosen by figures: " + offload.model);
  if (offload.emulated) table.more("the device's part ran on this CPU: the time is not that of a GPU");
}

/// There is no prediction for solves over ranks.
std::string prediction_of(const AnalyzeReport& analyzed) {
  if (analyzed.memory_bytes_predicted == 0) return "";
  return fmt::format(", {} predicted", format_bytes(static_cast<double>(analyzed.memory_bytes_predicted)));
}

void add_factor_phases(PhaseTable& table, const Report& report) {
  const bool is_perturbed = report.factorize->pivots.perturbed > 0;
  table.phase("order", report.order->seconds,
              fmt::format("{}{}", name_of(report.order->method),
                          report.order->matched ? ", with matching and scaling" : ""));
  table.phase("analyze", report.analyze->seconds,
              fmt::format("{} in the factor, {} flops, {}{}", plural(report.analyze->nnz_factor, "entry"),
                          format_large(report.analyze->flops), structure_of(*report.analyze),
                          prediction_of(*report.analyze)));
  table.phase("factorize", report.factorize->seconds,
              fmt::format("{} in {}, {:.3g} Gflop/s, {}", kind_sentence(report.factorize->kind),
                          scalar_name(report.factorize->scalar), report.factorize->gflops,
                          format_bytes(static_cast<double>(report.factorize->memory_bytes))));
  if (const std::string inertia = inertia_sentence(*report.factorize); !inertia.empty()) table.more(inertia);
  if (is_perturbed)
    table.more(fmt::format("{} perturbed, the first in column {}",
                           plural(report.factorize->pivots.perturbed, "tiny pivot"),
                           report.factorize->pivots.perturbed_columns.empty()
                               ? 0
                               : report.factorize->pivots.perturbed_columns.front() + 1));
  if (const auto& capacitance = report.factorize->capacitance)
    table.more(fmt::format("capacitance matrix of order {}: errors up to {:.1e}{}",
                           format_count(capacitance->order), capacitance->bound,
                           capacitance->used_in_solves ? ", used in solves" : ""));
  if (report.factorize->offload) add_offload(table, *report.factorize->offload);
}

void add_device(PhaseTable& table, const DeviceReport& device) {
  const auto bytes = [](offset_t number) { return format_bytes(static_cast<double>(number)); };
  table.more(fmt::format("device {} ({}): {} of its memory", device.address, device.name,
                         bytes(device.memory_bytes)));
  table.more(fmt::format("{} to it, {} from it, {}", bytes(device.counts.bytes_in),
                         bytes(device.counts.bytes_out),
                         plural(device.counts.launches, "kernel")));
  if (device.emulated) table.more("the time is that of the emulator on this CPU, not of a GPU");
}

/// What the solve read of the file of its factors.
void add_file(PhaseTable& table, const PanelFileReport& file) {
  std::string text = fmt::format("{} read from the file in {}", format_bytes(file.bytes),
                                 format_seconds(file.read_seconds));
  if (file.cached_bytes)
    text += fmt::format(", {} of it from the page cache", format_bytes(*file.cached_bytes));
  table.more(text);
  if (file.read_gbs > 0 && file.disk_gbs > 0)
    table.more(fmt::format("{:.3g} GB/s, {} of the disk's {:.3g} GB/s", file.read_gbs,
                           format_percent(file.disk_fraction), file.disk_gbs));
  table.more(fmt::format("waited {} for panels, within {} of memory", format_seconds(file.wait_seconds),
                         format_bytes(static_cast<double>(file.memory_budget))));
}

/// How near to the speed of memory the solve was.
void add_speed(PhaseTable& table, const SolveReport& solve) {
  if (solve.stream_gbs > 0 && solve.seconds > 0) {
    table.more(
        fmt::format("{:.3g} GB/s, where memory streams {:.3g} GB/s", solve.bandwidth_gbs, solve.stream_gbs));
    table.more(fmt::format("{} {} of the memory roofline", gauge(solve.roofline_fraction),
                           format_percent(solve.roofline_fraction)));
  } else if (solve.seconds > 0 && !is_emulated(solve)) {
    table.more(fmt::format("{:.3g} GB/s", solve.bandwidth_gbs));
  }
}

void add_solve_phase(PhaseTable& table, const SolveReport& solve, const RunFigures& figures) {
  const int repeat = figures.repeat;
  table.phase("solve", solve.seconds,
              fmt::format("{}, {}, {}, {} moved", name_of(solve.method), plural(solve.threads, "thread"),
                          plural(solve.num_rhs, "right-hand side"), format_bytes(solve.bytes)));
  if (solve.device) add_device(table, *solve.device);
  if (solve.file) add_file(table, *solve.file);
  add_speed(table, solve);
  table.more(repeat > 1 ? fmt::format("median of {} warm solves", repeat)
                        : std::string("one cold solve: --repeat 5 would time warm ones"));
  if (solve.guarded_blocks > 0)
    table.more(fmt::format("{} not inverted, since the inverse would grow too much",
                           plural(solve.guarded_blocks, "diagonal block")));
}

void add_ranks(PhaseTable& table, const RankReport& report) {
  table.more(fmt::format("{}, grid {} x {}, {}, {} trees, {}", plural(report.num_ranks, "rank"),
                         report.grid.rows, report.grid.cols, name_of(report.map), name_of(report.trees),
                         report.transport));
  if (report.layers > 1)
    table.more(fmt::format("{} layers: {} in a solve, {} replicated", report.layers,
                           plural(report.synchronizations, "synchronization"),
                           format_bytes(static_cast<double>(report.replicated_bytes))));
  table.more(fmt::format("factor and plan of a rank: {} to {}, mean {}",
                         format_bytes(report.memory_bytes.least), format_bytes(report.memory_bytes.most),
                         format_bytes(report.memory_bytes.mean)));
  if (!report.device_kind.empty()) {
    const CarriedCounts& counts = report.carried;
    table.more(fmt::format("a device ({}) on each rank: {}; {} of {}, {}", report.device_kind,
                           plural(counts.launches, "kernel"), plural(counts.messages, "message"),
                           format_bytes(static_cast<double>(counts.bytes)),
                           report.memory == MemoryKind::symmetric ? "the kernels put what they send"
                           : report.memory == MemoryKind::native
                               ? "from device to device"
                               : fmt::format("by way of the hosts: {} out, {} in",
                                             plural(counts.copies_out, "copy"), counts.copies_in)));
  }
  const PhaseTimes mean = mean_times(report.times);
  table.more(fmt::format("time of a rank, mean: work {}, messages {}, waiting {}", format_seconds(mean.work),
                         format_seconds(mean.messages), format_seconds(mean.waiting)));
}

void add_verify_phase(PhaseTable& table, const Verification& verify) {
  table.phase(
      "verify", 0,
      fmt::format("backward error {:.1e}, componentwise {:.1e}, after {}", verify.backward_error,
                  verify.componentwise_backward_error, plural(verify.refine_steps, "refinement step")));
  if (verify.condition_1norm)
    table.more(fmt::format("condition (1-norm, estimated) {:.1e}", *verify.condition_1norm));
  if (verify.forward_error_bound)
    table.more(fmt::format("forward error at most {:.1e}", *verify.forward_error_bound));
}

std::string verdict(const Verification& verify) {
  if (verify.singular_distance)
    return fmt::format(
        "NOT VERIFIED: the matrix is singular to working precision (relative distance {:.1e}).",
        *verify.singular_distance);
  return verify.verified ? fmt::format("Verified: the backward error {:.1e} is within {:.1e}.",
                                       verify.backward_error, verify.bound)
                         : fmt::format("NOT VERIFIED: the backward error {:.1e} is above {:.1e}.",
                                       verify.backward_error, verify.bound);
}

}  // namespace

std::string kind_sentence(FactorKind kind) {
  switch (kind) {
    case FactorKind::llt: return "LL^T";
    case FactorKind::ldlt: return "LDL^T";
    case FactorKind::lu: return "LU";
  }
  return "";
}

std::string matrix_sentence(const MatrixReport& matrix) {
  const bool is_hermitian = matrix.symmetry == Symmetry::hermitian;
  return fmt::format("{} x {}, {}, {} {}", format_count(matrix.rows), format_count(matrix.cols),
                     matrix.nnz == 1 ? "1 entry" : format_count(matrix.nnz) + " entries",
                     field_name(matrix.scalar),
                     is_hermitian                           ? "Hermitian"
                     : matrix.symmetry == Symmetry::skew    ? "skew-symmetric"
                     : matrix.symmetry == Symmetry::general ? "unsymmetric"
                                                            : "symmetric");
}

std::string report_table(const Report& report, const RunFigures& figures) {
  std::string text =
      paragraph("", fmt::format("Palmette {}: {} {}", report.version, figures.command, figures.path)) + "\n";
  PhaseTable table;
  table.head();
  table.phase("read", figures.read_seconds, matrix_sentence(report.matrix));
  if (report.factorize) add_factor_phases(table, report);
  if (figures.ranks != nullptr) add_ranks(table, *figures.ranks);
  if (report.solve) add_solve_phase(table, *report.solve, figures);
  if (report.verify) add_verify_phase(table, *report.verify);
  if (!figures.out.empty()) table.phase("write", figures.write_seconds, figures.out);
  table.rule();
  table.phase(
      "total", figures.total_seconds,
      fmt::format("{} of memory at the peak", format_bytes(static_cast<double>(report.peak_memory_bytes))));
  text += table.text() + "\n";
  for (const std::string& note : report.notes) text += paragraph("  Note: ", note);
  if (!report.notes.empty()) text += "\n";
  if (report.verify) text += "  " + verdict(*report.verify) + "\n";
  return text;
}

}  // namespace palmette::cli
