// Inside `solve`: the products of Takahashi's recurrence for some columns of a supernode, wherever panels and
// known entries lie, and the order in which threads compute them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "palmette/solve/supernodal_triangle.hpp"

namespace palmette::solve_detail {

struct InverseTask {
  index_t supernode, first, count;  // columns of the supernode
};

inline double task_flops(const SymbolicFactor& symbolic, FactorKind kind, const InverseTask& task) {
  const double rows = symbolic.num_rows_below(task.supernode), width = symbolic.width(task.supernode);
  const double one = 2 * rows * rows + 4 * rows * width + 2 * width * width;
  return task.count * (kind == FactorKind::lu ? 2 * rows * (rows + width) + one : one);
}

/// Among how many a supernode is shared where their number decides about bits.
inline constexpr int usual_sharing = 2;

/// Shares a supernode with many rows below among `threads`, of which there may be a part of one. Each task
/// gathers the same known entries, so that the fewest are best.
inline void add_tasks(const SymbolicFactor& symbolic, index_t s, double threads,
                      std::vector<InverseTask>& tasks) {
  constexpr index_t least_columns = 32, rows_worth_sharing = 256;
  const index_t width = symbolic.width(s);
  index_t columns = width;
  if (symbolic.num_rows_below(s) >= rows_worth_sharing && threads > 1)
    columns = std::clamp(static_cast<index_t>(std::ceil(width / std::ceil(threads))),
                         std::min(width, least_columns), width);
  for (index_t first = 0; first < width; first += columns)
    tasks.push_back({s, first, std::min(columns, width - first)});
}

/// Supernodes [first, end).
struct SupernodeRange {
  index_t first, end;
};

/// Among how many a supernode at the top is shared: as many as there are threads, if no bit depends on that.
inline int sharing_threads(const SymbolicFactor& symbolic, const SupernodeRange& range, int threads) {
  index_t inner = 0;  // longest inner size of a product
  for (index_t s = range.first; s < range.end; ++s) {
    inner = std::max(inner, symbolic.width(s));
    for (const Block& block : symbolic.blocks_of(s)) inner = std::max(inner, block.count);
  }
  return have_one_order(inner) ? threads : usual_sharing;
}

/// Of whole subtrees, in an order in which each comes after the tasks of its ancestors, those above the
/// costliest paths first. The work below a supernode says how many threads find none elsewhere.
inline std::vector<InverseTask> tasks_of(const SymbolicFactor& symbolic, FactorKind kind,
                                         const SupernodeRange& range, int threads) {
  std::vector<double> path(range.end - range.first, 0), subtree(path.size(), 0);
  std::vector<index_t> order(range.end - range.first);
  double all = 0;
  for (index_t s = range.first; s < range.end; ++s) {
    const index_t k = s - range.first;
    const double own = 1 + task_flops(symbolic, kind, {s, 0, symbolic.width(s)});
    path[k] += own, subtree[k] += own, all += own;
    const index_t up = symbolic.parent[s];
    if (up < 0 || up >= range.end) continue;
    path[up - range.first] = std::max(path[up - range.first], path[k]);
    subtree[up - range.first] += subtree[k];
  }
  std::iota(order.begin(), order.end(), range.first);
  std::sort(order.begin(), order.end(), [&](index_t left, index_t right) {
    const double a = path[left - range.first], b = path[right - range.first];
    return a != b ? a > b : left > right;
  });
  std::vector<InverseTask> tasks;
  for (const index_t s : order) add_tasks(symbolic, s, threads * subtree[s - range.first] / all, tasks);
  return tasks;
}

/// Where an entry of A⁻¹ lies in panels.
struct InversePlace {
  index_t supernode;
  index_t far, near;  ///< row of the panel and column of the supernode of its place on or below the diagonal
  bool is_upper;      ///< the entry is the mirror image of that place
  bool is_inside;     ///< of the diagonal block
};
/// @returns nothing if the entry, counted as x and b are, is not on the pattern
std::optional<InversePlace> place_of_entry(const SymbolicFactor& symbolic, index_t row, index_t column);

/// Rows [first, first + count) of a view.
template <class T>
DenseView<T> some_rows(DenseView<T> m, index_t first, index_t count) {
  return {m.data + first, count, m.cols, m.ld};
}
template <class T>
void fill_zero(DenseView<T> m) {
  for (index_t j = 0; j < m.cols; ++j) std::fill_n(m.column(j), m.rows, T(0));
}

/// Consecutive rows below a supernode.
struct RowRange {
  index_t first, end;
  index_t count() const { return end - first; }
};

/// What is known of Z in the columns of one block of rows, with `wanted` the rows that products are for.
template <class T>
struct KnownColumns {
  Block block;
  DenseView<const T> across;        ///< wanted rows from the block on × columns of the block
  DenseView<const T> down;          ///< all rows from the block on × those of its columns that are wanted
  DenseView<const T> right_across;  ///< LU: wanted rows behind the block; of the transpose of Z
  DenseView<const T> right_down;    ///< LU: all rows behind the block
};

/// y −= Z·g; of LU also w −= Zᵀ·q.
template <class T>
struct InverseProducts {
  RowRange wanted;       ///< the rows of y and w, among those below
  DenseView<const T> g;  ///< rows below × columns of a task
  DenseView<T> y;        ///< wanted rows
  DenseView<const T> q;
  DenseView<T> w;
};

/// The sums of a row, and their order, are the same whichever rows are wanted with it.
template <class T>
class InverseKernels {
 public:
  InverseKernels(FactorKind kind, bool hermitian) : kind_(kind) {
    // Of LLᵀ, too, the upper factor is the adjoint.
    turned_ = kind == FactorKind::llt || hermitian ? blas::Transpose::adjoint : blas::Transpose::transpose;
  }
  FactorKind kind() const { return kind_; }
  bool is_lu() const { return kind_ == FactorKind::lu; }

