// A plain triangle on several devices (elements), synchronization-free: a warp for each column, which waits
// until all additions to its row have been made, solves, and adds to the rows of its entries
// [Xie et al. 2021]. Columns of an element lie in tasks, which are dealt to the elements in turn. The order
// of additions depends on time, so bits may differ from solve to solve.
//
// Several right-hand sides: a warp waits for its row once, then takes them K at a time, so many as a lane
// keeps in registers; with the last of them, a lane counts its entries off. So waits, counts and messages do
// not grow with their number.
//
// Liveness: warps take the columns of their element in the order of the solve. Of all columns taken and not
// solved, the first waits for none that is not solved: one resident warp of each element is enough. Of a
// wavefront with two warps one works, as in rows_kernel. If an element adds nothing, those that wait for it
// give up, each after its own patience, and end without the sums that did not come: what another element may
// still be storing is never read.
#pragma once

#include "palmette/device/triangle_elements.hpp"
#include "palmette/device/sweep_waiting.cuh"
#include "palmette/device/watch.cuh"

namespace palmette::device {

/// The scope in which counters of other elements are changed and read.
template <Fault fault>
inline constexpr gpu::Scope scope_of_others =
    fault == Fault::narrow_scope ? gpu::Scope::device : gpu::Scope::system;

/// x of right-hand sides rhs … rhs + count − 1 of the element's column k, in all lanes.
template <class T, int K, class Sums>
PALMETTE_DEVICE void solve_column(const ColumnSweep<T>& s, int k, int rhs, int count, const Sums& sums,
                                  T (&x)[K]) {
  const long long own = s.first_of(k) + rhs, row = s.first_of(s.a.column[k]) + rhs;
  for (int j = 0; j < K; ++j) {
    if (j >= count) continue;
    const T rest = s.at.b[own + j] - sums.of(row + j);
    x[j] = s.a.diagonal != nullptr ? divide(rest, s.a.diagonal[k]) : rest;
    if (gpu::lane() == 0) s.at.x[own + j] = x[j];
  }
}

/// Solves for each column that the warp takes. `sums` is one of the types below: wait(row) returns true when
/// all additions to the row have been made, or false if one of the lanes gave up, the same in all lanes;
/// of(place) is then what the row loses, add(row, place, value) makes an addition, and count(row) says, once,
/// that the additions of a column to this row have been made.
template <class T, int K, class Sums>
PALMETTE_DEVICE void over_columns(const ColumnSweep<T>& s, Sums sums) {
  for (int k = take_warp_ticket(s.at.ticket); k < s.a.num_columns; k = take_warp_ticket(s.at.ticket)) {
    if (!sums.wait(s.a.column[k])) return;
    for (int rhs = 0; rhs < s.at.num_rhs; rhs += K) {
      const int left = s.at.num_rhs - rhs, count = left < K ? left : K;
      T x[K] = {};
      solve_column<T, K>(s, k, rhs, count, sums, x);
      for (long long e = s.a.ptr[k] + gpu::lane(); e < s.a.ptr[k + 1]; e += gpu::warp_size) {
        const int row = s.a.row[e];
        const T value = s.a.value[e];
        for (int j = 0; j < K; ++j)
          if (j < count) sums.add(row, s.first_of(row) + rhs + j, multiply_add(value, x[j], zero<T>()));
        if (left <= K) sums.count(row);
      }
    }
  }
}

/// Waits until *p is v; a fence or an acquire has to follow.
/// @returns whether it came; false if this element has given up
template <gpu::Scope scope, class T, class Flag>
PALMETTE_DEVICE bool comes(const ColumnSweep<T>& s, int row, const Flag* p, Flag v) {
  if (s.watch.status == nullptr) {
    while (gpu::load_relaxed<scope>(p) != v) gpu::pause();
    return true;
  }
  if (comes_within<scope>(s.watch, p, v)) return true;
  give_up(s.watch, &s.watch.status->task, row);
  return false;
}

/// The same answer in all lanes.
PALMETTE_DEVICE bool of_all_lanes(bool came) {
  return gpu::ballot(gpu::all_lanes, came) == gpu::all_lanes;
}

// ---- unified memory ----

/// What is added to rows of others lies in managed memory, where all elements write; own rows are added up in
/// the element's memory [Xie et al. 2021], algorithm 2.
template <class T, Fault fault>
struct UnifiedSums {
  const ColumnSweep<T>& s;
  bool has_others = false;

