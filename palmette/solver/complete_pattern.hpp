// Inside `solver`: fills in the entries that a structurally singular matrix lacks.
#pragma once

#include <memory>
#include <vector>

#include "palmette/base/base.hpp"
#include "palmette/matrix/matrix.hpp"

namespace palmette {

struct MatrixPlace {
  index_t row = 0;
  index_t column = 0;
};

/// The rows and columns of a structurally_singular failure in pairs; empty if there are more than `most`.
std::vector<MatrixPlace> places_to_complete(const NumericalFailure& failure, std::size_t most);

/// The matrix with its largest modulus (1 if that is 0) at these places. It has full structural rank, and
/// differs from the given matrix by one of rank places.size(), so GMRES needs only a few more steps. Its
/// symmetry is marked general.
template <class T>
std::shared_ptr<const SparseMatrix<T>> completed(const SparseMatrix<T>& matrix,
                                                 const std::vector<MatrixPlace>& places);

}  // namespace palmette
