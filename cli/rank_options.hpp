// Options of a solve over ranks, and what the launcher says about them.
#pragma once

#include <functional>

#include "cli/options.hpp"

namespace palmette::cli {

/// What the ranks of a run are: this process alone, its threads, or the processes of an MPI launcher.
enum class RankWorld { loopback, threads, mpi };

struct RankTransport {
  std::string_view name;
  std::string_view argument;  ///< what --transport takes behind the name
  RankWorld world;
  std::string_view unavailable;  ///< why this build lacks it; empty if it does not
};
/// Loopback, threads, and all of mpi_exchange_list.
const std::vector<RankTransport>& rank_transports();
/// The first of the list for this world.
const RankTransport& usual_transport(RankWorld world);

struct RankOptions {
  std::optional<RankTransport> transport;
  index_t thread_ranks = 0;  ///< for RankWorld::threads
  std::optional<LayeredGrid> grid;
  bool chooses_grid = false;    ///< --grid auto: by prediction
  index_t chosen_layers = 1;    ///< layers of such a grid; 0: predicted too
  std::string machine = "this";  ///< the machine for which layouts are predicted
  std::optional<PlacementMap> map;
  std::optional<TreeShape> trees;
  std::optional<BlockDelivery> delivery;
  double watchdog_seconds = 600;
  bool checked = false;
  std::optional<MemoryKind> memory;  ///< --memory: of ranks with devices

  /// One of these options is given, or a launcher has started several processes.
  bool wanted() const;
};

/// "2x3". @throws UsageError
ProcessGrid parse_grid(const std::string& text);
/// "2x3", or "2x3x4" with layers. @throws UsageError
LayeredGrid parse_layered_grid(const std::string& text);

void add_rank_options(CLI::App& app, RankOptions& options);
/// --transport and --watchdog alone.
void add_transport_options(OptionGroup& group, RankOptions& options);

/// Number of processes that an MPI launcher has started, from its environment; 1 without a launcher.
index_t launched_ranks();
/// This process's number among them; 0 without a launcher.
index_t launched_rank();

}  // namespace palmette::cli
