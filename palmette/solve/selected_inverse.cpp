// Takahashi's recurrence in tasks: some columns of a supernode, once all of its ancestors are done.
#include "palmette/solve/selected_inverse.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>

#include "palmette/solve/supernodal_triangle.hpp"

namespace palmette {
namespace solve_detail {
namespace {

/// Columns of a task: a supernode with many rows below is shared among several.
constexpr index_t most_columns = 64, rows_worth_sharing = 256;

index_t columns_of_task(const SymbolicFactor& symbolic, index_t s) {
  const index_t width = symbolic.width(s);
  return symbolic.num_rows_below(s) >= rows_worth_sharing ? std::min(width, most_columns) : width;
}

struct InverseTask {
  index_t supernode, first, count;  // columns of the supernode
};

double task_flops(const SymbolicFactor& symbolic, FactorKind kind, const InverseTask& task) {
  const double rows = symbolic.num_rows_below(task.supernode), width = symbolic.width(task.supernode);
  const double one = 2 * rows * rows + 4 * rows * width + 2 * width * width;
  return task.count * (kind == FactorKind::lu ? 2 * rows * (rows + width) + one : one);
}

/// In an order in which each comes after the tasks of its ancestors, those above the costliest paths first.
std::vector<InverseTask> tasks_of(const SymbolicFactor& symbolic, FactorKind kind) {
  const index_t count = symbolic.num_supernodes();
  std::vector<double> path(count, 0);
  std::vector<index_t> order(count);
  for (index_t s = 0; s < count; ++s) {
    path[s] += 1 + task_flops(symbolic, kind, {s, 0, symbolic.width(s)});
    if (const index_t up = symbolic.parent[s]; up >= 0) path[up] = std::max(path[up], path[s]);
  }
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](index_t left, index_t right) {
    return path[left] != path[right] ? path[left] > path[right] : left > right;
  });
  std::vector<InverseTask> tasks;
  for (const index_t s : order)
    for (index_t first = 0; first < symbolic.width(s); first += columns_of_task(symbolic, s))
      tasks.push_back({s, first, std::min(columns_of_task(symbolic, s), symbolic.width(s) - first)});
  return tasks;
}

/// Where rows of a supernode lie in the panel of an ancestor to whose columns the first of them belong.
void places_in_panel(const SymbolicFactor& symbolic, index_t ancestor, std::span<const index_t> rows,
                     std::vector<index_t>& place) {
  const index_t begin = symbolic.supernode_begin[ancestor], end = symbolic.supernode_begin[ancestor + 1];
  const auto below = symbolic.rows_below(ancestor);
  auto at = below.begin();
  place.clear();
  for (const index_t row : rows) {
    if (row < end) {
      place.push_back(row - begin);
      continue;
    }
    at = std::lower_bound(at, below.end(), row);
    place.push_back(end - begin + static_cast<index_t>(at - below.begin()));
  }
}

/// Memory of one thread.
template <class T>
struct InverseWorkspace {
  InverseWorkspace(const SymbolicFactor& symbolic, bool is_lu) {
    index_t width = 0, rows = 0;
    offset_t thin = 0;
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
      width = std::max(width, symbolic.width(s));
      rows = std::max(rows, symbolic.num_rows_below(s));
      thin = std::max(thin, offset_t{symbolic.num_rows_below(s)} * columns_of_task(symbolic, s));
    }
    for (std::vector<T>* array : {&product, &other_product})
      if (array == &product || is_lu) array->resize(thin);
    for (std::vector<T>* array : {&strip, &other_strip})
      if (array == &strip || is_lu) array->resize(offset_t{rows} * width);
    small.resize(offset_t{width} * width);
    place.reserve(rows);
  }

  std::vector<T> product, other_product;  // rows below × columns of a task
  std::vector<T> strip, other_strip;      // rows below × columns of an ancestor
  std::vector<T> small;                   // columns of the supernode × columns of a task
  std::vector<index_t> place;
};

template <class T>
class InverseTasks {
 public:
  InverseTasks(const Factor<T>& factor, SelectedInverse<T>& result)
      : factor_(factor), symbolic_(*factor.symbolic), result_(result), is_lu_(factor.kind == FactorKind::lu) {
    if (factor.kind == FactorKind::ldlt)
      diagonal_ = BlockDiagonal<T>(factor.hermitian, factor.d, factor.d_below);
    // Of LLᵀ, too, the upper factor is the adjoint.
    turned_ = factor.kind == FactorKind::llt || factor.hermitian ? blas::Transpose::adjoint
                                                                 : blas::Transpose::transpose;
  }

