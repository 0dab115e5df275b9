// palmette simulate-transfers: replays what a program stores on several devices under each paradigm.
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/progress_bar.hpp"
#include "cli/text.hpp"
#include "cli/transfer_options.hpp"

namespace palmette::cli {
namespace {

using transfer::Paradigm;
using transfer::TransferResult;

struct SimulateTransfersCommand {
  TransferOptions transfers;
  std::vector<Paradigm> chosen{std::begin(transfer::paradigms), std::end(transfer::paradigms)};
  bool has_chunk = false;
  double calibrate = 0;  ///< 0: no calibration
  std::string write_trace, csv, timeline;
  OutputOptions output;
};

struct ReplayedProgram {
  const transfer::StoreTrace* trace;
  double single_seconds = 0;
  std::vector<TransferResult> results;
  double speedup(const TransferResult& one) const { return single_seconds / one.seconds; }
};

TransferResult replayed(const transfer::StoreTrace& trace, const transfer::Fabric& fabric,
                        const SimulateTransfersCommand& command, Paradigm paradigm) {
  transfer::ReplayOptions options = command.transfers.simulation;
  options.paradigm = paradigm;
  if (paradigm == Paradigm::proact && !command.has_chunk)
    return profile_proact(trace, fabric, options, transfer::usual_chunks());
  return simulate_transfers(trace, fabric, options);
}

std::string program_table(const ReplayedProgram& program) {
  TextTable table(
      {"paradigm", "time", "speed-up", "on the wire", "useful", "wasted", "overhead", "packets", "images"});
  for (const TransferResult& one : program.results) {
    const double wire = std::max<double>(1, static_cast<double>(one.wire_bytes));
    const auto share = [&](std::int64_t bytes) {
      return one.wire_bytes > 0 ? format_percent(static_cast<double>(bytes) / wire) : std::string("-");
    };
    table.add({name_of(one.paradigm), format_seconds(one.seconds),
               fmt::format("{:.2f}", program.speedup(one)), format_bytes(static_cast<double>(one.wire_bytes)),
               share(one.useful_bytes), share(one.wasted_bytes), share(one.overhead_bytes),
               format_count(one.packets),
               one.compared_bytes == 0    ? "-"
               : one.different_bytes == 0 ? "equal"
                                          : "DIFFER"});
  }
  return fmt::format("  {} on {}, {} accesses in {} phases (times are simulated)\n", program.trace->name,
                     plural(program.trace->devices, "device"), format_count(program.trace->num_accesses()),
                     program.trace->phases.size()) +
         table.text({0}) + "\n";
}

std::string mean_table(const std::vector<ReplayedProgram>& programs) {
  TextTable table({"geometric mean of", "speed-up"});
  for (std::size_t k = 0; k < programs.front().results.size(); ++k) {
    double sum = 0;
    for (const ReplayedProgram& one : programs) sum += std::log(one.speedup(one.results[k]));
    table.add({name_of(programs.front().results[k].paradigm),
               fmt::format("{:.2f}", std::exp(sum / static_cast<double>(programs.size())))});
  }
  return table.text({0});
}

void write_csv(const std::string& path, const std::vector<ReplayedProgram>& programs) {
  write_or_rescue(path, [&](const std::string& to) {
    std::ofstream stream(to);
    stream << "program,devices,paradigm,simulated_seconds,speedup,wire_bytes,useful_bytes,wasted_bytes,"
              "overhead_bytes,packets\n";
    for (const ReplayedProgram& program : programs)
      for (const TransferResult& one : program.results)
        stream << fmt::format("{},{},{},{},{},{},{},{},{},{}\n", program.trace->name, program.trace->devices,
                              name_of(one.paradigm), one.seconds, program.speedup(one), one.wire_bytes,
                              one.useful_bytes, one.wasted_bytes, one.overhead_bytes, one.packets);
    if (!stream.flush()) throw IoError(to, 0, "this file cannot be written");
  });
}

Json program_json(const ReplayedProgram& program) {
  Json document{{"program", program.trace->name},
                {"devices", program.trace->devices},
                {"accesses", program.trace->num_accesses()},
                {"phases", program.trace->phases.size()},
                {"single_seconds", program.single_seconds},
                {"results", Json::array()}};
  for (const TransferResult& one : program.results)
    document["results"].push_back(transfer_json(one, program.single_seconds));
  return document;
}

/// One process of the trace for each program and paradigm.
void write_timeline(const std::string& path, std::vector<ReplayedProgram>& programs) {
  std::vector<transfer::TransferTimeline> timelines;
  for (ReplayedProgram& program : programs)
    for (TransferResult& one : program.results)
      timelines.push_back(
          {fmt::format("{}, {}", program.trace->name, name_of(one.paradigm)), std::move(one.timeline)});
  write_or_rescue(path, [&](const std::string& to) {
    std::ofstream stream(to);
    stream << transfer::chrome_trace(timelines);
    if (!stream.flush()) throw IoError(to, 0, "this file cannot be written");
  });
}

/// Each program on one device, and under each chosen paradigm.
std::vector<ReplayedProgram> replay_all(const std::vector<transfer::StoreTrace>& traces,
                                        const transfer::Fabric& fabric,
                                        const SimulateTransfersCommand& command,
                                        const ProgressCallback& progress) {
  std::vector<ReplayedProgram> programs;
  const auto all = static_cast<double>(traces.size() * command.chosen.size());
  double done = 0;
  for (const transfer::StoreTrace& trace : traces) {
    programs.push_back({&trace, replayed(trace, fabric, command, Paradigm::single).seconds, {}});
    for (const Paradigm paradigm : command.chosen) {
      programs.back().results.push_back(replayed(trace, fabric, command, paradigm));
      if (progress) progress("simulate", ++done / all);
    }
  }
  return programs;
}

void check_files(const SimulateTransfersCommand& command) {
  check_writable("--json", command.output.json);
  check_writable("--csv", command.csv);
  check_writable("--write-trace", command.write_trace);
  check_apart("--csv", command.csv, "--json", command.output.json);
  check_writable("--trace", command.timeline);
  check_apart("--write-trace", command.write_trace, "--csv", command.csv);
  check_apart("--trace", command.timeline, "--json", command.output.json);
  check_apart("--trace", command.timeline, "--csv", command.csv);
  check_apart("--trace", command.timeline, "--write-trace", command.write_trace);
}

int run_simulate_transfers(SimulateTransfersCommand& command) {
  check_files(command);
  ProgressBar progress(!command.output.quiet);
  const InterconnectFile interconnect = interconnect_of(command.transfers);
  const transfer::Fabric& fabric = interconnect.fabric;
  const std::vector<transfer::StoreTrace> traces = traces_of(command.transfers, progress);
  if (!command.write_trace.empty()) {
    if (traces.size() != 1) throw UsageError("--write-trace needs one program, not all");
    write_store_trace(command.write_trace, traces.front());
  }
  Json document{{"interconnect", fabric.name},
                {"simulated", true},
                {"issue", name_of(command.transfers.simulation.order)}};
  if (command.calibrate > 0) {
    command.transfers.simulation.device.work_gbs =
        calibrate_work_gbs(traces, fabric, command.transfers.simulation, command.calibrate);
    document["calibrated_to"] = command.calibrate;
  }
  document["work_gbs"] = command.transfers.simulation.device.work_gbs;
  document["programs"] = Json::array();
  command.transfers.simulation.keeps_timeline = !command.timeline.empty();
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t processor_begin = std::clock();
  std::vector<ReplayedProgram> programs = replay_all(traces, fabric, command, progress.callback());
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double processor =
      static_cast<double>(std::clock() - processor_begin) / static_cast<double>(CLOCKS_PER_SEC);
  progress.end();
  std::int64_t events = 0;
  for (const ReplayedProgram& program : programs) {
    for (const TransferResult& one : program.results) events += one.events;
    document["programs"].push_back(program_json(program));
  }
  document["events"] = events;
  document["wall_seconds"] = wall;
  document["processor_seconds"] = processor;
  if (command.output.shows_table()) {
    FactList facts(16);
    facts.add("interconnect", fmt::format("{}: {}", fabric.name, fabric.description));
    facts.add("devices", fmt::format("kernels use {:.3g} GB/s of local memory{}; warps issue {}",
                                     command.transfers.simulation.device.work_gbs,
                                     command.calibrate > 0 ? " (calibrated on copies)" : "",
                                     name_of(command.transfers.simulation.order)));
    facts.add("speed", fmt::format("{} events in {}", format_count(events), format_seconds(wall)));
    std::string text = facts.text() + "\n";
    for (const ReplayedProgram& one : programs) text += program_table(one);
    if (programs.size() > 1) text += mean_table(programs);
    print(text);
  }
  if (!command.csv.empty()) write_csv(command.csv, programs);
  if (!command.timeline.empty()) write_timeline(command.timeline, programs);
  return finish(command.output, document);
}

}  // namespace

Command add_simulate_transfers(CLI::App& root) {
  CLI::App& app = new_subcommand(
      root, "simulate-transfers",
      "Simulate how devices pass on what they compute: copies, peer loads and stores, and more.\n"
      "An application runs on threads as devices, or a trace of your program is read; its\n"
      "stores are replayed packet by packet. All times are simulated.",
      "  palmette simulate-transfers jacobi --interconnect pcie4 --gpus 4\n"
      "  palmette simulate-transfers all --paradigm copies,finepack,infinite --csv table.csv\n"
      "  palmette simulate-transfers my_trace.txt --interconnect nvlink3 --json -\n");
  const auto command = std::make_shared<SimulateTransfersCommand>();
  add_transfer_options(app, command->transfers);
  OptionGroup simulation(app, "Method");
  simulation.value({"--paradigm", "LIST", bars(names_of(transfer::paradigms)) + ", or all (default)"},
                   [command](const std::string& text) {
                     if (text == "all") return;
                     command->chosen.clear();
                     std::size_t begin = 0;
                     while (begin <= text.size()) {
                       const std::size_t end = std::min(text.find(',', begin), text.size());
                       command->chosen.push_back(
                           choose_of("--paradigm", text.substr(begin, end - begin), transfer::paradigms));
                       begin = end + 1;
                     }
                   });
  simulation.value(
      {"--calibrate", "S", "choose --work-gbs so that copies are S times as fast as one device"},
      [command](const std::string& text) { command->calibrate = parse_real("--calibrate", text); });
  OptionGroup report(app, "Report");
  report.text({"--csv", "FILE.csv", "one line for each program and paradigm"}, command->csv);
  report.text({"--write-trace", "FILE", "the trace, as text, or as bytes if the name ends in .bin"},
              command->write_trace);
  report.text({"--trace", "FILE.json",
               "when devices compute and links are busy, for ui.perfetto.dev or chrome://tracing"},
              command->timeline);
  add_output_options(app, command->output);
  return {&app, [command, &app] {
            command->has_chunk = app.count("--chunk") > 0;
            return run_simulate_transfers(*command);
          }};
}

}  // namespace palmette::cli
