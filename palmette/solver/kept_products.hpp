// Inside `solver`: the products of a Solver as a file, and back.
#pragma once

#include <string>

#include "palmette/solver/products.hpp"

namespace palmette {

/// @throws IoError; then nothing has changed under this name
template <class T>
void save_products(const std::string& path, const Products<T>& made, const SolverOptions& options);

template <class T>
struct KeptProducts {
  SolverOptions options;  ///< with which the matrix was factored, and those of LoadOptions
  Products<T> made;
};
/// @throws IoError as load_solver
template <class T>
KeptProducts<T> load_products(const std::string& path, const LoadOptions& options);

}  // namespace palmette
