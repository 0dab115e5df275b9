// Reads --machine, --ranks, --grid, --map, --layers, --method, --trees, --num-rhs.
#include "cli/prediction_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/machine_file.hpp"
#include "cli/method_options.hpp"
#include "cli/names.hpp"
#include "cli/placement_options.hpp"

namespace palmette::cli {

constexpr std::int64_t most_predicted_ranks = 1 << 16;

std::vector<index_t> parse_ranks(const std::string& text) {
  std::vector<index_t> result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t colon = part.find(':');
    const auto number = [](const std::string& word) {
      return parse_integer("--ranks", word, 1, most_predicted_ranks);
    };
    if (colon == std::string::npos) {
      result.push_back(static_cast<index_t>(number(part)));
    } else {
      const std::int64_t first = number(part.substr(0, colon)), last = number(part.substr(colon + 1));
      if (last < first)
        throw UsageError(fmt::format("--ranks {}: a range begins with the smaller number, as 64:4096", part));
      for (std::int64_t ranks = first; ranks <= last; ranks *= 2)
        result.push_back(static_cast<index_t>(ranks));
    }
    begin = end + 1;
  }
  return result;
}

void add_placement_options(CLI::App& app, PlacementOptions& options) {
  OptionGroup group(app, "Ranks");
  group.text({"--machine", "NAME|FILE|this",
              "the machine: " + joined(machine_names()) +
                  ", a file of the same form, or this one, as 'palmette measure' found it (default)"},
             options.machine);
  group.value({"--ranks", "P,P,...|A:B", "numbers of ranks; A:B doubles from A to B"},
              [&options](const std::string& text) { options.ranks = parse_ranks(text); });
  group.value({"--gpus", "P,P,...|A:B", "numbers of devices: each is a rank, all like the one of --device"},
              [&options](const std::string& text) {
                options.ranks = parse_ranks(text);
                options.counts_gpus = true;
              });
  group.value({"--grid", "RxC|auto",
               "grid of ranks, R*C of them (default: the nearest to a square; of devices one column), or "
               "grid and map that are predicted to be the fastest"},
              [&options](const std::string& text) {
                options.chooses_grid = text == "auto";
                if (!options.chooses_grid) options.grid = parse_grid(text);
              });
  add_map_and_trees(group, options.map, options.trees);
  group.value({"--layers", "L,L,...|A:B|auto",
               "layers of ranks (default: 1); those that do not divide the ranks are left out; auto: layers "
               "and grid that are predicted to be the fastest"},
              [&options](const std::string& text) {
                options.chooses_layers = text == "auto";
                if (options.chooses_layers)
                  options.chooses_grid = true;
                else
                  options.layers = parse_ranks(text);
              });
  group.value({"--method", "NAME",
               "how the solve is scheduled: " + method_help(predicted_places) +
                   ". auto: with --gpus those of devices; if there are several, the one that is predicted to "
                   "be fastest. With --gpus, those for ranks are of the hosts of devices"},
              [&options](const std::string& text) { options.method = read_method(text, predicted_places); });
  group.value({"--subtrees", "whole|split",
               "small subtrees stay on one rank each (default), or every supernode is distributed, as in "
               "[Ding et al. 2020]"},
              [&options](const std::string& text) {
                if (text != "whole" && text != "split")
                  throw UsageError("--subtrees " + text + ": choose whole or split");
                options.splits_subtrees = text == "split";
              });
  OptionGroup system(app, "System");
  system.value({"--num-rhs", "K", "right-hand sides (default: 1)"}, [&options](const std::string& text) {
    options.num_rhs = static_cast<index_t>(parse_integer("--num-rhs", text, 1, 4096));
  });
}

void use_device(PlacementOptions& options, const std::string& device) {
  if (options.counts_gpus == device.empty())
    throw UsageError(device.empty() ? "--gpus counts devices: name their kind with --device, such as a100"
                                    : "--device " + device + ": add their number, as --gpus 1:256");
  if (device.empty()) return;
  if (options.machine != "this")
    throw UsageError("--machine and --device both name what ranks are: leave out either");
  if (device.find(',') != std::string::npos)
    throw UsageError("--device " + device + ": with --gpus all devices are alike, so name one");
  options.machine = device;
}

void add_packing_option(CLI::App& app, PlacementOptions& options) {
  OptionGroup group(app, "Ranks");
  group.value({"--packing", "never|auto|K",
               "small messages to one rank: alone (default), in packets where that is predicted to pay, or "
               "in packets that leave after at most K tasks (0: when they are full, or the rank is idle)"},
              [&options](const std::string& text) {
                options.chooses_packing = text == "auto";
                options.packing.reset();
                if (text == "auto" || text == "never") return;
                options.packing.emplace();
                options.packing->max_age_tasks = parse_integer("--packing", text, 0, 1 << 30);
              });
}

