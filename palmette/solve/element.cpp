// Packs an element's part of a factor, and sets up the sweeps that its kernels run.
#include "palmette/solve/element.hpp"

#include <algorithm>
#include <bit>

namespace palmette::solve_detail {
namespace {

/// The first rows of a whole panel.
template <class T>
PanelSource<T> own_panels(const HostElement& element, const SupernodalTriangle<T>& triangle) {
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

template <class T>
PackedBlocks<T> pack_blocks(const HostElement& element, const SupernodalTriangle<T>& triangle) {
  const SymbolicFactor& whole = triangle.structure().symbolic();
  PackedBlocks<T> packed;
  std::vector<T> room;
  index_t expanded = -1;
  bool inverted = false;
  for (const BlockOfElement& block : element.blocks) {
    const index_t width = whole.width(block.supernode);
    room.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(width));
    const DenseView<T> inverse{room.data(), width, width, width};
    if (expanded != block.supernode) inverted = triangle.expand_diagonal(block.supernode, inverse);
    expanded = block.supernode;
    const DenseView<const T> below = triangle.below(block.supernode);
    packed.add({below.data + block.first, block.count, width, below.ld}, inverted, inverse);
  }
  return packed;
}

template <class T>
ElementPanels<T> panels_of(const HostElement& host, const SupernodalTriangle<T>& triangle) {
  return {own_panels(host, triangle), pack_blocks(host, triangle)};
}

template <class T>
std::vector<T> own_values(const HostElement& element, std::span<const T> all) {
  std::vector<T> own;
  for (const index_t row : element.row) own.push_back(all[row]);
  return own;
}

}  // namespace

void check_network(const DeviceWorld& world, const WorldOptions& options) {
  if (options.by_network && !world.has_network())
    throw UsageError("these devices have no network: leave out WorldOptions::by_network");
}

int widest_of(const SymbolicFactor& symbolic) {
  int widest = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    widest = std::max(widest, static_cast<int>(symbolic.width(s)));
  return widest;
}

template <class T>
void PackedBlocks<T>::add(DenseView<const T> c, bool inverted, DenseView<const T> inverse) {
  constexpr long long aligned = device::panel_alignment<T>;
  DenseView<const T> m = c;
  if (inverted) {
    product_.resize(static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.cols));
    const DenseView<T> product{product_.data(), c.rows, c.cols, c.rows};
    multiply_plain<T>(c, inverse, product);
    m = product;
  }
  const int height = device::panel_layout<T>(m.cols, m.rows).height;
  const device::PanelLayout layout = device::layout_below(m.cols, m.rows, height, device::rows_per_load<T>);
  const int above = layout.first_below();
  const long long at = static_cast<long long>(values.size());
  const long long entries = layout.entries() - layout.begin(above);
  panel.push_back({at, m.cols, m.rows, std::countr_zero(static_cast<unsigned>(height))});
  values.resize(static_cast<std::size_t>(at + (entries + aligned - 1) / aligned * aligned), T(0));
  const int first_row = above * height;  // of the layout, for row 0 of the block
  device::pack_panel(
      layout, [&](int row, int column) { return m(row - first_row, column); }, values.data() + at, above);
}

template <class T>
ElementParts<T> element_parts(const HostElement& host, const SupernodalParts<T>& parts) {
  ElementParts<T> result{panels_of(host, *parts.lower), {}, {}, {}};
  if (parts.upper) result.upper.emplace(panels_of(host, *parts.upper));
  if (!parts.diagonal) return result;
  result.diagonal = own_values<T>(host, parts.diagonal->diagonal());
  result.diagonal_below = own_values<T>(host, parts.diagonal->below());
  result.is_hermitian = parts.diagonal->is_hermitian();
  return result;
}

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
  return {task_.data(),      wait_.data(), signal_.data(), sum_.data(),  part_.data(),  place_.data(),
          reduction_.data(), send_.data(), value_.data(),  copy_.data(), block_.data(), meeting_.data()};
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
ElementTriangle<T>::ElementTriangle(const std::shared_ptr<Device>& device, const ElementPanels<T>& given,
                                    const BlockTasks& tasks, ThreadTeam* team)
    : panels(device, given.own, tasks, team),
      values(device, given.blocks.values),
      blocks(device, given.blocks.panel) {}

template <class T>
Element<T>::Element(std::shared_ptr<Device> on, const HostElement& host, const ElementParts<T>& parts,
                    ThreadTeam* team)
    : device(std::move(on)),
      tree(device, host.structure->sweep->symbolic(), false),
      lower(device, parts.lower, tree.tasks(), team),
      diagonal(device, parts.diagonal),
      diagonal_below(device, parts.diagonal_below),
      is_hermitian(parts.is_hermitian),
      forward(device, host.forward),
      backward(device, host.backward),
      done(device, std::vector<int>(std::max(host.forward.task.size(), host.backward.task.size()), 0)),
      status(device, std::vector<device::ElementStatus>(1)) {
  if (parts.upper) upper.emplace(device, *parts.upper, tree.tasks(), team);
}

template <class T>
void Element<T>::release_vectors() {
  for (DeviceArray<T>* const array : {&in, &out, &local}) *array = {};
}

template <class T>
void Element<T>::reserve(index_t stride, const HostElement& host) {
  const auto rows = static_cast<std::size_t>(host.structure->sweep->symbolic().n);
  const auto width = static_cast<std::size_t>(stride);
  release_vectors();  // before more is asked for
  in = {device, rows * width};
  out = {device, rows * width};
  local = {device, static_cast<std::size_t>(host.local_rows) * width};
}

template <class T>
device::ElementSweep<T> Element<T>::arguments(const HostElement& host, const ElementRun& run) {
  const ElementTriangle<T>& triangle = run.step.upper ? *upper : lower;
  DeviceProgram& program = run.step.forward ? forward : backward;
  program.clear_tickets();
  device::ElementSweep<T> a{};
  a.own.tree = tree.view();
  a.own.panels = triangle.panels.view();
  if (run.step.divides) a.own.diagonal = {diagonal.data(), diagonal_below.data(), is_hermitian};
  a.own.at.in = in.data();
  a.own.at.x = out.data();
  a.own.at.update = local.data() + host.update_at * run.stride;
  a.own.at.sweep = run.sweep;
  a.own.at.stride = run.stride;
  a.own.at.widest = run.widest;
  a.own.at.tile = tile_of<T>(run.widest, run.stride);
  a.own.at.adjoint = run.step.adjoint;
  a.program = program.view();
  a.blocks = {triangle.values.data(), triangle.blocks.data()};
  a.local = local.data();
  a.done = done.data();
  return a;
}

template <class T>
device::ElementStatus Element<T>::found_status() const {
  device::ElementStatus found{};
  device->copy_out(&found, status.data(), sizeof found);
  return found;
}

template <class T>
offset_t Element<T>::memory_bytes() const {
  return tree.memory_bytes() + lower.memory_bytes() + (upper ? upper->memory_bytes() : 0) +
         forward.memory_bytes() + backward.memory_bytes() +
         static_cast<offset_t>(diagonal.bytes() + diagonal_below.bytes() + done.bytes() + in.bytes() +
                               out.bytes() + local.bytes() + stores.bytes() + signals.bytes());
}

#define PALMETTE_INSTANTIATE(T)                                                             \
  template struct PackedBlocks<T>;                                                          \
  template ElementParts<T> element_parts<T>(const HostElement&, const SupernodalParts<T>&); \
  template struct ElementTriangle<T>;                                                       \
  template struct Element<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
