// Part of the door of `device`: work for a device that a thread of its own does, in order, while its caller
// goes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace palmette {

/// Copies and operations block the thread that asks for them until they are done, on the emulated device and,
/// for memory that is not pinned, with CUDA. So one thread per queue asks for them, and everyone else waits
/// only for results. Work that is queued when the queue ends is still done.
class DeviceQueue {
 public:
  /// One piece of work. Shared by those who wait for it.
  class Ticket {
   public:
    bool done() const;
    /// Waits. @returns false if the device had no memory for the work
    /// @throws what the work threw, unless that is MemoryError
    bool wait() const;
    /// Waits, and tells nothing.
    void settle() const noexcept;

   private:
    friend class DeviceQueue;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool done_ = false;
    bool out_of_memory_ = false;
    std::exception_ptr error_;
  };

  DeviceQueue();
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  /// @param work  run after all earlier work, in the queue's thread
  std::shared_ptr<const Ticket> submit(std::function<void()> work);

 private:
  struct Item {
    std::function<void()> work;
    std::shared_ptr<Ticket> ticket;
  };
  void serve();
  static void run(Item& item);

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Item> items_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace palmette
