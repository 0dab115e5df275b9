// Sweeps through a supernodal factor, one source for nvcc, hipcc and the emulator. Forward, L·y = b: a block
// takes a supernode, adds what its children subtract from its rows, and multiplies by the panel M =
// [B⁻¹; C·B⁻¹]: y = B⁻¹·P·t, and C·y is what the rows below lose. Backward, Lᵀ·x = z: x = Pᵀ·Mᵀ·[z; −x],
// where the second part is x of the rows below.
//
// What a solve takes is the latency of memory along the longest path of the tree, not bandwidth. So what does
// not depend on other tasks is fetched before a block waits (the panel is then on its way to the level-2
// cache), each flag has a thread of its own, sums over children are lists by rows without a barrier between
// children, and right-hand sides are dealt out in groups that know nothing of each other.
//
// Rows of right-hand sides lie together. A warp multiplies by a whole chunk of the panel, or by all chunks of
// a few columns, and adds its lanes' sums in a fixed tree, so the bits depend neither on the number of blocks
// nor on that of threads or right-hand sides.
//
// Large panels are shared among blocks: a task is a supernode, or a part of one. Forward, a part has some of
// the chunks, and gathers t for itself; backward, some of the columns. Small supernodes, whose time is
// latency, are tasks of a warp, so a block has several under way: forward before all others, backward after
// them.
//
// Liveness: blocks and warps take tasks by tickets in a topological order, so they wait only for tasks that
// were taken before, and the one that was taken first waits for none. One resident block is enough.
#pragma once

#include "palmette/device/numbers.cuh"
#include "palmette/device/teams.cuh"

namespace palmette::device {

/// Right-hand sides that pass through shared memory together.
struct Tile {
  int first, count;
};

/// A supernode, or a part of one, as its block sees it.
template <class T>
struct Supernode {
  int number, part, parts, first, width, rows_below;
  long long low;  ///< first of its rows below
  bool is_guarded;
  const int* place;  ///< row k of P·t is row place[k] of t; null: the same row
  PanelLayout layout;
  const T* values;

