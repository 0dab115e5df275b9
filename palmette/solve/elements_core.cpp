// A solve on several devices: each element gets its rows of the right-hand sides, all sweep together, and
// each gives its rows of the solution back.
#include "palmette/solve/elements_core.hpp"

#include <algorithm>
#include <mutex>

#include "palmette/solve/device_schedule.hpp"
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

}  // namespace

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
  check_network(*world_, options);
  const SymbolicFactor& symbolic = parts.structure->symbolic();
  host_ = programs_of_world(symbolic, options_, sizeof(T));
  for (std::size_t e = 0; e < host_.element.size(); ++e)
    elements_.emplace_back(world_->element(static_cast<int>(e)), host_.element[e],
                           element_parts(host_.element[e], parts), team);
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
  device::ElementSweep<T> a =
      elements_[number].arguments(host_.element[number], {step, sweeps_, stride, widest_});
  a.link = {elements_[number].stores.data(), elements_[number].signals.data()};
  a.shared = shared_.data(number);
  a.signals = signals_.data(number);
  a.shared_rows = host_.shared_rows;
  if (options_.most_polls > 0) a.watch = {elements_[number].status.data(), options_.most_polls};
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
  if (has_failed_)
    for (Element<T>& element : elements_) element.status.clear();
  has_failed_ = true;
  world_->run(launches(step, two_kernels, all));
  if (options_.most_polls > 0) check_status(step);
  has_failed_ = false;
}

/// An element that has given up ends the solve; those that gave up since another did say less.
template <class T>
void ElementsCore<T>::check_status(const SweepStep& step) const {
  std::string text;
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const device::ElementStatus status = elements_[e].found_status();
    if (status.gave_up == 0) continue;
    const DeviceSchedule schedule(host_, static_cast<int>(e));
    text += (text.empty() ? "device " : "; device ") + std::to_string(e) + " has waited in vain for " +
            schedule.words_of(status);
  }
  if (!text.empty())
    throw DeviceError(text + ", in the " + (step.forward ? "forward" : "backward") + " sweep of " +
                      std::to_string(elements_.size()) + " devices");
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

#define PALMETTE_INSTANTIATE(T) template class ElementsCore<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
