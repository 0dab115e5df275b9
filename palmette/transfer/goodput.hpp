// Part of the door of `transfer`: closed forms. What a store costs on a wire, what FinePack's packets save,
// how large the tables of GPS are, and two laws of scaling with copies.
#pragma once

#include <cstdint>

#include "palmette/transfer/fabric.hpp"

namespace palmette::transfer {

inline constexpr int line_bytes = 128;    ///< of a device's cache, and of the coalescer
inline constexpr int page_bytes = 65536;  ///< of GPS and of unified memory
inline constexpr int length_bits = 10;    ///< of a sub-header of FinePack

/// Bytes on the wire for a payload, split at the largest payload.
/// @source [Neugebauer et al. 2018], §3, for PCIe
std::int64_t wire_bytes(const PacketFormat& packet, std::int64_t payload_bytes);
/// The same for one store: byte enables are added unless it fills whole lines.
std::int64_t store_wire_bytes(const PacketFormat& packet, std::int64_t payload_bytes);
/// Payload over bytes on the wire.
double goodput(const PacketFormat& packet, std::int64_t payload_bytes);
/// The same for one store that travels with byte enables. @source [Muthukrishnan 2022], figure 2.2
double store_goodput(const PacketFormat& packet, std::int64_t payload_bytes);

/// Stores of equal size in packets of FinePack, each behind a sub-header.
struct PackedStores {
  int store_bytes = 0;
  int subheader_bytes = 5;
  int stores = 0;
};
/// @source [Muthukrishnan 2022], §5.3.1
double packed_goodput(const PacketFormat& packet, const PackedStores& stores);
/// The other design of §5.5.3: a packet that configures those that follow it, each with `extra_bytes` of
/// sequence number and checks. @returns by which fraction it has less goodput than a packed one
double configuration_packet_loss(const PacketFormat& packet, const PackedStores& stores, int extra_bytes);
/// The range of addresses that one packet reaches: 2 to the bits of a sub-header that the length leaves.
/// @throws UsageError unless 2 ≤ subheader_bytes ≤ 6
std::int64_t packet_window_bytes(int subheader_bytes);
/// The most stores of this size that a packet holds.
int most_stores_per_packet(const PacketFormat& packet, int subheader_bytes, int store_bytes);

/// Sizes of the structures of GPS. @source [Muthukrishnan 2022], table 4.1, §4.5.2
struct GpsTables {
  int devices = 4;
  int queue_entries = 64;
  int entry_bytes = 135;
  int virtual_bits = 49;
  int physical_bits = 47;
  std::int64_t queue_bytes() const { return std::int64_t{queue_entries} * entry_bytes; }
  /// A virtual page's number, and the number of its replica on each other device.
  int page_entry_bits() const { return virtual_bits - 16 + (devices - 1) * (physical_bits - 16); }
  /// One bit for each page of the tracked range.
  static std::int64_t bitmap_bytes(std::int64_t tracked_bytes) { return tracked_bytes / page_bytes / 8; }
};

/// Computing that scales, and copies that each device sends to all others in turn: n devices need
/// 1/limit(n) + c·(n − 1) of the time of one. @source [Muthukrishnan 2022], §3.4.1
struct CopyLaw {
  double copy_share = 0;  ///< c: one device's exchange with one other, in units of the time on one device
  double copies(double devices, double limit) const { return 1 / (1 / limit + copy_share * (devices - 1)); }
  /// Copies hidden behind computing: the longer of both decides.
  double hidden(double devices) const;
  /// Number of devices, as a real number, from which hidden copies bound the time.
  double crossover() const;
  /// The number of devices up to `most` at which copies are fastest, if computing scales perfectly.
  int best_devices(int most) const;
};
/// Bytes that a device exchanges with one other between two steps, over the rate of its link, in units of a
/// step on one device.
CopyLaw copy_law(double exchanged_bytes, double gbs, double step_seconds);

}  // namespace palmette::transfer
