// Is it faster to store each value into the other device's memory, or to copy the whole array afterwards? A
// trace of your own program answers it, in simulated time, without a device.
#include <cstdio>

#include "palmette/transfer/transfer.hpp"

using namespace palmette;
using namespace palmette::transfer;

int main() {
  // Device 0 updates every fourth of 65,536 values; device 1 then reads them.
  TraceRecorder recorder("every fourth", 2, 128);
  const int count = 65536, step = 4;
  for (int k = 0; k < count; k += step) {
    const int thread = k / step;
    recorder.store({0, thread / 128, thread % 128}, 1, 8u * static_cast<unsigned>(k), 8);
  }
  recorder.work(0, 8.0 * count * 10);
  recorder.copy(0, {0, 8u * count, only(1)});
  recorder.end_phase();
  for (int k = 0; k < count; k += step) {
    const int thread = k / step;
    recorder.load({1, thread / 128, thread % 128}, 8u * static_cast<unsigned>(k), 8);
  }
  const StoreTrace trace = recorder.take();

  // PCIe 4: 32 GB/s, 1.2 us, headers of 24 bytes; the files of data/interconnects have these and others.
  const Fabric pcie4{"pcie4", "", 32, 1.2, 8, 65536, {24, 4, 4096, 0}, Topology::crossbar, 0, 0};
  const Advice advice = advise(trace, pcie4, ReplayOptions{});
  for (const TransferResult& one : advice.candidates)
    std::printf("%-15s %6.1f us simulated, %7.1f kB on the wire\n", name_of(one.paradigm), 1e6 * one.seconds,
                1e-3 * static_cast<double>(one.wire_bytes));
  std::printf("fastest: %s, by a factor of %.2f%s\n", name_of(advice.candidates.front().paradigm),
              advice.margin, advice.is_sensitive() ? "; it hangs on an estimate" : "");
  return 0;
}
