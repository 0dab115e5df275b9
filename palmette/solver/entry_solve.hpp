// Part of the door of `solver`: options and report of solves for single entries of x.
#pragma once

#include <string>
#include <vector>

#include "palmette/solve/solve.hpp"

namespace palmette {

struct EntryRequest {
  Operation operation = Operation::plain;
  int threads = 0;    ///< at most this many; 0: as the solver's options say
  bool check = true;  ///< false: nothing is checked, and nothing counts as verified
};

/// What a solve for single entries did and how well its equations hold.
struct EntryReport {
  SolveMethod method = SolveMethod::serial;
  int threads = 1;
  double seconds = 0;      ///< of the solve, without the check
  double bytes = 0;        ///< of the factor that was read
  double whole_bytes = 0;  ///< that solves with the whole tree would have read
  /// Over ranks: messages of both sweeps and bytes in them, of all ranks, without those that bring x to all;
  /// and of solves with the whole tree. 0 if solved_whole
  double messages = 0, message_bytes = 0;
  double whole_messages = 0, whole_message_bytes = 0;
  /// true: the systems were solved whole and refined, since an equation did not hold, or since the factor is
  /// not one for single entries
  bool solved_whole = false;
  index_t checked_rows = 0;  ///< equations that were checked, the most of any right-hand side
  /// max|b − op(A)x|_i / (max Σ_j|op(A)_ij| · max|x_j| + max|b_i|), the maxima over the checked rows and the
  /// entries of x that they contain: never less than the backward error of the whole system restricted to
  /// these rows. That of whole solutions if solved_whole
  double backward_error = 0;
  double bound = 0;          ///< for `verified`
  bool verified = false;
  std::vector<std::string> notes;
};

template <class T>
struct SolvedEntries {
  DenseMatrix<T> x;  ///< one row for each wanted one, one column for each right-hand side
  EntryReport report;
};

}  // namespace palmette
