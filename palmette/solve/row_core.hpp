// Inside `solve`: a plain sparse triangle of any pattern, solved row by row.
#pragma once

#include <atomic>
#include <mutex>

#include "palmette/solve/row_layout.hpp"

namespace palmette::solve_detail {

/// Right-hand sides first … first + count − 1 of a block.
struct Strip {
  index_t first, count;
};

/// S = L, strictly lower part and diagonal given. The sweep for the transpose is made when it is first
/// needed, and kept.
template <class T>
class RowCore final : public SweepCore<T> {
 public:
  RowCore(LowerTriangle<T> triangle, bool transposed_first);

  void solve(bool transposed, const CoreRun<T>& run) const override;
  WorkspaceNeed workspace_need(index_t num_rhs) const override;
  CoreCost cost() const override;
  offset_t memory_bytes() const override;

 private:
  const RowSweep<T>& sweep(bool transposed) const;
  void solve_by_panels(bool transposed, const CoreRun<T>& run) const;
  /// Calls run_body(body) with the body of one strip.
  template <class RunBody>
  void with_body(const RowSweep<T>& rows, const CoreRun<T>& run, Strip strip, T* work,
                 RunBody&& run_body) const;

  index_t n_;
  std::vector<T> diagonal_;    // length n; empty: ones
  std::vector<T> reciprocal_;  // length n; empty: ones
  bool first_transposed_;      // which sweep the constructor made
  RowSweep<T> first_;
  mutable ProcessMutex making_;  // second_ and panels_
  mutable std::atomic<bool> second_made_{false};
  mutable RowSweep<T> second_;
  /// A sweep for several threads, built when it is first used.
  struct Panels {
    std::atomic<bool> made{false};
    RowSweep<T> sweep;
  };
  mutable Panels panels_[2];  // plain, transposed
};

}  // namespace palmette::solve_detail
