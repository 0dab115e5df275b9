// Solves of one factored matrix on a device: by every engine of the device, by the serial engine of the host,
// and on a GPU by the rivals whose libraries are there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "palmette/solver/solver.hpp"

namespace palmette::benchmarks {

struct DeviceBenchOptions {
  std::vector<index_t> num_rhs = {1, 50};
  int repeat = 5;
  /// of the rivals' libraries; empty: where the system looks for libraries, and on a GPU only
  std::string rival_folder;
};

/// One solver with one number of right-hand sides.
struct DeviceBenchRow {
  std::string solver;       ///< a method of the list, or a rival
  index_t num_rhs = 1;
  std::string unavailable;  ///< why there are no figures; empty if there are
  /// Median of warm solves from host memory to host memory; absent on the emulated device, whose time says
  /// nothing about a GPU.
  std::optional<double> seconds;
  /// A solve between vectors that stay on the device: the mean of ten in a row, median over repeats; absent
  /// on the emulated device and for the engine of the host.
  std::optional<double> device_seconds;
  DeviceCounts counts;            ///< of one solve; rivals' launches are not counted
  DeviceCounts counts_on_device;  ///< of our own solves between vectors that stay there
  double backward_error = 0;
};

/// @throws DeviceError, MemoryError of our own engines; what rivals throw becomes `unavailable`
template <class T>
std::vector<DeviceBenchRow> bench_device(const Solver<T>& solver, const std::shared_ptr<Device>& device,
                                         const DeviceBenchOptions& options = {});

}  // namespace palmette::benchmarks
