// Pages of managed memory: whom they go to next.
#include "palmette/predict/column_pages.hpp"

#include <cmath>

namespace palmette {

ColumnPages::ColumnPages(index_t n, index_t num_rhs, int devices, double page_bytes)
    : num_rhs_(num_rhs),
      page_bytes_(page_bytes),
      sum_pages_(static_cast<int>(std::ceil(n * 8.0 * num_rhs / page_bytes))),
      pages_(static_cast<std::size_t>(sum_pages_) +
             static_cast<std::size_t>(std::ceil(n * 4.0 / page_bytes))),
      places_(pages_.size() * static_cast<std::size_t>(devices)),
      moves_(devices),
      phase_(n),
      waits_(n) {}

void ColumnPages::want(int page, int device, int column) {
  place(page, device).wanted.push_back(column);
  ++waits_[column];
}

bool ColumnPages::start_move(int page, int device) {
  if (pages_[page].moving_to >= 0) return false;
  pages_[page].moving_to = device;
  return true;
}

int ColumnPages::end_move(int page) {
  Page& one = pages_[page];
  one.owner = std::exchange(one.moving_to, -1);
  ++moves_[one.owner];
  return one.owner;
}

int ColumnPages::next_device(int page) const {
  const int devices = static_cast<int>(moves_.size());
  for (int step = 1; step < devices; ++step) {
    const int device = (pages_[page].owner + step) % devices;
    const Place& there =
        places_[static_cast<std::size_t>(page) * moves_.size() + static_cast<std::size_t>(device)];
    if (!there.wanted.empty() || there.pollers > 0) return device;
  }
  return -1;
}

}  // namespace palmette