void add_groups_option(CLI::App& app, PlacementOptions& options) {
  OptionGroup group(app, "Ranks");
  group.value({"--rhs-groups", "G|auto",
               "right-hand sides in groups of columns, side by side: messages of one travel while another is "
               "computed (default: 1; auto: as many as are predicted to be fastest)"},
              [&options](const std::string& text) {
                options.chooses_rhs_groups = text == "auto";
                if (options.chooses_rhs_groups) return;
                options.rhs_groups = static_cast<index_t>(parse_integer("--rhs-groups", text, 1, 64));
              });
}

void check_method(const PlacementOptions& options) {
  if (options.chooses_layers)
    check_method(options.method, 0);
  else
    for (const index_t layers : options.layers) check_method(options.method, layers);
}

ProcessGrid grid_of_ranks(const PlacementOptions& options, index_t ranks) {
  if (!options.grid) return nearly_square_grid(ranks);
  if (options.grid->num_ranks() != ranks)
    throw UsageError(fmt::format("--grid {}x{} has {} ranks, --ranks asks for {}; leave out either",
                                 options.grid->rows, options.grid->cols, options.grid->num_ranks(), ranks));
  return *options.grid;
}

namespace {

/// The grid of --grid, or what is predicted to be the fastest.
GridChoice choose(const PlacementOptions& options, GridQuestion question, const Cluster& cluster) {
  question.maps = {options.map.value_or(PlacementMap::subtree_to_subcube)};
  if (options.chooses_grid) {
    if (!options.map) question.maps.push_back(PlacementMap::block_cyclic);
    return chosen_layout(question, cluster);
  }
  GridChoice one;
  one.layers = question.layers.front();
  one.grid = grid_of_ranks(options, question.num_ranks / one.layers);
  one.map = question.maps.front();
  if (one.layers == 1) return one;
  GridChoice best;
  for (const LayeredMethod method : question.methods) {
    one.method = method;
    one.seconds = question.methods.size() == 1 ? 0 : predicted_seconds(question, one, cluster);
    if (method == question.methods.front() || one.seconds < best.seconds) best = one;
  }
  return best;
}

Layout layout_for(const PlacementOptions& options, const GridQuestion& question, const Cluster& cluster) {
  const GridChoice found = choose(options, question, cluster);
  Layout layout{{found.grid, found.layers},
                found.map,
                question.whole,
                solve_method(found.layers, found.method),
                options.packing,
                options.rhs_groups};
  if (!options.chooses_packing && !options.chooses_rhs_groups) return layout;
  const SolveGraph tasks = tasks_of(question, found);
  const RankRates rates = rank_rates(tasks, cluster, question.num_rhs, question.scalar_bytes, question.kind);
  if (options.chooses_packing) layout.packing = choose_packing(tasks, rates).packing;
  if (options.chooses_rhs_groups) layout.rhs_groups = choose_rhs_groups(tasks, rates).groups;
  return layout;
}

/// Numbers of layers of so many ranks, each list for one layout.
std::vector<std::vector<index_t>> layers_of(const PlacementOptions& options, index_t ranks) {
  std::vector<std::vector<index_t>> result;
  if (options.chooses_layers) {
    result.push_back(layers_to_choose_from(options.method, ranks));
    if (result.back().empty()) result.clear();
  } else {
    for (const index_t layers : options.layers)
      if (ranks % layers == 0) result.push_back({layers});
  }
  return result;
}

[[noreturn]] void fail_without_layouts(const PlacementOptions& options) {
  if (!options.chooses_layers)
    throw UsageError("no number of --ranks is a multiple of a number of --layers");
  throw UsageError(fmt::format("--method {} needs several layers, and no number of --ranks can be several "
                               "layers of equal size",
                               name_of(options.method)));
}

}  // namespace

std::vector<Layout> layouts_of(const PlacementOptions& options, const SymbolicFactor& symbolic,
                               FactorKind kind, int scalar_bytes, const Cluster& cluster) {
  std::vector<Layout> layouts;
  for (const index_t ranks : options.ranks) {
    GridQuestion question{symbolic,
                          ranks,
                          {},
                          subtrees_for(symbolic, ranks, cluster.workers),
                          options.trees,
                          options.num_rhs,
                          scalar_bytes};
    question.kind = kind;
    if (options.splits_subtrees) question.whole = {false};
    question.methods = layered_methods(options.method);
    for (std::vector<index_t>& layers : layers_of(options, ranks)) {
      question.layers = std::move(layers);
      layouts.push_back(layout_for(options, question, cluster));
    }
  }
  if (layouts.empty()) fail_without_layouts(options);
  return layouts;
}

}  // namespace palmette::cli
