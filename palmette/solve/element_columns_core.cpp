// Solves with a plain triangle over several devices: the columns are dealt, every element solves for its own
// rows of all right-hand sides.
#include "palmette/solve/element_columns_core.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "palmette/solve/element.hpp"

namespace palmette::solve_detail {
namespace {

device::Sharing sharing_of(SolveMethod method, bool by_network) {
  if (method == SolveMethod::devices_unified) return device::Sharing::unified;
  if (method != SolveMethod::devices_pushed) return device::Sharing::zero_copy;
  return by_network ? device::Sharing::put : device::Sharing::pushed;
}

bool is_pushed(device::Sharing sharing) {
  return sharing == device::Sharing::pushed || sharing == device::Sharing::put;
}

device::Kernel kernel_of(device::Sharing sharing) {
  switch (sharing) {
    case device::Sharing::unified: return device::Kernel::unified_columns;
    case device::Sharing::pushed: return device::Kernel::pushed_columns;
    case device::Sharing::put: return device::Kernel::put_columns;
    case device::Sharing::zero_copy: break;
  }
  return device::Kernel::zero_copy_columns;
}

}  // namespace

template <class T>
ElementColumnsCore<T>::ElementColumnsCore(std::shared_ptr<DeviceWorld> world, const WorldOptions& options,
                                          LowerTriangle<T> triangle)
    : world_(std::move(world)),
      triangle_(std::move(triangle)),
      deal_(ColumnDeal::of(triangle_.size(), world_->size(), options.tasks_per_element)),
      num_slots_(most_column_slots(triangle_.strict.pattern, deal_)),
      by_network_(options.by_network),
      most_polls_(options.most_polls) {
  check_network(*world_, options);
  for (int e = 0; e < deal_.elements; ++e)
    status_.emplace_back(world_->element(e), std::vector<device::ElementStatus>(1));
}

template <class T>
DealtColumns<T>& ElementColumnsCore<T>::columns(bool transposed) const {
  std::optional<DealtColumns<T>>& kept = columns_[transposed];
  if (kept) return *kept;
  const index_t n = triangle_.size();
  HostDeal<T> host = deal_columns(triangle_, transposed, deal_);
  DealtColumns<T> made;
  made.ascending = host.ascending;
  made.shared_remaining.resize(n);
  for (int e = 0; e < deal_.elements; ++e) {
    made.element.emplace_back(world_->element(e), host, e);
    for (index_t row = 0; row < n; ++row)
      if (deal_.element_of(row) != e) made.shared_remaining[row] += host.element[e].remaining[row];
  }
  made.sources = std::move(host.sources);
  made.slots = std::move(host.slots);
  kept = std::move(made);
  return *kept;
}

template <class T>
void ElementColumnsCore<T>::reserve(device::Sharing sharing, index_t num_rhs) const {
  try {
    if (vectors_.room < num_rhs) reserve_vectors(num_rhs);
    reserve_shared(sharing);
  } catch (...) {  // fewer right-hand sides may still fit
    vectors_ = {};
    throw;
  }
}

/// What only some methods need.
template <class T>
void ElementColumnsCore<T>::reserve_shared(device::Sharing sharing) const {
  ColumnVectors<T>& v = vectors_;
  const auto n = static_cast<std::size_t>(triangle_.size()), values = n * v.room;
  if (is_pushed(sharing) && v.slots.empty()) {
    v.slot = {*world_, num_slots_ * static_cast<std::size_t>(v.room)};
    v.arrived = {*world_, num_slots_};
    std::vector<T*> slots;
    std::vector<std::uint64_t*> flags;
    for (int e = 0; e < deal_.elements; ++e) {
      slots.push_back(v.slot.data(e));
      flags.push_back(v.arrived.data(e));
      world_->element(e)->clear(v.arrived.data(e), v.arrived.bytes());
    }
    for (int e = 0; e < deal_.elements; ++e) {
      v.slots.emplace_back(world_->element(e), slots);
      v.flags.emplace_back(world_->element(e), flags);
    }
  }
  if (sharing == device::Sharing::unified && !v.shared_sum) {
    v.shared_sum = world_->allocate_managed(values * sizeof(T));
    v.shared_remaining = world_->allocate_managed(n * sizeof(int));
  }
}

/// What every method needs. Arrays that only some need are freed, since they have less room.
template <class T>
void ElementColumnsCore<T>::reserve_vectors(index_t num_rhs) const {
  vectors_ = {};
  ColumnVectors<T> v;
  const auto n = static_cast<std::size_t>(triangle_.size());
  v.left_sum = {*world_, n * num_rhs};
  v.remaining = {*world_, n};
  v.ticket = {*world_, 1};
  std::vector<std::size_t> own(static_cast<std::size_t>(deal_.elements));
  for (index_t j = 0; j < triangle_.size(); ++j) ++own[deal_.element_of(j)];
  std::vector<const T*> sums;
  std::vector<const int*> counters;
  for (int e = 0; e < deal_.elements; ++e) {
    sums.push_back(v.left_sum.data(e));
    counters.push_back(v.remaining.data(e));
  }
  for (int e = 0; e < deal_.elements; ++e) {
    const std::shared_ptr<Device>& there = world_->element(e);
    v.b.emplace_back(there, own[e] * num_rhs);
    v.x.emplace_back(there, own[e] * num_rhs);
    v.sums.emplace_back(there, sums);
    v.counters.emplace_back(there, counters);
  }
  v.room = num_rhs;
  vectors_ = std::move(v);
}

/// Sums are zero and counters full.
template <class T>
void ElementColumnsCore<T>::prepare(const DealtColumns<T>& dealt, device::Sharing sharing,
                                    index_t num_rhs) const {
  ColumnVectors<T>& v = vectors_;
  const std::size_t rows = dealt.shared_remaining.size(), bytes_of_sums = rows * num_rhs * sizeof(T);
  if (has_failed_)
    for (DeviceArray<device::ElementStatus>& one : status_) one.clear();
  for (int e = 0; e < deal_.elements; ++e) {
    Device& there = *world_->element(e);
    there.clear(v.left_sum.data(e), bytes_of_sums);
    there.clear(v.ticket.data(e), v.ticket.bytes());
    there.copy_there(v.remaining.data(e), dealt.element[e].remaining.data(), v.remaining.bytes());
  }
  if (sharing != device::Sharing::unified) return;
  std::memset(v.shared_sum.get(), 0, bytes_of_sums);
  std::memcpy(v.shared_remaining.get(), dealt.shared_remaining.data(), rows * sizeof(int));
}

template <class T>
device::ColumnSweep<T> ElementColumnsCore<T>::arguments(const DealtColumns<T>& dealt, int e,
                                                        index_t num_rhs) const {
  const ColumnsThere<T>& a = dealt.element[e];
  const ColumnVectors<T>& v = vectors_;
  return {e,
          deal_.elements,
          a.view(triangle_.size(), deal_),
          {num_rhs, v.b[e].data(), v.x[e].data(), v.left_sum.data(e), v.remaining.data(e), v.ticket.data(e),
           static_cast<T*>(v.shared_sum.get()), static_cast<int*>(v.shared_remaining.get()),
           v.sums[e].data(), v.counters[e].data(), v.slot.data(e), v.arrived.data(e), sweeps_,
           v.slots.empty() ? nullptr : v.slots[e].data(), v.flags.empty() ? nullptr : v.flags[e].data()},
          {most_polls_ > 0 ? status_[e].data() : nullptr, most_polls_},
          nullptr};
}

template <class T>
void ElementColumnsCore<T>::sweep(const DealtColumns<T>& dealt, device::Sharing sharing,
                                  index_t num_rhs) const {
  prepare(dealt, sharing, num_rhs);
  ++sweeps_;
  const int at_once = num_rhs == 1 ? 1 : device::rhs_of_lane;
  std::vector<device::ColumnSweep<T>> sweeps;
  for (int e = 0; e < deal_.elements; ++e) sweeps.push_back(arguments(dealt, e, num_rhs));
  std::vector<ElementLaunch> launches;
  for (int e = 0; e < deal_.elements; ++e)
    launches.push_back({e, {kernel_of(sharing), ScalarTraits<T>::type, at_once, &sweeps[e]}, {0, 0, 0}});
  has_failed_ = true;
  world_->run(launches);
  if (most_polls_ > 0) check_status(dealt, sharing);
  has_failed_ = false;
}

/// A kernel that gave up ends the solve.
template <class T>
void ElementColumnsCore<T>::check_status(const DealtColumns<T>& dealt, device::Sharing sharing) const {
  std::vector<device::ElementStatus> status(static_cast<std::size_t>(deal_.elements));
  for (int e = 0; e < deal_.elements; ++e)
    world_->element(e)->copy_out(&status[e], status_[e].data(), sizeof status[e]);
  if (std::ranges::all_of(status, [](const device::ElementStatus& one) { return one.gave_up == 0; })) return;
  throw DeviceError(words_of_missing(dealt, sharing, status) + ", in a sweep by columns of " +
                    std::to_string(deal_.elements) + " devices");
}

/// Of the first column of the solve that lacks a sum. If a device was late and not dead, that column may have
/// waited for a device that had given up itself.
template <class T>
std::string ElementColumnsCore<T>::words_of_missing(const DealtColumns<T>& dealt, device::Sharing sharing,
                                                    const std::vector<device::ElementStatus>& status) const {
  const std::vector<unsigned> missing = missing_sums(dealt, sharing);
  // In unified memory one of them may have added.
  const std::string conjunction = sharing == device::Sharing::unified ? " or " : " and ";
  const index_t n = triangle_.size();
  for (index_t k = 0; k < n; ++k) {
    const index_t row = dealt.ascending ? k : n - 1 - k;
    const int owner = deal_.element_of(row);
    if (status[owner].gave_up == 0 || missing[row] == 0) continue;
    return "device " + std::to_string(owner) + " has waited in vain, at column " + std::to_string(row + 1) +
           ", for what device " + numbers_of_bits(missing[row], conjunction) + " adds to its row";
  }
  const auto late = std::ranges::find_if(status, [](const auto& one) { return one.gave_up != 0; });
  return "device " + std::to_string(late - status.begin()) + " has waited for too long at column " +
         std::to_string(late->task) + ", whose sums came later";
}

/// By row, when the kernels have ended: bit e: what element e adds has not come. In unified memory it is not
/// known which of the other elements has not added.
template <class T>
std::vector<unsigned> ElementColumnsCore<T>::missing_sums(const DealtColumns<T>& dealt,
                                                          device::Sharing sharing) const {
  const bool is_unified = sharing == device::Sharing::unified;
  const index_t n = triangle_.size();
  std::vector<unsigned> missing(n);
  std::vector<int> left(n);
  for (int e = 0; e < deal_.elements; ++e) {
    world_->element(e)->copy_out(left.data(), vectors_.remaining.data(e), vectors_.remaining.bytes());
    for (index_t row = 0; row < n; ++row)
      if (left[row] != 0 && (!is_unified || deal_.element_of(row) == e)) missing[row] |= 1u << e;
  }
  const auto* const shared = static_cast<const int*>(vectors_.shared_remaining.get());
  for (index_t row = 0; is_unified && row < n; ++row)
    if (shared[row] != 0) missing[row] |= dealt.sources[row] & ~(1u << deal_.element_of(row));
  if (is_pushed(sharing)) add_missing_flags(dealt, missing);
  return missing;
}

/// Sums that are complete may still not have been sent.
template <class T>
void ElementColumnsCore<T>::add_missing_flags(const DealtColumns<T>& dealt,
                                              std::vector<unsigned>& missing) const {
  std::vector<std::uint64_t> arrived(num_slots_);
  for (int owner = 0; owner < deal_.elements; ++owner) {
    world_->element(owner)->copy_out(arrived.data(), vectors_.arrived.data(owner), vectors_.arrived.bytes());
    for (index_t row = 0; row < triangle_.size(); ++row) {
      if (deal_.element_of(row) != owner) continue;
      const unsigned others = dealt.sources[row] & ~(1u << owner);
      for (int e = 0; e < deal_.elements; ++e)
        if ((others >> e & 1) != 0 && arrived[dealt.slots.of(row, others, e)] != sweeps_)
          missing[row] |= 1u << e;
    }
  }
}

/// To each element the right-hand sides of its rows, which follow each other.
template <class T>
void ElementColumnsCore<T>::load(const DealtColumns<T>& dealt, const CoreRun<T>& run) const {
  std::vector<T> own;
  for (int e = 0; e < deal_.elements; ++e) {
    own.clear();
    for (const index_t j : dealt.element[e].own)
      for (index_t rhs = 0; rhs < run.num_rhs(); ++rhs) own.push_back(run.in.value(j, rhs));
    world_->element(e)->copy_in(vectors_.b[e].data(), own.data(), own.size() * sizeof(T));
  }
}

template <class T>
void ElementColumnsCore<T>::store(const DealtColumns<T>& dealt, const CoreRun<T>& run) const {
  std::vector<T> own;
  for (int e = 0; e < deal_.elements; ++e) {
    const std::vector<index_t>& mine = dealt.element[e].own;
    own.resize(mine.size() * run.num_rhs());
    world_->element(e)->copy_out(own.data(), vectors_.x[e].data(), own.size() * sizeof(T));
    const T* value = own.data();
    for (const index_t j : mine)
      for (index_t rhs = 0; rhs < run.num_rhs(); ++rhs) run.out.put(j, rhs, *value++);
  }
}

template <class T>
void ElementColumnsCore<T>::solve(bool transposed, const CoreRun<T>& run) const {
  const device::Sharing sharing = sharing_of(run.method, by_network_);
  const std::lock_guard lock(one_solve_);
  DealtColumns<T>& dealt = columns(transposed);
  for (int e = 0; is_pushed(sharing) && e < deal_.elements; ++e)
    dealt.element[e].add_slots(world_->element(e), dealt.slots);
  reserve(sharing, run.num_rhs());
  load(dealt, run);
  sweep(dealt, sharing, run.num_rhs());
  store(dealt, run);
}

template <class T>
CoreCost ElementColumnsCore<T>::cost() const {
  return cost_of_entries(triangle_);
}

template <class T>
offset_t ElementColumnsCore<T>::memory_bytes() const {
  const std::lock_guard lock(one_solve_);
  const ColumnVectors<T>& v = vectors_;
  const std::size_t of_each =
      v.left_sum.bytes() + v.remaining.bytes() + v.ticket.bytes() + v.slot.bytes() + v.arrived.bytes();
  offset_t bytes = static_cast<offset_t>(of_each + sizeof(device::ElementStatus)) * deal_.elements;
  const auto n = static_cast<offset_t>(triangle_.size());
  if (v.shared_sum) bytes += n * (v.room * static_cast<offset_t>(sizeof(T)) + offset_t{sizeof(int)});
  for (const DeviceArray<T>& b : v.b) bytes += 2 * static_cast<offset_t>(b.bytes());
  for (const std::optional<DealtColumns<T>>& dealt : columns_)
    if (dealt)
      for (const ColumnsThere<T>& one : dealt->element) bytes += one.bytes();
  return bytes;
}

#define PALMETTE_INSTANTIATE(T) template class ElementColumnsCore<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
