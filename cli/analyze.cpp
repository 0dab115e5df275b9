// palmette analyze: the structure of the factor and what it will cost, before anything is factored.
#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/report_table.hpp"
#include "cli/structure.hpp"
#include "cli/text.hpp"
#include "palmette/factorize/factorize.hpp"
#include "palmette/place/place.hpp"
#include "palmette/solve/solve.hpp"
#include "palmette/tasks/tasks.hpp"

namespace palmette::cli {
namespace {

struct AnalyzeCommand {
  MatrixOptions matrix;
  StructureOptions structure;
  OutputOptions output;
  index_t num_rhs = 1;
};

/// Supernodes whose width is in [narrowest, widest].
struct WidthBin {
  index_t narrowest = 1;
  index_t widest = 1;
  index_t supernodes = 0;
};

struct StructureFigures {
  index_t column_tree_height = 0;
  index_t supernode_tree_height = 0;
  index_t widest = 0;             // columns of the widest supernode
  offset_t largest_rows = 0;      // of the supernode with the largest panel
  index_t largest_width = 0;
  double zero_fraction = 0;       // fraction of the entries stored on and below the diagonal
  std::vector<WidthBin> widths;
};

struct TaskFigures {
  index_t tasks = 0;
  index_t edges = 0;
  double parallelism = 1;         // all work over the work of the critical path
  double critical_path_flops = 0;
};

struct MemoryFigures {
  offset_t structure_bytes = 0;
  offset_t factor_bytes = 0;
  offset_t factorize_workspace_bytes = 0;
  offset_t plan_bytes = 0;
  offset_t solve_workspace_bytes = 0;
};

/// Nodes on the longest path from a leaf to a root; children have smaller numbers than parents.
index_t tree_height(const std::vector<index_t>& parent) {
  std::vector<index_t> height(parent.size(), 1);
  index_t highest = 0;
  for (std::size_t node = 0; node < parent.size(); ++node) {
    highest = std::max(highest, height[node]);
    if (parent[node] >= 0) height[parent[node]] = std::max(height[parent[node]], height[node] + 1);
  }
  return highest;
}

std::vector<WidthBin> width_bins(const SymbolicFactor& symbolic) {
  std::vector<WidthBin> bins;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    std::size_t bin = 0;
    while ((index_t{1} << bin) < symbolic.width(s)) ++bin;
    while (bins.size() <= bin) {
      const index_t widest = index_t{1} << bins.size();
      bins.push_back({widest / 2 + 1, widest, 0});
    }
    ++bins[bin].supernodes;
  }
  return bins;
}

StructureFigures structure_figures(const SymbolicFactor& symbolic) {
  StructureFigures figures;
  figures.column_tree_height = tree_height(symbolic.column_parent);
  figures.supernode_tree_height = tree_height(symbolic.parent);
  double stored = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const offset_t width = symbolic.width(s), rows = symbolic.leading_dimension(s);
    stored += static_cast<double>(width * rows - width * (width - 1) / 2);
    figures.widest = std::max(figures.widest, symbolic.width(s));
    if (width * rows <= figures.largest_rows * figures.largest_width) continue;
    figures.largest_rows = rows;
    figures.largest_width = symbolic.width(s);
  }
  if (stored > 0) figures.zero_fraction = 1 - static_cast<double>(symbolic.nnz_factor) / stored;
  figures.widths = width_bins(symbolic);
  return figures;
}

TaskFigures task_figures(const SymbolicFactor& symbolic, FactorKind kind) {
  const FactorizationTasks tasks = factorization_tasks(symbolic, place(symbolic), kind);
  TaskFigures figures;
  figures.tasks = tasks.graph.num_tasks();
  figures.edges = static_cast<index_t>(tasks.graph.successor.size());
  const double total = tasks.graph.total_cost(), longest = tasks.graph.critical_path();
  figures.parallelism = longest > 0 ? total / longest : 1;
  figures.critical_path_flops =
      figures.parallelism > 0 ? factorization_flops(symbolic, kind) / figures.parallelism : 0;
  return figures;
}

MemoryFigures memory_figures(const AnalyzeCommand& command, const Structure& structure, ScalarType scalar) {
  const int threads = number_of_threads(command.structure.threads);
  const FactorMemory factor = predicted_factor_bytes(structure.symbolic, structure.kind, scalar, threads);
  const PlanMemory plan = predicted_plan_bytes(structure.symbolic, structure.kind, scalar, command.num_rhs);
  return {structure.symbolic.memory_bytes(), factor.factor_bytes, factor.workspace_bytes, plan.plan_bytes,
          plan.workspace_bytes};
}

Json json_of(const StructureFigures& figures) {
  Json widths = Json::array();
  for (const WidthBin& bin : figures.widths)
    widths.push_back({{"narrowest", bin.narrowest}, {"widest", bin.widest}, {"supernodes", bin.supernodes}});
  return {{"column_tree_height", figures.column_tree_height},
          {"supernode_tree_height", figures.supernode_tree_height},
          {"widest_supernode", figures.widest},
          {"largest_panel_rows", figures.largest_rows},
          {"largest_panel_columns", figures.largest_width},
          {"relaxed_zero_fraction", figures.zero_fraction},
          {"widths", widths}};
}

Json json_of(const TaskFigures& figures) {
  return {{"tasks", figures.tasks},
          {"edges", figures.edges},
          {"critical_path_flops", figures.critical_path_flops},
          {"parallelism", figures.parallelism}};
}

Json json_of(const MemoryFigures& figures) {
  return {{"structure_bytes", figures.structure_bytes},
          {"factor_bytes", figures.factor_bytes},
          {"factorize_workspace_bytes", figures.factorize_workspace_bytes},
          {"plan_bytes", figures.plan_bytes},
          {"solve_workspace_bytes", figures.solve_workspace_bytes}};
}