  static void multiply(DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
    multiply_plain<T>(a, b, c);
  }
  /// m ← L_JJ⁻¹·(the columns of P from `first` on). @param place  P; null: the identity
  void invert_lower(DenseView<const T> diagonal, const index_t* place, index_t first, DenseView<T> m) const {
    fill_zero(m);
    for (index_t k = 0; k < m.rows; ++k) {
      const index_t column = (place != nullptr ? place[k] : k) - first;
      if (column >= 0 && column < m.cols) m(k, column) = T(1);
    }
    solve_panel_columns<T>({blas::Triangle::lower, blas::Transpose::no, lower_diagonal()}, diagonal, m);
  }
  /// LU: m ← columns of U_JJ⁻ᵀ from `first` on.
  static void invert_upper(DenseView<const T> diagonal, index_t first, DenseView<T> m) {
    fill_zero(m);
    for (index_t j = 0; j < m.cols; ++j) m(first + j, j) = T(1);
    solve_panel_columns<T>({blas::Triangle::upper, blas::Transpose::transpose, blas::Diagonal::stored},
                           diagonal, m);
  }

  /// The products with the columns of Z that belong to one block.
  void subtract_known(const KnownColumns<T>& known, const InverseProducts<T>& of) const {
    const index_t first = known.block.first, count = known.block.count, behind = first + count;
    const index_t all = of.g.rows - first, further = of.g.rows - behind;
    const auto wanted = [&](DenseView<T> m, index_t from, index_t end) {
      return some_rows(m, from - of.wanted.first, std::max(0, end - from));
    };
    const index_t from = std::max(first, of.wanted.first), end = of.wanted.end;
    const index_t own_end = std::min(behind, end), behind_from = std::max(behind, of.wanted.first);
    if (from < end)
      subtract(blas::Transpose::no, known.across, some_rows(of.g, first, count), wanted(of.y, from, end));
    if (from < own_end) {
      const DenseView<T> y = wanted(of.y, from, own_end);
      if (!is_lu())
        subtract(turned_, some_rows(known.down, count, further), some_rows(of.g, behind, further), y);
      else {
        subtract(blas::Transpose::transpose, known.right_down, some_rows(of.g, behind, further), y);
        subtract(blas::Transpose::transpose, known.down, some_rows(of.q, first, all),
                 wanted(of.w, from, own_end));
      }
    }
    if (is_lu() && behind_from < end)
      subtract(blas::Transpose::no, known.right_across, some_rows(of.q, first, count),
               wanted(of.w, behind_from, end));
  }

