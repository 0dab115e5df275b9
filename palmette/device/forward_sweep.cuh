// Forward sweeps L·x = b over several devices, one source for nvcc and the emulator. One right-hand side.
//
// A supernode's panel M = [B⁻¹; C·B⁻¹] lies in chunks of h rows (h = 4, 8, 16 or 32), within a chunk column
// after column. So the 32 lanes of a warp, as h rows × 32/h columns, read 32 entries that lie together,
// whatever h is.
#pragma once
#include "palmette/device/forward_sweep.hpp"
#include "palmette/device/triangle_sweep.cuh"

namespace palmette::device {

/// acc over the columns of this lane's row of chunk q; the sum is in all lanes of the row.
PALMETTE_DEVICE double row_times(const double* __restrict__ panel, int h, int chunk, int w, const double* t) {
  const int row = gpu::lane() & (h - 1), groups = gpu::warp_size / h, group = gpu::lane() / h;
  const double* at = panel + (long long)chunk * h * w + row;
  double sum = 0;
  for (int c = group; c < w; c += groups) sum = gpu::multiply_add(at[c * h], t[c], sum);
  return gpu::warp_sum(sum, h);
}

/// t of a supernode of width w, once all of its contributions have been added.
PALMETTE_DEVICE void wait_and_gather(const int* fmod, const double* b, const double* lsum, int w, double* t) {
  if (gpu::thread() == 0) gpu::wait_equal<gpu::Scope::device>(fmod, 0);
  gpu::block_barrier();
  for (int k = gpu::thread(); k < w; k += gpu::threads())
    t[k] = b[k] + gpu::load_relaxed<gpu::Scope::device>(&lsum[k]);
  gpu::block_barrier();
}

/// One contribution less is missing in each target.
PALMETTE_DEVICE void release_targets(const int* target, int begin, int end, int* fmod) {
  for (int k = begin + gpu::thread(); k < end; k += gpu::threads())
    gpu::reduce_release<gpu::Scope::device>(&fmod[target[k]], -1);
}

#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
// [Ding et al. 2020], algorithm 5 on P × 1 processing elements: block row I belongs to element
// I mod P. What is broadcast is t, not y = B⁻¹·t: the panels hold C·B⁻¹, so the product with B⁻¹ is not on
// the critical path.
template <Fault fault = Fault::none>
PALMETTE_KERNEL void forward_pes_kernel(ShareOfPe share, const int* begin, PeRun at) {
  int* taken = reinterpret_cast<int*>(gpu::shared_bytes());
  for (;;) {
    const int task = take_ticket(taken, at.ticket);
    if (task >= share.num_tasks) break;
    const int s = share.column[task], first = begin[s], w = begin[s + 1] - first;
    double* t = at.ready + first;
    if (s % gpu::num_pes() == gpu::my_pe()) {
      wait_and_gather(&at.fmod[s], at.b + first, at.lsum + first, w, t);
      for (int k = share.peer_ptr[task]; k < share.peer_ptr[task + 1]; ++k)
        gpu::put_signal_block(t, t, 8ll * w, &at.arrived[s], at.run, share.peer[k]);
    } else {
      if constexpr (fault != Fault::no_acquire)
        if (gpu::thread() == 0) gpu::wait_signal(&at.arrived[s], at.run);
      gpu::block_barrier();
    }
    const int h = share.chunk[task], rows = share.rows[task], chunks = (rows + h - 1) / h,
              warps = gpu::threads() / gpu::warp_size;
    for (int q = gpu::thread() / gpu::warp_size; q < chunks; q += warps) {
      const double sum = row_times(share.values + share.panel[task], h, q, w, t);
      const int row = q * h + gpu::lane();
      if (gpu::lane() >= h || row >= rows) continue;
      const int place = share.place[share.place_ptr[task] + row];
      if (place < 0)
        at.x[-1 - place] = sum;
      else
        gpu::reduce_relaxed<gpu::Scope::device>(&at.lsum[place], -sum);
    }
    gpu::block_barrier();
    release_targets(share.target, share.target_ptr[task], share.target_ptr[task + 1], at.fmod);
    gpu::block_barrier();
    if constexpr (fault == Fault::early_reuse) {
      for (int k = gpu::thread(); k < w; k += gpu::threads()) t[k] = 0;
      gpu::block_barrier();
    }
  }
  if (gpu::thread() == 0) gpu::quiet();
}

// Sums read from where they were written: a warp for each component; elements write at home and
// read from the others. Additions are published with system scope, since other devices read them.
template <Fault fault = Fault::none>
PALMETTE_KERNEL void forward_read_only_kernel(Columns a, ReadOnlyRun at) {
  constexpr gpu::Scope scope = fault == Fault::narrow_scope ? gpu::Scope::device : gpu::Scope::system;
  for (;;) {
    const int k = take_warp_ticket(at.ticket);
    if (k >= a.num_columns) return;
    const int i = a.column[k];
    bool done =
        gpu::lane() >= gpu::num_pes();  // lane d watches element d; what has come to zero is not read again
    for (;;) {
      if (!done) done = gpu::get(&at.remaining[i], gpu::lane()) == 0;
      if (gpu::ballot(gpu::all_lanes, done) == gpu::all_lanes) break;
      if (!done) gpu::pause();
    }
    gpu::fence<gpu::Scope::system>();
    double sum = gpu::lane() < gpu::num_pes() ? gpu::get(&at.left_sum[i], gpu::lane()) : 0;
    sum = gpu::warp_sum(sum);
    const double x = (at.b[i] - sum) / a.diagonal[k];
    if (gpu::lane() == 0) at.x[i] = x;
    for (int j = a.ptr[k] + gpu::lane(); j < a.ptr[k + 1]; j += gpu::warp_size) {
      gpu::reduce_relaxed<gpu::Scope::system>(&at.left_sum[a.row[j]], a.value[j] * x);
      gpu::reduce_release<scope>(&at.remaining[a.row[j]], -1);
    }
  }
}
#endif

}  // namespace palmette::device
