// The budget first, then the rate of the disk, then the plan.
#include "palmette/solver/file_panels.hpp"

#include <algorithm>

namespace palmette {
namespace {

/// Bytes that are read to find the rate of a disk.
constexpr std::uint64_t measured_bytes = std::uint64_t{128} << 20;

class ArchivePanels final : public PanelReader {
 public:
  explicit ArchivePanels(std::shared_ptr<const Archive> file) : file_(std::move(file)) {}
  std::int64_t read(std::uint64_t position, std::span<std::byte> to) override {
    return file_->read(position, to);
  }

 private:
  std::shared_ptr<const Archive> file_;
};

/// What lies in memory beside the panels: the caller's part, the factor's small arrays, the tasks, and the
/// vectors of a solve with one right-hand side and its verification (see predicted_peak_bytes).
template <class V>
offset_t other_bytes(const Factor<V>& factor, const PlanStructure& structure, const OutOfCore& wanted) {
  const PlanMemory plan = predicted_plan_bytes(structure, factor.kind, ScalarTraits<V>::type, 1);
  return wanted.other_bytes + factor.memory_bytes() + plan.structure_bytes + plan.workspace_bytes +
         12 * offset_t{factor.size()} * static_cast<offset_t>(sizeof(V));
}

std::string text_of(offset_t bytes) {
  return std::to_string(bytes) + " bytes";
}

}  // namespace

template <class V>
OutOfCorePlan<V> plan_out_of_core(const std::shared_ptr<const Archive>& file,
                                  std::shared_ptr<const Factor<V>> factor,
                                  std::shared_ptr<const PlanStructure> structure, PlanValues<V> known,
                                  const OutOfCore& wanted) {
  if (known.lower.panels.empty() && factor->size() > 0)
    throw MemoryBudgetError(
        file->path() +
        ": its panels have the layout of another processor or version; load it without a memory budget and "
        "save it again on this machine");
  PanelsInFile panels;
  panels.reader = std::make_shared<ArchivePanels>(file);
  const auto position_of = [&](std::span<const V> part) {
    return part.empty() ? 0 : file->position_of(part.data());
  };
  panels.lower = position_of(file->section<V>("panels.lower"));
  panels.upper = position_of(file->section<V>("panels.upper"));
  panels.plan_lower = position_of(known.lower.panels);
  panels.plan_upper = position_of(known.upper.panels);
  known.file = std::make_shared<const PanelsInFile>(panels);
  const offset_t others = other_bytes(*factor, *structure, wanted);
  const offset_t least = least_panel_memory(factor, structure, known);
  if (wanted.memory_budget < others + least)
    throw MemoryBudgetError("a memory budget of " + text_of(wanted.memory_budget) + " is too small for " +
                            file->path() + ": give at least " + text_of(others + least) + ", of which " +
                            text_of(others) + " hold matrix, structure and vectors");
  panels.memory_bytes = static_cast<std::uint64_t>(wanted.memory_budget - others);
  known.file = std::make_shared<const PanelsInFile>(panels);
  PanelFileReport facts;
  facts.memory_budget = wanted.memory_budget;
  facts.disk_gbs = wanted.disk_gbs;
  file->forget_pages();  // of the comparison of checksums; the page cache keeps what is mapped
  const std::uint64_t whole = file->bytes() - panels.plan_lower;  // panels are the last sections
  if (wanted.measure && facts.disk_gbs == 0)
    facts.disk_gbs = file->measured_gbs(panels.plan_lower, std::min(whole, measured_bytes));
  return {plan_solve<V>(std::move(factor), {}, std::move(structure), known), facts};
}

PanelFileReport panel_file_report(const PanelFileReport& facts, const PanelReads& reads) {
  PanelFileReport report = facts;
  report.bytes = reads.bytes;
  if (reads.known_bytes == reads.bytes) report.cached_bytes = reads.cached_bytes;
  report.read_seconds = reads.seconds;
  report.wait_seconds = reads.wait_seconds;
  if (reads.seconds > 0) report.read_gbs = reads.bytes / reads.seconds / 1e9;
  if (facts.disk_gbs > 0) report.disk_fraction = report.read_gbs / facts.disk_gbs;
  return report;
}

std::string note_on_cache(const PanelFileReport& report) {
  if (!report.cached_bytes || report.bytes == 0 || *report.cached_bytes < 0.05 * report.bytes) return {};
  return std::to_string(static_cast<int>(100 * *report.cached_bytes / report.bytes + 0.5)) +
         " % of the panels' bytes came from the system's page cache: the rate is not that of the disk";
}

#define PALMETTE_INSTANTIATE(V)                                                \
  template OutOfCorePlan<V> plan_out_of_core<V>(                               \
      const std::shared_ptr<const Archive>&, std::shared_ptr<const Factor<V>>, \
      std::shared_ptr<const PlanStructure>, PlanValues<V>, const OutOfCore&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
