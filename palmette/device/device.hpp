// The door of `device`: kernels for GPUs, written once in a vocabulary for CUDA, HIP and the emulator, and
// the emulator that runs them on a CPU and finds races, deadlocks and divergence.
#pragma once

#include "palmette/device/emulator.hpp"
#include "palmette/device/forward_sweep.hpp"
#include "palmette/device/launches.hpp"