  /// The share of this part of `count` things: [begin(count), end(count)). A block that is not inverted is
  /// left to the first part.
  PALMETTE_DEVICE int begin(int count) const {
    if (is_guarded) return part == 0 ? 0 : count;
    return static_cast<int>(static_cast<long long>(count) * part / parts);
  }
  PALMETTE_DEVICE int end(int count) const {
    return is_guarded ? count : static_cast<int>(static_cast<long long>(count) * (part + 1) / parts);
  }
};

template <class T>
PALMETTE_DEVICE Supernode<T> supernode(const TriangleSweep<T>& a, int task) {
  const int s = a.tree.supernode_of[task], first_task = a.tree.task_ptr[s];
  const long long low = a.tree.below[s];
  const int first = a.tree.begin[s], width = a.tree.begin[s + 1] - first;
  const int rows_below = static_cast<int>(a.tree.below[s + 1] - low);
  const PanelLayout layout{width, width + rows_below, 1 << a.panels.log_height[s], rows_per_load<T>};
  const unsigned char form = a.panels.form[s];
  const int* const place = (form & permuted) != 0 ? a.panels.place + first : nullptr;
  return {s,   task - first_task, a.tree.task_ptr[s + 1] - first_task, first, width, rows_below, low,
          (form & guarded) != 0, place, layout, a.panels.values + a.panels.offset[s]};
}

/// Calls use(row, right-hand side) for all of them, shared among the threads of the team.
template <class Team = BlockTeam, class Use>
PALMETTE_DEVICE void over_rows(int rows, int count, Use&& use) {
  PALMETTE_NOT_UNROLLED
  for (int k = Team::thread(); k < rows * count; k += Team::threads()) use(k / count, k % count);
}

/// The place of a row's value for a right-hand side of the tile.
template <class T>
PALMETTE_DEVICE long long place_of(const TriangleSweep<T>& a, Tile rhs, long long row, int j) {
  return row * a.at.stride + rhs.first + j;
}

/// Calls use(tile) for all right-hand sides.
template <class T, class Use>
PALMETTE_DEVICE void over_tiles(const TriangleSweep<T>& a, Use&& use) {
  const int tile = a.at.tile;
  PALMETTE_NOT_UNROLLED
  for (int first = 0; first < a.at.stride; first += tile) {
    const int left = a.at.stride - first;
    use(Tile{first, left < tile ? left : tile});
  }
}

// ---- a block on the diagonal that is not inverted ----

/// The place of B's entry in its panel; the diagonal holds reciprocals.
template <class T>
PALMETTE_DEVICE T block_entry(const Supernode<T>& s, int row, int column) {
  return s.values[s.layout.place(row, column)];
}

/// values ← values scaled by the reciprocal diagonal of B.
template <class T, class Team = BlockTeam>
PALMETTE_DEVICE void scale_by_diagonal(const Supernode<T>& s, bool adjoint, int count, T* values) {
  Team::barrier();
  over_rows<Team>(s.width, count, [&](int row, int j) {
    T& value = values[row * count + j];
    value = multiply_add(conjugate_if(adjoint, block_entry(s, row, row)), value, zero<T>());
  });
  Team::barrier();
}

/// t ← B⁻¹·t by substitution.
template <class T, class Team = BlockTeam>
PALMETTE_DEVICE void solve_block(const Supernode<T>& s, int count, T* t) {
  for (int column = 0; column < s.width; ++column) {
    Team::barrier();
    over_rows<Team>(s.width - column - 1, count, [&](int below, int j) {
      const int row = column + 1 + below;
      const T y = multiply_add(block_entry(s, column, column), t[column * count + j], zero<T>());
      t[row * count + j] = multiply_add(-block_entry(s, row, column), y, t[row * count + j]);
    });
  }
  scale_by_diagonal<T, Team>(s, false, count, t);
}

/// v ← B⁻ᵀ·v, or with the adjoint, by substitution.
template <class T, class Team = BlockTeam>
PALMETTE_DEVICE void solve_block_transposed(const Supernode<T>& s, bool adjoint, int count, T* v) {
  for (int column = s.width - 1; column >= 0; --column) {
    Team::barrier();
    over_rows<Team>(column, count, [&](int row, int j) {
      const T reciprocal = conjugate_if(adjoint, block_entry(s, column, column));
      const T x = multiply_add(reciprocal, v[column * count + j], zero<T>());
      const T entry = conjugate_if(adjoint, block_entry(s, column, row));
      v[row * count + j] = multiply_add(-entry, x, v[row * count + j]);
    });
  }
  scale_by_diagonal<T, Team>(s, adjoint, count, v);
}

// ---- forward ----

/// Loads of a panel that a lane begins before it uses the first: as many as there are registers for.
template <class T, int K>
constexpr int loads_ahead = K > 1 ? 4 : sizeof(T) < 16 ? 8 : 6;

template <class T>
PALMETTE_DEVICE Loaded<T> load_rows(const T* values) {
  return gpu::load_together(reinterpret_cast<const Loaded<T>*>(values));
}

/// sum ← sum + m·t, t being one row for K right-hand sides.
template <class T, int K>
PALMETTE_DEVICE void add_products(const Loaded<T>& m, const T* t, T (&sum)[rows_per_load<T>][K]) {
  for (int v = 0; v < rows_per_load<T>; ++v)
    for (int k = 0; k < K; ++k) sum[v][k] = multiply_add(m.value[v], t[k], sum[v][k]);
}

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
  const int step = gpu::warp_size / row_lanes;
  for (int c = row < stored ? gpu::lane() / row_lanes : columns; c < columns; c += loads_ahead<T, K> * step) {
    Loaded<T> m[loads_ahead<T, K>];
    for (int a = 0; a < loads_ahead<T, K>; ++a)
      if (c + a * step < columns) m[a] = load_rows(values + (c + a * step) * stored + row);
    for (int a = 0; a < loads_ahead<T, K>; ++a)
      if (c + a * step < columns) add_products<T, K>(m[a], t + (c + a * step) * count, sum);
  }
  lane_sums(sum, row_lanes, gpu::warp_size);
  return true;
}

