// Support for fork: only the thread that calls fork exists in the child.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace palmette {

/// How often this process and its ancestors have forked since the library was loaded. An object created under
/// another number may refer to threads, or to locks held by threads, that do not exist in this process.
std::uint32_t fork_generation();

/// Holds a lock for the few instructions that read, change or allocate something small; nothing else is
/// locked during that time. No fork happens while one is held, so a child finds consistent data.
class BriefLock {
 public:
  /// @param guarded  address of what is locked; different objects may share a lock
  explicit BriefLock(const void* guarded);
  ~BriefLock();
  BriefLock(const BriefLock&) = delete;
  BriefLock& operator=(const BriefLock&) = delete;

 private:
  std::size_t number_;
};

/// A mutex that may be held for a long time. In a forked process it is free, even if it was held in the
/// parent.
class ProcessMutex {
 public:
  /// @returns true if the holder exists only in another process; then the guarded data may be partly changed
  bool lock();
  void unlock();

 private:
  std::atomic<std::uint32_t> holder_{0};  // 0: free; else fork_generation() + 1 of the holder's process
};

}  // namespace palmette
