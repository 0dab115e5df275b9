// The tables of palmette bench --device; what stands in them is computed by bench/device.
#include "cli/bench_device.hpp"

#include <fmt/format.h>

#include "cli/report_json.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

const char* const why_no_times =
    "the emulated device is not timed: it runs kernels on this CPU, thread after thread, which says nothing "
    "about a GPU";

std::string seconds_cell(const std::optional<double>& seconds) {
  return seconds ? format_seconds(*seconds) : "";
}

Json seconds_json(const std::optional<double>& seconds) { return seconds ? Json(*seconds) : Json(nullptr); }

}  // namespace

std::string device_bench_text(const DeviceBench& bench) {
  TextTable table({"solver", "rhs", "time", "on device", "to it", "from it", "kernels", "error"});
  std::string reasons;
  for (const benchmarks::DeviceBenchRow& row : bench.rows) {
    if (!row.unavailable.empty()) {
      reasons += paragraph("  ", fmt::format("{}, {}: {}", row.solver, row.num_rhs, row.unavailable));
      continue;
    }
    table.add({row.solver, std::to_string(row.num_rhs), seconds_cell(row.seconds),
               seconds_cell(row.device_seconds), format_bytes(static_cast<double>(row.counts.bytes_in)),
               format_bytes(static_cast<double>(row.counts.bytes_out)), std::to_string(row.counts.launches),
               fmt::format("{:.1e}", row.backward_error)});
  }
  const std::string head =
      fmt::format("device {} ({}){}", bench.device.address(), bench.device.name,
                  bench.is_emulated() ? fmt::format("; {}", why_no_times) : std::string());
  return paragraph("  ", head) + "\n" + table.text({0}) + reasons;
}

Json device_bench_json(const DeviceBench& bench) {
  Json rows = Json::array();
  for (const benchmarks::DeviceBenchRow& row : bench.rows)
    rows.push_back({{"solver", row.solver},
                    {"num_rhs", row.num_rhs},
                    {"unavailable", row.unavailable.empty() ? Json(nullptr) : Json(row.unavailable)},
                    {"seconds", seconds_json(row.seconds)},
                    {"device_seconds", seconds_json(row.device_seconds)},
                    {"bytes_in", row.counts.bytes_in},
                    {"bytes_out", row.counts.bytes_out},
                    {"launches", row.counts.launches},
                    {"backward_error", number_or_null(row.backward_error)}});
  return {{"device",
           {{"address", bench.device.address()},
            {"name", bench.device.name},
            {"emulated", bench.is_emulated()},
            {"memory_bytes", bench.device.memory_bytes},
            {"multiprocessors", bench.device.multiprocessors}}},
          {"note", bench.is_emulated() ? Json(why_no_times) : Json(nullptr)},
          {"rows", std::move(rows)}};
}

}  // namespace palmette::cli