/// Multiplies t by this part's chunks of the panel.
/// @param before  (row of the panel, right-hand side of the tile) → what put is given with it: all loads of a
///   lane are under way together, with K = 1 while the chunk is multiplied
/// @param put  (row, right-hand side, what `before` gave, value), called by one lane
template <class T, int K, Fault fault, class Team = BlockTeam, class Before, class Put>
PALMETTE_DEVICE void multiply_panel(const Supernode<T>& s, int count, const T* t, Before&& before,
                                    Put&& put) {
  constexpr int loaded = rows_per_load<T>;
  const int warps = Team::threads() / gpu::warp_size;
  const int begin = s.begin(s.layout.num_chunks()), end = s.end(s.layout.num_chunks());
  for (int chunk = begin + Team::thread() / gpu::warp_size; chunk < end; chunk += warps)
    PALMETTE_NOT_UNROLLED
    for (int first = 0; first < count; first += K) {
      const int row = chunk * s.layout.height + gpu::lane() * loaded;
      // of this lane: the first ones have a row each, and the sums of it
      const int rows = gpu::lane() < s.layout.height / loaded ? s.layout.rows - row : 0;
      T sum[loaded][K], old[loaded][K];
      const auto load_old = [&] {
        for (int v = 0; v < loaded; ++v)
          for (int k = 0; k < K; ++k)
            if (v < rows) old[v][k] = before(row + v, first + k);
      };
      if constexpr (K == 1) load_old();
      if (!multiply_chunk<T, K, fault>(s, chunk, t + first, count, sum)) continue;
      if constexpr (K > 1) load_old();  // before, there are no registers for them
      for (int v = 0; v < loaded; ++v)
        for (int k = 0; k < K; ++k)
          if (v < rows) put(row + v, first + k, old[v][k], sum[v][k]);
    }
}

/// P·t, in t or behind it.
template <class T, class Team = BlockTeam>
PALMETTE_DEVICE T* permuted_rows(const TriangleSweep<T>& a, const Supernode<T>& s, int count, T* t) {
  if (s.place == nullptr) return t;
  T* const moved = t + static_cast<long long>(Team::widest(a)) * count;
  over_rows<Team>(s.width, count,
                  [&](int row, int j) { moved[row * count + j] = t[s.place[row] * count + j]; });
  Team::barrier();
  return moved;
}

/// x of the supernode ← B⁻¹·P·t. A row below loses its value by below.lose(row, right-hand side, old, value),
/// where `old` is what below.before(row, right-hand side) gave.
template <class T, int K, Fault fault, class Team = BlockTeam, class Below>
PALMETTE_DEVICE void eliminate(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs, T* t,
                               const Below& below) {
  T* const x = a.at.x;
  t = permuted_rows<T, Team>(a, s, rhs.count, t);
  if (s.is_guarded) {
    solve_block<T, Team>(s, rhs.count, t);
    over_rows<Team>(s.width, rhs.count,
              [&](int row, int j) { x[place_of(a, rhs, s.first + row, j)] = t[row * rhs.count + j]; });
  }
  const auto old = [&](int row, int j) {
    return row >= s.width ? below.before(row - s.width, j) : zero<T>();
  };
  multiply_panel<T, K, fault, Team>(s, rhs.count, t, old, [&](int row, int j, T had, T value) {
    if (row >= s.width)
      below.lose(row - s.width, j, had, value);
    else if (!s.is_guarded)
      x[place_of(a, rhs, s.first + row, j)] = value;
  });
  Team::barrier();
}

