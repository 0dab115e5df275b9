// palmette measure: a machine file for this computer; under mpiexec -n 2, with the link that MPI provides.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/measure_device.hpp"
#include "cli/measure_machine.hpp"
#include "cli/names.hpp"
#include "cli/rank_options.hpp"
#include "cli/text.hpp"
#include "cli/this_machine.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette::cli {
namespace {

struct MeasureCommand {
  MeasureRequest request;
  std::string device;  ///< empty: this machine
  OutputOptions output;
};

const char* const measured = "measured by palmette measure";

MachineFile as_file(const MeasuredCluster& found) {
  MachineFile file;
  file.cluster = found.cluster;
  file.sources["ranks_per_memory"] = "processors of this computer";
  const std::string fitted =
      fmt::format("{}: fitted to {} solves of model problems", measured, found.solves.size());
  file.sources["cache_bytes"] = file.sources["lone_cache_bytes"] = fitted;
  file.sources["cache_gbs"] = fmt::format("{}: one thread reads a quarter of it repeatedly", measured);
  file.sources["memory_gbs"] = fmt::format("{}: threads read arrays larger than the cache", measured);
  file.sources["kernel_gflops"] = fmt::format("{}: a panel of 256 x 128 times n columns", measured);
  for (const char* const group : {"overheads", "rank_overheads"})
    for (const char* const field :
         {"task_us", "panel_us", "row_ns", "byte_ns", "memory_byte_ns", "column_ns", "handoff_us"})
      file.sources[fmt::format("{}.{}", group, field)] = fitted;
  return file;
}

void note_link(MachineFile& file, const std::string& how) {
  for (const char* const field : {"latency_us", "bandwidth_gbs", "send_overhead_us", "receive_overhead_us"})
    file.sources[fmt::format("links[0].{}", field)] = fmt::format("{}: ping-pong between {}", measured, how);
}

#ifdef PALMETTE_COMMAND_HAS_MPI
/// Both processes call it; only rank 0 gets figures.
std::vector<PingPong> mpi_ping_pong() {
  const MpiSession session;
  const std::unique_ptr<Transport> transport = make_mpi_two_sided(session.world());
  return ping_pong(*transport);
}
#endif

std::string text_of(const TaskOverheads& one) {
  return fmt::format(
      "task {:.2f} us, panel {:.3f} us, column {:.1f} ns, row {:.2f} ns, a kB {:.1f} ns, from memory {:.1f} "
      "ns more",
      one.task_us, one.panel_us, one.column_ns, one.row_ns, 1e3 * one.byte_ns, 1e3 * one.memory_byte_ns);
}

std::string table_of(const MachineFile& file, const MeasuredCluster& found,
                     const std::vector<PingPong>& over_mpi) {
  const Cluster& cluster = file.cluster;
  FactList facts(16);
  facts.add("machine", cluster.description);
  std::string memory, products;
  for (const RatePoint& point : cluster.memory_gbs)
    memory += fmt::format("{}{:.1f} GB/s with {}", memory.empty() ? "" : ", ", point.rate,
                          plural(static_cast<std::int64_t>(point.at), "thread"));
  for (const RatePoint& point : cluster.kernel_gflops)
    products += fmt::format("{}{:.1f} with {}", products.empty() ? "" : ", ", point.rate,
                            plural(static_cast<std::int64_t>(point.at), "column"));
  facts.add("memory",
            fmt::format(
                "{}; {:.1f} from the cache, of which one solve can use {}, solves on all processors {} each",
                memory, cluster.cache_gbs, format_bytes(cluster.lone_cache_bytes),
                format_bytes(cluster.cache_bytes)));
  facts.add("products", products + " (Gflop/s)");
  facts.add("overheads", text_of(cluster.overheads) + fmt::format(", handing to another thread {:.1f} us",
                                                                  cluster.overheads.handoff_us));
  facts.add("of ranks", text_of(cluster.overheads_of_ranks()));
  const auto link = [&](const char* name, const std::vector<PingPong>& figures) {
    if (figures.empty()) return;
    std::string text;
    for (const PingPong& one : figures)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", format_bytes(static_cast<double>(one.bytes)),
                          format_seconds(one.seconds));
    facts.add(name, text);
  };
  link("ping-pong", found.ping_pong);
  link("over MPI", over_mpi);
  std::string text = facts.text() + "\n";
  TextTable table({"fitted to", "measured", "fit", "fit/measured"});
  for (const FittedSolve& one : found.solves)
    table.add({one.problem, format_seconds(one.measured_seconds), format_seconds(one.fitted_seconds),
               fmt::format("{:.2f}", one.fitted_seconds / one.measured_seconds)});
  return text + table.text({0});
}

MeasuredCluster measure(const MeasureRequest& request) {
  ClusterMeasurement options;
  options.threads = number_of_threads(request.threads);
  return measure_cluster(options);
}

int run_measure(const MeasureCommand& command) {
  check_writable("--json", command.output.json);
  if (!command.device.empty()) return measure_device(command.device, command.output);
  std::vector<PingPong> over_mpi;
  if (launched_ranks() > 1) {
    if (launched_ranks() != 2)
      throw UsageError(fmt::format(
          "measure needs two processes for ping-pong, but the launcher started {}: use mpiexec -n 2",
          launched_ranks()));
#ifdef PALMETTE_COMMAND_HAS_MPI
    over_mpi = mpi_ping_pong();
    if (over_mpi.empty()) return exit_success;
#else
    throw UsageError("this palmette was built without MPI: run 'palmette measure' without a launcher");
#endif
  }
  const MeasuredCluster found = measure(command.request);
  MachineFile file = as_file(found);
  note_link(file, "two ranks that are threads");
  if (!over_mpi.empty()) {
    Link& link = file.cluster.links.front().link;
    link = fitted_link(over_mpi, link.send_overhead_us);
    note_link(file, "two processes by MPI messages");
  }
  keep_this_machine(file);
  if (command.output.shows_table()) print(table_of(file, found, over_mpi));
  Json document = machine_json(file);
  return finish(command.output, document);
}

}  // namespace

MachineFile measured_machine(const MeasureRequest& request) {
  const MeasuredCluster found = measure(request);
  MachineFile file = as_file(found);
  note_link(file, "two ranks that are threads");
  return file;
}

Command add_measure(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "measure",
                     "Fit a description of this machine for predictions.\n"
                     "Memory bandwidth by threads, dense products, costs of the tasks of solves,\n"
                     "and ping-pong between ranks; stored for 'palmette predict --machine this'.",
                     "  palmette measure\n"
                     "  palmette measure --json mine.json\n"
                     "  palmette measure --device cuda\n"
                     "  mpiexec -n 2 palmette measure --json mine.json\n");
  const auto command = std::make_shared<MeasureCommand>();
  add_threads(app, "Method", command->request.threads);
  OptionGroup group(app, "Method");
  group.text({"--device", "KIND[:INDEX]",
              "instead, the bus and the dense operations of this device, kept for 'palmette solve --device'; "
              "on the emulated device they are the emulator's"},
             command->device);
  add_output_options(app, command->output);
  return {&app, [command] { return run_measure(*command); }};
}

}  // namespace palmette::cli
