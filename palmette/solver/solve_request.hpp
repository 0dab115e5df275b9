// Options of a solve.
#pragma once

#include <string_view>

#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// What to do with a system whose matrix is singular to working precision.
enum class SingularAnswer {
  raise,       ///< fail, naming row and column
  /// the best x: solves the system as far as possible, and is huge along null vectors if b is not in the
  /// range of A; never verified
  warn,
  least_norm,  ///< the least-squares solution of least norm, x = A⁺·b; never verified
};
std::string_view name_of(SingularAnswer answer);
/// "raise", "warn", "least_norm". @throws UsageError listing them
SingularAnswer singular_answer(std::string_view name);

struct SolveRequest {
  Operation operation = Operation::plain;
  /// −1: as many as help (GMRES included), none if the first solution is verified; 0: none; N: up to N
  int max_refine_steps = -1;
  bool condition = false;     ///< estimate condition and forward error bound as well
  int repeat = 1;             ///< time this number of solves (without refinement) and report the median
  /// at most this many, and no more than the solver's options allow; 0: as the options say
  int threads = 0;
  /// for vectors on a device: the stream of CUDA or HIP that writes b and reads x; null: the default stream
  void* stream = nullptr;
};

}  // namespace palmette
