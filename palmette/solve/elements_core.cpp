// A solve on several devices: each element gets its rows of the right-hand sides, all sweep together, and
// each gives its rows of the solution back.
#include "palmette/solve/elements_core.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "palmette/solve/rhs_vectors.hpp"

namespace palmette::solve_detail {
namespace {

std::string words(const WorldOptions& options) {
  const std::string grid = std::to_string(options.grid.rows) + " x " + std::to_string(options.grid.cols);
  return options.layers == 1 ? grid : grid + " x " + std::to_string(options.layers);
}

ProcessGrid grid_of(const DeviceWorld& world, const WorldOptions& options) {
  if (options.layers < 1)
    throw UsageError(std::to_string(options.layers) + " layers of devices; there must be at least 1");
  if (options.grid.cols == 0) {
    if (world.size() % options.layers != 0)
      throw UsageError(std::to_string(options.layers) + " layers of equal size do not fit " +
                       std::to_string(world.size()) + " devices");
    return {static_cast<index_t>(world.size() / options.layers), 1};
  }
  const ProcessGrid& grid = options.grid;
  const std::int64_t count = std::int64_t{grid.rows} * grid.cols * options.layers;
  if (grid.rows < 1 || grid.cols < 1 || count > world.size())
    throw UsageError("a grid of " + words(options) + " devices needs " + std::to_string(count) +
                     "; there are " + std::to_string(world.size()));
  return grid;
}

HostElements programs_of(const SymbolicFactor& symbolic, const WorldOptions& options, int entry_bytes) {
  constexpr auto map = PlacementMap::block_cyclic;
  if (options.layers == 1)
    return element_programs(symbolic, place(symbolic, options.grid, map, options.subtrees), options.trees,
                            entry_bytes);
  auto cut = std::make_shared<const Layering>(cut_into_layers(symbolic, options.layers));
  return layered_element_programs(layer_systems(symbolic, std::move(cut), LayeredMethod::one_sync_3d,
                                                {{options.grid, options.layers}, map, options.subtrees}),
                                  options.trees, entry_bytes);
}

int widest_of(const SymbolicFactor& symbolic) {
  int widest = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    widest = std::max(widest, static_cast<int>(symbolic.width(s)));
  return widest;
}

/// The first rows of a whole panel.
template <class T>
PanelSource<T> panels_of(const HostElement& element, const SupernodalTriangle<T>& triangle) {
  const SymbolicFactor& whole = triangle.structure().symbolic();
  PanelSource<T> source{element.structure->sweep->symbolic(), {}, {}};
  source.expand = [&](index_t s, DenseView<T> m) {
    const index_t number = element.supernode[s];
    const offset_t rows = whole.leading_dimension(number);
    if (rows == m.rows) return triangle.expand(number, m);
    std::vector<T> room(rows * m.cols);
    const bool inverted = triangle.expand(number, {room.data(), static_cast<index_t>(rows), m.cols, rows});
    for (index_t k = 0; k < m.cols; ++k) std::copy_n(room.data() + k * rows, m.rows, m.column(k));
    return inverted;
  };
  if (triangle.may_be_permuted())
    source.permutation = [&](index_t s) { return triangle.permutation(element.supernode[s]); };
  return source;
}

/// Blocks in chunks, as rows below a diagonal block.
template <class T>
struct PackedBlocks {
  std::vector<T> values;
  std::vector<device::BlockPanel> panel;
};

template <class T>
PackedBlocks<T> pack_blocks(const HostElement& element, const SupernodalTriangle<T>& triangle) {
  constexpr long long aligned = device::panel_alignment<T>;
  const SymbolicFactor& whole = triangle.structure().symbolic();
  PackedBlocks<T> packed;
  std::vector<T> room;
  index_t expanded = -1;
  for (const BlockOfElement& block : element.blocks) {
    const index_t width = whole.width(block.supernode);
    const offset_t rows = whole.leading_dimension(block.supernode);
    room.resize(rows * width);
    const DenseView<T> m{room.data(), static_cast<index_t>(rows), width, rows};
    if (expanded != block.supernode) (void)triangle.expand(block.supernode, m);
    expanded = block.supernode;
    const int height = device::panel_layout<T>(width, block.count).height;
    const device::PanelLayout layout =
        device::layout_below(width, block.count, height, device::rows_per_load<T>);
    const int above = layout.first_below();
    const long long at = static_cast<long long>(packed.values.size());
    const long long entries = layout.entries() - layout.begin(above);
    packed.panel.push_back({at, width, block.count, std::countr_zero(static_cast<unsigned>(height))});
    packed.values.resize(at + (entries + aligned - 1) / aligned * aligned, T(0));
    const int first_row = width + block.first - above * height;  // of the panel, for row 0 of the layout
    device::pack_panel(
        layout, [&](int row, int column) { return m(first_row + row, column); }, packed.values.data() + at,
        above);
  }
  return packed;
}

template <class T>
std::vector<T> own_values(const HostElement& element, std::span<const T> all) {
  std::vector<T> own;
  for (const index_t row : element.row) own.push_back(all[row]);
  return own;
}

}  // namespace

DeviceProgram::DeviceProgram(const std::shared_ptr<Device>& device, const HostProgram& program)
    : task_(device, program.task),
      wait_(device, program.wait),
      signal_(device, program.signal),
      place_(device, program.place),
      order_(device, program.order),
      order_of_waits_(device, program.order_of_waits),
      order_of_solves_(device, program.order_of_solves),
      ticket_(device, 2),
      sum_(device, program.sum),
      part_(device, program.part),
      reduction_(device, program.reduction),
      send_(device, program.send),
      value_(device, program.value),
      copy_(device, program.copy),
      block_(device, program.block),
      meeting_(device, program.meeting) {}

device::ElementProgram DeviceProgram::view() const {
  return {task_.data(),      wait_.data(), signal_.data(), sum_.data(),  part_.data(), place_.data(),
          reduction_.data(), send_.data(), value_.data(),  copy_.data(), block_.data(),
          meeting_.data()};
}

device::ElementOrder DeviceProgram::order(Share share) const {
  const DeviceArray<int>& order = share == Share::all     ? order_
                                  : share == Share::waits ? order_of_waits_
                                                          : order_of_solves_;
  return {order.data(), static_cast<int>(order.size()), ticket_.data() + (share == Share::waits ? 1 : 0)};
}

void DeviceProgram::clear_tickets() {
  ticket_.clear();
}

offset_t DeviceProgram::memory_bytes() const {
  return static_cast<offset_t>(task_.bytes() + wait_.bytes() + signal_.bytes() + place_.bytes() +
                               order_.bytes() + order_of_waits_.bytes() + order_of_solves_.bytes() +
                               ticket_.bytes() + sum_.bytes() + part_.bytes() + reduction_.bytes() +
                               send_.bytes() + value_.bytes() + copy_.bytes() + block_.bytes() +
                               meeting_.bytes());
}

template <class T>
ElementTriangle<T>::ElementTriangle(const std::shared_ptr<Device>& device, const HostElement& element,
                                    const SupernodalTriangle<T>& triangle, const BlockTasks& tasks,
                                    ThreadTeam* team)
    : panels(device, panels_of(element, triangle), tasks, team) {
  const PackedBlocks<T> packed = pack_blocks(element, triangle);
  values = {device, packed.values};
  blocks = {device, packed.panel};
}

template <class T>
Element<T>::Element(std::shared_ptr<Device> on, const HostElement& host, const SupernodalParts<T>& parts,
                    ThreadTeam* team)
    : device(std::move(on)),
      tree(device, host.structure->sweep->symbolic(), false),
      lower(device, host, *parts.lower, tree.tasks(), team),
      forward(device, host.forward),
      backward(device, host.backward),
      done(device, std::vector<int>(std::max(host.forward.task.size(), host.backward.task.size()), 0)) {
  if (parts.upper) upper.emplace(device, host, *parts.upper, tree.tasks(), team);
  if (!parts.diagonal) return;
  diagonal = {device, own_values<T>(host, parts.diagonal->diagonal())};
  diagonal_below = {device, own_values<T>(host, parts.diagonal->below())};
}

template <class T>
void Element<T>::reserve(index_t stride, const HostElement& host) {
  const auto rows = static_cast<std::size_t>(host.structure->sweep->symbolic().n);
  const auto width = static_cast<std::size_t>(stride);
  for (DeviceArray<T>* const array : {&in, &out, &local}) *array = {};  // given back before more is asked for
  in = {device, rows * width};
  out = {device, rows * width};
  local = {device, static_cast<std::size_t>(host.local_rows) * width};
}

template <class T>
offset_t Element<T>::memory_bytes() const {
  return tree.memory_bytes() + lower.memory_bytes() + (upper ? upper->memory_bytes() : 0) +
         forward.memory_bytes() + backward.memory_bytes() +
         static_cast<offset_t>(diagonal.bytes() + diagonal_below.bytes() + done.bytes() + in.bytes() +
                               out.bytes() + local.bytes() + stores.bytes() + signals.bytes());
}

template <class T>
ElementsCore<T>::ElementsCore(std::shared_ptr<DeviceWorld> world, const WorldOptions& options,
                              SupernodalParts<T> parts, ThreadTeam* team)
    : world_(std::move(world)),
      options_(options),
      shape_(parts.shape()),
      cost_(supernodal_cost<T>(*parts.structure, parts.lower_only)),
      guarded_blocks_(parts.guarded_blocks()),
      n_(parts.structure->symbolic().n),
      widest_(widest_of(parts.structure->symbolic())) {
  options_.grid = grid_of(*world_, options);
  if (options.by_network && !world_->has_network())
    throw UsageError("these devices have no network: solve by stores to each other's memory");
  const SymbolicFactor& symbolic = parts.structure->symbolic();
  host_ = programs_of(symbolic, options_, sizeof(T));
  for (std::size_t e = 0; e < host_.element.size(); ++e)
    elements_.emplace_back(world_->element(static_cast<int>(e)), host_.element[e], parts, team);
  host_diagonal_ = std::move(parts.diagonal);
  signals_ = {*world_, static_cast<std::size_t>(std::max(host_.num_signals, 1))};
  std::vector<device::ElementSignal*> signals;
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    signals.push_back(signals_.data(static_cast<int>(e)));
    elements_[e].device->clear(signals.back(), signals_.bytes());
  }
  for (Element<T>& element : elements_) element.signals = {element.device, signals};
}