  /// Z_JJ of some columns but for the order of its rows: U_JJ⁻¹·(m − U_JR·y).
  /// @param m      D⁻¹·L_JJ⁻¹·P
  /// @param below  of L, or Uᵀ of LU
  void finish(DenseView<const T> diagonal, DenseView<const T> below, DenseView<const T> y,
              DenseView<T> m) const {
    subtract(is_lu() ? blas::Transpose::transpose : turned_, below, y, m);
    solve_panel_columns<T>(
        {is_lu() ? blas::Triangle::upper : blas::Triangle::lower, is_lu() ? blas::Transpose::no : turned_,
         is_lu() ? blas::Diagonal::stored : lower_diagonal()},
        diagonal, m);
  }
  /// Z_JJ in its own order. @param place  as for invert_lower
  void put_in_order(DenseView<const T> m, const index_t* place, DenseView<T> to) const {
    const index_t* const moved = is_lu() ? nullptr : place;
    for (index_t j = 0; j < m.cols; ++j)
      for (index_t k = 0; k < m.rows; ++k) to(moved != nullptr ? moved[k] : k, j) = m(k, j);
  }

 private:
  static void subtract(blas::Transpose op, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
    if (op == blas::Transpose::no) subtract_plain<T>(a, b, c);
    else subtract_transposed<T>(op == blas::Transpose::adjoint, a, b, c);
  }
  blas::Diagonal lower_diagonal() const {
    return kind_ == FactorKind::llt ? blas::Diagonal::stored : blas::Diagonal::unit;
  }

  FactorKind kind_;
  blas::Transpose turned_;
};

/// Memory of one thread.
template <class T>
struct InverseWorkspace {
  /// @param assembles  panels may lie in parts, which are copied
  InverseWorkspace(const SymbolicFactor& symbolic, const SupernodeRange& range, bool is_lu, bool assembles) {
    index_t width = 0, rows = 0, block_rows = 0;
    offset_t thin = 0;
    for (index_t s = range.first; s < range.end; ++s) {
      width = std::max(width, symbolic.width(s));
      rows = std::max(rows, symbolic.num_rows_below(s));
      thin = std::max(thin, offset_t{symbolic.num_rows_below(s)} * symbolic.width(s));
      for (const Block& block : symbolic.blocks_of(s)) block_rows = std::max(block_rows, block.count);
    }
    const offset_t strips = offset_t{rows} * block_rows, square = offset_t{width} * width;
    product.resize(thin);
    strip.resize(strips);
    small.resize(square);
    if (is_lu) other_product.resize(thin), other_strip.resize(strips), other_small.resize(square);
    if (assembles) panel.resize(offset_t{rows} * width), result.resize(thin);
    if (assembles && is_lu) other_result.resize(thin);
    place.reserve(rows);
  }

