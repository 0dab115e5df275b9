// Launches of the microbenchmarks' kernels in the emulator.
#pragma once

#include "palmette/device/emulator.hpp"
#include "palmette/device/flag_protocols.hpp"
#include "palmette/device/kernel_call.hpp"

namespace palmette::device {

emulate::Launch hand_over_launch(Protocol protocol, emulate::Scope scope, const HandOver& at,
                                 const LaunchShape& shape);
/// Between blocks, with device scope.
emulate::Launch hand_over_with(ProtocolFault fault, const HandOver& at);
/// The flag between blocks, with block scope.
emulate::Launch hand_over_too_narrow(const HandOver& at);
emulate::Launch read_launch(const ReadArray& array, const LaunchShape& shape);

}  // namespace palmette::device
