// Measures, and shows what a product must be worth to go there.
#include "cli/measure_device.hpp"

#include <fmt/format.h>

#include "cli/offload_model_file.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

std::string relative_text(const RelativeRates& rates) {
  std::string text;
  for (const DenseOperation operation : dense_operations)
    text += fmt::format("{}{} {:.2f}", text.empty() ? "" : ", ", name_of(operation),
                        rates[static_cast<std::size_t>(operation)]);
  return text;
}

std::string model_table(const OffloadModel& model) {
  FactList facts(16);
  facts.add("figures", model.source);
  facts.add("bus", fmt::format("{:.1f} GB/s, a copy {:.1f} us", model.bus_gbs, model.bus_latency_us));
  facts.add("launch", fmt::format("{:.1f} us", model.launch_us));
  facts.add("on the host", relative_text(model.host_relative) + " of a product's rate");
  facts.add("on the device", relative_text(model.device_relative) + " of a product's rate");
  TextTable table({"side of a product", "one core", "device"});
  for (std::size_t k = 0; k < model.host_gflops.size(); ++k)
    table.add({fmt::format("{:.0f}", model.host_gflops[k].at),
               fmt::format("{:.1f} Gflop/s", model.host_gflops[k].rate),
               fmt::format("{:.1f} Gflop/s", model.device_gflops[k].rate)});
  return facts.text() + "\n" + table.text({0});
}

}  // namespace

int measure_device(const std::string& address, const OutputOptions& output) {
  const std::shared_ptr<Device> device = open_device(address);
  if (!device) throw UsageError("--device none: there is nothing to measure");
  const OffloadModel model = measure_offload(device);
  keep_offload_model(model, device->info());
  if (output.shows_table()) print(model_table(model));
  return finish(output, offload_model_json(model, device->info()));
}

}  // namespace palmette::cli