/// `value` and what children add to a row, child after child, so no sum depends on who was first.
/// @param row  its number in source_ptr
template <class T>
PALMETTE_DEVICE T add_sources(const TriangleSweep<T>& a, Tile rhs, long long row, int j, T value) {
  const int end = a.tree.source_ptr[row + 1];
  for (int k = a.tree.source_ptr[row]; k < end; ++k)
    value = value + a.at.update[place_of(a, rhs, a.tree.source[k], j)];
  return value;
}

/// t ← the supernode's right-hand sides less what its children subtract. What they subtract from rows of this
/// part further down goes to the supernode's own update.
template <class T, Fault fault, class Team = BlockTeam>
PALMETTE_DEVICE void gather(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs, T* t) {
  const int chunks = s.layout.num_chunks(), end = s.end(chunks) * s.layout.height;
  const int begin = s.begin(chunks) * s.layout.height < s.width ? s.width : s.begin(chunks) * s.layout.height;
  const int last = end < s.layout.rows ? end : s.layout.rows;
  const long long number = s.first + s.low;
  over_rows<Team>(s.width, rhs.count, [&](int row, int j) {
    const T own = a.at.in[place_of(a, rhs, s.first + row, j)];
    t[row * rhs.count + j] = add_sources(a, rhs, number + row, j, own);
  });
  over_rows<Team>(last > begin ? last - begin : 0, rhs.count, [&](int k, int j) {
    const int row = begin + k;
    a.at.update[place_of(a, rhs, s.low + row - s.width, j)] =
        add_sources(a, rhs, number + row, j, zero<T>());
  });
  if constexpr (fault != Fault::missing_barrier) Team::barrier();
}

/// What rows below lose goes to the supernode's update, where `gather` has been.
template <class T>
struct OwnUpdate {
  const TriangleSweep<T>& a;
  const Supernode<T>& s;
  Tile rhs;

  PALMETTE_DEVICE long long place(int row, int j) const { return place_of(a, rhs, s.low + row, j); }
  PALMETTE_DEVICE T before(int row, int j) const { return a.at.update[place(row, j)]; }
  PALMETTE_DEVICE void lose(int row, int j, T gathered, T value) const {
    a.at.update[place(row, j)] = gathered - value;
  }
};

template <class T, int K, Fault fault, class Team = BlockTeam>
PALMETTE_DEVICE void eliminate_by_tree(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs) {
  T* const t = Team::template shared<T>();
  if (s.is_guarded && s.part > 0) return;
  gather<T, fault, Team>(a, s, rhs, t);
  eliminate<T, K, fault, Team>(a, s, rhs, t, OwnUpdate<T>{a, s, rhs});
}

// ---- backward ----

/// Row `row` of D⁻¹·x.
template <class T>
PALMETTE_DEVICE T scaled_row(const TriangleSweep<T>& a, Tile rhs, int row, int j) {
  const BlockDiagonalView<T>& d = a.diagonal;
  const T own = a.at.in[place_of(a, rhs, row, j)];
  if (d.diagonal == nullptr) return own;
  const T scaled = multiply_add(d.diagonal[row], own, zero<T>());
  if (!is_zero(d.below[row]))
    return multiply_add(conjugate_if(d.hermitian, d.below[row]), a.at.in[place_of(a, rhs, row + 1, j)],
                        scaled);
  if (row > 0 && !is_zero(d.below[row - 1]))
    return multiply_add(d.below[row - 1], a.at.in[place_of(a, rhs, row - 1, j)], scaled);
  return scaled;
}

/// Rows [first, first + rows) of a panel's [z; −x below], in shared memory, for `count` right-hand sides.
template <class T>
struct Staged {
  T* values;
  int first, rows, count;
};

/// One of the partial sums of a column.
struct ColumnSum {
  int which, column;
};

/// Loads of x that a thread begins before it stores the first in shared memory.
template <class T>
constexpr int rows_ahead = sizeof(T) < 16 ? 4 : 2;

