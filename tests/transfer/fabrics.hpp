// The interconnect of the published examples: PCIe's packets, and a crossbar of them.
#pragma once

#include "palmette/transfer/transfer.hpp"

namespace palmette::testing_transfer {

inline const transfer::PacketFormat pcie{24, 4, 4096, 0};

inline transfer::Fabric crossbar() {
  return {"crossbar", "", 32, 1, 8, 65536, pcie, transfer::Topology::crossbar, 0, 0};
}

}  // namespace palmette::testing_transfer
