// Part of the door of `transfer`: how long a traced program takes under each paradigm of communication, and
// what its bytes are good for. All times are simulated.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "palmette/transfer/packing.hpp"
#include "palmette/transfer/publishing.hpp"
#include "palmette/transfer/transfer_timeline.hpp"

namespace palmette::transfer {

/// How devices pass on what they compute.
enum class Paradigm {
  single,          ///< one device does all the work
  copies,          ///< copies by the host between kernels
  unified_memory,  ///< pages migrate on faults
  peer_loads,      ///< devices load from each other's memory
  peer_stores,     ///< devices store into each other's memory, each store a packet
  broadcast,       ///< GPS without unsubscribing: lines go to all devices
  gps,             ///< lines go to those devices that load the page
  finepack,        ///< peer stores, many in a packet
  proact,          ///< chunks travel as soon as they are complete
  infinite,        ///< an interconnect that costs nothing
};
inline constexpr Paradigm paradigms[] = {
    Paradigm::single,     Paradigm::copies,      Paradigm::unified_memory,
    Paradigm::peer_loads, Paradigm::peer_stores, Paradigm::broadcast,
    Paradigm::gps,        Paradigm::finepack,    Paradigm::proact,
    Paradigm::infinite};
const char* name_of(Paradigm paradigm);

/// Which resident warp issues next. Results depend on it.
enum class IssueOrder { greedy, in_turn };
inline constexpr IssueOrder issue_orders[] = {IssueOrder::greedy, IssueOrder::in_turn};
constexpr const char* name_of(IssueOrder order) {
  return order == IssueOrder::greedy ? "greedy" : "in_turn";
}

/// A device like the V100 of [Muthukrishnan 2022], table 4.1.
struct DeviceModel {
  /// Local memory that kernels read and write per second, 10⁹ bytes/s. It alone says how long kernels
  /// compute. Calibrated once, on copies: see docs/results/transfers.md.
  double work_gbs = 296;
  double launch_us = 5;  ///< of a kernel; estimate
  int multiprocessors = 80;
  int resident_warps = 80 * 2048 / warp_lanes;
  int outstanding_loads = 256;  ///< of other devices' memory; the tags of PCIe; estimate
  double page_fault_us = 50;    ///< stall of a multiprocessor. @source [Muthukrishnan 2022], §4.6.1
  double page_walk_us = 0.6;    ///< a miss of the TLB of GPS: two accesses of memory; estimate
  int page_walkers = 16;        ///< at a time; estimate
};

struct ProactOptions {
  std::int64_t chunk_bytes = 128 << 10;  ///< @source [Muthukrishnan 2022], table 2.2, for Volta
  int agents = 8;                        ///< transfers that are being started at a time; estimate
  double start_us = 1.5;                 ///< of one transfer by a polling agent; estimate
  double tracking =
      0.10;  ///< computing takes so much longer. @source [Muthukrishnan 2022], §2.5.3: 10 to 15 %
  bool is_inline = false;  ///< no chunks: peer stores by the producers, without tracking
};

struct ReplayOptions {
  Paradigm paradigm = Paradigm::finepack;
  IssueOrder order = IssueOrder::greedy;
  DeviceModel device;
  FinePackOptions finepack;
  GpsOptions gps;
  ProactOptions proact;
  bool has_page_hints = true;  ///< unified memory: pages that are only read are replicated
  bool keeps_timeline = false;
};

struct TransferResult {
  Paradigm paradigm = Paradigm::single;
  double seconds = 0;          ///< simulated
  double compute_seconds = 0;  ///< of the slowest device of each phase, launches included
  double stall_seconds = 0;    ///< of all devices: they could not issue because links were full
  std::int64_t wire_bytes = 0;
  std::int64_t useful_bytes = 0;  ///< read by their destination
  std::int64_t wasted_bytes = 0;  ///< overwritten before they were read, or never read, or not stored at all
  std::int64_t overhead_bytes = 0;  ///< headers, sub-headers, padding, requests
  std::int64_t packets = 0;
  std::int64_t stores = 0;  ///< that left warps, after coalescing, each destination counted
  std::int64_t store_bytes = 0;
  std::int64_t packed_runs = 0;                  ///< sub-packets in packets of FinePack
  std::int64_t small_stores = 0;                 ///< of at most 32 bytes
  std::array<std::int64_t, 6> stores_by_size{};  ///< of at most 4, 8, 16, 32, 64, 128 bytes
  std::array<std::int64_t, num_flush_causes> flushes{};
  std::int64_t queue_stores = 0, queue_hits = 0;  ///< of GPS
  std::int64_t tlb_lookups = 0, tlb_hits = 0;
  std::int64_t page_faults = 0;
  std::vector<std::int64_t> pages_by_subscribers;  ///< GPS: [k]: pages that are stored to, with k subscribers
  std::int64_t chunks = 0;                         ///< of PROACT
  std::int64_t chunk_bytes = 0;                    ///< of the best configuration of PROACT; 0: inline
  std::int64_t compared_bytes = 0;                 ///< of memory images
  std::int64_t different_bytes = 0;                ///< must be 0
  std::int64_t events = 0;                         ///< accesses and packets' hops
  /// If it is kept: by phase, in no other order. Unified memory has kernels only.
  std::vector<TransferInterval> timeline;
};

/// put(name, value) for each figure of a result that is one number, in the order of reports.
template <class Put>
void for_each_figure(const TransferResult& result, Put&& put) {
  put("seconds", result.seconds);
  put("compute_seconds", result.compute_seconds);
  put("stall_seconds", result.stall_seconds);
  put("wire_bytes", result.wire_bytes);
  put("useful_bytes", result.useful_bytes);
  put("wasted_bytes", result.wasted_bytes);
  put("overhead_bytes", result.overhead_bytes);
  put("packets", result.packets);
  put("stores", result.stores);
  put("store_bytes", result.store_bytes);
  put("packed_runs", result.packed_runs);
  put("small_stores", result.small_stores);
  put("queue_stores", result.queue_stores);
  put("queue_hits", result.queue_hits);
  put("tlb_lookups", result.tlb_lookups);
  put("tlb_hits", result.tlb_hits);
  put("page_faults", result.page_faults);
  put("chunks", result.chunks);
  put("chunk_bytes", result.chunk_bytes);
  put("compared_bytes", result.compared_bytes);
  put("different_bytes", result.different_bytes);
  put("events", result.events);
}

/// Replay a trace.
/// @throws UsageError if trace, interconnect or options cannot be used
/// @cost  two images of shared memory, and two bytes for each of its bytes, for each device
/// @source [Muthukrishnan 2022], chapters II, IV and V
TransferResult simulate_transfers(const StoreTrace& trace, const Fabric& fabric,
                                  const ReplayOptions& options);

/// PROACT with the fastest of these chunks, and inline; what its profiler would choose.
TransferResult profile_proact(const StoreTrace& trace, const Fabric& fabric, const ReplayOptions& options,
                              const std::vector<std::int64_t>& chunk_bytes);
/// 16 KB, 64 KB, 128 KB, 256 KB, 1 MB.
const std::vector<std::int64_t>& usual_chunks();

/// The rate of local memory at which copies make these programs, in the geometric mean, `speedup` times as
/// fast as one device. Only computing depends on it, so each trace is replayed once.
/// @throws UsageError if no rate does
double calibrate_work_gbs(const std::vector<StoreTrace>& traces, const Fabric& fabric,
                          const ReplayOptions& options, double speedup);

}  // namespace palmette::transfer
