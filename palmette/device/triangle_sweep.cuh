// Sweeps through a supernodal factor, one source for nvcc, hipcc and the emulator. Forward, L·y = b: a block
// takes a supernode, adds what its children subtract from its rows, and multiplies by the panel M =
// [B⁻¹; C·B⁻¹]: y = B⁻¹·P·t, and C·y is what the rows below lose. Backward, Lᵀ·x = z: x = Pᵀ·Mᵀ·[z; −x],
// where the second part is x of the rows below.
//
// Rows of right-hand sides lie together. A warp multiplies by a whole chunk of the panel, or by all chunks of
// a few columns, and adds its lanes' sums in a fixed tree, so the bits depend neither on the number of blocks
// nor on that of threads or right-hand sides.
//
// Liveness: blocks take supernodes by tickets in a topological order, so a block waits only for supernodes
// that a block has taken before, and the one that was taken first waits for none. One resident block is
// enough.
#pragma once

#include "palmette/device/numbers.cuh"
#include "palmette/device/triangle_sweep.hpp"

namespace palmette::device {

/// Right-hand sides that pass through shared memory together.
struct Tile {
  int first, count;
};

/// A supernode as its block sees it.
template <class T>
struct Supernode {
  int number, first, width, rows_below;
  long long low;  ///< first of its rows below
  bool is_guarded;
  const int* place;  ///< row k of P·t is row place[k] of t; null: the same row
  PanelLayout layout;
  const T* values;
};

template <class T>
PALMETTE_DEVICE Supernode<T> supernode(const TriangleSweep<T>& a, int s) {
  const long long low = a.tree.below[s];
  const int first = a.tree.begin[s], width = a.tree.begin[s + 1] - first;
  const int rows_below = static_cast<int>(a.tree.below[s + 1] - low);
  const PanelLayout layout{width, width + rows_below, 1 << a.panels.log_height[s], rows_per_load<T>};
  const unsigned char form = a.panels.form[s];
  const int* const place = (form & permuted) != 0 ? a.panels.place + first : nullptr;
  return {s, first, width, rows_below, low, (form & guarded) != 0, place, layout,
          a.panels.values + a.panels.offset[s]};
}

template <class T>
PALMETTE_DEVICE T* shared_values() {
  return reinterpret_cast<T*>(gpu::shared_bytes() + 16);
}

/// Calls use(row, right-hand side) for all of them, shared among the threads of the block.
template <class Use>
PALMETTE_DEVICE void over_rows(int rows, int count, Use&& use) {
  for (int k = gpu::thread(); k < rows * count; k += gpu::threads()) use(k / count, k % count);
}

/// The place of a row's value for a right-hand side of the tile.
template <class T>
PALMETTE_DEVICE long long place_of(const TriangleSweep<T>& a, Tile rhs, long long row, int j) {
  return row * a.at.stride + rhs.first + j;
}

/// Calls use(tile) for all right-hand sides.
template <class T, class Use>
PALMETTE_DEVICE void over_tiles(const TriangleSweep<T>& a, Use&& use) {
  for (int first = 0; first < a.at.stride; first += a.at.tile) {
    const int left = a.at.stride - first;
    use(Tile{first, left < a.at.tile ? left : a.at.tile});
  }
}

// ---- a block on the diagonal that is not inverted ----

/// The place of B's entry in its panel; the diagonal holds reciprocals.
template <class T>
PALMETTE_DEVICE T block_entry(const Supernode<T>& s, int row, int column) {
  return s.values[s.layout.place(row, column)];
}

/// values ← values scaled by the reciprocal diagonal of B.
template <class T>
PALMETTE_DEVICE void scale_by_diagonal(const Supernode<T>& s, bool adjoint, int count, T* values) {
  gpu::block_barrier();
  over_rows(s.width, count, [&](int row, int j) {
    T& value = values[row * count + j];
    value = multiply_add(conjugate_if(adjoint, block_entry(s, row, row)), value, zero<T>());
  });
  gpu::block_barrier();
}

/// t ← B⁻¹·t by substitution.
template <class T>
PALMETTE_DEVICE void solve_block(const Supernode<T>& s, int count, T* t) {
  for (int column = 0; column < s.width; ++column) {
    gpu::block_barrier();
    over_rows(s.width - column - 1, count, [&](int below, int j) {
      const int row = column + 1 + below;
      const T y = multiply_add(block_entry(s, column, column), t[column * count + j], zero<T>());
      t[row * count + j] = multiply_add(-block_entry(s, row, column), y, t[row * count + j]);
    });
  }
  scale_by_diagonal(s, false, count, t);
}

/// v ← B⁻ᵀ·v, or with the adjoint, by substitution.
template <class T>
PALMETTE_DEVICE void solve_block_transposed(const Supernode<T>& s, bool adjoint, int count, T* v) {
  for (int column = s.width - 1; column >= 0; --column) {
    gpu::block_barrier();
    over_rows(column, count, [&](int row, int j) {
      const T reciprocal = conjugate_if(adjoint, block_entry(s, column, column));
      const T x = multiply_add(reciprocal, v[column * count + j], zero<T>());
      const T entry = conjugate_if(adjoint, block_entry(s, column, row));
      v[row * count + j] = multiply_add(-entry, x, v[row * count + j]);
    });
  }
  scale_by_diagonal(s, adjoint, count, v);
}

// ---- forward ----

/// sum ← rows of a chunk times t, in all lanes of a row, for K right-hand sides. A lane has rows_per_load
/// rows.
template <class T, int K, Fault fault>
PALMETTE_DEVICE bool multiply_chunk(const Supernode<T>& s, int chunk, const T* t, int count,
                                    T (&sum)[rows_per_load<T>][K]) {
  constexpr int loaded = rows_per_load<T>;
  const int row_lanes = s.layout.height / loaded, row = gpu::lane() % row_lanes * loaded;
  const int stored = s.layout.stored_rows(chunk), columns = s.layout.columns(chunk);
  const T* const values = s.values + s.layout.begin(chunk);
  for (int v = 0; v < loaded; ++v)
    for (int k = 0; k < K; ++k) sum[v][k] = zero<T>();
  if constexpr (fault == Fault::divergent_shuffle)
    if (row >= stored) return false;  // these lanes do not come to the shuffles
  if (row < stored)
    for (int c = gpu::lane() / row_lanes; c < columns; c += gpu::warp_size / row_lanes) {
      const Loaded<T> m = gpu::load_together(reinterpret_cast<const Loaded<T>*>(values + c * stored + row));
      for (int v = 0; v < loaded; ++v)
        for (int k = 0; k < K; ++k) sum[v][k] = multiply_add(m.value[v], t[c * count + k], sum[v][k]);
    }
  for (int v = 0; v < loaded; ++v)
    for (int k = 0; k < K; ++k) sum[v][k] = lane_sum(sum[v][k], row_lanes, gpu::warp_size);
  return true;
}

/// Multiplies t by the panel. @param put  (row of the panel, right-hand side of the tile, value), called by
/// one lane
template <class T, int K, Fault fault, class Put>
PALMETTE_DEVICE void multiply_panel(const Supernode<T>& s, int count, const T* t, Put&& put) {
  constexpr int loaded = rows_per_load<T>;
  const int warps = gpu::threads() / gpu::warp_size;
  for (int chunk = gpu::thread() / gpu::warp_size; chunk < s.layout.num_chunks(); chunk += warps)
    for (int first = 0; first < count; first += K) {
      T sum[loaded][K];
      if (!multiply_chunk<T, K, fault>(s, chunk, t + first, count, sum)) continue;
      const int row = chunk * s.layout.height + gpu::lane() * loaded;
      if (gpu::lane() >= s.layout.height / loaded) continue;
      for (int v = 0; v < loaded; ++v)
        for (int k = 0; k < K; ++k)
          if (row + v < s.layout.rows) put(row + v, first + k, sum[v][k]);
    }
}

/// P·t, in t or behind it.
template <class T>
PALMETTE_DEVICE T* permuted_rows(const TriangleSweep<T>& a, const Supernode<T>& s, int count, T* t) {
  if (s.place == nullptr) return t;
  T* const moved = t + static_cast<long long>(a.at.widest) * count;
  over_rows(s.width, count, [&](int row, int j) { moved[row * count + j] = t[s.place[row] * count + j]; });
  gpu::block_barrier();
  return moved;
}

/// x of the supernode ← B⁻¹·P·t; the rows below are passed to lose(row below, right-hand side, value).
template <class T, int K, Fault fault, class Lose>
PALMETTE_DEVICE void eliminate(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs, T* t,
                               Lose&& lose) {
  T* const x = a.at.x;
  t = permuted_rows(a, s, rhs.count, t);
  if (s.is_guarded) {
    solve_block(s, rhs.count, t);
    over_rows(s.width, rhs.count,
              [&](int row, int j) { x[place_of(a, rhs, s.first + row, j)] = t[row * rhs.count + j]; });
  }
  multiply_panel<T, K, fault>(s, rhs.count, t, [&](int row, int j, T value) {
    if (row >= s.width)
      lose(row - s.width, j, value);
    else if (!s.is_guarded)
      x[place_of(a, rhs, s.first + row, j)] = value;
  });
  gpu::block_barrier();
}

/// t ← the supernode's right-hand sides less what its children subtract, child after child, so no sum depends
/// on who was first. What they subtract from rows further down is added to the supernode's own update.
template <class T, Fault fault>
PALMETTE_DEVICE void gather(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs, T* t) {
  T* const update = a.at.update;
  over_rows(s.width, rhs.count,
            [&](int row, int j) { t[row * rhs.count + j] = a.at.x[place_of(a, rhs, s.first + row, j)]; });
  over_rows(s.rows_below, rhs.count,
            [&](int row, int j) { update[place_of(a, rhs, s.low + row, j)] = zero<T>(); });
  gpu::block_barrier();
  for (int c = a.tree.child_ptr[s.number]; c < a.tree.child_ptr[s.number + 1]; ++c) {
    const long long from = a.tree.below[a.tree.child[c]];
    const int rows = static_cast<int>(a.tree.below[a.tree.child[c] + 1] - from);
    over_rows(rows, rhs.count, [&](int row, int j) {
      const T value = update[place_of(a, rhs, from + row, j)];
      const int to = a.tree.into[from + row];
      T& target = to < s.width ? t[to * rhs.count + j] : update[place_of(a, rhs, s.low + to - s.width, j)];
      target = target + value;
    });
    if constexpr (fault != Fault::missing_barrier) gpu::block_barrier();
  }
}

template <class T, int K, Fault fault>
PALMETTE_DEVICE void eliminate_by_tree(const TriangleSweep<T>& a, int number) {
  const Supernode<T> s = supernode(a, number);
  T* const t = shared_values<T>();
  over_tiles(a, [&](Tile rhs) {
    gather<T, fault>(a, s, rhs, t);
    eliminate<T, K, fault>(a, s, rhs, t, [&](int row, int j, T value) {
      T& update = a.at.update[place_of(a, rhs, s.low + row, j)];
      update = update - value;
    });
  });
}

// ---- backward ----

/// Row `row` of D⁻¹·x.
template <class T>
PALMETTE_DEVICE T scaled_row(const TriangleSweep<T>& a, Tile rhs, int row, int j) {
  const BlockDiagonalView<T>& d = a.diagonal;
  const T own = a.at.x[place_of(a, rhs, row, j)];
  if (d.diagonal == nullptr) return own;
  const T scaled = multiply_add(d.diagonal[row], own, zero<T>());
  if (!is_zero(d.below[row]))
    return multiply_add(conjugate_if(d.hermitian, d.below[row]), a.at.x[place_of(a, rhs, row + 1, j)],
                        scaled);
  if (row > 0 && !is_zero(d.below[row - 1]))
    return multiply_add(d.below[row - 1], a.at.x[place_of(a, rhs, row - 1, j)], scaled);
  return scaled;
}

/// Rows [first, first + staged_rows) of a panel's [z; −x below], in shared memory, for `count` right-hand
/// sides.
template <class T>
struct Staged {
  T* values;
  int first, count;
};

/// Zeros behind the last row.
template <class T>
PALMETTE_DEVICE void stage_rows(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs,
                                const Staged<T>& staged) {
  over_rows(staged_rows, rhs.count, [&](int k, int j) {
    const int row = staged.first + k;
    T value = zero<T>();
    if (row < s.width) {
      if (!s.is_guarded) value = scaled_row(a, rhs, s.first + row, j);
    } else if (row < s.layout.rows) {
      value = -a.at.x[place_of(a, rhs, a.tree.row[s.low + row - s.width], j)];
    }
    staged.values[k * rhs.count + j] = value;
  });
}

/// sum ← one column of the staged chunks, transposed, times the staged rows of K right-hand sides, in all
/// lanes of the column.
template <class T, int K>
PALMETTE_DEVICE void multiply_column(const Supernode<T>& s, bool adjoint, int column, const Staged<T>& staged,
                                     T (&sum)[K]) {
  constexpr int loaded = rows_per_load<T>;
  const int height = s.layout.height, row_lanes = height / loaded, row = gpu::lane() % row_lanes * loaded;
  const int chunks = s.layout.num_chunks(), end = (staged.first + staged_rows) / height;
  for (int k = 0; k < K; ++k) sum[k] = zero<T>();
  for (int chunk = staged.first / height; chunk < chunks && chunk < end; ++chunk) {
    const int stored = s.layout.stored_rows(chunk);
    if (row >= stored || column >= s.layout.columns(chunk)) continue;
    const T* const values = s.values + s.layout.begin(chunk) + column * stored + row;
    const Loaded<T> m = gpu::load_together(reinterpret_cast<const Loaded<T>*>(values));
    const T* const known = staged.values + (chunk * height - staged.first + row) * staged.count;
    for (int v = 0; v < loaded; ++v)
      for (int k = 0; k < K; ++k)
        sum[k] = multiply_add(conjugate_if(adjoint, m.value[v]), known[v * staged.count + k], sum[k]);
  }
  for (int k = 0; k < K; ++k) sum[k] = lane_sum(sum[k], 1, row_lanes);
}

/// out ← out + (the staged chunks)ᵀ times the staged rows. A warp has the same columns in every call.
template <class T, int K>
PALMETTE_DEVICE void multiply_staged(const Supernode<T>& s, bool adjoint, const Staged<T>& staged,
                                     T* out) {
  const int row_lanes = s.layout.height / rows_per_load<T>, columns = gpu::warp_size / row_lanes;
  const int warps = gpu::threads() / gpu::warp_size, lane_column = gpu::lane() / row_lanes;
  for (int c = gpu::thread() / gpu::warp_size * columns; c < s.width; c += warps * columns)
    for (int k = 0; k < staged.count; k += K) {
      T sum[K];
      const Staged<T> here{staged.values + k, staged.first, staged.count};
      multiply_column<T, K>(s, adjoint, c + lane_column, here, sum);
      if (gpu::lane() % row_lanes != 0 || c + lane_column >= s.width) continue;
      for (int j = 0; j < K; ++j) {
        T& target = out[(c + lane_column) * staged.count + k + j];
        target = target + sum[j];
      }
    }
}

/// out ← B⁻ᵀ·(out + z).
template <class T>
PALMETTE_DEVICE void substitute_guarded(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs, T* out) {
  over_rows(s.width, rhs.count, [&](int row, int j) {
    out[row * rhs.count + j] = out[row * rhs.count + j] + scaled_row(a, rhs, s.first + row, j);
  });
  solve_block_transposed(s, a.at.adjoint, rhs.count, out);
}

template <class T, int K>
PALMETTE_DEVICE void substitute(const TriangleSweep<T>& a, int number) {
  const Supernode<T> s = supernode(a, number);
  T* const out = shared_values<T>();
  over_tiles(a, [&](Tile rhs) {
    T* const staged_values = out + static_cast<long long>(a.at.widest) * rhs.count;
    over_rows(s.width, rhs.count, [&](int row, int j) { out[row * rhs.count + j] = zero<T>(); });
    for (int first = 0; first < s.layout.rows; first += staged_rows) {
      const Staged<T> staged{staged_values, first, rhs.count};
      stage_rows(a, s, rhs, staged);
      gpu::block_barrier();
      multiply_staged<T, K>(s, a.at.adjoint, staged, out);
      gpu::block_barrier();
    }
    if (s.is_guarded) substitute_guarded(a, s, rhs, out);
    over_rows(s.width, rhs.count, [&](int row, int j) {
      const int to = s.place != nullptr ? s.place[row] : row;
      a.at.x[place_of(a, rhs, s.first + to, j)] = out[row * rhs.count + j];
    });
    gpu::block_barrier();
  });
}

// ---- waiting ----

/// The block's next task, the same in all of its threads; they come to a barrier before the next call.
/// @param taken  in shared memory
PALMETTE_DEVICE int take_ticket(int* taken, int* ticket) {
  if (gpu::thread() == 0) *taken = gpu::add_relaxed<gpu::Scope::device>(ticket, 1);
  gpu::block_barrier();
  return *taken;
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

/// The block goes on when all of these supernodes are done.
template <class T, Fault fault>
PALMETTE_DEVICE void wait_for(const TriangleSweep<T>& a, const int* supernodes, int count) {
  for (int k = gpu::thread(); k < count; k += gpu::threads()) {
    const int* const done = &a.at.done[supernodes[k]];
    if constexpr (fault == Fault::no_acquire)
      while (gpu::load_relaxed<gpu::Scope::device>(done) != a.at.sweep) gpu::pause();
    else
      gpu::wait_equal<gpu::Scope::device>(done, a.at.sweep);
  }
  gpu::block_barrier();
}

/// All threads of the block have come to a barrier since their last store.
template <class T, Fault fault>
PALMETTE_DEVICE void publish(const TriangleSweep<T>& a, int s) {
  if (gpu::thread() != 0) return;
  if constexpr (fault == Fault::relaxed_flag)
    gpu::store_relaxed<gpu::Scope::device>(&a.at.done[s], a.at.sweep);
  else if constexpr (fault == Fault::narrow_scope)
    gpu::store_release<gpu::Scope::block>(&a.at.done[s], a.at.sweep);
  else
    gpu::store_release<gpu::Scope::device>(&a.at.done[s], a.at.sweep);
}

}  // namespace palmette::device
