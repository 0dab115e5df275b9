// palmette predict: the cost of a solve on any described machine, before anything is factored.
#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/device_layouts.hpp"
#include "cli/names.hpp"
#include "cli/path_plot.hpp"
#include "cli/prediction_options.hpp"
#include "cli/report_table.hpp"
#include "cli/structure.hpp"
#include "cli/text.hpp"
#include "cli/predict_devices.hpp"
#include "cli/predict_offload.hpp"
#include "cli/this_machine.hpp"
#include "palmette/predict/predict.hpp"

namespace palmette::cli {
namespace {

struct PredictCommand {
  MatrixOptions matrix;
  StructureOptions structure;
  PlacementOptions placement;
  std::vector<std::int64_t> threads;
  std::string devices;  ///< empty: ranks and threads are predicted
  std::string offload;  ///< devices for a factorization's share; empty: solves are predicted
  std::string plot;
  OutputOptions output;
};

/// Seconds of the schedule's path, by cause.
struct PathParts {
  double subtrees = 0, diagonals = 0, blocks = 0, layers = 0, messages = 0, waiting = 0;
  index_t steps = 0, hops = 0;
};

PathParts path_parts(const Schedule& schedule, const SolveGraph& tasks) {
  PathParts parts;
  for (const PathStep& step : schedule.path) {
    const SolvePart part = tasks.tasks[step.task].part;
    const double seconds = step.end - step.begin;
    ++parts.steps;
    if (step.cause == StepCause::message) ++parts.hops, parts.messages += step.message_seconds;
    else parts.waiting += step.message_seconds;
    if (part == SolvePart::whole_forward || part == SolvePart::whole_backward) parts.subtrees += seconds;
    else if (part == SolvePart::row_sum || part == SolvePart::column_sum) parts.diagonals += seconds;
    else if (part == SolvePart::layers_meet) parts.layers += seconds;
    else parts.blocks += seconds;
  }
  return parts;
}

struct PredictedRow {
  SolveMethod method = SolveMethod::message_driven;
  SolvePrediction prediction;
  PathParts parts;
  Spread busy;      // seconds in tasks, over ranks
  Spread overhead;  // seconds for messages at both ends
};

Json json_of(const Spread& spread) {
  return {{"least", spread.least}, {"mean", spread.mean}, {"most", spread.most}};
}

Json json_of(const PathModel& model) {
  return {{"compute_lower_seconds", model.compute_lower_seconds},
          {"compute_upper_seconds", model.compute_upper_seconds},
          {"communication_binary_seconds", model.communication_binary_seconds},
          {"communication_flat_seconds", model.communication_flat_seconds},
          {"levels", model.levels},
          {"path_blocks", model.path.size()}};
}

Json json_of(const PredictedRow& row) {
  const SolvePrediction& one = row.prediction;
  return {{"ranks", one.num_ranks},
          {"layers", one.layers},
          {"grid_rows", one.grid.rows},
          {"grid_cols", one.grid.cols},
          {"map", name_of(one.map)},
          {"method", name_of(row.method)},
          {"seconds", one.schedule.seconds},
          {"forward_seconds", one.schedule.forward_seconds},
          {"bound",
           {{"seconds", one.bound.seconds()},
            {"read_seconds", one.bound.read_seconds},
            {"rank_seconds", one.bound.rank_seconds},
            {"path_seconds", one.bound.path_seconds},
            {"link_seconds", one.bound.link_seconds}}},
          {"path_model", one.layers == 1 ? json_of(one.model) : Json(nullptr)},
          {"path",
           {{"steps", row.parts.steps},
            {"hops", row.parts.hops},
            {"subtree_seconds", row.parts.subtrees},
            {"diagonal_seconds", row.parts.diagonals},
            {"block_seconds", row.parts.blocks},
            {"layer_seconds", row.parts.layers},
            {"message_seconds", row.parts.messages},
            {"waiting_seconds", row.parts.waiting}}},
          {"busy_seconds", json_of(row.busy)},
          {"message_overhead_seconds", json_of(row.overhead)},
          {"messages", one.messages},
          {"message_bytes", one.message_bytes},
          {"factor_bytes", json_of(one.factor_bytes)}};
}

Json json_of(std::int64_t threads, const ThreadPrediction& one) {
  return {{"threads", threads},
          {"seconds", one.seconds},
          {"bound_seconds", one.bound_seconds},
          {"busy_seconds", one.busy_seconds},
          {"bytes", one.bytes}};
}

/// With several layers, the method is put where there is room for it.
std::string rank_table(const std::vector<PredictedRow>& rows) {
  const bool layered =
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.prediction.layers > 1; });
  TextTable table(layered ? std::vector<std::string>{"ranks", "grid", "method", "time", "bound", "busy",
                                                     "sent", "factor/rank"}
                          : std::vector<std::string>{"ranks", "grid", "time", "bound", "busy", "comm",
                                                     "messages", "sent", "factor/rank"});
  for (const PredictedRow& row : rows) {
    const SolvePrediction& one = row.prediction;
    const std::string grid = fmt::format("{}x{}", one.grid.rows, one.grid.cols),
                      seconds = format_seconds(one.schedule.seconds),
                      bound = format_seconds(one.bound.seconds()),
                      busy =
                          format_percent(one.schedule.seconds > 0 ? row.busy.mean / one.schedule.seconds : 1),
                      sent = format_bytes(static_cast<double>(one.message_bytes)),
                      factor = format_bytes(one.factor_bytes.most);
    if (layered)
      table.add({format_count(one.num_ranks), fmt::format("{}x{}", grid, one.layers),
                 std::string(name_of(row.method)), seconds, bound, busy, sent, factor});
    else
      table.add({format_count(one.num_ranks), grid, seconds, bound, busy, format_seconds(row.parts.messages),
                 format_count(one.messages), sent, factor});
  }
  return layered ? table.text({2}) : table.text({});
}

