// The matrices on which devices are compared: model_problems.txt, which tools read too.
#pragma once

#include <string>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette::benchmarks {

struct ModelProblem {
  std::string problem;  ///< as `generate` has it
  index_t n = 0;
  std::string title;
};

std::vector<ModelProblem> model_problems();

}  // namespace palmette::benchmarks
