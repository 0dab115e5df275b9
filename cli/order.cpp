// palmette order: finds a fill-reducing ordering, reports its fill and flops, and writes it; or compares all
// orderings of this build.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/report_table.hpp"
#include "cli/structure.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

struct OrderCommand {
  MatrixOptions matrix;
  StructureOptions structure;
  OutputOptions output;
  std::string out;
  bool compare = false;
};

Json figures_json(const Report& report) {
  const Json document = structure_json(report);
  return {{"method", document["order"]["method"]},         {"seconds", document["order"]["seconds"]},
          {"nnz_factor", document["analyze"]["nnz_factor"]}, {"flops", document["analyze"]["flops"]},
          {"supernodes", document["analyze"]["supernodes"]}};
}

template <class T>
int run_compare(const OrderCommand& command, const SparseMatrix<T>& matrix, ProgressBar& progress) {
  TextTable table({"ordering", "time", "analyze", "factor entries", "flops", "supernodes"});
  Json orderings = Json::array();
  Json document;
  StructureOptions options = command.structure;
  for (const OrderingMethodInfo& info : ordering_method_list()) {
    if (!info.available || info.method == OrderingMethod::automatic || info.method == OrderingMethod::user)
      continue;
    options.kind_and_order.order = name_of(info.method);
    const Structure structure = find_structure(matrix, options, progress);
    const Report& report = structure.report;
    document["matrix"] = structure_json(report)["matrix"];
    document["kind"] = name_of(structure.kind);
    orderings.push_back(figures_json(report));
    table.add({std::string(name_of(report.order->method)), format_seconds(report.order->seconds),
               format_seconds(report.analyze->seconds), format_count(report.analyze->nnz_factor),
               format_large(report.analyze->flops), format_count(report.analyze->supernodes)});
  }
  document["orderings"] = orderings;
  document["version"] = version();
  if (command.output.shows_table()) print(table.text({0}));
  return finish(command.output, document);
}

std::string order_text(const Structure& structure, const std::string& path, const std::string& out) {
  const Report& report = structure.report;
  FactList facts(16);
  facts.add("matrix", matrix_sentence(report.matrix));
  facts.add("ordering", fmt::format("{}{}, in {}", name_of(report.order->method),
                                    report.order->matched ? ", with matching and scaling" : "",
                                    format_seconds(report.order->seconds)));
  facts.add("factorization", kind_sentence(structure.kind));
  facts.add("factor entries", format_count(report.analyze->nnz_factor));
  facts.add("flops", format_large(report.analyze->flops));
  facts.add("supernodes", format_count(report.analyze->supernodes));
  if (!out.empty()) facts.add("written to", out);
  return paragraph("", fmt::format("Palmette {}: order {}", version(), path)) + "\n" + facts.text();
}

template <class T>
int run_one(const OrderCommand& command, const SparseMatrix<T>& matrix, ProgressBar& progress) {
  const Structure structure = find_structure(matrix, command.structure, progress);
  const std::optional<Failure> failure = write_result(
      command.out, [&](const std::string& path) { write_permutation(path, structure.ordering.column); });
  if (command.output.shows_table() && command.out != "-")
    print(order_text(structure, command.matrix.path, failure ? std::string() : command.out));
  return finish(command.output, structure_json(structure.report), failure);
}

int run_order(const OrderCommand& command) {
  if (command.compare && !command.out.empty())
    throw UsageError(
        "--compare computes several orderings, so --out cannot write one; choose one by --method "
        "instead");
  check_destinations(command.out, command.output.json, command.matrix.path);
  ProgressBar progress(!command.output.quiet);
  const ReadResult input = read_input(command.matrix, command.structure.threads, progress);
  check_square(input, command.matrix.path, "order");
  return std::visit(
      [&](const auto& matrix) {
        return command.compare ? run_compare(command, matrix, progress) : run_one(command, matrix, progress);
      },
      input.matrix);
}

}  // namespace

Command add_order(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "order",
                     "Find an ordering that keeps the factor sparse.\n"
                     "Reports the entries and flops of the resulting factorization; the file that\n"
                     "--out writes can be passed to 'palmette solve --order FILE'.",
                     "  palmette order A.mtx\n"
                     "  palmette order A.mtx --compare\n"
                     "  palmette order A.mtx --method metis --out p.txt\n");
  const auto command = std::make_shared<OrderCommand>();
  add_matrix_options(app, command->matrix);
  add_kind_and_order(app, command->structure.kind_and_order, "--method,--order");
  add_threads(app, "Method", command->structure.threads);
  OptionGroup report(app, "Report");
  report.flag("--compare", "a table of all orderings of this build", command->compare);
  report.text({"--out", "FILE", "write the column order, one 1-based index per line; -: to standard output"},
              command->out);
  add_output_options(app, command->output);
  return {&app, [command] { return run_order(*command); }};
}

}  // namespace palmette::cli
