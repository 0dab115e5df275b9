// A thread that takes work from a list.
#include "palmette/device/device_queue.hpp"

#include "palmette/base/base.hpp"

namespace palmette {

bool DeviceQueue::Ticket::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

bool DeviceQueue::Ticket::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_; });
  if (error_) std::rethrow_exception(error_);
  return !out_of_memory_;
}

void DeviceQueue::Ticket::settle() const noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_; });
}

DeviceQueue::DeviceQueue() : thread_([this] { serve(); }) {}

DeviceQueue::~DeviceQueue() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  arrived_.notify_all();
  thread_.join();
}

std::shared_ptr<const DeviceQueue::Ticket> DeviceQueue::submit(std::function<void()> work) {
  auto ticket = std::make_shared<Ticket>();
  {
    const std::lock_guard lock(mutex_);
    items_.push_back({std::move(work), ticket});
  }
  arrived_.notify_one();
  return ticket;
}

void DeviceQueue::run(Item& item) {
  std::exception_ptr error;
  bool out_of_memory = false;
  try {
    item.work();
  } catch (const MemoryError&) {
    out_of_memory = true;
  } catch (...) {
    error = std::current_exception();
  }
  item.work = nullptr;  // what it holds is released before anyone hears that it is done
  {
    const std::lock_guard lock(item.ticket->mutex_);
    item.ticket->done_ = true;
    item.ticket->out_of_memory_ = out_of_memory;
    item.ticket->error_ = error;
  }
  item.ticket->changed_.notify_all();
}

void DeviceQueue::serve() {
  while (true) {
    Item item;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return ended_ || !items_.empty(); });
      if (items_.empty()) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    run(item);
  }
}

}  // namespace palmette
