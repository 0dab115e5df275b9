// Inside `refine`: the loop of iterative refinement, wherever the vectors lie: all columns that still need it
// are corrected together, and each is judged separately.
#pragma once

#include <algorithm>
#include <vector>

#include "palmette/refine/krylov.hpp"
#include "palmette/refine/residual.hpp"

namespace palmette {

/// A step that does not halve the figure that it should reduce does not help.
inline constexpr double least_gain = 0.5;

/// GMRES restarts with a fresh residual in extended precision after each cycle.
inline constexpr int krylov_cycles = 4;
inline constexpr int krylov_restart = 30;

/// A column whose residual waits for the inverse: the residual is 2^exponent times what was passed on.
struct WaitingColumn {
  index_t column = 0;
  int exponent = 0;
};

/// x + correction, and how large it is.
struct Candidate {
  bool finite = false;
  ColumnError error;        ///< of a finite candidate
  double relative_size = 0; ///< ‖correction‖∞ / ‖candidate‖∞
};

/// @tparam Space  holds b, x and the work vectors:
///   index_t num_columns();
///   for_each_column(judge)     calls judge(column, ColumnError) for all columns of x, in order
///   int pass_on(column, place) in a judge: the residual of its column becomes waiting residual `place`;
///                              returns its exponent
///   correct(waiting, judge)    corrects the waiting residuals by the inverse, and calls judge(place,
///                              Candidate) for each
///   accept(place)              in a judge: x ← the candidate
///   krylov(column, options)    one cycle of GMRES; returns its steps and the Candidate, in place 0
template <class T, class Space>
class RefinementLoop {
 public:
  RefinementLoop(Space& space, const RefineOptions& options)
      : space_(space), options_(options), columns_(space.num_columns()) {
    if (!(options_.bound > 0)) options_.bound = verification_bound(unit_roundoff<T>);
  }

  Verification run() {
    start();
    for (int step = 0; step < options_.max_steps && !waiting_.empty(); ++step) correct_waiting();
    if (options_.krylov && options_.max_steps > 0)
      for (std::size_t column = 0; column < columns_.size(); ++column)
        if (columns_[column].stalled) go_on_with_krylov(static_cast<index_t>(column));
    return summary();
  }

 private:
  struct Column {
    ColumnError error;               ///< of the best x so far
    int steps = 0;
    double last_size = infinity;     ///< relative size of the last correction
    bool stalled = false;
  };

  void start() {
    space_.for_each_column([&](index_t number, const ColumnError& error) {
      Column& column = columns_[number];
      column.error = error;
      const bool enough = options_.only_if_needed && error.backward <= options_.bound;
      // If x or b is not finite, there is no start for refinement and no way to estimate the error.
      if (!enough && error.finite() && options_.max_steps > 0) wait(number);
    });
  }

  /// Appends the residual evaluated last to those that already wait.
  void wait(index_t number) {
    if (columns_[number].error.residual_norm == 0) return;
    waiting_.push_back({number, space_.pass_on(number, waiting_.size())});
  }

  void correct_waiting() {
    // The residual of a column that waits again takes this place or an earlier one, which are no longer
    // needed.
    const std::vector<WaitingColumn> corrected = std::exchange(waiting_, {});
    space_.correct(corrected, [&](std::size_t place, const Candidate& candidate) {
      if (judge(corrected[place].column, place, candidate)) wait(corrected[place].column);
    });
  }

  /// Accepts x + correction if it is no worse than x. True if another correction is worth its cost.
  bool judge(index_t number, std::size_t place, const Candidate& candidate) {
    Column& column = columns_[number];
    ++column.steps;
    const double before = column.error.backward;
    // Unless it worsens the backward error by more than rounding.
    const bool accepted =
        candidate.finite && candidate.error.backward <= std::max(before, unit_roundoff<T>);
    if (accepted) {
      column.error = candidate.error;
      space_.accept(place);
    }
    if (options_.only_if_needed && column.error.backward <= options_.bound) return false;
    const double size = accepted ? candidate.relative_size : infinity;
    const bool smaller_error = column.error.backward <= least_gain * before;
    // Once the backward error is at rounding level the forward error can still fall, as long as the
    // corrections do.
    const bool smaller_step =
        !options_.only_if_needed && size <= least_gain * column.last_size && size > unit_roundoff<T>;
    column.last_size = size;
    const bool go_on = accepted && (smaller_error || smaller_step);
    column.stalled = !go_on && column.error.backward > options_.bound;
    return go_on;
  }

  void go_on_with_krylov(index_t number) {
    Column& column = columns_[number];
    for (int cycle = 0; cycle < krylov_cycles && column.error.backward > options_.bound; ++cycle) {
      const double before = column.error.backward;
      KrylovOptions krylov;
      krylov.max_iterations = krylov_restart;
      krylov.tolerance = std::clamp(0.25 * options_.bound / before, 4 * unit_roundoff<T>, 0.1);
      const auto [iterations, found] = space_.krylov(number, krylov);
      column.steps += iterations;
      if (!found.finite || !(found.error.backward <= std::max(before, unit_roundoff<T>))) break;
      column.error = found.error;
      space_.accept(0);
      if (column.error.backward > least_gain * before) break;
    }
    column.stalled = column.error.backward > options_.bound;
  }

  Verification summary() const {
    Verification result;
    result.bound = options_.bound;
    for (const Column& column : columns_) {
      result.backward_error = std::max(result.backward_error, column.error.backward);
      result.componentwise_backward_error =
          std::max(result.componentwise_backward_error, column.error.componentwise);
      result.refine_steps = std::max(result.refine_steps, column.steps);
      result.stalled = result.stalled || column.stalled;
    }
    result.verified = result.backward_error <= result.bound;
    return result;
  }

  Space& space_;
  RefineOptions options_;
  std::vector<Column> columns_;
  std::vector<WaitingColumn> waiting_;  // at most as many
};

/// ‖correction‖∞·2^exponent / ‖x‖∞, given both norms.
inline double relative_size(double of_correction, double of_x, int exponent) {
  return of_correction == 0 ? 0 : std::ldexp(of_correction / of_x, exponent);
}

/// 2^exponent as two factors, since it may lie outside the range of double even if a product with it does
/// not.
struct PowerOfTwo {
  double first = 1, second = 1;
  explicit PowerOfTwo(int exponent)
      : first(std::ldexp(1.0, exponent / 2)), second(std::ldexp(1.0, exponent - exponent / 2)) {}
};

}  // namespace palmette
