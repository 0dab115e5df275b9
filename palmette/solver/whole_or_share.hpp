// Inside `solver`: a matrix that this process holds, or a share of one that several processes hold, and what
// changes of low rank ask of either.
#pragma once

#include <cmath>

#include "palmette/solver/long_products.hpp"

namespace palmette {

/// Refers to the caller's object. Of a share, every process must call each function, with the same arguments.
template <class T>
class WholeOrShare {
 public:
  // Implicit: callers with a whole matrix pass it as it is.
  WholeOrShare(const SparseMatrix<T>& whole) : whole_(&whole) {}
  WholeOrShare(const MatrixShare<T>& share) : share_(&share) {}

  index_t rows() const { return share_ != nullptr ? share_->size() : whole_->rows(); }

  /// y ← y + sign·op(A)·x, with the same bits in both forms.
  void add_product(const SignedOperation& how, const T* x, LongSums<T>& y) const {
    if (share_ == nullptr) return palmette::add_product(*whole_, how, x, nullptr, y);
    const bool plain = how.operation == Operation::plain;
    const SparseMatrix<T>& part = plain ? share_->rows : share_->columns;
    // Column k of either part holds what belongs to row first + k of y, so that it is the transpose.
    LongSums<T> own(share_->count());
    for (index_t k = 0; k < share_->count(); ++k) {
      own.sum[k] = y.sum[share_->first + k];
      own.moduli[k] = y.moduli[share_->first + k];
    }
    palmette::add_product(part, {plain ? Operation::transpose : how.operation, how.sign}, x, nullptr, own);
    std::copy(own.sum.begin(), own.sum.end(), y.sum.begin() + share_->first);
    std::copy(own.moduli.begin(), own.moduli.end(), y.moduli.begin() + share_->first);
    share_->complete(std::span(y.sum));
    share_->complete(std::span(y.moduli));
  }

  /// visit(row, column, value) for each entry that this process holds, some of a share twice.
  template <class Visit>
  void visit_own(const Visit& visit) const {
    const auto each = [](const SparseMatrix<T>& part, const auto& take) {
      for (index_t k = 0; k < part.cols(); ++k)
        for (offset_t entry = part.pattern.column_ptr[k]; entry < part.pattern.column_ptr[k + 1]; ++entry)
          take(k, part.pattern.row_index[entry], part.values[entry]);
    };
    const index_t first = share_ != nullptr ? share_->first : 0;
    each(share_ != nullptr ? share_->columns : *whole_,
         [&](index_t k, index_t row, const T& value) { visit(row, first + k, value); });
    if (share_ != nullptr)
      each(share_->rows, [&](index_t k, index_t column, const T& value) { visit(first + k, column, value); });
  }
  /// As MatrixShare::complete; all have all of a whole matrix.
  template <class Item>
  void complete(std::span<Item> items) const {
    if (share_ != nullptr) share_->complete(items);
  }

  /// max_i |a_ij| for each column j.
  std::vector<double> largest_of_columns() const {
    std::vector<double> largest(rows(), 0);
    const SparseMatrix<T>& part = share_ != nullptr ? share_->columns : *whole_;
    const index_t first = share_ != nullptr ? share_->first : 0;
    for (index_t j = 0; j < part.cols(); ++j)
      for (offset_t entry = part.pattern.column_ptr[j]; entry < part.pattern.column_ptr[j + 1]; ++entry)
        largest[first + j] = std::max(largest[first + j], double(std::abs(part.values[entry])));
    if (share_ != nullptr) share_->complete(std::span(largest));
    return largest;
  }

  /// Number of entries of each row.
  std::vector<index_t> entries_of_rows() const {
    std::vector<index_t> entries(rows(), 0);
    if (share_ == nullptr) {
      for (const index_t row : whole_->pattern.row_index) ++entries[row];
      return entries;
    }
    for (index_t k = 0; k < share_->count(); ++k)
      entries[share_->first + k] = static_cast<index_t>(share_->rows.pattern.column(k).size());
    share_->complete(std::span(entries));
    return entries;
  }

 private:
  const SparseMatrix<T>* whole_ = nullptr;
  const MatrixShare<T>* share_ = nullptr;
};

}  // namespace palmette
