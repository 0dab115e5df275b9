// Inside `solve`: a plain sparse triangle of any pattern, solved row by row.
#pragma once

#include <atomic>
#include <mutex>

#include "palmette/solve/lower_triangle.hpp"
#include "palmette/solve/row_schedule.hpp"

namespace palmette::sweep {

/// One direction of a row sweep: rows in the order in which they are solved.
template <class T>
struct RowSweep {
  bool ascending = true;
  RowSchedule rows;
  std::vector<offset_t> place_ptr;  // length n + 1: entries of the row at each place
  std::vector<index_t> column;      // ascending within a row
  std::vector<T> value;

  index_t size() const { return static_cast<index_t>(place_ptr.size()) - 1; }
  index_t row_at(index_t place) const {
    if (!rows.order.empty()) return rows.order[place];
    return ascending ? place : size() - 1 - place;
  }
  offset_t memory_bytes() const;
};

/// S = L, strictly lower part and diagonal given. The sweep for the transpose is made when it is first needed, and kept.
template <class T>
class RowCore final : public SweepCore<T> {
 public:
  RowCore(LowerTriangle<T> triangle, bool transposed_first);

  void solve(bool transposed, const CoreRun<T>& run) const override;
  SpaceNeed space_need(index_t num_rhs) const override { return {offset_t{n_} * num_rhs, 0, 0}; }
  CoreCost cost() const override;
  offset_t memory_bytes() const override;

 private:
  const RowSweep<T>& sweep(bool transposed) const;

  index_t n_;
  std::vector<T> diagonal_;  // length n; empty: ones
  bool first_transposed_;    // which sweep the constructor made
  RowSweep<T> first_;
  mutable std::once_flag second_once_;
  mutable std::atomic<bool> second_made_{false};
  mutable RowSweep<T> second_;
};

}  // namespace palmette::sweep
