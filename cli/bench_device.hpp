// palmette bench --device: solves on a device beside those of the host and of rivals.
#pragma once

#include <memory>
#include <string>

#include "bench/device/device_bench.hpp"
#include "cli/output.hpp"

namespace palmette::cli {

/// What a device bench measured, or counted on the emulated device.
struct DeviceBench {
  DeviceInfo device;
  std::vector<benchmarks::DeviceBenchRow> rows;
  bool is_emulated() const { return device.kind == "emulated"; }
};

/// The table, under one line on the device.
std::string device_bench_text(const DeviceBench& bench);
/// {device{address,name,emulated,memory_bytes,multiprocessors}, note, rows[{solver,num_rhs,unavailable,
/// seconds,device_seconds,bytes_in,bytes_out,launches,backward_error}]}
Json device_bench_json(const DeviceBench& bench);

}  // namespace palmette::cli
