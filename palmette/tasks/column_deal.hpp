// Part of the door of `tasks`: the columns of a plain triangle, dealt to several devices, and the slots in
// which what devices add to rows of others arrives.
#pragma once

#include <cstddef>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// Which element has a column: tasks of neighbouring columns are dealt to the elements in turn
/// [Xie et al. 2021].
struct ColumnDeal {
  int elements = 1;
  index_t columns_of_task = 1;

  /// @throws UsageError for less than one task or more elements than a warp has lanes
  static ColumnDeal of(index_t n, int elements, index_t tasks_per_element);
  int element_of(index_t column) const { return column / columns_of_task % elements; }
};

/// By row: bit e: columns of element e add to it.
/// @param strict  n × n, the entries below the diagonal of L
/// @param transposed  the sums are those of a solve with Lᵀ
std::vector<unsigned> column_sources(const SparsityPattern& strict, bool transposed, const ColumnDeal& deal);

/// Of the slots of an element, those of a row: one for each other element that adds to it, in their order.
struct ColumnSlots {
  std::vector<unsigned> first;  ///< by row
  std::size_t most = 0;         ///< that an element has

  /// @param others  the row's sources without its own element
  unsigned of(index_t row, unsigned others, int source) const;
};
ColumnSlots column_slots(const std::vector<unsigned>& sources, const ColumnDeal& deal);

/// So many slots hold the sums of either direction, on every element.
/// @cost  O(entries + n · elements)
std::size_t most_column_slots(const SparsityPattern& strict, const ColumnDeal& deal);

}  // namespace palmette
