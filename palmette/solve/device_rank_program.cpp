// A rank's host starts what its device can do, and carries what devices find to each other: by addresses on
// the devices, or by way of the hosts.
#include "palmette/solve/device_rank_program.hpp"

#include <algorithm>

#include "palmette/solve/element_layers.hpp"

namespace palmette::solve_detail {
namespace {

int element_of(index_t rank_of_layer, const LayerSystem* layer) {
  return static_cast<int>(layer != nullptr ? layer->ranks.first_rank(layer->layer) + rank_of_layer
                                           : rank_of_layer);
}

template <class T>
HostElements programs_of(const RankFactor<T>& factor, const RankPlanOptions& options) {
  if (options.layer == nullptr)
    return element_programs(*factor.symbolic, *factor.placement, options.trees, sizeof(T));
  if (!options.systems) throw UsageError("a plan over layers of devices needs the systems of all layers");
  return layered_element_programs(*options.systems, options.trees, sizeof(T));
}

ByteMemory memory_on(const std::shared_ptr<Device>& device) {
  return {[device](std::size_t bytes) { return device->allocate(bytes); },
          [device](void* memory, std::size_t bytes) { device->release(memory, bytes); },
          device->info().kind == "emulated"};
}

}  // namespace

template <class T>
DeviceRankProgram<T>::DeviceRankProgram(std::shared_ptr<const RankFactor<T>> factor,
                                        const RankPlanOptions& options)
    : factor_(std::move(factor)),
      options_(options),
      widest_(widest_of(*factor_->symbolic)),
      on_device_(std::make_shared<BytePool>(memory_on(options.device))) {
  if ((options.memory == MemoryKind::symmetric) != (options.network != nullptr))
    throw UsageError("the memory kind symmetric needs a network of devices, and no other kind has one");
  const LayerSystem* const layer = options.layer.get();
  HostElements all = programs_of(*factor_, options);
  const int number = element_of(factor_->owned.rank, layer);
  schedule_.emplace(all, number);
  handing_.emplace(factor_, diagonal_plan(all, number, layer),
                   [this](std::map<index_t, SharedBytes>& blocks) { diagonal_blocks_ = std::move(blocks); });
  shared_rows_ = all.shared_rows;
  if (options.network)
    network_.emplace(options.network, options.device, static_cast<index_t>(number),
                     static_cast<std::size_t>(all.num_signals));
  host_ = std::move(all.element[number]);
  for (std::size_t k = 0; k < host_.row.size(); ++k)
    if (host_.is_led.empty() || host_.is_led[k] != 0) rows_.push_back(host_.row[k]);
}

template <class T>
RankProgram& DeviceRankProgram<T>::preparation(Transport& transport) {
  choose_memory(transport);
  handing_->use(transport);
  return *handing_;
}

template <class T>
void DeviceRankProgram<T>::choose_memory(Transport& transport) {
  memory_ = options_.network ? MemoryKind::symmetric : MemoryKind::reference;
  if (options_.network || options_.memory == MemoryKind::reference) return;
  if (transport.carry_from(on_device_))
    memory_ = MemoryKind::native;
  else if (options_.memory == MemoryKind::native)
    throw UsageError("this transport cannot send from the memory of " + options_.device->info().address() +
                     ": choose the memory kind reference");
}

template <class T>
ElementPanels<T> DeviceRankProgram<T>::panels_of(const SupernodalTriangle<T>& own, bool upper,
                                                 const std::map<index_t, SharedBytes>& diagonal_blocks) {
  ElementPanels<T> result{PanelSource<T>::of(own), {}};
  std::vector<T> room;
  index_t expanded = -1;
  bool inverted = false;
  for (const BlockOfElement& block : host_.blocks) {
    const index_t s = factor_->owned.panel[block.panel], width = factor_->symbolic->width(s);
    room.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(width));
    const DenseView<T> inverse{room.data(), width, width, width};
    if (expanded != s) {
      const auto given = diagonal_blocks.find(s);
      const DenseView<const T> stored =
          given != diagonal_blocks.end()
              ? DenseView<const T>{reinterpret_cast<const T*>(given->second.data()), width, width, width}
              : factor_->rows_of(factor_->lower, block.panel, 0, width);
      inverted = expand_diagonal<T>({stored, upper, !upper && factor_->kind != FactorKind::llt},
                                    options_.plan, inverse);
      expanded = s;
    }
    result.blocks.add(
        factor_->rows_of(upper ? factor_->upper : factor_->lower, block.panel, block.panel_row, block.count),
        inverted, inverse);
  }
  return result;
}

