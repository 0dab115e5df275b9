// A device that is the emulator: its memory is the emulator's, its launches are runs of it.
#include <cstring>
#include <mutex>

#include "palmette/device/device_world.hpp"
#include "palmette/device/launches.hpp"

namespace palmette {
namespace {

/// The emulator holds one world for the whole process.
std::mutex& emulator_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Every byte of new memory, so that what is read before it was written is no number.
constexpr int unwritten = 0xff;

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(DeviceInfo info, const EmulatedDeviceOptions& options)
      : Device(std::move(info)), options_(options) {
    options_.emulator.devices = options.index + 1;
    options_.emulator.resident_blocks = std::min(options.blocks, options.emulator.resident_blocks);
  }

  void clear(void* memory, std::size_t bytes) override { std::memset(memory, 0, bytes); }
  void copy_there(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  bool holds(const void* first, std::size_t bytes) const override {
    const std::lock_guard lock(emulator_mutex());
    return emulate::is_allocated(first, bytes, options_.index);
  }
  void wait_for_stream(void*) override {}
  void finish() override {}
  void reach(const Device&) override {}

 protected:
  void* do_allocate(std::size_t bytes) override {
    const std::lock_guard lock(emulator_mutex());
    try {
      char* const memory = emulate::on_device(static_cast<char*>(emulate::allocate(bytes)), options_.index);
      std::memset(memory, unwritten, bytes);
      return memory;
    } catch (const MemoryError&) {
      return nullptr;
    }
  }
  void do_release(void* memory) noexcept override {
    const std::lock_guard lock(emulator_mutex());
    emulate::release(emulate::on_device(static_cast<char*>(memory), -options_.index));
  }
  void do_copy_in(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void do_copy_out(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  device::LaunchShape resident_shape(const device::KernelCall&,
                                     const device::LaunchShape& wanted) const override {
    return {options_.blocks, options_.threads, wanted.shared_bytes};
  }
  void do_launch(const device::KernelCall& call, const device::LaunchShape& shape) override {
    // Also around the making of the launch, which is instrumented: in another thread's run the emulator would
    // take its stores for those of a kernel.
    const std::lock_guard lock(emulator_mutex());
    emulate::Launch launch = device::emulated_launch(call, shape);
    launch.device = options_.index;
    const emulate::Report report = emulate::run({launch}, options_.emulator);
    if (!report.ok()) throw DeviceError("the emulated device reports: " + report.errors.front());
  }

 private:
  EmulatedDeviceOptions options_;
};

/// All elements in one run of the emulator.
class EmulatedWorld final : public DeviceWorld {
 public:
  EmulatedWorld(std::vector<std::shared_ptr<Device>> elements, const EmulatedDeviceOptions& options,
                Launcher launcher)
      : DeviceWorld(std::move(elements)), options_(options), launcher_(std::move(launcher)) {
    if (!launcher_) launcher_ = device::emulated_launch;
    options_.emulator.devices = size();
    options_.emulator.peer_access = true;
    options_.emulator.resident_blocks = std::min(options.blocks, options.emulator.resident_blocks);
  }

  void run(const std::vector<ElementLaunch>& launches) override {
    const std::lock_guard lock(emulator_mutex());
    std::vector<emulate::Launch> all;
    for (const ElementLaunch& one : launches) {
      device::LaunchShape shape = one.shape;
      if (shape.blocks == 0) shape = {options_.blocks, options_.threads, shape.shared_bytes};
      all.push_back(launcher_(one.call, shape));
      all.back().device = one.element;
      element(one.element)->count_launch();
    }
    const emulate::Report report = emulate::run(all, options_.emulator);
    if (!report.ok()) throw DeviceError("the emulated devices report: " + report.errors.front());
    counts_.puts += static_cast<offset_t>(report.puts);
    counts_.put_bytes += static_cast<offset_t>(report.put_bytes);
    counts_.gets += static_cast<offset_t>(report.remote_gets);
    counts_.get_bytes += static_cast<offset_t>(report.get_bytes);
    for (const std::uint64_t moves : report.page_moves) counts_.page_moves += static_cast<offset_t>(moves);
    ++options_.emulator.seed;
  }
  device::LaunchShape resident_shape(const ElementLaunch& launch) const override {
    return {options_.emulator.resident_blocks, options_.threads, launch.shape.shared_bytes};
  }
  bool has_network() const override { return true; }
  WorldCounts counts() const override { return counts_; }
  /// The same offset on every device, as the network wants it.
  std::shared_ptr<const std::vector<void*>> allocate(std::size_t bytes) override {
    auto made = std::make_unique<std::vector<void*>>();
    made->reserve(static_cast<std::size_t>(size()));
    made->push_back(element(0)->allocate(bytes));
    const auto release = [owners = elements(), bytes](const std::vector<void*>* all) {
      for (std::size_t e = 1; e < all->size(); ++e) owners[e]->unclaim(bytes);
      owners[0]->release(all->front(), bytes);
      delete all;
    };
    const std::shared_ptr<std::vector<void*>> parts(made.release(), release);
    for (int e = 1; e < size(); ++e) {
      element(e)->claim(bytes);
      parts->push_back(emulate::on_device(static_cast<char*>(parts->front()), e));
      std::memset(parts->back(), unwritten, bytes);
    }
    return parts;
  }
  std::shared_ptr<void> allocate_managed(std::size_t bytes) override {
    const std::lock_guard lock(emulator_mutex());
    return {emulate::allocate_managed(bytes), [first = element(0)](void* memory) {
              const std::lock_guard release_lock(emulator_mutex());
              emulate::release(memory);
            }};
  }

 private:
  EmulatedDeviceOptions options_;
  Launcher launcher_;
  WorldCounts counts_;
};

}  // namespace

std::shared_ptr<DeviceWorld> make_emulated_world(int size, const EmulatedDeviceOptions& options,
                                                 Launcher launcher) {
  std::vector<std::shared_ptr<Device>> elements;
  for (int e = 0; e < size; ++e) {
    EmulatedDeviceOptions one = options;
    one.index = e;
    elements.push_back(make_emulated_device(one));
  }
  return std::make_shared<EmulatedWorld>(std::move(elements), options, std::move(launcher));
}

std::shared_ptr<Device> make_emulated_device(const EmulatedDeviceOptions& options) {
  const std::lock_guard lock(emulator_mutex());
  emulate::prepare_memory();
  if (options.index >= emulate::most_devices())
    throw UsageError("there are " + std::to_string(emulate::most_devices()) +
                     " emulated devices, numbered from 0: emulated:" + std::to_string(options.index) +
                     " is none of them");
  const offset_t most = emulate::bytes_of_device();
  const offset_t bytes = options.memory_bytes > 0 ? std::min(options.memory_bytes, most) : most;
  return std::make_shared<EmulatedDevice>(
      DeviceInfo{"emulated", options.index, "emulated device", bytes, options.blocks, options.memory_gbs},
      options);
}

}  // namespace palmette
