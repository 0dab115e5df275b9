// What the C functions over MPI ranks share: options, a rank's rows, and checks that all ranks make together.
#pragma once

#include "palmette/capi/handle.hpp"

namespace palmette::capi {

/// The caller's pattern, kept so that refactor needs only values.
struct GivenRows {
  index_t size = 0;
  index_t first_row = 0;
  std::vector<offset_t> row_ptr;
  std::vector<index_t> column;

  template <class T>
  RowBlock<T> with(const T* values) const {
    return {size, first_row, row_ptr, column, {values, column.size()}};
  }
};

struct RankSettings {
  RankSolverOptions solver;
  SolveRequest request;
  std::string transport, device;
};

/// @param given  may be null: the defaults @throws UsageError
RankSettings settings_from(const palmette_rank_options* given);
/// @throws UsageError for what only this rank can check
GivenRows rows_from(const palmette_rows* rows);

/// A communicator's exchange, of which settings.solver knows; rows and device of this rank. Every rank must
/// call it.
struct RankCall {
  MpiExchange exchange;
  GivenRows given;
};
RankCall begin_call(const palmette_rows* rows, int communicator, RankSettings& settings);

/// Of b, and of x where it has other rows.
struct ColumnRows {
  index_t of_b, of_x;
};
/// @throws UsageError on all ranks if an argument of any rank is wrong
void check_columns_together(Transport& transport, const palmette_columns* columns, const ColumnRows& rows);

}  // namespace palmette::capi