  PALMETTE_DEVICE bool wait(int row) {
    has_others = (s.a.sources[row] & ~(1u << s.element)) != 0;
    bool came = true;
    if (gpu::lane() == 0) {
      came = comes<gpu::Scope::device>(s, row, &s.at.remaining[row], 0) &&
             (!has_others || comes<scope_of_others<fault>>(s, row, &s.at.shared_remaining[row], 0));
      if constexpr (fault != Fault::no_acquire) gpu::fence<gpu::Scope::system>();
    }
    gpu::warp_barrier();
    return of_all_lanes(came);
  }
  PALMETTE_DEVICE T of(long long place) const {
    const T own = load_relaxed<gpu::Scope::device>(&s.at.left_sum[place]);
    return has_others ? own + load_relaxed<gpu::Scope::system>(&s.at.shared_sum[place]) : own;
  }
  PALMETTE_DEVICE void add(int row, long long place, T value) const {
    if (s.is_own(row)) add_atomically<gpu::Scope::device>(&s.at.left_sum[place], value);
    else add_atomically<gpu::Scope::system>(&s.at.shared_sum[place], value);
  }
  PALMETTE_DEVICE void count(int row) const {
    if (s.is_own(row)) gpu::reduce_release<gpu::Scope::device>(&s.at.remaining[row], -1);
    else gpu::reduce_release<scope_of_others<fault>>(&s.at.shared_remaining[row], -1);
  }
};

template <class T, int K>
PALMETTE_KERNEL void unified_columns_kernel(ColumnSweep<T> s) {
  if (gpu::leads_wave()) over_columns<T, K>(s, UnifiedSums<T, Fault::none>{s});
}

// ---- zero-copy ----

/// The sum of another element, by a load of the whole, or with the fault by one of its first half.
template <Fault fault, class R>
PALMETTE_DEVICE R read_sum(const R* from) {
  if constexpr (fault == Fault::wrong_size)
    return static_cast<R>(gpu::load_relaxed<gpu::Scope::system>(reinterpret_cast<const float*>(from)));
  else return load_relaxed<gpu::Scope::system>(from);
}

/// Additions stay with the element that makes them. Lane e of the warp that solves reads from element e, if
/// that adds to the row; what has come to zero is not read again [Xie et al. 2021], algorithm 3.
template <class T, Fault fault>
struct ZeroCopySums {
  const ColumnSweep<T>& s;
  const int* remaining;  ///< of the lane's element
  const T* left_sum;
  bool is_own, is_source = false;

  PALMETTE_DEVICE explicit ZeroCopySums(const ColumnSweep<T>& sweep)
      : s(sweep),
        remaining(gpu::lane() < s.num_elements ? s.at.remaining_of[gpu::lane()] : nullptr),
        left_sum(gpu::lane() < s.num_elements ? s.at.left_sum_of[gpu::lane()] : nullptr),
        is_own(gpu::lane() == s.element) {}

  PALMETTE_DEVICE bool wait(int row) {
    is_source = s.has_source(row, gpu::lane());
    bool done = !is_source, came = true;
    for (long long polls = 0;; ++polls) {
      if (!done)
        done = (is_own ? gpu::load_relaxed<gpu::Scope::device>(&remaining[row])
                       : gpu::load_relaxed<scope_of_others<fault>>(&remaining[row])) == 0;
      if (!done && s.watch.status != nullptr && patience_ends(s.watch, polls)) {
        give_up(s.watch, &s.watch.status->task, row);
        done = true, came = false;
      }
      if (of_all_lanes(done)) break;
      if (!done) gpu::pause();
    }
    if constexpr (fault != Fault::no_acquire) gpu::fence<gpu::Scope::system>();
    return of_all_lanes(came);
  }
  PALMETTE_DEVICE T of(long long place) const {
    T sum = zero<T>();
    if (is_source)
      sum = is_own ? load_relaxed<gpu::Scope::device>(&left_sum[place]) : read_sum<fault>(&left_sum[place]);
    return lane_sum(sum, 1, gpu::warp_size);
  }
  PALMETTE_DEVICE void add(int row, long long place, T value) const {
    T* const to = &s.at.left_sum[place];
    if (s.is_own(row)) add_atomically<gpu::Scope::device>(to, value);
    else add_atomically<scope_of_others<fault>>(to, value);
  }
  PALMETTE_DEVICE void count(int row) const {
    int* const left = &s.at.remaining[row];
    if (s.is_own(row)) gpu::reduce_release<gpu::Scope::device>(left, -1);
    else gpu::reduce_release<scope_of_others<fault>>(left, -1);
  }
};

template <class T, int K>
PALMETTE_KERNEL void zero_copy_columns_kernel(ColumnSweep<T> s) {
  if (gpu::leads_wave()) over_columns<T, K>(s, ZeroCopySums<T, Fault::none>(s));
}

// ---- pushed ----

/// Who makes an element's last addition to a row of another element brings its sums there, of all right-hand
/// sides, and the flag behind them: one message for each row and element, and nobody polls through a link.
/// @tparam sharing  pushed: by stores to the other element's memory; put: by the network
template <class T, Sharing sharing, Fault fault>
struct PushedSums {
  const ColumnSweep<T>& s;
  bool is_source = false;
  long long to_slot = 0;  ///< from the place of a sum of this row to that of what the lane's element adds

