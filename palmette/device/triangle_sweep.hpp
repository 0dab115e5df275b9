// What the kernels of triangle_sweep.cuh are given: the factor, its tree and the vectors of one sweep, all in
// device memory.
#pragma once

#include <algorithm>

#include "palmette/device/annotations.hpp"

namespace palmette::device {

/// Mistakes that tests plant in a kernel, to show that the instruments find them; `none` is the kernel
/// itself.
enum class Fault {
  none,
  relaxed_flag,
  narrow_scope,
  no_tickets,
  divergent_shuffle,
  missing_barrier,
  no_acquire,
  store_outside,
  unequal_barriers,
  early_reuse,
  warps_in_step,
  short_message,
  wrong_size,
  no_network_wait,
  no_quiet
};

/// The supernodes of a factor, and their tree. Children have smaller numbers than their parents. Large panels
/// are shared among several tasks: forward, each has some chunks of rows; backward, some columns.
struct Tree {
  int num_supernodes;
  int num_tasks;
  const int* begin;         ///< num_supernodes + 1: first column
  const int* parent;        ///< −1 at roots
  const long long* below;   ///< num_supernodes + 1: first row below, in `row`
  const int* row;           ///< rows below
  /// Panel after panel, for each row of [own columns; rows below]: the rows below of children that are this
  /// row, child after child. Row r of supernode s is number begin[s] + below[s] + r.
  const int* source_ptr;
  const int* source;
  const int* child_task_ptr; ///< num_supernodes + 1
  const int* child_task;     ///< the tasks of a supernode's children
  const int* target_ptr;    ///< num_supernodes + 1
  const int* target;        ///< the supernodes to which the rows below belong, ascending
  const int* task_ptr;      ///< num_supernodes + 1: first task of a supernode
  const int* supernode_of;  ///< num_tasks
};

/// Bits of a panel's form: B is not inverted; pivoting permuted the rows of t.
enum PanelForm : unsigned char { guarded = 1, permuted = 2 };

/// The panels of a triangle, as PanelLayout says.
template <class T>
struct Panels {
  const T* values;
  const long long* offset;           ///< num_supernodes: first entry of a panel
  const unsigned char* form;         ///< num_supernodes: bits of PanelForm
  const unsigned char* log_height;   ///< num_supernodes: of a chunk
  const int* place;                  ///< n: row k of P·t is row place[k] of t, within each supernode
};

/// D⁻¹ of LDLᵀ, blocks of one and two rows; null pointers: none.
template <class T>
struct BlockDiagonalView {
  const T* diagonal;
  const T* below;   ///< not zero where a block of two rows begins
  bool hermitian;
};

/// The vectors and flags of one sweep.
template <class T>
struct SweepVectors {
  const T* in;      ///< n × stride, row after row: the right-hand side
  T* x;             ///< n × stride: the solution
  T* update;        ///< rows below × stride: what a supernode subtracts from the rows of its ancestors
  T* sum;           ///< n × stride, of synchronization-free sweeps: what rows lose; 0 at the start
  /// Of synchronization-free sweeps, supernode after supernode for each group of right-hand sides: tasks that
  /// it waits for.
  int* missing;
  int* done;        ///< task after task for each group: number of the sweep that finished it
  const int* order; ///< tasks as they are taken: each after those that it waits for
  int* ticket;      ///< two, 0 at the start: of blocks, of warps
  int num_small;    ///< tasks of warps: in `order` the first, backward the last
  int sweep;        ///< its number
  int stride;       ///< right-hand sides, as padded
  int tile;         ///< of sweeps over several devices: right-hand sides in shared memory together
  int widest;       ///< columns of the widest supernode
  int first;        ///< of level sweeps: tasks order[first … end)
  int end;
  bool adjoint;     ///< backward sweeps conjugate the panels
};

/// The only argument of the kernels.
template <class T>
struct TriangleSweep {
  Tree tree;
  Panels<T> panels;
  BlockDiagonalView<T> diagonal;
  SweepVectors<T> at;
};

/// A sparse triangle by rows, in slices as RowSlices says, to be solved by a warp for each slice.
template <class T>
struct RowSweep {
  int num_slices;
  const long long* begin;  ///< num_slices + 1: first entry
  const int* first;        ///< num_slices + 1: first row, in `row`
  const int* row;          ///< n
  const int* column;       ///< of entries beside the diagonal; −1: none
  const T* value;
  const T* diagonal;       ///< or null: ones
  T* x;                    ///< n × stride: the right-hand side, then the solution
  int* done;
  int* ticket;
  int sweep;
  int stride;
};

/// Rows of `count` right-hand sides that the backward sweep keeps in shared memory: as many as 8 KB hold, at
/// least 128; a multiple of every height.
template <class T>
PALMETTE_HOST_DEVICE constexpr int staged_rows(int count) {
  constexpr int tallest = 64, fewest = 128;
  const int held = 8 * 1024 / static_cast<int>(sizeof(T)) / count / tallest * tallest;
  return held > fewest ? held : fewest;
}
/// Partial sums of a column in the backward sweep: sum j is that of chunks j, j + column_sums, …, so that
/// several warps work for one column, and the bits do not depend on which.
inline constexpr int column_sums = 4;

/// Small supernodes, tasks of a warp: at most so many columns, and rows of the panel.
inline constexpr int small_width = 16;
inline constexpr int small_rows = 64;
/// Values in shared memory of a warp that solves for K right-hand sides at a time.
template <int K>
inline constexpr int values_of_small = (column_sums * small_width + small_rows) * K;
/// Shared memory that every device gives a block without being asked for more.
inline constexpr int most_shared_bytes = 48 * 1024;
/// Warps of a block that take tasks of warps.
template <class T, int K>
inline constexpr int warps_of_small =
    std::min<int>(8, (most_shared_bytes - 16) / (sizeof(T) * values_of_small<K>));

/// Bytes of shared memory that a sweep needs for so many right-hand sides at a time.
template <class T>
int shared_bytes_of_sweep(int widest, int tile) {
  return 16 + static_cast<int>(sizeof(T)) * (column_sums * widest + staged_rows<T>(tile)) * tile;
}
/// The same for the tasks of warps.
template <class T, int K>
inline constexpr int shared_bytes_of_small =
    16 + warps_of_small<T, K> * static_cast<int>(sizeof(T)) * values_of_small<K>;

}  // namespace palmette::device