template <class T>
void DeviceRankProgram<T>::load() {
  if (!diagonal_blocks_) return;
  put_on_device(*diagonal_blocks_);
  diagonal_blocks_.reset();
}

template <class T>
void DeviceRankProgram<T>::put_on_device(const std::map<index_t, SharedBytes>& diagonal_blocks) {
  const RankTriangles<T> triangles(*factor_, *host_.structure, options_.plan);
  ElementParts<T> parts{panels_of(*triangles.lower, false, diagonal_blocks), {}, {}, {}};
  if (triangles.upper) parts.upper.emplace(panels_of(*triangles.upper, true, diagonal_blocks));
  if (triangles.diagonal) {
    parts.diagonal = triangles.diagonal->diagonal();
    parts.diagonal_below = triangles.diagonal->below();
    parts.is_hermitian = triangles.diagonal->is_hermitian();
  }
  guarded_blocks_ =
      triangles.lower->guarded_blocks() + (triangles.upper ? triangles.upper->guarded_blocks() : 0);
  element_.emplace(options_.device, host_, parts, options_.plan.team);
  order_ = {options_.device, std::max(host_.forward.task.size(), host_.backward.task.size())};
}

template <class T>
offset_t DeviceRankProgram<T>::memory_bytes() const {
  const std::size_t rows = static_cast<std::size_t>(shared_rows_ * room_) * sizeof(T);
  return (element_ ? element_->memory_bytes() : 0) + (network_ ? network_->memory_bytes() : 0) +
         static_cast<offset_t>(rows + order_.bytes()) + on_device_->bytes();
}

template <class T>
void DeviceRankProgram<T>::reset(const ProgramRun<T>& run, Transport& transport) {
  load();
  const Operation operation = run.operation;
  if (!element_)
    throw UsageError("a plan with devices has not been prepared: drive its preparation on all ranks first");
  transport_ = &transport;
  if (network_) network_->check();
  const FactorKind kind = factor_->kind;
  const bool hermitian = kind == FactorKind::llt || factor_->hermitian;
  conjugated_ = is_complex_v<T> && (kind != FactorKind::lu && hermitian ? operation == Operation::transpose
                                                                        : operation == Operation::adjoint);
  const FactorShape shape{kind == FactorKind::lu, kind == FactorKind::ldlt, false,
                          kind != FactorKind::lu && hermitian};
  steps_ = steps_of_solve(shape, kind == FactorKind::lu && operation != Operation::plain);
  b_ = run.b;
  x_ = run.x;
  at_ = 0;
  early_.clear();
  has_come_.assign(static_cast<std::size_t>(schedule_->num_signals()), 0);
  done_.store(b_.cols == 0);
}

template <class T>
void DeviceRankProgram<T>::reserve(index_t num_rhs) {
  if (network_) network_->check();
  make_room(device_stride_of(num_rhs));
  make_room_for_messages();
}

/// In the device's memory, for all messages of a solve: all may be on their way at once. Where there is no
/// room, vectors are given back, too: fewer right-hand sides may have some.
template <class T>
void DeviceRankProgram<T>::make_room_for_messages() {
  if (memory_ != MemoryKind::native || message_room_ >= room_) return;
  message_room_ = 0;
  std::vector<std::size_t> sizes;
  for (const int rows : schedule_->rows_of_messages())
    sizes.push_back(static_cast<std::size_t>(rows) * static_cast<std::size_t>(room_) * sizeof(T));
  try {
    on_device_->reserve(sizes);
  } catch (...) {
    release_room();
    throw;
  }
  message_room_ = room_;
}

template <class T>
void DeviceRankProgram<T>::release_room() {
  room_ = 0;
  shared_ = {};
  symmetric_.release();
  element_->release_vectors();
}

template <class T>
void DeviceRankProgram<T>::allocate() {
  if (!network_ || room_ == 0) return;
  network_->allocate_signals();
  symmetric_.allocate(network_->network());
}

template <class T>
void DeviceRankProgram<T>::make_room(index_t stride) {
  const bool is_there = !network_ || symmetric_.is_there();
  // What another rank had no room for is asked for again, the same by all.
  if (is_there ? room_ >= stride : room_ == stride) return;
  release_room();
  element_->reserve(stride, host_);
  const auto values = static_cast<std::size_t>(shared_rows_ * stride);
  if (network_) {
    network_->claim_signals();
    symmetric_.claim(network_->network(), values * sizeof(T));
  } else {
    shared_ = {options_.device, values};
  }
  room_ = stride;
}

