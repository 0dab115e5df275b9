// Part of the door of `transfer`: which of the paradigms that a programmer can use today is fastest for a
// program, by how much, and whether that hangs on a number that was only estimated.
#pragma once

#include <string>
#include <vector>

#include "palmette/transfer/simulation.hpp"

namespace palmette::transfer {

/// A parameter at half or twice its value, and what is fastest then.
struct Sensitivity {
  std::string parameter;
  double factor = 1;
  Paradigm winner = Paradigm::copies;
  double margin = 1;  ///< time of the next best over that of the winner
};

struct Advice {
  std::vector<TransferResult>
      candidates;                ///< fastest first: copies, unified memory, peer loads and stores, PROACT
  std::int64_t chunk_bytes = 0;  ///< of PROACT, if it is the winner; 0: inline
  double margin = 1;
  std::vector<Sensitivity> sensitivity;
  bool is_sensitive() const;  ///< whether another paradigm wins somewhere in it
};

/// @throws UsageError as simulate_transfers
/// @cost  63 replays, each of which `progress` hears of
Advice advise(const StoreTrace& trace, const Fabric& fabric, const ReplayOptions& options,
              const ProgressCallback& progress = {});

}  // namespace palmette::transfer
