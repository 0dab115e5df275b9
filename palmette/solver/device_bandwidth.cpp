// Copies within a device, timed.
#include "palmette/solver/device_bandwidth.hpp"

#include <algorithm>

namespace palmette {

double measured_device_gbs(const std::shared_ptr<Device>& device, std::size_t array_bytes) {
  constexpr int copies = 5;
  if (device->info().kind == "emulated") return 0;
  try {
    DeviceArray<char> from(device, array_bytes);
    const DeviceArray<char> to(device, array_bytes);
    from.clear();
    double best = 0;
    for (int turn = 0; turn <= copies; ++turn) {  // the first is a warm-up
      device->finish();
      const Stopwatch watch;
      device->copy_there(to.data(), from.data(), array_bytes);
      device->finish();
      const double seconds = watch.seconds();
      if (turn > 0 && seconds > 0) best = std::max(best, 2e-9 * static_cast<double>(array_bytes) / seconds);
    }
    return best;
  } catch (const MemoryError&) {
    return 0;
  }
}

}  // namespace palmette
