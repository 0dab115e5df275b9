// The options that subcommands share, and the values that they produce.
#pragma once

#include <optional>
#include <string>

#include "cli/help.hpp"
#include "cli/output.hpp"

namespace palmette::cli {

/// One subcommand: its parser, and the function that runs once its options are read and returns the exit
/// code.
struct Command {
  CLI::App* app;
  std::function<int()> run;
};

struct MatrixOptions {
  std::string path;  ///< "-": standard input
  PatternValues pattern_values = PatternValues::ones;
};

struct KindAndOrder {
  std::optional<FactorKind> kind;
  std::string order = "auto";  ///< a method's name, or the path of a file
};

enum class Precision { double_precision, float_precision, mixed };

/// The options that solve and trisolve share.
struct SolvingOptions {
  std::string rhs = "ones";
  std::optional<index_t> num_rhs;
  std::string out;
  SolveMethod method = SolveMethod::automatic;
  std::string device = "none";
  std::optional<LayeredGrid> gpus;  ///< several devices of that kind
  OffloadWhen offload = OffloadWhen::automatic;  ///< solve only
  int threads = 0;
  Precision precision = Precision::double_precision;
  SolveRequest request;
  SingularAnswer singular = SingularAnswer::raise;  ///< solve only
};

void add_matrix_options(CLI::App& app, MatrixOptions& options, bool required = true);
void add_output_options(CLI::App& app, OutputOptions& options);
/// @param order_option  names of the option that chooses the ordering
void add_kind_and_order(CLI::App& app, KindAndOrder& options, const std::string& order_option = "--order");
void add_threads(CLI::App& app, const std::string& title, int& threads);
void add_solving_options(CLI::App& app, SolvingOptions& options, bool whole_matrix);

/// --precision. @param offers_mixed  mixed precision too
void add_precision(OptionGroup& group, Precision& precision, bool offers_mixed);

/// --gpus: several devices, N in a predicted grid, rows x columns, or rows x columns x layers.
void add_gpus(OptionGroup& group, std::optional<LayeredGrid>& gpus);
/// --device: what holds the factor and solves with it.
void add_device(OptionGroup& group, std::string& device);

/// --singular, of solve.
void add_singular(CLI::App& app, SingularAnswer& singular);

/// The number of threads of --threads: 0 becomes all processors.
int number_of_threads(int threads);

/// Names that --order accepts in addition to files.
std::vector<std::string> ordering_names();
/// The method that --order names, or nothing if it is the path of a file. @throws UsageError if it is neither
std::optional<OrderingMethod> ordering_by_name(const std::string& text);

/// $XDG_CACHE_HOME/palmette or ~/.cache/palmette; empty if neither is known.
std::string cache_folder();

}  // namespace palmette::cli
