// A helper counts itself before it looks for the work, and the owner withdraws the work before it looks at
// the count: one of the two sees the other, so that no work ends while somebody is in it.
#include "palmette/base/shared_work.hpp"

#include "palmette/base/waiting.hpp"

namespace palmette {

WorkOffers::WorkOffers(int threads) : threads_(threads), slots_(std::make_unique<Slot[]>(threads)) {}

void WorkOffers::help() {
  if (open_.load(std::memory_order_relaxed) == 0) return;
  for (int thread = 0; thread < threads_; ++thread) {
    Slot& slot = slots_[thread];
    if (slot.work.load(std::memory_order_relaxed) == nullptr) continue;
    slot.inside.fetch_add(1);
    if (SharedWork* const work = slot.work.load()) work->help();
    slot.inside.fetch_sub(1, std::memory_order_release);
  }
}

void WorkOffers::open(int thread, SharedWork& work) {
  slots_[thread].work.store(&work);
  open_.fetch_add(1, std::memory_order_relaxed);
}

void WorkOffers::close(int thread) {
  open_.fetch_sub(1, std::memory_order_relaxed);
  Slot& slot = slots_[thread];
  slot.work.store(nullptr);
  while (slot.inside.load() != 0) processor_pause();
}

}  // namespace palmette
