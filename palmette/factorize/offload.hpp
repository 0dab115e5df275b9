// Inside `factorize`: the device's share of one factorization: what is asked of it, what it keeps, and what
// was counted.
#pragma once

#include <list>
#include <unordered_map>

#include "palmette/device/device.hpp"
#include "palmette/factorize/factorize.hpp"
#include "palmette/factorize/offload_sizes.hpp"
#include "palmette/factorize/work.hpp"

namespace palmette::factorize_detail {

using DeviceTicket = std::shared_ptr<const DeviceQueue::Ticket>;

/// The product of rows [rows.first, rows.end) of a source's row list with one of its blocks, on its way from
/// the device. Its end waits until the device is done with it.
template <class T>
struct DeviceUpdate {
  RowRange rows;
  index_t beyond = 0;      ///< LU: the first place of the rows that also update Uᵀ
  std::vector<T> lower;    ///< (rows.end − rows.first) × block's count
  std::vector<T> upper;    ///< LU: (rows.end − beyond) × block's count
  bool starts_symmetric = false;  ///< of the first rows only the lower triangle counts
  DeviceTicket ticket;

  DeviceUpdate() = default;
  DeviceUpdate(const DeviceUpdate&) = delete;
  DeviceUpdate& operator=(const DeviceUpdate&) = delete;
  ~DeviceUpdate() {
    if (ticket) ticket->settle();
  }
  offset_t bytes() const { return static_cast<offset_t>((lower.size() + upper.size()) * sizeof(T)); }
};

/// A diagonal block that the device factors. Its end waits until the device is done with it.
template <class T>
struct DeviceDiagonal {
  std::vector<T> values;  ///< width × width
  index_t failed = -1;    ///< column of a pivot that is not positive
  DeviceTicket ticket;

  DeviceDiagonal() = default;
  DeviceDiagonal(const DeviceDiagonal&) = delete;
  DeviceDiagonal& operator=(const DeviceDiagonal&) = delete;
  ~DeviceDiagonal() {
    if (ticket) ticket->settle();
  }
};

/// Everything on the device is done by one thread, in the order of the calls; the maps and counts below are
/// that thread's. If an allocation fails, panels that are kept are released, the one used longest ago first,
/// until it succeeds; if it still fails, the ticket says so and the caller computes on the host.
template <class T>
class Offload {
 public:
  Offload(const Work<T>& work, const OffloadOptions& options);
  /// Waits for all that was asked for.
  ~Offload();

  const OffloadPlan& plan() const { return plan_; }
  PlannedOffload planned() const {
    return planned_offload(work_.symbolic, work_.kind(), ScalarTraits<T>::type, model_, plan_);
  }
  OffloadSizes sizes() const { return {work_.symbolic, work_.kind(), ScalarTraits<T>::type}; }

  /// The product of rows of a source with its block `block`.
  /// @param pieces  adjoining rows, at least one, as the host would take them: see RowCuts
  std::unique_ptr<DeviceUpdate<T>> update(index_t source, const Block& block, std::vector<RowRange> pieces);
  std::unique_ptr<DeviceDiagonal<T>> factor_diagonal(index_t s);
  /// Finish the rows below the diagonal block and keep the panel. @param cuts  of these rows, see RowCuts
  DeviceTicket finish_rows(index_t s, std::vector<index_t> cuts);

  /// Wait for all, and say what the device did. No calls afterwards.
  OffloadCounts finish();

 private:
  /// A panel on the device: L, and what updates multiply it by (LDLᵀ: L·D, LU: Uᵀ).
  struct Kept {
    DeviceArray<T> left, right;
    std::list<index_t>::iterator age;
  };
  DenseLibrary<T>& operations();
  DeviceArray<T> allocate(std::size_t entries, index_t needed);
  bool release_oldest(index_t needed);
  const Kept& keep(index_t s);
  const Kept& insert(index_t s, DeviceArray<T> left, DeviceArray<T> right);
  void copy_in(const DeviceArray<T>& to, const T* from);
  void copy_out(T* to, const DeviceArray<T>& from);
  DeviceArray<T> uploaded(index_t s, const T* panel);
  void upload_scaled(index_t s, const DeviceArray<T>& to);
  void compute(index_t source, const Block& block, DeviceUpdate<T>& result,
               const std::vector<RowRange>& pieces);
  void product(index_t source, const DeviceProduct<T>& what, RowCuts cuts, std::vector<T>& result);
  void compute_rows(index_t s, RowCuts cuts);
  void count(const DenseCall& call) { counts_.device[call.operation].add(sizes().flops(call)); }
  DenseView<const T> rows(const DeviceArray<T>& panel, index_t s, index_t first, index_t end) const;

  const Work<T>& work_;
  std::shared_ptr<Device> device_;
  OffloadModel model_;
  OffloadPlan plan_;
  OffloadCounts counts_;
  std::unique_ptr<DenseLibrary<T>> operations_;
  std::unordered_map<index_t, Kept> kept_;
  std::list<index_t> ages_;  // the panel used longest ago first
  std::unique_ptr<DeviceQueue> queue_;
};

}  // namespace palmette::factorize_detail
