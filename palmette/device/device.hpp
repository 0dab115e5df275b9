// The door of `device`: devices with their memory; kernels for GPUs, written once in a vocabulary for CUDA,
// HIP and the emulator; and the emulator that runs them on a CPU and finds races, deadlocks and divergence.
#pragma once

#include "palmette/device/dense_operations.hpp"
#include "palmette/device/device_network.hpp"
#include "palmette/device/device_queue.hpp"
#include "palmette/device/device_world.hpp"
#include "palmette/device/devices.hpp"
#include "palmette/device/element_sweep.hpp"
#include "palmette/device/emulator.hpp"
#include "palmette/device/launches.hpp"
#include "palmette/device/panel_layout.hpp"
#include "palmette/device/region_exchange.hpp"
#include "palmette/device/row_slices.hpp"
#include "palmette/device/triangle_elements.hpp"
#include "palmette/device/triangle_sweep.hpp"
// Only in programs that link palmette_device_faults or palmette_device_ptx: tests and benchmarks.
#include "palmette/device/faults/launches_with_faults.hpp"
#include "palmette/device/ptx/ptx_module.hpp"
