// Regions between devices: memory for their kernel, its launch, and what it found.
#include "palmette/transfer/region_devices.hpp"

#include <limits>

#include "palmette/device/device.hpp"

namespace palmette::transfer {
namespace {

using World = palmette::DeviceWorld;

constexpr std::int64_t device_word_bytes = 8;

void check_words(const char* what, std::int64_t bytes) {
  if (bytes % device_word_bytes != 0)
    throw UsageError(std::string(what) + " of " + std::to_string(bytes) +
                     " bytes; devices move words of 8 bytes, so give a multiple of 8");
}

void check_trial(const DeviceTrial& trial, const TransferChoice& choice, const RegionPlan& plan, int size) {
  check_words("a region", trial.bytes);
  check_words("chunks", choice.chunk_bytes);
  for (const WrittenBytes& one : trial.writes) check_words("a task that ends at a place", one.end);
  if (choice.agents < 1 || trial.writing_blocks < 1 || trial.reading_blocks < 1 || trial.epochs < 1 ||
      trial.passes < 0)
    throw UsageError(
        "a trial needs at least 1 agent, 1 block that writes, 1 that reads, 1 epoch and 0 "
        "passes");
  if (trial.threads < 32 || trial.threads % 32 != 0)
    throw UsageError(std::to_string(trial.threads) + " threads of a block; give a multiple of 32");
  const std::int64_t jobs = trial.epochs * plan.num_chunks() * (size - 1);
  if (jobs >= std::numeric_limits<std::int32_t>::max())
    throw UsageError(std::to_string(jobs) + " chunks in all epochs; give larger chunks or fewer epochs");
}

/// Memory of one device that no other one touches.
struct OwnMemory {
  DeviceArray<device::RegionTask> task;
  DeviceArray<int> writers, writers_left;
  DeviceArray<long long> source;
  DeviceArray<int> by_chunk, by_job, by_rank, single;
  DeviceArray<long long*> landing;
  DeviceArray<int*> counted, released;
};

class TrialMemory {
 public:
  TrialMemory(World& world, const DeviceTrial& trial, const TransferChoice& choice, const RegionPlan& plan)
      : world_(world),
        plan_(plan),
        jobs_(static_cast<std::size_t>(plan.num_chunks()) * (world.size() - 1)),
        landing_(world, 2 * world.size() * plan.bytes / device_word_bytes),
        counted_(world, 2 * static_cast<std::size_t>(world.size()) * plan.num_chunks()),
        released_(world, world.size()) {
    for (int element = 0; element < world.size(); ++element) {
      world.element(element)->clear(counted_.data(element), counted_.bytes());
      world.element(element)->clear(released_.data(element), released_.bytes());
      own_.push_back(own_memory(element, trial));
      trials_.push_back({exchange_of(element, trial, choice), trial.passes});
    }
  }
  const device::RegionTrial& trial(int element) const { return trials_[element]; }
  void add_up(DeviceTrialResult& result) const {
    for (int element = 0; element < world_.size(); ++element) {
      int found[5];
      world_.element(element)->copy_out(found, own_[element].single.data(), sizeof found);
      result.chunks += found[2];
      result.packets += found[3];
      result.wrong_words += found[4];
    }
  }