  PALMETTE_DEVICE bool wait(int row) {
    is_source = s.has_source(row, gpu::lane());
    bool came = true;
    if (is_source && gpu::lane() == s.element) {
      came = comes<gpu::Scope::device>(s, row, &s.at.remaining[row], 0);
      gpu::fence<gpu::Scope::device>();
    } else if (is_source) {
      const long long slot = s.slot_of(row, gpu::lane());
      to_slot = s.first_of(slot - row);
      came = flag_comes(row, &s.at.arrived[slot]);
    }
    return of_all_lanes(came);
  }
  /// A network may bring the sums after the flag; only its own wait, behind the flag, says that they came.
  PALMETTE_DEVICE bool flag_comes(int row, std::uint64_t* arrived) const {
    if (!comes<scope_of_others<fault>>(s, row, arrived, s.at.run)) return false;
    if constexpr (sharing == Sharing::put && fault != Fault::no_network_wait) {
#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
      gpu::wait_signal(arrived, s.at.run);
#endif
    } else if constexpr (fault != Fault::no_acquire) {
      (void)gpu::load_acquire<scope_of_others<fault>>(arrived);
    }
    return true;
  }
  PALMETTE_DEVICE T of(long long place) const {
    T sum = zero<T>();
    if (is_source && gpu::lane() == s.element) sum = load_relaxed<gpu::Scope::device>(&s.at.left_sum[place]);
    else if (is_source) sum = s.at.slot[place + to_slot];
    return lane_sum(sum, 1, gpu::warp_size);
  }
  PALMETTE_DEVICE void add(int, long long place, T value) const {
    add_atomically<gpu::Scope::device>(&s.at.left_sum[place], value);
  }
  PALMETTE_DEVICE void count(int row) const {
    const int were_missing = gpu::add_release<gpu::Scope::device>(&s.at.remaining[row], -1);
    if (were_missing == 1 && !s.is_own(row)) push(row);
  }
  PALMETTE_DEVICE void push(int row) const {
    // The last of a chain of additions: what the other lanes and warps added is acquired with it.
    if constexpr (fault != Fault::no_acquire)
      (void)gpu::load_acquire<gpu::Scope::device>(&s.at.remaining[row]);
    const long long from = s.first_of(row), slot = s.slot_of(row, s.element);
    if constexpr (sharing == Sharing::put) {
#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
      constexpr int bytes = fault == Fault::wrong_size ? 4 : static_cast<int>(sizeof(T));
      gpu::put_signal(&s.at.slot[s.first_of(slot)], &s.at.left_sum[from], bytes * s.at.num_rhs,
                      &s.at.arrived[slot], s.at.run, s.element_of(row));
      if constexpr (fault == Fault::early_reuse) s.at.left_sum[from] = zero<T>();
#endif
    } else {
      store_sums(s.element_of(row), slot, from);
    }
  }
  PALMETTE_DEVICE void store_sums(int to, long long slot, long long from) const {
    T* const sums = s.at.slot_of[to] + s.first_of(slot);
    const int count = fault == Fault::wrong_size ? s.at.num_rhs - 1 : s.at.num_rhs;
    for (int j = 0; j < count; ++j) sums[j] = s.at.left_sum[from + j];
    std::uint64_t* const flag = s.at.arrived_of[to] + slot;
    if constexpr (fault == Fault::relaxed_flag) gpu::store_relaxed<gpu::Scope::system>(flag, s.at.run);
    else gpu::store_release<scope_of_others<fault>>(flag, s.at.run);
  }
};

template <class T, int K>
PALMETTE_KERNEL void pushed_columns_kernel(ColumnSweep<T> s) {
  if (gpu::leads_wave()) over_columns<T, K>(s, PushedSums<T, Sharing::pushed, Fault::none>{s});
}

#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
/// The end of a thread over a network: nothing of its own is on its way, and all ranks know if its element
/// gave up.
template <class T>
PALMETTE_DEVICE void leave_network(const ColumnSweep<T>& s) {
  if (s.alarm != nullptr) gpu::warp_barrier();  // any lane may have said that it gave up
  if (s.alarm != nullptr && gpu::lane() == 0 &&
      gpu::load_relaxed<gpu::Scope::device>(&s.watch.status->gave_up) != 0)
    for (int element = 0; element < s.num_elements; ++element)
      gpu::set_signal(s.alarm, s.at.run, element);
  gpu::quiet();
}

template <class T, int K, Fault fault>
PALMETTE_DEVICE void put_columns(const ColumnSweep<T>& s) {
  over_columns<T, K>(s, PushedSums<T, Sharing::put, fault>{s});
  if constexpr (fault != Fault::no_quiet) leave_network(s);
}
template <class T, int K>
PALMETTE_KERNEL void put_columns_kernel(ColumnSweep<T> s) {
  put_columns<T, K, Fault::none>(s);
}
#endif

}  // namespace palmette::device
