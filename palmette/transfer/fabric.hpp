// Part of the door of `transfer`: what joins the devices, as interconnect files describe it.
#pragma once

#include <string>

#include "palmette/machine/machine.hpp"

namespace palmette::transfer {

/// How one packet frames its payload.
struct PacketFormat {
  int header_bytes = 24;         ///< framing, sequence number, checks and transaction header of a packet
  int unit_bytes = 4;            ///< the payload is padded to whole units (double words, or flits)
  int max_payload_bytes = 4096;  ///< longer payloads are split
  int partial_bytes = 0;         ///< added to a store that does not fill its line: byte enables
};

enum class Topology {
  tree,     ///< groups of devices below switches that one link each joins to the root
  crossbar  ///< one switch that blocks nothing but ports
};
inline constexpr Topology topologies[] = {Topology::tree, Topology::crossbar};
constexpr const char* name_of(Topology topology) {
  return topology == Topology::tree ? "tree" : "crossbar";
}

/// The links among devices. Every device has one link into the network and one out of it.
struct Fabric {
  std::string name;
  std::string description;
  double gbs = 0;            ///< of a device's link, each way, headers included, 10⁹ bytes/s
  double latency_us = 0;     ///< of a packet that meets no other, from device to device
  double copy_start_us = 0;  ///< before the first byte of a copy that the host starts
  int credit_bytes = 0;      ///< what the receiver of a link buffers before the sender must wait
  PacketFormat packet;
  Topology topology = Topology::crossbar;
  int group = 0;        ///< tree: devices below one switch; 0: all below the root
  double root_gbs = 0;  ///< tree: of the link between such a switch and the root
};

/// @throws UsageError naming the field, its value and the remedy
void check(const Fabric& fabric);

/// The same as a level of a cluster, for predictions and simulated ranks: messages go in packets of the
/// largest payload. @throws UsageError as check
LinkLevel as_link_level(const Fabric& fabric, index_t ranks);

}  // namespace palmette::transfer
