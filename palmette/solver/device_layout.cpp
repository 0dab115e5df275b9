// A price for each candidate.
#include "palmette/solver/device_layout.hpp"

#include <algorithm>
#include <tuple>

#include "palmette/solver/choose_device.hpp"

namespace palmette {
namespace {

/// Between the devices of a machine: estimates for NVLink 3, as in the machine file `perlmutter`.
constexpr Link nvlink{1.2, 300, 0.1, 0.1};

/// How many numbers of layers get other grids than one column.
constexpr std::size_t layers_with_all_grids = 2;

/// L and U, or L alone.
bool fits(const DeviceLayoutQuestion& question, const DeviceLayout& layout) {
  const offset_t triangles = question.kind == FactorKind::lu ? 2 : 1;
  return question.most_bytes == 0 || layout.price.most_panel_bytes * triangles <= question.most_bytes;
}

void sort_by_time(const DeviceLayoutQuestion& question, std::vector<DeviceLayout>& layouts) {
  const auto key = [&](const DeviceLayout& one) {
    return std::tuple(!fits(question, one), one.price.seconds, one.devices.layers, -one.devices.grid.rows);
  };
  std::stable_sort(layouts.begin(), layouts.end(),
                   [&](const DeviceLayout& a, const DeviceLayout& b) { return key(a) < key(b); });
}

std::vector<DeviceLayout> priced_columns(const DeviceLayoutQuestion& question, const Cluster& cluster) {
  std::vector<DeviceLayout> columns;
  for (const index_t layers : question.layers)
    if (layers >= 1 && question.num_devices % layers == 0)
      columns.push_back(
          priced_device_layout(question, {{question.num_devices / layers, 1}, layers}, cluster));
  sort_by_time(question, columns);
  return columns;
}

}  // namespace

LayeredMethod layered_method_of_devices(SolveMethod method) {
  return method == SolveMethod::devices_baseline_3d ? LayeredMethod::baseline_3d : LayeredMethod::one_sync_3d;
}

std::vector<index_t> device_layers(SolveMethod method, index_t num_devices) {
  check_solve_method(method, {SolveWhere::devices, SolveWhere::device_layers, SolveWhere::device_levels});
  for (const SolveMethodInfo& row : solve_method_list(SolveWhere::devices))
    if (row.method == method) return {1};
  std::vector<index_t> layers;
  for (index_t count = method == SolveMethod::automatic ? 1 : 2; count <= num_devices; ++count)
    if (num_devices % count == 0) layers.push_back(count);
  return layers;
}

DeviceLayout priced_device_layout(const DeviceLayoutQuestion& question, const LayeredGrid& devices,
                                  const Cluster& cluster) {
  ElementsCase given{question.symbolic, question.of_world, question.num_rhs, question.scalar_bytes};
  given.of_world.grid = devices.grid;
  given.of_world.layers = devices.layers;
  return {devices, price_elements(given, cluster)};
}

std::vector<DeviceLayout> ranked_device_layouts(const DeviceLayoutQuestion& question,
                                                const Cluster& cluster) {
  if (question.num_devices < 1)
    throw UsageError("a solve on " + std::to_string(question.num_devices) +
                     " devices; there must be at least 1");
  std::vector<DeviceLayout> layouts = priced_columns(question, cluster);
  if (layouts.empty())
    throw UsageError("no number of layers to choose from divides the " +
                     std::to_string(question.num_devices) + " devices");
  const std::size_t kept = std::min(layouts.size(), layers_with_all_grids);
  for (std::size_t k = 0; k < kept; ++k) {
    const index_t layers = layouts[k].devices.layers, count = question.num_devices / layers;
    for (index_t cols = 2; cols <= count; ++cols)
      if (count % cols == 0)
        layouts.push_back(priced_device_layout(question, {{count / cols, cols}, layers}, cluster));
  }
  sort_by_time(question, layouts);
  return layouts;
}

std::optional<Cluster> cluster_of(const DeviceInfo& device, index_t num_devices) {
  std::optional<Cluster> cluster = cluster_of(device);
  if (!cluster) return cluster;
  const double gbs = cluster->memory_gbs[0].rate;
  if (num_devices > 1) cluster->memory_gbs.push_back({double(num_devices), gbs * num_devices});
  cluster->links = {{"devices", 0, nvlink, 0}};
  return cluster;
}

}  // namespace palmette
