// Inside `transfer`: replays the phases of a trace over a network.
#pragma once

#include <deque>
#include <memory>
#include <unordered_set>

#include "palmette/transfer/memory_images.hpp"
#include "palmette/transfer/network.hpp"
#include "palmette/transfer/warp_issue.hpp"

namespace palmette::transfer {

class Replay {
 public:
  Replay(const StoreTrace& trace, const Fabric& fabric, const ReplayOptions& options);
  TransferResult run();

 private:
  /// What a device's copy engine, or its answers to loads, shall send.
  struct Job {
    PacketKind kind = PacketKind::bulk;
    std::uint64_t address = 0, bytes = 0;
    int destination = 0;
  };
  struct Device {
    WarpIssue issue;
    double clock = 0, step = 0;  ///< seconds of the phase; of one instruction
    double kernel_end = 0;
    std::deque<Packet> out;               ///< produced, not yet on the link
    std::deque<Job> jobs;                 ///< of the engine
    std::deque<Job> started;              ///< by agents, each with an event at its time
    std::vector<double> agents, walkers;  ///< when they are free
    bool waits_for_link = false, engine_waits = false, waits_for_loads = false;
    bool is_flushed = false, is_finished = false;
    int outstanding = 0;
    std::unordered_set<std::uint64_t> fetched;  ///< sectors of other devices, by block
    std::vector<std::uint32_t> stores_left;     ///< PROACT: by chunk
    std::vector<FinePackQueue> packing;         ///< by destination
    std::unique_ptr<LineQueue> lines;
    std::unique_ptr<PageTlb> tlb;
  };

  bool sends_lines() const;
  bool sends_stores() const;
  DeviceSet subscribers(std::uint64_t address, int device) const;
  DeviceSet promised(int device, const LineStore& store) const;

  void run_phase(const TracedPhase& phase);
  void read_deliveries(const TracedPhase& phase);
  void begin_kernel(int device, const TracedKernel& kernel);
  void wake(int waiter, double now);
  void advance(int device, double now);
  bool send_out(int device, double now);
  void issue(int device);
  void issue_store(int device, const LineStore& store);
  void issue_loads(int device, std::span<const Access> accesses);
  void flush(int device);
  void publish(int device, const PublishedLine& line);
  void push(int device, Packet&& packet);
  void send_packed(int device, int destination, StorePacket&& packet);
  void send_plain(int device, int destination, const LineStore& store);
  void count_down(int device, const LineStore& store);
  void start_chunk(int device, std::uint64_t chunk);
  void start_copies();
  void pump(int device, double now);
  void deliver(const Packet& packet, double now);
  void end_promises(const TracedPhase& phase);
  void count_subscribers();
  /// @param computed  when the last kernel ended, @param end  the phase: seconds since its launch
  void keep_timeline(double computed, double end);
  void collapse(int device, std::uint64_t page);

  const StoreTrace& trace_;
  const Fabric& fabric_;
  const ReplayOptions& options_;
  MemoryImages images_;
  TransferResult result_;
  std::vector<Device> devices_;
  std::vector<DeviceSet> page_subscribers_;
  std::vector<std::int8_t> home_;   ///< by page of GPS: the only device that keeps it, or −1
  std::vector<std::int8_t> owner_;  ///< by 4 bytes: who stored there last, or −1
  std::vector<LineStore> coalesced_;
  const TracedPhase* phase_ = nullptr;
  std::vector<TransferInterval> phase_timeline_;  ///< seconds since the phase began
  std::unique_ptr<Network> network_;
  std::size_t phase_number_ = 0;
};

}  // namespace palmette::transfer
