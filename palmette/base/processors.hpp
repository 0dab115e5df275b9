// Processors that this process may use, and those that others keep busy.
#pragma once

namespace palmette {

/// Processors that this process may run on (its affinity mask) or, where that is less, those that its control
/// group's quota of processor time amounts to, rounded up; ≥ 1.
int available_processors();

/// Processors that other threads of this machine keep busy at this moment, as far as the kernel says; 0 where
/// this process may not use all processors, so that others may be busy elsewhere.
int busy_processors();

}  // namespace palmette
