// Processes that fork: of all threads only the one that forked comes along into the child.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace palmette {

/// How often this process and those that it comes from have forked since the library was loaded. What was
/// made under another number may have threads, and locks held by threads, that stayed behind.
std::uint32_t fork_generation();

/// Holds a lock for the few instructions in which something small is read or changed, or memory for it is
/// got; nothing else is locked meanwhile. No process forks while one is held, so that a child finds
/// everything whole.
class BriefLock {
 public:
  /// @param guarded  what is locked, by its place in memory; different things may share a lock
  explicit BriefLock(const void* guarded);
  ~BriefLock();
  BriefLock(const BriefLock&) = delete;
  BriefLock& operator=(const BriefLock&) = delete;

 private:
  std::size_t number_;
};

/// A mutex that may be held for long. In a forked process it is free, whoever held it in the parent.
class ProcessMutex {
 public:
  /// @returns true where the holder stayed behind in another process: what is guarded may then be half
  ///   changed
  bool lock();
  void unlock();

 private:
  std::atomic<std::uint32_t> holder_{0};  // 0: nobody; else fork_generation() + 1 of the holder's process
};

}  // namespace palmette