std::string path_sentence(const PredictedRow& row) {
  const PathParts& parts = row.parts;
  const SolvePrediction& one = row.prediction;
  FactList facts(16);
  const std::string layers = one.layers > 1 ? fmt::format("layers {}, ", format_seconds(parts.layers)) : "";
  facts.add(
      "critical path",
      fmt::format("{}, {}: subtrees {}, diagonal blocks {}, blocks {}, {}messages {}, waiting {}",
                  plural(parts.steps, "step"), plural(parts.hops, "message"), format_seconds(parts.subtrees),
                  format_seconds(parts.diagonals), format_seconds(parts.blocks), layers,
                  format_seconds(parts.messages), format_seconds(parts.waiting)));
  facts.add(
      "bound",
      fmt::format("{}: reading {}, busiest rank {}, path {}, links {}", format_seconds(one.bound.seconds()),
                  format_seconds(one.bound.read_seconds), format_seconds(one.bound.rank_seconds),
                  format_seconds(one.bound.path_seconds), format_seconds(one.bound.link_seconds)));
  if (one.layers > 1) return facts.text();
  facts.add(
      "level model",
      fmt::format("computing {} to {}, messages {} by binary trees, {} by flat ones; {} and {} on the path",
                  format_seconds(one.model.compute_lower_seconds),
                  format_seconds(one.model.compute_upper_seconds),
                  format_seconds(one.model.communication_binary_seconds),
                  format_seconds(one.model.communication_flat_seconds), plural(one.model.levels, "level"),
                  plural(static_cast<std::int64_t>(one.model.path.size()), "block")));
  return facts.text();
}

PredictedRow row_of(LayeredSolveCase given, SolveMethod method, const Cluster& cluster) {
  PredictedRow row;
  row.method = method;
  if (given.placement.ranks.layers == 1) {
    const Placement placement =
        place(given.symbolic, given.placement.ranks.grid, given.placement.map, given.placement.whole);
    row.prediction = predict_solve(
        {given.symbolic, placement, given.kind, given.trees, given.num_rhs, given.scalar_bytes}, cluster);
  } else {
    given.method = layered_method(method);
    row.prediction = predict_layered_solve(given, cluster);
  }
  row.parts = path_parts(row.prediction.schedule, row.prediction.tasks);
  row.busy = spread_of(row.prediction.schedule.busy_seconds);
  row.overhead = spread_of(row.prediction.schedule.message_seconds);
  row.prediction.tasks = {};
  return row;
}

/// A user with one machine should not mistake the time of two for its time.
bool needs_several_of_this(const PlacementOptions& options, const Cluster& cluster) {
  return options.machine == "this" &&
         std::any_of(options.ranks.begin(), options.ranks.end(),
                     [&](index_t ranks) { return ranks > cluster.ranks_per_memory; });
}

