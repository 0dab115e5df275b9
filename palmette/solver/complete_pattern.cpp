// Combines triplets of the matrix and of the missing entries.
#include "palmette/solver/complete_pattern.hpp"

#include <algorithm>
#include <cmath>

namespace palmette {

std::vector<MatrixPlace> places_to_complete(const NumericalFailure& failure, std::size_t most) {
  std::vector<MatrixPlace> places;
  if (failure.kind != FailureKind::structurally_singular || failure.rows.size() > most) return places;
  for (std::size_t k = 0; k < failure.rows.size(); ++k)
    places.push_back({failure.rows[k], failure.columns[k]});
  return places;
}

template <class T>
std::shared_ptr<const SparseMatrix<T>> completed(const SparseMatrix<T>& matrix,
                                                 const std::vector<MatrixPlace>& places) {
  double largest = 0;
  for (const T& value : matrix.values) largest = std::max(largest, double(std::abs(value)));
  Triplets<T> entries{matrix.rows(), matrix.cols(), {}, {}, matrix.values};
  entries.row = matrix.pattern.row_index;
  for (index_t j = 0; j < matrix.cols(); ++j)
    entries.column.insert(
        entries.column.end(),
        static_cast<std::size_t>(matrix.pattern.column_ptr[j + 1] - matrix.pattern.column_ptr[j]), j);
  for (const MatrixPlace& place : places) {
    entries.row.push_back(place.row);
    entries.column.push_back(place.column);
    entries.value.push_back(T(real_t<T>(largest > 0 ? largest : 1)));
  }
  return std::make_shared<const SparseMatrix<T>>(from_triplets(entries));
}

#define PALMETTE_INSTANTIATE(T)                                                     \
  template std::shared_ptr<const SparseMatrix<T>> completed(const SparseMatrix<T>&, \
                                                            const std::vector<MatrixPlace>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