/// Between the caller's rows and the device. Rows that another layer leads begin as zeros, since the layers'
/// parts of y add up to y.
template <class T>
void DeviceRankProgram<T>::move_rows(bool to_device) {
  const auto stride = static_cast<std::size_t>(stride_);
  std::vector<T> values(host_.row.size() * stride, T(0));
  const std::size_t bytes = values.size() * sizeof(T);
  if (!to_device) options_.device->copy_out(values.data(), element_->in.data(), bytes);
  index_t place = 0;
  for (std::size_t k = 0; k < host_.row.size(); ++k) {
    if (!host_.is_led.empty() && host_.is_led[k] == 0) continue;
    for (index_t j = 0; j < x_.cols; ++j) {
      T& here = values[k * stride + static_cast<std::size_t>(j)];
      if (to_device)
        here = conjugated_ ? conjugate(b_(place, j)) : b_(place, j);
      else
        x_(place, j) = conjugated_ ? conjugate(here) : here;
    }
    ++place;
  }
  if (to_device) options_.device->copy_in(element_->in.data(), values.data(), bytes);
}

template <class T>
void DeviceRankProgram<T>::start() {
  if (done()) return;
  stride_ = device_stride_of(b_.cols);
  if (network_) network_->leave_out();  // until it begins: the other ranks do
  make_room(stride_);
  allocate();
  move_rows(true);
  begin_sweep();
}

template <class T>
void DeviceRankProgram<T>::begin_sweep() {
  ++sweep_;
  if (network_) return begin_kernel();
  tasks().begin();
  std::vector<std::pair<int, SharedBytes>> here = std::move(early_);
  early_.clear();
  for (const auto& [signal, payload] : here) put(signal, payload);
}

template <class T>
void DeviceRankProgram<T>::end_sweep() {
  std::swap(element_->in, element_->out);
  if (++at_ < steps_.count) return begin_sweep();
  move_rows(false);
  done_.store(true, std::memory_order_release);
}

template <class T>
void DeviceRankProgram<T>::on_message(const Message& message) {
  if (!schedule_->knows(message.tag))
    throw BrokenRun("rank " + std::to_string(transport_->rank()) + " got rows from rank " +
                    std::to_string(message.source) + " that its device does not wait for");
  const int signal = static_cast<int>(message.tag);
  const RowsToCome& rows = schedule_->coming(signal);
  for (const RowsToSend& relay : rows.relays) {
    transport_->send(relay.element, relay.signal, message.payload);
    ++carried_.messages;
    carried_.bytes += static_cast<offset_t>(message.payload.size());
  }
  if (rows.forward == step().forward)
    put(signal, message.payload);
  else
    early_.emplace_back(signal, message.payload);
}

template <class T>
void DeviceRankProgram<T>::put(int signal, const SharedBytes& payload) {
  const RowsToCome& rows = schedule_->coming(signal);
  Device& device = *options_.device;
  T* const to = store_row(rows.at);
  const auto bytes = static_cast<offset_t>(payload.size());
  if (payload.lies_elsewhere()) {
    device.copy_there(to, payload.data(), payload.size());
    device.finish();  // the sender takes its buffer back
    ++carried_.copies_there;
    carried_.bytes_there += bytes;
  } else {
    device.copy_in(to, payload.data(), payload.size());
    ++carried_.copies_in;
    carried_.bytes_in += bytes;
  }
  has_come_[signal] = 1;
  tasks().rows_came(rows.task);
}

template <class T>
bool DeviceRankProgram<T>::run_one_task(int thread) {
  if (thread != 0 || done()) return false;
  if (network_) return kernel_has_ended();
  const std::vector<int>& batch = tasks().take();
  if (!batch.empty()) {
    launch(batch);
    send_after(batch);
  }
  if (tasks().over()) {
    end_sweep();
    return true;
  }
  return !batch.empty();
}

template <class T>
device::ElementSweep<T> DeviceRankProgram<T>::sweep_arguments() {
  device::ElementSweep<T> a = element_->arguments(host_, {step(), sweep_, stride_, widest_});
  const DeviceProgram& program = step().forward ? element_->forward : element_->backward;
  a.order = program.order(DeviceProgram::Share::all);
  a.shared = shared_values();
  a.shared_rows = shared_rows_;
  return a;
}

