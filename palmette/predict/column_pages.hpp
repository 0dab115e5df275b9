// Inside `predict`: pages of managed memory as they go round among devices, and who waits for them.
#pragma once

#include <utility>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// The pages of the sums, then those of the counters. A page is at one device, or on its way to one; it goes
/// on to the next device where warps want it or poll it.
class ColumnPages {
 public:
  ColumnPages(index_t n, index_t num_rhs, int devices, double page_bytes);

  /// The sums of a row, of all right-hand sides, follow each other.
  int first_page_of_sums(index_t row) const { return page_of_sum(1.0 * row * num_rhs_); }
  int last_page_of_sums(index_t row) const { return page_of_sum((row + 1.0) * num_rhs_ - 1); }
  int page_of_counter(index_t row) const { return sum_pages_ + static_cast<int>(row * 4.0 / page_bytes_); }
  bool is_at(int page, int device) const {
    return pages_[page].owner == device && pages_[page].moving_to < 0;
  }
  const std::vector<offset_t>& moves() const { return moves_; }

  // A column makes additions, first to sums, then to counters, or reads its sum.
  enum class Phase : char { sums, counters, reading };
  void begin(int column, Phase phase) { phase_[column] = phase; }
  Phase phase(int column) const { return phase_[column]; }
  int waits(int column) const { return waits_[column]; }
  /// The column waits for the page on this device.
  void want(int page, int device, int column);
  /// One page that the column waited for has come. @returns for how many it still waits
  int come(int column) { return --waits_[column]; }
  std::vector<int> take_wanted(int page, int device) { return std::exchange(place(page, device).wanted, {}); }

  // Warps that poll counters of a page, and those of them whose counter has come to zero.
  void poll(int page, int device, int more) { place(page, device).pollers += more; }
  void satisfy(int page, int device, int column) { place(page, device).satisfied.push_back(column); }
  std::vector<int> take_satisfied(int page, int device) {
    return std::exchange(place(page, device).satisfied, {});
  }

  /// @returns false if the page is on its way already, to anybody
  bool start_move(int page, int device);
  /// @returns the device to which it has come
  int end_move(int page);
  /// Another device where it is wanted or polled, in turn; −1: none.
  int next_device(int page) const;

 private:
  struct Place {
    std::vector<int> wanted, satisfied;
    int pollers = 0;
  };
  struct Page {
    int owner = -1;  ///< −1: the host
    int moving_to = -1;
  };
  Place& place(int page, int device) {
    return places_[static_cast<std::size_t>(page) * moves_.size() + static_cast<std::size_t>(device)];
  }

  int page_of_sum(double number) const { return static_cast<int>(number * 8.0 / page_bytes_); }

  index_t num_rhs_;
  double page_bytes_;
  int sum_pages_;
  std::vector<Page> pages_;
  std::vector<Place> places_;
  std::vector<offset_t> moves_;
  std::vector<Phase> phase_;
  std::vector<int> waits_;
};

}  // namespace palmette
