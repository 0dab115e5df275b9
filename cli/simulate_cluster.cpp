// palmette simulate-cluster: runs the real rank programs of a solve on a cluster in virtual time.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/device_layouts.hpp"
#include "cli/names.hpp"
#include "cli/prediction_options.hpp"
#include "cli/report_table.hpp"
#include "cli/structure.hpp"
#include "cli/text.hpp"
#include "cli/this_machine.hpp"
#include "cli/times_report.hpp"
#include "cli/transfer_options.hpp"
#include "palmette/factorize/factorize.hpp"

namespace palmette::cli {
namespace {

struct SimulateCommand {
  MatrixOptions matrix;
  StructureOptions structure;
  PlacementOptions placement;
  std::string device;  ///< ranks are devices
  std::string trace, stores;
  OutputOptions output;
};

struct SimulatedRow {
  SimulatedCase what;
  SimulatedSolve found;
};

Json to_json(const SimulatedRow& row) {
  const SimulationResult& run = row.found.run;
  const ProcessGrid& grid = row.what.ranks.grid;
  const LayerFacts& layers = row.found.layers;
  return {{"simulated", true},
          {"method", name_of(row.what.method)},
          {"ranks", row.what.ranks.num_ranks()},
          {"layers", row.what.ranks.layers},
          {"grid_rows", grid.rows},
          {"grid_cols", grid.cols},
          {"map", name_of(row.what.map)},
          {"packing_max_age_tasks", row.what.packing ? Json(row.what.packing->max_age_tasks) : Json(nullptr)},
          {"rhs_groups", row.what.rhs_groups},
          {"seconds", run.seconds},
          {"times", times_json(run.times)},
          {"messages", run.traffic.messages()},
          {"message_bytes", run.traffic.bytes()},
          {"between_layers",
           {{"messages", layers.messages},
            {"message_bytes", layers.bytes},
            {"most_messages_of_a_rank", layers.most_messages},
            {"unpacked_messages", layers.unpacked_messages},
            {"synchronizations", layers.synchronizations},
            {"replicated_share", layers.replicated_share}}},
          {"backward_error", row.found.backward_error},
          {"rank_bytes",
           {{"least", row.found.rank_bytes_least},
            {"mean", row.found.rank_bytes_mean},
            {"most", row.found.rank_bytes_most}}},
          {"events", run.events},
          {"wall_seconds", row.found.wall_seconds},
          {"setup_seconds", row.found.setup_seconds}};
}

std::string table_of(const std::vector<SimulatedRow>& rows) {
  TextTable table(
      {"ranks", "grid", "method", "solve", "work", "messages", "waiting", "sent", "backward error"});
  for (const SimulatedRow& row : rows) {
    const SimulationResult& run = row.found.run;
    const PhaseTimes mean = mean_times(run.times);
    const ProcessGrid& grid = row.what.ranks.grid;
    const double all = std::max(mean.total(), 1e-300);
    table.add({format_count(row.what.ranks.num_ranks()),
               fmt::format("{}x{}x{}", grid.rows, grid.cols, row.what.ranks.layers),
               std::string(name_of(row.what.method)), format_seconds(run.seconds),
               format_percent(mean.work / all), format_percent(mean.messages / all),
               format_percent(mean.waiting / all), format_count(run.traffic.messages()),
               fmt::format("{:.0e}", row.found.backward_error)});
  }
  return table.text({2});
}

SimulatedCase case_of(const PlacementOptions& options, const Layout& layout) {
  SimulatedCase one;
  one.method = layout.method;
  one.whole = layout.whole;
  one.ranks = layout.ranks;
  one.map = layout.map;
  one.trees = options.trees;
  one.num_rhs = options.num_rhs;
  one.packing = layout.packing;
  one.rhs_groups = layout.rhs_groups;
  return one;
}

template <class T>
int simulate_matrix(const SimulateCommand& command, const SparseMatrix<T>& matrix, const MachineFile& machine,
                    ProgressBar& progress) {
  const Structure structure = find_structure(matrix, command.structure, progress);
  progress.begin("factorize");
  ThreadTeam team(number_of_threads(command.structure.threads));
  FactorizeOptions how;
  how.kind = structure.kind;
  how.team = &team;
  const auto symbolic = std::make_shared<const SymbolicFactor>(structure.symbolic);
  const Outcome<Factor<T>> factor = factorize(matrix, symbolic, structure.ordering, how);
  if (!factor) return finish(command.output, structure_json(structure.report), describe(factor.failure()));
  const auto cluster = std::make_shared<const Cluster>(machine.cluster);
  Json document = structure_json(structure.report);
  document["machine"] = machine.cluster.name;
  document["num_rhs"] = command.placement.num_rhs;
  document["simulations"] = Json::array();
  std::vector<SimulatedRow> rows;
  progress.begin("simulate");
  std::vector<SimulatedCase> cases;
  for (const Layout& layout :
       layouts_of(command.placement, *symbolic, structure.kind, sizeof(T), machine.cluster))
    cases.push_back(case_of(command.placement, layout));
  cases.back().keeps_timeline = !command.trace.empty() || !command.stores.empty();
  for (const SimulatedCase& one : cases) {
    rows.push_back({one, simulate_solve(matrix, factor.value(), one, cluster)});
    document["simulations"].push_back(to_json(rows.back()));
  }
  progress.end();
  const SimulatedRow& last = rows.back();
  if (command.output.shows_table()) {
    FactList facts(16);
    facts.add("matrix", matrix_sentence(structure.report.matrix));
    facts.add("machine", fmt::format("{}: {}", machine.cluster.name, machine.cluster.description));
    facts.add("simulated", fmt::format("one solve, both sweeps, {}; real arithmetic, virtual time",
                                       plural(command.placement.num_rhs, "right-hand side")));
    std::int64_t events = 0;
    double wall = 0;
    for (const SimulatedRow& row : rows) events += row.found.run.events, wall += row.found.wall_seconds;
    facts.add("speed", fmt::format("{} events in {}; a rank holds at most {}", format_count(events),
                                   format_seconds(wall),
                                   format_bytes(static_cast<double>(last.found.rank_bytes_most))));
    print(facts.text() + "\n" + table_of(rows) +
          fmt::format("\n  With {}:\n", plural(last.what.ranks.num_ranks(), "rank")) +
          times_table(last.found.run.times));
  }
  if (!command.trace.empty()) write_trace(command.trace, last.found.run.timelines);
  if (!command.stores.empty())
    write_store_trace(command.stores, transfer::message_trace(std::string(name_of(last.what.method)),
                                                              last.found.run.timelines));
  return finish(command.output, document);
}

int run_simulate(const SimulateCommand& command) {
  check_writable("--json", command.output.json);
  check_writable("--trace", command.trace);
  check_apart("--trace", command.trace, "--json", command.output.json);
  check_writable("--write-stores", command.stores);
  check_apart("--write-stores", command.stores, "--json", command.output.json);
  check_apart("--write-stores", command.stores, "--trace", command.trace);
  if (goes_by_kernels(command.placement)) {
    if (!command.trace.empty() || !command.stores.empty())
      throw UsageError(
          "--trace and --write-stores show the programs of ranks: with --gpus add --method message_driven");
    return run_device_layouts({"simulate-cluster", "simulations", command.matrix, command.structure,
                               command.placement, command.output});
  }
  check_method(command.placement);
  const MachineFile machine = machine_by_name(command.placement.machine);
  ProgressBar progress(!command.output.quiet);
  const ReadResult input = read_input(command.matrix, command.structure.threads, progress);
  check_square(input, command.matrix.path, "simulate-cluster");
  return std::visit([&](const auto& matrix) { return simulate_matrix(command, matrix, machine, progress); },
                    input.matrix);
}

}  // namespace

Command add_simulate_cluster(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "simulate-cluster",
                     "Solve on a cluster in virtual time.\n"
                     "Runs the programs that ranks run over MPI, with real arithmetic. A task takes the\n"
                     "time that the machine's rates give, a message that of its links and interfaces.\n"
                     "With --gpus, the programs of the kernels of several devices, without arithmetic.",
                     "  palmette simulate-cluster A.mtx --machine cori-haswell --ranks 64:1024\n"
                     "  palmette simulate-cluster A.mtx --machine cori-haswell --ranks 256 --layers 1:16\n"
                     "  palmette simulate-cluster A.mtx --device a100 --gpus 1:64 --grid auto\n"
                     "  palmette simulate-cluster A.mtx --machine mine.json --ranks 16 --trace t.json\n");
  const auto command = std::make_shared<SimulateCommand>();
  add_matrix_options(app, command->matrix);
  add_kind_and_order(app, command->structure.kind_and_order);
  add_threads(app, "Method", command->structure.threads);
  add_placement_options(app, command->placement);
  add_packing_option(app, command->placement);
  add_groups_option(app, command->placement);
  OptionGroup(app, "Ranks")
      .text({"--device", "NAME|FILE",
             "ranks are devices, --gpus of them, by the machine file of one: a100, "
             "h100, h200, mi250x"},
            command->device);
  OptionGroup report(app, "Report");
  report.text({"--trace", "FILE.json",
               "tasks and messages (of the last run) for chrome://tracing or ui.perfetto.dev"},
              command->trace);
  report.text({"--write-stores", "FILE",
               "messages (of the last run, at most 16 ranks) as stores, for simulate-transfers; as bytes if "
               "the name ends in .bin"},
              command->stores);
  add_output_options(app, command->output);
  return {&app, [command] {
            use_device(command->placement, command->device);
            return run_simulate(*command);
          }};
}

}  // namespace palmette::cli
