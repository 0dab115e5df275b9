// Inside `solver`: checks of arguments of each rank; if one fails, all ranks throw.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "palmette/solver/rank_inverse.hpp"
#include "palmette/solver/row_block.hpp"

namespace palmette {

/// Runs work that needs no other rank and may throw. Every rank must call it.
/// @throws if the work of any rank threw: on every rank the same UsageError, DimensionError, MemoryError,
///   DeviceError or IoError, naming the first such rank, or its file, and an AgreedError: an `exchange`
///   around it does not end the run; any other error on its own rank, BrokenRun elsewhere
void check_on_all(const RankTeam& ranks, const std::function<void()>& work);

/// Ranks that pass different arguments would wait for each other's messages. Every rank must call it.
/// @param print  checksum of this rank's arguments
/// @throws UsageError on all ranks unless it is the same
void check_same_on_all(const RankTeam& ranks, std::uint64_t print, const std::string& arguments,
                       const std::string& remedy);

/// A rank's rows of something that has as many rows as the matrix.
struct PartOfRank {
  const char* name;
  index_t rows, cols;
};
/// Every rank must call it. @param rows  that this rank has of the matrix
/// @throws DimensionError on all ranks unless both parts of each have as many rows, and equally many columns
void check_parts(const RankTeam& ranks, index_t rows, const PartOfRank& one, const PartOfRank& other);

/// Every rank must call it. @throws DimensionError on all ranks unless b has as many columns on each
void check_same_columns(const RankTeam& ranks, index_t columns_of_b);

/// Rows [first, first + count) of a rank.
struct RowsOfRank {
  index_t first = 0;
  index_t count = 0;
};

/// This rank's rows as the columns of an n × rows matrix: sorted, duplicates summed, finite.
/// @throws UsageError, DimensionError naming row and column
template <class T>
SparseMatrix<T> checked_rows(const RowBlock<T>& rows);

/// The rows of all ranks, by rank. Every rank must call it.
/// @throws DimensionError, UsageError on all ranks, unless the blocks hold every row of a square matrix once
std::vector<RowsOfRank> agreed_rows(const RankTeam& ranks, index_t size, RowsOfRank mine);

}  // namespace palmette
