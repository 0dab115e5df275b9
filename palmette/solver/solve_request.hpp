// What is asked of a solve.
#pragma once

#include <string_view>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// What becomes of a system whose matrix is singular to working precision.
enum class SingularAnswer {
  raise,       ///< no answer: the failure names row and column
  /// the best x: it solves what can be solved, and is huge along null vectors where b asks for that; never
  /// verified
  warn,
  least_norm,  ///< the shortest x among those of least residual, x = A⁺·b; never verified
};
std::string_view name_of(SingularAnswer answer);
/// "raise", "warn", "least_norm". @throws UsageError listing them
SingularAnswer singular_answer(std::string_view name);

struct SolveRequest {
  Operation operation = Operation::plain;
  /// −1: as many as help (GMRES included), none where the first answer is verified; 0: none; N: up to N
  int max_refine_steps = -1;
  bool condition = false;     ///< estimate condition and forward error bound as well
  int repeat = 1;             ///< time so many solves (without refinement) and report the median
  int threads = 0;            ///< at most so many, where the solver's options allow more; 0: as those say
};

}  // namespace palmette
