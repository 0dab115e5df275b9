// Options of a solve over ranks, and what the launcher says about them.
#pragma once

#include <functional>

#include "cli/options.hpp"

namespace palmette::cli {

enum class RankTransport { loopback, threads, mpi_two_sided, mpi_rma, mpi_rma_counter };
inline constexpr RankTransport rank_transports[] = {RankTransport::loopback, RankTransport::threads,
                                                    RankTransport::mpi_two_sided, RankTransport::mpi_rma,
                                                    RankTransport::mpi_rma_counter};
std::string transport_name(RankTransport transport);
/// What this build lacks for the transport; empty if nothing.
std::string missing_for(RankTransport transport);
/// The ranks are processes of a launcher, not threads of this process.
bool is_mpi(RankTransport transport);

struct RankOptions {
  std::optional<RankTransport> transport;
  index_t thread_ranks = 0;  ///< for RankTransport::threads
  std::optional<LayeredGrid> grid;
  bool chooses_grid = false;    ///< --grid auto: by prediction
  index_t chosen_layers = 1;    ///< layers of such a grid; 0: predicted too
  std::string machine = "this";  ///< number of right-hand sides for predictions
  std::optional<PlacementMap> map;
  std::optional<TreeShape> trees;
  std::optional<BlockDelivery> delivery;
  double watchdog_seconds = 600;
  bool checked = false;

  /// One of these options is given, or a launcher has started several processes.
  bool wanted() const;
};

/// "2x3". @throws UsageError
ProcessGrid parse_grid(const std::string& text);
/// "2x3", or "2x3x4" with layers. @throws UsageError
LayeredGrid parse_layered_grid(const std::string& text);

void add_rank_options(CLI::App& app, RankOptions& options);

/// Number of processes that an MPI launcher has started, from its environment; 1 without a launcher.
index_t launched_ranks();
/// This process's number among them; 0 without a launcher.
index_t launched_rank();

}  // namespace palmette::cli
