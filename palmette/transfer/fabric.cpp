// Checks descriptions of interconnects, and turns them into levels of clusters.
#include "palmette/transfer/fabric.hpp"

#include <cmath>

#include "palmette/transfer/goodput.hpp"

namespace palmette::transfer {
namespace {

void require(bool holds, const Fabric& fabric, const std::string& field, double value,
             const std::string& remedy) {
  if (!holds)
    throw UsageError("interconnect '" + fabric.name + "': " + field + " is " + std::to_string(value) + "; " +
                     remedy);
}

}  // namespace

void check(const Fabric& fabric) {
  const auto positive = [&](const char* field, double value) {
    require(value > 0 && std::isfinite(value), fabric, field, value, "give a number above 0");
  };
  const auto not_negative = [&](const char* field, double value) {
    require(value >= 0 && std::isfinite(value), fabric, field, value, "give 0 or more");
  };
  positive("gbs", fabric.gbs);
  not_negative("latency_us", fabric.latency_us);
  not_negative("copy_start_us", fabric.copy_start_us);
  positive("packet.unit_bytes", fabric.packet.unit_bytes);
  not_negative("packet.header_bytes", fabric.packet.header_bytes);
  not_negative("packet.partial_bytes", fabric.packet.partial_bytes);
  require(fabric.packet.max_payload_bytes >= 128, fabric, "packet.max_payload_bytes",
          fabric.packet.max_payload_bytes, "a packet must hold a line of 128 bytes");
  require(fabric.credit_bytes >= wire_bytes(fabric.packet, fabric.packet.max_payload_bytes), fabric,
          "credit_bytes", fabric.credit_bytes, "the receiver must be able to hold the longest packet");
  not_negative("group", fabric.group);
  if (fabric.topology == Topology::tree && fabric.group > 0) positive("root_gbs", fabric.root_gbs);
}

LinkLevel as_link_level(const Fabric& fabric, index_t ranks) {
  check(fabric);
  return {fabric.name,
          ranks,
          {fabric.latency_us, fabric.gbs * goodput(fabric.packet, fabric.packet.max_payload_bytes), 0, 0},
          0};
}

}  // namespace palmette::transfer