template <class T>
device::KernelCall DeviceRankProgram<T>::call_of(const device::ElementSweep<T>& a) const {
  using enum device::Kernel;
  const device::Kernel kernel = network_ ? (step().forward ? network_forward : network_backward)
                                                 : (step().forward ? element_forward : element_backward);
  return {kernel, ScalarTraits<T>::type, stride_ == 1 ? 1 : device::rhs_of_lane, &a};
}

/// All tasks of the sweep; signals of the kernels of other ranks start them.
template <class T>
void DeviceRankProgram<T>::begin_kernel() {
  running_ = sweep_arguments();
  running_.signals = network_->signals();
  if (options_.most_polls > 0) {
    running_.watch = {&network_->report()->status, options_.most_polls};
    running_.alarm = &network_->report()->alarm;
  }
  network_->begin(sweep_, call_of(running_),
                  {0, 0, device::shared_bytes_of_sweep<T>(widest_, running_.own.at.tile)});
  ++carried_.launches;
}

/// If a device has waited in vain, its rank says so. The others end with it, and go no further until then.
template <class T>
bool DeviceRankProgram<T>::kernel_has_ended() {
  const std::optional<device::ElementStatus> status = network_->take_end();
  if (!status) return false;
  if (status->gave_up != 0)
    throw DeviceError("the device of rank " + std::to_string(transport_->rank()) +
                      " has waited in vain for " + schedule_->words_of(*status) + ", in the " +
                      (step().forward ? "forward" : "backward") + " sweep");
  end_sweep();
  return true;
}

template <class T>
void DeviceRankProgram<T>::launch(const std::vector<int>& batch) {
  Device& device = *options_.device;
  device.copy_in(order_.data(), batch.data(), batch.size() * sizeof(int));
  device::ElementSweep<T> a = sweep_arguments();
  a.order.task = order_.data();
  a.order.num_tasks = static_cast<int>(batch.size());
  const device::KernelCall call = call_of(a);
  device::LaunchShape shape =
      device.fitted_shape(call, {0, 0, device::shared_bytes_of_sweep<T>(widest_, a.own.at.tile)});
  shape.blocks = std::min(shape.blocks, a.order.num_tasks);
  device.launch(call, shape);
  ++carried_.launches;
}

template <class T>
SharedBytes DeviceRankProgram<T>::payload_of(const RowsToSend& rows) {
  Device& device = *options_.device;
  const std::size_t bytes =
      static_cast<std::size_t>(rows.rows) * static_cast<std::size_t>(stride_) * sizeof(T);
  const bool native = memory_ == MemoryKind::native;
  SharedBytes payload = native ? on_device_->take(bytes) : on_host_.take(bytes);
  if (native)
    device.copy_there(payload.writable().data(), store_row(rows.from), bytes);
  else
    device.copy_out(payload.writable().data(), store_row(rows.from), bytes);
  ++(native ? carried_.copies_there : carried_.copies_out);
  (native ? carried_.bytes_there : carried_.bytes_out) += static_cast<offset_t>(bytes);
  return payload;
}

template <class T>
void DeviceRankProgram<T>::send_after(const std::vector<int>& batch) {
  std::vector<std::pair<const RowsToSend*, SharedBytes>> all;
  for (const int task : batch)
    for (const RowsToSend& rows : tasks().sends_of(task)) {
      const bool again = !all.empty() && all.back().first->from == rows.from;
      SharedBytes payload = again ? all.back().second : payload_of(rows);
      all.emplace_back(&rows, std::move(payload));
    }
  if (memory_ == MemoryKind::native && !all.empty()) options_.device->finish();
  for (auto& [rows, payload] : all) {
    ++carried_.messages;
    carried_.bytes += static_cast<offset_t>(payload.size());
    transport_->send(rows->element, rows->signal, std::move(payload));
  }
  if (!all.empty()) transport_->flush();
}

template <class T>
TaskNote DeviceRankProgram<T>::last_task(int) const {
  TaskNote note;
  note.name = "launch";
  note.phase = done() || !step().forward ? SweepPhase::backward : SweepPhase::forward;
  return note;
}

template <class T>
std::string DeviceRankProgram<T>::waiting_for() const {
  if (done()) return "nothing";
  if (network_ && network_->is_stopped())
    return "the rank whose device has waited in vain, to say for what";
  if (network_) return "the kernels of all devices, its own included";
  return schedule_->waiting_for(step().forward, has_come_);
}

#define PALMETTE_INSTANTIATE(T) template class DeviceRankProgram<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
