// Launches of the forward sweeps in the emulator. Their file alone is compiled with the hooks of the thread
// sanitizer, so a kernel may be called nowhere else.
#pragma once

#include "palmette/device/emulator.hpp"
#include "palmette/device/forward_sweep.hpp"

namespace palmette::device {

struct LaunchShape {
  int blocks, threads;
  int max_width = 0;  ///< of the supernodes, for the kernels of one device
};
emulate::Launch forward_tree(Fault fault, const Tree& tree, const TreeRun& at, LaunchShape shape);
emulate::Launch forward_columns(const Tree& tree, const ColumnRun& at, LaunchShape shape);
emulate::Launch forward_pes(Fault fault, int pe, const ShareOfPe& share, const PeRun& at, LaunchShape shape);
emulate::Launch forward_read_only(Fault fault, int pe, const Columns& a, const ReadOnlyRun& at,
                                  LaunchShape shape);

}  // namespace palmette::device
