// Options, traces and documents of the commands about transfers.
#include "cli/transfer_options.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "cli/machine_file.hpp"
#include "cli/names.hpp"

namespace palmette::cli {
namespace {

int small_number(std::string_view option, const std::string& text, int least, int most) {
  return static_cast<int>(parse_integer(option, text, least, most));
}

void add_queue_options(CLI::App& app, TransferOptions& options) {
  OptionGroup queues(app, "Method");
  queues.value({"--subheader", "H", "bytes of FinePack's sub-headers, 2 to 6 (default: 5)"},
               [&](const std::string& text) {
                 options.simulation.finepack.subheader_bytes = small_number("--subheader", text, 2, 6);
               });
  queues.value({"--queue", "N", "entries of the queues of FinePack and GPS (default: 64)"},
               [&](const std::string& text) {
                 const int entries = small_number("--queue", text, 2, 1 << 20);
                 options.simulation.finepack.entries = options.simulation.gps.queue_entries = entries;
               });
  queues.value({"--tlb", "N", "entries of the TLB of GPS, a multiple of 4 (default: 32)"},
               [&](const std::string& text) {
                 options.simulation.gps.tlb_entries = small_number("--tlb", text, 4, 1 << 20);
               });
  queues.value(
      {"--chunk", "KB", "PROACT sends chunks of this size (default: the best of 16 to 1024, or none)"},
      [&](const std::string& text) {
        options.simulation.proact.chunk_bytes =
            1024 * std::int64_t{small_number("--chunk", text, 1, 1 << 20)};
      });
}

std::shared_ptr<const transfer::Ratings> ratings_of(const std::string& path) {
  if (path.empty()) return nullptr;
  std::ifstream stream(path);
  if (!stream) throw IoError(path, 0, "these ratings cannot be read");
  return std::make_shared<const transfer::Ratings>(transfer::read_ratings(stream, path));
}

transfer::StoreTrace application_trace(transfer::Application application,
                                       transfer::ApplicationOptions options, const std::string& ratings) {
  if (application == transfer::Application::als) options.ratings = ratings_of(ratings);
  transfer::ApplicationRun run = run_application(application, options);
  if (!(run.error <= transfer::most_application_error))
    throw Error(fmt::format("{} differs from its serial answer by {:.1e}", name_of(application), run.error));
  return std::move(run.trace);
}

}  // namespace

void add_transfer_options(CLI::App& app, TransferOptions& options) {
  const std::string names = bars(names_of(transfer::applications));
  add_argument(
      app,
      {"PROGRAM", "APP|TRACE", fmt::format("{}, several with commas, all, or a file with a trace", names)},
      options.program);
  OptionGroup machine(app, "System");
  machine.text(
      {"--interconnect", "NAME|FILE.json", fmt::format("{} (default: pcie4)", joined(interconnect_names()))},
      options.interconnect);
  machine.text({"--machine", "NAME|FILE.json", "rate and latency of the links between its devices"},
               options.machine);
  machine.value({"--gpus", "N", "devices of an application, 1 to 16 (default: 4)"},
                [&](const std::string& text) {
                  options.application.devices = small_number("--gpus", text, 1, transfer::most_devices);
                });
  machine.value(
      {"--work-gbs", "R", "how fast kernels use local memory, in 10^9 bytes/s"},
      [&](const std::string& text) { options.simulation.device.work_gbs = parse_real("--work-gbs", text); });
  machine.value(
      {"--issue", "ORDER", bars(names_of(transfer::issue_orders)) + ": which warp is next (default: greedy)"},
      [&](const std::string& text) {
        options.simulation.order = choose_of("--issue", text, transfer::issue_orders);
      });
  OptionGroup program(app, "Problem");
  program.value({"--scale", "S", "size of an application (default: 1)"},
                [&](const std::string& text) { options.application.scale = parse_real("--scale", text); });
  program.value({"--iterations", "N", "of an application"}, [&](const std::string& text) {
    options.application.iterations = small_number("--iterations", text, 1, 1000);
  });
  program.text({"--ratings", "FILE", "for als: lines with user, item and rating, instead of generated ones"},
               options.ratings);
  add_queue_options(app, options);
}

std::vector<transfer::StoreTrace> traces_of(const TransferOptions& options, ProgressBar& progress) {
  std::vector<transfer::StoreTrace> traces;
  std::error_code ignored;
  const std::string listed = "," + options.program + ",";
  for (const transfer::Application application : transfer::applications)
    if (options.program == "all" ||
        listed.find(fmt::format(",{},", name_of(application))) != std::string::npos) {
      progress.begin(name_of(application));
      traces.push_back(application_trace(application, options.application, options.ratings));
    }
  progress.end();
  if (!options.ratings.empty() && listed.find(",als,") == std::string::npos && options.program != "all")
    throw UsageError("--ratings is for als, which is not among the programs");
  const auto commas = std::count(options.program.begin(), options.program.end(), ',');
  if (options.program != "all" && static_cast<std::ptrdiff_t>(traces.size()) != commas + 1) traces.clear();
  if (!traces.empty()) return traces;
  if (!std::filesystem::is_regular_file(options.program, ignored)) {
    std::vector<std::string> names = names_of(transfer::applications);
    names.emplace_back("all");
    throw UsageError(fmt::format("'{}' is neither a file nor an application{}; applications are {}",
                                 options.program, suggestion(options.program, names), joined(names)));
  }
  std::ifstream stream(options.program, std::ios::binary);
  if (!stream) throw IoError(options.program, 0, "this trace cannot be read");
  traces.push_back(transfer::read_trace(stream, options.program));
  return traces;
}

void write_store_trace(const std::string& path, const transfer::StoreTrace& trace) {
  write_or_rescue(path, [&](const std::string& to) {
    std::ofstream stream(to, std::ios::binary);
    if (path.size() > 4 && path.compare(path.size() - 4, 4, ".bin") == 0)
      transfer::write_binary(trace, stream);
    else
      transfer::write_text(trace, stream);
    if (!stream.flush()) throw IoError(to, 0, "this file cannot be written");
  });
}

InterconnectFile interconnect_of(const TransferOptions& options) {
  InterconnectFile file = known_interconnect("--interconnect", options.interconnect);
  if (options.machine.empty()) return file;
  const MachineFile machine = known_machine("--machine", options.machine);
  const Link& link = machine.cluster.links.front().link;
  file.fabric.gbs = file.fabric.root_gbs = link.bandwidth_gbs;
  file.fabric.latency_us = link.latency_us;
  file.sources["gbs"] = file.sources["latency_us"] = fmt::format("machine file {}", machine.cluster.name);
  return file;
}

nlohmann::ordered_json transfer_json(const transfer::TransferResult& result, double single_seconds) {
  nlohmann::ordered_json document{{"simulated", true}, {"paradigm", name_of(result.paradigm)}};
  for_each_figure(result, [&](const char* name, auto value) { document[name] = value; });
  for (const transfer::FlushCause cause : transfer::flush_causes)
    document["flushes"][name_of(cause)] = result.flushes[static_cast<std::size_t>(cause)];
  document["pages_by_subscribers"] = result.pages_by_subscribers;
  document["stores_by_size"] = result.stores_by_size;
  if (single_seconds > 0) document["speedup"] = single_seconds / result.seconds;
  return document;
}

}  // namespace palmette::cli
