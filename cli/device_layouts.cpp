// Tickets, waits and messages of kernels in virtual time, for each layout.
#include "cli/device_layouts.hpp"

#include <fmt/format.h>

#include "cli/method_options.hpp"
#include "cli/report_table.hpp"
#include "cli/text.hpp"
#include "cli/this_machine.hpp"

namespace palmette::cli {
namespace {

constexpr SolveWhere on_devices[] = {SolveWhere::devices, SolveWhere::device_layers,
                                     SolveWhere::device_levels};

/// @param wanted  of several layers
SolveMethod method_of(SolveMethod wanted, const DeviceLayout& layout) {
  if (layout.devices.layers == 1) return SolveMethod::devices_fan_out;
  return wanted == SolveMethod::automatic ? SolveMethod::devices_one_sync_3d : wanted;
}

void check_options(const PlacementOptions& options) {
  if (options.method == SolveMethod::devices_solve_wait)
    throw UsageError("devices_solve_wait is not predicted: choose devices_fan_out, which has the same tasks");
  if (options.map && *options.map != PlacementMap::block_cyclic)
    throw UsageError("--map " + std::string(name_of(*options.map)) +
                     " is for ranks: devices have blocks in turn; leave out --map");
  if (options.chooses_packing || options.packing)
    throw UsageError("--packing is for ranks: devices send each message alone; leave it out");
  using enum SolveWhere;
  if (options.chooses_layers)
    return check_solve_method(options.method, {devices, device_layers, device_levels});
  for (const index_t layers : options.layers)
    if (layers > 1)
      check_solve_method(options.method, {device_layers, device_levels});
    else
      check_solve_method(options.method, {devices});
}

LayeredGrid given_grid(const PlacementOptions& options, const DeviceLayoutQuestion& question) {
  const index_t layers = question.layers.front(), count = question.num_devices / layers;
  if (!options.grid) return {{count, 1}, layers};
  return {grid_of_ranks(options, count), layers};
}

DeviceLayout layout_for(const PlacementOptions& options, const DeviceLayoutQuestion& question,
                        const Cluster& cluster) {
  if (options.chooses_grid) return ranked_device_layouts(question, cluster).front();
  return priced_device_layout(question, given_grid(options, question), cluster);
}

/// Numbers of layers of so many devices, each list for one layout.
std::vector<std::vector<index_t>> lists_of_layers(const PlacementOptions& options, index_t devices) {
  std::vector<std::vector<index_t>> lists;
  if (options.chooses_layers) {
    lists.push_back(device_layers(options.method, devices));
    if (lists.back().empty()) lists.clear();
    return lists;
  }
  for (const index_t layers : options.layers)
    if (devices % layers == 0) lists.push_back({layers});
  return lists;
}

std::vector<DeviceLayout> device_layouts_of(const PlacementOptions& options, DeviceLayoutQuestion question,
                                            const Cluster& cluster) {
  std::vector<DeviceLayout> layouts;
  for (const index_t devices : options.ranks)
    for (std::vector<index_t>& layers : lists_of_layers(options, devices)) {
      question.num_devices = devices;
      question.layers = std::move(layers);
      layouts.push_back(layout_for(options, question, cluster));
    }
  if (layouts.empty()) throw UsageError("no number of --gpus can be several layers of equal size");
  return layouts;
}

Json json_of(SolveMethod wanted, const DeviceLayout& one) {
  const ElementsPrice& price = one.price;
  return {{"simulated", true},
          {"measured", false},
          {"method", name_of(method_of(wanted, one))},
          {"ranks", one.devices.num_ranks()},
          {"layers", one.devices.layers},
          {"grid_rows", one.devices.grid.rows},
          {"grid_cols", one.devices.grid.cols},
          {"seconds", price.seconds},
          {"forward_seconds", price.forward_seconds},
          {"backward_seconds", price.backward_seconds},
          {"tasks", price.tasks},
          {"messages", price.messages},
          {"message_bytes", price.message_bytes},
          {"panel_bytes", price.panel_bytes},
          {"most_panel_bytes", price.most_panel_bytes},
          {"polls", price.polls}};
}

std::string table_of(SolveMethod wanted, const std::vector<DeviceLayout>& layouts) {
  TextTable table({"devices", "grid", "method", "time", "messages", "sent", "polls"});
  for (const DeviceLayout& one : layouts) {
    const ProcessGrid& grid = one.devices.grid;
    table.add({format_count(one.devices.num_ranks()),
               fmt::format("{}x{}x{}", grid.rows, grid.cols, one.devices.layers),
               std::string(name_of(method_of(wanted, one))), format_seconds(one.price.seconds),
               format_count(one.price.messages), format_bytes(static_cast<double>(one.price.message_bytes)),
               format_count(one.price.polls)});
  }
  return table.text({2});
}

template <class T>
int run_matrix(const DeviceLayoutsCommand& command, const SparseMatrix<T>& matrix, const MachineFile& machine,
               ProgressBar& progress) {
  const Structure structure = find_structure(matrix, command.structure, progress);
  const PlacementOptions& options = command.placement;
  DeviceLayoutQuestion question{structure.symbolic};
  question.of_world.trees = options.trees;
  if (options.splits_subtrees) question.of_world.subtrees = WholeSubtrees{false};
  question.of_world.layered_method = layered_method_of_devices(options.method);
  question.num_rhs = options.num_rhs;
  question.scalar_bytes = static_cast<int>(sizeof(T));
  question.kind = structure.kind;
  progress.begin(command.word);
  const std::vector<DeviceLayout> layouts = device_layouts_of(options, question, machine.cluster);
  progress.end();
  Json document = structure_json(structure.report);
  document["machine"] = machine.cluster.name;
  document["num_rhs"] = options.num_rhs;
  document[command.rows] = Json::array();
  for (const DeviceLayout& one : layouts) document[command.rows].push_back(json_of(options.method, one));
  if (command.output.shows_table()) {
    FactList facts(16);
    facts.add("matrix", matrix_sentence(structure.report.matrix));
    facts.add("machine", fmt::format("{}: {}", machine.cluster.name, machine.cluster.description));
    facts.add("one solve", fmt::format("both sweeps, {}; b and x lie on the devices",
                                       plural(options.num_rhs, "right-hand side")));
    print(facts.text() + "\n" + table_of(options.method, layouts) +
          "\n  Not measured: the programs of the kernels in virtual time, without arithmetic.\n"
          "  Messages and bytes are counted from them.\n");
  }
  return finish(command.output, document);
}

}  // namespace

bool goes_by_kernels(const PlacementOptions& options) {
  if (!options.counts_gpus) return false;
  if (options.method == SolveMethod::automatic) return true;
  for (const SolveWhere place : on_devices)
    for (const SolveMethodInfo& row : solve_method_list(place))
      if (row.method == options.method) return true;
  return false;
}

int run_device_layouts(const DeviceLayoutsCommand& command) {
  check_options(command.placement);
  const MachineFile machine = machine_by_name(command.placement.machine);
  ProgressBar progress(!command.output.quiet);
  const ReadResult input = read_input(command.matrix, command.structure.threads, progress);
  check_square(input, command.matrix.path, command.word);
  return std::visit([&](const auto& matrix) { return run_matrix(command, matrix, machine, progress); },
                    input.matrix);
}

}  // namespace palmette::cli
