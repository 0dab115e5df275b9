// What networks of all kinds share, and the network of emulated devices in one process: the last rank that
// begins its kernel runs those of all.
#include "palmette/device/device_network.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <random>

#include "palmette/device/gpu/gpu_device.hpp"

namespace palmette {
namespace {

/// Where the ranks of an emulated network meet.
class Meeting {
 public:
  Meeting(std::shared_ptr<DeviceWorld> world) : world_(std::move(world)) {}
  int num_ranks() const { return world_->size(); }

  /// The memory that a rank gets as its number `turn`. The first that comes allocates for all.
  std::shared_ptr<void> allocate(std::size_t turn, int rank, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (turn == allocated_.size()) allocated_.push_back({bytes, zeroed(bytes), 0});
    Allocated& one = allocated_[turn];
    if (one.bytes != bytes)
      throw UsageError("rank " + std::to_string(rank) + " asks for " + std::to_string(bytes) +
                       " bytes of symmetric memory where another rank asks for " + std::to_string(one.bytes));
    std::shared_ptr<void> mine(one.parts, (*one.parts)[rank]);
    if (++one.taken == num_ranks()) one.parts = nullptr;  // the ranks own it
    return mine;
  }
  void begin(int rank, const device::KernelCall& call, const device::LaunchShape& shape) {
    const std::lock_guard lock(mutex_);
    for (const ElementLaunch& waiting : launches_)
      if (waiting.element == rank)
        throw DeviceError("rank " + std::to_string(rank) + " begins a kernel while its last one waits for "
                          "those of other ranks: start all ranks again");
    launches_.push_back({rank, call, shape});
    if (static_cast<int>(launches_.size()) < num_ranks()) return;
    try {
      world_->run(std::exchange(launches_, {}));
    } catch (const DeviceError& error) {
      failure_ = error.what();
    }
    ++runs_;
  }
  bool has_run(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) throw DeviceError(failure_);
    return runs_ >= number;
  }
  WorldCounts counts() {
    const std::lock_guard lock(mutex_);
    return world_->counts();
  }
  /// The argument of what this rank has begun is gone.
  void leave(int rank) {
    const std::lock_guard lock(mutex_);
    std::erase_if(launches_, [&](const ElementLaunch& one) { return one.element == rank; });
  }

 private:
  using Parts = std::shared_ptr<const std::vector<void*>>;
  struct Allocated {
    std::size_t bytes;
    Parts parts;
    int taken;
  };
  Parts zeroed(std::size_t bytes) {
    Parts parts = world_->allocate(bytes);
    for (void* const part : *parts) std::memset(part, 0, bytes);
    return parts;
  }

  std::mutex mutex_;
  std::shared_ptr<DeviceWorld> world_;
  std::vector<Allocated> allocated_;
  std::vector<ElementLaunch> launches_;
  std::int64_t runs_ = 0;
  std::string failure_;
};

class EmulatedNetwork final : public DeviceNetwork {
 public:
  EmulatedNetwork(std::shared_ptr<Meeting> meeting, std::shared_ptr<Device> device)
      : DeviceNetwork(std::move(device)), meeting_(std::move(meeting)) {}
  ~EmulatedNetwork() override { meeting_->leave(rank()); }

  void begin(const device::KernelCall& call, const device::LaunchShape& shape) override {
    ++begun_;
    device()->count_launch();
    meeting_->begin(rank(), call, device()->fitted_shape(call, shape));
  }
  bool ended() override { return meeting_->has_run(begun_); }
  WorldCounts counts() const override { return meeting_->counts(); }

 protected:
  std::shared_ptr<void> do_allocate(std::size_t bytes) override {
    return meeting_->allocate(num_allocated_++, rank(), bytes);
  }

