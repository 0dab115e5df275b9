// Declares the shared options and reads their values.
#include "cli/options.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "cli/method_options.hpp"
#include "cli/names.hpp"
#include "cli/rank_options.hpp"
#include "palmette/base/base.hpp"
#include "palmette/device/device.hpp"

namespace palmette::cli {
namespace {

constexpr std::int64_t most_threads = 4096;
constexpr std::int64_t most_rhs = 2147483647;

void add_operation(CLI::App& app, SolveRequest& request) {
  const auto set = [&request](Operation operation) {
    return [&request, operation](std::int64_t) { request.operation = operation; };
  };
  CLI::Option* transposed =
      app.add_flag_function("--transpose", set(Operation::transpose), "solve with the transpose of A");
  CLI::Option* adjoint =
      app.add_flag_function("--adjoint", set(Operation::adjoint), "solve with the conjugate transpose of A");

  transposed->group("System")->excludes(adjoint);
  adjoint->group("System")->excludes(transposed);
}

void add_refinement(OptionGroup& group, SolveRequest& request) {
  group.value(
      {"--refine", "auto|off|N",
       "steps of iterative refinement: as many as the verification needs, none, or up to N (default: auto)"},
      [&request](const std::string& text) {
        if (text == "auto")
          request.max_refine_steps = -1;
        else if (text == "off")
          request.max_refine_steps = 0;
        else
          request.max_refine_steps =
              static_cast<int>(parse_integer("--refine (or auto, or off)", text, 0, 10000));
      });
  group.flag("--condition", "estimate the condition number and bound the forward error too",
             request.condition);
}

void add_method(OptionGroup& group, SolveMethod& method, std::span<const SolveWhere> places) {
  group.value({"--method", "NAME",
               "how the solve is scheduled: " + method_help(places) +
                   ". Those for one machine give the same bits"},
              [&method, places](const std::string& text) { method = read_method(text, places); });
}

}  // namespace

void add_precision(OptionGroup& group, Precision& precision, bool offers_mixed) {
  std::vector<std::string> names = {"double", "float"};
  if (offers_mixed) names.push_back("mixed");
  const std::string mixed = offers_mixed ? "; mixed factors in float and refines to double" : "";
  group.value({"--precision", offers_mixed ? "double|float|mixed" : "double|float",
               "of all computing" + mixed + " (default: double)"},
              [&precision, names](const std::string& text) {
                precision = static_cast<Precision>(choose_name("--precision", text, names));
              });
}

void add_gpus(OptionGroup& group, std::optional<LayeredGrid>& gpus) {
  group.value({"--gpus", "N|PxQ|PxQxL",
               "so many devices of that kind hold the factor and solve together: N in the grid and layers "
               "that are predicted to be the fastest, P rows and Q columns of them, or L layers of such "
               "grids "
               "(default: one)"},
              [&gpus](const std::string& text) {
                constexpr std::int64_t most = 1024;
                if (text.find('x') != std::string::npos) gpus = parse_layered_grid(text);
                else gpus = {{static_cast<index_t>(parse_integer("--gpus", text, 1, most)), 0}, 0};
              });
}

void add_device(OptionGroup& group, std::string& device) {
  std::vector<std::string> kinds;
  for (const DeviceKindInfo& kind : device_kind_list())
    kinds.push_back(name_and_reason(kind.name, kind.unavailable));
  group.text({"--device", "auto|none|KIND[:INDEX][@BYTES]",
              fmt::format("what computes large parts of the factor, holds it and solves with it: none "
                          "(default): the host; auto: the first GPU, if a solve there is predicted to be "
                          "faster; {}. @16e9: at most that many bytes of its memory",
                          fmt::join(kinds, ", "))},
             device);
}

namespace {

void add_offload(OptionGroup& group, OffloadWhen& offload) {
  const std::vector<std::string> names = {"auto", "never", "always"};
  group.value({"--offload", "auto|never|always",
               "what of the factorization goes to the device: the operations that are faster there, by "
               "'palmette measure --device' or else by estimates; nothing; everything (default: auto)"},
              [&offload, names](const std::string& text) {
                offload = static_cast<OffloadWhen>(choose_name("--offload", text, names));
              });
}

}  // namespace

void add_matrix_options(CLI::App& app, MatrixOptions& options, bool required) {
  add_argument(app,
               {"matrix", "A.mtx",
                "Matrix Market, Rutherford-Boeing or Harwell-Boeing file, also .gz; - reads standard input"},
               options.path, required);
  OptionGroup group(app, "System");
  group.value({"--pattern-values", "ones|laplacian",
               "values for a file that has none: ones, or -1 off the diagonal and a dominant diagonal "
               "(default: ones)"},
              [&options](const std::string& text) {
                options.pattern_values =
                    static_cast<PatternValues>(choose_name("--pattern-values", text, {"ones", "laplacian"}));
              });
}

void add_output_options(CLI::App& app, OutputOptions& options) {
  OptionGroup group(app, "Report");
  group.text(
      {"--json", "FILE|-", "write the report as JSON to a file, or to standard output instead of the table"},
      options.json);
  group.flag("--quiet", "print nothing but errors (and what --json - asks for)", options.quiet);
}

void add_kind_and_order(CLI::App& app, KindAndOrder& options, const std::string& order_option) {
  OptionGroup group(app, "Method");
  group.value({"--kind", "auto|llt|ldlt|lu",
               "factorization; auto: llt if A is symmetric (Hermitian) with positive diagonal, ldlt if "
               "symmetric, else lu (default: auto)"},
              [&options](const std::string& text) {
                const std::size_t choice = choose_name("--kind", text, {"auto", "llt", "ldlt", "lu"});
                if (choice > 0) options.kind = static_cast<FactorKind>(choice - 1);
              });
  group.value({order_option, fmt::format("{}|FILE", fmt::join(ordering_names(), "|")),
               "fill-reducing ordering, or a file with a permutation of 1..n or 0..n-1 (default: auto)"},
              [&options](const std::string& text) {
                (void)ordering_by_name(text);
                options.order = text;
              });
}

void add_threads(CLI::App& app, const std::string& title, int& threads) {
  OptionGroup group(app, title);
  group.value({"--threads", "T", "threads; 0: one for each processor that this process may use (default: 0)"},
              [&threads](const std::string& text) {
                threads = static_cast<int>(parse_integer("--threads", text, 0, most_threads));
              });
}

void add_solving_options(CLI::App& app, SolvingOptions& options, bool whole_matrix) {
  OptionGroup system(app, "System");
  system.text(
      {"--rhs", "FILE|ones|random[:SEED]",
       "right-hand sides: a Matrix Market file, ones, or uniform in [-1, 1) by a seed (default: ones)"},
      options.rhs);
  system.value({"--num-rhs", "K", "how many right-hand sides (default: 1, or all columns of FILE)"},
               [&options](const std::string& text) {
                 options.num_rhs = static_cast<index_t>(parse_integer("--num-rhs", text, 0, most_rhs));
               });
  add_operation(app, options.request);
  system.text({"--out", "X.mtx",
               "write the solution as a Matrix Market array (.gz: compressed); -: to standard output"},
              options.out);

  OptionGroup method(app, "Method");
  using Places = std::span<const SolveWhere>;
  add_method(method, options.method, whole_matrix ? Places(everywhere) : Places(on_one_machine));
  add_device(method, options.device);
  if (whole_matrix) add_gpus(method, options.gpus);
  if (whole_matrix) add_offload(method, options.offload);
  add_threads(app, "Method", options.threads);
  add_precision(method, options.precision, whole_matrix);
  add_refinement(method, options.request);
  OptionGroup report(app, "Report");
  report.value({"--repeat", "N", "time N solves without refinement and report the median (default: 1)"},
               [&options](const std::string& text) {
                 options.request.repeat = static_cast<int>(parse_integer("--repeat", text, 1, 1000000));
               });
}

void add_singular(CLI::App& app, SingularAnswer& singular) {
  OptionGroup group(app, "Method");
  group.value({"--singular", "raise|warn|least-norm",
               "a matrix that is singular to working precision: fail, give the best x, or the shortest "
               "least-squares solution; answers count as "
               "not verified (default: raise)"},
              [&singular](const std::string& text) {
                singular = static_cast<SingularAnswer>(
                    choose_name("--singular", text, {"raise", "warn", "least-norm"}));
              });
}

int number_of_threads(int threads) { return threads > 0 ? threads : available_processors(); }

std::vector<std::string> ordering_names() {
  std::vector<std::string> names = {"auto"};
  for (const OrderingMethodInfo& info : ordering_method_list())
    if (info.method != OrderingMethod::automatic && info.method != OrderingMethod::user)
      names.emplace_back(name_of(info.method));
  return names;
}

std::optional<OrderingMethod> ordering_by_name(const std::string& text) {
  for (const std::string& name : ordering_names())
    if (name == text) return ordering_method(text);
  std::error_code ignored;
  const bool looks_like_a_path = text.find_first_of("/.") != std::string::npos;
  if (!looks_like_a_path && !std::filesystem::exists(text, ignored))
    throw UsageError(fmt::format(
        "--order knows no '{}'{}, and there is no such file; it takes {} or a file with a permutation", text,
        suggestion(text, ordering_names()), joined(ordering_names())));
  return {};
}

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') return std::string(cache) + "/palmette";
  const char* home = std::getenv("HOME");
  return home && home[0] == '/' ? std::string(home) + "/.cache/palmette" : std::string();
}

}  // namespace palmette::cli