std::string width_histogram(const std::vector<WidthBin>& bins) {
  index_t most = 1;
  for (const WidthBin& bin : bins) most = std::max(most, bin.supernodes);
  std::string text;
  for (const WidthBin& bin : bins) {
    const std::string range = bin.narrowest == bin.widest ? std::to_string(bin.widest)
                                                          : fmt::format("{}-{}", bin.narrowest, bin.widest);
    const auto length = static_cast<std::size_t>((std::int64_t{40} * bin.supernodes + most - 1) / most);
    text +=
        fmt::format("  {:>9}  {:>11}  {}\n", range, format_count(bin.supernodes), std::string(length, '#'));
  }
  return text.empty() ? text : "\n      width   supernodes\n" + text;
}

struct AnalyzeFigures {
  StructureFigures structure;
  TaskFigures tasks;
  MemoryFigures memory;
};

std::string analyze_text(const Structure& structure, const AnalyzeFigures& figures, const std::string& path) {
  const Report& report = structure.report;
  const auto bytes = [](offset_t count) { return format_bytes(static_cast<double>(count)); };
  FactList facts(16);
  facts.add("matrix", matrix_sentence(report.matrix));
  facts.add("ordering", fmt::format("{}{}, in {}", name_of(report.order->method),
                                    report.order->matched ? ", with matching and scaling" : "",
                                    format_seconds(report.order->seconds)));
  facts.add("factorization", fmt::format("{}, analyzed in {}", kind_sentence(structure.kind),
                                         format_seconds(report.analyze->seconds)));
  facts.add("factor entries", format_count(report.analyze->nnz_factor));
  facts.add("flops", format_large(report.analyze->flops));
  facts.add("elimination tree",
            fmt::format("{} high; {} of supernodes", plural(figures.structure.column_tree_height, "column"),
                        format_count(figures.structure.supernode_tree_height)));
  facts.add("supernodes",
            fmt::format("{}, up to {} wide; {:.1f} % of their entries are zeros of merging",
                        format_count(report.analyze->supernodes), plural(figures.structure.widest, "column"),
                        figures.structure.zero_fraction * 100));
  facts.add("largest panel", fmt::format("{} rows, {} columns", format_count(figures.structure.largest_rows),
                                         format_count(figures.structure.largest_width)));
  facts.add(
      "tasks",
      fmt::format("{}; the critical path has {} flops, so at most {:.1f} threads can be busy on average",
                  format_count(figures.tasks.tasks), format_large(figures.tasks.critical_path_flops),
                  figures.tasks.parallelism));
  facts.add("memory",
            fmt::format("{} predicted at the peak: structure {}, factor {} and {} of workspace, plan {} and "
                        "{} of workspace",
                        bytes(report.analyze->memory_bytes_predicted), bytes(figures.memory.structure_bytes),
                        bytes(figures.memory.factor_bytes), bytes(figures.memory.factorize_workspace_bytes),
                        bytes(figures.memory.plan_bytes), bytes(figures.memory.solve_workspace_bytes)));
  return paragraph("", fmt::format("Palmette {}: analyze {}", version(), path)) + "\n" + facts.text() +
         width_histogram(figures.structure.widths);
}

template <class T>
int analyze_matrix(const AnalyzeCommand& command, const SparseMatrix<T>& matrix, ProgressBar& progress) {
  Structure structure = find_structure(matrix, command.structure, progress);
  structure.report.analyze->memory_bytes_predicted =
      predicted_peak_bytes(structure.symbolic, {structure.kind, ScalarTraits<T>::type,
                                                number_of_threads(command.structure.threads), command.num_rhs,
                                                resident_memory_bytes()});
  const AnalyzeFigures figures = {structure_figures(structure.symbolic),
                                  task_figures(structure.symbolic, structure.kind),
                                  memory_figures(command, structure, ScalarTraits<T>::type)};
  Json document = structure_json(structure.report);
  document["kind"] = name_of(structure.kind);
  document["structure"] = json_of(figures.structure);
  document["tasks"] = json_of(figures.tasks);
  document["memory"] = json_of(figures.memory);
  if (command.output.shows_table()) print(analyze_text(structure, figures, command.matrix.path));
  return finish(command.output, document);
}

int run_analyze(const AnalyzeCommand& command) {
  check_writable("--json", command.output.json);
  ProgressBar progress(!command.output.quiet);
  const ReadResult input = read_input(command.matrix, command.structure.threads, progress);
  check_square(input, command.matrix.path, "analyze");
  return std::visit([&](const auto& matrix) { return analyze_matrix(command, matrix, progress); },
                    input.matrix);
}

}  // namespace

Command add_analyze(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "analyze",
                     "Show the structure of the factor and the cost of solving.\n"
                     "Only orders and analyzes: predicts entries, flops, supernodes, tree, tasks and\n"
                     "memory without factoring anything.",
                     "  palmette analyze A.mtx\n"
                     "  palmette analyze A.mtx --order metis --kind lu\n"
                     "  palmette analyze A.mtx --json -\n");
  const auto command = std::make_shared<AnalyzeCommand>();
  add_matrix_options(app, command->matrix);
  add_kind_and_order(app, command->structure.kind_and_order);
  add_threads(app, "Method", command->structure.threads);
  OptionGroup system(app, "System");
  system.value({"--num-rhs", "K", "number of right-hand sides in the memory prediction (default: 1)"},
               [command](const std::string& text) {
                 command->num_rhs = static_cast<index_t>(parse_integer("--num-rhs", text, 0, 2147483647));
               });
  add_output_options(app, command->output);
  return {&app, [command] { return run_analyze(*command); }};
}

}  // namespace palmette::cli
