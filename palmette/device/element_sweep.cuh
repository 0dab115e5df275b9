// Sweeps over several devices [Ding et al. 2020, §3.4], one source for nvcc, hipcc and the emulator, in one
// kernel for each sweep, for any number of right-hand sides.
//
// Whole subtrees lie on one element and are swept by the tree. The supernodes above them are distributed by
// blocks. Forward, the element of a diagonal block adds what its rows lose, and sends t = b − … down the
// column: blocks hold C·B⁻¹, so that B⁻¹ is not on the critical path (where B is not inverted, y is sent).
// Each product has rows of its own in the element's store, and sums are added in the order of the structure's
// sum trees, so x has the same bits for any number of elements, blocks and threads. Backward, x goes along
// the row, and products with the transposed blocks are summed along the column.
//
// In several layers, each element sweeps its layer's system forward; then it adds up, with its partners in
// other layers, the rows of y that they share [Liu et al. 2023, Algorithm 1], in tasks behind all others.
//
// Liveness: a block waits only for tasks and messages that come earlier in one order of all tasks of all
// elements. The earliest task that is not finished waits for nothing, and as blocks take tasks in this order,
// it has been taken, if each element has one resident block.
#pragma once

#include "palmette/device/element_sweep.hpp"
#include "palmette/device/sweep_waiting.cuh"
#include "palmette/device/watch.cuh"

