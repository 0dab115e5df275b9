// A square matrix that is distributed over several processes, by rows and by columns.
#pragma once

#include <cstddef>
#include <functional>

#include "palmette/matrix/sparse_matrix.hpp"

namespace palmette {

/// The part of A (n × n) that one process holds: rows [first, first + count), and the columns with the same
/// indices, so that it can compute its entries of A·x, Aᵀ·x and Aᴴ·x without other processes. Every process
/// has whole vectors. Constant after construction.
template <class T>
struct MatrixShare {
  index_t first = 0;
  SparseMatrix<T> rows;     ///< n × count: column k is row first + k of A
  SparseMatrix<T> columns;  ///< n × count: column k is column first + k of A
  /// `items` is n items of item_bytes bytes. Before the call every process has written those of its rows;
  /// after it every process has all. All must call it.
  std::function<void(std::span<std::byte> items, std::size_t item_bytes)> share;

  index_t size() const { return rows.rows(); }
  index_t count() const { return rows.cols(); }
  template <class Item>
  void complete(std::span<Item> items) const {
    share(std::as_writable_bytes(items), sizeof(Item));
  }
};

/// As multiply_add for the whole matrix, with the same bits; every process must call it, with the same x and
/// y.
/// @param x  n × k, y: n × k
/// @cost 2·nnz·k flops divided among all processes; y is gathered once for each column
template <class T>
void multiply_add(const MatrixShare<T>& matrix, Operation operation, T alpha, DenseView<const T> x,
                  DenseView<T> y);

/// As norm_infinity for the whole matrix; every process must call it.
template <class T>
double norm_infinity(const MatrixShare<T>& matrix);

}  // namespace palmette