/// x of the rows from `begin` on, all of them below: each load waits for that of the row's number.
template <class T, class Team>
PALMETTE_DEVICE void stage_rows_below(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs,
                                      const Staged<T>& staged, int begin) {
  const int last = s.layout.rows, staged_end = staged.first + staged.rows;
  const int count = ((last < staged_end ? last : staged_end) - begin) * rhs.count, threads = Team::threads();
  const int* const row_of = a.tree.row + (s.low + begin - s.width);
  T* const to = staged.values + (begin - staged.first) * rhs.count;
  for (int first = Team::thread(); first < count; first += rows_ahead<T> * threads) {
    T x[rows_ahead<T>];
    for (int q = 0; q < rows_ahead<T>; ++q)
      if (const int k = first + q * threads; k < count)
        x[q] = a.at.x[place_of(a, rhs, row_of[k / rhs.count], k % rhs.count)];
    for (int q = 0; q < rows_ahead<T>; ++q)
      if (const int k = first + q * threads; k < count) to[k] = -x[q];
  }
}

/// Zeros behind the last row, up to the end of its chunk.
template <class T, class Team = BlockTeam>
PALMETTE_DEVICE void stage_rows(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs,
                                const Staged<T>& staged) {
  const int staged_end = staged.first + staged.rows, last = s.layout.rows;
  const int end = last < staged_end ? last : staged_end;
  const int own = s.width < end ? s.width : end, below = own > staged.first ? own : staged.first;
  stage_rows_below<T, Team>(a, s, rhs, staged, below);
  over_rows<Team>(below - staged.first, rhs.count, [&](int k, int j) {
    staged.values[k * rhs.count + j] =
        s.is_guarded ? zero<T>() : scaled_row(a, rhs, s.first + staged.first + k, j);
  });
  const int whole = s.layout.num_chunks() * s.layout.height;
  over_rows<Team>((whole < staged_end ? whole : staged_end) - end, rhs.count, [&](int k, int j) {
    staged.values[(end - staged.first + k) * rhs.count + j] = zero<T>();
  });
}

/// sum ← sum + mᵀ·rows, where `known` holds the rows of a load for `count` right-hand sides, the first K of
/// which are meant.
template <class T, int K>
PALMETTE_DEVICE void add_transposed(bool adjoint, const Loaded<T>& m, const T* known, int count,
                                    T (&sum)[K]) {
  for (int v = 0; v < rows_per_load<T>; ++v)
    for (int k = 0; k < K; ++k)
      sum[k] = multiply_add(conjugate_if(adjoint, m.value[v]), known[v * count + k], sum[k]);
}

/// sum ← one column of the staged chunks number `which`, `which` + column_sums, …, transposed, times the
/// staged rows of K right-hand sides, in all lanes of the column.
template <class T, int K>
PALMETTE_DEVICE void multiply_column(const Supernode<T>& s, bool adjoint, ColumnSum of,
                                     const Staged<T>& staged, T (&sum)[K]) {
  const int height = s.layout.height, row_lanes = height / rows_per_load<T>;
  const int row = gpu::lane() % row_lanes * rows_per_load<T>, first = staged.first / height;
  const int staged_end = (staged.first + staged.rows) / height, chunks = s.layout.num_chunks();
  int end = chunks < staged_end ? chunks : staged_end;
  const auto load = [&](int chunk) {
    return load_rows(s.values + s.layout.begin(chunk) + of.column * s.layout.stored_rows(chunk) + row);
  };
  const auto add = [&](int chunk, const Loaded<T>& m) {
    const T* const known = staged.values + (chunk * height - staged.first + row) * staged.count;
    add_transposed<T, K>(adjoint, m, known, staged.count, sum);
  };
  for (int k = 0; k < K; ++k) sum[k] = zero<T>();
  int chunk = first + of.which;
  while (chunk < of.column / height) chunk += column_sums;  // those above do not have the column
  if (of.column >= s.width) chunk = end;
  // Of the last chunk some lanes may have no rows.
  if (end == chunks && row >= s.layout.stored_rows(chunks - 1)) --end;
  for (; chunk < end; chunk += loads_ahead<T, K> * column_sums) {
    Loaded<T> m[loads_ahead<T, K>];
    for (int a = 0; a < loads_ahead<T, K>; ++a)
      if (chunk + a * column_sums < end) m[a] = load(chunk + a * column_sums);
    for (int a = 0; a < loads_ahead<T, K>; ++a)
      if (chunk + a * column_sums < end) add(chunk + a * column_sums, m[a]);
  }
  lane_sums(sum, 1, row_lanes);
}

