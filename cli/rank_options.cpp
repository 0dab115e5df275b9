// Reads --transport, --grid, --map, --trees, and the environment of launchers.
#include "cli/rank_options.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/machine_file.hpp"
#include "cli/names.hpp"
#include "cli/placement_options.hpp"

namespace palmette::cli {
namespace {

constexpr std::int64_t most_ranks = 1 << 20;
constexpr std::int64_t most_thread_ranks = 1024;

/// The value of the first of these variables that holds a number.
index_t number_in_environment(std::initializer_list<const char*> names, index_t otherwise) {
  for (const char* const name : names) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') continue;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    if (*end == '\0' && number >= 0 && number <= most_ranks) return static_cast<index_t>(number);
  }
  return otherwise;
}

/// As --transport takes them.
std::vector<std::string> forms_of_transports() {
  std::vector<std::string> forms;
  for (const RankTransport& one : rank_transports())
    forms.push_back(fmt::format("{}{}", one.name, one.argument));
  return forms;
}

void read_transport(const std::string& text, RankOptions& options) {
  const std::string prefix = "threads:";
  if (text.compare(0, prefix.size(), prefix) == 0) {
    options.transport = usual_transport(RankWorld::threads);
    options.thread_ranks = static_cast<index_t>(
        parse_integer("--transport threads:N", text.substr(prefix.size()), 1, most_thread_ranks));
  } else if (text == "threads") {
    throw UsageError("--transport threads needs the number of ranks: threads:4, for example");
  } else {
    options.transport = rank_transports()[choose_name("--transport", text, forms_of_transports())];
    if (options.transport->world == RankWorld::threads)
      throw UsageError("--transport threads:N: put a number for N, as in threads:4");
  }
}

/// "auto", "autox4", "autoxauto", or numbers.
void read_grid(const std::string& text, RankOptions& options) {
  options.chooses_grid = text.compare(0, 4, "auto") == 0;
  options.grid.reset();
  if (!options.chooses_grid) {
    options.grid = parse_layered_grid(text);
    return;
  }
  const std::string layers = text.size() > 5 && text[4] == 'x' ? text.substr(5) : "";
  if (text != "auto" && layers.empty())
    throw UsageError(
        fmt::format("--grid takes auto, autox4 or autoxauto, or numbers as 2x3, not '{}'", text));
  options.chosen_layers = layers.empty() ? 1
                          : layers == "auto"
                              ? 0
                              : static_cast<index_t>(parse_integer("--grid", layers, 1, most_ranks));
}

}  // namespace

const std::vector<RankTransport>& rank_transports() {
#ifdef PALMETTE_COMMAND_HAS_MPI
  constexpr std::string_view without_mpi;
#else
  constexpr std::string_view without_mpi = "built without MPI";
#endif
  static const std::vector<RankTransport> list = [&] {
    std::vector<RankTransport> rows = {{"loopback", "", RankWorld::loopback, ""},
                                       {"threads", ":N", RankWorld::threads, ""}};
    for (const MpiExchangeInfo& exchange : mpi_exchange_list)
      rows.push_back({exchange.name, "", RankWorld::mpi, without_mpi});
    return rows;
  }();
  return list;
}

const RankTransport& usual_transport(RankWorld world) {
  return *std::find_if(rank_transports().begin(), rank_transports().end(),
                       [&](const RankTransport& one) { return one.world == world; });
}

ProcessGrid parse_grid(const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos)
    throw UsageError(fmt::format("--grid takes ROWSxCOLUMNS, as 2x3, not '{}'", text));
  const auto part = [](const std::string& number) {
    return static_cast<index_t>(parse_integer("--grid", number, 1, most_ranks));
  };
  return {part(text.substr(0, cross)), part(text.substr(cross + 1))};
}

LayeredGrid parse_layered_grid(const std::string& text) {
  const std::size_t last = text.rfind('x');
  if (last == std::string::npos || text.find('x') == last) return {parse_grid(text), 1};
  return {parse_grid(text.substr(0, last)),
          static_cast<index_t>(parse_integer("--grid", text.substr(last + 1), 1, most_ranks))};
}

bool RankOptions::wanted() const {
  return transport || grid || chooses_grid || map || trees || delivery || memory ||
         launched_ranks() > 0;
}

void add_transport_options(OptionGroup& group, RankOptions& options) {
  group.value({"--transport", bars(forms_of_transports()),
               "how ranks exchange blocks: one rank alone, N ranks as threads of this process, or the "
               "processes that mpiexec has started: by "
               "messages (default there) or by one-sided queues, published by checksum or by counter"},
              [&options](const std::string& text) { read_transport(text, options); });
  group.value({"--watchdog", "SECONDS",
               "how long a rank waits for others before it ends the run and says for what; 0: for ever "
               "(default: 600)"},
              [&options](const std::string& text) {
                options.watchdog_seconds = parse_real("--watchdog", text);
                if (options.watchdog_seconds < 0)
                  throw UsageError("--watchdog takes seconds, 0 or more, not '" + text + "'");
              });
}

void add_rank_options(CLI::App& app, RankOptions& options) {
  OptionGroup group(app, "Ranks");
  add_transport_options(group, options);
  group.value({"--grid", "RxC[xL]|auto[xL|xauto]",
               "grid of ranks, R*C of them (default: the nearest to a square), or the one that is predicted "
               "to be the fastest; xL: in each of L layers, "
               "which share out the elimination tree"},
              [&options](const std::string& text) { read_grid(text, options); });
  group.text({"--machine", "NAME|FILE|this",
              "the machine that --grid auto predicts for: " + joined(machine_names()) +
                  ", a file of the same form, or this one, as 'palmette measure' found it (default)"},
             options.machine);
  add_map_and_trees(group, options.map, options.trees);
  group.value(
      {"--delivery", bars(names_of(block_deliveries)),
       "blocks of the factor are sent to the ranks that use them, or fetched by them (default: push)"},
      [&options](const std::string& text) {
        options.delivery = choose_of("--delivery", text, block_deliveries);
      });
  group.value({"--memory", bars(names_of(memory_kinds)),
               "with --device: how what a device sends reaches that of another rank: from address to "
               "address, where the transport can (native), by way of the hosts (reference), or by puts of "
               "the kernels (symmetric: NVSHMEM, or the emulator); default: auto, native if it can, else "
               "reference"},
              [&options](const std::string& text) {
                options.memory = choose_of("--memory", text, memory_kinds);
              });
  group.flag(
      "--checked",
      "verify a checksum of every message, so that a damaged one ends the run (one-sided queues always do)",
      options.checked);
}

index_t launched_ranks() { return number_in_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 0); }
index_t launched_rank() { return number_in_environment({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0); }

}  // namespace palmette::cli
