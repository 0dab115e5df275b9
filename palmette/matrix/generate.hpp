// Generators of the model problems. The same name, sizes and seed give the same matrix on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "palmette/matrix/sparse_matrix.hpp"

namespace palmette {

struct GenerateOptions {
  std::string problem;     ///< one of generator_list()
  index_t n = 0;           ///< size parameter; its meaning is in the list (grid points per side, or rows)
  std::uint64_t seed = 1;  ///< for random problems
  double parameter = 0;    ///< meaning in the list (levels, convection strength, degree); 0 means its default
};

/// One model problem: what `n` and `parameter` mean, and the default of `parameter`.
struct GeneratorInfo {
  std::string name;
  std::string summary;
  std::string n_meaning;
  std::string parameter_meaning;  ///< empty if there is none
  double default_parameter = 0;
};

/// All generators, in the order of the guide.
const std::vector<GeneratorInfo>& generator_list();

/// Generate a model problem.
/// @throws UsageError for an unknown name (suggesting the nearest one) or a size outside the generator's
///   range, DimensionError if the matrix would have more than 2³¹ − 1 rows
SparseMatrix<double> generate(const GenerateOptions& options);

}  // namespace palmette
