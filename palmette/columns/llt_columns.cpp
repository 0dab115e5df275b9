// Up-looking LLᵀ: row k of L solves a triangular system with the rows before it; its pattern is a subtree of
// the elimination tree.
#include "palmette/columns/llt_columns.hpp"

#include <algorithm>

namespace palmette {

template <class T>
LltColumns<T>::LltColumns(const SparseMatrix<T>& matrix, std::shared_ptr<const BlockOrdering> order)
    : matrix_(matrix),
      structure_(std::make_shared<ColumnStructure>()),
      factor_(std::make_shared<ColumnFactor<T>>()) {
  const auto n = static_cast<std::size_t>(matrix.cols());
  factor_->kind_ = FactorKind::llt;
  factor_->inverse_pivot_.resize(n);
  structure_->row = order->row;
  structure_->order = std::move(order);
  structure_->place_of_row.resize(n);
  met_by_.assign(n, -1);
  path_.resize(n);
  reached_.resize(n);
  x_.assign(n, T(0));
}

template <class T>
std::shared_ptr<const ColumnFactor<T>> LltColumns<T>::run() {
  number_rows();
  count_columns();
  std::fill(met_by_.begin(), met_by_.end(), -1);
  const index_t n = matrix_.cols();
  for (index_t place = 0; place < n; ++place)
    if (!factor_row(place)) return nullptr;
  factor_->pivots_ = count_.report(0, false);
  factor_->pivots_.inertia.positive = n;
  factor_->structure_ = std::move(structure_);
  return std::move(factor_);
}

template <class T>
void LltColumns<T>::number_rows() {
  for (index_t place = 0; place < matrix_.cols(); ++place)
    structure_->place_of_row[structure_->row[place]] = place;
}

/// The tree, and the entries of each column: row k of L reaches from the columns of row k of A up the tree to
/// k.
template <class T>
void LltColumns<T>::count_columns() {
  const index_t n = matrix_.cols();
  const index_t* const place_of_row = structure_->place_of_row.data();
  parent_.assign(n, -1);
  std::vector<offset_t>& ptr = structure_->lower_ptr;
  ptr.assign(n + 1, 0);
  for (index_t place = 0; place < n; ++place) {
    met_by_[place] = place;
    for (const index_t row : matrix_.pattern.column(structure_->row[place])) {
      // Walk up from this entry: a vertex without a parent gets `place` as its parent.
      for (index_t at = place_of_row[row]; at < place && met_by_[at] != place; at = parent_[at]) {
        met_by_[at] = place;
        if (parent_[at] < 0) parent_[at] = place;
        ++ptr[at + 1];
      }
    }
  }
  factor_->flops_ = n;
  for (index_t place = 0; place < n; ++place) {
    const double below = double(ptr[place + 1]);
    factor_->flops_ += below * (below + 2);
    ptr[place + 1] += ptr[place];
  }
  structure_->lower_row.resize(ptr[n]);
  factor_->lower_.resize(ptr[n]);
  filled_.assign(ptr.begin(), ptr.end() - 1);
}

template <class T>
bool LltColumns<T>::factor_row(index_t place) {
  const SparsityPattern& pattern = matrix_.pattern;
  const index_t column = structure_->row[place], n = pattern.cols;
  const index_t* const place_of_row = structure_->place_of_row.data();
  met_by_[place] = place;
  index_t top = n;
  Real pivot = 0;
  for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
    index_t at = place_of_row[pattern.row_index[entry]];
    if (at > place) continue;
    if (at == place) {
      pivot = std::real(matrix_.values[entry]);
      continue;
    }
    // Entry (at, place) of the upper triangle is the conjugate of row `place` of the lower one.
    x_[at] = conjugate(matrix_.values[entry]);
    index_t depth = 0;
    for (; met_by_[at] != place; at = parent_[at]) {
      met_by_[at] = place;
      path_[depth++] = at;
    }
    while (depth > 0) reached_[--top] = path_[--depth];
  }
  index_t* const rows = structure_->lower_row.data();
  T* const lower = factor_->lower_.data();
  for (; top < n; ++top) {
    const index_t at = reached_[top];
    const T value = x_[at] * factor_->inverse_pivot_[at];
    x_[at] = T(0);
    for (offset_t entry = structure_->lower_ptr[at]; entry < filled_[at]; ++entry)
      x_[rows[entry]] -= conjugate(lower[entry]) * value;
    pivot -= std::real(value * conjugate(value));
    rows[filled_[at]] = place;
    lower[filled_[at]++] = value;
  }
  if (!(pivot > 0) || !is_finite(pivot)) return false;
  count_.add(pivot);
  factor_->inverse_pivot_[place] = T(1 / std::sqrt(pivot));
  return true;
}

template <class T>
std::shared_ptr<const ColumnFactor<T>> LltColumns<T>::run_again(const SparseMatrix<T>& matrix,
                                                                const ColumnFactor<T>& known) {
  LltColumns again(matrix, known.structure_->order);
  return again.run();
}

#define PALMETTE_INSTANTIATE(T) template class LltColumns<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
