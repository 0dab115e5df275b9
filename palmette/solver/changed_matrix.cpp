// In place where A has the entries, by way of coordinates where it has not.
#include "palmette/solver/changed_matrix.hpp"

#include <algorithm>

namespace palmette {
namespace {

/// use(row, column, value) for the entries of ±W·Wᴴ, those that several columns of W add to several times.
template <class T, class Use>
void visit_product(const SparseMatrix<T>& w, UpdateSign sign, const Use& use) {
  const real_t<T> factor(sign == UpdateSign::add ? 1 : -1);
  for (index_t k = 0; k < w.cols(); ++k)
    for (offset_t low = w.pattern.column_ptr[k]; low < w.pattern.column_ptr[k + 1]; ++low) {
      if (w.values[low] == T(0)) continue;
      const index_t column = w.pattern.row_index[low];
      use(column, column, T(factor * std::norm(w.values[low])));
      for (offset_t high = low + 1; high < w.pattern.column_ptr[k + 1]; ++high) {
        if (w.values[high] == T(0)) continue;
        const index_t row = w.pattern.row_index[high];
        const T value = factor * w.values[high] * conjugate(w.values[low]);
        use(row, column, value);
        use(column, row, conjugate(value));
      }
    }
}

}  // namespace

template <class T>
SparseMatrix<T> changed_matrix(const SparseMatrix<T>& matrix, const SparseMatrix<T>& w, UpdateSign sign) {
  SparseMatrix<T> changed = matrix;
  Triplets<T> added{matrix.rows(), matrix.cols(), {}, {}, {}};
  visit_product(w, sign, [&](index_t row, index_t column, const T& value) {
    const auto rows = changed.pattern.column(column);
    const auto place = std::lower_bound(rows.begin(), rows.end(), row);
    if (place != rows.end() && *place == row) {
      changed.values[changed.pattern.column_ptr[column] + (place - rows.begin())] += value;
      return;
    }
    added.row.push_back(row);
    added.column.push_back(column);
    added.value.push_back(value);
  });
  if (added.row.empty()) return changed;
  for (index_t column = 0; column < changed.cols(); ++column)
    for (offset_t entry = changed.pattern.column_ptr[column]; entry < changed.pattern.column_ptr[column + 1];
         ++entry) {
      added.row.push_back(changed.pattern.row_index[entry]);
      added.column.push_back(column);
      added.value.push_back(changed.values[entry]);
    }
  return from_triplets(added, matrix.symmetry);
}

#define PALMETTE_INSTANTIATE(T) \
  template SparseMatrix<T> changed_matrix<T>(const SparseMatrix<T>&, const SparseMatrix<T>&, UpdateSign);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
