// Work that makes more work, shared by a team.
#pragma once

#include <mutex>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette::order_detail {

/// Call work(item, member, hand_over) for each item and for each that hand_over(item) adds, on all members, in any order;
/// the last item added is taken first. An exception ends the run: items not yet begun are dropped.
template <class Item, class Work>
void share_work(ThreadTeam& team, std::vector<Item> items, const Work& work) {
  std::mutex mutex;
  std::size_t unfinished = items.size();
  const auto take = [&](Item& item) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (items.empty()) return false;
    item = items.back();
    items.pop_back();
    return true;
  };
  const auto hand_over = [&](const Item& item) {
    const std::lock_guard<std::mutex> lock(mutex);
    items.push_back(item);
    ++unfinished;
  };
  const auto all_done = [&](std::size_t finished, bool drop) {
    const std::lock_guard<std::mutex> lock(mutex);
    unfinished -= finished;
    if (drop) {
      unfinished -= items.size();
      items.clear();
    }
    return unfinished == 0;
  };
  team.run([&](int member) {
    Item item{};
    SpinWait spin;
    while (!all_done(0, false)) {
      if (!take(item)) {
        spin.pause();
        continue;
      }
      try {
        work(item, member, hand_over);
      } catch (...) {
        all_done(1, true);
        throw;
      }
      all_done(1, false);
      spin = SpinWait{};
    }
  });
}

}  // namespace palmette::order_detail