template <class T>
int predict_matrix(const PredictCommand& command, const SparseMatrix<T>& matrix, const MachineFile& machine,
                   ProgressBar& progress) {
  const Structure structure = find_structure(matrix, command.structure, progress);
  const SymbolicFactor& symbolic = structure.symbolic;
  const PlacementOptions& options = command.placement;
  std::vector<PredictedRow> rows;
  progress.begin("predict");
  for (const Layout& layout : layouts_of(options, symbolic, structure.kind, sizeof(T), machine.cluster))
    rows.push_back(row_of({symbolic,
                           {layout.ranks, layout.map, layout.whole},
                           {},
                           structure.kind,
                           options.trees,
                           options.num_rhs,
                           sizeof(T)},
                          layout.method, machine.cluster));
  progress.end();
  Json document = structure_json(structure.report);
  document["machine"] = machine.cluster.name;
  document["num_rhs"] = options.num_rhs;
  document["predictions"] = Json::array();
  for (const PredictedRow& row : rows) document["predictions"].push_back(json_of(row));
  std::string thread_text;
  document["threads"] = Json::array();
  for (const std::int64_t threads : command.threads) {
    const ThreadPrediction one = predict_on_threads(
        {symbolic, static_cast<int>(threads), options.num_rhs, static_cast<int>(sizeof(T)), structure.kind},
        machine.cluster);
    document["threads"].push_back(json_of(threads, one));
    thread_text += fmt::format("  {}: {}, at least {}\n", plural(threads, "thread"),
                               format_seconds(one.seconds), format_seconds(one.bound_seconds));
  }
  if (command.output.shows_table()) {
    FactList facts(16);
    facts.add("matrix", matrix_sentence(structure.report.matrix));
    facts.add("machine", fmt::format("{}: {}", machine.cluster.name, machine.cluster.description));
    facts.add("one solve", fmt::format("both sweeps, {}; predicted, nothing was run",
                                       plural(options.num_rhs, "right-hand side")));
    if (needs_several_of_this(options, machine.cluster))
      facts.add(
          "note",
          fmt::format(
              "this machine has {}: more ranks are on several like it, joined by what joins two ranks here",
              plural(machine.cluster.ranks_per_memory, "processor")));
    print(facts.text() + "\n" + thread_text + rank_table(rows) +
          (rows.empty() ? ""
                        : fmt::format("\n  With {}:\n", plural(rows.back().prediction.num_ranks, "rank")) +
                              path_sentence(rows.back())));
  }
  if (!command.plot.empty() && !rows.empty()) {
    const std::string title = fmt::format(
        "critical path, {} on {}", plural(rows.back().prediction.num_ranks, "rank"), machine.cluster.name);
    write_or_rescue(command.plot, [&](const std::string& path) {
      std::ofstream file(path);
      file << path_svg(symbolic, rows.back().prediction.model, title);
      if (!file.flush()) throw OutputError(path, path + ": the plot cannot be written");
    });
  }
  return finish(command.output, document);
}

template <class T>
int predict_devices(const PredictCommand& command, const SparseMatrix<T>& matrix,
                    const std::vector<MachineFile>& devices, ProgressBar& progress) {
  const Structure structure = find_structure(matrix, command.structure, progress);
  const DeviceCase given{structure.symbolic, command.placement.num_rhs, static_cast<int>(sizeof(T)),
                         structure.kind};
  Json document = structure_json(structure.report);
  document["num_rhs"] = command.placement.num_rhs;
  document["devices"] = device_json(devices, given);
  if (command.output.shows_table()) {
    FactList facts(16);
    facts.add("matrix", matrix_sentence(structure.report.matrix));
    facts.add("one solve", fmt::format("both sweeps by device_tree, {}, vectors on the device",
                                       plural(command.placement.num_rhs, "right-hand side")));
    print(facts.text() + "\n" + device_table(devices, given));
  }
  return finish(command.output, document);
}

int run_predict_devices(const PredictCommand& command) {
  const std::vector<MachineFile> devices = read_devices("--device", command.devices);
  if (!command.plot.empty()) throw UsageError("--plot draws paths over ranks: leave out --device");
  ProgressBar progress(!command.output.quiet);
  const ReadResult input = read_input(command.matrix, command.structure.threads, progress);
  check_square(input, command.matrix.path, "predict");
  return std::visit([&](const auto& matrix) { return predict_devices(command, matrix, devices, progress); },
                    input.matrix);
}

