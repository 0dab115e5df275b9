// Arithmetic of a rank's tasks. Each block is multiplied separately, whatever other blocks this rank has, so
// that its bits do not depend on the placement.
#include "palmette/solve/rank_store.hpp"

#include <algorithm>

namespace palmette::solve_detail {
namespace {

/// As in the sweeps of one rank: whole registers may be read behind a vector.
offset_t padded(offset_t rows) { return (rows + 31) / 16 * 16; }

template <class T>
DenseView<T> column_of(RhsRows<T> rows, index_t count) {
  return {rows.data, count, 1, count};
}

}  // namespace

template <class T>
RankVectors<T>::RankVectors(const RankGroups& structure, const SolveExchange& exchange, index_t widest,
                            index_t stride, int threads) {
  const auto array = [stride](offset_t rows) {
    return PanelArray<T>(padded(rows) * stride, Uninitialised());
  };
  own = array(static_cast<offset_t>(structure.row.size()));
  values = array(exchange.value_rows);
  forward = array(exchange.forward_rows);
  backward = array(exchange.backward_rows);
  const SweepGroups& sweep = *structure.sweep;
  const offset_t rows = std::max<offset_t>(sweep.most_rows_below(), widest);
  scratch_stride = (padded(sweep.longest_local()) + 2 * padded(widest) + padded(rows)) * stride;
  scratch = PanelArray<T>(scratch_stride * threads, Uninitialised());
}

template <class T>
SupernodeVectors<T> RankTasks<T>::vectors_of(index_t s, index_t first_column, int thread) const {
  const SweepGroups& sweep = *structure.sweep;
  const RhsRows<T> local = scratch(thread);
  T* const spare = local.data + padded(sweep.longest_local()) * stride;
  return {sweep.local_rows(s),
          local.from(sweep.symbolic().supernode_begin[s] - first_column),
          local,
          {spare, stride},
          spare + padded(sweep.widest_supernode()) * stride};
}

template <class T>
void RankTasks<T>::whole_forward(index_t whole, int thread) const {
  const SweepGroups& sweep = *structure.sweep;
  const index_t group = structure.group_of_whole[whole];
  const WholeUnit& unit = exchange.wholes[whole];
  const index_t begin = sweep.column_begin(group), columns = sweep.num_columns(group);
  const RhsRows<T> local = scratch(thread), own{vectors.own.data() + offset_t{begin} * stride, stride};
  copy_rows<T>(own, columns, local);
  std::fill_n(local.row(columns), offset_t{unit.boundary.size()} * stride, T(0));
  for (index_t s = sweep.supernode_begin(group); s < sweep.supernode_end(group); ++s) {
    if (reach != nullptr && !reach->forward(supernode(s))) continue;
    first().prefetch_after(s, false);
    first().eliminate(s, vectors_of(s, begin, thread));
  }
  copy_rows<T>(local, columns, own);
  for (const OwnContribution& one : exchange.contributions_of(unit))
    copy_rows<T>(local.from(columns + static_cast<index_t>(one.own)), one.count, forward_row(one.forward_at));
}

template <class T>
void RankTasks<T>::whole_backward(index_t whole, int thread) const {
  const SweepGroups& sweep = *structure.sweep;
  const index_t group = structure.group_of_whole[whole];
  const WholeUnit& unit = exchange.wholes[whole];
  const index_t begin = sweep.column_begin(group), columns = sweep.num_columns(group);
  const RhsRows<T> local = scratch(thread), own{vectors.own.data() + offset_t{begin} * stride, stride};
  copy_rows<T>(own, columns, local);
  if (triangles.diagonal) triangles.diagonal->solve(begin, columns, local);
  const std::span<const index_t> boundary = exchange.boundary_of(unit);
  for (const OwnContribution& one : exchange.contributions_of(unit)) {
    const TopSupernode& top = exchange.tops[one.row_top];
    if (reach != nullptr && !reach->backward(one.row_supernode)) continue;
    const index_t first_row = symbolic().supernode_begin[one.row_supernode];
    for (index_t k = 0; k < one.count; ++k) {
      const index_t place = static_cast<index_t>(one.own) + k;
      copy_rows<T>(value(top).from(boundary[place] - first_row), 1,
                   local.from(columns + place));
    }
  }
  for (index_t s = sweep.supernode_end(group) - 1; s >= sweep.supernode_begin(group); --s) {
    if (reach != nullptr && !reach->backward(supernode(s))) continue;
    second().prefetch_after(s, true);
    second().substitute(adjoint(), s, vectors_of(s, begin, thread));
  }
  copy_rows<T>(local, columns, own);
}

template <class T>
void RankTasks<T>::add_up(const Reduction& reduction, RhsRows<T> store) const {
  for (const MadeSum& sum : exchange.of(exchange.sums, reduction.sums)) {
    const RhsRows<T> into{store.data + sum.at * stride, stride};
    const auto parts = exchange.of(exchange.parts, sum.parts);
    // The last part is of the unit that is visited if any is.
    if (!is_there(parts.back())) continue;
    std::fill_n(into.data, offset_t{sum.rows} * stride, T(0));
    for (const StoredPart& part : parts)
      if (is_there(part))
        add_at<T>(places(part.rows), RhsRows<T>{store.data + part.at * stride, stride}, into);
  }
}

template <class T>
void RankTasks<T>::add_result(const Reduction& reduction, RhsRows<const T> store, RhsRows<T> to) const {
  for (const StoredPart& part : exchange.of(exchange.parts, reduction.result))
    if (is_there(part))
      add_at<T>(places(part.rows), RhsRows<const T>{store.data + part.at * stride, stride}, to);
}

template <class T>
void RankTasks<T>::write_result(const Reduction& reduction, RhsRows<const T> store, T* to) const {
  for (const StoredPart& part : exchange.of(exchange.parts, reduction.result)) {
    if (!is_there(part)) continue;
    copy_rows<T>({store.data + part.at * stride, stride}, part.rows.count, {to, stride});
    to += offset_t{part.rows.count} * stride;
  }
}

template <class T>
void RankTasks<T>::read_parts(ArrayPart parts, const T* from) const {
  for (const StoredPart& part : exchange.of(exchange.parts, parts)) {
    if (!is_there(part)) continue;
    copy_rows<T>({from, stride}, part.rows.count, forward_row(part.at));
    from += offset_t{part.rows.count} * stride;
  }
}

template <class T>
void RankTasks<T>::diagonal_forward(index_t number, int thread) const {
  const TopSupernode& top = exchange.tops[number];
  const index_t s =
      structure.sweep->supernode_begin(structure.group_of_top[number]);
  const SupernodeVectors<T> at =
      vectors_of(s, structure.sweep->symbolic().supernode_begin[s], thread);
  copy_rows<T>(own_rows(s), width(top), at.own);
  add_result(exchange.reductions[top.row_sum], {vectors.forward.data(), stride},
             at.own);
  first().eliminate(s, at);
  copy_rows<T>(at.own, width(top), own_rows(s));
  copy_rows<T>(at.own, width(top), value(top));
}

template <class T>
void RankTasks<T>::gather_forward(index_t number) const {
  const TopSupernode& top = exchange.tops[number];
  const index_t s =
      structure.sweep->supernode_begin(structure.group_of_top[number]);
  add_result(exchange.reductions[top.row_sum], {vectors.forward.data(), stride},
             own_rows(s));
}

template <class T>
void RankTasks<T>::pass_on(index_t number) const {
  const TopSupernode& top = exchange.tops[number];
  copy_rows<T>(
      own_rows(structure.sweep->supernode_begin(structure.group_of_top[number])),
      width(top), value(top));
}

template <class T>
void RankTasks<T>::diagonal_backward(index_t number, int thread) const {
  const TopSupernode& top = exchange.tops[number];
  const index_t s =
      structure.sweep->supernode_begin(structure.group_of_top[number]);
  const index_t column = structure.sweep->symbolic().supernode_begin[s];
  const SupernodeVectors<T> at = vectors_of(s, column, thread);
  copy_rows<T>(own_rows(s), width(top), at.own);
  if (triangles.diagonal) triangles.diagonal->solve(column, width(top), at.own);
  add_result(exchange.reductions[top.column_sum], {vectors.backward.data(), stride},
             at.own);
  second().substitute(adjoint(), s, at);
  copy_rows<T>(at.own, width(top), own_rows(s));
  copy_rows<T>(at.own, width(top), value(top));
}

template <class T>
DenseView<const T> RankTasks<T>::block(const OwnContribution& own, bool upper) const {
  const OwnBlock& where = factor.owned.own[own.own];
  return factor.rows_of(upper ? factor.upper : factor.lower, own.column, where.first_row, own.count);
}

template <class T>
std::span<const index_t> RankTasks<T>::block_rows(const OwnContribution& own) const {
  const OwnBlock& where = factor.owned.own[own.own];
  const index_t s = factor.owned.panel[own.column];
  return symbolic().rows_below(s).subspan(
      symbolic().blocks[where.block].first,
      own.count);
}

template <class T>
void RankTasks<T>::block_forward(index_t number, int) const {
  const OwnContribution& own = exchange.own[number];
  const TopSupernode& top = exchange.tops[own.column_top];
  const DenseView<const T> a = block(own, transposed && triangles.upper);
  const RhsRows<T> out = forward_row(own.forward_at);
  if (stride == 1) {
    panel_multiply<T>(a, column_of<const T>(value(top), a.cols), column_of(out, a.rows));
    for (index_t k = 0; k < a.rows; ++k) out.data[k] = -out.data[k];
    return;
  }
  std::fill_n(out.data, offset_t{a.rows} * stride, T(0));
  multiply_rhs<T>({a.data, a.rows, a.cols, a.ld, false}, value(top), IntoRows::subtract,
                    {0, nullptr, a.rows}, out);
}

template <class T>
void RankTasks<T>::block_backward(index_t number, int thread) const {
  const OwnContribution& own = exchange.own[number];
  const TopSupernode& top = exchange.tops[own.row_top];
  const DenseView<const T> a = block(own, triangles.upper && !transposed);
  const RhsRows<T> out = backward_row(own.backward_at), x = scratch(thread);
  const index_t first_row = symbolic().supernode_begin[own.row_supernode];
  const std::span<const index_t> rows = block_rows(own);
  std::fill_n(out.data, offset_t{a.cols} * stride, T(0));
  if (stride == 1) {
    const T* const known = value(top).data;
    for (index_t k = 0; k < own.count; ++k) x.data[k] = known[rows[k] - first_row];
    return panel_multiply_transposed_subtract<T>(adjoint(), a, column_of<const T>(x, a.rows),
                                                 column_of(out, a.cols));
  }
  for (index_t k = 0; k < own.count; ++k)
    copy_rows<T>(value(top).from(rows[k] - first_row), 1, x.from(k));
  multiply_rhs_transposed<T>({a.data, a.rows, a.cols, a.ld, adjoint()}, {0, nullptr, a.rows}, x,
                               IntoRows::subtract, out);
}

#define PALMETTE_INSTANTIATE(T)   \
  template struct RankVectors<T>; \
  template struct RankTasks<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
