// All subcommands, each in the file of its name.
#pragma once

#include "cli/options.hpp"

namespace palmette::cli {

Command add_solve(CLI::App& root);
Command add_trisolve(CLI::App& root);
Command add_factorize(CLI::App& root);
Command add_inverse(CLI::App& root);
Command add_schur(CLI::App& root);
Command add_order(CLI::App& root);
Command add_analyze(CLI::App& root);
Command add_info(CLI::App& root);
Command add_generate(CLI::App& root);
Command add_convert(CLI::App& root);
Command add_bench(CLI::App& root);
Command add_predict(CLI::App& root);
Command add_measure(CLI::App& root);
Command add_simulate_cluster(CLI::App& root);
Command add_simulate_transfers(CLI::App& root);
Command add_advise_transfers(CLI::App& root);

/// A subcommand with its description, examples and exit codes, still without options.
CLI::App& new_subcommand(CLI::App& root, const std::string& name, const std::string& description,
                         const std::string& examples);

}  // namespace palmette::cli
