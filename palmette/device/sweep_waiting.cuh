// How blocks and warps take the tasks of a sweep, what they do before they wait, and the flags for which they
// wait: one for each task and group of right-hand sides.
#pragma once

#include "palmette/device/triangle_sweep.cuh"

namespace palmette::device {

// ---- before waiting ----

/// `count` entries on their way to the level-2 cache.
template <class T>
PALMETTE_DEVICE void prefetch_entries(const T* begin, long long count, int thread, int threads) {
  constexpr int line = 128 / sizeof(T);
  for (long long k = static_cast<long long>(thread) * line; k < count; k += threads * line)
    gpu::prefetch(begin + k);
}

/// What a part multiplies by forward: its chunks, which lie together.
template <class T, class Team = BlockTeam>
PALMETTE_DEVICE void prefetch_chunks(const Supernode<T>& s) {
  const int chunks = s.layout.num_chunks(), begin = s.begin(chunks), end = s.end(chunks);
  if (begin >= end) return;
  const long long first = s.layout.begin(begin);
  const long long last = end < chunks ? s.layout.begin(end) : s.layout.entries();
  prefetch_entries(s.values + first, last - first, Team::thread(), Team::threads());
}

/// What it multiplies by backward: its columns, which lie together in each chunk.
template <class T, class Team = BlockTeam>
PALMETTE_DEVICE void prefetch_columns(const Supernode<T>& s) {
  const PartColumns<T> mine = columns_of_part(s);
  for (int chunk = Team::thread(); chunk < s.layout.num_chunks(); chunk += Team::threads()) {
    const int columns = s.layout.columns(chunk) - mine.first, stored = s.layout.stored_rows(chunk);
    const T* const begin = s.values + s.layout.begin(chunk) + static_cast<long long>(mine.first) * stored;
    const int count = columns < mine.count ? columns : mine.count;
    prefetch_entries(begin, static_cast<long long>(count) * stored, 0, 1);
  }
}

// ---- waiting ----

/// The block's next task, the same in all of its threads; they come to a barrier before the next call.
/// @param taken  in shared memory
PALMETTE_DEVICE int take_ticket(int* taken, int* ticket) {
  if (gpu::thread() == 0) *taken = gpu::add_relaxed<gpu::Scope::device>(ticket, 1);
  gpu::block_barrier();
  return *taken;
}

/// The warp's next task, the same in all of its lanes.
PALMETTE_DEVICE int take_warp_ticket(int* ticket) {
  int taken = 0;
  if (gpu::lane() == 0) taken = gpu::add_relaxed<gpu::Scope::device>(ticket, 1);
  return gpu::shuffle(gpu::all_lanes, taken, 0);
}

/// Calls work(ticket) for the tickets that this block takes.
template <class Work>
PALMETTE_DEVICE void over_tickets(int* ticket, int count, Work&& work) {
  int* const taken = reinterpret_cast<int*>(gpu::shared_bytes());
  for (;;) {
    const int mine = take_ticket(taken, ticket);
    if (mine >= count) return;
    work(mine);
    gpu::block_barrier();
  }
}

/// Calls work(ticket) for the tickets that warps of this block take. Of a wavefront with two warps one works:
/// otherwise it could wait for a task of the other, which stands still until the wait is over.
template <class T, int K, class Work>
PALMETTE_DEVICE void over_warp_tickets(int* ticket, int count, Work&& work) {
  if (!gpu::leads_wave() || gpu::thread() / gpu::warp_size >= warps_of_small<T, K>) return;
  for (;;) {
    const int mine = take_warp_ticket(ticket);
    if (mine >= count) return;
    work(mine);
    gpu::warp_barrier();
  }
}

/// A task and the right-hand sides for which it is taken.
struct GroupTask {
  int task, group;
};

/// @param ticket  each task of `order` is taken for one group of right-hand sides after the other
template <class T, int K>
PALMETTE_DEVICE GroupTask task_of_ticket(const TriangleSweep<T>& a, int ticket) {
  const int groups = a.at.stride / K;
  return {a.at.order[ticket / groups], ticket % groups};
}

template <int K>
PALMETTE_DEVICE Tile sides_of(int group) {
  return {group * K, K};
}

template <class T, int K>
PALMETTE_DEVICE int* flag_of(const TriangleSweep<T>& a, GroupTask of) {
  return &a.at.done[static_cast<long long>(of.task) * (a.at.stride / K) + of.group];
}

template <class T, int K, Fault fault>
PALMETTE_DEVICE void wait_for_task(const TriangleSweep<T>& a, GroupTask of) {
  const int* const done = flag_of<T, K>(a, of);
  if constexpr (fault == Fault::no_acquire)
    while (gpu::load_relaxed<gpu::Scope::device>(done) != a.at.sweep) gpu::pause();
  else
    gpu::wait_equal<gpu::Scope::device>(done, a.at.sweep);
}

/// The team goes on when the children of a supernode are done.
template <class T, int K, Fault fault, class Team>
PALMETTE_DEVICE void wait_for_children(const TriangleSweep<T>& a, int s, int group) {
  const int end = a.tree.child_task_ptr[s + 1];
  for (int k = a.tree.child_task_ptr[s] + Team::thread(); k < end; k += Team::threads())
    wait_for_task<T, K, fault>(a, {a.tree.child_task[k], group});
  Team::barrier();
}

/// The same when its parent is.
template <class T, int K, class Team>
PALMETTE_DEVICE void wait_for_parent(const TriangleSweep<T>& a, int s, int group) {
  const int parent = a.tree.parent[s];
  if (parent >= 0)
    for (int task = a.tree.task_ptr[parent] + Team::thread(); task < a.tree.task_ptr[parent + 1];
         task += Team::threads())
      wait_for_task<T, K, Fault::none>(a, {task, group});
  Team::barrier();
}

/// The block goes on when all supernodes to which rows below belong are done: one a warp, a flag a lane.
template <class T, int K>
PALMETTE_DEVICE void wait_for_targets(const TriangleSweep<T>& a, int s, int group) {
  const int end = a.tree.target_ptr[s + 1], warps = gpu::threads() / gpu::warp_size;
  for (int k = a.tree.target_ptr[s] + gpu::thread() / gpu::warp_size; k < end; k += warps) {
    const int target = a.tree.target[k], last = a.tree.task_ptr[target + 1];
    for (int task = a.tree.task_ptr[target] + gpu::lane(); task < last; task += gpu::warp_size)
      wait_for_task<T, K, Fault::none>(a, {task, group});
  }
  gpu::block_barrier();
}

/// All threads of the team have come to a barrier since their last store.
template <class T, int K, Fault fault, class Team>
PALMETTE_DEVICE void publish(const TriangleSweep<T>& a, GroupTask of) {
  if (Team::thread() != 0) return;
  int* const done = flag_of<T, K>(a, of);
  if constexpr (fault == Fault::relaxed_flag)
    gpu::store_relaxed<gpu::Scope::device>(done, a.at.sweep);
  else if constexpr (fault == Fault::narrow_scope)
    gpu::store_release<gpu::Scope::block>(done, a.at.sweep);
  else
    gpu::store_release<gpu::Scope::device>(done, a.at.sweep);
}

}  // namespace palmette::device
