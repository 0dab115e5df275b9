// palmette info: describes a matrix file; without a file, what this build and this machine can do.
#include <memory>

#include <fmt/format.h>

#include "cli/build_facts.hpp"
#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/matrix_figures.hpp"
#include "cli/method_options.hpp"
#include "cli/rank_options.hpp"
#include "cli/report_json.hpp"
#include "cli/report_table.hpp"
#include "cli/structure.hpp"
#include "cli/text.hpp"
#include "palmette/blocks/instruction_set.hpp"

namespace palmette::cli {
namespace {

struct InfoCommand {
  MatrixOptions matrix;
  OutputOptions output;
  int threads = 0;
};

/// One sentence on the shape of the pattern.
std::string shape_sentence(const MatrixFigures& figures) {
  if (figures.lower_bandwidth == 0 && figures.upper_bandwidth == 0) return "diagonal";
  if (figures.upper_bandwidth == 0) return "lower triangular: see palmette trisolve";
  if (figures.lower_bandwidth == 0) return "upper triangular: see palmette trisolve --upper";
  return figures.has_symmetric_pattern ? "symmetric pattern" : "unsymmetric pattern";
}

std::string solve_sentence(const ReadResult& input) {
  if (input.header.rows != input.header.cols) return "nothing: it is not square";
  const FactorKind kind = std::visit([](const auto& matrix) { return choose_kind(matrix); }, input.matrix);
  return fmt::format("{}{}", kind_sentence(kind),
                     kind == FactorKind::llt ? ", and LDL^T if it is not positive definite" : "");
}

Json matrix_json(const ReadResult& input, const MatrixReport& matrix, const MatrixFigures& figures) {
  const FileHeader& header = input.header;
  return {{"format", header.format},
          {"title", header.title},
          {"field", header.field},
          {"declared_symmetry", name_of(header.symmetry)},
          {"stored_entries", header.stored_entries},
          {"rows", matrix.rows},
          {"cols", matrix.cols},
          {"nnz", matrix.nnz},
          {"scalar", scalar_name(matrix.scalar)},
          {"detected_symmetry", name_of(figures.detected)},
          {"symmetric_pattern", figures.has_symmetric_pattern},
          {"missing_diagonal", figures.missing_diagonal},
          {"zero_diagonal", figures.zero_diagonal},
          {"positive_diagonal", figures.positive_diagonal},
          {"explicit_zeros", figures.explicit_zeros},
          {"smallest_modulus", figures.smallest_modulus},
          {"largest_modulus", figures.largest_modulus},
          {"lower_bandwidth", figures.lower_bandwidth},
          {"upper_bandwidth", figures.upper_bandwidth},
          {"empty_rows", figures.empty_rows},
          {"empty_columns", figures.empty_columns},
          {"most_in_a_row", figures.most_in_a_row},
          {"most_in_a_column", figures.most_in_a_column},
          {"dominant_rows", figures.dominant_rows},
          {"norm_1", number_or_null(figures.norm_one)},
          {"norm_infinity", number_or_null(figures.norm_infinity)}};
}

std::string diagonal_sentence(const MatrixFigures& figures) {
  return fmt::format("{} missing, {} zero, {} positive", format_count(figures.missing_diagonal),
                     format_count(figures.zero_diagonal), format_count(figures.positive_diagonal));
}

std::string matrix_text(const ReadResult& input, const MatrixReport& matrix, const MatrixFigures& figures) {
  const FileHeader& header = input.header;
  FactList facts(16);
  facts.add("format", fmt::format("{}, {} {}, {}", header.format, header.field, name_of(header.symmetry),
                                  plural(header.stored_entries, "stored entry")));
  if (!header.title.empty()) facts.add("title", header.title);
  facts.add("matrix", matrix_sentence(matrix));
  facts.add("symmetry", fmt::format("declared {}, found {} (values), {}", name_of(header.symmetry),
                                    name_of(figures.detected), shape_sentence(figures)));
  facts.add("diagonal", diagonal_sentence(figures));
  facts.add("values", fmt::format("moduli from {:.3g} to {:.3g}, {}", figures.smallest_modulus,
                                  figures.largest_modulus, plural(figures.explicit_zeros, "stored zero")));
  facts.add("norms",
            fmt::format("1-norm {:.3g}, infinity norm {:.3g}", figures.norm_one, figures.norm_infinity));
  facts.add("bandwidth", fmt::format("{} below the diagonal, {} above", format_count(figures.lower_bandwidth),
                                     format_count(figures.upper_bandwidth)));
  facts.add("rows",
            fmt::format("{} empty, at most {}, {} diagonally dominant", format_count(figures.empty_rows),
                        plural(figures.most_in_a_row, "entry"), format_count(figures.dominant_rows)));
  facts.add("columns", fmt::format("{} empty, at most {}", format_count(figures.empty_columns),
                                   plural(figures.most_in_a_column, "entry")));
  facts.add("solve begins by", solve_sentence(input));
  return facts.text();
}

int info_of_matrix(const InfoCommand& command) {
  ProgressBar progress(!command.output.quiet);
  const ReadResult input = read_input(command.matrix, command.threads, progress);
  progress.end();
  return std::visit(
      [&]<class T>(const SparseMatrix<T>& matrix) {
        const MatrixReport report = {matrix.rows(), matrix.cols(), matrix.nnz(), ScalarTraits<T>::type,
                                     matrix.symmetry};
        const MatrixFigures figures = matrix_figures(matrix);
        if (command.output.shows_table())
          print(paragraph("", fmt::format("Palmette {}: info {}", version(), command.matrix.path)) + "\n" +
                matrix_text(input, report, figures));
        return finish(command.output,
                      {{"matrix", matrix_json(input, report, figures)}, {"version", version()}});
      },
      input.matrix);
}

std::string compiler() {
#ifdef __clang__
  return fmt::format("clang {}", __clang_version__);
#else
  return fmt::format("gcc {}", __VERSION__);
#endif
}

/// With the reason if this build cannot run a method.
std::vector<std::string> method_names(SolveWhere where) {
  std::vector<std::string> names;
  for (const SolveMethodInfo& info : solve_method_list(where))
    names.push_back(name_and_reason(info.name, info.unavailable));
  return names;
}

Json methods_json() {
  Json methods = Json::array();
  for (const SolveMethodInfo& info : solve_method_list())
    methods.push_back({{"name", info.name},
                       {"where", name_of(info.where)},
                       {"engine", info.engine},
                       {"delivery", info.delivery},
                       {"available", info.available()},
                       {"reason", info.unavailable},
                       {"summary", info.summary}});
  return methods;
}

Json transports_json() {
  Json transports = Json::object();
  for (const RankTransport& one : rank_transports())
    transports[std::string(one.name)] = one.unavailable.empty();
  return transports;
}

/// What the kernels were compiled for; which bits a solution has depends on it.
std::string kernels_sentence() {
  const InstructionSet kernels = instruction_set();
  return fmt::format("{}, registers of {} bytes, {} fused multiply-add", kernels.name, kernels.register_bytes,
                     kernels.fuses_multiply_add ? "with" : "without");
}

Json kernels_json() {
  const InstructionSet kernels = instruction_set();
  return {{"name", kernels.name},
          {"register_bytes", kernels.register_bytes},
          {"fuses_multiply_add", kernels.fuses_multiply_add}};
}

std::string build_text(const Machine& machine) {
  std::vector<std::string> orderings, transports;
  for (const OrderingMethodInfo& info : ordering_method_list())
    orderings.push_back(fmt::format("{}{}", name_of(info.method), info.available ? "" : " (absent)"));
  for (const RankTransport& one : rank_transports())
    transports.push_back(name_and_reason(one.name, one.unavailable));
  FactList facts(16);
  facts.add("build", fmt::format("{}, {}{}", compiler(), build_facts.type,
                                 build_facts.native ? ", for this machine's processor" : ""));
  facts.add("kernels", kernels_sentence());
  facts.add("BLAS", build_facts.blas);
  facts.add("orderings", fmt::format("{}", fmt::join(orderings, ", ")));
  for (const SolveWhere where : all_places)
    facts.add(where == SolveWhere::one_machine ? "solve methods" : "",
              fmt::format("{}: {}", name_of(where), fmt::join(method_names(where), ", ")));
  std::vector<std::string> devices;
  for (const DeviceKindInfo& kind : device_kind_list())
    devices.push_back(name_and_reason(kind.name, kind.unavailable));
  facts.add("devices", fmt::format("{}", fmt::join(devices, ", ")));
  facts.add("transports", fmt::format("{}", fmt::join(transports, ", ")));
  facts.add("processor", fmt::format("{}, {} for this process", machine.processor,
                                     plural(available_processors(), "processor")));
  facts.add("last-level cache", machine.last_level_cache_bytes > 0
                                    ? format_bytes(static_cast<double>(machine.last_level_cache_bytes))
                                    : "unknown");
  facts.add("memory",
            fmt::format("stream {:.3g} GB/s, read {:.3g} GB/s with {}", machine.stream_bandwidth_gbs,
                        machine.read_bandwidth_gbs, plural(machine.threads, "thread")));
  facts.add("remembered in", cache_folder().empty() ? "nothing: HOME is not set" : cache_folder());
  return facts.text();
}

Json build_json(const Machine& machine) {
  Json orderings = Json::object();
  for (const OrderingMethodInfo& info : ordering_method_list())
    orderings[std::string(name_of(info.method))] = info.available;
  Json document;
  document["build"] = {{"compiler", compiler()},
                       {"type", build_facts.type},
                       {"native", build_facts.native},
                       {"blas", build_facts.blas},
                       {"orderings", orderings},
                       {"solve_methods", methods_json()},
                       {"transports", transports_json()},
                       {"kernels", kernels_json()}};
  document["machine"] = {{"processor", machine.processor},
                         {"processors", available_processors()},
                         {"threads", machine.threads},
                         {"last_level_cache_bytes", machine.last_level_cache_bytes},
                         {"read_bandwidth_gbs", machine.read_bandwidth_gbs},
                         {"stream_bandwidth_gbs", machine.stream_bandwidth_gbs}};
  document["version"] = version();
  return document;
}

int run_info(const InfoCommand& command) {
  check_writable("--json", command.output.json);
  if (!command.matrix.path.empty()) return info_of_matrix(command);
  MeasureOptions measure;
  measure.threads = number_of_threads(command.threads);
  measure.cache_folder = cache_folder();
  const Machine machine = measure_machine(measure);
  if (command.output.shows_table()) print(fmt::format("Palmette {}\n\n{}", version(), build_text(machine)));
  return finish(command.output, build_json(machine));
}

}  // namespace

Command add_info(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "info",
                     "Show what a matrix file holds, or what this build and machine can do.\n"
                     "With a file: header, symmetry, diagonal, range of values, bandwidth. Without one:\n"
                     "version, BLAS, orderings, solve methods, and the measured speed of memory.",
                     "  palmette info A.mtx\n"
                     "  palmette info\n"
                     "  palmette info A.rb.gz --json -\n");
  const auto command = std::make_shared<InfoCommand>();
  add_matrix_options(app, command->matrix, false);
  add_threads(app, "System", command->threads);
  add_output_options(app, command->output);
  return {&app, [command] { return run_info(*command); }};
}

}  // namespace palmette::cli
