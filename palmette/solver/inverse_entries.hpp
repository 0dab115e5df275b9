// Part of the door of `solver`: entries of A⁻¹, checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "palmette/solve/solve.hpp"

namespace palmette {

template <class T>
class Solver;

struct InverseRequest {
  int threads = 0;            ///< 0: as many as this process may use
  index_t check_columns = 3;  ///< columns of A⁻¹ that are solved for and compared; 0: not checked
  std::uint64_t seed = 1;     ///< which ones
};

/// How entries of A⁻¹ were computed, and how far they are from solutions of A·z = e_j.
struct InverseReport {
  double seconds = 0;  ///< of the recurrence; 0 if no entry needed it; over ranks also of the solves
  double flops = 0;
  offset_t memory_bytes = 0;  ///< of the selected inverse; over ranks its sum, as of flops
  /// Over ranks, of the recurrence: sent by all ranks.
  std::int64_t messages = 0;
  double message_bytes = 0;
  index_t solved_columns = 0;  ///< columns with entries off the pattern of the factor, which were solved for
  index_t checked_columns = 0;
  /// largest |Z_ij − z_i| / max|z| of the checked columns, z being verified solutions of A·z = e_j
  double difference = 0;
  double bound = 0;       ///< ten times the largest forward error bound of these solutions
  bool verified = false;  ///< difference ≤ bound, and there were columns to check
  std::vector<std::string> notes;
};

template <class T>
struct InverseEntries {
  std::vector<T> values;
  InverseReport report;
};

template <class T>
struct CheckedInverse {
  SelectedInverse<T> inverse;
  InverseReport report;
};

/// One rank's entries.
template <class T>
struct CheckedRankInverse {
  RankSelectedInverse<T> inverse;
  InverseReport report;  ///< of all ranks, but for seconds
};

/// Two answers whose errors are bounded may differ by both bounds; the rest is for what has no bound of its
/// own.
inline constexpr double times_the_bound = 10;

/// @throws DimensionError, UsageError as inverse_entries
void check_entries_of_inverse(index_t n, std::span<const index_t> rows, std::span<const index_t> columns);
/// request.check_columns different ones of 0 … count − 1, or all, ascending, by the seed.
std::vector<index_t> columns_to_check(index_t count, const InverseRequest& request);

/// The entries of A⁻¹ on the pattern of the factor.
/// @returns them; or the failure of a solve that checks them: numerically singular
/// @throws as Solver::factor
/// @cost  see select_inverse; each checked column is a solve with an estimate of the condition
template <class T>
Outcome<CheckedInverse<T>> selected_inverse(Solver<T>& solver, const InverseRequest& request = {});

/// Entries (rows[k], columns[k]) of A⁻¹, counted from 0, in any order, also several times.
///
/// Those on the pattern of the factor come from its selected inverse; the columns of the others are solved
/// for, 64 at a time.
/// @throws DimensionError if the lists differ in length; UsageError naming an entry outside the matrix
template <class T>
Outcome<InverseEntries<T>> inverse_entries(Solver<T>& solver, std::span<const index_t> rows,
                                           std::span<const index_t> columns,
                                           const InverseRequest& request = {});

/// The diagonal of A⁻¹.
template <class T>
Outcome<InverseEntries<T>> inverse_diagonal(Solver<T>& solver, const InverseRequest& request = {});

}  // namespace palmette
