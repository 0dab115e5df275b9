// The loop of iterative refinement: all columns that still need it are corrected together, and each is judged
// separately.
#include <algorithm>
#include <limits>

#include "palmette/refine/krylov.hpp"
#include "palmette/refine/residual.hpp"
#include "palmette/refine/system.hpp"

namespace palmette {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A step that does not halve the figure that it should reduce does not help.
constexpr double least_gain = 0.5;

/// GMRES restarts with a fresh residual in extended precision after each cycle.
constexpr int krylov_cycles = 4;
constexpr int krylov_restart = 30;

/// target ← x + correction·2^exponent. False if the result is not finite.
template <class T>
bool add_correction(const T* x, const T* correction, int exponent, std::vector<T>& target) {
  const double first = std::ldexp(1.0, exponent / 2), second = std::ldexp(1.0, exponent - exponent / 2);
  bool finite = true;
  for (std::size_t row = 0; row < target.size(); ++row) {
    target[row] = narrow<T>(widen(x[row]) + widen(correction[row], first) * second);
    finite = finite && is_finite(target[row]);
  }
  return finite;
}

/// ‖correction‖∞·2^exponent / ‖x‖∞.
template <class T>
double relative_size(const std::vector<T>& x, const T* correction, int exponent) {
  double of_x = 0, of_correction = 0;
  for (std::size_t row = 0; row < x.size(); ++row) {
    of_x = std::max(of_x, static_cast<double>(cheap_modulus(x[row])));
    of_correction = std::max(of_correction, static_cast<double>(cheap_modulus(correction[row])));
  }
  return of_correction == 0 ? 0 : std::ldexp(of_correction / of_x, exponent);
}

/// The state of one column of the right-hand side during refinement.
struct Column {
  index_t number = 0;
  ColumnError error;               ///< of the best x so far
  int steps = 0;
  double last_size = infinity;     ///< relative size of the last correction
  bool stalled = false;
};

template <class T>
class Refinement {
 public:
  Refinement(const InvertibleOperator<T>& inverse, DenseView<const T> b, DenseView<T> x,
             const RefineOptions& options)
      : inverse_(inverse),
        b_(b),
        x_(x),
        options_(options),
        residual_(inverse.matrix, inverse.operation),
        columns_(b.cols),
        candidate_(b.rows) {
    if (!(options_.bound > 0)) options_.bound = verification_bound(unit_roundoff<T>);
  }

  Verification run() {
    start();
    for (int step = 0; step < options_.max_steps && !waiting_.empty(); ++step) correct_waiting();
    if (options_.krylov && options_.max_steps > 0)
      for (Column& column : columns_)
        if (column.stalled) go_on_with_krylov(column);
    return summary();
  }

 private:
  /// A column whose residual is in a column of corrections_, waiting for the inverse.
  struct Waiting {
    std::size_t column;
    int exponent;
  };

  void start() {
    for (index_t number = 0; number < b_.cols; ++number) {
      Column& column = columns_[number];
      column.number = number;
      column.error = residual_.evaluate(b_.column(number), x_.column(number));
      const bool enough = options_.only_if_needed && column.error.backward <= options_.bound;
      // If x or b is not finite, there is no start for refinement and no way to estimate the error.
      if (enough || !column.error.finite() || options_.max_steps <= 0) continue;
      wait(static_cast<std::size_t>(number));
    }
  }

  /// Appends the residual evaluated last to those that already wait.
  void wait(std::size_t column) {
    if (columns_[column].error.residual_norm == 0) return;
    const std::size_t place = waiting_.size() * candidate_.size();
    if (corrections_.size() < place + candidate_.size()) corrections_.resize(place + candidate_.size());
    waiting_.push_back({column, residual_.write_scaled(corrections_.data() + place)});
  }

  void correct_waiting() {
    const auto rows = static_cast<index_t>(candidate_.size());
    inverse_.apply(inverse_.operation,
                   {corrections_.data(), rows, static_cast<index_t>(waiting_.size()), rows});
    const std::vector<Waiting> corrected = std::exchange(waiting_, {});
    // The residual of a column that waits again is written to this place or an earlier one, which are no
    // longer needed.
    for (std::size_t place = 0; place < corrected.size(); ++place)
      if (correct(columns_[corrected[place].column], corrections_.data() + place * candidate_.size(),
                  corrected[place].exponent))
        wait(corrected[place].column);
  }

  /// Accepts x + correction if it is no worse than x. True if another correction is worth its cost.
  bool correct(Column& column, const T* correction, int exponent) {
    ++column.steps;
    T* x = x_.column(column.number);
    const double before = column.error.backward;
    const bool accepted = add_correction(x, correction, exponent, candidate_) && accept_candidate(column);
    if (options_.only_if_needed && column.error.backward <= options_.bound) return false;
    const double size = accepted ? relative_size(candidate_, correction, exponent) : infinity;
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

  /// Accepts candidate_ as the column's x unless it worsens the backward error by more than rounding.
  bool accept_candidate(Column& column) {
    const ColumnError error = residual_.evaluate(b_.column(column.number), candidate_.data());
    if (!(error.backward <= std::max(column.error.backward, unit_roundoff<T>))) return false;
    column.error = error;
    std::copy(candidate_.begin(), candidate_.end(), x_.column(column.number));
    return true;
  }

  void go_on_with_krylov(Column& column) {
    std::vector<T> start(candidate_.size());
    for (int cycle = 0; cycle < krylov_cycles && column.error.backward > options_.bound; ++cycle) {
      const double before = column.error.backward;
      residual_.evaluate(b_.column(column.number), x_.column(column.number));
      const int exponent = residual_.write_scaled(start.data());
      KrylovOptions krylov;
      krylov.max_iterations = krylov_restart;
      krylov.tolerance = std::clamp(0.25 * options_.bound / before, 4 * unit_roundoff<T>, 0.1);
      const KrylovCorrection<T> found = flexible_gmres_cycle(inverse_, start, krylov);
      column.steps += found.iterations;
      if (found.correction.empty() ||
          !add_correction(x_.column(column.number), found.correction.data(), exponent, candidate_) ||
          !accept_candidate(column) || column.error.backward > least_gain * before)
        break;
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

  InvertibleOperator<T> inverse_;
  DenseView<const T> b_;
  DenseView<T> x_;
  RefineOptions options_;
  Residual<T> residual_;
  std::vector<Column> columns_;   // length k
  std::vector<T> candidate_;      // length n: the x being judged
  std::vector<Waiting> waiting_;  // at most k
  std::vector<T> corrections_;    // n × waiting: residuals, then corrections in their place
};

}  // namespace

template <class T>
Verification refine(const SparseMatrix<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                    DenseView<const T> b, DenseView<T> x, const RefineOptions& options) {
  check_square<T>(matrix);
  check_sizes<T>(matrix, operation, b, x);
  return Refinement<T>({matrix, operation, apply}, b, x, options).run();
}

template <class T>
Verification refine(const MatrixShare<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                    DenseView<const T> b, DenseView<T> x, const RefineOptions& options) {
  check_sizes<T>(matrix, operation, b, x);
  return Refinement<T>({matrix, operation, apply}, b, x, options).run();
}

#define PALMETTE_INSTANTIATE(T)                                                                              \
  template Verification refine(const SparseMatrix<T>&, Operation, const ApplyInverse<T>&,                    \
                               DenseView<const T>, DenseView<T>, const RefineOptions&);                      \
  template Verification refine(const MatrixShare<T>&, Operation, const ApplyInverse<T>&, DenseView<const T>, \
                               DenseView<T>, const RefineOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
