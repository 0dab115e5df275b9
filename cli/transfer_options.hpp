// What simulate-transfers and advise-transfers share: the program, the interconnect, and the parameters of
// the simulator.
#pragma once

#include <string>
#include <vector>

#include "cli/interconnect_file.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"

namespace palmette::cli {

struct TransferOptions {
  std::string program;  ///< an application, "all", or the path of a trace
  std::string interconnect = "pcie4";
  transfer::ApplicationOptions application;
  transfer::ReplayOptions simulation;
  std::string machine;  ///< empty: rate and latency of the interconnect file
  std::string ratings;  ///< a file, for als
};

void add_transfer_options(CLI::App& app, TransferOptions& options);

/// The traces that the options name. @throws UsageError, IoError
std::vector<transfer::StoreTrace> traces_of(const TransferOptions& options, ProgressBar& progress);
/// As text, or as bytes if the name ends in .bin. @throws IoError
void write_store_trace(const std::string& path, const transfer::StoreTrace& trace);
/// The interconnect, with the rate and latency of the machine's devices if one is named.
InterconnectFile interconnect_of(const TransferOptions& options);
/// One document of a result; `single_seconds` 0: not known.
nlohmann::ordered_json transfer_json(const transfer::TransferResult& result, double single_seconds);

}  // namespace palmette::cli
