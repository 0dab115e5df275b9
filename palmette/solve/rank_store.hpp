// Inside `solve`: the data of one solve of a rank, and the arithmetic of its tasks; the program decides what
// runs when.
#pragma once

#include "palmette/solve/rank_parts.hpp"
#include "palmette/solve/rhs_vectors.hpp"

namespace palmette::solve_detail {

/// Vectors of one rank for up to max_rhs right-hand sides. All are allocated with the plan.
template <class T>
struct RankVectors {
  RankVectors(const RankGroups& structure, const SolveExchange& exchange, index_t widest, index_t stride,
              int threads);

  PanelArray<T> own;       // own columns
  PanelArray<T> values;    // supernodes above the subtrees in which the rank takes part
  PanelArray<T> forward;   // contributions
  PanelArray<T> backward;
  // for each thread: a local vector, the widest supernode twice, and rows of the tallest one
  PanelArray<T> scratch;
  offset_t scratch_stride = 0;
  offset_t memory_bytes() const {
    return own.bytes() + values.bytes() + forward.bytes() + backward.bytes() + scratch.bytes();
  }
};

/// The tasks of one solve. Different tasks of a rank may run at the same time once their input is there.
template <class T>
struct RankTasks {
  const RankFactor<T>& factor;
  const SolveExchange& exchange;
  const RankGroups& structure;
  const RankTriangles<T>& triangles;
  RankVectors<T>& vectors;
  bool transposed = false;  ///< LU: the transpose is solved with
  index_t stride = 1;
  const SolveReach* reach = nullptr;  ///< what is visited; null: everything

  const SymbolicFactor& symbolic() const { return *factor.symbolic; }
  index_t width(const TopSupernode& top) const { return symbolic().width(top.supernode); }
  RhsRows<T> value(const TopSupernode& top) const {
    return {vectors.values.data() + top.value_at * stride, stride};
  }
  RhsRows<T> forward_row(offset_t at) const { return {vectors.forward.data() + at * stride, stride}; }
  RhsRows<T> backward_row(offset_t at) const { return {vectors.backward.data() + at * stride, stride}; }

  /// y of a whole subtree, and what it contributes to rows above.
  void whole_forward(index_t whole, int thread) const;
  /// x of a whole subtree from x above.
  void whole_backward(index_t whole, int thread) const;
  /// y of a supernode above: its contributions are in the store.
  void diagonal_forward(index_t top, int thread) const;
  void diagonal_backward(index_t top, int thread) const;
  /// Adds contributions to the rows of a supernode that another layer sweeps; and stores its solution as a
  /// value for blocks here.
  void gather_forward(index_t top) const;
  void pass_on(index_t top) const;
  /// Contribution of one block to its row, or to its column.
  void block_forward(index_t own, int thread) const;
  void block_backward(index_t own, int thread) const;
  /// Form the sums of a reduction in the store.
  void add_up(const Reduction& reduction, RhsRows<T> store) const;
  /// Copy the rows to send.
  void write_result(const Reduction& reduction, RhsRows<const T> store, T* to) const;
  /// Store what has come to a row.
  void read_parts(ArrayPart parts, const T* from) const;
  /// Whether the contribution of a block to its column is asked for.
  bool is_asked_for(const OwnContribution& own) const {
    return reach == nullptr || reach->backward(factor.owned.panel[own.column]);
  }

 private:
  const SupernodalTriangle<T>& first() const {
    return transposed && triangles.upper ? *triangles.upper : *triangles.lower;
  }
  const SupernodalTriangle<T>& second() const {
    return triangles.upper && !transposed ? *triangles.upper : *triangles.lower;
  }
  bool is_there(const StoredPart& part) const { return reach == nullptr || is_reached(part, *reach); }
  /// @param local_supernode  of structure.sweep
  index_t supernode(index_t local_supernode) const {
    return factor.owned.panel[structure.panel[local_supernode]];
  }
  bool adjoint() const { return !triangles.upper && (factor.kind == FactorKind::llt || factor.hermitian); }
  RowPlaces places(const PartRows& rows) const {
    return {rows.start, rows.list == -1 ? nullptr : exchange.places.data() + rows.list, rows.count};
  }
  RhsRows<T> scratch(int thread) const {
    return {vectors.scratch.data() + thread * vectors.scratch_stride, stride};
  }
  RhsRows<T> own_rows(index_t local_supernode) const {
    return RhsRows<T>{vectors.own.data(), stride}.from(
        structure.sweep->symbolic().supernode_begin[local_supernode]);
  }
  SupernodeVectors<T> vectors_of(index_t local_supernode, index_t first_column, int thread) const;
  DenseView<const T> block(const OwnContribution& own, bool upper) const;
  std::span<const index_t> block_rows(const OwnContribution& own) const;
  void add_result(const Reduction& reduction, RhsRows<const T> store, RhsRows<T> to) const;
};

}  // namespace palmette::solve_detail
