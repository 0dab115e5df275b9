// Inside `solver`: columns of A⁻¹ against solutions, on one machine and over ranks.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "palmette/solver/entry_blocks.hpp"
#include "palmette/solver/inverse_entries.hpp"

namespace palmette {

inline constexpr const char* unverified_column = "a column that was solved for failed verification";

std::string note_on_replaced_pivots(index_t replaced);

template <class T>
struct KnownOfColumn {
  index_t row = 0;
  T value = T(0);
};
/// Those entries of A⁻¹ that are known in columns[k] of a list.
template <class T>
using KnownEntriesOf = std::function<std::vector<KnownOfColumn<T>>(std::size_t k)>;

template <class T>
struct ColumnSolve {
  WholeSolve<T> solve;
  index_t n;        ///< order of A
  int threads = 0;  ///< as SolveRequest
};

/// Solves for columns of A⁻¹ whole, and compares. Counts them in the report, with the largest difference and
/// the bound; a note says what failed, so that without one all columns agree.
/// @returns success, or numerically_singular
template <class T>
Outcome<void> compare_columns(const ColumnSolve<T>& by, std::span<const index_t> columns,
                              const KnownEntriesOf<T>& known, InverseReport& report);

}  // namespace palmette