/// Columns of this part.
template <class T>
struct PartColumns {
  int first, count, together;  ///< `together` of them are a warp's at a time
};
template <class T>
PALMETTE_DEVICE PartColumns<T> columns_of_part(const Supernode<T>& s) {
  const int together = gpu::warp_size / (s.layout.height / rows_per_load<T>);
  const int groups = (s.width + together - 1) / together;
  const int first = s.begin(groups) * together, end = s.end(groups) * together;
  return {first, (end < s.width ? end : s.width) - first, together};
}

/// out ← out + (the staged chunks)ᵀ times the staged rows, for the columns of this part and each of their
/// partial sums. A sum has the same warp in every call.
template <class T, int K, class Team = BlockTeam>
PALMETTE_DEVICE void multiply_staged(const Supernode<T>& s, bool adjoint, const Staged<T>& staged,
                                     T* out) {
  const PartColumns<T> mine = columns_of_part(s);
  const int warps = Team::threads() / gpu::warp_size, row_lanes = s.layout.height / rows_per_load<T>;
  const int units = (mine.count + mine.together - 1) / mine.together * column_sums;
  for (int unit = Team::thread() / gpu::warp_size; unit < units; unit += warps) {
    const int own = unit / column_sums * mine.together + gpu::lane() / row_lanes;
    for (int k = 0; k < staged.count; k += K) {
      T sum[K];
      const Staged<T> here{staged.values + k, staged.first, staged.rows, staged.count};
      multiply_column<T, K>(s, adjoint, {unit % column_sums, mine.first + own}, here, sum);
      if (gpu::lane() % row_lanes != 0 || own >= mine.count) continue;
      for (int j = 0; j < K; ++j) {
        T& target = out[(own * column_sums + unit % column_sums) * staged.count + k + j];
        target = target + sum[j];
      }
    }
  }
}

/// Columns whose loads a lane of multiply_small begins before it uses the first.
template <class T>
constexpr int loads_of_small = sizeof(T) < 16 ? 4 : 2;

/// The same for a small supernode, whose chunks are all staged and no more than the sums of a column. A sum
/// is the product with one load, so a warp begins the loads of several before it uses the first.
template <class T, int K>
PALMETTE_DEVICE void multiply_small(const Supernode<T>& s, bool adjoint, const Staged<T>& staged, T* out) {
  const int row_lanes = s.layout.height / rows_per_load<T>, together = gpu::warp_size / row_lanes;
  const int row = gpu::lane() % row_lanes * rows_per_load<T>, lane_column = gpu::lane() / row_lanes;
  for (int chunk = 0; chunk < s.layout.num_chunks(); ++chunk) {
    const int stored = s.layout.stored_rows(chunk), columns = s.layout.columns(chunk);
    const T* const values = s.values + s.layout.begin(chunk) + row;
    const T* const known = staged.values + (chunk * s.layout.height + row) * staged.count;
    const int end = row < stored ? columns : 0;  // of the columns that this lane loads
    for (int first = lane_column; first - lane_column < columns; first += loads_of_small<T> * together) {
      Loaded<T> m[loads_of_small<T>];
      for (int a = 0; a < loads_of_small<T>; ++a)
        if (first + a * together < end) m[a] = load_rows(values + (first + a * together) * stored);
      for (int a = 0; a < loads_of_small<T>; ++a) {
        const int column = first + a * together;
        for (int k = 0; k < staged.count; k += K) {
          T sum[K];
          for (int j = 0; j < K; ++j) sum[j] = zero<T>();
          if (column < end) add_transposed<T, K>(adjoint, m[a], known + k, staged.count, sum);
          lane_sums(sum, 1, row_lanes);
          if (row != 0 || column >= columns) continue;
          for (int j = 0; j < K; ++j) out[(column * column_sums + chunk) * staged.count + k + j] = sum[j];
        }
      }
    }
  }
}