template <class T>
void ElementsCore<T>::reserve(index_t stride) const {
  if (stride_ >= stride) return;
  stride_ = 0;
  shared_ = {};
  for (std::size_t e = 0; e < elements_.size(); ++e) elements_[e].reserve(stride, host_.element[e]);
  shared_ = {*world_, static_cast<std::size_t>(host_.shared_rows) * stride};
  std::vector<T*> stores;
  for (std::size_t e = 0; e < elements_.size(); ++e) stores.push_back(shared_.data(static_cast<int>(e)));
  for (Element<T>& element : elements_) element.stores = {element.device, stores};
  stride_ = stride;
}

template <class T>
void ElementsCore<T>::copy_vectors(const CoreRun<T>& given, const SweepStep* step) const {
  const index_t stride = device_stride_of(given.num_rhs());
  const RhsRows<T> kept{given.workspace.work.data(), stride};
  std::vector<T> rows;
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const HostElement& host = host_.element[e];
    Element<T>& element = elements_[e];
    rows.resize(host.row.size() * static_cast<std::size_t>(stride));
    const std::size_t bytes = rows.size() * sizeof(T);
    if (step == nullptr) element.device->copy_out(rows.data(), element.in.data(), bytes);
    for (std::size_t k = 0; k < host.row.size(); ++k) {
      T* const here = rows.data() + k * static_cast<std::size_t>(stride);
      const bool is_led = host.is_led.empty() || host.is_led[k] != 0;
      if (step == nullptr) {
        if (is_led) std::copy_n(here, stride, kept.row(host.row[k]));
      } else if (is_led || !step->forward) {
        std::copy_n(kept.row(host.row[k]), stride, here);
      } else {
        std::fill_n(here, stride, T(0));  // its layers' parts of y add up to y
      }
    }
    if (step != nullptr) element.device->copy_in(element.in.data(), rows.data(), bytes);
  }
}

