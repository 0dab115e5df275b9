// One solve on a device: a kernel brings the vectors into the order of the sweeps, two sweeps run, and a
// kernel brings them back.
#include "palmette/solve/device_core.hpp"

#include <algorithm>
#include <mutex>

#include "palmette/solve/device_maps.hpp"
#include "palmette/solve/elements_core.hpp"
#include "palmette/solve/rhs_vectors.hpp"

namespace palmette::solve_detail {
namespace {

template <class T>
void check_memory(const Device& device, const SupernodalParts<T>& parts) {
  const FactorKind kind = parts.upper      ? FactorKind::lu
                          : parts.diagonal ? FactorKind::ldlt
                                           : FactorKind::llt;
  const offset_t bytes =
      predicted_device_bytes<T>(parts.structure->symbolic(), kind, 1, parts.num_scales).sum();
  const offset_t free = device.info().memory_bytes - device.bytes_in_use();
  if (bytes > free)
    throw MemoryError("the factor needs " + std::to_string(bytes) + " bytes on the device " +
                          device.info().address() + ", where " + std::to_string(free) +
                          " are free: choose a device with more memory, or solve on the host",
                      bytes);
}

/// @returns its argument, once the device is known to hold the factor
template <class T>
std::shared_ptr<Device> checked(std::shared_ptr<Device> device, const SupernodalParts<T>& parts) {
  check_memory(*device, parts);
  return device;
}

/// Right-hand sides of a group, which a lane multiplies by together.
int sides_of_group(int stride) { return stride == 1 ? 1 : device::rhs_of_lane; }

/// @throws UsageError if a supernode is too wide
template <class T>
int shared_bytes(const device::SweepVectors<T>& at) {
  return device::shared_bytes_of_sweep<T>(at.widest, tile_of<T>(at.widest, sides_of_group(at.stride)));
}

}  // namespace

template <class T>
DeviceVectors<T>::DeviceVectors(std::shared_ptr<Device> device, const DeviceTree& tree)
    : device_(std::move(device)),
      tree_(tree),
      done_(device_, std::vector<int>(tree.tasks().supernode_of.size(), 0)),
      ticket_(device_, 2) {}

template <class T>
T* DeviceVectors<T>::begin(index_t num_rhs) {
  const index_t stride_of_device = device_stride_of(num_rhs);
  const auto stride = static_cast<std::size_t>(stride_of_device);
  const std::size_t flags =
      tree_.tasks().supernode_of.size() * static_cast<std::size_t>(device_groups_of(stride_of_device));
  if (done_.size() < flags) {
    done_ = {device_, flags};
    done_.clear();
  }
  const std::size_t entries = static_cast<std::size_t>(tree_.num_columns()) * stride;
  if (x_.size() < entries) {
    // Their memory is given back before more is asked for. x comes last: if there is too little, its size
    // says that some are missing.
    x_ = {};
    y_ = {};
    update_ = {};
    y_ = {device_, entries};
    update_ = {device_, static_cast<std::size_t>(tree_.num_rows_below()) * stride};
    x_ = {device_, entries};
  }
  in_ = false;
  return x_.data();
}

template <class T>
void DeviceVectors<T>::begin_sums(index_t stride) {
  const std::size_t entries = static_cast<std::size_t>(tree_.num_columns()) * stride;
  const index_t groups = device_groups_of(stride);
  if (sum_.size() < entries) sum_ = {device_, entries};
  sum_.clear();
  if (groups != groups_of_sources_) {
    std::vector<int> sources;
    for (const int count : tree_.num_sources()) sources.insert(sources.end(), groups, count);
    sources_ = {device_, sources};
    missing_ = {device_, sources_.size()};
    groups_of_sources_ = groups;
  }
  if (sources_.size() > 0) device_->copy_there(missing_.data(), sources_.data(), sources_.bytes());
}

template <class T>
device::SweepVectors<T> DeviceVectors<T>::begin_sweep(index_t num_rhs, bool by_columns) {
  device::SweepVectors<T> at{};
  at.stride = device_stride_of(num_rhs);
  in_ = !in_;
  at.in = in_ ? x_.data() : y_.data();
  at.x = in_ ? y_.data() : x_.data();
  if (by_columns) begin_sums(at.stride);
  ticket_.clear();
  at.update = update_.data();
  at.sum = sum_.data();
  at.missing = missing_.data();
  at.done = done_.data();
  at.ticket = ticket_.data();
  at.sweep = ++sweeps_;
  at.widest = tree_.widest();
  at.num_small = tree_.tasks().num_small;
  return at;
}

template <class T>
offset_t DeviceVectors<T>::memory_bytes() const {
  return static_cast<offset_t>(x_.bytes() + y_.bytes() + update_.bytes() + sum_.bytes() + sources_.bytes() +
                               missing_.bytes() + done_.bytes() + ticket_.bytes());
}

template <class T>
DeviceCore<T>::DeviceCore(std::shared_ptr<Device> device, SupernodalParts<T> parts, ThreadTeam* team)
    : device_(checked(std::move(device), parts)),
      shape_(parts.shape()),
      cost_(supernodal_cost<T>(*parts.structure, parts.lower_only)),
      guarded_blocks_(parts.guarded_blocks()),
      host_diagonal_(std::move(parts.diagonal)),
      tree_(device_, parts.structure->symbolic()),
      lower_(device_, PanelSource<T>::of(*parts.lower), tree_.tasks(), team),
      vectors_(device_, tree_) {
  if (parts.upper) upper_.emplace(device_, PanelSource<T>::of(*parts.upper), tree_.tasks(), team);
  if (!host_diagonal_) return;
  diagonal_ = {device_, host_diagonal_->diagonal()};
  diagonal_below_ = {device_, host_diagonal_->below()};
}

template <class T>
void DeviceCore<T>::solve(bool transposed, const CoreRun<T>& given) const {
  const std::lock_guard lock(one_solve_);
  load_rows(*device_, given.in, {vectors_.begin(given.num_rhs()), device_stride_of(given.num_rhs())},
            tree_.num_columns());
  sweeps(steps_of_solve(shape_, transposed), given);
  store_rows(*device_, given.out, {vectors_.solution(), device_stride_of(given.num_rhs())},
             tree_.num_columns());
}

template <class T>
void DeviceCore<T>::solve_part(FactorPart part, Operation operation, const CoreRun<T>& given) const {
  solve_one_part(shape_, host_diagonal_ ? &*host_diagonal_ : nullptr, {part, operation}, given,
                 [this](const SweepOrder& steps, const CoreRun<T>& turned) {
                   run_on_host_vectors(steps, turned);
                 });
}

template <class T>
void DeviceCore<T>::run_on_host_vectors(const SweepOrder& steps, const CoreRun<T>& given) const {
  const index_t n = tree_.num_columns();
  const RhsRows<T> kept{given.workspace.work.data(), device_stride_of(given.num_rhs())};
  const std::size_t bytes = static_cast<std::size_t>(n) * kept.stride * sizeof(T);
  load_rhs(given.in, 0, n, kept);
  {
    const std::lock_guard lock(one_solve_);
    device_->copy_in(vectors_.begin(given.num_rhs()), kept.data, bytes);
    sweeps(steps, given);
    device_->copy_out(kept.data, vectors_.solution(), bytes);
  }
  store_rhs<T>(given.out, 0, n, kept);
}

template <class T>
void DeviceCore<T>::sweeps(const SweepOrder& steps, const CoreRun<T>& given) const {
  for (int k = 0; k < steps.count; ++k) sweep(steps.step[k], given);
}

template <class T>
void DeviceCore<T>::sweep(const SweepStep& step, const CoreRun<T>& given) const {
  using enum device::Kernel;
  const bool by_columns = given.method == SolveMethod::device_sync_free;
  device::TriangleSweep<T> sweep{tree_.view(), (step.upper ? *upper_ : lower_).view(), {},
                                 vectors_.begin_sweep(given.num_rhs(), by_columns && step.forward)};
  if (step.divides)
    sweep.diagonal = {diagonal_.data(), diagonal_below_.data(), host_diagonal_->is_hermitian()};
  sweep.at.adjoint = step.adjoint;
  sweep.at.order = step.forward ? tree_.forward() : tree_.backward();
  device::LaunchShape shape{0, 0, shared_bytes<T>(sweep.at)};
  if (given.method == SolveMethod::device_level_set) return sweep_levels(step.forward, sweep, shape);
  if (by_columns) return launch(step.forward ? columns_forward : columns_backward, sweep, shape);
  const int of_small = sweep.at.stride == 1 ? device::shared_bytes_of_small<T, 1>
                                            : device::shared_bytes_of_small<T, device::rhs_of_lane>;
  shape.shared_bytes = std::max(shape.shared_bytes, of_small);
  launch(step.forward ? tree_forward : tree_backward, sweep, shape);
}

template <class T>
void DeviceCore<T>::sweep_levels(bool forward, device::TriangleSweep<T>& sweep,
                                 device::LaunchShape shape) const {
  const std::vector<int>& begin = tree_.level_begin();
  sweep.at.order = tree_.by_level();
  const auto levels = static_cast<int>(begin.size()) - 1;
  for (int k = 0; k < levels; ++k) {
    const int level = forward ? k : levels - 1 - k;
    sweep.at.first = begin[level];
    sweep.at.end = begin[level + 1];
    launch(forward ? device::Kernel::level_forward : device::Kernel::level_backward, sweep, shape);
  }
}

template <class T>
void DeviceCore<T>::launch(device::Kernel kernel, const device::TriangleSweep<T>& sweep,
                           const device::LaunchShape& shape) const {
  const int at_once = sides_of_group(sweep.at.stride);
  device_->launch({kernel, ScalarTraits<T>::type, at_once, &sweep}, shape);
}

template <class T>
WorkspaceNeed DeviceCore<T>::workspace_need(index_t num_rhs) const {
  return need_of_host_rows<T>(tree_.num_columns(), num_rhs);
}

template <class T>
offset_t DeviceCore<T>::memory_bytes() const {
  const std::lock_guard lock(one_solve_);
  return tree_.memory_bytes() + lower_.memory_bytes() + (upper_ ? upper_->memory_bytes() : 0) +
         static_cast<offset_t>(diagonal_.bytes() + diagonal_below_.bytes()) + vectors_.memory_bytes() +
         (host_diagonal_ ? host_diagonal_->memory_bytes() : 0);
}

template <class T>
std::shared_ptr<const SweepCore<T>> make_core(SupernodalParts<T> parts, const PlanOptions& options) {
  if (options.world)
    return std::make_shared<const ElementsCore<T>>(options.world, options.of_world, std::move(parts),
                                                   options.team);
  if (options.device)
    return std::make_shared<const DeviceCore<T>>(options.device, std::move(parts), options.team);
  return std::make_shared<const SupernodalCore<T>>(std::move(parts));
}

#define PALMETTE_INSTANTIATE(T)    \
  template class DeviceVectors<T>; \
  template class DeviceCore<T>;    \
  template std::shared_ptr<const SweepCore<T>> make_core<T>(SupernodalParts<T>, const PlanOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
