// Part of the door of `transfer`: regions between devices of a world, by the plan and the choice that threads
// and ranks take. Counters, agents and readers are blocks of one kernel (palmette/device/region_exchange.cuh)
// and chunks are stores to the memory of other devices.
#pragma once

#include <memory>

#include "palmette/transfer/profile.hpp"

namespace palmette {
class DeviceWorld;
}

namespace palmette::transfer {

/// Every device computes such a region in each epoch and reads those of all others; words say who wrote them,
/// where and when, and readers look at each.
struct DeviceTrial {
  std::vector<WrittenBytes> writes;  ///< multiples of 8 bytes
  std::int64_t bytes = 0;
  std::int64_t epochs = 1;
  /// False: a device begins an epoch when it has read all regions of the one before.
  bool runs_ahead = false;
  int passes = 1;  ///< over each word while it is computed
  int writing_blocks = 1, reading_blocks = 1;
  int threads = 64;  ///< of a block, a multiple of 32
};

struct DeviceTrialResult {
  std::int64_t chunks = 0;       ///< that were sent, by all devices to all readers in all epochs
  std::int64_t packets = 0;      ///< in so many pieces
  std::int64_t wrong_words = 0;  ///< that readers found
  double seconds = 0;            ///< of the launch, measured; of the emulator they say nothing
};

/// @param choice  its agents are blocks, besides those of the trial; chunks are multiples of 8 bytes
/// @throws UsageError if sizes are no multiples of 8 bytes, blocks do not fit on a device side by side, or
///   numbers are out of range; DeviceError with what the emulator reports
/// @cost on each device two regions for every other one, and what is stored there
DeviceTrialResult run_device_trial(palmette::DeviceWorld& world, const DeviceTrial& trial,
                                   const TransferChoice& choice);

/// Measured seconds of a trial, for profile_choices: of use with GPUs.
Measure device_measure(std::shared_ptr<palmette::DeviceWorld> world, const DeviceTrial& trial);

}  // namespace palmette::transfer
