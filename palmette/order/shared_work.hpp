// Work items that may create further items, shared by a team.
#pragma once

#include <mutex>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette::order_detail {

/// Call work(item, thread, hand_over) for each item and for each that hand_over(item) adds, on all threads,
/// in any order; the last item added is taken first. An exception ends the run: items not yet begun are
/// dropped.
template <class Item, class Work>
void share_work(ThreadTeam& team, std::vector<Item> items, const Work& work) {
  Doorbell bell;
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
    {
      const std::lock_guard<std::mutex> lock(mutex);
      items.push_back(item);
      ++unfinished;
    }
    bell.ring();
  };
  const auto all_done = [&] {
    const std::lock_guard<std::mutex> lock(mutex);
    return unfinished == 0;
  };
  const auto finish_one = [&](bool drop) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      unfinished -= drop ? items.size() + 1 : 1;
      if (drop) items.clear();
    }
    bell.ring();
  };
  team.share([&](int thread) {
    Item item{};
    for (;;) {
      bool taken = false;
      bell.wait([&] { return (taken = take(item)) || all_done(); });
      if (!taken) return;
      try {
        work(item, thread, hand_over);
      } catch (...) {
        finish_one(true);
        throw;
      }
      finish_one(false);
    }
  }, ThreadTeam::Called::all);
}

}  // namespace palmette::order_detail
