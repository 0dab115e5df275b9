// What worlds of all kinds share, and the world of GPUs in one process.
#include "palmette/device/device_world.hpp"

#include <algorithm>

namespace palmette {
namespace {

/// GPUs of one process: each has mapped the memory of the others.
class GpuWorld final : public DeviceWorld {
 public:
  explicit GpuWorld(std::vector<std::shared_ptr<Device>> elements) : DeviceWorld(std::move(elements)) {
    for (int e = 0; e < size(); ++e)
      for (int other = 0; other < size(); ++other)
        if (other != e) element(e)->reach(*element(other));
  }
  void run(const std::vector<ElementLaunch>& launches) override {
    for (const ElementLaunch& one : launches) element(one.element)->launch(one.call, one.shape);
    for (int e = 0; e < size(); ++e) element(e)->finish();
  }
  device::LaunchShape resident_shape(const ElementLaunch& launch) const override {
    return element(launch.element)->fitted_shape(launch.call, launch.shape);
  }
  bool has_network() const override { return false; }
  WorldCounts counts() const override { return {}; }
  std::shared_ptr<void> allocate_managed(std::size_t bytes) override {
    for (const std::shared_ptr<Device>& one : elements())
      if (!one->shares_managed_memory())
        throw DeviceError("the device " + one->info().address() +
                          " cannot use managed memory at the same time as others; choose devices_zero_copy "
                          "or devices_pushed");
    if (void* const memory = element(0)->allocate_managed(bytes))
      return {memory, [owner = element(0)](void* p) { owner->release_managed(p); }};
    throw MemoryError("there are no " + std::to_string(bytes) + " bytes of managed memory left",
                      static_cast<offset_t>(bytes));
  }
};

}  // namespace

DeviceCounts DeviceWorld::device_counts() const {
  DeviceCounts sum;
  for (const std::shared_ptr<Device>& one : elements_) {
    const DeviceCounts counts = one->counts();
    sum.bytes_in += counts.bytes_in;
    sum.bytes_out += counts.bytes_out;
    sum.launches += counts.launches;
  }
  return sum;
}

std::shared_ptr<const std::vector<void*>> DeviceWorld::allocate(std::size_t bytes) {
  std::vector<std::shared_ptr<Device>> owners = elements_;
  auto parts = std::make_unique<std::vector<void*>>();
  const auto release = [owners, bytes](const std::vector<void*>* all) {
    for (std::size_t e = 0; e < all->size(); ++e) owners[e]->release((*all)[e], bytes);
    delete all;
  };
  std::shared_ptr<std::vector<void*>> result(parts.release(), release);
  for (const std::shared_ptr<Device>& one : elements_) result->push_back(one->allocate(bytes));
  return result;
}

std::shared_ptr<DeviceWorld> open_world(std::string_view kind, int size) {
  if (size < 1) throw UsageError("a world of " + std::to_string(size) + " devices; there must be at least 1");
  const offset_t budget = memory_budget(kind);
  const std::size_t at = std::min(kind.find('@'), kind.size());
  if (kind.substr(0, at) == "none" || kind.substr(0, at) == "auto")
    throw UsageError(std::to_string(size) + (size == 1 ? " device needs" : " devices need") +
                     " a kind of device: name cuda, hip or emulated");
  if (kind.substr(0, at) == "emulated") {
    (void)open_device(kind);  // says why if there is none here
    std::shared_ptr<DeviceWorld> world = make_emulated_world(size);
    for (const std::shared_ptr<Device>& one : world->elements())
      if (budget > 0) one->limit_memory(budget);
    return world;
  }
  std::vector<std::shared_ptr<Device>> elements;
  for (int e = 0; e < size; ++e)
    elements.push_back(open_device(std::string(kind.substr(0, at)) + ":" + std::to_string(e) +
                                   std::string(kind.substr(at))));
  return std::make_shared<GpuWorld>(std::move(elements));
}

}  // namespace palmette