 private:
  template <class T>
  std::vector<T*> parts(const SymmetricArray<T>& array) const {
    std::vector<T*> all;
    for (int element = 0; element < world_.size(); ++element) all.push_back(array.data(element));
    return all;
  }
  DeviceArray<int> zeros(int element, std::size_t count) const {
    DeviceArray<int> array(world_.element(element), count);
    array.clear();
    return array;
  }
  OwnMemory own_memory(int element, const DeviceTrial& trial) const {
    const std::shared_ptr<Device>& on = world_.element(element);
    std::vector<device::RegionTask> tasks;
    for (const WrittenBytes& one : trial.writes)
      tasks.push_back({one.begin / device_word_bytes, one.end / device_word_bytes});
    const std::vector<int> writers(plan_.writers.begin(), plan_.writers.end());
    const auto ranks = static_cast<std::size_t>(world_.size());
    return {{on, tasks},
            {on, writers},
            {on, writers},
            {on, static_cast<std::size_t>(plan_.bytes / device_word_bytes)},
            zeros(element, writers.size()),
            zeros(element, 3 * jobs_),
            zeros(element, 2 * ranks),
            zeros(element, 5),
            {on, parts(landing_)},
            {on, parts(counted_)},
            {on, parts(released_)}};
  }
  device::RegionExchange exchange_of(int element, const DeviceTrial& trial,
                                     const TransferChoice& choice) const {
    const OwnMemory& own = own_[element];
    device::RegionExchange a{};
    a.rank = element;
    a.ranks = world_.size();
    a.epochs = static_cast<int>(trial.epochs);
    a.runs_ahead = trial.runs_ahead ? 1 : 0;
    a.words = plan_.bytes / device_word_bytes;
    a.chunk_words = plan_.chunk_bytes / device_word_bytes;
    a.num_chunks = plan_.num_chunks();
    a.num_tasks = static_cast<int>(trial.writes.size());
    a.task = own.task.data();
    a.writers = own.writers.data();
    a.mechanism = static_cast<device::RegionMechanism>(choice.mechanism);
    a.writing_blocks = trial.writing_blocks;
    a.agent_blocks = choice.mechanism == Mechanism::by_writer ? 0 : choice.agents;
    a.source = own.source.data();
    a.writers_left = own.writers_left.data();
    a.ready = own.by_chunk.data();
    a.queue = own.by_job.data();
    a.agent_sent = a.queue + jobs_;
    a.seen = a.agent_sent + jobs_;
    a.opened = own.by_rank.data();
    a.read = a.opened + a.ranks;
    a.queue_ends = own.single.data();
    a.sent = a.queue_ends + 2;
    a.packets = a.queue_ends + 3;
    a.wrong = a.queue_ends + 4;
    a.landing = own.landing.data();
    a.counted = own.counted.data();
    a.released = own.released.data();
    return a;
  }

  World& world_;
  const RegionPlan& plan_;
  std::size_t jobs_;
  SymmetricArray<long long> landing_;
  SymmetricArray<int> counted_, released_;
  std::vector<OwnMemory> own_;
  std::vector<device::RegionTrial> trials_;
};

}  // namespace

DeviceTrialResult run_device_trial(World& world, const DeviceTrial& trial, const TransferChoice& choice) {
  const RegionPlan plan = cut_region(trial.bytes, choice.chunk_bytes, trial.writes);
  check_trial(trial, choice, plan, world.size());
  const TrialMemory memory(world, trial, choice, plan);
  constexpr int shared_bytes = 16;
  std::vector<ElementLaunch> launches;
  for (int element = 0; element < world.size(); ++element) {
    const device::RegionTrial& one = memory.trial(element);
    const int blocks = one.exchange.writing_blocks + one.exchange.agent_blocks + trial.reading_blocks;
    launches.push_back({element,
                        {device::Kernel::region_trial, ScalarType::float64, 1, &one},
                        {blocks, trial.threads, shared_bytes}});
    ElementLaunch open = launches.back();
    open.shape.blocks = 0;
    const int resident = world.resident_shape(open).blocks;
    if (blocks > resident)
      throw UsageError(std::to_string(blocks) + " blocks of a device that keeps " + std::to_string(resident) +
                       " side by side would wait for each other forever; give fewer agents or blocks");
  }
  DeviceTrialResult result;
  const Stopwatch watch;
  world.run(launches);
  result.seconds = watch.seconds();
  memory.add_up(result);
  return result;
}

Measure device_measure(std::shared_ptr<World> world, const DeviceTrial& trial) {
  return [world = std::move(world), trial](const TransferChoice& choice) {
    return run_device_trial(*world, trial, choice).seconds;
  };
}

}  // namespace palmette::transfer