  std::vector<T> product, other_product;  // rows below × columns of a task
  std::vector<T> strip, other_strip;      // rows below × columns of an ancestor
  std::vector<T> small, other_small;      // columns of the supernode × columns of a task
  std::vector<T> panel;                   // rows below × columns of the supernode
  std::vector<T> result, other_result;    // rows below × columns of a task
  std::vector<index_t> place;
};

/// One task.
///
/// Panels say where things lie: diagonal(s); below(upper, s, room), the rows below, which may be copied into
/// room.panel until the next call; place(s), null for the identity; gather(s, block, room) of known columns
/// into room.strip and, of LU, room.other_strip (as `across` and `right_across` of all rows); divide(s, m) by
/// D; target(upper, task, room), a view for results, and keep(task, y, w) of them; keep_diagonal(kernels,
/// task, m).
template <class T, class Panels>
void run_inverse_task(const InverseKernels<T>& kernels, const SymbolicFactor& symbolic, const Panels& panels,
                      const InverseTask& task, InverseWorkspace<T>& room) {
  const index_t s = task.supernode, rows = symbolic.num_rows_below(s), width = symbolic.width(s);
  const bool is_lu = kernels.is_lu();
  const DenseView<T> m{room.small.data(), width, task.count, width};
  kernels.invert_lower(panels.diagonal(s), panels.place(s), task.first, m);
  const DenseView<T> g{room.product.data(), rows, task.count, rows};
  kernels.multiply(panels.below(false, s, room), m, g);
  const DenseView<T> q{room.other_product.data(), rows, task.count, rows};
  const DenseView<T> y = panels.target(false, task, room),
                     w = is_lu ? panels.target(true, task, room) : DenseView<T>{};
  fill_zero(y);
  fill_zero(w);
  if (is_lu) {
    const DenseView<T> inverse{room.other_small.data(), width, task.count, width};
    kernels.invert_upper(panels.diagonal(s), task.first, inverse);
    kernels.multiply(panels.below(true, s, room), inverse, q);
  }
  for (const Block& block : symbolic.blocks_of(s)) {
    panels.gather(s, block, room);
    const index_t all = rows - block.first, further = all - block.count;
    const DenseView<const T> z{room.strip.data(), all, block.count, all},
        right{room.other_strip.data(), further, block.count, further};
    kernels.subtract_known({block, z, z, right, right}, {{0, rows}, g, y, q, w});
  }
  panels.divide(s, m);
  kernels.finish(panels.diagonal(s), panels.below(is_lu, s, room), y, m);
  panels.keep(task, y, w);
  panels.keep_diagonal(kernels, task, m);
}

/// Threads take tasks in their order and wait for the supernode above. @param team  may be null
template <class T, class Panels>
void run_inverse_tasks(const InverseKernels<T>& kernels, const SymbolicFactor& symbolic, const Panels& panels,
                       const SupernodeRange& range, ThreadTeam* team) {
  const int threads = team != nullptr ? team->size() : 1;
  const std::vector<InverseTask> tasks =
      tasks_of(symbolic, kernels.kind(), range, sharing_threads(symbolic, range, threads));
  std::vector<std::atomic<index_t>> left(range.end - range.first);
  for (const InverseTask& task : tasks)
    left[task.supernode - range.first].fetch_add(1, std::memory_order_relaxed);
  // Before the first task: a thread that found no memory later would leave the others waiting.
  std::vector<InverseWorkspace<T>> rooms;
  for (int thread = 0; thread < threads; ++thread)
    rooms.emplace_back(symbolic, range, kernels.is_lu(), Panels::assembles);
  std::atomic<std::size_t> next{0};
  Doorbell bell;
  const auto take = [&](int thread) {
    for (std::size_t k = next.fetch_add(1); k < tasks.size(); k = next.fetch_add(1)) {
      const index_t s = tasks[k].supernode, up = symbolic.parent[s];
      if (up >= 0 && up < range.end)
        bell.wait([&] { return left[up - range.first].load(std::memory_order_acquire) == 0; });
      run_inverse_task(kernels, symbolic, panels, tasks[k], rooms[thread]);
      if (left[s - range.first].fetch_sub(1, std::memory_order_acq_rel) == 1) bell.ring();
    }
  };
  if (team == nullptr) return take(0);
  team->share(std::ref(take), ThreadTeam::Called::all);
}

}  // namespace palmette::solve_detail
