// A plain triangle on several devices (elements), synchronization-free: a warp for each column, which waits
// until all additions to its row have been made, solves, and adds to the rows of its entries
// [Xie et al. 2021]. Columns of an element lie in tasks, which are dealt to the elements in turn. One
// right-hand side. The order of additions depends on time, so bits may differ from solve to solve.
//
// Liveness: warps take the columns of their element in the order of the solve. Of all columns taken and not
// solved, the first waits for none that is not solved: one resident warp of each element is enough. Of a
// wavefront with two warps one works, as in rows_kernel.
#pragma once

#include "palmette/device/triangle_elements.hpp"
#include "palmette/device/triangle_sweep.cuh"

namespace palmette::device {

/// Calls sum_of(column) for each column that the warp takes, which waits and returns what the row loses, and
/// add(row, value) for its entries.
template <class T, class SumOf, class Add>
PALMETTE_DEVICE void over_columns(const ColumnSweep<T>& s, SumOf&& sum_of, Add&& add) {
  for (int k = take_warp_ticket(s.at.ticket); k < s.a.num_columns; k = take_warp_ticket(s.at.ticket)) {
    const T rest = s.at.b[k] - sum_of(s.a.column[k]);
    const T x = s.a.diagonal != nullptr ? divide(rest, s.a.diagonal[k]) : rest;
    if (gpu::lane() == 0) s.at.x[k] = x;
    for (long long e = s.a.ptr[k] + gpu::lane(); e < s.a.ptr[k + 1]; e += gpu::warp_size)
      add(s.a.row[e], multiply_add(s.a.value[e], x, zero<T>()));
  }
}

/// An addition to a row, in the memory of this element.
template <gpu::Scope scope, class T>
PALMETTE_DEVICE void add_at_home(const ElementVectors<T>& at, int row, T value) {
  add_atomically<scope>(&at.left_sum[row], value);
  gpu::reduce_release<scope>(&at.remaining[row], -1);
}

/// Waits in a loop that a fence has to follow.
template <gpu::Scope scope>
PALMETTE_DEVICE void wait_for_zero(const int* remaining) {
  while (gpu::load_relaxed<scope>(remaining) != 0) gpu::pause();
}

// ---- unified memory ----

/// What is added to rows of others lies in managed memory, where all elements write; own rows are added up in
/// the element's memory [Xie et al. 2021], algorithm 2.
template <class T, Fault fault>
PALMETTE_DEVICE void solve_unified(const ColumnSweep<T>& s) {
  constexpr gpu::Scope scope = fault == Fault::narrow_scope ? gpu::Scope::device : gpu::Scope::system;
  const ElementVectors<T>& at = s.at;
  const auto sum_of = [&](int i) {
    const bool has_others = (s.a.sources[i] & ~(1u << s.element)) != 0;
    if (gpu::lane() == 0) {
      wait_for_zero<gpu::Scope::device>(&at.remaining[i]);
      if (has_others) wait_for_zero<scope>(&at.shared_remaining[i]);
      if constexpr (fault != Fault::no_acquire) gpu::fence<gpu::Scope::system>();
    }
    gpu::warp_barrier();
    const T own = load_relaxed<gpu::Scope::device>(&at.left_sum[i]);
    return has_others ? own + load_relaxed<gpu::Scope::system>(&at.shared_sum[i]) : own;
  };
  const auto add = [&](int row, T value) {
    if (s.is_own(row)) {
      add_at_home<gpu::Scope::device>(at, row, value);
    } else {
      add_atomically<gpu::Scope::system>(&at.shared_sum[row], value);
      gpu::reduce_release<scope>(&at.shared_remaining[row], -1);
    }
  };
  over_columns(s, sum_of, add);
}

template <class T>
PALMETTE_KERNEL void unified_columns_kernel(ColumnSweep<T> s) {
  if (gpu::leads_wave()) solve_unified<T, Fault::none>(s);
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
PALMETTE_DEVICE void solve_zero_copy(const ColumnSweep<T>& s) {
  constexpr gpu::Scope scope = fault == Fault::narrow_scope ? gpu::Scope::device : gpu::Scope::system;
  const int from = gpu::lane();
  const bool is_own = from == s.element;
  const int* const remaining = from < s.num_elements ? s.at.remaining_of[from] : nullptr;
  const T* const left_sum = from < s.num_elements ? s.at.left_sum_of[from] : nullptr;
  const auto sum_of = [&](int i) {
    const bool is_source = (s.a.sources[i] >> from & 1) != 0;
    bool done = !is_source;
    for (;;) {
      if (!done)
        done = (is_own ? gpu::load_relaxed<gpu::Scope::device>(&remaining[i])
                       : gpu::load_relaxed<scope>(&remaining[i])) == 0;
      if (gpu::ballot(gpu::all_lanes, done) == gpu::all_lanes) break;
      if (!done) gpu::pause();
    }
    if constexpr (fault != Fault::no_acquire) gpu::fence<gpu::Scope::system>();
    T sum = zero<T>();
    if (is_source)
      sum = is_own ? load_relaxed<gpu::Scope::device>(&left_sum[i]) : read_sum<fault>(&left_sum[i]);
    return lane_sum(sum, 1, gpu::warp_size);
  };
  const auto add = [&](int row, T value) {
    if (s.is_own(row)) add_at_home<gpu::Scope::device>(s.at, row, value);
    else add_at_home<scope>(s.at, row, value);
  };
  over_columns(s, sum_of, add);
}

template <class T>
PALMETTE_KERNEL void zero_copy_columns_kernel(ColumnSweep<T> s) {
  if (gpu::leads_wave()) solve_zero_copy<T, Fault::none>(s);
}

// ---- pushed ----

#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
/// Who makes an element's last addition to a row of another element puts the sum there, and the flag behind
/// it: one message for each row and element, and nobody polls through the network.
template <class T, Fault fault>
PALMETTE_DEVICE void push_sum(const ColumnSweep<T>& s, int row) {
  // The last of a chain of additions: what the other lanes and warps added is acquired with it.
  if constexpr (fault != Fault::no_acquire) (void)gpu::load_acquire<gpu::Scope::device>(&s.at.remaining[row]);
  const long long place = static_cast<long long>(s.element) * s.a.n + row;
  constexpr int bytes = fault == Fault::wrong_size ? 4 : sizeof(T);
  gpu::put_signal(&s.at.slot[place], &s.at.left_sum[row], bytes, &s.at.arrived[place], s.at.run,
                  s.element_of(row));
}

template <class T, Fault fault>
PALMETTE_DEVICE void solve_pushed(const ColumnSweep<T>& s) {
  const ElementVectors<T>& at = s.at;
  const int from = gpu::lane();
  const auto sum_of = [&](int i) {
    const long long place = static_cast<long long>(from) * s.a.n + i;
    const bool is_source = (s.a.sources[i] >> from & 1) != 0;
    T sum = zero<T>();
    if (is_source && from == s.element) {
      wait_for_zero<gpu::Scope::device>(&at.remaining[i]);
      gpu::fence<gpu::Scope::device>();
      sum = load_relaxed<gpu::Scope::device>(&at.left_sum[i]);
    } else if (is_source) {
      if constexpr (fault != Fault::relaxed_flag) gpu::wait_signal(&at.arrived[place], at.run);
      else while (gpu::load_relaxed<gpu::Scope::system>(&at.arrived[place]) != at.run) gpu::pause();
      sum = at.slot[place];
    }
    return lane_sum(sum, 1, gpu::warp_size);
  };
  const auto add = [&](int row, T value) {
    add_atomically<gpu::Scope::device>(&at.left_sum[row], value);
    const int were_missing = gpu::add_release<gpu::Scope::device>(&at.remaining[row], -1);
    if (were_missing == 1 && !s.is_own(row)) push_sum<T, fault>(s, row);
  };
  over_columns(s, sum_of, add);
  gpu::quiet();
}

template <class T>
PALMETTE_KERNEL void pushed_columns_kernel(ColumnSweep<T> s) {
  solve_pushed<T, Fault::none>(s);
}
#endif

}  // namespace palmette::device