namespace palmette::device {

template <class T>
PALMETTE_DEVICE T* store_row(const ElementSweep<T>& a, long long row) {
  return row < a.shared_rows ? a.shared + row * a.own.at.stride
                             : a.local + (row - a.shared_rows) * a.own.at.stride;
}

// ---- messages ----

/// Behind a signal that this thread has seen: its rows are there for the block. A network may bring them
/// after the signal, and only its own wait says that they have come; it finds the signal and returns when
/// they have. It is called once for each message, not in each look. What kernels store themselves, an acquire
/// orders.
template <Link link, gpu::Scope reach, Fault fault>
PALMETTE_DEVICE void acquire_rows(ElementSignal* signal, ElementSignal sweep) {
#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
  if constexpr (link == Link::network && fault != Fault::no_network_wait) gpu::wait_signal(signal, sweep);
#endif
  (void)gpu::load_acquire<reach>(signal);
}

/// The same waits with an end.
template <class T, Link link>
PALMETTE_DEVICE void wait_within_patience(const ElementSweep<T>& a, const ElementTask& task,
                                          int signal_end) {
  for (int k = task.wait_begin + gpu::thread(); k < task.wait_end; k += gpu::threads()) {
    const int before = a.program.wait[k];
    if (!comes_within<gpu::Scope::device>(a.watch, &a.done[before], a.own.at.sweep))
      give_up(a.watch, &a.watch.status->task, before);
    else
      (void)gpu::load_acquire<gpu::Scope::device>(&a.done[before]);
  }
  for (int k = task.signal_begin + gpu::thread(); k < signal_end; k += gpu::threads()) {
    const int signal = a.program.signal[k];
    const auto sweep = static_cast<ElementSignal>(a.own.at.sweep);
    if (!comes_within<gpu::Scope::system>(a.watch, &a.signals[signal], sweep))
      give_up(a.watch, &a.watch.status->signal, signal);
    else
      acquire_rows<link, gpu::Scope::system, Fault::none>(&a.signals[signal], sweep);
  }
  gpu::block_barrier();
}

/// The block goes on when all that the task names is there.
template <class T, Link link, Fault fault>
PALMETTE_DEVICE void wait_for_input(const ElementSweep<T>& a, const ElementTask& task) {
  const int signal_end = a.signals != nullptr ? task.signal_end : task.signal_begin;
  if constexpr (fault == Fault::none)
    if (a.watch.status != nullptr) return wait_within_patience<T, link>(a, task, signal_end);
  constexpr gpu::Scope reach = fault == Fault::narrow_scope ? gpu::Scope::device : gpu::Scope::system;
  for (int k = task.wait_begin + gpu::thread(); k < task.wait_end; k += gpu::threads())
    gpu::wait_equal<gpu::Scope::device>(&a.done[a.program.wait[k]], a.own.at.sweep);
  for (int k = task.signal_begin + gpu::thread(); k < signal_end; k += gpu::threads()) {
    ElementSignal* const signal = &a.signals[a.program.signal[k]];
    const auto sweep = static_cast<ElementSignal>(a.own.at.sweep);
    while (gpu::load_relaxed<reach>(signal) != sweep) gpu::pause();
    if constexpr (fault != Fault::no_acquire) acquire_rows<link, reach, fault>(signal, sweep);
  }
  gpu::block_barrier();
}

/// Rows of the store at `from` to another element, then the signal. The block has come to a barrier since
/// they were written.
template <class T, Link link, Fault fault>
PALMETTE_DEVICE void send_rows(const ElementSweep<T>& a, long long from, int rows, const ElementSend& to) {
  if (a.signals == nullptr) return;  // the host carries it
  if constexpr (fault == Fault::short_message) --rows;
  const long long values = static_cast<long long>(rows) * a.own.at.stride;
  const T* const source = store_row(a, from);
  if constexpr (link == Link::network) {
#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
    gpu::put_signal_block(store_row(a, to.at), source, values * static_cast<long long>(sizeof(T)),
                          &a.signals[to.signal], static_cast<ElementSignal>(a.own.at.sweep), to.element);
    if constexpr (fault == Fault::early_reuse) {
      T* const reused = store_row(a, from);
      for (long long k = gpu::thread(); k < values; k += gpu::threads()) reused[k] = zero<T>();
      gpu::block_barrier();
    }
#endif
  } else {
    constexpr gpu::Scope reach = fault == Fault::narrow_scope ? gpu::Scope::device : gpu::Scope::system;
    T* const target = a.link.store[to.element] + to.at * a.own.at.stride;
    for (long long k = gpu::thread(); k < values; k += gpu::threads()) target[k] = source[k];
    if constexpr (fault != Fault::missing_barrier) gpu::block_barrier();
    if (gpu::thread() != 0) return;
    ElementSignal* const signal = &a.link.signals[to.element][to.signal];
    if constexpr (fault == Fault::relaxed_flag)
      gpu::store_relaxed<reach>(signal, static_cast<ElementSignal>(a.own.at.sweep));
    else
      gpu::store_release<reach>(signal, static_cast<ElementSignal>(a.own.at.sweep));
  }
}

/// A value that is in its rows of the store: to the next elements, and to the rows that own subtrees read.
template <class T, Link link, Fault fault>
PALMETTE_DEVICE void pass_on(const ElementSweep<T>& a, const ElementValue& value) {
  const int stride = a.own.at.stride;
  for (int k = value.send_begin; k < value.send_end; ++k)
    send_rows<T, link, fault>(a, value.at, value.width, a.program.send[k]);
  const T* const from = store_row(a, value.at);
  over_rows(value.copy_end - value.copy_begin, stride, [&](int k, int j) {
    const RowCopy copy = a.program.copy[value.copy_begin + k];
    a.own.at.x[static_cast<long long>(copy.to) * stride + j] =
        from[static_cast<long long>(copy.from) * stride + j];
  });
}

// ---- sums ----

/// Adds parts one after the other, each as a block. @param at  (row, right-hand side) → the target
template <class T, class At>
PALMETTE_DEVICE void add_parts(const ElementSweep<T>& a, int begin, int end, Tile rhs, At&& at) {
  for (int p = begin; p < end; ++p) {
    const ElementPart part = a.program.part[p];
    const T* const from = store_row(a, part.at);
    over_rows(part.count, rhs.count, [&](int row, int j) {
      const int to = part.list < 0 ? part.start + row : a.program.place[part.list + row];
      T& target = at(to, j);
      target = target + from[static_cast<long long>(row) * a.own.at.stride + rhs.first + j];
    });
    gpu::block_barrier();
  }
}

template <class T>
PALMETTE_DEVICE void add_up(const ElementSweep<T>& a, int begin, int end) {
  const int stride = a.own.at.stride;
  for (int s = begin; s < end; ++s) {
    const ElementSum sum = a.program.sum[s];
    T* const into = store_row(a, sum.at);
    over_rows(sum.rows, stride,
              [&](int row, int j) { into[static_cast<long long>(row) * stride + j] = zero<T>(); });
    gpu::block_barrier();
    add_parts(a, sum.begin, sum.end, Tile{0, stride},
              [&](int row, int j) -> T& { return into[static_cast<long long>(row) * stride + j]; });
  }
}

/// The parts of a message, one behind the other, and the message on its way.
template <class T, Link link, Fault fault>
PALMETTE_DEVICE void send_sum(const ElementSweep<T>& a, const ElementReduction& reduction) {
  const int stride = a.own.at.stride;
  T* to = store_row(a, reduction.outgoing);
  for (int p = reduction.part_begin; p < reduction.part_end; ++p) {
    const ElementPart part = a.program.part[p];
    const T* const from = store_row(a, part.at);
    over_rows(part.count, stride, [&](int row, int j) {
      const long long at = static_cast<long long>(row) * stride + j;
      to[at] = from[at];
    });
    to += static_cast<long long>(part.count) * stride;
  }
  gpu::block_barrier();
  send_rows<T, link, fault>(a, reduction.outgoing, reduction.rows, a.program.send[reduction.send]);
}

/// The diagonal block of a value, whole.
template <class T>
PALMETTE_DEVICE Supernode<T> diagonal_block(const ElementSweep<T>& a, const ElementValue& value) {
  Supernode<T> s = supernode(a.own, a.own.tree.task_ptr[value.supernode]);
  s.part = 0;
  s.parts = 1;
  return s;
}

// ---- forward ----

/// The value ← P·t, or y if the diagonal block is not inverted.
template <class T>
PALMETTE_DEVICE void find_right_hand_side(const ElementSweep<T>& a, const ElementReduction& reduction) {
  const ElementValue value = a.program.value[reduction.value];
  const Supernode<T> s = diagonal_block(a, value);
  T* const t = shared_values<T>();
  T* const found = store_row(a, value.at);
  over_tiles(a.own, [&](Tile rhs) {
    over_rows(s.width, rhs.count, [&](int row, int j) {
      t[row * rhs.count + j] = a.own.at.in[place_of(a.own, rhs, s.first + row, j)];
    });
    gpu::block_barrier();
    add_parts(a, reduction.part_begin, reduction.part_end, rhs,
              [&](int row, int j) -> T& { return t[row * rhs.count + j]; });
    T* const moved = permuted_rows(a.own, s, rhs.count, t);
    if (s.is_guarded) solve_block(s, rhs.count, moved);
    over_rows(s.width, rhs.count,
              [&](int row, int j) { found[place_of(a.own, rhs, row, j)] = moved[row * rhs.count + j]; });
    gpu::block_barrier();
  });
}

/// t ← the value, in shared memory.
template <class T>
PALMETTE_DEVICE void fetch_value(const ElementSweep<T>& a, const ElementValue& value, Tile rhs, T* t) {
  const T* const from = store_row(a, value.at);
  over_rows(value.width, rhs.count,
            [&](int row, int j) { t[row * rhs.count + j] = from[place_of(a.own, rhs, row, j)]; });
  gpu::block_barrier();
}

/// y of a supernode ← B⁻¹·t.
template <class T, int K>
PALMETTE_DEVICE void multiply_triangle(const ElementSweep<T>& a, const ElementValue& value) {
  const Supernode<T> s = diagonal_block(a, value);
  T* const t = shared_values<T>();
  over_tiles(a.own, [&](Tile rhs) {
    fetch_value(a, value, rhs, t);
    const auto nothing = [](int, int) { return zero<T>(); };
    const auto put = [&](int row, int j, T, T y) { a.own.at.x[place_of(a.own, rhs, s.first + row, j)] = y; };
    if (s.is_guarded)
      over_rows(s.width, rhs.count, [&](int row, int j) { put(row, j, zero<T>(), t[row * rhs.count + j]); });
    else
      multiply_panel<T, K, Fault::none>(s, rhs.count, t, nothing, put);
    gpu::block_barrier();
  });
}

/// A block as rows below a diagonal block of which nothing is stored.
template <class T>
PALMETTE_DEVICE Supernode<T> rows_of_block(const ElementSweep<T>& a, int panel) {
  const BlockPanel of = a.blocks.panel[panel];
  const PanelLayout layout = layout_below(of.width, of.rows, 1 << of.log_height, rows_per_load<T>);
  const T* const values = a.blocks.values + of.values - layout.begin(layout.first_below());
  return {0, 0, 1, 0, of.width, of.rows, 0, false, nullptr, layout, values};
}

template <class T, int K>
PALMETTE_DEVICE void multiply_block(const ElementSweep<T>& a, const ElementBlock& block, Tile rhs,
                                    const T* t) {
  constexpr int loaded = rows_per_load<T>;
  const Supernode<T> s = rows_of_block(a, block.panel);
  const int height = s.layout.height, above = s.layout.first_below();
  T* const out = store_row(a, block.out);
  for (int chunk = above + gpu::thread() / gpu::warp_size; chunk < s.layout.num_chunks();
       chunk += gpu::threads() / gpu::warp_size)
    PALMETTE_NOT_UNROLLED
    for (int first = 0; first < rhs.count; first += K) {
      T sum[loaded][K];
      multiply_chunk<T, K, Fault::none>(s, chunk, t + first, rhs.count, sum);
      const int row = (chunk - above) * height + gpu::lane() * loaded;
      if (gpu::lane() >= height / loaded) continue;
      for (int v = 0; v < loaded; ++v)
        for (int k = 0; k < K; ++k)
          if (row + v < s.rows_below) out[place_of(a.own, rhs, row + v, first + k)] = -sum[v][k];
    }
}

/// The blocks [begin, end), all of one column.
template <class T, int K>
PALMETTE_DEVICE void multiply_blocks(const ElementSweep<T>& a, int begin, int end) {
  T* const t = shared_values<T>();
  over_tiles(a.own, [&](Tile rhs) {
    fetch_value(a, a.program.value[a.program.block[begin].value], rhs, t);
    for (int b = begin; b < end; ++b) multiply_block<T, K>(a, a.program.block[b], rhs, t);
    gpu::block_barrier();
  });
}

// ---- backward ----

/// x of a supernode whose diagonal block is not inverted ← B⁻ᵀ·(z + the sums).
template <class T>
PALMETTE_DEVICE void substitute_sums(const ElementSweep<T>& a, const Supernode<T>& s, Tile rhs, T* sums) {
  over_rows(s.width, rhs.count, [&](int row, int j) {
    sums[row * rhs.count + j] = sums[row * rhs.count + j] + scaled_row(a.own, rhs, s.first + row, j);
  });
  solve_block_transposed(s, a.own.at.adjoint, rhs.count, sums);
}

/// The value ← x, which is the triangle's product and the sums; without an inverse, it is found here.
template <class T>
PALMETTE_DEVICE void find_solution(const ElementSweep<T>& a, const ElementReduction& reduction) {
  const ElementValue value = a.program.value[reduction.value];
  const Supernode<T> s = diagonal_block(a, value);
  T* const sums = shared_values<T>();
  T* const found = store_row(a, value.at);
  over_tiles(a.own, [&](Tile rhs) {
    over_rows(s.width, rhs.count, [&](int row, int j) { sums[row * rhs.count + j] = zero<T>(); });
    gpu::block_barrier();
    add_parts(a, reduction.part_begin, reduction.part_end, rhs,
              [&](int row, int j) -> T& { return sums[row * rhs.count + j]; });
    if (s.is_guarded) substitute_sums(a, s, rhs, sums);
    over_rows(s.width, rhs.count, [&](int row, int j) {
      const int to = s.place != nullptr ? s.place[row] : row;
      T& x = a.own.at.x[place_of(a.own, rhs, s.first + to, j)];
      x = s.is_guarded ? sums[row * rhs.count + j] : x + sums[row * rhs.count + j];
      found[place_of(a.own, rhs, to, j)] = x;
    });
    gpu::block_barrier();
  });
}

/// out ← −Mᵀ·x of the rows of a block, or with the adjoint.
template <class T, int K>
PALMETTE_DEVICE void multiply_block_transposed(const ElementSweep<T>& a, const ElementBlock& block,
                                               Tile rhs) {
  const Supernode<T> s = rows_of_block(a, block.panel);
  const int above = s.layout.rows - s.rows_below;
  T* const sums = shared_values<T>();
  T* const staged_values = sums + static_cast<long long>(column_sums) * a.own.at.widest * rhs.count;
  over_rows(s.width * column_sums, rhs.count, [&](int k, int j) { sums[k * rhs.count + j] = zero<T>(); });
  const int rows = staged_rows<T>(rhs.count);
  for (int first = above; first < s.layout.rows; first += rows) {
    over_rows(rows, rhs.count, [&](int k, int j) {
      const int row = first + k - above;
      T x = zero<T>();
      if (row < s.rows_below) x = -store_row(a, a.program.place[block.in + row])[rhs.first + j];
      staged_values[k * rhs.count + j] = x;
    });
    gpu::block_barrier();
    multiply_staged<T, K>(s, a.own.at.adjoint, Staged<T>{staged_values, first, rows, rhs.count}, sums);
    gpu::block_barrier();
  }
  T* const out = store_row(a, block.out);
  over_rows(s.width, rhs.count, [&](int column, int j) {
    const T* const part = sums + column * column_sums * rhs.count + j;
    out[place_of(a.own, rhs, column, j)] =
        (part[0] + part[rhs.count]) + (part[2 * rhs.count] + part[3 * rhs.count]);
  });
  gpu::block_barrier();
}

template <class T, int K>
PALMETTE_DEVICE void multiply_blocks_transposed(const ElementSweep<T>& a, int begin, int end) {
  over_tiles(a.own, [&](Tile rhs) {
    for (int b = begin; b < end; ++b) multiply_block_transposed<T, K>(a, a.program.block[b], rhs);
  });
}

/// x of a supernode ← B⁻ᵀ·z, to which the sums are added later.
template <class T, int K>
PALMETTE_DEVICE void multiply_triangle_transposed(const ElementSweep<T>& a, const ElementValue& value) {
  const Supernode<T> s = diagonal_block(a, value);
  if (s.is_guarded) return;
  over_tiles(a.own, [&](Tile rhs) { substitute<T, K>(a.own, s, rhs); });
}

// ---- both ----

/// A task of an own subtree.
template <class T, int K, bool forward>
PALMETTE_DEVICE void sweep_supernode(const ElementSweep<T>& a, const Supernode<T>& s) {
  over_tiles(a.own, [&](Tile rhs) {
    if constexpr (forward)
      eliminate_by_tree<T, K, Fault::none>(a.own, s, rhs);
    else
      substitute<T, K>(a.own, s, rhs);
  });
}

/// A reduction's sums, and then the message or the value.
template <class T, bool forward, Link link, Fault fault>
PALMETTE_DEVICE void reduce(const ElementSweep<T>& a, const ElementReduction& reduction) {
  add_up(a, reduction.sum_begin, reduction.sum_end);
  if (reduction.send >= 0) return send_sum<T, link, fault>(a, reduction);
  if constexpr (forward)
    find_right_hand_side(a, reduction);
  else
    find_solution(a, reduction);
  pass_on<T, link, fault>(a, a.program.value[reduction.value]);
}

// ---- layers ----

/// Shared rows of y to another layer; or what comes from there is added to them, or replaces them.
template <class T, Link link, Fault fault>
PALMETTE_DEVICE void meet(const ElementSweep<T>& a, const ElementMeeting& meeting) {
  const int stride = a.own.at.stride;
  T* const message = store_row(a, meeting.at);
  over_rows(meeting.rows, stride, [&](int row, int j) {
    T& y = a.own.at.x[static_cast<long long>(a.program.place[meeting.list + row]) * stride + j];
    T& shared = message[static_cast<long long>(row) * stride + j];
    if (meeting.send >= 0)
      shared = y;
    else
      y = meeting.adds != 0 ? y + shared : shared;
  });
  if (meeting.send < 0) return;
  gpu::block_barrier();
  send_rows<T, link, fault>(a, meeting.at, meeting.rows, a.program.send[meeting.send]);
}

template <class T, int K, bool forward, Link link, Fault fault>
PALMETTE_DEVICE void run_task(const ElementSweep<T>& a, const ElementTask& task) {
  switch (task.kind) {
    case ElementTaskKind::tree:
      return sweep_supernode<T, K, forward>(a, supernode(a.own, task.number));
    case ElementTaskKind::add_up:
      return add_up(a, task.begin, task.end);
    case ElementTaskKind::arrive:
      return pass_on<T, link, fault>(a, a.program.value[task.number]);
    case ElementTaskKind::reduce:
      return reduce<T, forward, link, fault>(a, a.program.reduction[task.number]);
    case ElementTaskKind::triangle:
      if constexpr (forward)
        return multiply_triangle<T, K>(a, a.program.value[task.number]);
      else
        return multiply_triangle_transposed<T, K>(a, a.program.value[task.number]);
    case ElementTaskKind::blocks:
      if constexpr (forward)
        return multiply_blocks<T, K>(a, task.begin, task.end);
      else
        return multiply_blocks_transposed<T, K>(a, task.begin, task.end);
    case ElementTaskKind::meet:
      if constexpr (forward) meet<T, link, fault>(a, a.program.meeting[task.number]);
      return;
  }
}

// ---- kernels ----

#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
/// The end of a block over a network: nothing of its own is on its way, and all ranks know if it gave up.
template <class T>
PALMETTE_DEVICE void leave_network(const ElementSweep<T>& a) {
  if (gpu::thread() != 0) return;
  if (a.alarm != nullptr && gpu::load_relaxed<gpu::Scope::device>(&a.watch.status->gave_up) != 0) {
    const ElementSignal alarm = static_cast<ElementSignal>(a.own.at.sweep);
    for (int element = 0; element < gpu::num_pes(); ++element)
      gpu::set_signal(a.alarm, alarm, element);
  }
  gpu::quiet();
}
#endif

template <class T, int K, bool forward, Link link, Fault fault>
PALMETTE_DEVICE void run_element(const ElementSweep<T>& a) {
  over_tickets(a.order.ticket, a.order.num_tasks, [&](int ticket) {
    const int number = a.order.task[ticket];
    const ElementTask task = a.program.task[number];
    wait_for_input<T, link, fault>(a, task);
    run_task<T, K, forward, link, fault>(a, task);
    gpu::block_barrier();
    if (gpu::thread() == 0) gpu::store_release<gpu::Scope::device>(&a.done[number], a.own.at.sweep);
  });
#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
  if constexpr (link == Link::network) leave_network(a);
#endif
}

template <class T, int K, Fault fault = Fault::none>
PALMETTE_KERNEL void element_forward_kernel(ElementSweep<T> a) {
  run_element<T, K, true, Link::peers, fault>(a);
}
template <class T, int K>
PALMETTE_KERNEL void element_backward_kernel(ElementSweep<T> a) {
  run_element<T, K, false, Link::peers, Fault::none>(a);
}

#if defined(PALMETTE_WITH_NVSHMEM) || (!defined(__CUDACC__) && !defined(__HIPCC__))
template <class T, int K, Fault fault = Fault::none>
PALMETTE_KERNEL void network_forward_kernel(ElementSweep<T> a) {
  run_element<T, K, true, Link::network, fault>(a);
}
template <class T, int K>
PALMETTE_KERNEL void network_backward_kernel(ElementSweep<T> a) {
  run_element<T, K, false, Link::network, Fault::none>(a);
}
#endif

}  // namespace palmette::device
