// Inside `solver`: entries for places where a structurally singular matrix lacks them.
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

/// The rows and columns of a structurally_singular failure in pairs; empty where there are more than `most`
/// of them.
std::vector<MatrixPlace> places_to_complete(const NumericalFailure& failure, std::size_t most);

/// The matrix with its largest modulus (one, if that is zero) at these places: of full structural rank, and
/// off the given one by a matrix of their number as rank, so that GMRES needs but a few steps more. Its
/// symmetry is marked general.
template <class T>
std::shared_ptr<const SparseMatrix<T>> completed(const SparseMatrix<T>& matrix,
                                                 const std::vector<MatrixPlace>& places);

}  // namespace palmette