template <class T>
void ElementsCore<T>::run(const SweepOrder& steps, const CoreRun<T>& given) const {
  const RhsRows<T> kept{given.workspace.work.data(), device_stride_of(given.num_rhs())};
  load_rhs(given.in, 0, n_, kept);
  {
    const std::lock_guard lock(one_solve_);
    reserve(kept.stride);
    copy_vectors(given, &steps.step[0]);
    for (int k = 0; k < steps.count; ++k) {
      sweep(steps.step[k], given);
      for (Element<T>& element : elements_) std::swap(element.in, element.out);
    }
    copy_vectors(given, nullptr);
  }
  store_rhs<T>(given.out, 0, n_, kept);
}

template <class T>
device::ElementSweep<T> ElementsCore<T>::arguments(int number, const SweepStep& step, index_t stride) const {
  Element<T>& element = elements_[number];
  const ElementTriangle<T>& triangle = step.upper ? *element.upper : element.lower;
  DeviceProgram& program = step.forward ? element.forward : element.backward;
  program.clear_tickets();
  device::ElementSweep<T> a{};
  a.own.tree = element.tree.view();
  a.own.panels = triangle.panels.view();
  if (step.divides)
    a.own.diagonal = {element.diagonal.data(), element.diagonal_below.data(), host_diagonal_->is_hermitian()};
  a.own.at.in = element.in.data();
  a.own.at.x = element.out.data();
  a.own.at.update = element.local.data() + host_.element[number].update_at * stride;
  a.own.at.sweep = sweeps_;
  a.own.at.stride = stride;
  a.own.at.widest = widest_;
  a.own.at.tile = tile_of<T>(widest_, stride);
  a.own.at.adjoint = step.adjoint;
  a.program = program.view();
  a.blocks = {triangle.values.data(), triangle.blocks.data()};
  a.link = {element.stores.data(), element.signals.data()};
  a.shared = shared_.data(number);
  a.local = element.local.data();
  a.signals = signals_.data(number);
  a.done = element.done.data();
  a.shared_rows = host_.shared_rows;
  return a;
}