  void run(const InverseTask& task, InverseWorkspace<T>& room) const {
    const index_t s = task.supernode, rows = symbolic_.num_rows_below(s), width = symbolic_.width(s);
    const DenseView<T> m{room.small.data(), width, task.count, width};
    unit_columns(task, m);
    solve_lower(s, m);
    const DenseView<T> g{room.product.data(), rows, task.count, rows};
    multiply(below(factor_.lower, s), m, g);
    const DenseView<T> y = columns_below(result_.lower, task);
    const DenseView<T> q{room.other_product.data(), rows, task.count, rows};
    const DenseView<T> w = is_lu_ ? columns_below(result_.upper, task) : DenseView<T>{};
    fill(y);
    fill(w);
    if (is_lu_) multiply_upper_inverse(task, q);
    for (const Block& block : symbolic_.blocks_of(s)) multiply_known(s, block, {g, y, q, w}, room);
    finish_columns(task, m, y);
  }

 private:
  /// y −= Z_RR·g; of LU also w −= Z_RRᵀ·q.
  struct Products {
    DenseView<T> g, y, q, w;
  };

  DenseView<T> panel(const PanelArray<T>& array, index_t s) const {
    const offset_t ld = symbolic_.leading_dimension(s);
    return {const_cast<T*>(array.data()) + symbolic_.panel_offset[s], static_cast<index_t>(ld),
            symbolic_.width(s), ld};
  }
  static DenseView<T> rows_of(DenseView<T> m, index_t first, index_t count) {
    return {m.data + first, count, m.cols, m.ld};
  }
  DenseView<T> block(const PanelArray<T>& array, index_t s) const {
    return rows_of(panel(array, s), 0, symbolic_.width(s));
  }
  DenseView<T> below(const PanelArray<T>& array, index_t s) const {
    return rows_of(panel(array, s), symbolic_.width(s), symbolic_.num_rows_below(s));
  }
  DenseView<T> columns_below(const PanelArray<T>& array, const InverseTask& task) const {
    return below(array, task.supernode).columns(task.first, task.count);
  }
  static void fill(DenseView<T> m) {
    for (index_t j = 0; j < m.cols; ++j) std::fill_n(m.column(j), m.rows, T(0));
  }
  static void multiply(DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
    if (c.rows > 0) blas::gemm(blas::Transpose::no, blas::Transpose::no, T(1), a, b, T(0), c);
  }
  static void subtract(blas::Transpose op, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
    if (b.rows > 0 && c.rows > 0) blas::gemm(op, blas::Transpose::no, T(-1), a, b, T(1), c);
  }
  const index_t* place(index_t s) const {
    return factor_.place.empty() ? nullptr : factor_.place.data() + symbolic_.supernode_begin[s];
  }
  blas::Diagonal lower_diagonal() const {
    return factor_.kind == FactorKind::llt ? blas::Diagonal::stored : blas::Diagonal::unit;
  }

  /// m ← the task's columns of P.
  void unit_columns(const InverseTask& task, DenseView<T> m) const {
    fill(m);
    const index_t* const moved = place(task.supernode);
    for (index_t k = 0; k < m.rows; ++k) {
      const index_t column = (moved != nullptr ? moved[k] : k) - task.first;
      if (column >= 0 && column < task.count) m(k, column) = T(1);
    }
  }
  void solve_lower(index_t s, DenseView<T> m) const {
    blas::trsm<T>({blas::Side::left, blas::Triangle::lower, blas::Transpose::no, lower_diagonal()},
                  block(factor_.lower, s), m);
  }
  /// q ← the task's columns of (U_JJ⁻¹·U_JR)ᵀ.
  void multiply_upper_inverse(const InverseTask& task, DenseView<T> q) const {
    const index_t s = task.supernode, width = symbolic_.width(s);
    std::vector<T> values(static_cast<std::size_t>(width) * task.count, T(0));
    const DenseView<T> inverse{values.data(), width, task.count, width};
    for (index_t j = 0; j < task.count; ++j) inverse(task.first + j, j) = T(1);
    blas::trsm<T>(
        {blas::Side::left, blas::Triangle::upper, blas::Transpose::transpose, blas::Diagonal::stored},
        block(factor_.lower, s), inverse);
    multiply(below(factor_.upper, s), inverse, q);
  }

  /// strip ← the given columns of a panel of Z, in the rows at these places.
  DenseView<T> gather(const PanelArray<T>& array, index_t ancestor, std::span<const index_t> columns,
                      std::span<const index_t> place, std::vector<T>& strip) const {
    const DenseView<T> known = panel(array, ancestor);
    const auto rows = static_cast<index_t>(place.size());
    const DenseView<T> to{strip.data(), rows, static_cast<index_t>(columns.size()), rows};
    for (index_t j = 0; j < to.cols; ++j) {
      const T* const from = known.column(columns[j] - symbolic_.supernode_begin[ancestor]);
      T* const column = to.column(j);
      for (index_t i = 0; i < rows; ++i) column[i] = from[place[i]];
    }
    return to;
  }