/// out ← B⁻ᵀ·(out + z).
template <class T, class Team = BlockTeam>
PALMETTE_DEVICE void substitute_guarded(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs, T* out) {
  over_rows<Team>(s.width, rhs.count, [&](int row, int j) {
    out[row * rhs.count + j] = out[row * rhs.count + j] + scaled_row(a, rhs, s.first + row, j);
  });
  solve_block_transposed<T, Team>(s, a.at.adjoint, rhs.count, out);
}

/// x of a block that is not inverted ← B⁻ᵀ·(z + its sums). The sums pass through x, since they lie between
/// others in shared memory. @param sum_of  (column, right-hand side) → sum
template <class T, class Team = BlockTeam, class SumOf>
PALMETTE_DEVICE void write_guarded(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs, T* out,
                                   SumOf&& sum_of) {
  T* const x = a.at.x;
  over_rows<Team>(s.width, rhs.count,
            [&](int row, int j) { x[place_of(a, rhs, s.first + row, j)] = sum_of(row, j); });
  Team::barrier();
  over_rows<Team>(s.width, rhs.count,
            [&](int row, int j) { out[row * rhs.count + j] = x[place_of(a, rhs, s.first + row, j)]; });
  Team::barrier();
  substitute_guarded<T, Team>(a, s, rhs, out);
  over_rows<Team>(s.width, rhs.count, [&](int row, int j) {
    const int to = s.place != nullptr ? s.place[row] : row;
    x[place_of(a, rhs, s.first + to, j)] = out[row * rhs.count + j];
  });
}

/// x of the part's columns ← their sums.
template <class T, class Team = BlockTeam>
PALMETTE_DEVICE void write_columns(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs, T* sums) {
  const PartColumns<T> mine = columns_of_part(s);
  const auto sum_of = [&](int column, int j) {
    const T* const part = sums + column * column_sums * rhs.count + j;
    return (part[0] + part[rhs.count]) + (part[2 * rhs.count] + part[3 * rhs.count]);
  };
  if (s.is_guarded) {
    write_guarded<T, Team>(a, s, rhs, sums, sum_of);
  } else {
    over_rows<Team>(mine.count, rhs.count, [&](int column, int j) {
      const int own = mine.first + column, to = s.place != nullptr ? s.place[own] : own;
      a.at.x[place_of(a, rhs, s.first + to, j)] = sum_of(column, j);
    });
  }
  Team::barrier();
}

template <class T, int K, class Team = BlockTeam>
PALMETTE_DEVICE void substitute(const TriangleSweep<T>& a, const Supernode<T>& s, Tile rhs) {
  const PartColumns<T> mine = columns_of_part(s);
  if (mine.count <= 0) return;
  T* const sums = Team::template shared<T>();
  T* const staged_values = sums + static_cast<long long>(column_sums) * Team::widest(a) * rhs.count;
  const int rows = Team::template rows_staged<T>(rhs.count);
  over_rows<Team>(mine.count * column_sums, rhs.count,
                  [&](int k, int j) { sums[k * rhs.count + j] = zero<T>(); });
  for (int first = 0; first < s.layout.rows; first += rows) {
    const Staged<T> staged{staged_values, first, rows, rhs.count};
    stage_rows<T, Team>(a, s, rhs, staged);
    Team::barrier();
    if constexpr (Team::is_warp)
      multiply_small<T, K>(s, a.at.adjoint, staged, sums);
    else
      multiply_staged<T, K, Team>(s, a.at.adjoint, staged, sums);
    Team::barrier();
  }
  write_columns<T, Team>(a, s, rhs, sums);
}

}  // namespace palmette::device