int run_predict_offload(const PredictCommand& command) {
  if (!command.plot.empty() || !command.devices.empty())
    throw UsageError("--offload predicts a factorization: leave out --plot and --device");
  const std::vector<MachineFile> devices = read_devices("--offload", command.offload);
  const MachineFile host = machine_by_name(command.placement.machine);
  ProgressBar progress(!command.output.quiet);
  const ReadResult input = read_input(command.matrix, command.structure.threads, progress);
  check_square(input, command.matrix.path, "predict");
  return std::visit(
      [&]<class T>(const SparseMatrix<T>& matrix) {
        const Structure structure = find_structure(matrix, command.structure, progress);
        const OffloadCase given{structure.symbolic, structure.kind, ScalarTraits<T>::type, host};
        Json document = structure_json(structure.report);
        document["offload"] = offload_json(devices, given);
        if (command.output.shows_table()) {
          FactList facts(16);
          facts.add("matrix", matrix_sentence(structure.report.matrix));
          facts.add("host", "one core of " + host.cluster.name);
          print(facts.text() + "\n" + offload_table(devices, given));
        }
        return finish(command.output, document);
      },
      input.matrix);
}

int run_predict_kernels(const PredictCommand& command) {
  if (!command.plot.empty() || !command.threads.empty())
    throw UsageError("--plot and --threads are for ranks and threads: leave out --gpus");
  return run_device_layouts(
      {"predict", "predictions", command.matrix, command.structure, command.placement, command.output});
}

int run_predict(const PredictCommand& command) {
  check_writable("--json", command.output.json);
  if (!command.offload.empty()) return run_predict_offload(command);
  if (!command.devices.empty() && !command.placement.counts_gpus) return run_predict_devices(command);
  if (goes_by_kernels(command.placement)) return run_predict_kernels(command);
  check_writable("--plot", command.plot);
  check_apart("--plot", command.plot, "--json", command.output.json);
  check_method(command.placement);
  const MachineFile machine = machine_by_name(command.placement.machine);
  if (!command.plot.empty() &&
      (command.placement.chooses_layers || command.placement.layers != std::vector<index_t>{1}))
    throw UsageError("--plot draws the level model of one layer: leave out --layers");
  ProgressBar progress(!command.output.quiet);
  const ReadResult input = read_input(command.matrix, command.structure.threads, progress);
  check_square(input, command.matrix.path, "predict");
  return std::visit([&](const auto& matrix) { return predict_matrix(command, matrix, machine, progress); },
                    input.matrix);
}

}  // namespace

Command add_predict(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "predict",
                     "Say what solves will cost on a machine, before anything is factored.\n"
                     "Only orders and analyzes; the machine need not be this one. Shows the time and its\n"
                     "parts, lower bounds, messages, memory, and what the critical path consists of.",
                     "  palmette predict A.mtx --machine this --threads 1,2\n"
                     "  palmette predict A.mtx --machine cori-haswell --ranks 64:4096\n"
                     "  palmette predict A.mtx --machine cori-haswell --ranks 1024 --layers 1:32\n"
                     "  palmette predict A.mtx --device a100,h100\n"
                     "  palmette predict A.mtx --device a100 --gpus 1:256 --layers auto\n"
                     "  palmette predict A.mtx --offload a100 --machine perlmutter-cpu\n"
                     "  palmette predict A.mtx --machine mine.json --ranks 4 --plot path.svg --json -\n");
  const auto command = std::make_shared<PredictCommand>();
  add_matrix_options(app, command->matrix);
  add_kind_and_order(app, command->structure.kind_and_order);
  add_placement_options(app, command->placement);
  OptionGroup group(app, "Ranks");
  group.value(
      {"--threads", "T,T,...",
       "also predict solves on one machine with these numbers of threads, without ranks"},
      [command](const std::string& text) { command->threads = parse_integers("--threads", text, 1, 4096); });
  group.text({"--device", "NAME|FILE,...",
              "instead, predict one solve on each of these devices, from their machine files: a100, h100, "
              "h200, mi250x; with --gpus: a solve over several devices of one kind"},
             command->devices);
  group.text({"--offload", "NAME|FILE,...",
              "instead, say which dense operations of the factorization each of these devices would get "
              "from a core of --machine"},
             command->offload);
  group.value({"--max-width", "W",
               fmt::format("most columns of a supernode (default: {})", AnalyzeOptions().max_width)},
              [command](const std::string& text) {
                command->structure.max_width =
                    static_cast<index_t>(parse_integer("--max-width", text, 1, 1 << 20));
              });
  OptionGroup report(app, "Report");
  report.text({"--plot", "FILE.svg",
               "draw the critical path (of the last number of ranks) on the sparsity plot of the factor"},
              command->plot);
  add_output_options(app, command->output);
  return {&app, [command] {
            if (command->placement.counts_gpus) use_device(command->placement, command->devices);
            return run_predict(*command);
          }};
}

}  // namespace palmette::cli