template <class T>
std::vector<ElementLaunch> ElementsCore<T>::launches(const SweepStep& step, bool two_kernels,
                                                     std::vector<device::ElementSweep<T>>& arguments) const {
  using enum device::Kernel;
  std::vector<ElementLaunch> all;
  for (device::ElementSweep<T>& one : arguments) {
    const auto number = static_cast<int>(all.size()) / (two_kernels ? 2 : 1);
    ElementLaunch launch;
    launch.element = number;
    launch.call = {options_.by_network ? (step.forward ? network_forward : network_backward)
                                       : (step.forward ? element_forward : element_backward),
                   ScalarTraits<T>::type, one.own.at.stride == 1 ? 1 : device::rhs_of_lane, &one};
    launch.shape = {0, 0, device::shared_bytes_of_sweep<T>(widest_, one.own.at.tile)};
    if (two_kernels) {
      // Both must be resident together: one block waits, the rest solve.
      const bool waits = all.size() % 2 == 1;
      launch.shape = world_->resident_shape(launch);
      if (launch.shape.blocks < 2)
        throw UsageError(
            "the method devices_solve_wait needs two resident blocks on each device: choose "
            "devices_fan_out");
      launch.shape.blocks = waits ? 1 : launch.shape.blocks - 1;
      launch.shape.stream = waits ? 2 : 1;
    }
    all.push_back(launch);
  }
  return all;
}

template <class T>
void ElementsCore<T>::sweep(const SweepStep& step, const CoreRun<T>& given) const {
  using Share = DeviceProgram::Share;
  ++sweeps_;
  const bool two_kernels = given.method == SolveMethod::devices_solve_wait;
  std::vector<device::ElementSweep<T>> all;
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    all.push_back(arguments(static_cast<int>(e), step, device_stride_of(given.num_rhs())));
    const DeviceProgram& program = step.forward ? elements_[e].forward : elements_[e].backward;
    all.back().order = program.order(two_kernels ? Share::solves : Share::all);
    if (!two_kernels) continue;
    all.push_back(all.back());
    all.back().order = program.order(Share::waits);
  }
  world_->run(launches(step, two_kernels, all));
}

template <class T>
void ElementsCore<T>::solve(bool transposed, const CoreRun<T>& given) const {
  run(steps_of_solve(shape_, transposed), given);
}

template <class T>
void ElementsCore<T>::solve_part(FactorPart part, Operation operation, const CoreRun<T>& given) const {
  solve_one_part(shape_, host_diagonal_ ? &*host_diagonal_ : nullptr, {part, operation}, given,
                 [this](const SweepOrder& steps, const CoreRun<T>& turned) { run(steps, turned); });
}

template <class T>
WorkspaceNeed ElementsCore<T>::workspace_need(index_t num_rhs) const {
  return need_of_host_rows<T>(n_, num_rhs);
}

template <class T>
offset_t ElementsCore<T>::memory_bytes() const {
  const std::lock_guard lock(one_solve_);
  offset_t bytes = host_diagonal_ ? host_diagonal_->memory_bytes() : 0;
  for (const Element<T>& element : elements_)
    bytes += element.memory_bytes() + static_cast<offset_t>(shared_.bytes() + signals_.bytes());
  return bytes;
}

#define PALMETTE_INSTANTIATE(T)       \
  template struct ElementTriangle<T>; \
  template struct Element<T>;         \
  template class ElementsCore<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
