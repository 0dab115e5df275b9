// Takahashi's recurrence in tasks: some columns of a supernode, once all of its ancestors are done.
#include "palmette/solve/selected_inverse.hpp"

#include <algorithm>

#include "palmette/solve/rank_selected_inverse.hpp"
#include "palmette/solve/selected_inverse_kernels.hpp"

namespace palmette {
namespace solve_detail {

std::optional<InversePlace> place_of_entry(const SymbolicFactor& symbolic, index_t row, index_t column) {
  const index_t i = symbolic.column.old_to_new()[row], j = symbolic.row.old_to_new()[column];
  const index_t s = symbolic.supernode_of[std::min(i, j)], begin = symbolic.supernode_begin[s];
  const index_t far = std::max(i, j), near = std::min(i, j) - begin;
  if (far < symbolic.supernode_begin[s + 1]) return InversePlace{s, far - begin, near, i < j, true};
  const auto rows = symbolic.rows_below(s);
  const auto found = std::lower_bound(rows.begin(), rows.end(), far);
  if (found == rows.end() || *found != far) return std::nullopt;
  return InversePlace{s, symbolic.width(s) + static_cast<index_t>(found - rows.begin()), near, i < j, false};
}

namespace {

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

/// A factor and its selected inverse, whole in this process.
template <class T>
class WholePanels {
 public:
  static constexpr bool assembles = false;

  WholePanels(const Factor<T>& factor, SelectedInverse<T>& result)
      : factor_(factor), symbolic_(*factor.symbolic), result_(result) {
    if (factor.kind == FactorKind::ldlt)
      diagonal_ = BlockDiagonal<T>(factor.hermitian, factor.d, factor.d_below);
  }
  DenseView<const T> diagonal(index_t s) const {
    return some_rows(panel(factor_.lower, s), 0, symbolic_.width(s));
  }
  DenseView<const T> below(bool upper, index_t s, InverseWorkspace<T>&) const {
    return rows_below(upper ? factor_.upper : factor_.lower, s);
  }
  const index_t* place(index_t s) const {
    return factor_.place.empty() ? nullptr : factor_.place.data() + symbolic_.supernode_begin[s];
  }
  void gather(index_t s, const Block& block, InverseWorkspace<T>& room) const {
    const auto rows = symbolic_.rows_below(s).subspan(block.first);
    const auto columns = rows.first(block.count);
    places_in_panel(symbolic_, block.row_supernode, rows, room.place);
    const std::span<const index_t> place(room.place);
    gather(result_.lower, block.row_supernode, columns, place, room.strip);
    if (factor_.kind == FactorKind::lu)
      gather(result_.upper, block.row_supernode, columns, place.subspan(block.count), room.other_strip);
  }
  void divide(index_t s, DenseView<T> m) const {
    if (factor_.kind != FactorKind::ldlt) return;
    for (index_t j = 0; j < m.cols; ++j)
      diagonal_.solve(symbolic_.supernode_begin[s], m.rows, {m.column(j), 1});
  }
  DenseView<T> target(bool upper, const InverseTask& task, InverseWorkspace<T>&) const {
    return rows_below(upper ? result_.upper : result_.lower, task.supernode).columns(task.first, task.count);
  }
  void keep(const InverseTask&, DenseView<const T>, DenseView<const T>) const {}
  void keep_diagonal(const InverseKernels<T>& kernels, const InverseTask& task, DenseView<const T> m) const {
    const DenseView<T> to = some_rows(panel(result_.lower, task.supernode), 0, m.rows);
    kernels.put_in_order(m, place(task.supernode), to.columns(task.first, task.count));
  }

 private:
  DenseView<T> panel(const PanelArray<T>& array, index_t s) const {
    const offset_t ld = symbolic_.leading_dimension(s);
    return {const_cast<T*>(array.data()) + symbolic_.panel_offset[s], static_cast<index_t>(ld),
            symbolic_.width(s), ld};
  }
  DenseView<T> rows_below(const PanelArray<T>& array, index_t s) const {
    return some_rows(panel(array, s), symbolic_.width(s), symbolic_.num_rows_below(s));
  }
  /// strip ← the given columns of a panel of Z, in the rows at these places.
  void gather(const PanelArray<T>& array, index_t ancestor, std::span<const index_t> columns,
              std::span<const index_t> place, std::vector<T>& strip) const {
    constexpr std::size_t at_once = 4;
    const DenseView<T> known = panel(array, ancestor);
    const index_t begin = symbolic_.supernode_begin[ancestor];
    T* to = strip.data();
    std::size_t j = 0;
    for (; j + at_once <= columns.size(); j += at_once, to += at_once * place.size()) {
      const T* from[at_once];
      for (std::size_t k = 0; k < at_once; ++k) from[k] = known.column(columns[j + k] - begin);
      for (std::size_t i = 0; i < place.size(); ++i)
        for (std::size_t k = 0; k < at_once; ++k) to[k * place.size() + i] = from[k][place[i]];
    }
    for (; j < columns.size(); ++j) {
      const T* const from = known.column(columns[j] - begin);
      for (const index_t at : place) *to++ = from[at];
    }
  }

  const Factor<T>& factor_;
  const SymbolicFactor& symbolic_;
  SelectedInverse<T>& result_;
  BlockDiagonal<T> diagonal_;
};

}  // namespace
}  // namespace solve_detail

bool is_on_pattern(const SymbolicFactor& symbolic, index_t row, index_t column) {
  return solve_detail::place_of_entry(symbolic, row, column).has_value();
}

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
  const SubnormalsAsZero scope;
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
  const solve_detail::InverseKernels<T> kernels(factor.kind, factor.hermitian);
  const solve_detail::WholePanels<T> panels(factor, result);
  solve_detail::run_inverse_tasks(kernels, *factor.symbolic, panels, {0, factor.symbolic->num_supernodes()},
                                  team);
  result.flops = selected_inverse_flops(*factor.symbolic, factor.kind);
  result.seconds = watch.seconds();
  return result;
}

template <class T>
std::optional<T> SelectedInverse<T>::entry(index_t row, index_t column) const {
  const auto place = solve_detail::place_of_entry(*symbolic, row, column);
  if (!place) return std::nullopt;
  const offset_t ld = symbolic->leading_dimension(place->supernode);
  const T* const panel = lower.data() + symbolic->panel_offset[place->supernode];
  T value = panel[place->far + place->near * ld];
  if (place->is_upper && kind != FactorKind::lu && hermitian) value = conjugate(value);
  if (place->is_upper && kind == FactorKind::lu)
    value = place->is_inside
                ? panel[place->near + place->far * ld]
                : upper.data()[symbolic->panel_offset[place->supernode] + place->far + place->near * ld];
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
