// What is asked of a solve.
#pragma once

#include "palmette/matrix/matrix.hpp"

namespace palmette {

struct SolveRequest {
  Operation operation = Operation::plain;
  int max_refine_steps = -1;  ///< −1: as many as help (GMRES included), none where the first answer is verified; 0: none; N: up to N
  bool condition = false;     ///< estimate condition and forward error bound as well
  int repeat = 1;             ///< time so many solves (without refinement) and report the median
  int threads = 0;            ///< at most so many, where the solver's options allow more; 0: as those say
};

}  // namespace palmette
