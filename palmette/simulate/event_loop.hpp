// Part of the door of `simulate`: events in virtual time, handled one after the other.
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace palmette {

/// Events in the order of their time. Events at the same time are handled in the order in which they were
/// added, so that a run is the same on every platform.
template <class Event>
class EventLoop {
 public:
  /// @param seconds  not before the event that is being handled
  void plan(double seconds, Event event) { events_.push({seconds, planned_++, std::move(event)}); }
  /// Call handle(seconds, event) for each event, including those that it adds, until none is left. @returns
  /// the number of events
  template <class Handle>
  std::int64_t run(Handle&& handle) {
    std::int64_t handled = 0;
    for (; !events_.empty(); ++handled) {
      const Planned next = events_.top();
      events_.pop();
      handle(next.seconds, next.event);
    }
    return handled;
  }

 private:
  struct Planned {
    double seconds = 0;
    std::int64_t number = 0;
    Event event;
  };
  struct Later {
    bool operator()(const Planned& a, const Planned& b) const {
      return a.seconds != b.seconds ? a.seconds > b.seconds : a.number > b.number;
    }
  };
  std::priority_queue<Planned, std::vector<Planned>, Later> events_;
  std::int64_t planned_ = 0;
};

}  // namespace palmette
