// The kernels: how blocks find their supernodes, and what these wait for.
#pragma once

#include "palmette/device/sweep_waiting.cuh"

namespace palmette::device {

// By the tree: forward, a task waits for the children of its supernode; backward, for its parent. No atomic
// sums, one flag for each task and group of right-hand sides; the same bits for any number of blocks and
// threads. Small supernodes have small descendants only, so warps are done with them before a block needs
// them.

template <class T, int K, Fault fault, class Team = BlockTeam>
PALMETTE_DEVICE void forward_task(const TriangleSweep<T>& a, GroupTask of) {
  const Supernode<T> s = supernode(a, of.task);
  prefetch_chunks<T, Team>(s);
  wait_for_children<T, K, fault, Team>(a, s.number, of.group);
  eliminate_by_tree<T, K, fault, Team>(a, s, sides_of<K>(of.group));
  publish<T, K, fault, Team>(a, of);
}

template <class T, int K, Fault fault = Fault::none>
PALMETTE_KERNEL void tree_forward_kernel(TriangleSweep<T> a) {
  const int groups = a.at.stride / K, num_small = a.at.num_small * groups;
  const int num_large = a.tree.num_tasks * groups - num_small;
  if constexpr (fault == Fault::no_tickets) {
    forward_task<T, K, fault>(a, task_of_ticket<T, K>(a, gpu::block()));
  } else if constexpr (fault == Fault::unequal_barriers) {
    if (take_ticket(reinterpret_cast<int*>(gpu::shared_bytes()), a.at.ticket) < a.tree.num_tasks)
      if (gpu::thread() < gpu::warp_size) gpu::block_barrier();
  } else {
    over_warp_tickets<T, K>(a.at.ticket + 1, num_small, [&](int ticket) {
      forward_task<T, K, fault, WarpTeam<K>>(a, task_of_ticket<T, K>(a, ticket));
    });
    over_tickets(a.at.ticket, num_large, [&](int ticket) {
      forward_task<T, K, fault>(a, task_of_ticket<T, K>(a, num_small + ticket));
      if constexpr (fault == Fault::store_outside)
        if (gpu::thread() == 0) a.at.x[a.tree.begin[a.tree.num_supernodes] * a.at.stride] = zero<T>();
    });
  }
}

template <class T, int K, class Team>
PALMETTE_DEVICE void backward_task(const TriangleSweep<T>& a, GroupTask of) {
  const Supernode<T> s = supernode(a, of.task);
  prefetch_columns<T, Team>(s);
  wait_for_parent<T, K, Team>(a, s.number, of.group);
  substitute<T, K, Team>(a, s, sides_of<K>(of.group));
  publish<T, K, Fault::none, Team>(a, of);
}

template <class T, int K>
PALMETTE_KERNEL void tree_backward_kernel(TriangleSweep<T> a) {
  const int groups = a.at.stride / K, num_small = a.at.num_small * groups;
  const int num_large = a.tree.num_tasks * groups - num_small;
  over_tickets(a.at.ticket, num_large,
               [&](int ticket) { backward_task<T, K, BlockTeam>(a, task_of_ticket<T, K>(a, ticket)); });
  over_warp_tickets<T, K>(a.at.ticket + 1, num_small, [&](int ticket) {
    backward_task<T, K, WarpTeam<K>>(a, task_of_ticket<T, K>(a, num_large + ticket));
  });
}

// Level after level, a launch for each: tasks of a level wait for none.

/// Calls work(task and group) for those of the level that are this block's.
template <class T, int K, class Work>
PALMETTE_DEVICE void over_level(const TriangleSweep<T>& a, Work&& work) {
  const int groups = a.at.stride / K;
  for (int k = a.at.first * groups + gpu::block(); k < a.at.end * groups; k += gpu::blocks())
    work(task_of_ticket<T, K>(a, k));
}

template <class T, int K>
PALMETTE_KERNEL void level_forward_kernel(TriangleSweep<T> a) {
  over_level<T, K>(a, [&](GroupTask of) {
    eliminate_by_tree<T, K, Fault::none>(a, supernode(a, of.task), sides_of<K>(of.group));
  });
}

template <class T, int K>
PALMETTE_KERNEL void level_backward_kernel(TriangleSweep<T> a) {
  over_level<T, K>(
      a, [&](GroupTask of) { substitute<T, K>(a, supernode(a, of.task), sides_of<K>(of.group)); });
}

// Synchronization-free [Ding et al. 2020, algorithm 4]: a supernode adds what its rows below lose to their
// sums by atomic additions, and counts itself off at each supernode to which they belong.

/// What rows below lose goes to their sums.
template <class T>
struct SumsOfTargets {
  const TriangleSweep<T>& a;
  const Supernode<T>& s;
  Tile rhs;

