// Inside `columns`: one Cholesky factorization, row by row.
#pragma once

#include "palmette/columns/columns.hpp"
#include "palmette/columns/pivots.hpp"

namespace palmette {

template <class T>
class LltColumns {
 public:
  LltColumns(const SparseMatrix<T>& matrix, std::shared_ptr<const BlockOrdering> order);
  /// Null if a pivot is not positive or not finite.
  std::shared_ptr<const ColumnFactor<T>> run();
  static std::shared_ptr<const ColumnFactor<T>> run_again(const SparseMatrix<T>& matrix,
                                                          const ColumnFactor<T>& known);

 private:
  using Real = real_t<T>;
  void number_rows();
  void count_columns();
  bool factor_row(index_t place);

  const SparseMatrix<T>& matrix_;
  std::shared_ptr<ColumnStructure> structure_;
  std::shared_ptr<ColumnFactor<T>> factor_;
  std::vector<index_t> parent_;    // length n: elimination tree, −1 at roots
  std::vector<index_t> met_by_;    // length n: last row whose search met this column
  std::vector<index_t> path_, reached_;
  std::vector<offset_t> filled_;   // length n: end of the column's entries so far
  std::vector<T> x_;               // length n, by place: the row being solved for
  PivotCount count_;
};

}  // namespace palmette
