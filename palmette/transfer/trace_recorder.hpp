// Part of the door of `transfer`: builds a trace from what threads are seen to do, for the emulator of
// kernels, for rank programs, and for whoever logs a program of their own.
#pragma once

#include <map>
#include <string>

#include "palmette/transfer/store_trace.hpp"

namespace palmette::transfer {

/// Who did something: a device, a block of threads, a thread of the block.
struct TraceThread {
  int device = 0;
  int block = 0;
  int thread = 0;
};

/// Accesses in the order in which each thread makes them; the k-th ones of a warp's threads are taken for one
/// instruction. Accesses of more than 8 bytes are cut.
class TraceRecorder {
 public:
  /// @param block_threads  the most threads of a block
  TraceRecorder(std::string name, int devices, int block_threads = 1024);
  /// @param owner  the device into whose memory it stores
  /// What is stored is not told, since the emulator does not know it beforehand: stores are numbered, so that
  /// replays still compare different bytes.
  void store(const TraceThread& who, int owner, std::uint64_t address, int bytes,
             AccessScope scope = AccessScope::weak) {
    add(who, AccessKind::store, {address, bytes, owner, scope});
  }
  void load(const TraceThread& who, std::uint64_t address, int bytes) {
    add(who, AccessKind::load, {address, bytes, who.device, AccessScope::weak});
  }
  void release(const TraceThread& who, AccessScope scope) { add(who, AccessKind::release, {0, 0, 0, scope}); }
  /// Local memory that a device's kernel reads and writes in this phase.
  void work(int device, double bytes);
  void copy(int device, const CopyRange& range);
  void end_phase();
  /// All phases, ordered and checked; the recorder is then empty. @throws UsageError as check
  StoreTrace take();

 private:
  struct What {
    std::uint64_t address;
    int bytes, owner;
    AccessScope scope;
  };
  void add(const TraceThread& who, AccessKind kind, const What& what);
  TracedPhase& phase();

  StoreTrace trace_;
  int block_threads_;
  bool is_open_ = false;
  std::uint64_t next_value_ = 0;
  std::vector<std::map<std::uint32_t, std::uint32_t>>
      instructions_;  ///< by device and thread: the next number
};

}  // namespace palmette::transfer