  PALMETTE_DEVICE T before(int, int) const { return zero<T>(); }
  PALMETTE_DEVICE void lose(int row, int j, T, T value) const {
    add_atomically(&a.at.sum[place_of(a, rhs, a.tree.row[s.low + row], j)], -value);
  }
};

template <class T, int K>
PALMETTE_DEVICE void eliminate_by_columns(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs) {
  T* const t = shared_values<T>();
  if (s.is_guarded && s.part > 0) return;
  over_rows(s.width, rhs.count, [&](int row, int j) {
    const long long at = place_of(a, rhs, s.first + row, j);
    t[row * rhs.count + j] = a.at.in[at] + load_relaxed(&a.at.sum[at]);
  });
  gpu::block_barrier();
  eliminate<T, K, Fault::none>(a, s, rhs, t, SumsOfTargets<T>{a, s, rhs});
}

template <class T, int K>
PALMETTE_KERNEL void columns_forward_kernel(TriangleSweep<T> a) {
  const int groups = a.at.stride / K;
  over_tickets(a.at.ticket, a.tree.num_tasks * groups, [&](int ticket) {
    const GroupTask of = task_of_ticket<T, K>(a, ticket);
    const Supernode<T> s = supernode(a, of.task);
    prefetch_chunks(s);
    const auto missing = [&](int number) {
      return &a.at.missing[static_cast<long long>(number) * groups + of.group];
    };
    if (gpu::thread() == 0) gpu::wait_equal<gpu::Scope::device>(missing(s.number), 0);
    gpu::block_barrier();
    eliminate_by_columns<T, K>(a, s, sides_of<K>(of.group));
    gpu::block_barrier();
    const int end = a.tree.target_ptr[s.number + 1];
    for (int k = a.tree.target_ptr[s.number] + gpu::thread(); k < end; k += gpu::threads())
      gpu::reduce_release<gpu::Scope::device>(missing(a.tree.target[k]), -1);
  });
}

template <class T, int K>
PALMETTE_KERNEL void columns_backward_kernel(TriangleSweep<T> a) {
  over_tickets(a.at.ticket, a.tree.num_tasks * (a.at.stride / K), [&](int ticket) {
    const GroupTask of = task_of_ticket<T, K>(a, ticket);
    const Supernode<T> s = supernode(a, of.task);
    prefetch_columns(s);
    wait_for_targets<T, K>(a, s.number, of.group);
    substitute<T, K>(a, s, sides_of<K>(of.group));
    publish<T, K, Fault::none, BlockTeam>(a, of);
  });
}

// A plain triangle, synchronization-free: a warp for each row, or for several that do not wait for each
// other, whose lanes wait for the entries that they multiply by [Xie et al. 2021]. Warps take slices of rows
// in an order in which each waits for slices that were taken before. Of a wavefront with two warps one works:
// otherwise it could wait for a row of the other, which stands still until the wait is over.

/// The columns of what a lane loads at once.
template <class T>
struct alignas(rows_per_load<T> * sizeof(int)) LoadedColumns {
  int at[rows_per_load<T>];
};

/// sum ← minus the entries of a row times the solution, in all lanes of the row, for K right-hand sides.
/// @param height  rows of the slice: lane k works for row k % height
template <class T, int K>
PALMETTE_DEVICE void multiply_slice(const RowSweep<T>& a, int slice, int height, int rhs, T (&sum)[K]) {
  constexpr int loaded = rows_per_load<T>;
  for (int k = 0; k < K; ++k) sum[k] = zero<T>();
  const long long end = a.begin[slice + 1];
  for (long long e = a.begin[slice] + gpu::lane() * loaded; e < end; e += gpu::warp_size * loaded) {
    const auto columns = gpu::load_together(reinterpret_cast<const LoadedColumns<T>*>(a.column + e));
    const Loaded<T> values = load_rows(a.value + e);
    for (int v = 0; v < loaded; ++v) {
      const int column = columns.at[v];
      if (column < 0) continue;
      if (rhs == 0) gpu::wait_equal<gpu::Scope::device>(&a.done[column], a.sweep);
      const T* const x = a.x + static_cast<long long>(column) * a.stride + rhs;
      for (int k = 0; k < K; ++k) sum[k] = multiply_add(-values.value[v], x[k], sum[k]);
    }
  }
  lane_sums(sum, height, gpu::warp_size);
}

template <class T, int K>
PALMETTE_DEVICE void solve_slice(const RowSweep<T>& a, int slice) {
  const int first = a.first[slice], height = a.first[slice + 1] - first;
  const bool writes = gpu::lane() < height;
  const int row = writes ? a.row[first + gpu::lane()] : 0;
  for (int rhs = 0; rhs < a.stride; rhs += K) {
    T sum[K];
    multiply_slice<T, K>(a, slice, height, rhs, sum);
    if (!writes) continue;
    T* const x = a.x + static_cast<long long>(row) * a.stride + rhs;
    for (int k = 0; k < K; ++k) {
      const T value = x[k] + sum[k];
      x[k] = a.diagonal != nullptr ? divide(value, a.diagonal[row]) : value;
    }
  }
  if (writes) gpu::store_release<gpu::Scope::device>(&a.done[row], a.sweep);
}

template <class T, int K, Fault fault>
PALMETTE_DEVICE void take_rows(const RowSweep<T>& a) {
  if constexpr (fault != Fault::warps_in_step)
    if (!gpu::leads_wave()) return;
  for (;;) {
    const int ticket = take_warp_ticket(a.ticket);
    if (ticket >= a.num_slices) return;
    solve_slice<T, K>(a, ticket);
  }
}

template <class T, int K>
PALMETTE_KERNEL void rows_kernel(RowSweep<T> a) {
  take_rows<T, K, Fault::none>(a);
}

}  // namespace palmette::device