  /// The products with the columns of Z_RR that belong to one ancestor.
  void multiply_known(index_t s, const Block& block, const Products& of, InverseWorkspace<T>& room) const {
    const auto rows = symbolic_.rows_below(s).subspan(block.first);
    const auto columns = rows.first(block.count);
    const auto left = static_cast<index_t>(rows.size()) - block.count;
    const auto own = [&](DenseView<T> m) { return rows_of(m, block.first, block.count); };
    const auto further = [&](DenseView<T> m) { return rows_of(m, block.first + block.count, left); };
    const auto all = [&](DenseView<T> m) { return rows_of(m, block.first, block.count + left); };
    places_in_panel(symbolic_, block.row_supernode, rows, room.place);
    const std::span<const index_t> place(room.place);
    const DenseView<T> z = gather(result_.lower, block.row_supernode, columns, place, room.strip);
    subtract(blas::Transpose::no, z, own(of.g), all(of.y));
    if (!is_lu_) return subtract(turned_, rows_of(z, block.count, left), further(of.g), own(of.y));
    const DenseView<T> right = gather(result_.upper, block.row_supernode, columns,
                                      place.subspan(block.count), room.other_strip);
    subtract(blas::Transpose::transpose, right, further(of.g), own(of.y));
    subtract(blas::Transpose::transpose, z, all(of.q), own(of.w));
    subtract(blas::Transpose::no, right, own(of.q), further(of.w));
  }

  /// Z_JJ of the task's columns: U_JJ⁻¹·(D⁻¹·m − U_JR·y), whose rows P orders back.
  void finish_columns(const InverseTask& task, DenseView<T> m, DenseView<const T> y) const {
    const index_t s = task.supernode;
    if (factor_.kind == FactorKind::ldlt) divide_by_diagonal(s, m);
    subtract(is_lu_ ? blas::Transpose::transpose : turned_, below(is_lu_ ? factor_.upper : factor_.lower, s),
             y, m);
    const blas::Triangle triangle = is_lu_ ? blas::Triangle::upper : blas::Triangle::lower;
    const blas::Diagonal diagonal = is_lu_ ? blas::Diagonal::stored : lower_diagonal();
    blas::trsm<T>({blas::Side::left, triangle, is_lu_ ? blas::Transpose::no : turned_, diagonal},
                  block(factor_.lower, s), m);
    const DenseView<T> to = block(result_.lower, s).columns(task.first, task.count);
    const index_t* const moved = is_lu_ ? nullptr : place(s);
    for (index_t j = 0; j < task.count; ++j)
      for (index_t k = 0; k < m.rows; ++k) to(moved != nullptr ? moved[k] : k, j) = m(k, j);
  }
  void divide_by_diagonal(index_t s, DenseView<T> m) const {
    const index_t begin = symbolic_.supernode_begin[s];
    for (index_t j = 0; j < m.cols; ++j) diagonal_.solve(begin, m.rows, {m.column(j), 1});
  }

  const Factor<T>& factor_;
  const SymbolicFactor& symbolic_;
  SelectedInverse<T>& result_;
  const bool is_lu_;
  blas::Transpose turned_;
  BlockDiagonal<T> diagonal_;
};

/// Threads take tasks in their order and wait for the supernode above.
template <class T>
void run_tasks(const std::vector<InverseTask>& tasks, const InverseTasks<T>& work, const Factor<T>& factor,
               ThreadTeam* team) {
  const SymbolicFactor& symbolic = *factor.symbolic;
  std::vector<std::atomic<index_t>> left(symbolic.num_supernodes());
  for (const InverseTask& task : tasks) left[task.supernode].fetch_add(1, std::memory_order_relaxed);
  const int threads = team != nullptr ? team->size() : 1;
  // Before the first task: a thread that found no memory later would leave the others waiting.
  std::vector<InverseWorkspace<T>> rooms;
  for (int thread = 0; thread < threads; ++thread)
    rooms.emplace_back(symbolic, factor.kind == FactorKind::lu);
  std::atomic<std::size_t> next{0};
  Doorbell bell;
  const auto take = [&](int thread) {
    for (std::size_t k = next.fetch_add(1); k < tasks.size(); k = next.fetch_add(1)) {
      const index_t s = tasks[k].supernode, up = symbolic.parent[s];
      if (up >= 0) bell.wait([&] { return left[up].load(std::memory_order_acquire) == 0; });
      work.run(tasks[k], rooms[thread]);
      if (left[s].fetch_sub(1, std::memory_order_acq_rel) == 1) bell.ring();
    }
  };
  if (team == nullptr) return take(0);
  team->share(std::ref(take), ThreadTeam::Called::all);
}

}  // namespace
}  // namespace solve_detail

