// Closed forms of goodput and of scaling with copies.
#include "palmette/transfer/goodput.hpp"

#include <algorithm>
#include <cmath>

namespace palmette::transfer {
namespace {

std::int64_t over(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

std::int64_t wire_bytes(const PacketFormat& packet, std::int64_t payload_bytes) {
  const std::int64_t packets = std::max<std::int64_t>(1, over(payload_bytes, packet.max_payload_bytes));
  return packets * packet.header_bytes + over(payload_bytes, packet.unit_bytes) * packet.unit_bytes;
}

std::int64_t store_wire_bytes(const PacketFormat& packet, std::int64_t payload_bytes) {
  return wire_bytes(packet, payload_bytes) + (payload_bytes % line_bytes == 0 ? 0 : packet.partial_bytes);
}

double goodput(const PacketFormat& packet, std::int64_t payload_bytes) {
  return static_cast<double>(payload_bytes) / static_cast<double>(wire_bytes(packet, payload_bytes));
}

double store_goodput(const PacketFormat& packet, std::int64_t payload_bytes) {
  const std::int64_t wire = wire_bytes(packet, payload_bytes) + packet.partial_bytes;
  return static_cast<double>(payload_bytes) / static_cast<double>(wire);
}

double packed_goodput(const PacketFormat& packet, const PackedStores& stores) {
  const std::int64_t payload = std::int64_t{stores.stores} * (stores.store_bytes + stores.subheader_bytes);
  return static_cast<double>(stores.stores) * stores.store_bytes /
         static_cast<double>(wire_bytes(packet, payload));
}

double configuration_packet_loss(const PacketFormat& packet, const PackedStores& stores, int extra_bytes) {
  PackedStores configured = stores;
  configured.subheader_bytes += extra_bytes;
  return 1 - packed_goodput(packet, configured) / packed_goodput(packet, stores);
}

std::int64_t packet_window_bytes(int subheader_bytes) {
  if (subheader_bytes < 2 || subheader_bytes > 6)
    throw UsageError("a sub-header of FinePack has 2 to 6 bytes, not " + std::to_string(subheader_bytes));
  return std::int64_t{1} << (8 * subheader_bytes - length_bits);
}

int most_stores_per_packet(const PacketFormat& packet, int subheader_bytes, int store_bytes) {
  return packet.max_payload_bytes / (subheader_bytes + store_bytes);
}

double CopyLaw::hidden(double devices) const {
  return 1 / std::max(1 / devices, copy_share * (devices - 1));
}

double CopyLaw::crossover() const {
  return 0.5 + std::sqrt(0.25 + 1 / copy_share);
}

int CopyLaw::best_devices(int most) const {
  int best = 1;
  for (int n = 2; n <= most; ++n)
    if (copies(n, n) > copies(best, best)) best = n;
  return best;
}

CopyLaw copy_law(double exchanged_bytes, double gbs, double step_seconds) {
  return {exchanged_bytes / (gbs * 1e9) / step_seconds};
}

}  // namespace palmette::transfer