 private:
  int rank() const { return device()->info().index; }
  std::shared_ptr<Meeting> meeting_;
  std::int64_t begun_ = 0;
  std::size_t num_allocated_ = 0;
};

/// Meetings to which not all ranks have come yet, by the second number of their ids; the first is this
/// process's own, since ranks of other processes cannot come.
class Meetings {
 public:
  static Meetings& all() {
    static Meetings one;
    return one;
  }
  NetworkId make_id() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t numbers[] = {process_, next_++};
    NetworkId id{};
    std::memcpy(id.data(), numbers, sizeof numbers);
    return id;
  }
  std::shared_ptr<Meeting> join(const NetworkId& id, int num_ranks) {
    std::uint64_t numbers[2];
    std::memcpy(numbers, id.data(), sizeof numbers);
    if (numbers[0] != process_) throw DeviceError("emulated devices of several processes have no network");
    const std::lock_guard lock(mutex_);
    Open& open = open_[numbers[1]];
    if (!open.meeting) open.meeting = std::make_shared<Meeting>(make_emulated_world(num_ranks));
    std::shared_ptr<Meeting> joined = open.meeting;
    if (++open.joined == num_ranks) open_.erase(numbers[1]);
    return joined;
  }

 private:
  struct Open {
    std::shared_ptr<Meeting> meeting;
    int joined = 0;
  };
  std::mutex mutex_;
  std::uint64_t process_ = std::uint64_t{std::random_device()()} << 32 | std::random_device()();
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Open> open_;
};

bool is_emulated(const Device& device) {
  return device.info().kind == "emulated";
}

[[noreturn]] void refuse(const Device& device) {
  throw DeviceError("devices of the kind " + device.info().kind +
                    " have no network in this build: configure with PALMETTE_NVSHMEM, or choose another "
                    "memory kind");
}

/// Ends a claim.
struct Claim {
  std::shared_ptr<Device> device;
  std::shared_ptr<std::atomic<offset_t>> in_use;
  std::size_t bytes;
  void operator()(void*) const {
    device->unclaim(bytes);
    *in_use -= static_cast<offset_t>(bytes);
  }
};

}  // namespace

std::shared_ptr<void> DeviceNetwork::claim(std::size_t bytes) const {
  device_->claim(bytes);
  *in_use_ += static_cast<offset_t>(bytes);
  return {in_use_.get(), Claim{device_, in_use_, bytes}};
}

std::shared_ptr<void> DeviceNetwork::allocate(std::size_t bytes, std::shared_ptr<void> claimed) {
  if (bytes == 0) return nullptr;
  if (!claimed) claimed = claim(bytes);
  const Claim* const claim_of = std::get_deleter<Claim>(claimed);
  if (claim_of == nullptr || claim_of->in_use != in_use_ || claim_of->bytes != bytes)
    throw UsageError("symmetric memory of " + std::to_string(bytes) +
                     " bytes needs a claim of as many bytes of its own network");
  const std::shared_ptr<void> memory = do_allocate(bytes);
  return {memory.get(), [claimed, memory](void*) {}};
}

NetworkId make_network_id(const Device& device) {
  if (is_emulated(device)) return Meetings::all().make_id();
#if defined(PALMETTE_WITH_NVSHMEM)
  if (device.info().kind == "cuda") return device::make_nvshmem_id();
#endif
  refuse(device);
}

std::shared_ptr<DeviceNetwork> join_network(const std::shared_ptr<Device>& device, const NetworkId& id,
                                            int rank, int num_ranks) {
  if (is_emulated(*device)) {
    if (device->info().index != rank)
      throw UsageError("rank " + std::to_string(rank) + " joins a network with " + device->info().address() +
                       "; emulated devices must be numbered as their ranks");
    return std::make_shared<EmulatedNetwork>(Meetings::all().join(id, num_ranks), device);
  }
#if defined(PALMETTE_WITH_NVSHMEM)
  if (device->info().kind == "cuda") return device::join_nvshmem(device, id, rank, num_ranks);
#endif
  refuse(*device);
}

std::vector<std::shared_ptr<DeviceNetwork>> make_emulated_networks(
    const std::vector<std::shared_ptr<Device>>& devices, const EmulatedDeviceOptions& options,
    Launcher launcher) {
  const auto meeting = std::make_shared<Meeting>(
      make_emulated_world(static_cast<int>(devices.size()), options, std::move(launcher)));
  std::vector<std::shared_ptr<DeviceNetwork>> all;
  for (const std::shared_ptr<Device>& device : devices)
    all.push_back(std::make_shared<EmulatedNetwork>(meeting, device));
  return all;
}

}  // namespace palmette
