// Inside `columns`: one LU factorization, column by column.
#pragma once

#include "palmette/columns/columns.hpp"
#include "palmette/columns/pivots.hpp"

namespace palmette {

/// u^(2/3): a pivot below this fraction of its column's largest entry may be rounding error.
template <class T>
double doubtful_pivot() {
  static const double limit = std::cbrt(unit_roundoff<T> * unit_roundoff<T>);
  return limit;
}

/// Powers of two that bring each row's largest entry to [1, 2), as far as the range allows. @returns the sum
/// of the exponents
template <class T>
double scale_rows_by_powers(const SparseMatrix<T>& matrix, std::vector<real_t<T>>& scale);

template <class T>
class LuColumns {
 public:
  /// Refers to the matrix, which must outlive this object; `order` is kept alive by its pointer.
  LuColumns(const SparseMatrix<T>& matrix, std::shared_ptr<const BlockOrdering> order);
  /// Null if a pivot is doubtful.
  std::shared_ptr<const ColumnFactor<T>> run();
  /// With the structure and the pivots of `known`.
  static std::shared_ptr<const ColumnFactor<T>> run_again(const SparseMatrix<T>& matrix,
                                                          const ColumnFactor<T>& known);

 private:
  using Real = real_t<T>;
  bool factor_single(index_t place);
  bool factor_block(index_t first, index_t end);
  bool factor_column(index_t place, index_t first, index_t end);
  Real scatter(index_t place, index_t first);
  void search(index_t root, index_t place);
  void eliminate(index_t place);
  index_t choose_pivot(index_t place, Real largest) const;
  void keep_column(index_t place, index_t pivot_row);
  void prune(index_t place, index_t pivot_row);
  void make_room(index_t lower, index_t upper);

  const SparseMatrix<T>& matrix_;
  const BlockOrdering& order_;
  std::shared_ptr<ColumnStructure> structure_;
  std::shared_ptr<ColumnFactor<T>> factor_;
  const Real preference_;  // for accepting diagonal entries as pivots
  offset_t lower_size_ = 0, upper_size_ = 0;
  // By original row: its place once it has a pivot, else −1; the last column that met it; the column being
  // eliminated.
  std::vector<index_t>& place_of_row_;
  std::vector<index_t> met_by_, initial_place_;
  std::vector<T> x_;
  // By place: end of the part of L's column that searches need, or −1 if they need all of it; the search's
  // next entry.
  std::vector<offset_t> pruned_end_, next_;
  // reached_: places, in an order of elimination from top_ on
  std::vector<index_t> path_, reached_, waiting_;
  index_t top_ = 0, reached_end_ = 0, num_waiting_ = 0;  // waiting_: rows that have no pivot yet
  PivotCount count_;
};

}  // namespace palmette
