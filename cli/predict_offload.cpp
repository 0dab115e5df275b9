// Calls by operation and place, as the cost model decides.
#include "cli/predict_offload.hpp"

#include <fmt/format.h>

#include "cli/text.hpp"

namespace palmette::cli {
namespace {

PlannedOffload planned_on(const MachineFile& device, const OffloadCase& given) {
  const OffloadModel model = offload_model(given.host.cluster, device.cluster);
  const OffloadPlan plan = plan_offload(given.symbolic, given.kind, given.scalar, model);
  return planned_offload(given.symbolic, given.kind, given.scalar, model, plan);
}

nlohmann::ordered_json calls_json(const PlannedOffload& planned) {
  auto rows = nlohmann::ordered_json::array();
  for (const DenseOperation operation : dense_operations) {
    const CallCounts &host = planned.counts.host[operation], &device = planned.counts.device[operation];
    rows.push_back({{"operation", name_of(operation)},
                    {"host_calls", host.calls},
                    {"device_calls", device.calls},
                    {"host_flops", host.flops},
                    {"device_flops", device.flops}});
  }
  return rows;
}

}  // namespace

std::string offload_table(const std::vector<MachineFile>& devices, const OffloadCase& given) {
  std::string text;
  for (const MachineFile& device : devices) {
    const PlannedOffload planned = planned_on(device, given);
    TextTable table({"operation", "calls on host", "on " + device.cluster.name, "of the flops there"});
    for (const DenseOperation operation : dense_operations) {
      const CallCounts &host = planned.counts.host[operation], &there = planned.counts.device[operation];
      const double all = host.flops + there.flops;
      table.add({std::string(name_of(operation)), format_count(host.calls), format_count(there.calls),
                 format_percent(all > 0 ? there.flops / all : 0)});
    }
    text += table.text({0}) +
            fmt::format("\n  {} to the device, {} back; {} kept there, {}.\n", 
                        format_bytes(planned.counts.bytes_in), format_bytes(planned.counts.bytes_out),
                        plural(planned.counts.panels_kept, "panel"), format_bytes(planned.kept_bytes));
  }
  return text + "\n  Decided by the model; no GPU ran.\n";
}

nlohmann::ordered_json offload_json(const std::vector<MachineFile>& devices, const OffloadCase& given) {
  auto rows = nlohmann::ordered_json::array();
  for (const MachineFile& device : devices) {
    const PlannedOffload planned = planned_on(device, given);
    rows.push_back({{"device", device.cluster.name},
                    {"host", given.host.cluster.name},
                    {"measured", false},
                    {"operations", calls_json(planned)},
                    {"copies_in", planned.counts.copies_in},
                    {"copies_out", planned.counts.copies_out},
                    {"bytes_in", planned.counts.bytes_in},
                    {"bytes_out", planned.counts.bytes_out},
                    {"panels_kept", planned.counts.panels_kept},
                    {"kept_bytes", planned.kept_bytes},
                    {"host_seconds", planned.seconds.host},
                    {"device_seconds", planned.seconds.device},
                    {"bus_seconds", planned.seconds.bus},
                    {"host_alone_seconds", planned.seconds.host_alone}});
  }
  return rows;
}

}  // namespace palmette::cli
