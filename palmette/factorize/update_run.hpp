// Inside `factorize`: the updates of some rows of a panel where a device computes some of the products.
#pragma once

#include <deque>

#include "palmette/factorize/offload.hpp"

namespace palmette::factorize_detail {

/// Products are asked for ahead, and subtracted in ascending order of their source together with those of the
/// host. So the sums have the same bits wherever the products come from, as long as the products have.
template <class T>
class UpdateRun {
 public:
  /// @param host_rows  the host takes so many rows of the panel at a time; 0: all
  UpdateRun(const Work<T>& work, Offload<T>& offload, index_t s, const Target<T>& target, index_t host_rows);

  /// Go on. @param may_wait  for the device
  /// @returns true if all updates are done; otherwise ticket() is what the next one waits for
  bool advance(Scratch<T>& scratch, bool may_wait);
  const DeviceTicket& ticket() const { return asked_.front().product->ticket; }

 private:
  struct Asked {
    std::size_t number;  ///< of the updater
    std::unique_ptr<DeviceUpdate<T>> product;
  };
  const Block& block_of(const Updater& updater) const { return work_.symbolic.blocks[updater.block]; }
  bool on_device(const Updater& updater) const;
  std::vector<RowRange> pieces(const Updater& updater) const;
  void ask_ahead();
  void compute_on_host(const Updater& updater, Scratch<T>& scratch);
  void subtract(const Updater& updater, const DeviceUpdate<T>& product, Scratch<T>& scratch);
  Target<T> part_of_target(RowRange range) const;

  const Work<T>& work_;
  Offload<T>& offload_;
  index_t supernode_;
  Target<T> target_;
  std::vector<RowRange> host_ranges_;
  std::span<const Updater> updaters_;
  bool assembled_ = false;
  std::size_t next_ = 0;         ///< updater
  std::size_t next_to_ask_ = 0;
  std::deque<Asked> asked_;
  offset_t asked_bytes_ = 0;
};

}  // namespace palmette::factorize_detail
