// Inside `transfer`: pages that migrate, or are replicated, on faults.
#pragma once

#include "palmette/transfer/simulation.hpp"

namespace palmette::transfer {

TransferResult simulate_unified_memory(const StoreTrace& trace, const Fabric& fabric,
                                       const ReplayOptions& options);

}  // namespace palmette::transfer
