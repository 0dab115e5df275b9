// Inside `solver`: solves for single entries with what the hall knows of a factor.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "palmette/solver/entry_check.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette {

/// Right-hand sides that are solved together, those with common branches side by side.
inline constexpr index_t columns_side_by_side = 64;

template <class T>
struct EntrySource {
  /// x ← the wanted entries of the solutions
  std::function<EntryTrace(const SparseMatrix<T>& b, const WantedEntries& wanted, DenseView<T> x)> solve;
  std::span<const index_t> place;              ///< of a row of b in the order of the factor
  std::unique_ptr<const Equations<T>> equations;  ///< needed for checks
};

/// x ← op(A)⁻¹·x, refined and verified.
template <class T>
using WholeSolve = std::function<Outcome<Report>(DenseView<T> x, const SolveRequest& request)>;

/// By the branches that the entries lie in; checked but not refined.
template <class T>
SolvedEntries<T> solve_by_branches(const EntrySource<T>& source, const SparseMatrix<T>& b,
                                   std::span<const index_t> wanted, const EntryRequest& request);

/// The rows of whole solutions, refined and verified. @param why  for a note of the report
template <class T>
Outcome<SolvedEntries<T>> solve_whole_for_entries(const WholeSolve<T>& solve_whole, const SparseMatrix<T>& b,
                                                  std::span<const index_t> wanted,
                                                  const EntryRequest& request, const std::string& why);

/// @throws UsageError
void check_wanted_rows(index_t n, std::span<const index_t> wanted);

/// @param first_row  of b in the whole right-hand side, for messages
/// @throws DimensionError; UsageError
template <class T>
void check_entry_request(index_t n, const SparseMatrix<T>& b, std::span<const index_t> wanted,
                         index_t first_row = 0);

}  // namespace palmette
