// For tests of the hall over ranks: rows of a matrix, and errors of all ranks.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "palmette/solver/rank_checks.hpp"
#include "systems.hpp"
#include "tests/shuffled_ranks.hpp"

namespace palmette::testing {

/// What `work` throws as E, which must be the same on all ranks; empty: nothing.
template <class E>
std::string said_by_all(index_t ranks, const std::function<void(Transport&)>& work) {
  std::vector<std::string> said(ranks);
  ThreadWorld world(ranks);
  world.run([&](Transport& transport) {
    try {
      work(transport);
    } catch (const E& error) {
      said[transport.rank()] = error.what();
    }
  });
  for (const std::string& text : said) EXPECT_EQ(text, said[0]);
  return said[0];
}

/// Rows as a caller would hold them.
template <class T>
struct OwnRows {
  index_t size = 0, first = 0;
  std::vector<offset_t> row_ptr = {0};
  std::vector<index_t> column;
  std::vector<T> values;
  RowBlock<T> block() const { return {size, first, row_ptr, column, values}; }
  index_t count() const { return static_cast<index_t>(row_ptr.size()) - 1; }
};

template <class T>
OwnRows<T> rows_of(const SparseMatrix<T>& matrix, const RowsOfRank& which) {
  const SparseMatrix<T> by_rows = transpose(matrix);
  OwnRows<T> own;
  own.size = matrix.cols();
  own.first = which.first;
  for (index_t row = which.first; row < which.first + which.count; ++row) {
    const auto begin = by_rows.pattern.column_ptr[row], end = by_rows.pattern.column_ptr[row + 1];
    own.column.insert(own.column.end(), by_rows.pattern.row_index.begin() + begin,
                      by_rows.pattern.row_index.begin() + end);
    own.values.insert(own.values.end(), by_rows.values.begin() + begin, by_rows.values.begin() + end);
    own.row_ptr.push_back(static_cast<offset_t>(own.column.size()));
  }
  return own;
}

/// Consecutive rows of a rank; the last rank has most, and a middle one none.
inline RowsOfRank uneven_rows(index_t size, index_t rank, index_t ranks) {
  const auto begin = [&](index_t r) {
    return static_cast<index_t>(std::int64_t{size} * r * (r + 1) / (std::int64_t{ranks} * (ranks + 1)));
  };
  const bool one_is_empty = ranks > 2;
  const index_t first = begin(one_is_empty && rank == 1 ? 2 : rank);
  const index_t end = begin(one_is_empty && rank == 0 ? 2 : rank + 1);
  return {first, end - first};
}
template <class T>
OwnRows<T> uneven_rows_of(const SparseMatrix<T>& matrix, const Transport& transport) {
  return rows_of(matrix, uneven_rows(matrix.rows(), transport.rank(), transport.num_ranks()));
}

template <class T>
DenseMatrix<T> rows_of(const DenseMatrix<T>& whole, index_t first, index_t count) {
  DenseMatrix<T> part(count, whole.cols);
  for (index_t column = 0; column < whole.cols; ++column)
    std::copy_n(whole.view().column(column) + first, count, part.view().column(column));
  return part;
}

/// Many blocks, few whole subtrees: small matrices have many messages.
inline RankSolverOptions busy_ranks(std::optional<FactorKind> kind) {
  RankSolverOptions options;
  options.kind = kind;
  options.analyze.max_width = 8;
  options.whole.kept = false;
  options.watchdog_seconds = 60;
  options.transport_name = "threads";
  return options;
}

}  // namespace palmette::testing