double selected_inverse_flops(const SymbolicFactor& symbolic, FactorKind kind) {
  double flops = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    flops += solve_detail::task_flops(symbolic, kind, {s, 0, symbolic.width(s)});
  return flops;
}

offset_t selected_inverse_bytes(const SymbolicFactor& symbolic, FactorKind kind, int scalar_bytes) {
  return symbolic.panel_entries() * scalar_bytes * (kind == FactorKind::lu ? 2 : 1);
}

template <class T>
SelectedInverse<T> select_inverse(const Factor<T>& factor, ThreadTeam* team) {
  const Stopwatch watch;
  SelectedInverse<T> result;
  if (!factor.symbolic || factor.symbolic->n == 0) return result;
  blas::use_one_thread();
  result.symbolic = factor.symbolic;
  result.kind = factor.kind;
  result.hermitian = factor.hermitian || factor.kind == FactorKind::llt;
  result.row_scale = factor.row_scale;
  result.column_scale = factor.column_scale;
  result.lower = PanelArray<T>(factor.symbolic->panel_entries());
  if (factor.kind == FactorKind::lu) result.upper = PanelArray<T>(factor.symbolic->panel_entries());
  const solve_detail::InverseTasks<T> work(factor, result);
  solve_detail::run_tasks(solve_detail::tasks_of(*factor.symbolic, factor.kind), work, factor, team);
  result.flops = selected_inverse_flops(*factor.symbolic, factor.kind);
  result.seconds = watch.seconds();
  return result;
}

template <class T>
std::optional<T> SelectedInverse<T>::entry(index_t row, index_t column) const {
  const index_t i = symbolic->column.old_to_new()[row], j = symbolic->row.old_to_new()[column];
  const index_t s = symbolic->supernode_of[std::min(i, j)], begin = symbolic->supernode_begin[s];
  const bool is_symmetric = kind != FactorKind::lu, is_upper = i < j;
  const index_t far = std::max(i, j), near = std::min(i, j) - begin;
  const auto rows = symbolic->rows_below(s);
  const auto found = std::lower_bound(rows.begin(), rows.end(), far);
  const bool is_inside = far < symbolic->supernode_begin[s + 1];
  if (!is_inside && (found == rows.end() || *found != far)) return std::nullopt;
  const index_t place =
      is_inside ? far - begin : symbolic->width(s) + static_cast<index_t>(found - rows.begin());
  const offset_t ld = symbolic->leading_dimension(s), at = symbolic->panel_offset[s];
  T value = lower.data()[at + place + near * ld];
  if (is_upper && is_symmetric && hermitian) value = conjugate(value);
  if (is_upper && !is_symmetric)
    value = is_inside ? lower.data()[at + near + place * ld] : upper.data()[at + place + near * ld];
  if (!column_scale.empty()) value *= static_cast<real_t<T>>(column_scale[row]);
  if (!row_scale.empty()) value *= static_cast<real_t<T>>(row_scale[column]);
  return value;
}

template <class T>
SparseMatrix<T> SelectedInverse<T>::matrix() const {
  std::vector<offset_t> ptr(size() + 1, 0);
  std::vector<index_t> rows;
  std::vector<T> values;
  if (size() == 0) return from_compressed_columns<T>(0, 0, ptr, rows, values);
  // By column of A⁻¹: the places of the structure that stand in the row or the column of that place.
  std::vector<std::vector<index_t>> left(size());
  for (index_t s = 0; s < symbolic->num_supernodes(); ++s)
    for (const index_t row : symbolic->rows_below(s)) left[row].push_back(s);
  for (index_t column = 0; column < size(); ++column) {
    const index_t j = symbolic->row.old_to_new()[column], s = symbolic->supernode_of[j];
    std::vector<index_t> places;
    for (const index_t descendant : left[j])
      for (index_t k = symbolic->supernode_begin[descendant]; k < symbolic->supernode_begin[descendant + 1];
           ++k)
        places.push_back(k);
    for (index_t k = symbolic->supernode_begin[s]; k < symbolic->supernode_begin[s + 1]; ++k)
      places.push_back(k);
    for (const index_t k : symbolic->rows_below(s)) places.push_back(k);
    std::vector<index_t> own;
    for (const index_t place : places) own.push_back(symbolic->column.new_to_old()[place]);
    std::sort(own.begin(), own.end());
    for (const index_t row : own) {
      rows.push_back(row);
      values.push_back(*entry(row, column));
    }
    ptr[column + 1] = static_cast<offset_t>(rows.size());
  }
  return from_compressed_columns<T>(size(), size(), ptr, rows, values);
}

#define PALMETTE_INSTANTIATE(T)       \
  template struct SelectedInverse<T>; \
  template SelectedInverse<T> select_inverse(const Factor<T>&, ThreadTeam*);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
